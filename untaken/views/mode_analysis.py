"""Failure modes over the runs that were read: pivot, contrast, saturation, trend, what to read next (§9)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from untaken.analysis import (
    By,
    Corpus,
    ModeContrast,
    ModeTrend,
    Pivot,
    PivotCell,
    RandomDraw,
    ReadRun,
    Saturation,
    Shape,
    Taxonomy,
    ToRead,
    cell_of,
    contrast_modes,
    judge_disagreements,
    mode_trend,
    pivot_modes,
    random_draw,
    read_runs,
    reading_order,
    saturation,
    shapes_of,
)
from untaken.caching import Once
from untaken.errors import Finding, Score, Unscored, reason
from untaken.ledger import Run
from untaken.views.documents import Count, Keys, Part
from untaken.views.frame import Columns, RowWith, as_facts, count, figure, frame, interval, text, why
from untaken.views.review import review_order
from untaken.views.reviewing import Case
from untaken.workspace import Review

if TYPE_CHECKING:
    import pandas as pd

NO_OUTCOME: Final = "no run with a recorded outcome shows it"
NOT_COMPARED: Final = Unscored(NO_OUTCOME)


class RunsToRead(Struct, frozen=True, kw_only=True):
    """What of a corpus decides which run to read next; made once for its content.

    Attributes:
        failing: digests of the failing runs, in the usual order of review.
        unbroken: digests of all runs that can be read.
        disagreements: of each run, the sub-goals on which judge and people differ.
    """

    failing: tuple[str, ...]
    unbroken: tuple[str, ...]
    disagreements: Mapping[str, tuple[str, ...]]


class ModeAnalysis(Struct, frozen=True, kw_only=True):
    """What the runs that were read say about failure modes.

    Attributes:
        read: those runs; `runs`: all unbroken ones.
        names: name of each mode by id (untrusted).
        ordered: gives `order`; `draw`: how far the random draw was read.
    """

    read: tuple[ReadRun, ...]
    runs: int
    names: Mapping[str, str]
    pivot: Pivot
    contrasts: tuple[ModeContrast, ...]
    saturation: Saturation
    trend: ModeTrend
    ordered: Once[tuple[ToRead, ...]]
    draw: RandomDraw

    @property
    def order(self) -> tuple[ToRead, ...]:
        """Unread failing runs, those that teach most first."""
        return self.ordered()

    @property
    def failed(self) -> int:
        """Failed runs that were read."""
        return self.pivot.failed


def runs_to_read(corpus: Corpus) -> RunsToRead:
    """Everything about the runs that no note changes."""
    failing = tuple(item.digest for item in review_order(corpus) if item.failing and item.kind != "broken")
    unbroken = [run for run in corpus.runs.values() if not run.integrity.broken]
    return RunsToRead(
        failing=failing,
        unbroken=tuple(run.digest for run in unbroken),
        disagreements=judge_disagreements(unbroken),
    )


def failing_shapes(corpus: Corpus, known: RunsToRead) -> dict[str, Shape]:
    """How each failing run went, by digest: every one is read for it."""
    return shapes_of((corpus.runs[digest] for digest in known.failing), corpus.scores)


def reviewed_runs(reviews: Mapping[str, Review]) -> frozenset[str]:
    """Digests of the runs whose review is explained or fixed."""
    return frozenset(digest for digest, review in reviews.items() if review.reviewed)


def analyse_modes(
    corpus: Corpus,
    known: RunsToRead,
    taxonomy: Taxonomy,
    *,
    by: By = "agent",
    reviewed: Collection[str] = (),
    seed: str = "",
    shapes: Callable[[], Mapping[str, Shape]] | None = None,
) -> ModeAnalysis:
    """Everything the page of failure modes shows.

    Args:
        corpus: the runs, evaluated.
        known: `runs_to_read` of it.
        taxonomy: names of modes, and what past ones count as now.
        by: what the pivot groups by.
        reviewed: digests of runs that were read although nobody noted anything.
        seed: of the random draw.
        shapes: gives `failing_shapes`, where they are kept: the order of reading alone asks for them.
    """
    read = read_runs(corpus.runs.values(), corpus.scores, taxonomy, reviewed=reviewed)
    done = frozenset(run.run for run in read)
    unread = [run for run in known.failing if run not in done]
    # Only failed runs: the queue also lists successes with a critical sub-goal undone.
    left = sum(corpus.runs[run].success is not True for run in known.unbroken if run not in done)
    return ModeAnalysis(
        read=read,
        runs=len(known.unbroken),
        names={mode: taxonomy.name(mode) for run in read for mode, _ in run.modes},
        pivot=pivot_modes(read, by),
        contrasts=contrast_modes(read),
        saturation=saturation(read, unread=left),
        trend=mode_trend(read),
        # Reads every failing run again, and not every page shows the order.
        ordered=Once(
            lambda: reading_order(
                unread,
                shapes() if shapes else failing_shapes(corpus, known),
                read=[run for run in known.failing if run in done],
                disagreements=known.disagreements,
            )
        ),
        draw=random_draw(known.unbroken, done, seed=seed),
    )


def most_informative_first(found: ModeAnalysis, cases: Iterable[Case]) -> tuple[Case, ...]:
    """Failing runs with those to read next first, in the order of reading; then the others as given."""
    place = {one.run: at for at, one in enumerate(found.order)}
    return tuple(sorted(cases, key=lambda case: place.get(case.item.digest, len(place))))


def most_informative_cases(
    corpus: Corpus,
    taxonomy: Taxonomy,
    reviews: Mapping[str, Review],
    cases: Iterable[Case],
    *,
    all_read: bool = False,
) -> tuple[Case, ...]:
    """`most_informative_first` of a corpus and its reviews; `all_read`: every run counts as read."""
    known = runs_to_read(corpus)
    reviewed = known.unbroken if all_read else reviewed_runs(reviews)
    found = analyse_modes(corpus, known, taxonomy, reviewed=reviewed)
    return most_informative_first(found, cases)


MODE_PIVOT: Final[Columns[RowWith[PivotCell, str]]] = {
    "mode": text("the failure mode", "beside"),
    "group": text("agent, task, sub-goal, version, model or period; `all` for all", "row.group"),
    "runs": count("failed runs that show it", "row.count"),
    "n": count("failed runs of the group that were read", "row.n"),
    "rate": figure("runs / n", "row.rate", "percent"),
    **interval(at="row.", shown="percent"),
    "mode_id": text("id in the taxonomy", "row.mode"),
    "rate_reason": why("rate", "row.rate"),
}

MODE_CONTRASTS: Final[Columns[RowWith[ModeContrast, str]]] = {
    "mode": text("the failure mode", "beside"),
    "says": text("what the figures say", "row.words"),
    "in_failed": count("failed runs that show it", "row.in_failed"),
    "failed": count("failed runs that were read", "row.failed"),
    "in_successes": count("successful runs that show it", "row.in_successes"),
    "successes": count("successful runs that were read", "row.successes"),
    "tasks": count("tasks with both, that are compared", "row.tasks"),
    "difference": figure("share in failures − share in successes, inside tasks", "row.difference", "points"),
    **interval(at="row.", shown="points"),
    "p": figure("exact two-sided p", "row.p", "p"),
    "q": figure("p after Benjamini and Hochberg over the modes", "row.q", "p"),
    "mode_id": text("id in the taxonomy", "row.mode"),
    "difference_reason": why("difference", "row.difference"),
}


def mode_pivot_table(found: ModeAnalysis) -> pd.DataFrame:
    """One row per mode and group, the total first (columns: `MODE_PIVOT`)."""
    cells = [*found.pivot.totals, *found.pivot.cells]
    ordered = sorted(cells, key=lambda cell: found.pivot.modes.index(cell.mode))  # the sort is stable
    return frame(MODE_PIVOT, _named(found, ordered))


def mode_trend_table(found: ModeAnalysis) -> pd.DataFrame:
    """One row per mode and period (columns: `MODE_PIVOT`)."""
    return frame(MODE_PIVOT, _named(found, found.trend.cells))


def mode_contrast_table(found: ModeAnalysis) -> pd.DataFrame:
    """One row per mode (columns: `MODE_CONTRASTS`)."""
    return frame(MODE_CONTRASTS, (RowWith(one, found.names[one.mode]) for one in found.contrasts))


def _named(found: ModeAnalysis, cells: Iterable[PivotCell]) -> list[RowWith[PivotCell, str]]:
    return [RowWith(cell, found.names[cell.mode]) for cell in cells]


_MODE: Final = Keys(
    ModeContrast,
    "mode name runs n rate low high in_successes successes contrast=difference contrast_low=low"
    " contrast_high=high contrast_reason tasks p q says=words run_ids",
    name=str,
    runs=Count,
    n=Count,
    rate=Score,
    low=Score,
    high=Score,
    contrast_reason=str | None,
    run_ids=[str],
)
"""A mode with its rate in failed runs, and its contrast with successful ones."""
_CELL: Final = Keys(PivotCell, "* runs", runs=[str])
_TREND: Final = Keys(ModeTrend, "unit undated cells", cells=[_CELL])
_TO_READ: Final = Keys(ToRead, "run_id digest=run why alike", run_id=str, why=str)
_DRAW: Final = Keys(RandomDraw, "read outside next", read=Count, next=str | None)
MODES_DOCUMENT: Final = Keys(
    Saturation,
    "by runs read failed modes cells trend target unseen_share=unseen.share unseen_low=unseen.low"
    " unseen_high=unseen.high unseen_reason read_more seen_once=unseen.once seen_twice=unseen.twice"
    " unread saturation=words reading_order random_draw findings",
    schema="untaken.modes/1",
    by=By,
    runs=Count,
    read=Count,
    modes=[_MODE],
    cells=[_CELL],
    trend=_TREND,
    unseen_reason=str | None,
    read_more=Count | Unscored,
    reading_order=[_TO_READ],
    random_draw=_DRAW,
)
"""Every mode with its rate and contrast, the pivot, saturation, what to read next."""


def modes_document(
    found: ModeAnalysis, run_ids: Mapping[str, str], *, findings: Sequence[Finding] = ()
) -> Part:
    """The document of `found`."""
    totals = {cell.mode: cell for cell in found.pivot.totals}
    contrasts = {one.mode: one for one in found.contrasts}
    failed = [run for run in found.read if run.failed]
    in_successes = [mode for mode in contrasts if mode not in totals]
    # The pivot is of failed runs alone; a mode seen only in successes is listed with 0 of them.
    totals |= {mode: cell_of(mode, "all", failed) for mode in in_successes}
    seen, following = found.saturation.unseen, found.draw.following
    unknown = reason(seen.share) or reason(seen.low)
    return MODES_DOCUMENT(
        found.saturation,
        by=found.pivot.by,
        runs=found.runs,
        read=len(found.read),
        modes=[_mode(found, total, contrasts.get(mode), run_ids) for mode, total in totals.items()],
        cells=_cells(found.pivot.cells, run_ids),
        trend=_TREND(found.trend, cells=_cells(found.trend.cells, run_ids)),
        unseen_reason=unknown,
        read_more=Unscored(unknown or "") if seen.more is None else seen.more,
        reading_order=[_TO_READ(one, run_id=run_ids[one.run]) for one in found.order],
        random_draw=_DRAW(
            found.draw, read=len(found.draw.read), next=run_ids[following] if following else None
        ),
        findings=findings,
    )


def _cells(cells: Iterable[PivotCell], run_ids: Mapping[str, str]) -> list[Part]:
    return [_CELL(cell, runs=[run_ids[run] for run in cell.runs]) for cell in cells]


def _mode(
    found: ModeAnalysis,
    total: PivotCell,
    contrast: ModeContrast | None,
    run_ids: Mapping[str, str],
) -> Part:
    compared = contrast or _not_compared(total.mode, found)
    return _MODE(
        compared,
        name=found.names[total.mode],
        runs=total.count,
        n=found.failed,
        rate=total.rate,
        low=total.low,
        high=total.high,
        contrast_reason=reason(compared.difference),
        run_ids=[run_ids[run] for run in total.runs],
    )


def _not_compared(mode: str, found: ModeAnalysis) -> ModeContrast:
    """Of a mode that no run with a recorded outcome shows."""
    nothing: dict[str, Any] = dict.fromkeys(("difference", "low", "high", "p", "q"), NOT_COMPARED)
    nothing |= dict.fromkeys(("in_failed", "failed", "in_successes", "tasks", "k1", "n1", "k0", "n0"), 0)
    successes = sum(run.success is True for run in found.read)
    return ModeContrast(mode=mode, successes=successes, words=NO_OUTCOME, **nothing)


MODE_RUNS: Final[Columns[ReadRun]] = {
    **as_facts("agent task_id version run_id digest=run"),
}


READING_ORDER: Final[Columns[RowWith[ToRead, Run]]] = {
    "why": text("why it comes here", "row.words"),
    **as_facts("agent task_id", at="beside."),
    "alike": count("unread runs that went the same way, itself included", "row.alike"),
    "shape": text("how it went", lambda row: " → ".join(row.row.shape)),
    **as_facts("run_id digest", at="beside."),
}


def mode_runs_table(found: ModeAnalysis, runs: Collection[str]) -> pd.DataFrame:
    """The runs behind a cell (columns: `MODE_RUNS`)."""
    return frame(MODE_RUNS, (run for run in found.read if run.run in runs))


def reading_order_table(found: ModeAnalysis, corpus: Corpus) -> pd.DataFrame:
    """The unread failing runs, those that teach most first (columns: `READING_ORDER`)."""
    return frame(READING_ORDER, (RowWith(one, corpus.runs[one.run]) for one in found.order))
