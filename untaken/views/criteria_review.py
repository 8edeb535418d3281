"""What the Criteria page shows: values, disturbed values, and what the verifier makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from untaken.judging import (
    LEAST_KAPPA,
    MOST_DISTURBED,
    BeforeAfter,
    CriterionAgreement,
    CriterionDifference,
    OutcomeMean,
    PassStep,
    QuantifierRun,
    Trust,
    Verification,
    before_after_each,
    criteria_against_people,
    kept_people,
    kept_runs,
    ledger_criteria,
    outcome_means,
    pass_steps,
    quantify,
    quantify_disturbed,
    trust_of,
    verify_criteria,
)
from untaken.views.frame import Columns, RowWith, count, figure, frame, interval, text, truth, why

if TYPE_CHECKING:
    import pandas as pd

    from untaken.analysis import Corpus

Source = Literal["ledger", "recorded"]


class CriteriaReview(Struct, frozen=True, kw_only=True):
    """Values of criteria with what the verifier makes of them.

    Attributes:
        source: the ledgers of the workspace, or uploaded recorded replies.
        passes: of the quantifier.
        means: by criterion and outcome, over all agents.
        disturbed: by attack, each criterion before and after; empty where there are no disturbed runs.
        steps: what each further pass changes.
    """

    source: Source
    passes: tuple[QuantifierRun, ...]
    means: tuple[OutcomeMean, ...]
    disturbed: Mapping[str, tuple[BeforeAfter, ...]]
    steps: tuple[PassStep, ...]
    verification: Verification

    @property
    def deterministic(self) -> bool:
        """Whether another pass can say nothing new."""
        return all(run.deterministic for run in self.passes)

    @property
    def values(self) -> int:
        """How many values there are."""
        return sum(len(item.values) for run in self.passes for item in run.items)

    @property
    def unscored(self) -> int:
        """Number of values missing because there is no evidence."""
        return sum(len(item.unscored) for run in self.passes for item in run.items)

    @property
    def strange(self) -> int:
        """How many values are none of the accepted ones."""
        every = (value for run in self.passes for item in run.items for value in item.values.values())
        return sum(value.out_of_vocabulary for value in every)

    @property
    def drawn(self) -> str:
        """How many of the runs were drawn to be disturbed, in words; empty where all were."""
        runs = max((len(run.items) for run in self.passes), default=0)
        some = self.source == "ledger" and runs > MOST_DISTURBED
        return f"Disturbed: {MOST_DISTURBED:,} of {runs:,} runs, drawn by digest." if some else ""

    @property
    def unread(self) -> int:
        """How many replies could not be read."""
        return sum(len(run.unparseable) for run in self.passes)


def ledger_review(corpus: Corpus) -> CriteriaReview:
    """What the ledgers themselves answer, on the runs as recorded and on the same runs made worse."""
    runs, criteria = list(corpus.runs.values()), ledger_criteria()
    passes = quantify(runs, graphs=corpus.graphs, criteria=criteria)
    disturbed = quantify_disturbed(runs, graphs=corpus.graphs, criteria=criteria)
    return _review("ledger", passes, disturbed)


def recorded_review(folder: Path) -> CriteriaReview | None:
    """Results of recorded quantifiers; ``None`` if the workspace in `folder` has no recorded replies.

    Raises:
        UntakenError: as `untaken.judging.criteria.kept_runs`.
    """
    passes = kept_runs(folder)
    # A recorded judge cannot be asked about a run that was made worse.
    return _review("recorded", passes, {}) if passes else None


def _review(
    source: Source, passes: tuple[QuantifierRun, ...], disturbed: Mapping[str, Sequence[QuantifierRun]]
) -> CriteriaReview:
    return CriteriaReview(
        source=source,
        passes=passes,
        means=outcome_means(passes),
        disturbed=before_after_each(passes, disturbed),
        steps=pass_steps(passes),
        verification=verify_criteria(passes, disturbed=disturbed),
    )


def against_people(review: CriteriaReview, folder: Path) -> tuple[CriterionAgreement, ...]:
    """Each pass against the people's values that the workspace in `folder` keeps.

    Raises:
        UntakenError: as `untaken.judging.criteria.kept_people`.
    """
    people = kept_people(folder)
    return tuple(one for theirs in people for one in criteria_against_people(review.passes, theirs))


PEOPLE: Final[Columns[RowWith[CriterionAgreement, Trust]]] = {
    "criterion": text("name of the criterion", "row.name"),
    "pass": text("name of the quantifier's pass", "row.run"),
    "people": text("name of the people's values", "row.people"),
    "n": count("runs with a value of both", "row.n"),
    "trust": text(
        "`reliable`, `unreliable` (κ's interval is below the least), or `cannot tell`",
        lambda one: one.beside.replace("_", " "),
    ),
    "kappa": figure("Cohen's κ: agreement beyond chance", "row.kappa", "%.2f"),
    "kappa_low": figure("lower end of its 95% interval, clustered by task", "row.kappa_low", "%.2f"),
    "kappa_high": figure("upper end", "row.kappa_high", "%.2f"),
    "agreement": figure("share of equal values", "row.agreement", "%.2f"),
    **interval(at="row.", shown="%.2f"),
    "kappa_reason": why("kappa", "row.kappa"),
    "kappa_low_reason": why("kappa_low", "row.kappa_low"),
}


def criteria_people_table(found: Sequence[CriterionAgreement], *, least: float = LEAST_KAPPA) -> pd.DataFrame:
    """One row per pass and criterion that people have values of, too (columns: `PEOPLE`)."""
    return frame(
        PEOPLE, (RowWith(one, trust_of(one.kappa_low, one.kappa_high, one.n, least=least)) for one in found)
    )


SIDE: Final[Columns[CriterionDifference]] = {
    "criterion": text("name of the criterion", "name"),
    "first": figure("mean level of the first agent over common tasks, 0 is worst", "first", "%.2f"),
    **interval("first_", shown="%.2f"),
    "second": figure("mean level of the second agent", "second", "%.2f"),
    **interval("second_", shown="%.2f"),
    "difference": figure("first − second, task by task", "difference", "%.2f"),
    **interval(of="the difference's", shown="%.2f"),
    "clear_difference": truth("whether the interval of the difference excludes 0", "clear_difference"),
    "tasks": count("common tasks with a value for both", "tasks"),
    "runs": count("runs of both on these tasks", "runs"),
    "best": count("the best level", "top"),
    "low_reason": why("low", "low"),
}


def side_table(found: Sequence[CriterionDifference]) -> pd.DataFrame:
    """One row per criterion, two agents (columns: `SIDE`)."""
    return frame(SIDE, found)
