"""A file that is no ledger is named for what it is, and never called a broken ledger."""

from __future__ import annotations

import json
import shlex
import zipfile
from pathlib import Path
from typing import NamedTuple

import desk
import pytest
from foreign_files import tau_record

from untaken.cli import main
from untaken.errors import UntakenError
from untaken.ledger import read_ledger

TAU = json.dumps([tau_record()]).encode()


class Other(NamedTuple):
    desc: str
    name: str
    content: bytes
    looks: str
    use: str


OTHERS = [
    Other("a benchmark's results", "r.jsonl", TAU, "τ-bench results (tau-bench)", "convert --from tau-bench"),
    Other(
        "unknown traces",
        "r.jsonl",
        b'{"id": 1, "b": 2, "c": 3, "d": 4}\n{"id": 2}',
        "JSON Lines with the fields id, b, c and 1 more",
        "formats",
    ),
    Other(
        "text in another encoding",
        "r.jsonl",
        b'{"name": "caf\xe9"}\n',
        "a JSON object with the fields name; its text is not UTF-8",
        "UTF-8",
    ),
    Other("a plan graph", "g.plan.yaml", b"schema: untaken.plan/1\nid: g\n", "a plan graph", "--graphs"),
    Other(
        "our own document",
        "s.json",
        b'{"schema": "untaken.score/1"}',
        "a document untaken.score/1",
        "ledgers",
    ),
    Other("heads", "x.jsonl.heads.json", b"{}", "the recorded heads of a ledger", "Name the ledger"),
    Other("a picture", "p.jsonl", b"\x89PNG\r\n\x1a\n\0", "a PNG picture", "formats"),
    Other(
        "bzip2",
        "t.jsonl.bz2",
        b"BZh91AY&SY\0",
        "a bzip2 file, which is not opened: decompress it, or use gzip or Zstandard",
        "formats",
    ),
    Other("words", "notes.txt", b"hello\n", "text", "formats"),
    Other("nothing", "x.jsonl", b"", "an empty file", "repeat it"),
    Other(
        "a result alone",
        "x.json",
        json.dumps(
            {"type": "result", "subtype": "success", "session_id": "s", "num_turns": 2, "result": "Done"}
        ).encode(),
        "the result of `claude -p` alone; `--output-format stream-json --verbose` records its calls, too",
        "untaken formats",
    ),
    Other(
        "traces by name",
        "x.json",
        json.dumps({"data": [{"id": "t", "observations": ["o1"]}], "meta": {}}).encode(),
        "a list of Langfuse's traces that only names their observations; export each trace, or these",
        "untaken formats",
    ),
    Other(
        "logs alone",
        "x.json",
        json.dumps({"resourceLogs": []}).encode(),
        "OTLP logs without their spans; convert both in one file",
        "untaken formats",
    ),
    Other("half a file", "x.json", b'{"a": [1, 2', "a JSON object with the fields a, cut short", "repeat it"),
    Other("an error page", "x.json", b"<html>502 Bad Gateway", "an HTML page", "repeat it"),
    Other("half an archive", "x.zip", b"PK\x03\x04\x14\0", "a zip archive, cut short or empty", "repeat it"),
]


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.desc)
def test_verify_says_what_a_file_looks_like(
    case: Other, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / case.name
    file.write_bytes(case.content)
    assert main(["verify", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"not a ledger: looks like {case.looks} [not-a-ledger]" in said
    assert case.use in said


def test_convert_says_the_next_step_of_a_file_that_gave_nothing_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for cut, name in enumerate(("a.json", "b.json"), start=20):
        (tmp_path / name).write_bytes(TAU[:-cut])
    assert main(["convert", "--from", "tau-bench", str(tmp_path), "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.count("nothing was added: ") == 2
    assert said.count("→ Export or download it again.") == 1


def test_the_ledgers_beside_it_are_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    ledger.write_bytes(desk.careful(5).ledger())
    other.write_bytes(TAU)
    assert main(["verify", "--json", str(tmp_path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [run["verdict"] for run in document["runs"]] == ["UNANCHORED"]
    assert [(f["code"], f["severity"]) for f in document["findings"]] == [("not-a-ledger", "warning")]
    assert main(["verify", str(ledger), str(other)]) == 1


def test_a_folder_without_ledgers_says_what_was_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.json", "b.txt", "c.txt", "d.txt"):
        (tmp_path / name).write_bytes(TAU if name == "a.json" else b"hello")
    assert main(["verify", str(tmp_path)]) == 2
    want = "4 files ignored: a.json (τ-bench results (tau-bench)), b.txt (text), c.txt (text) and 1 more"
    assert want in capsys.readouterr().err


def test_a_destroyed_ledger_with_heads_is_still_a_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"garbage\n")
    (tmp_path / "a.jsonl.heads.json").write_text(json.dumps({"r": {"events": 2, "sha256": "0" * 64}}))
    assert main(["verify", str(tmp_path / "a.jsonl")]) == 1
    out, err = capsys.readouterr()
    assert "MALFORMED" in out
    assert "not-a-ledger" not in out + err


def test_a_ledger_whose_first_line_is_destroyed_is_malformed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = desk.careful(5).ledger().split(b"\n")
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([b"\xff\0", *lines[1:]]))
    assert main(["verify", str(tmp_path / "a.jsonl")]) == 1
    assert "MALFORMED" in capsys.readouterr().out


def test_reading_a_file_that_is_no_ledger_says_so(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_bytes(TAU)
    with pytest.raises(UntakenError) as refused:
        read_ledger(file)
    assert refused.value.code == "not-a-ledger"
    runs, findings = read_ledger(file, strict=False)
    assert (runs, [finding.code for finding in findings]) == ([], ["not-a-ledger"])


def test_convert_recognises_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.json").write_bytes(TAU)
    assert main(["convert", str(tmp_path / "in.json"), "-o", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "tau-bench"


def test_convert_ends_with_the_command_to_look_at_what_came_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "what came out"
    (tmp_path / "in.json").write_bytes(TAU)
    assert main(["convert", str(tmp_path / "in.json"), "-o", str(out)]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("Next: untaken triage '")
    assert main(shlex.split(last)[2:]) == 0, "with its plan graphs, where there are some"
    assert "which is missing" not in capsys.readouterr().err


def test_convert_names_the_format_it_was_not_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.json").write_bytes(TAU)
    words = [
        "convert",
        "--from",
        "agenteval",
        str(tmp_path / "in.json"),
        "-o",
        str(tmp_path / "out"),
        "--json",
    ]
    assert main(words) == 2
    findings = json.loads(capsys.readouterr().out)["findings"]
    [other] = [finding for finding in findings if finding["code"] == "other-format"]
    assert other["message"] == "in.json looks like tau-bench"


def test_convert_says_which_files_of_a_folder_were_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("hello")
    assert main(["convert", str(tmp_path / "in"), "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "1 file ignored: notes.txt (text) [format-not-recognised]" in said
    assert "describe it with `untaken mapping draft`" in said


def test_convert_says_why_an_archive_was_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b" " * (4 << 20))
    assert main(["convert", str(tmp_path / "bomb.zip"), "-o", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert "bomb.zip (a zip archive): a.json: it grows more than 200-fold when decompressed" in errors
