"""The tables of paths not taken, and of choices: what was taken, what was left, in which context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from untaken.analysis import Corpus
from untaken.counterfactual import (
    Alternative,
    Choice,
    Decision,
    LoggedChoice,
    OffPolicyContrast,
    Placebo,
    context_words,
    contrast,
    level_words,
    logged_choices,
    placebo,
)
from untaken.errors import Score, Unscored, number
from untaken.ledger import Run, readable
from untaken.views.frame import Columns, as_facts, count, figure, frame, interval, text, truth, why

if TYPE_CHECKING:
    import pandas as pd


PART_RUNS: Final = 2_000
"""Runs in one part of the table, where it comes in parts."""


class BranchRow(Struct, frozen=True, gc=False):
    """One alternative at one decision point of one run."""

    run: Run
    actual_score: Score
    decision: Decision
    branch: Alternative
    context: str | None


DECISIONS: Final[Columns[BranchRow]] = {
    **as_facts("digest run_id task_id agent", at="run."),
    "decision_point": count("seq of the SKILL_SELECTION event", "decision.decision_point"),
    "selected": text("the skill that was taken", "decision.selected"),
    "context_hash": text("digest of the context", "decision.context_hash"),
    "context": text("the context, readable", "context"),
    "alternative": text("the skill that was not taken", "branch.alternative"),
    "known": truth("the memory has a history of it in this context", "branch.known"),
    "n": count("outcomes in that history", "branch.n"),
    "n_selected": count("outcomes of the selected skill in this context", "branch.n_selected"),
    "success_rate": figure("success rate of the alternative's history", "branch.success_rate", "percent"),
    "avg_cost": figure("its mean cost", "branch.avg_cost", "%.4f", title="mean cost"),
    "avg_steps": figure("its mean number of steps", "branch.avg_steps", "%.1f", title="mean steps"),
    "score": figure("score of the alternative's history", "branch.score"),
    "actual_score": figure("score of the run itself", "actual_score"),
    "delta": figure("score − actual_score", "branch.delta", "%+.3f"),
    **interval("delta_", of="the delta's", at="branch.delta_", shown="%+.3f"),
    "parts": text(
        "success, cost and steps of that history against the run",
        "branch.parts?.words",
        title="what differs",
    ),
    "verdict": text("what the delta says", "branch.verdict"),
    "cost_used": truth("false where the cost term was left out on both sides", "branch.cost_used"),
    "advantage": figure("score minus that of the selected skill's own history", "branch.advantage", "%+.3f"),
    **interval(of="the advantage's", at="branch.", shown="%+.3f"),
    "support": text("none, weak or supported", "branch.support"),
    "direction": text("what is supported of the alternative: better or worse", "branch.direction"),
    "support_reason": text("why, in words", "branch.support_reason"),
    "evidence_age_days": figure(
        "days from the last outcome in that history to the run's start", "branch.evidence_age_days"
    ),
    "level": count(
        "of the context's layers, 1 being the finest, the one that history is from", "branch.level"
    ),
    "levels": count("layers that the context has", "branch.levels"),
    "advantage_level": count(
        "the layer that both histories of the advantage are from", "branch.advantage_level"
    ),
    "delta_reason": why("delta", "branch.delta"),
}

_OF_A_RUN: Final[Columns[BranchRow]] = {
    **{name: DECISIONS[name] for name in ("decision_point", "selected", "alternative")},
    "context": text(
        "the context in words", lambda row: context_words(row.context, row.decision.context_hash)
    ),
    **{name: DECISIONS[name] for name in ("verdict", "delta", "parts", "n")},
    **{name: DECISIONS[name] for name in ("success_rate", "avg_cost", "avg_steps")},
    "history": text(
        "the layer of the context that it is from, where there are several",
        lambda row: level_words(row.branch.level, row.branch.levels),
    ),
    "support_reason": DECISIONS["support_reason"],
}


def run_decisions_table(run: Run, decisions: Iterable[Decision]) -> pd.DataFrame:
    """The rows of `decisions_table` for decisions of one run, in words."""
    # Columns of one run leave its own score out: working it out would score the runs of the whole memory.
    contexts, unknown = contexts_of(run), Unscored("not asked for")
    rows = (
        BranchRow(run, unknown, decision, branch, contexts[decision.decision_point])
        for decision in decisions
        for branch in decision.branches
    )
    return frame(_OF_A_RUN, rows)


def decisions_table(corpus: Corpus, paths: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per (run, decision point, alternative), in reading order (columns: `DECISIONS`).

    Args:
        corpus: what was evaluated.
        paths: rows of `ChoiceReview.paths`: these alone, in their order.
    """
    if paths is None:
        return frame(DECISIONS, _branches(corpus, corpus.runs))
    at = zip(paths["digest"], paths["decision_point"], paths["alternative"], strict=True)
    return frame(DECISIONS, (_branch(corpus, *path) for path in at))


def _branch(corpus: Corpus, digest: str, seq: int, alternative: str) -> BranchRow:
    run, decision = corpus.runs[digest], corpus.evaluations.decision(digest, seq, alternative)
    (branch,) = decision.branches
    return BranchRow(run, corpus.evaluations.actual_score(digest), decision, branch, contexts_of(run)[seq])


def decisions_in_parts(corpus: Corpus, runs: int = PART_RUNS) -> Iterator[pd.DataFrame]:
    """The rows of `decisions_table`, so many runs at a time; a part without rows, where there is no run."""
    digests = list(corpus.runs)
    # Once even without a run: a file of no rows still has its columns.
    for begin in range(0, max(1, len(digests)), runs):
        yield frame(DECISIONS, _branches(corpus, digests[begin : begin + runs]))


def _branches(corpus: Corpus, digests: Iterable[str]) -> Iterator[BranchRow]:
    for digest in digests:
        run = corpus.runs[digest]
        if decisions := corpus.evaluations.decisions(digest):
            contexts, actual = contexts_of(run), corpus.evaluations.actual_score(digest)
            # Decisions are made again each time they are asked for, so they are asked for once a run.
            for decision in decisions:
                context = contexts.get(decision.decision_point)
                for branch in decision.branches:
                    yield BranchRow(run, actual, decision, branch, context)


def contexts_of(run: Run) -> dict[int, str | None]:
    """The readable context of each decision point, by its `seq`."""
    return {event.seq: readable(event.context) for event in run.selections}


CHOICES: Final[Columns[Choice]] = {
    "selected": text("the skill that was taken", "selected"),
    "alternative": text("the skill that was not taken", "alternative"),
    "context": text("the context, readable", "context"),
    "advantage": figure(
        "score of the alternative's history minus the selected skill's", "advantage", "%+.3f"
    ),
    **interval(of="the advantage's", shown="%+.3f"),
    "p_better": figure("probability that the advantage exceeds the threshold", "p_better", "percent"),
    "called": text("what may be said of the alternative, by the part that differs", "called"),
    "parts": text("success, cost and steps of the alternative against the skill taken", "parts.words"),
    "support": text("none, weak or supported", "support"),
    "direction": text("what is supported of the alternative: better or worse", "direction"),
    "support_reason": text("why, in words", "support_reason"),
    "q": figure("two-sided p-value of no advantage, adjusted for being one of q_family", "q", "p"),
    "q_family": count("pairs of skills that a test could tell apart, each counted once", "q_family"),
    "n_selected": count("outcomes in the selected skill's history", "n_selected"),
    "n_alternative": count("outcomes in the alternative's history", "n_alternative"),
    "runs_selected": count("runs behind the selected skill's history", "taken?.n_runs"),
    "runs_alternative": count("runs behind the alternative's history", "other?.n_runs"),
    "success_rate_selected": figure("success rate of the selected skill", "taken?.success_rate", "percent"),
    "success_rate_alternative": figure("success rate of the alternative", "other?.success_rate", "percent"),
    "avg_cost_selected": figure("mean cost of the selected skill's runs", "taken?.avg_cost"),
    "avg_cost_alternative": figure("mean cost of the alternative's runs", "other?.avg_cost"),
    "avg_steps_selected": figure("mean steps of the selected skill's runs", "taken?.avg_steps"),
    "avg_steps_alternative": figure("mean steps of the alternative's runs", "other?.avg_steps"),
    "points": count("decision points that made this choice", lambda choice: len(choice.points)),
    "runs": count("runs with such a point", "points.runs"),
    "deltas": count("of the points, those with a delta", lambda choice: len(choice.deltas)),
    "mean_delta": figure("mean delta over those", "mean_delta", "%+.3f"),
    "max_delta": figure("largest delta", "max_delta", "%+.3f"),
    "may_be_better": count(
        "points at which the alternative scores higher (delta above 0.1)", "may_be_better"
    ),
    "was_better": count("points at which the run scores higher (delta below −0.1)", "was_better"),
    "equivalent": count("points at which they are equivalent", "equivalent"),
    "unknown": count("points at which the alternative had no history yet", "unknown"),
    "level": count("of the situation's layers, 1 being the finest, the one compared at", "level"),
    "levels": count("layers that the situation has", "levels"),
    "agents": text("who made this choice", lambda choice: ", ".join(choice.agents)),
    "tasks": count("different tasks in which it was made", lambda choice: len(choice.tasks)),
    "choice": text("short digest of skill, alternative and context: the choice's id in links", "digest"),
    "context_hash": text("digest of the context", "context_hash"),
    "advantage_reason": why("advantage", "advantage"),
    "low_reason": why("the interval", "low"),
    "mean_delta_reason": why("mean_delta", "mean_delta"),
}


def choices_table(corpus: Corpus) -> pd.DataFrame:
    """One row per (selected, alternative, context), what weighs most first (columns: `CHOICES`)."""
    return table_of_choices(corpus.choices)


def table_of_choices(made: Iterable[Choice]) -> pd.DataFrame:
    """One row per choice, in the order given (columns: `CHOICES`)."""
    return frame(CHOICES, made)


def corpus_logged(corpus: Corpus) -> tuple[LoggedChoice, ...]:
    """Every choice of the runs with the odds it was made by, each on the scale of its own memory."""
    return tuple(
        choice
        for memory, digests in corpus.by_memory()
        for choice in logged_choices(
            [corpus.runs[digest] for digest in digests], memory.snapshot(), corpus.weights
        )
    )


def choice_odds(logged: Sequence[LoggedChoice], choice: Choice) -> OffPolicyContrast:
    """The estimate from logged probabilities; unscored if none were logged. `logged` as `corpus_logged`."""
    skill, other = choice.selected, choice.alternative
    return contrast(logged, choice.context_hash, selected=skill, alternative=other)


def placebo_of(corpus: Corpus) -> Placebo:
    """What the comparisons of the corpus say once its skills are shuffled among its runs; takes its time."""
    return placebo(list(corpus.runs.values()), corpus.memories, weights=corpus.weights)


class ChoiceCounts(Struct, frozen=True, kw_only=True):
    """Choices, counted.

    Attributes:
        compared: with a test of success, over which `q` is adjusted; `more` and `less`: the alternative
            succeeded more or less often (`Choice.succeeds`).
        cheaper: at the same success it costs less, or takes fewer steps; `alike`: nothing of this can be
            said, though it has a history; `unknown`: it has none.
    """

    choices: int
    compared: int
    more: int
    less: int
    cheaper: int
    alike: int
    unknown: int


def count_choices(made: Sequence[Choice]) -> ChoiceCounts:
    """Counts choices by what supports them."""
    ways = [c.succeeds for c in made]
    # Without a history nothing is saved, so none of these is counted as unknown, too.
    cheaper = sum(not c.succeeds and c.parts.saves for c in made)
    unknown = sum(c.support == "none" for c in made)
    return ChoiceCounts(
        choices=len(made),
        compared=sum(number(c.q) is not None for c in made),
        more=ways.count(1),
        less=ways.count(-1),
        cheaper=cheaper,
        alike=ways.count(0) - cheaper - unknown,
        unknown=unknown,
    )
