"""What people do to a taxonomy: create, edit, merge, split, retire and restore modes; who, when and why (§9).

Every function takes a taxonomy and gives a new one. Nothing is lost: a change keeps how the mode was before,
and no id is ever deleted or used again, so that old assignments keep their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec.structs import replace

from untaken import limits
from untaken.analysis.failure_modes.failure_mode import COLOURS, FailureMode, ModeChange, Taxonomy
from untaken.analysis.failure_modes.files import checked, plain_name
from untaken.errors import UntakenError
from untaken.visible import free_id

_NOT_IN_ID: Final = re.compile(r"[^\w]+")


def create_mode(
    taxonomy: Taxonomy,
    name: str,
    *,
    definition: str = "",
    examples: Sequence[str] = (),
    colour: str | None = None,
    by: str,
    at: datetime | None = None,
) -> tuple[Taxonomy, FailureMode]:
    """The taxonomy with a new mode, and the mode; its id is made from its name.

    Raises:
        UntakenError: ``taxonomy-invalid`` where an active mode has that name, or a text is too long.
    """
    fresh = FailureMode(
        id=_free_id(taxonomy, name),
        name=one_line(name),
        definition=_words(definition),
        examples=[_words(example) for example in examples if example.strip()],
        colour=colour or COLOURS[len(taxonomy.modes) % len(COLOURS)],
        history=[_change(taxonomy, by, at, "created it", "")],
    )
    changed = checked(replace(taxonomy, version=taxonomy.version + 1, modes=[*taxonomy.modes, fresh]))
    return changed, changed.modes[-1]


def edit_mode(
    taxonomy: Taxonomy,
    mode_id: str,
    *,
    name: str | None = None,
    definition: str | None = None,
    examples: Sequence[str] | None = None,
    colour: str | None = None,
    by: str,
    at: datetime | None = None,
    why: str = "",
) -> Taxonomy:
    """Another name, definition, examples or colour; what is ``None`` stays, and the id always does.

    Raises:
        UntakenError: ``mode-unknown``, ``taxonomy-invalid``.
    """
    known = find_mode(taxonomy, mode_id)
    wanted = {
        "name": known.name if name is None else one_line(name),
        "definition": known.definition if definition is None else _words(definition),
        "examples": known.examples if examples is None else [_words(e) for e in examples if e.strip()],
        "colour": colour or known.colour,
    }
    changed = {field: value for field, value in wanted.items() if value != getattr(known, field)}
    what = f"changed {', '.join(changed)}"
    return (
        _with(taxonomy, {known.id: changed}, {known.id: what}, by=by, at=at, why=why) if changed else taxonomy
    )


def merge_modes(
    taxonomy: Taxonomy,
    mode_ids: Iterable[str],
    into: str,
    *,
    by: str,
    at: datetime | None = None,
    why: str = "",
) -> Taxonomy:
    """Several modes become one of them, or another active one: what was assigned to any counts as `into`.

    Raises:
        UntakenError: ``mode-unknown``, ``taxonomy-invalid``.
    """
    target = _active(taxonomy, into)
    gone = [one for one in dict.fromkeys(_active(taxonomy, m).id for m in mode_ids) if one != target.id]
    # Ledgers keep the id that was assigned; `Taxonomy.current` follows `into`, so a merge can be taken back.
    changed: dict[str, dict[str, Any]] = {one: {"status": "merged", "into": [target.id]} for one in gone}
    what = dict.fromkeys(gone, f"merged it into {target.name}")
    return _with(taxonomy, changed, what, by=by, at=at, why=why) if gone else taxonomy


def split_mode(
    taxonomy: Taxonomy,
    mode_id: str,
    names: Sequence[str],
    *,
    by: str,
    at: datetime | None = None,
    why: str = "",
) -> Taxonomy:
    """One mode becomes several new ones; what was assigned to it waits to be assigned again.

    Raises:
        UntakenError: ``mode-unknown``, ``taxonomy-invalid`` (fewer than two names, or a name in use).
    """
    known = _active(taxonomy, mode_id)
    if len({plain_name(name) for name in names if name.strip()}) < 2:
        raise _refused(f"{known.name!r} is split into at least two modes of different names")
    named = [*map(one_line, names)]
    fresh: list[str] = []
    # Retired for the moment, so that one of the parts may have its name.
    after = _with(taxonomy, {known.id: {"status": "retired"}}, {}, by=by, at=at, why="")
    for name in named:
        after, part = create_mode(after, name, by=by, at=at)
        fresh.append(part.id)
    # With the mode as it was before: its history gets one change, not two.
    after = replace(taxonomy, modes=[*taxonomy.modes, *after.modes[len(taxonomy.modes) :]])
    changed = {known.id: {"status": "split", "into": fresh}}
    return _with(after, changed, {known.id: f"split it into {', '.join(named)}"}, by=by, at=at, why=why)


def retire_mode(
    taxonomy: Taxonomy, mode_id: str, *, by: str, at: datetime | None = None, why: str = ""
) -> Taxonomy:
    """The mode is no longer offered; what was assigned to it still counts.

    Raises:
        UntakenError: ``mode-unknown``, ``taxonomy-invalid``.
    """
    known = _active(taxonomy, mode_id)
    return _with(taxonomy, {known.id: {"status": "retired"}}, {known.id: "retired it"}, by=by, at=at, why=why)


def restore_mode(
    taxonomy: Taxonomy, mode_id: str, *, by: str, at: datetime | None = None, why: str = ""
) -> Taxonomy:
    """A merged, split or retired mode is active again; what was assigned to it is its own again.

    Raises:
        UntakenError: ``mode-unknown``, ``taxonomy-invalid`` where another mode has its name now.
    """
    known = find_mode(taxonomy, mode_id)
    if known.active:
        return taxonomy
    changed = {known.id: {"status": "active", "into": []}}
    return _with(taxonomy, changed, {known.id: "restored it"}, by=by, at=at, why=why)


def import_modes(
    taxonomy: Taxonomy, modes: Iterable[FailureMode], *, by: str, at: datetime | None = None
) -> Taxonomy:
    """The taxonomy with those of `modes` whose ids and names it does not know; what it knows stays.

    Raises:
        UntakenError: ``taxonomy-invalid`` where that makes too many.
    """
    ids, names = set(taxonomy.by_id), {plain_name(mode.name) for mode in taxonomy.active}
    fresh = [m for m in modes if m.id not in ids and plain_name(m.name) not in names]
    if not fresh:
        return taxonomy
    history = [_change(taxonomy, by, at, "imported it", "")]
    placed = [
        replace(mode, colour=COLOURS[place % len(COLOURS)], history=history)
        for place, mode in enumerate(fresh, start=len(taxonomy.modes))
    ]
    return checked(replace(taxonomy, version=taxonomy.version + 1, modes=[*taxonomy.modes, *placed]))


def find_mode(taxonomy: Taxonomy, name_or_id: str) -> FailureMode:
    """The mode of this id or, where none has it, the active one of this name.

    Raises:
        UntakenError: ``mode-unknown``.
    """
    found = taxonomy.by_id.get(name_or_id)
    if found is None:
        wanted = plain_name(name_or_id)
        found = next((mode for mode in taxonomy.active if plain_name(mode.name) == wanted), None)
    if found is None:
        known = ", ".join(mode.id for mode in taxonomy.active) or "none"
        raise UntakenError(
            "mode-unknown", f"no failure mode {name_or_id!r}", hint=f"Modes in the taxonomy: {known}."
        )
    return found


def one_line(words: str) -> str:
    """The text on one line, without characters that no file can hold."""
    return " ".join(words.encode(errors="replace").decode().split())  # a lone surrogate fits in no file


def _words(words: str) -> str:
    return words.encode(errors="replace").decode().strip()


def _active(taxonomy: Taxonomy, mode_id: str) -> FailureMode:
    found = find_mode(taxonomy, mode_id)
    if not found.active:
        raise _refused(f"{found.name!r} is {found.status}")
    return found


def _with(
    taxonomy: Taxonomy,
    changed: dict[str, dict[str, Any]],
    what: dict[str, str],
    *,
    by: str,
    at: datetime | None,
    why: str,
) -> Taxonomy:
    """The taxonomy with other content of some modes, each change in the history of its mode."""
    modes = []
    for mode in taxonomy.modes:
        if mode.id in changed:
            change = replace(_change(taxonomy, by, at, what.get(mode.id, ""), why), before=mode.content)
            modes.append(replace(mode, **changed[mode.id], history=[*mode.history, change]))
        else:
            modes.append(mode)
    return checked(replace(taxonomy, version=taxonomy.version + 1, modes=modes))


def _change(taxonomy: Taxonomy, by: str, at: datetime | None, what: str, why: str) -> ModeChange:
    moment = (at or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    version = taxonomy.version + 1
    return ModeChange(version=version, author=one_line(by), at=moment, what=what, why=_words(why))


def _free_id(taxonomy: Taxonomy, name: str) -> str:
    # Half of the characters that an id may have: a number may follow.
    stem = _NOT_IN_ID.sub("-", one_line(name).casefold()).strip("-_")[: limits.MODE_NAME_CHARS // 2] or "mode"
    return free_id(stem, taxonomy.by_id)


def _refused(message: str) -> UntakenError:
    return UntakenError("taxonomy-invalid", message, hint="`untaken modes list` shows the taxonomy.")
