"""``untaken.modes-…/1``: the taxonomy, notes with their modes, and suggestions, as documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from untaken.analysis import (
    Assignment,
    AssignmentStatus,
    FailureMode,
    ModelSuggestion,
    ModeStatus,
    ModeSuggester,
    Note,
    Suggestion,
    SuggestionQuality,
    Taxonomy,
    assignments_of,
    filed_texts,
    modes_by_run,
    notes_of,
    suggestion_quality,
)
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.views.documents import Count, DocumentPart, Spread

Known = ModeStatus | Literal["unknown"]
UNKNOWN: Final[Literal["unknown"]] = "unknown"
"""Status of a mode that ledgers name and the taxonomy does not."""


class ModeCount(DocumentPart, frozen=True, kw_only=True):
    """A failure mode with the number of runs that have it: people accepted it, under this id or a merged one.

    Attributes:
        status: that of the mode, or ``unknown`` where ledgers name an id that the taxonomy does not hold.
    """

    id: str
    name: str
    definition: str
    examples: Sequence[str]
    colour: str
    status: Known
    into: Sequence[str]
    origin: str
    runs: int


class ModesOverview(DocumentPart, frozen=True, kw_only=True, tag="untaken.modes-list/1"):
    """The taxonomy over the runs of a workspace.

    Attributes:
        version: of the taxonomy.
        runs: unbroken runs; `read`: those on which a person wrote a note or a word on a mode.
    """

    version: Count
    runs: Count
    read: Count
    modes: Sequence[ModeCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfiledNote:
    """A note without a mode, and what it may mean: by similar notes, and by a model that was asked."""

    note: Note
    suggestions: tuple[Suggestion, ...]
    by_model: ModelSuggestion | None = None


def modes_overview(runs: Iterable[Run], taxonomy: Taxonomy) -> ModesOverview:
    """Every mode of the taxonomy, in its order, with its number of runs; then unknown ones."""
    found = modes_by_run(runs, taxonomy)
    counts = Counter(mode for one in found.values() for mode in one.modes)
    unknown = [FailureMode(id=id_, name=id_) for id_ in sorted(counts.keys() - taxonomy.by_id.keys())]
    return ModesOverview(
        version=taxonomy.version,
        runs=len(found),
        read=sum(one.read for one in found.values()),
        modes=[
            *(ModeCount.of(mode, runs=counts[mode.id]) for mode in taxonomy.modes),
            *(ModeCount.of(mode, runs=counts[mode.id], status=UNKNOWN) for mode in unknown),
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


class NoteEntry(DocumentPart, frozen=True, kw_only=True):
    """A note, and the place it is about."""

    run_id: str
    digest: str
    seq: Count
    author: str | None
    at: str
    sub_goal: str | None
    event: Count | None
    text: str
    imported: bool


class AssignmentEntry(DocumentPart, frozen=True, kw_only=True):
    """An author's latest word on a mode at a place: `mode` is what the one `assigned` counts as."""

    run_id: str
    digest: str
    seq: Count
    mode: str
    name: str
    assigned: str
    by: str
    status: AssignmentStatus
    at: str
    sub_goal: str | None
    event: Count | None
    note: Count | None
    reason: str | None
    imported: bool


class ModesNotesDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.modes-notes/1"):
    """Every note, and each author's latest word on each mode at each place."""

    notes: Sequence[NoteEntry]
    assignments: Sequence[AssignmentEntry]


class SuggestionEntry(DocumentPart, frozen=True, kw_only=True):
    """A mode that a note may mean, and the note most like it."""

    mode: str
    name: str
    likeness: float
    like_run_id: str | None
    like_seq: Count | None


class ModelSuggestionEntry(DocumentPart, frozen=True, kw_only=True):
    """What a model says of a note."""

    model: str
    mode: str | None
    name: str | None
    reason: str
    mode_reason: str | UnsetType = UNSET


class SuggestedNote(DocumentPart, frozen=True, kw_only=True):
    """A note without a mode, and what it may mean."""

    note: Spread[NoteEntry]
    suggestions: Sequence[SuggestionEntry]
    by_model: ModelSuggestionEntry | UnsetType = UNSET


class ModesSuggestDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.modes-suggest/1"):
    """Suggestions for notes without a mode, and how good they are."""

    quality: SuggestionQuality
    notes: Sequence[SuggestedNote]


def modes_notes_document(runs: Iterable[Run], taxonomy: Taxonomy) -> ModesNotesDocument:
    """The document of the notes of `runs`."""
    listed = list(runs)
    return ModesNotesDocument(
        notes=[_note(note) for run in listed for note in notes_of(run)],
        assignments=[_assignment(one, taxonomy) for run in listed for one in assignments_of(run)],
    )


def modes_suggest_document(
    notes: Iterable[UnfiledNote], quality: SuggestionQuality, taxonomy: Taxonomy
) -> ModesSuggestDocument:
    """The document of suggestions."""
    return ModesSuggestDocument(
        quality=quality,
        notes=[
            SuggestedNote(
                note=_note(one.note),
                suggestions=[_suggestion(each, taxonomy) for each in one.suggestions],
                by_model=UNSET if one.by_model is None else _by_model(one.by_model, taxonomy),
            )
            for one in notes
        ],
    )


def _note(note: Note) -> NoteEntry:
    return NoteEntry.of(note, note.place, digest=note.run, at=note.at.isoformat())


def _assignment(one: Assignment, taxonomy: Taxonomy) -> AssignmentEntry:
    mode = taxonomy.current(one.mode)
    return AssignmentEntry.of(
        one,
        one.place,
        digest=one.run,
        mode=mode,
        name=taxonomy.name(mode),
        assigned=one.mode,
        at=one.at.isoformat(),
    )


def _suggestion(one: Suggestion, taxonomy: Taxonomy) -> SuggestionEntry:
    return SuggestionEntry(
        mode=one.mode,
        name=taxonomy.name(one.mode),
        likeness=round(one.likeness, 6),
        like_run_id=one.like.run_id if one.like else None,
        like_seq=one.like.seq if one.like else None,
    )


def _by_model(one: ModelSuggestion, taxonomy: Taxonomy) -> ModelSuggestionEntry:
    mode = one.mode if isinstance(one.mode, str) else ""
    return ModelSuggestionEntry(
        model=one.model,
        mode=mode or None,
        name=taxonomy.name(mode) if mode else None,
        reason=one.reason,
        mode_reason=one.mode.reason if isinstance(one.mode, Unscored) else UNSET,
    )
