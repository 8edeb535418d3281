"""Folders, compressed files and archives: what is read, what is refused, and that nothing is unpacked."""

from __future__ import annotations

import gzip
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import zstandard
from foreign_files import codes, converted, put, tau_record

from untaken import limits
from untaken.errors import UntakenError
from untaken.traces import convert
from untaken.traces.archives import Archive
from untaken.traces.losses import Findings
from untaken.traces.sample import sample_of
from untaken.traces.sources import decompressed, found_sources

RECORD = json.dumps([tau_record()]).encode()
NAME = "gpt-9-airline.json"


def zipped(path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


HALVES = gzip.compress(RECORD[:9]) + gzip.compress(RECORD[9:])
WRITTEN: list[tuple[str, Callable[[Path], Path]]] = [
    ("plain", lambda folder: put(folder / NAME, RECORD)),
    ("gzip", lambda folder: put(folder / f"{NAME}.gz", gzip.compress(RECORD))),
    ("two gzip members", lambda folder: put(folder / f"{NAME}.gz", HALVES)),
    ("gzip under a plain name", lambda folder: put(folder / NAME, gzip.compress(RECORD))),
    ("zstd", lambda folder: put(folder / f"{NAME}.zst", zstandard.compress(RECORD))),
    ("zip", lambda folder: zipped(folder / "all.zip", (f"deep/{NAME}", RECORD))),
    ("stored zip", lambda folder: zipped(folder / "all.zip", (NAME, RECORD), method=zipfile.ZIP_STORED)),
    ("gzip in zip", lambda folder: zipped(folder / "all.zip", (f"{NAME}.gz", gzip.compress(RECORD)))),
    ("zip under another name", lambda folder: zipped(folder / "all.dat", (NAME, RECORD))),
]


@pytest.mark.parametrize(("desc", "write"), WRITTEN)
def test_one_record_is_read_however_it_is_packed(tmp_path, desc, write) -> None:
    conversion, (run,) = converted("tau-bench", tmp_path / "out", write(tmp_path / "in"))
    assert run.run_id == "tau-bench/gpt-9/airline/7/0"
    assert set(codes(conversion)) == {"synthetic-timestamps"}


def test_folders_are_searched_and_other_files_left(tmp_path: Path) -> None:
    put(tmp_path / "in" / "a" / "b" / NAME, RECORD)
    put(tmp_path / "in" / ".hidden" / NAME, b"never read")
    put(tmp_path / "in" / f".{NAME}", b"never read")
    put(tmp_path / "in" / "README.md", b"# not a trace")
    zipped(
        tmp_path / "in" / "more.zip",
        (f"x/{NAME}", json.dumps([tau_record(trial=1)]).encode()),
        ("y.txt", b""),
    )
    conversion, runs = converted("tau-bench", tmp_path / "out", tmp_path / "in")
    assert len(runs) == 2
    assert [loss.name for loss in conversion.losses] == [f"a/b/{NAME}", f"more.zip/x/{NAME}"]
    assert codes(conversion)["files-skipped"] == 1


def test_a_log_whose_name_is_hidden_is_found_in_a_folder(tmp_path: Path) -> None:
    put(
        tmp_path / "in" / ".aider.chat.history.md",
        b"# aider chat started at 2026-01-01 10:00:00\n\n#### Go.\n",
    )
    put(tmp_path / "in" / ".notes.md", b"never read")
    conversion, runs = converted(None, tmp_path / "out", tmp_path / "in")
    assert (conversion.format, len(runs)) == ("aider", 1)


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "in" / NAME, RECORD)
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    conversion, runs = converted("tau-bench", tmp_path / "out", tmp_path / "in")
    assert (len(runs), len(conversion.losses)) == (1, 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trace.json")
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "Go."}]')
    with found_sources([tmp_path], (".json",), Findings(None)) as found:
        assert [source.name for source in found] == ["chat.json"]


def test_the_same_bytes_under_two_names_are_read_once(tmp_path: Path) -> None:
    put(tmp_path / "in" / "a" / NAME, RECORD)
    put(tmp_path / "in" / "b" / NAME, RECORD)
    conversion, runs = converted("tau-bench", tmp_path / "out", tmp_path / "in", tmp_path / "in" / "a")
    assert (len(runs), codes(conversion)["duplicate-file"]) == (1, 2)


def test_a_name_in_the_letters_of_an_older_system_takes_one_byte_a_character(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "all.zip", ("gpt-9-airline/prXfung.json", RECORD), (NAME, RECORD))
    archive.write_bytes(archive.read_bytes().replace(b"prXfung", b"pr\x81fung"))
    with closing(Archive(archive)) as opened:
        want = ["gpt-9-airline/prüfung.json", NAME]
        assert [info.filename for info in opened.members(Findings(None))] == want


LOCAL, ENTRY = b"PK\x03\x04", b"PK\x01\x02"
"""Where the head of a member begins, and its entry in the directory."""


def overlap(data: bytearray) -> None:
    """The second entry points at the bytes of the first."""
    struct.pack_into("<L", data, data.rindex(ENTRY) + 42, 0)


def lie(data: bytearray) -> None:
    """An entry that claims to be smaller than it is."""
    for mark, at in ((LOCAL, 22), (ENTRY, 24)):
        struct.pack_into("<L", data, data.index(mark) + at, 10)


def encrypt(data: bytearray) -> None:
    for mark, at in ((LOCAL, 6), (ENTRY, 8)):
        data[data.index(mark) + at] |= 1


def cut(data: bytearray) -> None:
    del data[len(data) // 2 :]


def flip(data: bytearray) -> None:
    data[60] ^= 0xFF


Made = Callable[[Path], Path]


def changed(change: Callable[[bytearray], None], *members: tuple[str, bytes]) -> Made:
    """Makes an archive, and changes its bytes."""

    def make(path: Path) -> Path:
        data = bytearray(zipped(path, *members or [(NAME, RECORD)]).read_bytes())
        change(data)
        return put(path, bytes(data))

    return make


def nested(path: Path) -> Path:
    inner = zipped(path.with_name("inner"), (NAME, RECORD)).read_bytes()
    return zipped(path, ("inner.zip", inner))


HOSTILE: list[tuple[str, Made, str]] = [
    ("a bomb", lambda path: zipped(path, ("bomb.json", b" " * (64 * limits.MIB))), "archive-member-refused"),
    ("overlapping", changed(overlap, ("a.json", b" " * 1000), ("b.json", b" " * 1000)), "archive-refused"),
    ("lying", changed(lie), "unreadable-file"),
    ("encrypted", changed(encrypt), "archive-member-refused"),
    ("nested", nested, "archive-member-refused"),
    ("truncated", changed(cut), "archive-refused"),
    ("flipped", changed(flip), "unreadable-file"),
    ("bzip2", lambda path: zipped(path, (NAME, RECORD), method=zipfile.ZIP_BZIP2), "archive-member-refused"),
]


@pytest.mark.parametrize(("desc", "make", "code"), HOSTILE, ids=[one[0] for one in HOSTILE])
def test_hostile_archives_are_refused_and_the_rest_is_read(tmp_path, desc, make, code) -> None:
    good = put(tmp_path / "in" / "gpt-8-airline.json", json.dumps([tau_record(trial=1)]))
    archive = make(tmp_path / "in" / "hostile.zip")
    conversion, runs = converted("tau-bench", tmp_path / "out", archive, good)
    assert [run.agent for run in runs] == ["gpt-8"]
    assert codes(conversion)[code] == 1


def damages(data: bytes) -> Iterator[bytes]:
    """The data with some bytes missing, with some more, and with a bit flipped, at every place."""
    for at in range(len(data)):
        for missing in (1, 40):
            yield data[:at] + data[at + missing :]
        yield data[:at] + bytes(37) + data[at:]
        for bit in range(8):
            yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def test_an_archive_that_is_damaged_anywhere_is_read_or_refused_in_words(tmp_path: Path) -> None:
    data = zipped(tmp_path / "in.zip", ("größe.json", RECORD[:200]), ("b.json", b"[]")).read_bytes()
    refused: list[str] = []
    for damaged in damages(data):
        sample_of("in.zip", damaged)
        try:
            with closing(Archive(Path("in.zip"), damaged)) as archive:
                for member in archive.members(Findings(None)):
                    archive.read(member)
        except UntakenError as error:
            refused.append(error.code)
    assert set(refused) == {"archive-refused", "unreadable-file"}
    assert len(refused) > 1_000


@pytest.mark.parametrize(("limit", "most"), [("ARCHIVE_MEMBERS", 3), ("ARCHIVE_BYTES", 7)])
def test_too_many_members_and_too_much_in_all_are_refused(tmp_path, monkeypatch, limit, most) -> None:
    monkeypatch.setattr(limits, limit, most)
    archive = zipped(tmp_path / "in.zip", *((f"{n}.json", b"[]") for n in range(4)))
    assert codes(converted("tau-bench", tmp_path / "out", archive)[0])["archive-refused"] == 1


PATHS = ["../../escape.json", "/etc/escape.json", "C:\\escape.json"]
NAMES = [*PATHS, "a/\x00b.json", "con.json", "x" * 400 + ".json"]


@pytest.mark.parametrize("name", NAMES)
def test_member_names_never_become_paths(tmp_path: Path, name: str) -> None:
    archive = zipped(tmp_path / "in" / "a.zip", (name, RECORD))
    before = {path for path in tmp_path.rglob("*") if tmp_path / "out" not in path.parents}
    conversion, _ = converted("tau-bench", tmp_path / "out", archive)
    outside = {p for p in tmp_path.rglob("*") if tmp_path / "out" not in p.parents} - {tmp_path / "out"}
    assert outside == before
    for path in (*conversion.ledgers, *conversion.graphs):
        assert path.resolve().is_relative_to((tmp_path / "out").resolve())
        assert len(path.name) < 200
        assert path.name.isprintable()


def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b" " * (70 * limits.MIB))
    conversion, runs = converted("tau-bench", tmp_path / "out", put(tmp_path / "bomb.json.gz", packed))
    assert not runs
    assert codes(conversion)["compression-ratio"] == 1


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IMPORT_FILE_BYTES", 100)
    conversion, runs = converted("tau-bench", tmp_path / "out", put(tmp_path / NAME, RECORD))
    assert (runs, codes(conversion)["file-too-large"]) == ([], 1)
    with pytest.raises(UntakenError, match="at most 100 "):
        decompressed(gzip.compress(b" " * 200), "x")


@pytest.mark.parametrize("cut", [3, 15, 200, -1])
def test_damaged_compression_is_named(tmp_path: Path, cut: int) -> None:
    packed = gzip.compress(RECORD)[:cut]
    conversion, runs = converted("tau-bench", tmp_path / "out", put(tmp_path / f"{NAME}.gz", packed))
    assert (runs, codes(conversion)["unreadable-file"]) == ([], 1)


def test_a_source_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UntakenError) as caught:
        convert("tau-bench", [tmp_path / "nowhere"], tmp_path / "out")
    assert caught.value.code == "source-not-found"
    assert not (tmp_path / "out").exists()


def test_a_file_that_may_not_be_read_propagates(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    source = put(tmp_path / NAME, RECORD)
    source.chmod(0)
    with pytest.raises(PermissionError):
        convert("tau-bench", [source], tmp_path / "out")
