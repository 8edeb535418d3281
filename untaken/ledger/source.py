"""What a reader reads: a ledger and its recorded heads at one moment, even while a writer is at work.

Lines come from a file, bytes or a stream; compression is recognised by content, and every size is bounded.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Protocol

from msgspec import Struct

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.extras import load_extra
from untaken.ledger.chain import heads_path, parse_heads, read_record
from untaken.ledger.journal import load_journal, settle
from untaken.ledger.run import Head
from untaken.ledger.signature import LINES, has_event_signature

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 128 * limits.KIB
_GZIP_PIECE = 16 * limits.KIB
_ZSTD_PIECE = limits.KIB  # small, because one piece may grow hugely, and the output cannot be limited


class Readable(Protocol):
    """Bytes to read from: a file, a stream, or a part of one."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""


def is_compressed(head: bytes) -> bool:
    """True where the first bytes of a file are those of gzip or Zstandard."""
    return head.startswith((GZIP_MAGIC, ZSTD_MAGIC))


def read_blocks(stream: Readable, *, name: str = "") -> Iterator[list[bytes]]:
    r"""The lines of a ledger without their newline, in blocks; ``\n`` ends a line, the last one may lack it.

    A line beyond `limits.LINE_BYTES` comes cut to the limit and with a newline, which no other line has, for
    the decoder to refuse.

    Raises:
        UntakenError: ``ledger-compression`` (damaged or cut short), ``compression-ratio``,
            ``ledger-too-large``.
    """
    begun, size = [], 0
    for chunk in plain_chunks(stream, name=name):
        first, *others = chunk.split(b"\n")
        if size <= limits.LINE_BYTES:  # what a line has beyond that is not kept
            begun.append(first)
            size += len(first)
        if others:
            yield [_bounded_line(b"".join(begun)), *others[:-1]]
            begun, size = others[-1:], len(others[-1])
    if size:
        yield [_bounded_line(b"".join(begun))]


def plain_chunks(stream: Readable, *, name: str = "") -> Iterator[bytes]:
    """The bytes of a ledger after decompression, at most `_CHUNK` at a time.

    Raises:
        UntakenError: as in `read_blocks`.
    """
    counted = _Counted(stream)
    return _bounded(_plain(counted, name), counted, name)


def _bounded_line(line: bytes) -> bytes:
    return line if len(line) <= limits.LINE_BYTES else line[: limits.LINE_BYTES] + b"\n"


class _Counted:
    """A stream that knows how many bytes were read of it."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self.bytes = 0

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        data = self._stream.read(size) or b""
        self.bytes += len(data)
        return data


def _bounded(chunks: Iterator[bytes], stored: _Counted, name: str) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        # A few compressed bytes may hold gigabytes: the ratio stops that long before the size does.
        if total > max(limits.RATIO_FROM_BYTES, stored.bytes * limits.ARCHIVE_RATIO):
            raise UntakenError(
                "compression-ratio",
                f"it grows more than {limits.ARCHIVE_RATIO}-fold when decompressed",
                where=Where(file=name or None),
                hint="Ledgers are not that repetitive. If you trust it, decompress it yourself.",
            )
        if total > limits.FILE_BYTES:
            raise UntakenError(
                "ledger-too-large",
                f"the ledger holds more than {limits.FILE_BYTES // limits.MIB:,} MiB after decompression",
                where=Where(file=name or None),
                hint="Split it into files of fewer runs.",
            )
        yield chunk


def _plain(stream: Readable, name: str) -> Iterator[bytes]:
    head = _read(stream, len(ZSTD_MAGIC))
    joined = _Joined(head, stream)
    if head.startswith(ZSTD_MAGIC):
        return _unzstd(joined, name)
    return _gunzip(joined, name) if head.startswith(GZIP_MAGIC) else iter(partial(joined.read, _CHUNK), b"")


def _read(stream: Readable, size: int) -> bytes:
    """Exactly `size` bytes, unless the stream ends: a pipe may give fewer at a time."""
    data = b""
    while more := stream.read(size - len(data)):  # of 0 bytes: none
        data += more
    return data


class _Joined:
    """The bytes already read for the magic, then the rest: works on streams that cannot seek."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int) -> bytes:
        if self._head:
            head, self._head = self._head[:size], self._head[size:]
            return head
        return self._stream.read(size) or b""


def _gunzip(stream: _Joined, name: str) -> Iterator[bytes]:
    """Several members in a row are one stream; anything else after a member is damage."""
    data, begun = stream.read(_GZIP_PIECE), False
    try:
        while data:
            member = zlib.decompressobj(zlib.MAX_WBITS | 16)  # 16: with the header of gzip
            begun = True
            while not member.eof and data:
                yield member.decompress(data, _CHUNK)
                data = member.unconsumed_tail or member.unused_data
                if not data and not member.eof:
                    data = stream.read(_GZIP_PIECE)
            begun = not member.eof
            data = data or stream.read(_GZIP_PIECE)
    except zlib.error as error:
        raise _damaged(name, f"damaged gzip data ({error})") from None
    if begun:
        raise _damaged(name, "the gzip data ends before its end mark")


def _unzstd(stream: _Joined, name: str) -> Iterator[bytes]:
    """Several frames in a row are one stream."""
    zstandard = load_extra("zstandard", "zstd-extra-missing", "zstd", "reading this ledger needs {}")
    data, begun = stream.read(_ZSTD_PIECE), False
    try:
        while data:
            frame = zstandard.ZstdDecompressor(max_window_size=limits.ZSTD_WINDOW_BYTES).decompressobj()
            begun = True
            while not frame.eof and data:
                grown = frame.decompress(data)
                yield from (grown[at : at + _CHUNK] for at in range(0, len(grown), _CHUNK))
                data = frame.unused_data if frame.eof else stream.read(_ZSTD_PIECE)
            begun = not frame.eof
            data = data or stream.read(_ZSTD_PIECE)
    except zstandard.ZstdError as error:
        raise _damaged(name, f"damaged Zstandard data ({error})") from None
    if begun:
        raise _damaged(name, "the Zstandard data ends before its end mark")


def _damaged(name: str, message: str) -> UntakenError:
    return UntakenError(
        "ledger-compression",
        message,
        where=Where(file=name or None),
        hint="Download the file again. Events after this point cannot be read.",
    )


LedgerSource = str | os.PathLike[str] | bytes | BinaryIO | Readable
_PIPE = "this is a pipe, and a file is read more than once"
_PIPE_HINT = "Write what it gives to a file, and name that file."
_TRIES = 5


def require_path(path: Path, *, code: str = "path-not-found") -> None:
    """What somebody named is a file or folder.

    Raises:
        UntakenError: `code`; its hint names what is there with nearly the same name.
    """
    where = Where(file=str(path))
    if path.is_fifo():
        raise UntakenError(code, _PIPE, where=where, hint=_PIPE_HINT)
    if not path.exists():
        there = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, there, n=1)
        hint = f"Did you mean {path.with_name(near[0])}?" if near else "Check the name and the folder."
        raise UntakenError(code, "no such file or folder", where=where, hint=hint)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """What the disk refuses while this file is read says which file it is: a read by itself does not."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


class View(Struct, frozen=True, kw_only=True):
    """A ledger at one moment.

    Attributes:
        name: what messages call it.
        heads: recorded heads by run id; empty where nothing was recorded.
        size: bytes of the file that belong to the view; ``None`` for all.
        about: where not empty, the view has only lines in which these bytes are.
        findings: what was noticed before the first line, such as an interrupted append.
    """

    name: str
    heads: Mapping[str, Head]
    path: Path | None = None
    content: bytes | None = None
    stream: Readable | None = None
    size: int | None = None
    about: bytes = b""
    findings: tuple[Finding, ...] = ()

    def is_foreign(self) -> bool:
        """True for a file without recorded heads whose first lines are no events, not even damaged ones."""
        # What has recorded heads was a ledger once, whatever it holds now.
        if self.path is None or self.heads:
            return False
        try:
            head = b"\n".join(islice(self.lines(), LINES))
        except UntakenError:  # damaged compression or an endless line: the reader says where
            return False
        return bool(head.strip()) and not has_event_signature(head)

    def is_compressed(self) -> bool:
        """True for a compressed file."""
        if self.path is None:
            return False
        with self.path.open("rb") as file:
            return is_compressed(file.read(len(ZSTD_MAGIC)))

    def lines(self) -> Iterator[bytes]:
        """The lines of the view. A view of a stream can be read once, any other again and again."""
        return chain.from_iterable(self.blocks())

    def blocks(self) -> Iterator[list[bytes]]:
        """The lines, as many at a time as are read at once."""
        if not self.about:
            yield from self._blocks()
            return
        some = ([line for line in lines if self.about in line] for lines in self._blocks())
        yield from filter(None, some)

    def _blocks(self) -> Iterator[list[bytes]]:
        if self.path is None:
            yield from read_blocks(self.stream or io.BytesIO(self.content or b""), name=self.name)
            return
        with self.path.open("rb") as file:
            yield from read_blocks(file if self.size is None else Front(file, self.size), name=self.name)


class Front:
    """The first `size` bytes of a file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = self._left = size

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data

    def rewind(self) -> None:
        """To the beginning again."""
        self._file.seek(0)
        self._left = self._size

    def after(self, place: int) -> bytes:
        """Everything from a place on."""
        self._file.seek(place)
        return self._file.read(max(0, self._size - place))


def open_view(source: LedgerSource, *, heads: Mapping[str, Head] | None, name: str | None) -> View:
    """A view of a path, of bytes or of a binary stream.

    Heads that are given are taken as they are. Without them, a path is read with its sidecar and, where a
    writer is at work or was interrupted, with its intent journal.

    Raises:
        UntakenError: ``ledger-not-found``, ``ledger-heads``, ``ledger-journal``.
    """
    if isinstance(source, bytes):
        return View(name=name or "", heads=heads or {}, content=source)
    if not isinstance(source, str | os.PathLike):
        return View(name=name or str(getattr(source, "name", "")), heads=heads or {}, stream=source)
    path = Path(source)
    if path.is_fifo():
        raise UntakenError("ledger-not-found", _PIPE, where=Where(file=name or str(path)), hint=_PIPE_HINT)
    if not path.is_file():
        raise UntakenError(
            "ledger-not-found",
            "it is a folder" if path.is_dir() else "no such file",
            where=Where(file=name or str(path)),
            hint="Read its ledgers one by one: `for file in sorted(Path(folder).glob('*.jsonl'))`."
            if path.is_dir()
            else "Name a ledger file: .jsonl, .jsonl.gz or .jsonl.zst.",
        )
    if heads is not None:
        return View(name=name or str(path), heads=heads, path=path)
    return _recorded_view(path, name or str(path))


def _recorded_view(path: Path, name: str) -> View:
    """Size, journal and sidecar that belong together: the sidecar must be the same before and after."""
    for _ in range(_TRIES):
        heads = _content(heads_path(path))
        before = path.stat().st_size  # announced in the journal: a writer records an intent before its bytes
        journal = load_journal(path)
        size = path.stat().st_size  # holds what the journal acknowledges, which comes after the bytes
        if _content(heads_path(path)) == heads and before <= size:  # else a writer moved the heads meanwhile
            break
    recorded = parse_heads(heads, name=str(heads_path(path))) if heads is not None else {}
    settled = settle(recorded, journal, size)
    if settled.undone is None:
        end = max(before, min(size, journal.end))  # of bytes in between, those that this journal announced
        return View(name=name, heads=settled.heads, path=path, size=end)
    finding = Finding(
        code="ledger-interrupted-append",
        message="the last append is incomplete: a writer is active or was interrupted; read without it",
        where=Where(file=name, run=settled.undone.run_id),
        hint="If no writer is running, open the ledger for writing once to undo the incomplete append.",
        severity="note",
    )
    end = min(size, settled.undone.offset)
    return View(name=name, heads=settled.heads, path=path, size=end, findings=(finding,))


def _content(path: Path) -> bytes | None:
    try:
        return read_record(path)
    except FileNotFoundError:
        return None
