"""The failing runs with their review status: who is assigned, and what is still unexplained."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Struct

from untaken.analysis import Corpus, notes_of, triage
from untaken.caching import Once
from untaken.errors import Finding, Unscored
from untaken.judging import (
    Reliability,
    ReviewedSubGoal,
    ReviewerPair,
    Reviewers,
    reviewer_pairs,
    reviewers_agreement,
)
from untaken.ledger import Run, readable
from untaken.scoring import RunScore
from untaken.views.documents import Document, Keys, Part
from untaken.views.frame import Columns, as_facts, count, figure, frame, interval, moment, reasons, text
from untaken.views.judging import REVIEWERS
from untaken.views.review import OrderedRun, RunCause, cause_of, first_failed, outline_of, review_order
from untaken.views.shapes import Schema
from untaken.workspace import STATUSES, Review

if TYPE_CHECKING:
    import pandas as pd

FIELDS: Final = ("status", "assignee", "tag", "agent", "task", "model", "kind", "diagnosis", "graph")
"""What cases are filtered by, besides the keys of RUN_STARTED.metadata (as ``meta.KEY``)."""
META: Final = "meta."
METADATA_KEYS: Final = 40
VALUE_CHARS: Final = 200
NOBODY: Final = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A failing run and its review.

    Attributes:
        item: the run.
        notes: how many review notes its ledger holds; `disagreements`: sub-goals where reviewers disagree.
        metadata: RUN_STARTED.metadata as text, of at most `METADATA_KEYS` keys (untrusted).
    """

    item: OrderedRun
    model: str
    graph: str
    diagnosis: str
    notes: int
    disagreements: int
    metadata: Mapping[str, str]
    review: Review
    # Of thousands of cases, a page shows the causes of a few.
    _outline: Once[RunCause] = dataclasses.field(compare=False, repr=False)
    _cause: Callable[[], RunCause] = dataclasses.field(compare=False, repr=False)
    _first: Callable[[], tuple[str, ...]] = dataclasses.field(compare=False, repr=False)

    @property
    def cause(self) -> RunCause:
        """What went wrong first in it, without the detail."""
        return self._outline()

    @property
    def first(self) -> tuple[str, ...]:
        """Title of the sub-goal that failed first by the log (untrusted); none where none did."""
        return self._first()

    @property
    def why(self) -> str:
        """What there is to see in the run, in words (untrusted); the run is read again for them."""
        return self._cause().in_words

    def values(self, field: str) -> tuple[str, ...]:
        """What the case has under a field of `FIELDS`, or under ``meta.KEY``."""
        if field.startswith(META):
            return _some(self.metadata.get(field.removeprefix(META), ""))
        if field == "tag":
            return self.review.tags
        found = {
            "status": self.review.status,
            "assignee": self.review.assignee or NOBODY,
            "agent": self.item.agent,
            "task": self.item.task_id,
            "model": self.model,
            "kind": self.item.kind,
            "diagnosis": self.diagnosis,
            "graph": self.graph,
        }
        return _some(found.get(field, ""))


class ReviewProgress(Struct, frozen=True, kw_only=True):
    """How far the review is: `reviewed` (explained or fixed) of `total` failing runs, and each status."""

    reviewed: int
    total: int
    statuses: Mapping[str, int]


def failing_cases(
    corpus: Corpus, reviewers: Reviewers, order: Sequence[OrderedRun] | None = None
) -> tuple[Case, ...]:
    """Every failing run in the order of review, as if nobody had touched it (`with_reviews`).

    `reviewers`: `corpus_reviewers` of the corpus; `order`: its `review_order`.
    """
    disagreements = Counter(one.digest for one in reviewers.disagreements)

    def cause(item: OrderedRun, find: Callable[..., RunCause]) -> RunCause:
        return find(corpus.runs[item.digest], corpus.scores[item.digest], item.kind, corpus.graphs)

    return tuple(
        Case(
            item=item,
            _outline=Once(partial(cause, item, outline_of)),
            _cause=partial(cause, item, cause_of),
            _first=partial(_first_title, corpus, run, score),
            model=run.started.model or "",
            graph=score.graph_id if isinstance(score, RunScore) else "",
            diagnosis=score.diagnosis if isinstance(score, RunScore) else "unscored",
            notes=len(notes_of(run)),
            disagreements=disagreements[item.digest],
            metadata=_metadata(run),
            review=Review(run=item.digest, run_id=item.run_id),
        )
        for item in (review_order(corpus) if order is None else order)
        if item.failing
        for run, score in [(corpus.runs[item.digest], corpus.scores[item.digest])]
    )


def _first_title(corpus: Corpus, run: Run, score: RunScore | Unscored) -> tuple[str, ...]:
    if isinstance(score, Unscored):
        return ()
    failed = first_failed(run, score, corpus.graphs.get(score.graph_id))
    return tuple(node.title or node.sub_goal for node in failed[:1])


def fix_first_reasons(corpus: Corpus) -> dict[str, str]:
    """By run digest, the first item of the fix-first list that the run is behind, with its reason."""
    reasons: dict[str, str] = {}
    for found in triage(corpus).items:
        for digest in found.runs:
            reasons.setdefault(digest, f"{found.title}: {found.reason}")
    return reasons


def with_reviews(cases: Iterable[Case], reviews: Mapping[str, Review]) -> tuple[Case, ...]:
    """The same cases with their current reviews."""
    return tuple(replace(case, review=reviews.get(case.item.digest, case.review)) for case in cases)


def chosen_cases(cases: Iterable[Case], filters: Mapping[str, Collection[str]]) -> tuple[Case, ...]:
    """The cases that have one of the values asked for under every field; an empty choice keeps all."""
    asked = {field: set(values) for field, values in filters.items() if values}
    return tuple(c for c in cases if all(not some.isdisjoint(c.values(f)) for f, some in asked.items()))


def fields_of(cases: Iterable[Case]) -> dict[str, list[str]]:
    """Every field that cases can be filtered by, with its values."""
    found: dict[str, dict[str, None]] = {field: {} for field in FIELDS}
    everyone = list(cases)
    found |= {f"{META}{key}": {} for case in everyone for key in case.metadata}
    for field, values in found.items():
        values.update(dict.fromkeys(value for case in everyone for value in case.values(field)))
    found["status"] = dict.fromkeys(STATUSES)  # also those that no case has
    return {field: list(some) if field == "status" else sorted(some) for field, some in found.items() if some}


def progress_of(cases: Iterable[Case]) -> ReviewProgress:
    """How many of the cases are reviewed."""
    counts = Counter(case.review.status for case in cases)
    # A review itself says which statuses count.
    reviewed = sum(n for status, n in counts.items() if Review(run="", run_id="", status=status).reviewed)
    return ReviewProgress(
        reviewed=reviewed, total=counts.total(), statuses={status: counts[status] for status in STATUSES}
    )


def corpus_reviewers(corpus: Corpus) -> Reviewers:
    """How far the people who judged the corpus's runs agree."""
    return reviewers_agreement(corpus.runs.values())


def corpus_reviewer_pairs(corpus: Corpus) -> tuple[ReviewerPair, ...]:
    """How far every two of them agree."""
    return reviewer_pairs(corpus_reviewers(corpus))


class ReviewerDisagreement(Struct, frozen=True, kw_only=True):
    """A sub-goal of a run on which reviewers differ; `title` of it is untrusted text."""

    judged: ReviewedSubGoal
    title: str
    critical: bool


def disagreement_queue(corpus: Corpus, reviewers: Reviewers) -> tuple[ReviewerDisagreement, ...]:
    """Contradictions before doubts, critical sub-goals before others, many voices before few.

    `reviewers`: `corpus_reviewers` of the corpus.
    """
    found = [_disagreed(corpus.scores[one.digest], one) for one in reviewers.disagreements]
    return tuple(
        sorted(found, key=lambda p: (not p.judged.contradicts, not p.critical, -len(p.judged.answers)))
    )


CASES: Final[Columns[Case]] = {
    "status": text("new, in review, explained or fixed", "review.status"),
    "kind": text("failed, unlucky, lucky, unfinished or broken", "item.kind"),
    **as_facts("agent task_id task_repeat", at="item."),
    "why": text("what there is to see", "why"),
    "first": text("sub-goals that failed first", lambda case: "; ".join(case.first) or None),
    "assignee": text("who looks into it", lambda case: case.review.assignee or None),
    "tags": text("tags", lambda case: ", ".join(case.review.tags) or None),
    "notes": count("review notes in its ledger", "notes"),
    "disagreements": count("sub-goals where reviewers disagree", "disagreements"),
    **as_facts("completion", at="item."),
    "model": text("the model behind the agent", lambda case: case.model or None),
    "diagnosis": text("what kind of failure it is", "diagnosis"),
    "updated_at": moment("last change of the review", "review.updated_at"),
    "updated_by": text("who made it", lambda case: case.review.updated_by or None),
    "revision": count("how many times the review was changed", "review.revision"),
    **as_facts("run_id digest", at="item."),
}

RELIABILITY: Final[Columns[Reliability]] = {
    "part": text("`all`, of these `blind` and `seen`, or `sub_goal`", "part"),
    "name": text("which sub-goal", "name"),
    "graph": text("its plan graph, where the run names it", "graph"),
    "items": count("sub-goals of runs on which two or more could tell", "items"),
    "agreed": count("of these, with one opinion", "agreed"),
    "alone": count("on which only one could tell", "alone"),
    "unsure": count("answers: could not tell", "unsure"),
    "runs": count("runs that the items come from", "runs"),
    "alpha": figure("Krippendorff's α: agreement beyond chance", "alpha"),
    **interval(),
    "alpha_unsure": figure("α with could not tell as a third answer", "alpha_unsure"),
    "reviewers": text("who judged", lambda one: ", ".join(one.reviewers)),
    **reasons("alpha", "low"),
}

REVIEWER_PAIRS: Final[Columns[ReviewerPair]] = {
    "a": text("a reviewer", "a"),
    "b": text("another one", "b"),
    "n": count("sub-goals of runs on which both could tell", "n"),
    "agreed": count("of these, with one opinion", "agreed"),
    "kappa": figure("Cohen's κ: agreement beyond chance", "kappa"),
    **interval("kappa_"),
    "agreement": figure("share of one opinion", "agreement"),
    **interval(),
    "only_a": count("the first says met, the other not met", "only_a"),
    "only_b": count("the first says not met, the other met", "only_b"),
    "clusters": count("tasks (or runs) that these come from", "clusters"),
    "cluster": text("what intervals take for independent: `task` or `run`", "cluster"),
    **reasons("low", "kappa", "kappa_low"),
}

REVIEWER_DISAGREEMENTS: Final[Columns[ReviewerDisagreement]] = {
    **as_facts("agent task_id sub_goal", at="judged."),
    **as_facts("title critical"),
    "met": text("who says it was met", lambda one: ", ".join(one.judged.met) or None),
    "not_met": text("who says it was not", lambda one: ", ".join(one.judged.not_met) or None),
    "unsure": text("who could not tell", lambda one: ", ".join(one.judged.unsure) or None),
    "reasons": text(
        "what they wrote", lambda one: "; ".join(f"{a}: {b}" for a, b in one.judged.reasons) or None
    ),
    "imported": text("whose word came with a file", lambda one: ", ".join(one.judged.imported) or None),
    **as_facts("run_id digest", at="judged."),
}


def cases_table(cases: Iterable[Case]) -> pd.DataFrame:
    """One row per failing run (columns: `CASES`)."""
    return frame(CASES, cases)


def reliability_table(found: Reviewers) -> pd.DataFrame:
    """How far reviewers agree: over all, then by sub-goal with the least first."""
    apart = (found.blind, found.seen) if found.blind.items else ()  # else `seen` repeats the whole
    return frame(RELIABILITY, (found.overall, *apart, *found.sub_goals))


def reviewer_pairs_table(pairs: Iterable[ReviewerPair]) -> pd.DataFrame:
    """How far every two reviewers agree."""
    return frame(REVIEWER_PAIRS, pairs)


def reviewer_disagreements_table(queue: Iterable[ReviewerDisagreement]) -> pd.DataFrame:
    """Each sub-goal of a run on which reviewers differ."""
    return frame(REVIEWER_DISAGREEMENTS, queue)


def _progress_shape() -> Schema:
    names = ("reviewed", "total", *STATUSES)
    count = {"type": "integer", "minimum": 0}
    return {
        "type": "object",
        "properties": dict.fromkeys(names, count),
        "required": list(names),
        "additionalProperties": False,
    }


_CASE: Final = Keys(
    Case,
    # Programs rely on the name that disagreements had first.
    "item.run_id item.digest item.kind item.agent item.task_id item.task_repeat why first fix_first"
    " item.completion model? graph? diagnosis metadata notes parted=disagreements review.status"
    " review.assignee review.tags review.revision review.updated_at review.updated_by",
    kind=Literal["failed", "unlucky", "lucky", "unfinished", "broken"],
    task_repeat=int | None,
    fix_first=str | None,
)


def _reasons(one: ReviewerDisagreement) -> Mapping[str, str]:
    return dict(one.judged.reasons)


_DISAGREEMENT: Final = Keys(ReviewerDisagreement, "judged.* reasons title critical", reasons=_reasons)
REVIEW_DOCUMENT: Final = Keys.given(
    schema="untaken.review/1",
    progress=Annotated[Document, _progress_shape],
    cases=[_CASE],
    reviewers=REVIEWERS,
    disagreements=[_DISAGREEMENT],
    findings=[Finding],
)
"""The queue, its progress, and how far reviewers agree."""


def review_document(
    cases: Sequence[Case],
    found: Reviewers,
    queue: Iterable[ReviewerDisagreement],
    *,
    reasons: Mapping[str, str],
    findings: Sequence[Finding] = (),
) -> Part:
    """The document of the queue; `reasons`: `fix_first_reasons` of the corpus."""
    progress = progress_of(cases)
    return REVIEW_DOCUMENT(
        progress={"reviewed": progress.reviewed, "total": progress.total, **progress.statuses},
        cases=[_CASE(case, fix_first=reasons.get(case.item.digest)) for case in cases],
        reviewers=found,
        disagreements=list(queue),
        findings=findings,
    )


def _disagreed(score: RunScore | Unscored, one: ReviewedSubGoal) -> ReviewerDisagreement:
    nodes = {} if isinstance(score, Unscored) else {node.sub_goal: node for node in score.results}
    node = nodes.get(one.sub_goal)
    return ReviewerDisagreement(
        judged=one,
        title=(node.title or node.sub_goal) if node else one.sub_goal,
        critical=bool(node and node.critical),
    )


def _metadata(run: Run) -> dict[str, str]:
    given = list((run.started.metadata or {}).items())[:METADATA_KEYS]  # a ledger may hold any number
    return {str(key)[:VALUE_CHARS]: (readable(value) or "")[:VALUE_CHARS] for key, value in given}


def _some(value: str) -> tuple[str, ...]:
    return (value,) if value else ()
