"""A user's own mapping files, which lie in a folder of the workspace."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Final

from untaken.errors import UntakenError, Where
from untaken.ledger import disk
from untaken.traces import SUFFIX, Importer, built_in_mappings, mapped_importer, parse_mapping, read_mapping

FOLDER: Final = "mappings"


def own_mappings(workspace: Path | str) -> dict[str, Importer | UntakenError]:
    """The mapping files of a workspace by name: the importer of each, or why there is none."""
    found: dict[str, Importer | UntakenError] = {}
    formats: set[str] = set()
    for path in sorted((Path(workspace) / FOLDER).glob(f"*{SUFFIX}")):
        try:
            importer = mapped_importer(read_mapping(path))
        except UntakenError as error:
            found[path.name] = error
            continue
        again = importer.info.name in formats
        found[path.name] = _twice(importer.info.name, path.name) if again else importer
        formats.add(importer.info.name)
    return found


def save_mapping(workspace: Path | str, written: str) -> Path:
    """Keeps a mapping file in a workspace, under the name of its format; one that is there is replaced.

    Raises:
        UntakenError: ``mapping-invalid``, ``mapping-too-large``; ``format-name-taken`` where it is built in.
    """
    importer = mapped_importer(parse_mapping(written, "the mapping"))
    if importer.info.name in {built_in.info.name for built_in in built_in_mappings()}:
        message = f"the format {importer.info.name!r} is built in"
        raise UntakenError("format-name-taken", message, hint="Give your format another name.")
    path = Path(workspace) / FOLDER / f"{importer.info.name}{SUFFIX}"
    path.parent.mkdir(exist_ok=True)
    disk.replace(path, written.encode(), sync=True)
    return path


def remove_mapping(workspace: Path | str, name: str) -> None:
    """Takes a mapping file out of a workspace, if it is there. Runs that it made stay."""
    if PurePath(name).name == name and name.endswith(SUFFIX):  # a path could lead out of the folder
        (Path(workspace) / FOLDER / name).unlink(missing_ok=True)


def _twice(format: str, name: str) -> UntakenError:
    message = f"the format {format!r} has a mapping file already"
    return UntakenError("format-name-taken", message, where=Where(file=name), hint="Give it another name.")
