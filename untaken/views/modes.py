"""``untaken.modes-…/1``: the taxonomy, notes with their modes, suggestions, and how far people agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from untaken.analysis import (
    Assignment,
    Corpus,
    FailureMode,
    ModeAgreement,
    ModelSuggestion,
    ModeStatus,
    ModeSuggester,
    Note,
    RootCauseAgreement,
    Suggestion,
    SuggestionQuality,
    Taxonomy,
    assignments_of,
    ceiling_words,
    filed_texts,
    modes_by_run,
    notes_of,
    root_cause_agreement,
    suggestion_quality,
)
from untaken.errors import Finding, Unscored
from untaken.ledger import Run
from untaken.views.documents import Count, Keys, Part
from untaken.views.frame import Columns, count, figure, frame, interval, reasons, text

if TYPE_CHECKING:
    import pandas as pd


Known = ModeStatus | Literal["unknown"]
UNKNOWN: Final[Literal["unknown"]] = "unknown"
"""Status of a mode that ledgers name and the taxonomy does not."""


_MODE: Final = Keys(
    FailureMode,
    "id name definition examples colour status into origin runs",
    examples=[str],
    status=Known,
    into=[str],
    runs=int,
)
MODES_OVERVIEW: Final = Keys.given(
    schema="untaken.modes-list/1", version=Count, runs=Count, read=Count, modes=[_MODE]
)
"""The taxonomy, in its version, over the unbroken runs of a workspace.

Of each mode, `runs` is the number of runs that have it: people accepted it, under this id or a merged one. A
run is `read` where a person wrote a note or a word on a mode.
"""


class UnfiledNote(Struct, frozen=True, kw_only=True):
    """A note without a mode, and what it may mean: by similar notes, and by a model that was asked."""

    note: Note
    suggestions: tuple[Suggestion, ...]
    by_model: ModelSuggestion | None = None


def modes_overview(runs: Iterable[Run], taxonomy: Taxonomy) -> Part:
    """Every mode of the taxonomy, in its order, with its number of runs; then unknown ones."""
    found = modes_by_run(runs, taxonomy)
    counts = Counter(mode for one in found.values() for mode in one.modes)
    unknown = [FailureMode(id=id_, name=id_) for id_ in sorted(counts.keys() - taxonomy.by_id.keys())]
    return MODES_OVERVIEW(
        version=taxonomy.version,
        runs=len(found),
        read=sum(one.read for one in found.values()),
        modes=[
            *(_MODE(mode, runs=counts[mode.id]) for mode in taxonomy.modes),
            *(_MODE(mode, runs=counts[mode.id], status=UNKNOWN) for mode in unknown),
        ],
    )


def unfiled_notes(
    runs: Sequence[Run], taxonomy: Taxonomy
) -> tuple[tuple[UnfiledNote, ...], SuggestionQuality]:
    """Notes at whose place no person accepted a mode, with suggestions, and how good suggestions are."""
    filed = filed_texts(runs, taxonomy)
    suggester = ModeSuggester(filed)
    known = {one.note for one in filed if one.note is not None}
    found = tuple(
        UnfiledNote(note=note, suggestions=suggester.suggest(note.text))
        for run in runs
        if not run.integrity.broken
        for note in notes_of(run)
        if note not in known
    )
    return found, suggestion_quality(filed)


_NOTE: Final = "run_id digest=run seq author at place.sub_goal place.event text imported"
_ASSIGNMENT: Final = Keys(
    Assignment,
    "run_id digest=run seq mode name assigned=mode by status at place.sub_goal place.event note reason"
    " imported",
    mode=str,
    name=str,
)
"""An author's latest word on a mode at a place: `mode` is what the one `assigned` counts as."""
MODES_NOTES_DOCUMENT: Final = Keys.given(
    schema="untaken.modes-notes/1", notes=[Keys(Note, _NOTE)], assignments=[_ASSIGNMENT]
)
"""Every note, and each author's latest word on each mode at each place."""
_SUGGESTION: Final = Keys(
    Suggestion,
    "mode name likeness like_run_id like_seq",
    name=str,
    like_run_id=str | None,
    like_seq=Count | None,
)
_BY_MODEL: Final = Keys(
    ModelSuggestion,
    "model mode name reason mode_reason",
    mode=str | None,
    name=str | None,
    mode_reason=str | UnsetType,
)
_SUGGESTED: Final = Keys(
    Note,
    f"{_NOTE} suggestions by_model",
    suggestions=[_SUGGESTION],
    by_model=Annotated[Any, _BY_MODEL] | UnsetType,
)
MODES_SUGGEST_DOCUMENT: Final = Keys.given(
    schema="untaken.modes-suggest/1", quality=SuggestionQuality, notes=[_SUGGESTED]
)
"""Suggestions for notes without a mode, and how good they are."""


def modes_notes_document(runs: Iterable[Run], taxonomy: Taxonomy) -> Part:
    """The document of the notes of `runs`."""
    listed = list(runs)
    return MODES_NOTES_DOCUMENT(
        notes=[note for run in listed for note in notes_of(run)],
        assignments=[_assignment(one, taxonomy) for run in listed for one in assignments_of(run)],
    )


def modes_suggest_document(
    notes: Iterable[UnfiledNote], quality: SuggestionQuality, taxonomy: Taxonomy
) -> Part:
    """The document of suggestions."""
    return MODES_SUGGEST_DOCUMENT(
        quality=quality,
        notes=[
            _SUGGESTED(
                one.note,
                suggestions=[_suggestion(each, taxonomy) for each in one.suggestions],
                by_model=UNSET if one.by_model is None else _by_model(one.by_model, taxonomy),
            )
            for one in notes
        ],
    )


def _assignment(one: Assignment, taxonomy: Taxonomy) -> Part:
    mode = taxonomy.current(one.mode)
    return _ASSIGNMENT(one, mode=mode, name=taxonomy.name(mode))


def _suggestion(one: Suggestion, taxonomy: Taxonomy) -> Part:
    return _SUGGESTION(
        one,
        name=taxonomy.name(one.mode),
        likeness=round(one.likeness, 6),  # the last digits differ from machine to machine
        like_run_id=one.like.run_id if one.like else None,
        like_seq=one.like.seq if one.like else None,
    )


def _by_model(one: ModelSuggestion, taxonomy: Taxonomy) -> Part:
    mode = one.mode if isinstance(one.mode, str) else ""
    return _BY_MODEL(
        one,
        mode=mode or None,
        name=taxonomy.name(mode) if mode else None,
        mode_reason=one.mode.reason if isinstance(one.mode, Unscored) else UNSET,
    )


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
