"""Beside a failed sub-goal of one run: what its agent was shown, and how other runs called the tool (§4)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct

from untaken.analysis import Corpus
from untaken.ledger import Run, ToolCall
from untaken.plans import PlanGraph
from untaken.scoring import (
    MOST_SIBLINGS,
    NodeScore,
    SeenTexts,
    Trace,
    UnusedValue,
    last_failed_call,
    shown,
    unlike,
    unused_fields,
    unused_values_of,
)
from untaken.views.single_run import RunReport

MOST_RUNS: Final = 200
"""Other runs whose calls are compared."""


class UnlikeSuccesses(Struct, frozen=True, kw_only=True):
    """Arguments of a failed call that no successful call of its tool in other runs has so; untrusted text.

    Attributes:
        arguments: (name, value as JSON).
        calls: successful calls that it was compared with.
    """

    tool: str
    arguments: tuple[tuple[str, str], ...]
    calls: int


def values_to_know(corpus: Corpus, report: RunReport, node: NodeScore) -> tuple[UnusedValue, ...]:
    """The expected values that a run did not use for a sub-goal, with where they could be known from."""
    if report.graph is None or node.completed or report.run.integrity.broken:
        return ()
    seen, others = _seen(corpus, report.run)
    return unused_values_of(seen, report.graph, node, others=others)


def values_of_run(
    corpus: Corpus, run: Run, graph: PlanGraph | None, node: NodeScore
) -> tuple[UnusedValue, ...]:
    """The same without a report, and of a check on the state the values that its fields should have."""
    if graph is None or node.completed or run.integrity.broken:
        return ()
    seen, others = _seen(corpus, run)
    of_call = unused_values_of(seen, graph, node, others=others)
    return of_call or unused_fields(seen, node.differences, others=others)


def _seen(corpus: Corpus, run: Run) -> tuple[SeenTexts, list[SeenTexts]]:
    """What the run was shown, and what other runs of its task were."""
    return SeenTexts(run), [SeenTexts(other) for other in islice(_siblings(corpus, run), MOST_SIBLINGS)]


def unlike_successes(corpus: Corpus, report: RunReport, node: NodeScore) -> UnlikeSuccesses | None:
    """How the last failed call of a sub-goal differs from all successful ones of other runs, if it does."""
    failed = None if node.completed else last_failed_call(Trace(report.run), node.events)
    if failed is None:
        return None
    others = islice(_others(corpus, report.run), MOST_RUNS)
    good = [call for run in others for call in _accepted(run, failed.call.tool)]
    different = unlike(failed.call, good) if good else []
    if not different:
        return None
    return UnlikeSuccesses(
        tool=failed.call.tool,
        arguments=tuple((name, shown(value)) for name, value in different),
        calls=len(good),
    )


def _siblings(corpus: Corpus, run: Run) -> Iterator[Run]:
    """Other sound runs of the task."""
    for other in corpus.runs.values():
        if other.task_id == run.task_id and other.digest != run.digest and not other.integrity.broken:
            yield other


def _others(corpus: Corpus, run: Run) -> Iterator[Run]:
    """Other sound runs, those of the same task first."""
    yield from _siblings(corpus, run)
    for other in corpus.runs.values():
        if other.task_id != run.task_id and not other.integrity.broken:
            yield other


def _accepted(run: Run, tool: str) -> Iterator[ToolCall]:
    if tool not in run.tools:
        return
    for call in run.actions:
        answer = run.answers.get(call.seq)
        if call.tool == tool and answer is not None and answer.ok is not False:  # unknown counts as accepted
            yield call
