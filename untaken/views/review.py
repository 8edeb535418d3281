"""Which runs a team should look at first, and why: one cause, in words, the same wherever a run is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from untaken.analysis import Corpus
from untaken.errors import Score, Unscored, number
from untaken.ledger import Run
from untaken.plans import GraphSet, PlanGraph
from untaken.scoring import NEVER, NodeResult, RunScore, is_failed, undone_in_order
from untaken.views.frame import Columns, as_facts, figure, frame, text

if TYPE_CHECKING:
    import pandas as pd


ORDER: Final[tuple[ReviewKind, ...]] = ("failed", "unlucky", "lucky", "unfinished", "broken", "fine")


class OrderedRun(Struct, frozen=True, kw_only=True):
    """One run in the order of review.

    Attributes:
        kind: ``failed`` (the outcome says so), ``unlucky`` (failed with all sub-goals completed),
            ``lucky`` (succeeded with a critical sub-goal undone), ``unfinished`` (no outcome),
            ``broken`` (the ledger is), ``fine``.
        weight: violations and critical sub-goals undone, then the share known not to be completed.
    """

    digest: str
    run_id: str
    agent: str
    task_id: str
    task_repeat: int | None
    kind: ReviewKind
    completion: Score
    weight: float

    @property
    def failing(self) -> bool:
        """Whether something went wrong in it, by the outcome or by the sub-goals."""
        return self.kind != "fine"


class ReviewItem(OrderedRun, frozen=True, kw_only=True):
    """One run in the order of review, and why it is there.

    Attributes:
        cause: what went wrong first; `why` is the same on one line.
        why: what there is to see, in words; holds titles from the graph, which are untrusted text.
    """

    why: str
    cause: RunCause


Ordered = TypeVar("Ordered", bound=OrderedRun)


REVIEW: Final[Columns[ReviewItem]] = {
    "kind": text("failed, unlucky, lucky, unfinished, broken or fine", "kind"),
    **as_facts("agent task_id task_repeat"),
    "why": text("what there is to see", "why"),
    **as_facts("completion run_id digest"),
    "weight": figure("order of review inside a kind, largest first", "weight"),
}


def review_order(corpus: Corpus) -> tuple[OrderedRun, ...]:
    """Every run, those with most to learn from first: by kind, weight, agent, task and repeat."""
    kinds: dict[str, ReviewKind] = {c.digest: c.kind for c in corpus.contradictions}
    runs = [_ordered(run, corpus.scores[d], kinds.get(d)) for d, run in corpus.runs.items()]
    return tuple(
        sorted(
            runs,
            key=lambda r: (ORDER.index(r.kind), -r.weight, r.agent, r.task_id, r.task_repeat or 0, r.digest),
        )
    )


def review_items(corpus: Corpus, runs: Iterable[OrderedRun]) -> tuple[ReviewItem, ...]:
    """Why each of some runs of `review_order` is there: what takes long, as each run is looked into."""
    return tuple([_item(corpus, run) for run in runs])


def review_queue(corpus: Corpus) -> tuple[ReviewItem, ...]:
    """Every run in the order of review, with why it is there."""
    return review_items(corpus, review_order(corpus))


def contradictory(order: Iterable[Ordered]) -> tuple[Ordered, ...]:
    """The runs whose outcome and sub-goals disagree, largest effect first."""
    found = (run for run in order if run.kind in ("lucky", "unlucky"))
    return tuple(sorted(found, key=lambda run: -run.weight))


def review_table(corpus: Corpus) -> pd.DataFrame:
    """One row per run in the order of review (columns: `REVIEW`)."""
    return frame(REVIEW, review_queue(corpus))


def _ordered(run: Run, score: RunScore | Unscored, contradiction: ReviewKind | None) -> OrderedRun:
    return OrderedRun(
        digest=run.digest,
        run_id=run.run_id,
        agent=run.agent,
        task_id=run.task_id,
        task_repeat=run.started.task_repeat,
        kind=review_kind(run, contradiction),
        completion=score if isinstance(score, Unscored) else score.completion,
        weight=0.0 if isinstance(score, Unscored) else _weight(score),
    )


def _item(corpus: Corpus, run: OrderedRun) -> ReviewItem:
    cause = cause_of(corpus.runs[run.digest], corpus.scores[run.digest], run.kind, corpus.graphs)
    place = {name: getattr(run, name) for name in OrderedRun.__struct_fields__}
    return ReviewItem(**place, why=cause.in_words, cause=cause)


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
    # One more critical miss outweighs any difference in completion, which is at most 1.
    done = number(score.completion)
    return critical + (0.0 if done is None else 1.0 - done)


ReviewKind = Literal["lucky", "unlucky", "failed", "broken", "unfinished", "fine"]


class RunCause(Struct, frozen=True, kw_only=True):
    """What went wrong first in a run; its words hold titles and values that are untrusted text.

    Attributes:
        headline: in a few words.
        detail: what was expected and what was there, or why nothing can be said.
        sub_goal: the one that failed first; empty where none did.
    """

    headline: str
    detail: str
    sub_goal: str = ""

    @property
    def in_words(self) -> str:
        """The cause on one line."""
        return f"{self.headline}: {self.detail}" if self.detail else self.headline


def first_failed(run: Run, score: RunScore, graph: PlanGraph | None) -> tuple[NodeResult, ...]:
    """The sub-goals that are known not to be completed, what failed first by the log at the beginning."""
    if graph is None:
        failed = [node for node in score.results if is_failed(node)]
        return tuple(sorted(failed, key=lambda node: not node.critical))
    return tuple(one.node for one in undone_in_order(score, graph, run))


def cause_of(run: Run, score: RunScore | Unscored, kind: ReviewKind, graphs: GraphSet) -> RunCause:
    """The one cause of a run: a broken ledger, else the sub-goal that failed first, else what is known."""
    cause = outline_of(run, score, kind, graphs)
    if isinstance(score, Unscored) or not cause.sub_goal:
        return cause
    reason = score.node(cause.sub_goal).reason
    # The headline already says that it was never attempted.
    return replace(cause, detail=reason if kind == "lucky" else reason.removeprefix(f"{NEVER}, "))


def outline_of(run: Run, score: RunScore | Unscored, kind: ReviewKind, graphs: GraphSet) -> RunCause:
    """As `cause_of`, without the detail of a sub-goal, for which the run is read again."""
    if run.integrity.broken:
        return RunCause(headline=f"The ledger is {run.integrity.verdict}", detail=run.integrity.reason)
    if isinstance(score, Unscored):
        ending = _ending(run)  # all that such a run says of itself
        headline = f"Ended with {ending}" if ending else "No sub-goal score"
        return RunCause(headline=headline, detail=score.reason)
    if kind == "unlucky":
        return RunCause(headline="Failed although every sub-goal was completed", detail=_ending(run))
    failed = first_failed(run, score, graphs.get(score.graph_id))
    if kind == "lucky":
        undone = [n for n in score.results if n.critical and n.completed is False]
        failed = tuple(node for node in failed if node.critical) or tuple(undone) or failed
        named = ", ".join(f"'{node.title or node.sub_goal}'" for node in undone or failed)
        first = failed[0] if failed else None
        return RunCause(
            headline=f"Succeeded without {named}",
            detail="",
            sub_goal=first.sub_goal if first else "",
        )
    if not failed:
        detail = "; ".join(filter(None, (score.diagnosis_reason, _ending(run))))
        return RunCause(headline="No sub-goal is known to have failed", detail=detail)
    first = failed[0]
    did = {True: "attempted, not completed", False: "never attempted", None: "not completed"}
    return RunCause(
        headline=f"'{first.title or first.sub_goal}' {did[first.attempted]}",
        detail="",
        sub_goal=first.sub_goal,
    )


def _ending(run: Run) -> str:
    end = run.finished
    given = () if end is None else (("error", end.error), ("limit", end.limit))
    return "; ".join(f"{name} {text.rstrip('.')}" for name, text in given if text)
