"""Recorded heads: the sidecar file that says how a ledger's runs ended, kept outside the ledger."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.ledger import disk
from untaken.ledger.events import Name
from untaken.ledger.run import Head
from untaken.ledger.strict_json import JsonFault, parse_json

_decode = msgspec.json.Decoder(dict[Name, Head]).decode
_HINT = 'A heads file is {run_id: {"events": n, "sha256": "…"}}.'


def heads_path(ledger: str | os.PathLike[str]) -> Path:
    """Where the heads of a ledger file are kept: ``<file>.heads.json`` beside it."""
    return Path(f"{os.fspath(ledger)}.heads.json")


def load_heads(path: str | os.PathLike[str]) -> dict[str, Head]:
    """Read a heads sidecar (the sidecar's own path, see `heads_path`).

    Raises:
        UntakenError: ``ledger-heads`` where the file is not a valid heads file.
        FileNotFoundError: no such file.
    """
    return parse_heads(read_record(Path(path)), name=str(path))


def read_record(path: Path) -> bytes:
    """The bytes of a file kept beside a ledger.

    Raises:
        UntakenError: ``ledger-heads`` where it is no regular file, or larger than any record need be.
        FileNotFoundError: no such file.
    """
    if path.exists() and not path.is_file():  # reading a pipe or a device may never end
        raise UntakenError(
            "ledger-heads", "this is not a regular file", where=Where(file=str(path)), hint=_HINT
        )
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size  # a buffer of the limit's size would be made, and thrown away
        if size <= limits.HEADS_FILE_BYTES:
            return file.read(size)
    raise UntakenError("ledger-heads", "the file is too large", where=Where(file=str(path)), hint=_HINT)


def parse_heads(data: bytes, *, name: str = "") -> dict[str, Head]:
    """The heads in the bytes of a sidecar.

    Raises:
        UntakenError: ``ledger-heads``, with line and column where known.
    """
    if (heads := _as_saved(data)) is not None:
        return heads
    try:
        return msgspec.convert(parse_json(data), dict[Name, Head])
    except JsonFault as fault:
        where = Where(file=name or None, line=fault.line, column=fault.column)
        raise UntakenError("ledger-heads", fault.message, where=where, hint=_HINT) from None
    except msgspec.ValidationError as error:
        raise UntakenError("ledger-heads", str(error), where=Where(file=name or None), hint=_HINT) from None


def _as_saved(data: bytes) -> dict[str, Head] | None:
    """The heads in bytes as `save_heads` writes them: what gives the same bytes again has no traps."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        heads = _decode(data)
        return heads if heads_text(heads) == data else None
    return None


def save_heads(path: str | os.PathLike[str], heads: Mapping[str, Head], *, sync: bool = True) -> None:
    """Write a heads sidecar, whole or not at all (a new file takes the old one's place)."""
    disk.replace(Path(path), heads_text(heads), sync=sync)


def heads_text(heads: Mapping[str, Head]) -> bytes:
    """What a heads sidecar holds."""
    return msgspec.json.format(msgspec.json.encode(heads), indent=1) + b"\n"
