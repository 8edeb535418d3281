"""Which runs a team should look at first, and why, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from untaken.answers.cause import ReviewKind, RunCause, cause_of, shapes_of
from untaken.answers.frame import Columns, count, figure, frame, text
from untaken.corpus import Corpus
from untaken.errors import Score, Unscored, number
from untaken.fix_first.blame import Shape
from untaken.ledger import Run
from untaken.subgoals import RunScore

if TYPE_CHECKING:
    import pandas as pd


ORDER: Final[tuple[ReviewKind, ...]] = ("failed", "unlucky", "lucky", "unfinished", "broken", "fine")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One run in the order of review.

    Attributes:
        kind: ``failed`` (the outcome says so), ``unlucky`` (failed with all sub-goals completed),
            ``lucky`` (succeeded with a critical sub-goal undone), ``unfinished`` (no outcome),
            ``broken`` (the ledger is), ``fine``.
        cause: what went wrong first; `why` is the same on one line.
        why: what there is to see, in words; holds titles from the graph, which are untrusted text.
        weight: violations and critical sub-goals undone, then the share not completed.
    """

    digest: str
    run_id: str
    agent: str
    task_id: str
    task_repeat: int | None
    kind: ReviewKind
    why: str
    completion: Score
    weight: float
    cause: RunCause

    @property
    def failing(self) -> bool:
        """Whether something went wrong in it, by the outcome or by the sub-goals."""
        return self.kind != "fine"


REVIEW: Final[Columns[ReviewItem]] = {
    "kind": text("failed, unlucky, lucky, unfinished, broken or fine", "kind"),
    "agent": text("name of the agent", "agent"),
    "task_id": text("the task", "task_id"),
    "task_repeat": count("which repeat of the task", "task_repeat"),
    "why": text("what there is to see", "why"),
    "completion": figure("completed / required", "completion"),
    "run_id": text("the run's own id", "run_id"),
    "digest": text("content digest: the run's id in links", "digest"),
    "weight": figure("order of review inside a kind, largest first", "weight"),
}


def review_queue(corpus: Corpus) -> tuple[ReviewItem, ...]:
    """Every run, those with most to learn from first: by kind, weight, agent, task and repeat."""
    contradictory = {c.digest: c.kind for c in corpus.contradictions}
    shapes = shapes_of(corpus.graphs.graphs)
    items = [_item(run, corpus.scores[d], contradictory.get(d), shapes) for d, run in corpus.runs.items()]
    return tuple(
        sorted(
            items,
            key=lambda i: (ORDER.index(i.kind), -i.weight, i.agent, i.task_id, i.task_repeat or 0, i.digest),
        )
    )


def contradictory(queue: Sequence[ReviewItem]) -> tuple[ReviewItem, ...]:
    """The runs whose outcome and sub-goals disagree, largest effect first."""
    found = (item for item in queue if item.kind in ("lucky", "unlucky"))
    return tuple(sorted(found, key=lambda item: -item.weight))


def review_table(corpus: Corpus, queue: Sequence[ReviewItem] | None = None) -> pd.DataFrame:
    """One row per run in the order of review (columns: `REVIEW`); `queue` as of `review_queue`."""
    return table_of_items(review_queue(corpus) if queue is None else queue)


def table_of_items(queue: Sequence[ReviewItem]) -> pd.DataFrame:
    """One row per run, in the order given (columns: `REVIEW`)."""
    return frame(REVIEW, queue)


def _item(
    run: Run, score: RunScore | Unscored, contradiction: ReviewKind | None, shapes: Mapping[str, Shape]
) -> ReviewItem:
    kind = review_kind(run, contradiction)
    cause = cause_of(run, score, kind, shapes)
    return ReviewItem(
        digest=run.digest,
        run_id=run.run_id,
        agent=run.agent,
        task_id=run.task_id,
        task_repeat=run.started.task_repeat,
        kind=kind,
        why=cause.in_words,
        cause=cause,
        completion=score if isinstance(score, Unscored) else score.completion,
        weight=0.0 if isinstance(score, Unscored) else _weight(score),
    )


def review_kind(run: Run, contradiction: ReviewKind | None) -> ReviewKind:
    """Why a run is reviewed."""
    if run.integrity.broken:
        return "broken"
    if contradiction:
        return contradiction
    if isinstance(run.success, Unscored):
        return "unfinished"
    return "fine" if run.success else "failed"


def _weight(score: RunScore) -> float:
    critical = sum(v.kind == "critical" for v in score.violations) + score.critical - score.critical_completed
    return critical + 1.0 - (number(score.completion) or 0.0)
