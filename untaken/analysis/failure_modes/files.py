"""Taxonomy files, and the one that a workspace keeps.

They are strict YAML, written in one fixed layout so that equal taxonomies give equal bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import to_builtins

from untaken.analysis.failure_modes.failure_mode import FailureMode, Taxonomy
from untaken.atomic_file import change_file, write_whole
from untaken.errors import UntakenError, Where
from untaken.plans import block_yaml, decode, read_yaml

TaxonomyEdit = Callable[[Taxonomy], Taxonomy]


def load_taxonomy(path: str | Path) -> Taxonomy:
    """The taxonomy in a file.

    Raises:
        UntakenError: ``taxonomy-missing``; as `parse_taxonomy`.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        hint = "Import a preset with `untaken modes import mast`, or name another file."
        where = Where(file=str(file))
        raise UntakenError("taxonomy-missing", "no taxonomy found", where=where, hint=hint) from error
    return parse_taxonomy(data, name=file.name)


def parse_taxonomy(data: bytes | str, *, name: str = "taxonomy") -> Taxonomy:
    """A taxonomy from YAML.

    Raises:
        UntakenError: ``taxonomy-invalid``, with file and line where known.
    """
    try:
        document = read_yaml(decode(data, name), name)
    except UntakenError as error:
        raise _invalid(error.message, error.where) from error
    return _valid(document.value, Where(file=name))


def _valid(value: Any, where: Where) -> Taxonomy:
    try:
        found = msgspec.convert(value, Taxonomy)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), where) from error
    _check(found, where)
    return found


def checked(taxonomy: Taxonomy) -> Taxonomy:
    """The taxonomy, if a file may hold it.

    Raises:
        UntakenError: ``taxonomy-invalid``.
    """
    # The limits of fields are checked only where data becomes an object, so it is made into data and back.
    return _valid(to_builtins(taxonomy), Where())


def taxonomy_yaml(taxonomy: Taxonomy) -> str:
    """The text of a taxonomy file."""
    return plain_yaml(taxonomy)


def plain_yaml(value: Any) -> str:
    """An object as YAML in the one layout of these files."""
    return block_yaml(to_builtins(value))


def save_taxonomy(taxonomy: Taxonomy, path: str | Path) -> None:
    """Writes a taxonomy file, whole or not at all."""
    write_whole(Path(path), taxonomy_yaml(taxonomy).encode())


def _check(taxonomy: Taxonomy, where: Where) -> None:
    """Ids are unique, names of active modes too, and what a past mode became is there."""
    ids = [mode.id for mode in taxonomy.modes]
    names = [plain_name(mode.name) for mode in taxonomy.active]
    if twice := _twice(ids):
        raise _invalid(f"two modes have the id {twice[0]!r}", where)
    if twice := _twice(names):
        raise _invalid(f"two modes are called {twice[0]!r}", where)
    by_id = taxonomy.by_id
    for mode in taxonomy.modes:
        if gone := [one for one in mode.into if one not in by_id]:
            raise _invalid(f"{mode.id!r} became {gone[0]!r}, which is not there", where)
        if (mode.status == "merged") != (len(mode.into) == 1) or (mode.status == "split") != (
            len(mode.into) > 1
        ):
            raise _invalid(f"{mode.id!r} is {mode.status} and became {len(mode.into)} modes", where)
        _no_circle(mode, by_id, where)


def _twice(names: list[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _no_circle(mode: FailureMode, by_id: Mapping[str, FailureMode], where: Where) -> None:
    seen = {mode.id}
    while mode.status == "merged":
        mode = by_id[mode.into[0]]
        if mode.id in seen:
            raise _invalid(f"{mode.id!r} was merged into itself", where)
        seen.add(mode.id)


def plain_name(name: str) -> str:
    """What two names are compared by: case and white space make no difference."""
    return " ".join(name.split()).casefold()


def _invalid(message: str, where: Where) -> UntakenError:
    hint = "A mode is {id, name, definition, examples, colour}; docs/interface.md describes the file."
    return UntakenError("taxonomy-invalid", message, where=where, hint=hint)


FILE: Final = "failure_modes.yaml"


def kept_taxonomy(folder: Path) -> Taxonomy:
    """The taxonomy of the workspace in `folder`; an empty one where none was kept yet.

    Raises:
        UntakenError: ``taxonomy-invalid`` for a file changed by hand.
    """
    try:
        # Not asked first whether it is there: between the two another process may take it away.
        data = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return Taxonomy()
    return _parsed(data)


@lru_cache(maxsize=4)
def _parsed(data: bytes) -> Taxonomy:
    """Pages ask for it each time they are drawn."""
    return parse_taxonomy(data, name=FILE)


def change_taxonomy(folder: Path, change: TaxonomyEdit) -> Taxonomy:
    """Changes the workspace's taxonomy in one step, safe against concurrent changes.

    Raises:
        UntakenError: as `change` and `kept_taxonomy`; then nothing is written.
    """
    return change_file(folder / FILE, lambda: kept_taxonomy(folder), change, _readable)


def _readable(taxonomy: Taxonomy) -> bytes:
    data = taxonomy_yaml(taxonomy).encode()
    _parsed(data)  # what is kept can be read again
    return data
