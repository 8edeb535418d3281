"""Passports of judges in a file: `untaken agree --passport` writes it, `untaken gate` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from untaken.atomic_file import change_file
from untaken.errors import UntakenError, Where
from untaken.judging.passport import JudgePassport

FILE: Final = "judge-passports.json"
"""In a workspace, or beside ledgers: there every command and page finds it."""
MOST_BYTES: Final = 64 << 20


class Passports(
    Struct,
    frozen=True,
    kw_only=True,
    tag_field="schema",
    tag="untaken.passport/1",
    forbid_unknown_fields=True,
):
    """What a file of passports holds."""

    judges: list[JudgePassport]


def load_passports(path: str | Path) -> tuple[JudgePassport, ...]:
    """The passports in a file.

    Raises:
        UntakenError: ``passport-missing``; ``passport-invalid`` for what `save_passports` never writes.
    """
    file = Path(path)
    where = Where(file=str(file))
    if not file.is_file():
        hint = "`untaken agree PATH --passport FILE` writes one from labels of people."
        raise UntakenError("passport-missing", "no passports of judges found", where=where, hint=hint)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise msgspec.ValidationError("it is too large")
        return tuple(msgspec.json.decode(file.read_bytes(), type=Passports).judges)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        hint = "Write it again with `untaken agree PATH --passport FILE`."
        message = f"this is no file of passports: {error}"
        raise UntakenError("passport-invalid", message, where=where, hint=hint) from error


def save_passports(found: Sequence[JudgePassport], path: str | Path) -> tuple[JudgePassport, ...]:
    """Adds passports to a file; those of the same judges are replaced. All that it holds now.

    Raises:
        UntakenError: ``passport-invalid`` for a file that holds anything else; then nothing is written.
    """
    file, measured = Path(path), {one.judge for one in found}

    def change(kept: tuple[JudgePassport, ...]) -> tuple[JudgePassport, ...]:
        return tuple(
            sorted(
                (*(one for one in kept if one.judge not in measured), *found),
                key=lambda one: (one.judge, one.identity),
            )
        )

    return change_file(file, lambda: load_passports(file) if file.exists() else (), change, _encoded)


def _encoded(found: Sequence[JudgePassport]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(Passports(judges=list(found))), indent=2) + b"\n"


def passports_beside(paths: Iterable[str | Path]) -> tuple[JudgePassport, ...]:
    """Those kept in the first of these folders, or of the workspace that it is the ledgers of, that has any.

    Raises:
        UntakenError: as `load_passports`.
    """
    for path in map(Path, paths):
        for folder in (path, path.parent):
            if (folder / FILE).is_file():
                return load_passports(folder / FILE)
    return ()
