"""Zip archives of traces: read in place, with every claim of the archive checked before it is believed."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Final

import zstandard

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.traces.losses import Findings, clip

_LOCAL_HEADER: Final = 30
_DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    zstandard.ZstdError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
_RATIO_FROM: Final = limits.MIB
_ZSTANDARD: Final = 93
"""Python's own reader knows this method from 3.14 on."""
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)
_UTF8: Final = 0x800
_ENCRYPTED: Final = 0x1
_AGAIN: Final = "Export or download it again, or use its files by themselves."


class Archive:
    """An opened zip archive that passed the checks.

    Raises:
        UntakenError: ``archive-refused`` where the archive as a whole cannot be trusted: damaged, too many
            members, too much content, or members that share bytes (a decompression bomb's trick).
    """

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        """Opens the archive at a path, or one whose bytes are at hand; `path` then names it in messages."""
        try:
            self._zip = zipfile.ZipFile(path if content is None else io.BytesIO(content))
        except zipfile.BadZipFile as error:
            raise _refused(path, f"it is cut short or damaged: {clip(error)}") from error
        except (OSError, ValueError, NotImplementedError) as error:
            raise _refused(path, f"it cannot be read: {clip(error)}") from error
        self._listed = self._zip.infolist()
        try:
            _check(path, self._listed, self._zip.start_dir)
        except UntakenError:
            self.close()
            raise

    def close(self) -> None:
        """Lets go of the file."""
        self._zip.close()

    def members(self, findings: Findings) -> Iterator[zipfile.ZipInfo]:
        """The files that may be read, in order; the others are named. A name is untrusted text."""
        for info in self._listed:
            name = info.filename
            if info.is_dir() or name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("."):
                continue
            if (fault := _fault(info)) is None:
                yield info
            else:
                message = f"{clip(info.filename)}: {fault}"
                findings.add("archive-member-refused", message, hint=_AGAIN, severity="error")

    def read(self, info: zipfile.ZipInfo) -> bytes:
        """The content of one member.

        Raises:
            UntakenError: as `pieces`.
        """
        return b"".join(self.pieces(info))

    def pieces(self, info: zipfile.ZipInfo, size: int = limits.MIB) -> Iterator[bytes]:
        """The content of one member, in pieces of at most some `size`.

        Raises:
            UntakenError: ``unreadable-file`` where it does not decompress, or not to what the archive says.
        """
        length = 0
        try:
            for piece in (self._zstandard if info.compress_type == _ZSTANDARD else self._plain)(info, size):
                length += len(piece)
                if length > info.file_size:  # it goes on beyond what it declared: no more is unpacked
                    break
                yield piece
        except _DAMAGED as error:
            raise UntakenError(
                "unreadable-file",
                f"the member is damaged: {clip(error)}",
                where=Where(file=info.filename),
                hint=_AGAIN,
            ) from error
        if length != info.file_size:
            raise UntakenError(
                "unreadable-file", "the member is cut short", where=Where(file=info.filename), hint=_AGAIN
            )

    def _plain(self, info: zipfile.ZipInfo, size: int) -> Iterator[bytes]:
        with self._zip.open(info) as stream:
            while piece := stream.read(size):
                yield piece

    def _zstandard(self, info: zipfile.ZipInfo, size: int) -> Iterator[bytes]:
        """A member that is compressed with Zstandard, checked like any other."""
        stored = copy(info)
        # As if it were stored: the raw bytes come out, with the checks that any member has.
        stored.compress_type, stored.file_size = zipfile.ZIP_STORED, info.compress_size
        del stored.CRC  # of the content
        machine = zstandard.ZstdDecompressor(max_window_size=limits.ZSTD_WINDOW_BYTES)
        checksum = 0
        with self._zip.open(stored) as stream:
            reader = machine.stream_reader(stream, read_across_frames=True)
            while piece := reader.read(size):
                checksum = zlib.crc32(piece, checksum)
                yield piece
        if checksum != info.CRC:
            raise zipfile.BadZipFile("its checksum differs")


def _check(archive: Path, listed: list[zipfile.ZipInfo], end: int) -> None:
    if len(listed) > limits.ARCHIVE_MEMBERS:
        raise _refused(archive, f"it lists {len(listed)} members; at most {limits.ARCHIVE_MEMBERS} are read")
    total = sum(info.file_size for info in listed)
    if total > limits.ARCHIVE_BYTES:
        raise _refused(archive, f"it holds {total} bytes; at most {limits.ARCHIVE_BYTES} are read")
    placed = sorted(listed, key=lambda info: info.header_offset)
    if placed and placed[0].header_offset < 0:  # the directory is where it would be with more before it
        raise _refused(archive, "it is cut short or damaged: some of its bytes are missing")
    ends = [*(info.header_offset for info in placed[1:]), end]
    for info, following in zip(placed, ends, strict=False):
        coding = "utf-8" if info.flag_bits & _UTF8 else "cp437"
        header = _LOCAL_HEADER + len(info.orig_filename.encode(coding, "surrogateescape"))
        if info.header_offset + header + info.compress_size > following:
            raise _refused(archive, "its members overlap")


def _fault(info: zipfile.ZipInfo) -> str | None:
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in _METHODS:
        return f"compression method {info.compress_type} is not read; use deflate"
    if info.file_size > limits.IMPORT_FILE_BYTES:
        return f"it holds {info.file_size} bytes; at most {limits.IMPORT_FILE_BYTES} are read"
    if info.file_size > max(_RATIO_FROM, info.compress_size * limits.ARCHIVE_RATIO):
        return f"it grows more than {limits.ARCHIVE_RATIO}-fold when decompressed"
    if info.filename.lower().endswith(".zip"):
        return "nested archives are not opened; unpack it first"
    return None


def _refused(archive: Path, why: str) -> UntakenError:
    return UntakenError("archive-refused", why, where=Where(file=archive.name), hint=_AGAIN)
