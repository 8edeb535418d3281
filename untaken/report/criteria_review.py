"""What the Criteria page shows: values, disturbed values, and what the verifier makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from untaken.criteria import (
    QuantifierRun,
    SideBySide,
    Verification,
    kept_runs,
    ledger_criteria,
    quantify,
    quantify_disturbed,
    verify_criteria,
)
from untaken.report.frame import Columns, count, figure, frame, text, truth, why

if TYPE_CHECKING:
    import pandas as pd

    from untaken.corpus import Corpus

Source = Literal["ledger", "recorded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaReview:
    """Values of criteria with what the verifier makes of them.

    Attributes:
        source: computed from the ledgers of the workspace, or recorded replies that were brought.
        passes: of the quantifier.
        disturbed: passes over the runs made worse, by attack; empty where there are none.
    """

    source: Source
    passes: tuple[QuantifierRun, ...]
    disturbed: Mapping[str, Sequence[QuantifierRun]]
    verification: Verification


def ledger_review(corpus: Corpus) -> CriteriaReview:
    """What the ledgers themselves answer, on the runs as recorded and on the same runs made worse."""
    runs, criteria = list(corpus.runs.values()), ledger_criteria()
    passes = quantify(runs, graphs=corpus.graphs, criteria=criteria)
    disturbed = quantify_disturbed(runs, graphs=corpus.graphs, criteria=criteria)
    return _review("ledger", passes, disturbed)


def recorded_review(folder: Path) -> CriteriaReview | None:
    """What recorded quantifiers said; ``None`` where no replies were brought to the workspace in `folder`.

    Raises:
        UntakenError: as `untaken.criteria.kept_runs`.
    """
    passes = kept_runs(folder)
    return _review("recorded", passes, {}) if passes else None


def _review(
    source: Source, passes: tuple[QuantifierRun, ...], disturbed: Mapping[str, Sequence[QuantifierRun]]
) -> CriteriaReview:
    verified = verify_criteria(passes, disturbed=disturbed)
    return CriteriaReview(source=source, passes=passes, disturbed=disturbed, verification=verified)


SIDE: Final[Columns[SideBySide]] = {
    "criterion": text("name of the criterion", "name"),
    "first": figure("mean level of the first agent over common tasks, 0 is worst", "first"),
    "first_low": figure("lower end of its 95 % interval", "first_low"),
    "first_high": figure("upper end", "first_high"),
    "second": figure("mean level of the second agent", "second"),
    "second_low": figure("lower end of its 95 % interval", "second_low"),
    "second_high": figure("upper end", "second_high"),
    "difference": figure("first − second, task by task", "difference"),
    "low": figure("lower end of the difference's 95 % interval", "low"),
    "high": figure("upper end", "high"),
    "told_apart": truth("the interval of the difference leaves 0 out", "told_apart"),
    "tasks": count("common tasks with a value for both", "tasks"),
    "runs": count("runs of both on these tasks", "runs"),
    "best": count("the best level", "top"),
    "low_reason": why("low", "low"),
}


def side_table(found: Sequence[SideBySide]) -> pd.DataFrame:
    """One row per criterion, two agents."""
    return frame(SIDE, found)
