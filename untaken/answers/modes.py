"""``untaken.modes-…/1``: the taxonomy, notes with their modes, and suggestions, as documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from msgspec import to_builtins

from untaken.answers.documents import Document, entry
from untaken.answers.mode_agreement import modes_agree_schema
from untaken.answers.shapes import COUNT, TEXT, Schema, document, entry_shape, fixed, list_of, or_null
from untaken.errors import Unscored
from untaken.failure_modes import (
    Assignment,
    FailureMode,
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
from untaken.failure_modes.model_suggesting import ModelSuggestion
from untaken.ledger import Run

if TYPE_CHECKING:
    pass

UNKNOWN: Final = "unknown"
"""Status of a mode that ledgers name and the taxonomy does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeCount:
    """A failure mode with the number of runs that have it: people accepted it, under this id or a merged one.

    Attributes:
        status: that of the mode, or ``unknown`` where ledgers name an id that the taxonomy does not hold.
    """

    id: str
    name: str
    definition: str
    examples: tuple[str, ...]
    colour: str
    status: str
    into: tuple[str, ...]
    origin: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModesOverview:
    """The taxonomy over the runs of a workspace.

    Attributes:
        version: of the taxonomy.
        runs: unbroken runs; `read`: those on which a person wrote a note or a word on a mode.
    """

    version: int
    runs: int
    read: int
    modes: tuple[ModeCount, ...]


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
        modes=tuple(_counted(mode, counts, mode.status) for mode in taxonomy.modes)
        + tuple(_counted(mode, counts, UNKNOWN) for mode in unknown),
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


def modes_list_document(found: ModesOverview) -> Document:
    """``untaken.modes-list/1``."""
    return {
        "schema": "untaken.modes-list/1",
        "version": found.version,
        "runs": found.runs,
        "read": found.read,
        "modes": [to_builtins(mode) for mode in found.modes],
    }


def modes_notes_document(runs: Iterable[Run], taxonomy: Taxonomy) -> Document:
    """``untaken.modes-notes/1``: every note, and each author's latest word on each mode at each place."""
    listed = list(runs)
    return {
        "schema": "untaken.modes-notes/1",
        "notes": [_note(note) for run in listed for note in notes_of(run)],
        "assignments": [_assignment(one, taxonomy) for run in listed for one in assignments_of(run)],
    }


def modes_suggest_document(
    notes: Iterable[UnfiledNote], quality: SuggestionQuality, taxonomy: Taxonomy
) -> Document:
    """``untaken.modes-suggest/1``."""
    return {
        "schema": "untaken.modes-suggest/1",
        "quality": entry(quality),
        "notes": [
            _note(one.note)
            | {"suggestions": [_suggestion(each, taxonomy) for each in one.suggestions]}
            | ({"by_model": _by_model(one.by_model, taxonomy)} if one.by_model is not None else {})
            for one in notes
        ],
    }


def _counted(mode: FailureMode, counts: Mapping[str, int], status: str) -> ModeCount:
    return ModeCount(
        id=mode.id,
        name=mode.name,
        definition=mode.definition,
        examples=tuple(mode.examples),
        colour=mode.colour,
        status=status,
        into=tuple(mode.into),
        origin=mode.origin,
        runs=counts.get(mode.id, 0),
    )


def _note(note: Note) -> Document:
    return {
        "run_id": note.run_id,
        "digest": note.run,
        "seq": note.seq,
        "author": note.author,
        "at": note.at.isoformat(),
        "sub_goal": note.place.sub_goal,
        "event": note.place.event,
        "text": note.text,
        "imported": note.imported,
    }


def _assignment(one: Assignment, taxonomy: Taxonomy) -> Document:
    mode = taxonomy.current(one.mode)
    return {
        "run_id": one.run_id,
        "digest": one.run,
        "seq": one.seq,
        "mode": mode,
        "name": taxonomy.name(mode),
        "assigned": one.mode,
        "by": one.by,
        "status": one.status,
        "at": one.at.isoformat(),
        "sub_goal": one.place.sub_goal,
        "event": one.place.event,
        "note": one.note,
        "reason": one.reason,
        "imported": one.imported,
    }


def _suggestion(one: Suggestion, taxonomy: Taxonomy) -> Document:
    return {
        "mode": one.mode,
        "name": taxonomy.name(one.mode),
        "likeness": round(one.likeness, 6),
        "like_run_id": one.like.run_id if one.like else None,
        "like_seq": one.like.seq if one.like else None,
    }


def _by_model(one: ModelSuggestion, taxonomy: Taxonomy) -> Document:
    mode = one.mode if isinstance(one.mode, str) else ""
    suggested: Document = {
        "model": one.model,
        "mode": mode or None,
        "name": taxonomy.name(mode) if mode else None,
    }
    unscored = {"mode_reason": one.mode.reason} if isinstance(one.mode, Unscored) else {}
    return suggested | {"reason": one.reason} | unscored


_PLACE: Final[dict[str, Schema]] = {"sub_goal": or_null(TEXT), "event": or_null(COUNT)}
_NOTE: Final[dict[str, Schema]] = {
    "run_id": TEXT,
    "digest": TEXT,
    "seq": COUNT,
    "author": or_null(TEXT),
    "at": TEXT,
    **_PLACE,
    "text": TEXT,
    "imported": {"type": "boolean"},
}


def modes_list_schema() -> Schema:
    """Schema of ``untaken.modes-list/1``."""
    status = {"enum": [*get_args(ModeStatus), UNKNOWN]}
    mode = entry_shape(ModeCount, status=status, examples=list_of(TEXT), into=list_of(TEXT))
    return document("untaken.modes-list/1", version=COUNT, runs=COUNT, read=COUNT, modes=list_of(mode))


def modes_notes_schema() -> Schema:
    """Schema of ``untaken.modes-notes/1``."""
    assignment = fixed(
        run_id=TEXT,
        digest=TEXT,
        seq=COUNT,
        mode=TEXT,
        name=TEXT,
        assigned=TEXT,
        by=TEXT,
        status={"enum": ["accepted", "suggested", "withdrawn"]},
        at=TEXT,
        **_PLACE,
        note=or_null(COUNT),
        reason=or_null(TEXT),
        imported={"type": "boolean"},
    )
    return document("untaken.modes-notes/1", notes=list_of(fixed(**_NOTE)), assignments=list_of(assignment))


def modes_suggest_schema() -> Schema:
    """Schema of ``untaken.modes-suggest/1``."""
    suggestion = fixed(
        mode=TEXT, name=TEXT, likeness={"type": "number"}, like_run_id=or_null(TEXT), like_seq=or_null(COUNT)
    )
    by_model = fixed(model=TEXT, mode=or_null(TEXT), name=or_null(TEXT), reason=TEXT)
    by_model["properties"]["mode_reason"] = TEXT
    note = fixed(**_NOTE, suggestions=list_of(suggestion))
    note["properties"]["by_model"] = by_model
    return document(
        "untaken.modes-suggest/1",
        quality=entry_shape(SuggestionQuality),
        notes=list_of(note),
    )


MODE_SCHEMAS: Final = {
    "modes-list": modes_list_schema,
    "modes-notes": modes_notes_schema,
    "modes-suggest": modes_suggest_schema,
    "modes-agree": modes_agree_schema,
}
"""By name, in the order in which `untaken schema` lists them."""
