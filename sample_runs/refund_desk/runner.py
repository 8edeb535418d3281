"""Let every agent work every ticket three times, and record one ledger per agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from sample_runs.refund_desk.case import CALLS, Case, Clock, Killed, Notes, OutOfCalls
from sample_runs.refund_desk.grading import grade
from sample_runs.refund_desk.policies import POLICIES, Policy
from sample_runs.refund_desk.tickets import TICKETS, Ticket
from sample_runs.refund_desk.tools import Desk
from sample_runs.refund_desk.wording import opening
from sample_runs.refund_desk.work import work
from untaken.ledger import LedgerWriter, RunFinished, State

SEED = 1
REPEATS = 3
GRAPH = "refund-desk"
OPENING = datetime(2026, 2, 2, 8, tzinfo=UTC)
TICKETS_A_DAY = 3
KILLED = 0.012
"""Share of runs whose machine goes away: they never finish."""
UNGRADED = 0.012
"""Share of runs that nobody graded: their success is unknown."""

BLANK: dict[str, str | int] = {
    "order": "",
    "policy": "",
    "decision": "",
    "refunded_cents": 0,
    "escalated": False,
}
"""What a ticket's state holds before anybody has looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One ticket for one agent at one time."""

    ticket: Ticket
    repeat: int
    start: datetime

    def luck(self, what: str) -> Random:
        """A seeded source of chance, of its own for each purpose."""
        return Random(f"{SEED}:{self.ticket.id}:{self.repeat}:{what}")


def shifts(agent: int) -> Iterator[Shift]:
    """An agent's tickets in order of time: three a day, all of them three times over."""
    for repeat in range(REPEATS):
        for number, ticket in enumerate(TICKETS):
            day, slot = divmod(repeat * len(TICKETS) + number, TICKETS_A_DAY)
            start = OPENING + timedelta(days=day, hours=3 * slot, minutes=17 * agent)
            yield Shift(ticket=ticket, repeat=repeat + 1, start=start)


def write_ledgers(folder: Path) -> None:
    """All ledgers, one an agent, with their heads beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, policy in enumerate(POLICIES):
        clock = Clock(OPENING)
        with LedgerWriter(folder / f"{policy.name}.jsonl", clock=clock) as writer:
            for shift in shifts(number):
                clock.now = shift.start
                run(policy, shift, writer, clock)


def run(policy: Policy, shift: Shift, writer: LedgerWriter, clock: Clock) -> None:
    """One run, from its ticket to its grade."""
    ticket = shift.ticket
    run_id = f"{policy.name}.{ticket.id}.{shift.repeat}"
    killed = shift.luck(f"killed {policy.name}")
    killed_at = killed.randrange(2, 6) if killed.random() < KILLED else CALLS
    desk = Desk(ticket, weather=f"{SEED}:{ticket.id}:{shift.repeat}")
    case = Case(
        run_id=run_id,
        desk=desk,
        policy=policy,
        writer=writer,
        clock=clock,
        luck=shift.luck(policy.name),
        tone=shift.luck(f"tone {policy.name}"),
        killed_at=killed_at,
        notes=Notes(body=ticket.body),
    )
    writer.start(
        run_id=run_id,
        agent=policy.name,
        task_id=ticket.id,
        task_repeat=shift.repeat,
        graph=GRAPH,
        model=policy.model,
        kind=policy.kind,
    )
    intent = {"intent": ""} if policy.logs_intent else {}
    case.record(State, state=intent | BLANK | ticket.expected)
    case.say("user", opening(ticket.body, ticket.id, shift.repeat, SEED))
    limit = None
    try:
        work(case)
    except OutOfCalls:
        limit = "calls"
    except Killed:
        return
    finish(case, limit, graded=shift.luck(f"graded {policy.name}").random() >= UNGRADED)


def finish(case: Case, limit: str | None, *, graded: bool) -> None:
    """Close the run with the outcome that its customer would see."""
    outcome = grade(case.desk)
    case.record(
        RunFinished,
        success=outcome.success if graded else None,
        steps=case.calls,
        cost=round(case.calls * case.policy.price, 4),
        metrics=outcome.metrics if graded else None,
        error=None if graded else "the grader was away",
        limit=limit,
    )
