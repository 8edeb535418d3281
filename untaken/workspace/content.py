"""The kind of a file, recognised by content first, and safe writes to disk."""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from tempfile import mkstemp
from typing import Final

import msgspec
import zstandard

from untaken import limits
from untaken.ledger import has_event_signature, write_all
from untaken.limits import KIB, MIB
from untaken.workspace.stored_file import FileKind
from untaken.workspace.syncing import UNSYNCED, sync_folder

LEDGERS: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
NOT_LEDGERS: Final = (".memory.jsonl", ".signals.jsonl")
"""Policy memory and the queue beside it are JSON Lines too, but no record of a run."""
GRAPHS: Final = (".plan.yaml", ".plan.yml", ".plan.json")
PEEK_BYTES: Final = 256 * KIB
_CHUNK: Final = MIB
_STAGED: Final = ".adding-"
GZIP: Final = b"\x1f\x8b"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
# Possessive and atomic, so that hostile text of many blanks cannot cause backtracking.
_MERMAID: Final = re.compile(
    r"\s*+(?:(?>---.*?---)\s*+)?(?:%%[^\n]*+\n\s*+)*+(?:flowchart|graph)\s", re.DOTALL
)
_GRAPH_KEY: Final = re.compile(r"^(?:schema:\s*[\"']?untaken\.plan/|sub_goals:)", re.MULTILINE)
_JSON_GRAPH: Final = re.compile(r'"schema"\s*:\s*"untaken\.plan/')


def ledgers_and_graphs(folder: Path) -> list[Path]:
    """Every ledger and plan graph under a folder, in a stable order; hidden folders are left out."""
    seen = (p for p in folder.rglob("*") if p.name.lower().endswith((*LEDGERS, *GRAPHS)) and p.is_file())
    found = (p for p in seen if not p.name.lower().endswith(NOT_LEDGERS))
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(folder).parts))


def digest_of(data: bytes | Path) -> str:
    """SHA-256 of the content, in hex."""
    if isinstance(data, bytes):
        return hashlib.sha256(data).hexdigest()
    with data.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def source_identity(name: str, digest: str) -> str:
    """What a kept foreign trace is known by: where the folder says who judged, files may have equal bytes."""
    return hashlib.sha256(f"{name[: limits.NAME_CHARS]}\0{digest}".encode()).hexdigest()


def peek(data: bytes | Path) -> bytes:
    """The first `PEEK_BYTES` of the content after decompression; of a damaged archive, what can be had."""
    if isinstance(data, bytes):
        head = data[:PEEK_BYTES]
    else:
        with data.open("rb") as stream:
            head = stream.read(PEEK_BYTES)
    try:
        if head.startswith(GZIP):
            # Bounded, because a few bytes can unpack to gigabytes.
            return zlib.decompressobj(wbits=31).decompress(head, PEEK_BYTES)
        if head.startswith(ZSTD):
            with zstandard.ZstdDecompressor().stream_reader(head) as reader:
                return reader.read(PEEK_BYTES)
    except (zlib.error, zstandard.ZstdError):
        return b""
    return head


def first_runs(head: bytes) -> list[str]:
    """The run ids in the first lines of a ledger (`head` as `peek` gives it)."""
    found: list[str] = []
    for line in head.split(b"\n"):
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found.append(msgspec.json.decode(line, type=_RunOfLine).run_id)
    return list(dict.fromkeys(found))


class _RunOfLine(msgspec.Struct):
    run_id: str


def sniff(name: str, head: bytes) -> FileKind | None:
    """What a file is, by its content (`head` as `peek` gives it), then by its name."""
    lowered = name.lower()
    if lowered.endswith(".heads.json"):
        return "heads"
    if lowered.endswith(NOT_LEDGERS):
        return None
    if has_event_signature(head):
        return "ledger"
    return "graph" if _looks_like_graph(lowered, head) else None


def _looks_like_graph(lowered: str, head: bytes) -> bool:
    if lowered.endswith((".plan.yaml", ".plan.yml", ".plan.json", ".mmd", ".mermaid")):
        return True
    text = head.decode("utf-8", errors="replace")
    if lowered.endswith((".yaml", ".yml")):
        return bool(_GRAPH_KEY.search(text))
    return bool(_JSON_GRAPH.search(text[:4096])) or bool(_MERMAID.match(text[:4096]))


def graph_suffix(head: bytes) -> str:
    """The suffix for a plan graph by how it is written: JSON and Mermaid show themselves."""
    text = head[:4096].decode("utf-8", errors="replace")
    if text.lstrip().startswith("{"):
        return ".plan.json"
    return ".mmd" if _MERMAID.match(text) else ".plan.yaml"


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be kept, with its digest: bytes, or a whole copy in `folder` under a temporary name.

    `compression` is the ending of a file that is compressed like this one.
    """

    content: bytes | Path
    folder: Path
    digest: str
    bytes: int
    compression: str

    def keep(self, target: Path) -> None:
        """Gives the copy its lasting name; it survives a power cut, now or once `synced_together` ends."""
        waiting = UNSYNCED.get()
        if waiting is not None:
            waiting.expect(target)
        # In a batch nothing refers to a new file before the transaction commits, so the rename can be saved.
        if waiting is None or isinstance(self.content, Path) or not _created(target, self.content):
            placed = _PLACED.get()
            new = placed is not None and not target.exists()
            self._put(target)
            if placed is not None and new:
                placed.append(target)
        if waiting is None:
            sync_folder(target.parent)
        else:
            waiting.add(target)

    def _put(self, target: Path) -> None:
        """In the place of what may be there."""
        if isinstance(self.content, Path):
            self.content.replace(target)
        else:
            with _copied([self.content], self.folder) as path:
                path.replace(target)


def _created(target: Path, content: bytes) -> bool:
    """Writes a new file; false if it exists: another process may be reading it.

    Nothing refers to it yet: what a killed process leaves here is replaced when it is added again.
    """
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except FileExistsError:
        return False
    try:
        write_all(descriptor, content)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    if (placed := _PLACED.get()) is not None:
        placed.append(target)
    return True


_PLACED: Final[ContextVar[list[Path] | None]] = ContextVar("files that were not there before", default=None)


@contextmanager
def placed_files() -> Iterator[list[Path]]:
    """The files that are kept inside and were not there before, as they come."""
    placed: list[Path] = []
    outer = _PLACED.get()
    token = _PLACED.set(placed)
    try:
        yield placed
    finally:
        _PLACED.reset(token)
        if outer is not None:
            outer += placed  # if the outer one fails, these are deleted, too


def clear_staged(folder: Path, before: datetime) -> None:
    """Removes copies that a killed process left behind, last written before a moment."""
    for path in folder.glob(f"{_STAGED}*"):
        if path.is_file() and path.stat().st_mtime < before.timestamp():  # newer ones may be in use
            path.unlink(missing_ok=True)


def _compression(start: bytes) -> str:
    return ".gz" if start.startswith(GZIP) else ".zst" if start.startswith(ZSTD) else ""


@contextmanager
def staged(data: bytes | Path, folder: Path) -> Iterator[Staged]:
    """The content with its digest; of a file a copy in `folder`, which vanishes unless it is kept."""
    if isinstance(data, bytes):
        start = _compression(data)
        yield Staged(content=data, folder=folder, digest=digest_of(data), bytes=len(data), compression=start)
        return
    hasher, size, compression = hashlib.sha256(), 0, ""

    def hashed() -> Iterator[bytes]:
        nonlocal size, compression
        with data.open("rb") as source:
            while piece := source.read(_CHUNK):
                if not size:
                    compression = _compression(piece)
                hasher.update(piece)
                size += len(piece)
                yield piece

    with _copied(hashed(), folder) as path:
        digest = hasher.hexdigest()
        yield Staged(content=path, folder=folder, digest=digest, bytes=size, compression=compression)


@contextmanager
def _copied(pieces: Iterable[bytes], folder: Path) -> Iterator[Path]:
    """A new file under a temporary name, which vanishes unless it is moved."""
    descriptor, name = mkstemp(dir=folder, prefix=_STAGED)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            if UNSYNCED.get() is None:
                os.fsync(stream.fileno())
        yield path
    finally:
        path.unlink(missing_ok=True)
