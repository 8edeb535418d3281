"""Long files are read in pieces: the result is the same, and memory does not grow with the file."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import zipfile
from itertools import chain
from pathlib import Path

import pytest
import zstandard
from foreign_files import put
from hypothesis import example, given
from hypothesis import strategies as st

from untaken.errors import UntakenError
from untaken.traces import convert, jsontext, sources, trace_file
from untaken.traces.jsontext import JsonReader, decode_text, decoded_pieces
from untaken.traces.losses import Findings
from untaken.traces.sources import decompressed, decompressed_pieces

RECORDED = sorted(file for file in Path(__file__).with_name("recorded").rglob("*.json*") if file.is_file())
TEXTS = [
    '{"a": [1, "x}y"]}\n{"b": "c\\"d"}\n12\n3.5e+3 true null\n',
    '[{"a": 1}, {"b": [2, 3]}, "é€", -7]',
    '{"a": 1}\n{"broken": \n{"b": 2}\nwords\n[3, oops, {"c": 4}]\n{"d": "open\n{"e": 5}\n',
    '[1, {"a": tru}, [2, }], {"b": 3}',
    '{"a": {"b": [1, 2',
    "  \n\t ",
]


def read(reader: JsonReader) -> tuple[object, ...]:
    found = [(element.index, element.value, element.chars) for element in reader.values()]
    return found, [(f.code, f.where.line) for f in reader.findings.all()]


@given(text=st.sampled_from(TEXTS), cut=st.integers(0, 60), size=st.integers(1, 9))
def test_text_in_pieces_gives_the_same_records_and_findings(text: str, cut: int, size: int) -> None:
    text = text[: len(text) - cut] if cut < len(text) else text
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    whole = read(JsonReader(text, Findings(None)))
    assert read(JsonReader("", Findings(None), pieces)) == whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsontext, "_DROPPED_FROM", 0)
        assert read(JsonReader(text, Findings(None))) == whole


@given(data=st.sampled_from([t.encode(e) for t in TEXTS for e in ("utf-8-sig", "utf-16")] + [b"a\xffb\xc3"]))
def test_bytes_in_pieces_give_the_same_text(data: bytes) -> None:
    findings, faults = Findings(None), []
    whole = decode_text(data, findings)
    assert "".join(decoded_pieces(data[at : at + 3] for at in range(0, len(data), 3))) == whole
    list(decoded_pieces((data[at : at + 3] for at in range(0, len(data), 3)), lambda *f: faults.append(f)))
    assert [f"byte {byte} is" in findings.all()[0].message for byte, _ in faults] == [True] * len(faults)
    assert bool(faults) is bool(findings.all())


def outcome(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*.*")}


@pytest.mark.parametrize("file", RECORDED, ids=[file.name for file in RECORDED])
def test_a_file_that_is_read_in_pieces_is_converted_to_the_same_bytes(file, tmp_path, monkeypatch) -> None:
    convert(None, [file], tmp_path / "whole")
    monkeypatch.setattr(sources, "_STREAMED_FROM", 0)
    monkeypatch.setattr(sources, "_CHUNK", 500)
    monkeypatch.setattr(trace_file, "_READ_TWICE_FROM", 0)
    convert(None, [file], tmp_path / "pieces")
    assert outcome(tmp_path / "pieces") == outcome(tmp_path / "whole")


MEASURED = """
import sys
from pathlib import Path
from untaken.traces import convert
for number, source in enumerate(sys.argv[2:]):
    convert(None, [Path(source)], Path(sys.argv[1], str(number)))
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")))
"""


def packed(file: Path) -> list[Path]:
    """The file itself, and compressed in each way."""
    content = file.read_bytes()
    gz, zst, archive = (file.with_name(file.name + ending) for ending in (".gz", ".zst", ".zip"))
    gz.write_bytes(gzip.compress(content, 1, mtime=0))
    zst.write_bytes(zstandard.compress(content))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        out.write(file, file.name)
    return [file, gz, zst, archive]


@pytest.mark.parametrize("file", RECORDED, ids=[file.name for file in RECORDED])
def test_a_compressed_file_that_is_read_in_pieces_gives_the_same_ledgers(file, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sources, "_STREAMED_FROM", 0)
    monkeypatch.setattr(sources, "_CHUNK", 500)
    ledgers = [
        {path.name: path.read_bytes() for path in convert(None, [one], tmp_path / f"out{number}").ledgers}
        for number, one in enumerate(packed(put(tmp_path / file.name, file.read_bytes())))
    ]
    assert ledgers[0]
    assert all(one == ledgers[0] for one in ledgers)


CONTENT = b"".join(b"%d " % (number * number) for number in range(400))
PACKED = [gzip.compress(CONTENT) + gzip.compress(CONTENT), zstandard.compress(CONTENT) * 2]


@given(stored=st.sampled_from(PACKED), size=st.integers(1, 3000))
def test_a_compressed_file_is_the_same_in_pieces_of_any_size(stored: bytes, size: int) -> None:
    pieces = (stored[at : at + size] for at in range(0, len(stored), size))
    start = next(pieces) if size >= len(sources.ZIP) else stored
    given = chain([start], pieces if start is not stored else ())
    assert b"".join(decompressed_pieces(given, len(stored), "x")) == CONTENT * 2


@given(stored=st.sampled_from(PACKED), left=st.integers(4, 1 << 16))
@example(stored=PACKED[0], left=len(PACKED[0]) // 2 + 1)
def test_a_compressed_file_that_is_cut_is_refused(stored: bytes, left: int) -> None:
    left = min(left, len(stored) - 1)
    if left != len(stored) // 2:  # there the first of two members ends
        with pytest.raises(UntakenError, match="cut short"):
            decompressed(stored[:left], "x")


def mib(number: int) -> str:
    """A text of one MiB that compresses to half of it."""
    return random.Random(number).randbytes(1 << 19).hex()


def peak_mib(out: Path, *files: Path) -> float:
    """The memory that converting the files takes at most, in MiB."""
    command = [sys.executable, "-c", MEASURED, str(out), *map(str, files)]
    return int(subprocess.run(command, check=True, capture_output=True).stdout) / 1024


def chat(number: int) -> dict[str, object]:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": mib(number)}]
    return {"id": f"t{number}", "messages": messages}


def evaluated(number: int) -> dict[str, object]:
    event = {"source": "user", "action": "message", "args": {"content": mib(number)}}
    return {"instance_id": f"t{number}", "history": [event]}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize(("record", "archives"), [(chat, True), (evaluated, False)])
def test_the_memory_of_a_conversion_does_not_grow_with_the_file(tmp_path, record, archives) -> None:
    def peak(size: int) -> float:
        file = tmp_path / f"{size}.jsonl"
        with file.open("w") as out:
            for number in range(size):
                out.write(json.dumps(record(number)) + "\n")
        return peak_mib(tmp_path / f"out{size}", *(packed(file) if archives else [file]))

    assert peak(24) - peak(6) < 12


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_one_long_session_takes_less_than_three_times_its_size(tmp_path: Path) -> None:
    def peak(size: int) -> float:
        file = tmp_path / f"{size}.jsonl"
        with file.open("w") as out:
            for number in range(size):
                payload = {"type": "function_call_output", "call_id": f"c{number}", "output": mib(number)}
                line = {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}
                out.write(json.dumps(line) + "\n")
        return peak_mib(tmp_path / f"out{size}", file)

    assert peak(18) - peak(6) < 3 * 12
