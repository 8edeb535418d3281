"""A file that gives no run and no plan graph is never added, and one message says why."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Literal

import desk
import pytest
from builders import a_run
from foreign_files import FILES, put

from untaken.cli import main
from untaken.ledger import Message, Verdict
from untaken.views.upload_results import Upload, uploads
from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

SHARES = (0.3, 0.6, 0.95)


def cut_files(format: str) -> Iterator[tuple[str, bytes]]:
    """A file of the format, compact, indented and compressed, cut at several places."""
    name, content = next(iter(FILES[format].items()))
    for indent in (None, 2):
        whole = json.dumps(content, indent=indent).encode()
        for cut in (*(int(len(whole) * share) for share in SHARES), len(whole) - 1):
            yield f"{format}-{indent}-{cut}/{Path(name).name}", whole[:cut]
    packed = gzip.compress(whole, mtime=0)
    if format != "harbor":  # its files have fixed names
        yield f"{format}-packed/{Path(name).name}.gz", packed[: len(packed) * 2 // 3]


UNQUOTED = (
    "a JSON list; record 0 of the list cannot be read: it is not JSON: Expecting property name "
    "enclosed in double quotes: line 1 column 3 (char 2)"
)
SPANS = "a CSV table with the fields name, kind, start and 1 more; export its rows as JSON Lines"
FAILED: list[tuple[str, bytes, str]] = [
    ("empty.json", b"", "an empty file"),
    ("blank.jsonl", b" \n\t \n", "an empty file"),
    ("list.json", b"[]", "a JSON list"),
    ("object.json", b"{}", "a JSON object"),
    ("null.json", b"null", "text"),
    ("page.json", b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", "an HTML page"),
    ("spans.csv", b"name,kind,start,end\nx,TOOL,1,2\n", SPANS),
    ("opened.json", b"[\n", "a JSON list, cut short"),
    ("quoted.json", b"[{'a': 1}]", UNQUOTED),
]


def added(folder: Path, files: list[tuple[str, bytes]]) -> list[Upload]:
    with Workspace(folder) as workspace:
        rows = uploads(take_in(workspace, files))
        kept = {file.name for file in workspace.files()}
    for one in rows:
        if one.status == "not added":
            assert one.row.name not in kept
    return list(rows)


def test_what_gives_no_run_is_never_added_and_says_so_once(tmp_path: Path) -> None:
    rows = added(tmp_path, [file for format in FILES for file in cut_files(format)])
    refused = {one.row.kind for one in rows if one.status == "not added"}
    assert refused >= {"atif", "devai", "inspect", "langsmith", "mlflow", "otel", "swe-agent"}
    for one in rows:
        if one.runs + one.graphs:  # the records before the cut
            assert (one.mark, [reason.code for reason in one.reasons]) == ("⚠", ["truncated-file"])
            continue
        (reason,) = one.reasons
        assert (one.mark, one.status) == ("✗", "not added"), one.row.name
        assert "cut short" in reason.message
        assert reason.hint


@pytest.mark.parametrize("format", FILES)
def test_convert_says_the_same(format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, (name, content) in enumerate(cut_files(format)):
        out = tmp_path / f"out{number}"
        status = main(["convert", str(put(tmp_path / name, content)), "-o", str(out)])
        said = capsys.readouterr().err
        (error,) = (line for line in said.splitlines() if line.startswith("error: "))
        assert "cut short" in error, said
        assert status == (0 if [*out.rglob("*.jsonl"), *out.rglob("*.yaml")] else 2)


@pytest.mark.parametrize(("name", "content", "looks"), FAILED)
def test_a_file_without_a_record_is_named_for_what_it_is(name, content, looks, tmp_path, capsys) -> None:
    (row,) = added(tmp_path / "workspace", [(name, content)])
    (reason,) = row.reasons
    assert (row.status, reason.message.endswith(f"looks like {looks}")) == ("not added", True)
    assert main(["convert", str(put(tmp_path / name, content)), "-o", str(tmp_path / "out")]) == 2
    assert f"1 file ignored: {name} ({looks})" in capsys.readouterr().err


def trial(tests: list[str]) -> dict[str, object]:
    messages = [{"source": "agent", "message": "hi"}, {"source": "agent", "message": "ho"}]
    results = {"tests": [{"name": name, "status": "passed"} for name in tests]}
    return {
        "result.json": {"task_name": "t", "trial_name": "t__1", "agent_info": {"name": "a"}},
        "config.json": {"trial_name": "t__1", "task": {}, "agent": {"model_name": "m"}, "verifier": {}},
        "agent/trajectory.json": {"schema_version": "ATIF-v1.5", "steps": messages},
        "verifier/ctrf.json": {"results": results},
        "verifier/test-stdout.txt": "two passed",
    }


def zipped(folder: str, files: dict[str, object]) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{folder}/{name}", json.dumps(content))
    return data.getvalue()


def test_the_files_of_one_archive_are_read_together(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        (row,) = uploads(take_in(workspace, [("t.zip", zipped("t__1", trial(["one", "two"])))]))
        (run,), _ = workspace.read_runs()
    assert (row.mark, row.status, row.runs, row.graphs) == ("✓", "new", 1, 1)
    assert run.started.agent == "a/m"
    assert sum(isinstance(event, Message) for event in run.events) == 2
    assert [event.sub_goal for event in run.events if isinstance(event, Verdict)] == ["one", "two"]
    (unread,) = [member for member in row.members if not member.new]
    assert (unread.name, unread.findings[0].code) == ("t.zip/t__1/verifier/test-stdout.txt", "file-not-read")


def test_two_trials_with_the_same_test_report_both_have_their_verdicts(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        for number in (1, 2):
            files = trial(["one"]) | {"result.json": {"task_name": "t", "trial_name": f"t__{number}"}}
            put(tmp_path / "in" / f"t__{number}.zip", zipped(f"t__{number}", files))
        take_in(workspace, [(f"{n}.zip", tmp_path / "in" / f"t__{n}.zip") for n in (1, 2)])
        runs, _ = workspace.read_runs()
    assert [sum(isinstance(event, Verdict) for event in run.events) for run in runs] == [1, 1]


def test_a_part_of_a_trace_that_comes_alone_is_not_added(tmp_path: Path) -> None:
    config = json.dumps(trial([])["config.json"]).encode()
    (row,) = added(tmp_path, [("config.json", config)])
    (reason,) = row.reasons
    assert (row.mark, row.status, reason.code) == ("✗", "not added", "file-not-read")
    assert "zip" in reason.hint


def test_ledgers_in_an_archive_without_compression_are_read_as_its_members(tmp_path: Path) -> None:
    """Their lines show in the archive's own bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for number in range(3):
            archive.writestr(f"runs/{number}.jsonl", desk.careful(number).ledger())
    with Workspace(tmp_path) as workspace:
        rows = take_in(workspace, [("runs.zip", packed.getvalue())])
        assert [(row.kind, row.runs) for row in rows] == [("archive", 0), *[("ledger", 1)] * 3]
        assert len(workspace.ledgers()) == 3


def tarred(mode: Literal["w", "w:gz"]) -> bytes:
    """Ledgers among links to files of the machine, a pipe, and a name that leads out of the archive."""
    kept, ledger = io.BytesIO(), a_run("r").call("look").finish().ledger()
    with tarfile.open(fileobj=kept, mode=mode) as archive:
        for name, kind in (("a", tarfile.SYMTYPE), ("b", tarfile.LNKTYPE), ("c", tarfile.FIFOTYPE)):
            link = tarfile.TarInfo(f"{name}.jsonl")
            link.type, link.linkname = kind, "/etc/passwd"
            archive.addfile(link)
        for name in ("r.jsonl", "../../out.jsonl"):
            member = tarfile.TarInfo(name)
            member.size = len(ledger)
            archive.addfile(member, io.BytesIO(ledger))
    return kept.getvalue()


OTHER_ARCHIVES = {
    "tar": tarred("w"),
    "tar.gz": tarred("w:gz"),
    "7z": b"7z\xbc\xaf\x27\x1c\0\4" + bytes(40),
    "rar": b"Rar!\x1a\7\1\0" + bytes(40),
}


@pytest.mark.parametrize("kind", OTHER_ARCHIVES)
def test_another_archive_is_not_opened_nor_taken_for_a_broken_ledger_and_zip_is_named(kind, tmp_path) -> None:
    file = tmp_path / f"runs.{kind}"
    file.write_bytes(OTHER_ARCHIVES[kind])
    with Workspace(tmp_path / "workspace") as store:
        (row,) = take_in(store, [(file.name, file)])
        assert store.ledgers() == []
    (finding,) = row.findings
    assert (finding.code, row.kind) == ("file-not-recognised", None)
    assert f"a {kind.removesuffix('.gz').replace('rar', 'RAR')} archive" in finding.message
    assert "zip archive" in finding.message
