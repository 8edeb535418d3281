"""The table of choices: one row per (selected skill, alternative, context) over all runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from untaken.analysis import Corpus
from untaken.counterfactual import (
    Choice,
    LoggedChoice,
    OffPolicyContrast,
    Placebo,
    contrast,
    logged_choices,
    placebo,
)
from untaken.errors import number
from untaken.views.frame import Columns, count, figure, frame, interval, text, why

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceCounts:
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
