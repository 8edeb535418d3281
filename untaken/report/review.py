"""Which runs a team should look at first, and why, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from untaken.corpus import Corpus
from untaken.errors import Score, Unscored, number
from untaken.ledger import Run
from untaken.report.frame import Columns, count, figure, frame, text
from untaken.subgoals import RunScore

if TYPE_CHECKING:
    import pandas as pd


ReviewKind = Literal["lucky", "unlucky", "failed", "broken", "unfinished", "fine"]
ORDER: Final[tuple[ReviewKind, ...]] = ("failed", "unlucky", "lucky", "unfinished", "broken", "fine")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One run in the order of review.

    Attributes:
        kind: ``failed`` (the outcome says so), ``unlucky`` (failed with all sub-goals completed),
            ``lucky`` (succeeded with a critical sub-goal undone), ``unfinished`` (no outcome),
            ``broken`` (the ledger is), ``fine``.
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

    @property
    def failing(self) -> bool:
        """Whether something went wrong in it, by the outcome or by the sub-goals."""
        return self.kind != "fine"


REVIEW: Final[Columns[ReviewItem]] = {
    "kind": text("failed, unlucky, lucky, unfinished, broken or fine", "kind"),
    "agent": text("who ran", "agent"),
    "task_id": text("what was to be done", "task_id"),
    "task_repeat": count("which repeat of the task", "task_repeat"),
    "why": text("what there is to see", "why"),
    "completion": figure("completed / required", "completion"),
    "run_id": text("the run's own id", "run_id"),
    "digest": text("content digest: the run's id in links", "digest"),
    "weight": figure("order of review inside a kind, largest first", "weight"),
}
"""Columns of `review_table`."""


def review_queue(corpus: Corpus) -> tuple[ReviewItem, ...]:
    """Every run, those with most to learn from first: by kind, weight, agent, task and repeat."""
    contradictory = {c.digest: c.kind for c in corpus.contradictions}
    items = [_item(run, corpus.scores[d], contradictory.get(d)) for d, run in corpus.runs.items()]
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


def review_table(corpus: Corpus) -> pd.DataFrame:
    """One row per run in the order of review (columns: `REVIEW`)."""
    return frame(REVIEW, review_queue(corpus))


def _item(run: Run, score: RunScore | Unscored, contradiction: ReviewKind | None) -> ReviewItem:
    kind = _kind(run, contradiction)
    return ReviewItem(
        digest=run.digest,
        run_id=run.run_id,
        agent=run.agent,
        task_id=run.task_id,
        task_repeat=run.started.task_repeat,
        kind=kind,
        why=_why(run, score, kind),
        completion=score if isinstance(score, Unscored) else score.completion,
        weight=0.0 if isinstance(score, Unscored) else _weight(score),
    )


def _kind(run: Run, contradiction: ReviewKind | None) -> ReviewKind:
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


def _why(run: Run, score: RunScore | Unscored, kind: ReviewKind) -> str:
    if run.integrity.broken:
        return f"{run.integrity.verdict}: {run.integrity.reason}"
    if isinstance(score, Unscored):
        return score.reason
    undone = [n.title or n.sub_goal for n in score.nodes if n.critical and n.completed is False]
    if kind == "lucky" and undone:
        return f"succeeded without {', '.join(undone)}"
    if kind == "unlucky":
        return "failed although every sub-goal was completed"
    return score.diagnosis_reason
