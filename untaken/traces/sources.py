"""The files an import reads: loose, in folders, compressed, zipped; bounded, and never unpacked to disk."""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Final
from zipfile import ZipInfo

import zstandard
from msgspec import Struct
from msgspec.structs import replace

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.ledger import require_path
from untaken.numbers import counted
from untaken.traces.archives import Archive
from untaken.traces.losses import Findings, clip
from untaken.traces.parquet import ENDING as PARQUET
from untaken.traces.parquet import is_parquet, parquet_lines

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
ZIP: Final = b"PK\x03\x04"
_CHUNK: Final = limits.MIB
_STEP: Final = 4 * limits.KIB
_STREAMED_FROM: Final = 8 * limits.MIB
_NAME_CHARS: Final = 1024
COMPRESSED: Final = (".gz", ".zst")
HEAD_BYTES: Final = 64 * limits.KIB
"""Size of the sample from the start of a file that identifies its format."""


class OnDisk(Struct, frozen=True, kw_only=True):
    """A file on disk; it is open only while a piece is read."""

    path: Path

    @property
    def size(self) -> int:
        """Number of its bytes."""
        return self.path.stat().st_size

    def pieces(self) -> Iterator[bytes]:
        """Its bytes, piece by piece."""
        if self.size > limits.IMPORT_FILE_BYTES:
            raise _too_large(self.path.name, self.size, limits.IMPORT_FILE_BYTES)
        at = 0
        while True:
            with self.path.open("rb") as stream:  # a folder may have more files than can be open
                stream.seek(at)
                piece = stream.read(_CHUNK)
            if piece:
                yield piece
            if len(piece) < _CHUNK:
                return
            at += len(piece)


class InMemory(Struct, frozen=True, kw_only=True):
    """A short file that was read before."""

    content: bytes

    @property
    def size(self) -> int:
        """Number of its bytes."""
        return len(self.content)

    def pieces(self) -> Iterator[bytes]:
        """Its bytes, piece by piece."""
        return (self.content[at : at + _CHUNK] for at in range(0, len(self.content), _CHUNK))


class InArchive(Struct, frozen=True, kw_only=True):
    """A member of a zip archive."""

    archive: Archive
    member: ZipInfo

    @property
    def size(self) -> int:
        """Number of its bytes."""
        return self.member.file_size

    def pieces(self) -> Iterator[bytes]:
        """Its bytes, piece by piece."""
        return self.archive.pieces(self.member, _CHUNK)


SourcePlace = OnDisk | InMemory | InArchive
"""Where a file's bytes are."""


class Source(Struct, frozen=True, kw_only=True):
    """One file to import.

    Attributes:
        name: what to call it in messages: its path below what was asked for.
        stem: the file's name without its folders, its ending, and the ending of a compression.
        folders: names of its folders, outermost first, for formats that use folder names.
        place: where its bytes are.
    """

    name: str
    stem: str
    folders: tuple[str, ...]
    place: SourcePlace

    def read(self) -> bytes:
        """The content, decompressed.

        Raises:
            UntakenError: as `pieces`.
        """
        return b"".join(self.pieces())

    def stored(self) -> bytes:
        """The bytes as they are stored."""
        return b"".join(self.place.pieces())

    def head(self) -> bytes:
        """The first bytes of the content, decompressed as far as they go; empty where they cannot be had."""
        return beginning(self.pieces())

    def short(self) -> bytes | None:
        """The content, decompressed; ``None`` where it is so long that it is better read in pieces.

        Raises:
            UntakenError: as `pieces`.
        """
        place = self.place
        if isinstance(place, InMemory) and place.size <= _CHUNK and not is_compressed(place.content):
            return place.content
        content, length = [], 0
        for piece in self.pieces():
            content.append(piece)
            length += len(piece)
            if length > _STREAMED_FROM:
                return None
        return b"".join(content)

    def pieces(self) -> Iterator[bytes]:
        """The content, decompressed, piece by piece.

        Raises:
            UntakenError: ``file-too-large``, ``compression-ratio`` or ``unreadable-file``.
        """
        return decompressed_pieces(self.place.pieces(), self.place.size, self.name)


def beginning(pieces: Iterable[bytes]) -> bytes:
    """The first bytes of some pieces, as far as they can be had."""
    start = bytearray()
    with suppress(UntakenError):  # what came before a fault is often enough to know the format
        for piece in pieces:
            start += piece
            if len(start) >= HEAD_BYTES:
                break
    return bytes(start[:HEAD_BYTES])


def unpacked_name(name: str) -> str:
    """A name without the ending of a compression."""
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return name


def stem_of(name: str) -> str:
    """The last part of a path, without its ending and the ending of a compression."""
    last = unpacked_name(name.rstrip("/").rpartition("/")[2])
    return last.rsplit(".", 1)[0] or last  # `.json` has nothing before its ending


def decompressed(stored: bytes, name: str, *, most: int | None = None) -> bytes:
    """The content of a gzip or zstd file, or the bytes as they are; never more than `most` when unpacked.

    Without `most`, the limit of files that are imported holds.
    """
    return b"".join(decompressed_pieces([stored], len(stored), name, most=most))


def decompressed_pieces(
    stored: Iterable[bytes], size: int, name: str, *, most: int | None = None
) -> Iterator[bytes]:
    """The content of a gzip or zstd file, a table as lines, or the pieces as they are.

    Args:
        stored: the bytes.
        size: the number of all of them.
        name: of the file, for messages.
        most: bytes of content; by default those of files that are imported.

    Raises:
        UntakenError: ``file-too-large``, ``compression-ratio`` or ``unreadable-file``.
    """
    most = limits.IMPORT_FILE_BYTES if most is None else most
    given = iter(stored)
    first = next(given, b"")
    whole = chain((first,), given)
    if is_parquet(first):
        unpacked = parquet_lines(whole, name)
    elif is_compressed(first):
        unpacked = (_gunzip if first.startswith(_GZIP) else _unzstd)(whole)
    else:
        yield from whole
        return
    length = 0
    try:
        for piece in unpacked:
            length += len(piece)
            if length > most:
                raise _too_large(name, length, most)
            if length > max(limits.RATIO_FROM_BYTES, size * limits.ARCHIVE_RATIO):
                raise UntakenError(
                    "compression-ratio",
                    f"it grows more than {limits.ARCHIVE_RATIO}-fold when decompressed",
                    where=Where(file=name),
                    hint="Traces are not that repetitive. If you trust it, decompress it yourself.",
                )
            yield piece
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise UntakenError(
            "unreadable-file",
            f"the compression is damaged: {clip(error)}",
            where=Where(file=name),
            hint="Export or download it again.",
        ) from error


def _gunzip(stored: Iterator[bytes]) -> Iterator[bytes]:
    """Each piece of a gzip file, of all its members."""
    machine = zlib.decompressobj(wbits=31)
    rest = b""
    for given in stored:
        rest += given
        while rest:
            if machine.eof:
                if len(rest) < len(_GZIP):
                    break
                if not rest.startswith(_GZIP):
                    return  # what follows the last member is not read
                machine = zlib.decompressobj(wbits=31)
            piece = machine.decompress(rest, _CHUNK)  # no more at once, however much it is compressed
            rest = machine.unused_data if machine.eof else machine.unconsumed_tail
            if piece:
                yield piece
            elif not machine.eof:
                break
    while not machine.eof:
        piece = machine.decompress(rest, _CHUNK)
        rest = machine.unconsumed_tail
        if not piece and not machine.eof:
            raise EOFError("the file is cut short")
        yield piece
    if rest and _GZIP.startswith(rest):  # of the next member, only the first byte is there
        raise EOFError("the file is cut short")


def _unzstd(stored: Iterator[bytes]) -> Iterator[bytes]:
    """Each piece of a Zstandard file, of all its frames; small steps bound what one of them can grow to."""
    machine, rest = _zstd_machine(), b""
    for given in stored:
        for at in range(0, len(given), _STEP):
            rest += given[at : at + _STEP]
            while rest:
                if machine.eof:
                    machine = _zstd_machine()
                piece = machine.decompress(rest)
                rest = machine.unused_data if machine.eof else b""
                if piece:
                    yield piece
    if not machine.eof:
        raise EOFError("the file is cut short")


def _zstd_machine() -> zstandard.ZstdDecompressionObj:
    return zstandard.ZstdDecompressor(max_window_size=limits.ZSTD_WINDOW_BYTES).decompressobj()


def is_compressed(start: bytes) -> bool:
    """Whether a file that begins so is one of gzip or Zstandard."""
    return start.startswith((_GZIP, _ZSTD))


def head(stored: bytes, size: int = HEAD_BYTES) -> bytes:
    """The first bytes of possibly compressed content; what is there of it when the compression is damaged."""
    try:
        if stored.startswith(_GZIP):
            return zlib.decompressobj(wbits=31).decompress(stored, size)
        if stored.startswith(_ZSTD):
            with zstandard.ZstdDecompressor(max_window_size=128 * limits.MIB).stream_reader(stored) as reader:
                return bytes(reader.read(size))
    except (zlib.error, zstandard.ZstdError):
        return b""
    return stored[:size]


@contextmanager
def found_sources(
    paths: Sequence[Path | Source],
    extensions: tuple[str, ...],
    findings: Findings,
    *,
    leave: Path | None = None,
    whole: Callable[[Path], bool] = lambda _: False,
) -> Iterator[list[Source]]:
    """Every file to read, in a stable order: folders are searched, archives listed, and held open meanwhile.

    Args:
        paths: files, folders and archives; a `Source` is taken as it is.
        extensions: endings of files wanted of a folder or an archive.
        findings: where what is left out is noted.
        leave: a folder to leave out, should it lie in one of those searched: what was written there before.
        whole: whether a zip archive is one file of a format, and not looked into.

    Raises:
        UntakenError: ``source-not-found`` where a path that was asked for does not exist.
    """
    with ExitStack() as opened:
        yield _find(
            paths, extensions, findings, opened=opened, leave=leave.resolve() if leave else None, whole=whole
        )


def _find(
    paths: Sequence[Path | Source],
    extensions: tuple[str, ...],
    findings: Findings,
    *,
    opened: ExitStack,
    leave: Path | None,
    whole: Callable[[Path], bool],
) -> list[Source]:
    found: list[Source] = []
    skipped = 0
    for path in paths:
        if isinstance(path, Source):
            found.append(path)
            continue
        require_path(path, code="source-not-found")
        walked = _walk(path, leave, extensions) if path.is_dir() else (path,)
        inside = sorted(walked, key=lambda file: file.parts)  # a disk lists them in no order
        for file in inside:
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            if path.is_dir() and not wanted(name, (*extensions, ".zip")):
                skipped += 1
                continue
            found.extend(
                _open(file, clip(name, _NAME_CHARS), extensions, findings, opened=opened, whole=whole)
            )
    if skipped:
        findings.add("files-skipped", f"{counted(skipped, 'file')} of other types skipped", severity="note")
    return _distinct(found)


def _distinct(sources: list[Source]) -> list[Source]:
    """The sources with names that differ: two folders may hold files of one name."""
    seen: Counter[str] = Counter()
    for index, source in enumerate(sources):
        seen[source.name] += 1
        if seen[source.name] > 1:
            sources[index] = replace(source, name=f"{source.name} ({seen[source.name]})")
    return sources


def _walk(folder: Path, leave: Path | None, extensions: tuple[str, ...]) -> Iterator[Path]:
    """The files of a folder, without hidden ones; some programs' logs have a hidden name, which is known."""
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if not name.startswith(".") and Path(place, name).resolve() != leave
        ]
        shown = (name for name in files if not name.startswith(".") or name.lower() in extensions)
        found = (Path(place, name) for name in shown)
        yield from (file for file in found if file.is_file())  # a pipe would wait for somebody to write


def _open(
    file: Path,
    name: str,
    extensions: tuple[str, ...],
    findings: Findings,
    *,
    opened: ExitStack,
    whole: Callable[[Path], bool],
) -> Iterator[Source]:
    folders = file.resolve().parent.parts[1:]  # a format may be known by folders above what was named
    with file.open("rb") as stream:
        zipped = stream.read(4) in (ZIP, b"PK\x05\x06")  # the latter is an archive without members
    if not zipped or whole(file):
        yield Source(name=name, stem=stem_of(file.name), folders=folders, place=OnDisk(path=file))
        return
    try:
        archive = Archive(file)
    except UntakenError as error:
        findings.add(error.code, f"{clip(name)}: {error.message}", hint=error.hint, severity="error")
        return
    opened.callback(archive.close)
    for member in archive.members(findings):
        if wanted(member.filename, extensions):
            inside = [part for part in member.filename.split("/")[:-1] if part not in ("", ".")]
            place = InArchive(archive=archive, member=member)
            shown = f"{name}/{clip(member.filename, _NAME_CHARS)}"
            yield Source(
                name=shown, stem=stem_of(member.filename), folders=(*folders, file.stem, *inside), place=place
            )


def wanted(name: str, extensions: tuple[str, ...]) -> bool:
    """True for a file whose ending says that it may be of the format."""
    last = unpacked_name(name.lower()).rpartition("/")[2]
    is_lines = last.endswith(PARQUET) and ".jsonl" in extensions  # its rows are read as lines
    return (is_lines or last.endswith(extensions)) and (not last.startswith(".") or last in extensions)


def _too_large(name: str, size: int, most: int) -> UntakenError:
    return UntakenError(
        "file-too-large",
        f"{size} bytes; at most {most} are read of one file",
        where=Where(file=name),
        hint="Split it into several files.",
    )
