"""Failure modes by group, against successes, unseen and reopened: the rules (§9) written out plainly."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import pytest
from analysed import days_after, read, scores_of
from builders import a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t
from statements_by_hand import Row, q_of

from untaken.analysis.failure_modes import Taxonomy
from untaken.analysis.failure_modes.contrast import contrast_modes
from untaken.analysis.failure_modes.failure_mode import FailureMode
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange, IssueRule
from untaken.analysis.failure_modes.issues import track_issues
from untaken.analysis.failure_modes.pivot import PivotCell, pivot_modes
from untaken.analysis.failure_modes.reading import WHOLE_RUN, By, read_runs
from untaken.analysis.failure_modes.saturation import saturation
from untaken.errors import Unscored
from untaken.ledger import ModeAssignment, Run

GRAPH = a_graph("find", "pay")
TAXONOMY = Taxonomy(
    modes=[
        FailureMode(id="loop", name="Loop"),
        FailureMode(id="spin", name="Spin", status="merged", into=["loop"]),
    ]
)
Word = tuple[str, str, str, str | None]
"""(author, mode, status, sub-goal)."""
words = st.tuples(
    st.sampled_from(["human:ann", "human:bob", "judge:m"]),
    st.sampled_from(["loop", "spin", "wordy", "rude"]),
    st.sampled_from(["accepted", "accepted", "withdrawn", "suggested"]),
    st.sampled_from([None, "find", "pay"]),
)


@dataclass(frozen=True)
class Reviewed:
    """A run, and what was said of it."""

    agent: str
    task: str
    ok: bool | None
    day: int
    note: bool
    words: tuple[Word, ...]

    def recorded(self, n: int) -> Run:
        run = a_run(f"r{n}", agent=self.agent, task=self.task).call("look", "find").finish(self.ok)
        for by, mode, status, sub_goal in self.words:
            run.add(ModeAssignment, mode=mode, by=by, status=status, sub_goal=sub_goal)
        return read(run, note=self.note, day=self.day)

    @property
    def seen(self) -> bool:
        return self.note or any(by.startswith("human") for by, *_ in self.words)

    @property
    def modes(self) -> set[tuple[str, str]]:
        """What some person's last word accepts, with where."""
        last = {(by, mode, place): status for by, mode, status, place in self.words}
        return {
            ("loop" if mode == "spin" else mode, place or WHOLE_RUN)
            for (by, mode, place), status in last.items()
            if by.startswith("human") and status == "accepted"
        }

    def has(self, mode: str, place: str | None = None) -> bool:
        return any(mode == one and place in (None, where) for one, where in self.modes)


worlds = st.lists(
    st.builds(
        Reviewed,
        st.sampled_from(["ada", "bob"]),
        st.sampled_from(["t1", "t2", "t3"]),
        st.sampled_from([False, False, True, None]),
        st.integers(0, 6),
        st.booleans(),
        st.lists(words, max_size=4).map(tuple),
    ),
    max_size=12,
)


def recorded(world: Sequence[Reviewed]) -> list[Run]:
    return [one.recorded(n) for n, one in enumerate(world)]


def clustered(runs: Sequence[Reviewed], shown: Sequence[bool]) -> tuple[float, float]:
    """Wilson's interval, n divided by the design effect of repeated tasks."""
    n, rate, z = float(len(runs)), sum(shown) / len(runs), float(norm.ppf(0.975))
    sizes = Counter(one.task for one in runs)
    if 1 < len(sizes) < n:
        least = n * n / sum(size * size for size in sizes.values())
        if 0 < rate < 1:
            sums = Counter[str]()
            for one, has in zip(runs, shown, strict=True):
                sums[one.task] += has - rate  # type: ignore[assignment]
            tasks = len(sizes)
            between = sum(s * s for s in sums.values()) * tasks / (tasks - 1) / n**2
            effect = max(1.0, between / (rate * (1 - rate) / n))
            n = max(least, n / effect * (z / float(t.ppf(0.975, tasks - 1))) ** 2)
        else:
            n = least
    centre, reach = rate + z * z / (2 * n), z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return (centre - reach) / (1 + z * z / n), (centre + reach) / (1 + z * z / n)


def groups_of(one: Reviewed, by: By) -> list[str]:
    return ["find", "pay", WHOLE_RUN] if by == "sub_goal" else [one.agent if by == "agent" else one.task]


@given(worlds, st.sampled_from(["agent", "task", "sub_goal"]))
def test_a_pivot_counts_the_failed_runs_that_were_read(world: list[Reviewed], by: By) -> None:
    runs = recorded(world)
    pivot = pivot_modes(read_runs(runs, scores_of(runs, GRAPH), TAXONOMY), by)
    failed = [one for one in world if one.seen and one.ok is not True]
    modes = {mode for one in failed for mode, _ in one.modes}
    cells = {(cell.mode, cell.group): cell for cell in pivot.cells}
    assert set(cells) == {(mode, group) for mode in modes for one in failed for group in groups_of(one, by)}
    for (mode, group), cell in cells.items():
        members = [one for one in failed if group in groups_of(one, by)]
        check(cell, members, [one.has(mode, group if by == "sub_goal" else None) for one in members])
    assert {total.mode for total in pivot.totals} == modes
    for total in pivot.totals:
        check(total, failed, [one.has(total.mode) for one in failed])


def check(cell: PivotCell, members: Sequence[Reviewed], shown: Sequence[bool]) -> None:
    assert (cell.count, cell.n, cell.rate) == (sum(shown), len(members), sum(shown) / len(members))
    assert (cell.low, cell.high) == pytest.approx(clustered(members, shown), abs=1e-9)


@given(worlds)
def test_the_unseen_share_is_goods_with_estys_interval(world: list[Reviewed]) -> None:
    runs = recorded(world)
    found = saturation(read_runs(runs, scores_of(runs, GRAPH), TAXONOMY), unread=0).unseen
    failed = [one for one in world if one.seen and one.ok is not True]
    by_task: dict[str, set[str]] = defaultdict(set)
    for one in failed:
        by_task[one.task] |= {mode for mode, _ in one.modes}
    counts = Counter(mode for modes in by_task.values() for mode in modes)
    if not counts:
        assert isinstance(found.share, Unscored)
        return
    total, once, twice = counts.total(), *(list(counts.values()).count(n) for n in (1, 2))
    assert found.share == pytest.approx(once / total)
    if len(by_task) == 1:
        assert isinstance(found.low, Unscored)
        return
    n = total + 4
    p = (once + 2) / n
    reach = float(t.ppf(0.975, len(by_task) - 1)) * sqrt((p * (1 - p) + 2 * (twice + 0.5) / n) / n)
    want = max(0.0, min(p - reach, once / total)), min(1.0, max(p + reach, once / total))
    assert (found.low, found.high) == pytest.approx(want)


@given(worlds)
def test_a_contrast_compares_failures_with_successes_of_the_same_tasks(world: list[Reviewed]) -> None:
    runs = recorded(world)
    contrasts = contrast_modes(read_runs(runs, scores_of(runs, GRAPH), TAXONOMY))
    known = [one for one in world if one.seen and one.ok is not None]
    both = [t for t in ("t1", "t2", "t3") if len({one.ok for one in known if one.task == t}) == 2]
    rows = {
        mode: Row(
            tuple(
                (
                    tuple(one.has(mode) for one in known if one.task == task and not one.ok),
                    tuple(one.has(mode) for one in known if one.task == task and one.ok),
                )
                for task in both
            )
        )
        for mode in {mode for one in known for mode, _ in one.modes}
    }
    assert {one.mode for one in contrasts} == set(rows)
    qs = q_of({mode: row.p for mode, row in rows.items()})
    for one in contrasts:
        row = rows[one.mode]
        shown = [run.ok for run in known if run.has(one.mode)]
        assert (one.in_failed, one.in_successes) == (shown.count(False), shown.count(True))
        if not both:
            assert isinstance(one.p, Unscored)
            assert isinstance(one.difference, Unscored)
            continue
        want = float(row.difference), float(row.p), float(qs[one.mode])
        # p has 12 significant digits, q 11.
        assert (one.difference, one.p, one.q) == pytest.approx(want, rel=1e-10, abs=1e-12)
        clear = one.q <= 0.05
        which = "failures" if row.difference > 0 else "successes"
        assert one.words == (f"more often in {which}" if clear else "no difference shown")


changes = st.lists(st.tuples(st.sampled_from(["fixed", "open"]), st.integers(0, 6)), max_size=4)


@given(worlds, changes, st.booleans())
def test_a_fixed_issue_is_reopened_by_a_matching_run_that_began_after_the_fix(world, later, ruled) -> None:
    runs = recorded(world)
    history = [("open", 0), *sorted(later, key=lambda change: change[1])]
    issue = Issue(
        id="i",
        title="I",
        mode="spin",
        rule=IssueRule(expr="!state.success" if ruled else ""),
        history=[IssueChange(status=s, by="human:ann", at=days_after(day)) for s, day in history],
    )
    (found,) = track_issues([issue], runs, scores_of(runs, GRAPH), TAXONOMY)
    known = [one for one in world if (one.ok is not None if ruled else one.seen)]
    matching = [one for one in known if (not one.ok if ruled else one.has("loop"))]
    status, fixed = history[-1]
    after = [one for one in matching if one.day > fixed] if status == "fixed" else []
    assert found.state == ("open" if status == "open" else "reopened" if after else "fixed")
    assert (len(found.matches), len(found.reopened_by)) == (len(matching), len(after))
    days = [days_after(one.day) for one in matching]
    assert (found.first_seen, found.last_seen) == (min(days, default=None), max(days, default=None))
    assert found.unknown == len(world) - len(known)
    assert (found.overall.matches, found.overall.runs) == (len(matching), len(known))
    if status == "fixed" and found.after is not None:
        assert (found.after.matches, found.after.runs) == (len(after), sum(o.day > fixed for o in known))
    assert (found.after is None) == (status == "open")
