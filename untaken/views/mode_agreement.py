"""``untaken.modes-agree/1``: how far two people see the same modes, steps and root causes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from untaken.analysis import (
    Corpus,
    ModeAgreement,
    RootCauseAgreement,
    Taxonomy,
    ceiling_words,
    root_cause_agreement,
)
from untaken.errors import Finding
from untaken.views.documents import Keys, Part
from untaken.views.frame import Columns, count, figure, frame, interval, reasons, text

if TYPE_CHECKING:
    import pandas as pd

MODE_AGREEMENT: Final[Columns[ModeAgreement]] = {
    "a": text("a reader", "a"),
    "b": text("another one", "b"),
    "mode": text("the failure mode; none: all of them", lambda one: one.mode or None),
    "n": count("runs that both read; over all modes, each mode of each run", "n"),
    "both": count("both see it", "both"),
    "only_a": count("only the first sees it", "only_a"),
    "only_b": count("only the second sees it", "only_b"),
    "kappa": figure("Cohen's κ: agreement beyond chance", "kappa"),
    "kappa_low": figure("lower end of its 95% interval, clustered by task", "kappa_low"),
    "kappa_high": figure("upper end of its 95% interval", "kappa_high"),
    "agreement": figure("share of equal answers", "agreement"),
    **interval(),
    "located": count("runs in which both name an event", "located"),
    "same_step": count("of these, at the same step", "same_step"),
    "near_step": count("of these, at most one step apart", "near_step"),
    "median_distance": figure("steps between the two, median", "median_distance"),
    **reasons("kappa", "kappa_low"),
}


def mode_agreement_table(found: Iterable[ModeAgreement], taxonomy: Taxonomy) -> pd.DataFrame:
    """Two people on each failure mode, modes by name (columns: `MODE_AGREEMENT`)."""
    named = (replace(one, mode=taxonomy.name(one.mode)) if one.mode else one for one in found)
    return frame(MODE_AGREEMENT, named)


ROOT_CAUSES: Final[Columns[RootCauseAgreement]] = {
    "a": text("a reader, or automatic blame", "a"),
    "b": text("another one", "b"),
    "runs": count("runs for which both name an event", "runs"),
    "same_step": count("of these, the same step", "same_step"),
    "near_step": count("of these, at most one step apart", "near_step"),
    "same": figure("share with the same step", "same"),
    "same_low": figure("lower end of its 95% interval, clustered by task", "same_low"),
    "same_high": figure("upper end of its 95% interval", "same_high"),
    "median_distance": figure("steps between the two, median", "median_distance"),
    "named": count("runs for which both also name a sub-goal", "named"),
    "same_sub_goal": count("of these, the same one", "same_sub_goal"),
    "kappa": figure("Cohen's κ of the sub-goals named", "kappa"),
    **reasons("same_low", "kappa"),
}


def root_cause_table(found: Iterable[RootCauseAgreement]) -> pd.DataFrame:
    """Two authors on root causes (columns: `ROOT_CAUSES`)."""
    return frame(ROOT_CAUSES, found)


def corpus_root_causes(corpus: Corpus) -> tuple[RootCauseAgreement, ...]:
    """People, and the decisive step of plan changes where runs have a plan graph, on root causes."""
    # Without graphs, there are no plan changes.
    paths = corpus.plans.runs.items() if corpus.graphs.graphs else ()
    blamed = {digest: path.decisive_seq for digest, path in paths if path.decisive_seq is not None}
    return root_cause_agreement(corpus.runs.values(), blamed)


_AGREEMENT: Final = Keys(ModeAgreement, "a b mode? * name", name=str | None)
MODES_AGREE_DOCUMENT: Final = Keys.given(
    schema="untaken.modes-agree/1",
    modes=[_AGREEMENT],
    root_causes=[RootCauseAgreement],
    human_ceiling=str,
    findings=[Finding],
)
"""How far people agree on modes (one without a mode: on all together) and on root causes."""


def modes_agree_document(
    modes: Iterable[ModeAgreement],
    causes: Sequence[RootCauseAgreement],
    taxonomy: Taxonomy,
    *,
    findings: Sequence[Finding] = (),
) -> Part:
    """The document of `modes` and `causes`."""
    return MODES_AGREE_DOCUMENT(
        modes=[_AGREEMENT(one, name=taxonomy.name(one.mode) if one.mode else None) for one in modes],
        root_causes=causes,
        human_ceiling=ceiling_words(causes),
        findings=findings,
    )
