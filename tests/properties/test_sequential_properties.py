"""A verdict of the sequential gate is never revoked, whatever arrives later (docs/concepts.md §5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from builders import EPOCH, a_run, a_score
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from untaken.analysis.gate import parse_requirement
from untaken.analysis.sequential import SequentialCheck, TimeLimit, check_in_sequence, compare_in_sequence
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.scoring import RunScore

LIMIT = TimeLimit(limit=timedelta(seconds=40))
SUB_GOALS = 4


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A run as it will be: `done` of four sub-goals, or no value at all."""

    agent: str
    task: int
    began: int
    takes: int
    done: int | None

    def seen(self, name: str, *, finished: bool) -> tuple[Run, RunScore]:
        """As a look finds it."""
        built = a_run(name, agent=self.agent, task=f"t{self.task}")
        run = built.finish().run() if finished else built.run()
        start, *rest = run.events
        times = (self.began, self.began + self.takes)
        events = tuple(
            msgspec.structs.replace(event, ts=EPOCH + timedelta(seconds=second))
            for event, second in zip((start, *rest), times, strict=False)
        )
        run = replace(run, events=events)
        score = msgspec.structs.replace(
            a_score(self.agent, f"t{self.task}", self.done or 0), digest=run.digest, run_id=name
        )
        if self.done is None:
            score = msgspec.structs.replace(score, completion=Unscored("no evidence"))
        return run, score


def look(planned: Sequence[Planned], finished: Sequence[bool], **more: Any) -> list[SequentialCheck]:
    """Every check of agent `new` on what has started, in whatever order it is read."""
    rows = [
        one.seen(f"r{at:03}", finished=done)
        for at, (one, done) in enumerate(zip(planned, finished, strict=True))
    ]
    runs, scores = [run for run, _ in rows], [score for _, score in rows]
    agents = [name for name in ("new",) if any(one.agent == name for one in planned)]
    if not agents:
        return []
    both = any(one.agent == "old" for one in planned)
    held = check_in_sequence(
        runs,
        scores,
        [parse_requirement("completion>=0.5"), parse_requirement("completion<=0.5")],
        agents=agents,
        **more,
    )
    compared = compare_in_sequence(runs, scores, "old", agents=agents, margin=0.7, **more) if both else ()
    return [*held, *compared]


@st.composite
def runs_of(draw: st.DrawFn, most: int = 70) -> list[Planned]:
    """Runs of two agents in order of start; the rates and times lean, so that verdicts are reached."""
    random = draw(st.randoms(use_true_random=False))
    rate, slow, lost = (draw(st.sampled_from(some)) for some in ((0.1, 0.4, 0.6, 0.9), (1, 8), (0, 0.2)))
    planned = []
    for at in range(draw(st.integers(10, most))):
        agent = random.choice(["new", "new", "old"])
        met = random.random() < (rate if agent == "new" else 1 - rate)
        planned.append(
            Planned(
                agent=agent,
                task=random.randrange(2 * most if agent == "new" else most // 4),
                began=at,
                takes=random.randrange(1, 10) * (1 if met else slow),
                done=None if random.random() < lost else SUB_GOALS * met,
            )
        )
    return planned


@pytest.mark.parametrize("within", [None, LIMIT], ids=["no limit", "time limit"])
@given(planned=runs_of(60), data=st.data())
def test_a_verdict_holds_whatever_starts_and_finishes_later_in_whatever_order(planned, data, within) -> None:
    begun = data.draw(st.integers(1, len(planned)))
    some = data.draw(st.randoms(use_true_random=False))
    by_time = data.draw(st.booleans())
    done = [run.began + run.takes <= begun if by_time else some.random() < 0.7 for run in planned[:begun]]
    at = EPOCH + timedelta(seconds=begun - 1)
    early = structs.replace(within, now=at) if within else None
    late = structs.replace(within, now=EPOCH + timedelta(days=1)) if within else None
    for before in look(planned[:begun], done, within=early):
        (after,) = (
            check
            for check in look(planned, [True] * len(planned), within=late)
            if check.requirement == before.requirement
        )
        if before.verdict in ("pass", "fail"):
            assert after.verdict == before.verdict


@given(planned=runs_of(40), data=st.data())
def test_a_look_does_not_depend_on_the_order_in_which_runs_are_read(planned, data) -> None:
    done = data.draw(st.lists(st.booleans(), min_size=len(planned), max_size=len(planned)))
    order = data.draw(st.permutations(range(len(planned))))
    found = look(planned, done)
    mixed = look([planned[at] for at in order], [done[at] for at in order])
    assert [(check.verdict, check.n, check.low, check.high) for check in found] == [
        (check.verdict, check.n, check.low, check.high) for check in mixed
    ]
