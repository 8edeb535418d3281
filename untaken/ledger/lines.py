"""Lines from a file, bytes or a stream: compression recognised by content, every size bounded."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.extras import load_extra

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
    return _gunzip(joined, name) if head.startswith(GZIP_MAGIC) else _chunks(joined.read)


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


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while chunk := read(_CHUNK):
        yield chunk


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
