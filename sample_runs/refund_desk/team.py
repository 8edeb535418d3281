"""What a team of two wrote about the runs: notes, failure modes, verdicts, reviews, issues, an earlier plan.

The two are made up and signed as such (`ANN`, `BEN`). What they write follows from what the runs did, by the
rules of `seen_in`; the app's demo starts with it (`components.shared.demo`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sample_runs.refund_desk.figures import ledgers
from untaken.analysis.failure_modes import Taxonomy, create_mode, save_taxonomy
from untaken.analysis.failure_modes.issue_file import adding, change_issues, setting
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange, IssueRule
from untaken.ledger import Run, State, read_ledger

ANN, BEN = "human:sample: Ann", "human:sample: Ben"
GRAPH: Final = Path(__file__).parents[1] / "graphs" / "refund-desk.plan.yaml"
READ_BY_ANN: Final = 7
"""One in so many failed runs; the first `READ_BY_BOTH` of them are read by Ben, too."""
READ_BY_BOTH: Final = 10
SUCCESSES: Final = 8
READ: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
FIXED: Final = datetime(2026, 2, 16, tzinfo=UTC)
"""When *Customer refunded twice* was called fixed; runs after it show otherwise."""

REPEATED: Final = (
    "!state.success && 'issue_refund' in state.failed_tools && 'issue_refund' in state.tools"
    " && state.tools.issue_refund > 1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A failure mode of the team, and the note that they write where they see it."""

    name: str
    definition: str
    note: str


POLICY: Final = Mode(
    name="Policy not read",
    definition="The agent decides without reading the policy that applies.",
    note="Decided from memory: read_policy was never called, and the decision is wrong.",
)
TWICE: Final = Mode(
    name="Customer refunded twice",
    definition="The same refund is made twice, most often because the first call timed out.",
    note="The customer was paid twice.",
)
AGAINST: Final = Mode(
    name="Wrong decision",
    definition="The decision does not follow from the policy that applies.",
    note="The decision contradicts the policy that applies.",
)
IGNORED: Final = Mode(
    name="Decision not followed",
    definition="The agent decides to hand over, and makes the refund all the same.",
    note="The decision was to hand the case over. The refund was made anyway, as planned at the start.",
)
AMOUNT: Final = Mode(
    name="Wrong amount",
    definition="A refund is due, and another amount is paid than was paid for the order.",
    note="A refund was due, but not this amount.",
)
MODES: Final = (POLICY, TWICE, AGAINST, IGNORED, AMOUNT)
FIRST_PLAN: Final = {
    "mutates: [issue_refund, escalate, offer_voucher, send_confirmation]\n": "",
    "    deps: [order, policy]\n    critical: true\n": "    deps: [order]\n",
}
"""What the first version of the plan did not say yet, and what it said instead."""


def write_team(folder: Path) -> None:
    """Write `team/`: what the two wrote about the runs of `ledgers/`."""
    team = folder / "team"
    team.mkdir(exist_ok=True)
    taxonomy = _taxonomy()
    save_taxonomy(taxonomy, team / "failure_modes.yaml")
    _write_issues(team / "issues.yaml", taxonomy)
    plan = GRAPH.read_text("utf-8")
    for now, before in FIRST_PLAN.items():
        plan = plan.replace(now, before)
    (team / GRAPH.name).write_text(plan, "utf-8", newline="\n")
    runs = [run for ledger in ledgers(folder) for run in read_ledger(ledger)]
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _written(runs, taxonomy))
    (team / "reviews.jsonl").write_text(lines, "utf-8", newline="\n")


def _taxonomy() -> Taxonomy:
    taxonomy = Taxonomy()
    for mode in MODES:
        taxonomy, _ = create_mode(taxonomy, mode.name, definition=mode.definition, by=ANN, at=READ)
    return taxonomy


def _write_issues(file: Path, taxonomy: Taxonomy) -> None:
    file.unlink(missing_ok=True)
    modes = {mode.name: mode.id for mode in taxonomy.modes}
    opened = IssueChange(status="open", by=ANN, at=FIXED - timedelta(days=7))
    twice = Issue(
        id="refunded-twice",
        title=TWICE.name,
        mode=modes[TWICE.name],
        rule=IssueRule(expr=REPEATED),
        sub_goals=["refund"],
        history=[opened],
    )
    policy = Issue(
        id="policy-not-read",
        title=POLICY.name,
        mode=modes[POLICY.name],
        sub_goals=["policy"],
        history=[opened],
    )
    change_issues(file, adding(twice))
    note = "list_refunds is called before a refund is repeated"
    change_issues(file, setting(twice.id, "fixed", by=BEN, at=FIXED, note=note))
    change_issues(file, adding(policy))


def _written(runs: list[Run], taxonomy: Taxonomy) -> Iterator[dict[str, Any]]:
    """Every line: an event about a run, or its review, in order of time."""
    modes = {mode.name: mode.id for mode in taxonomy.modes}
    failed = sorted((run for run in runs if run.success is False), key=lambda run: run.started.ts)
    seen = [(run, mode) for run in failed if (mode := seen_in(run)) is not None][::READ_BY_ANN]
    moment = READ
    for number, (run, mode) in enumerate(seen):
        moment += timedelta(minutes=6)
        yield from _reading(run, mode, modes, ANN, moment)
        if number < READ_BY_BOTH:
            other = AGAINST if mode is POLICY and number % 2 else mode
            yield from _reading(run, other, modes, BEN, moment + timedelta(days=1), after=2, blind=True)
        status = ("explained", "explained", "in review", "fixed")[number % 4]
        review = {"status": status, "assignee": (ANN, BEN)[number % 2].removeprefix("human:")}
        yield {"run_id": run.run_id, "type": "REVIEW", "by": ANN, **review}
    for run in _successes(runs, [run.task_id for run, _ in seen])[:SUCCESSES]:
        moment += timedelta(minutes=6)
        yield _note(run, ANN, moment, "Nothing to note.")
    yield from _verdicts(runs)


def _successes(runs: list[Run], tasks: list[str]) -> list[Run]:
    """One run of each task that succeeded as it should: modes are compared with them."""
    good = {run.task_id: run for run in runs if run.success is True and _read(run)}
    return [good[task] for task in dict.fromkeys(tasks) if task in good]


def _note(run: Run, by: str, at: datetime, text: str) -> dict[str, Any]:
    about = {"run_id": run.run_id, "ts": at.isoformat()}
    return about | {"type": "REVIEW_NOTE", "author": by, "text": text}


def _reading(
    run: Run,
    mode: Mode,
    modes: Mapping[str, str],
    by: str,
    at: datetime,
    *,
    after: int = 0,
    blind: bool = False,
) -> Iterator[dict[str, Any]]:
    """A note and the failure mode that it says; `after` is how many events others wrote before."""
    about = {"run_id": run.run_id, "ts": at.isoformat()}
    mark = {"blind": True} if blind else {}
    yield _note(run, by, at, mode.note) | mark
    note = len(run.events) + after
    yield about | {"type": "FAILURE_MODE", "mode": modes[mode.name], "by": by, "note": note} | mark


def _verdicts(runs: list[Run]) -> Iterator[dict[str, Any]]:
    """Is a right decision met where nobody read the policy? The two differ, and settled the first case."""
    right = [run for run in runs if run.agent == "eager-closer" and run.success is True and not _read(run)]
    for number, run in enumerate(right[:6]):
        about = {"run_id": run.run_id, "type": "VERDICT", "sub_goal": "eligibility"}
        at = READ + timedelta(days=2, minutes=5 * number)
        ann = {"passed": number > 3, "by": ANN, "reason": "Right by luck: the policy was never read."}
        if number > 3:
            ann["reason"] = "The message itself quotes the policy."
        yield about | {"ts": at.isoformat()} | ann
        ben = {"passed": True, "by": BEN, "reason": "The decision is the right one.", "blind": True}
        yield about | {"ts": (at + timedelta(hours=2)).isoformat()} | ben
        if number == 0:
            settled = {"passed": False, "by": BEN, "settles": True}
            yield about | {"ts": (at + timedelta(hours=5)).isoformat()} | settled


def seen_in(run: Run) -> Mode | None:
    """What the team sees in a failed run; ``None`` where they would have to look closer."""
    state: dict[str, Any] = {}
    for change in run.of(State):
        state |= change.state
    metrics = run.finished.metrics if run.finished else None
    refunds, handed_over = ((metrics or {}).get(name, 0) for name in ("refunds", "escalations"))
    due = state["expected_decision"] == "refund"
    if refunds > 1 and due:
        return TWICE
    if (refunds and not due) or (handed_over and due):
        if not _read(run):
            return POLICY
        followed = state["decision"] != state["expected_decision"]
        return AGAINST if followed else IGNORED
    return AMOUNT if refunds and state["refunded_cents"] != state["expected_cents"] else None


def _read(run: Run) -> bool:
    return "read_policy" in run.tools
