"""The workspace on a real disk and a real database."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path
from typing import NamedTuple

import desk
import msgspec
import pytest
import zstandard
from builders import a_run

from untaken.errors import UntakenError
from untaken.ledger import heads_path, save_heads
from untaken.ledger.journal import Intent, encode_intent, journal_path
from untaken.workspace import Workspace, ledgers_and_graphs
from untaken.workspace.content import sniff, staged

LEDGER = a_run("r1").call("search").finish().ledger()
GRAPH = (
    b"schema: untaken.plan/1\nid: desk\ntasks: ['task']\nsub_goals:\n- {id: look, check: {outcome: true}}\n"
)
BROKEN_GRAPH = b"schema: untaken.plan/1\nid: desk\nsub_goals:\n- {id: a, deps: [b]}\n- {id: b, deps: [a]}\n"


class Input(NamedTuple):
    desc: str
    name: str
    data: bytes
    kind: str | None
    new: bool
    code: str | None = None


INPUTS = [
    Input("a ledger", "a.jsonl", LEDGER, "ledger", True),
    Input("a ledger by its content", "trace.txt", LEDGER, "ledger", True),
    Input("gzip", "a.jsonl.gz", gzip.compress(LEDGER), "ledger", True),
    Input("zstd", "a.jsonl.zst", zstandard.compress(LEDGER), "ledger", True),
    Input("a graph", "desk.plan.yaml", GRAPH, "graph", True),
    Input("Mermaid", "desk.mmd", b"flowchart TD\n  a --> b\n", "graph", True, "graph-no-check"),
    Input("a cycle", "desk.plan.yaml", BROKEN_GRAPH, "graph", False, "graph-cycle"),
    Input("no ledger at all", "a.jsonl", b"hello\n", None, False, "file-not-recognised"),
    Input("an empty ledger", "a.jsonl", b"", None, False, "file-not-recognised"),
    Input("damaged gzip", "a.jsonl.gz", gzip.compress(LEDGER)[:-20], "ledger", True, "ledger-malformed"),
    Input("a picture", "a.png", b"\x89PNG\r\n\x1a\n", None, False, "file-not-recognised"),
    Input("bad heads", "a.jsonl.heads.json", b"[1]", "heads", False, "ledger-heads"),
    Input("a hostile name", "../../etc/passwd", LEDGER, "ledger", True),
]


@pytest.mark.parametrize("case", INPUTS, ids=lambda c: c.desc)
def test_every_file_gets_an_answer(case: Input, tmp_path: Path) -> None:
    with Workspace(tmp_path / "w") as workspace:
        added = workspace.add(case.name, case.data)
        assert (added.kind, added.new) == (case.kind, case.new)
        assert case.code is None or case.code in {f.code for f in added.findings}
        assert [f.name for f in workspace.files()] == ([case.name] if case.new else [])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["w"]
    assert not list(tmp_path.rglob(".adding-*"))


def test_the_same_bytes_again_change_nothing(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    before = workspace.digest()
    again = workspace.add("another name.jsonl", LEDGER)
    assert (again.new, [i.verdict for i in again.integrity]) == (False, ["INTACT"])
    assert workspace.digest() == before
    assert len(workspace.read_runs()[0]) == 1


def test_of_a_graph_the_highest_version_and_of_one_version_the_last_is_used(workspace: Workspace) -> None:
    for title, version in (("first", 2), ("second", 2), ("old", 1)):
        workspace.add("desk.plan.yaml", GRAPH + f"version: {version}\ntitle: {title}\n".encode())
    assert [graph.title for graph in workspace.graph_set().graphs] == ["second"]
    assert len(workspace.graphs()) == 3


def test_a_plain_folder_becomes_a_workspace_and_stays_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.jsonl").write_bytes(LEDGER)
    head = a_run("r1").call("search").finish().head
    (folder / "deep" / "a.jsonl.heads.json").write_bytes(msgspec.json.encode({"r1": head}))
    (folder / "desk.plan.yaml").write_bytes(GRAPH)
    (folder / "notes.txt").write_text("not for us")
    (folder / "p.memory.jsonl").write_text("{}\n")
    told: list[tuple[int, int, str]] = []
    with Workspace.open_folder(folder, at=tmp_path / "w", progress=lambda *a: told.append(a)) as workspace:
        assert told == [(1, 2, "deep/a.jsonl"), (2, 2, "desk.plan.yaml")]
        assert [run.integrity.verdict for run in workspace.read_runs()[0]] == ["INTACT"]
    want = ["deep", "desk.plan.yaml", "notes.txt", "p.memory.jsonl"]
    assert sorted(p.name for p in folder.iterdir()) == want
    with Workspace.open_folder(tmp_path / "w") as again:
        assert len(again.files()) == 2


def test_several_folders_become_one_workspace_and_a_file_that_is_none_stops_nobody(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    for number in range(3):
        (one / f"{number}.jsonl").write_bytes(a_run(f"r{number}").call("search").finish().ledger())
    (one / "broken.plan.yaml").write_text("schema: untaken.plan/1\nsub_goals: [{id: a, deps: [b]}]\n")
    (two / "desk.plan.yaml").write_bytes(GRAPH)
    (two / "0.jsonl").write_bytes((one / "0.jsonl").read_bytes())
    told: list[tuple[int, int, str]] = []
    with Workspace.open_folder(one, two, at=tmp_path / "w", progress=lambda *a: told.append(a)) as workspace:
        want = [*("0.jsonl", "1.jsonl", "2.jsonl", "broken.plan.yaml"), *("0.jsonl", "desk.plan.yaml")]
        assert [name for *_, name in told] == want
        assert sorted(run.run_id for run in workspace.read_runs()[0]) == ["r0", "r1", "r2"]
        assert len(workspace.graphs()) == 1


def test_a_plan_graph_that_has_not_changed_is_parsed_once(workspace: Workspace) -> None:
    workspace.add("desk.plan.yaml", desk.GRAPH)
    (graph,) = workspace.graph_set().graphs
    assert workspace.graph_set().graphs[0] is graph
    changed = desk.GRAPH.replace(b"Be polite", b"Be kind")
    workspace.save_graph(changed, author="ann", message="-", based_on=1)
    (now,) = workspace.graph_set().graphs
    assert (now.version, now.sub_goals[-1].title) == (2, "Be kind")


def test_a_stored_graph_that_was_damaged_is_a_finding_until_it_is_added_again(workspace: Workspace) -> None:
    workspace.add("desk.plan.yaml", GRAPH)
    workspace.add("other.plan.yaml", GRAPH.replace(b"id: desk", b"id: other"))
    (stored, _) = workspace.graphs()
    for damage in (b"nonsense: [", GRAPH.replace(b"look", b"lock"), None):
        stored.path.write_bytes(damage) if damage else stored.path.unlink()
        found = workspace.graph_set()
        assert [graph.id for graph in found.graphs] == ["other"]
        assert [(f.code, f.where.file) for f in found.findings] == [
            ("stored-graph-damaged", "desk.plan.yaml")
        ]
        workspace.add("desk.plan.yaml", GRAPH)
        assert {graph.id for graph in workspace.graph_set().graphs} == {"desk", "other"}


def test_a_stored_ledger_that_is_gone_is_a_finding_until_it_is_added_again(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER)
    (stored,) = workspace.ledgers()
    stored.path.unlink()
    runs, findings = workspace.read_runs()
    assert (runs, [f.code for f in findings]) == ([], ["ledger-not-found"])
    workspace.add("a.jsonl", LEDGER)
    assert [run.integrity.verdict for run in workspace.read_runs()[0]] == ["INTACT"]


CAUGHT = [("announced, not started", 0.0), ("half written", 0.5), ("written, head not moved", 1.0)]


@pytest.mark.parametrize(("desc", "written"), CAUGHT, ids=[case[0] for case in CAUGHT])
def test_a_ledger_caught_in_the_middle_of_an_append_is_intact(desc, written, tmp_path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    path = folder / "a.jsonl"
    before, after = a_run("r1").call("search"), a_run("r1").call("search").call("pay")
    path.write_bytes(before.ledger())
    save_heads(heads_path(path), {"r1": before.head})
    line = after.ledger()[len(before.ledger()) :]
    intent = Intent(run_id="r1", end=after.head, offset=len(before.ledger()), size=len(line))
    journal_path(path).write_bytes(encode_intent(intent))
    with path.open("ab") as ledger:
        ledger.write(line[: int(len(line) * written)])
    there = {p.name: p.read_bytes() for p in folder.iterdir()}
    with Workspace.open_folder(folder, at=tmp_path / "w") as workspace:
        (run,), findings = workspace.read_runs()
    assert (run.integrity.verdict, findings) == ("INTACT", [])
    assert len(run.events) == len((after if written == 1 else before).lines)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == there


def test_a_ledger_with_a_damaged_journal_is_not_added_and_the_audit_log_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_bytes(a_run(name).finish().ledger())
    journal_path(folder / "a.jsonl").write_bytes(b"00000000 {}\n")
    with Workspace.open_folder(folder, at=tmp_path / "w") as workspace:
        assert [file.name for file in workspace.files()] == ["b.jsonl"]
        assert [entry.code for entry in workspace.audit_log()] == ["ledger-journal"]


def test_a_folder_with_nothing_to_add_is_opened_as_a_workspace(tmp_path: Path) -> None:
    with Workspace.open_folder(tmp_path / "new") as workspace:
        workspace.add("a.jsonl", LEDGER)
    with Workspace.open_folder(tmp_path / "new") as again:
        assert (again.path, len(again.files())) == (tmp_path / "new", 1)


def test_hidden_folders_are_not_searched(tmp_path: Path) -> None:
    (tmp_path / ".untaken" / "ledgers").mkdir(parents=True)
    (tmp_path / ".untaken" / "ledgers" / "a.jsonl").write_bytes(LEDGER)
    assert ledgers_and_graphs(tmp_path) == []


def test_the_audit_log_says_a_thing_once(workspace: Workspace) -> None:
    for run in ("r1", "r1", "r2", None):
        workspace.audit("DTL-STRAT-006", "evaluation aborted", run)
    want = [("DTL-STRAT-006", "r1"), ("DTL-STRAT-006", "r2"), ("DTL-STRAT-006", None)]
    assert [(e.code, e.run) for e in workspace.audit_log()] == want


def test_findings_of_one_file_are_bounded(workspace: Workspace) -> None:
    workspace.add("a.jsonl", LEDGER + b"nonsense\n" * 2000)
    kept = workspace.files()[0].findings
    assert len(kept) == 500
    assert kept[-1].code == "more-findings"


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_copy_is_whole_or_not_there(tmp_path: Path, in_memory: bool) -> None:
    source, folder = tmp_path / "source", tmp_path / "workspace"
    source.write_bytes(LEDGER)
    folder.mkdir()
    with pytest.raises(FileNotFoundError), staged(LEDGER if in_memory else source, folder) as copy:
        copy.keep(folder / "missing" / "copy")
    assert list(folder.iterdir()) == []
    with staged(LEDGER if in_memory else source, folder) as copy:
        copy.keep(folder / "copy")
    assert [path.read_bytes() for path in folder.iterdir()] == [LEDGER]


@pytest.mark.database("sqlite")
def test_a_folder_that_is_no_database_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "untaken.sqlite3").write_bytes(b"this is not a database, whatever its name says" * 100)
    with pytest.raises(UntakenError, match="workspace-damaged"):
        Workspace(tmp_path)


@pytest.mark.database("sqlite")
def test_writes_are_durable_and_do_not_block_readers(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        workspace.add("a.jsonl", LEDGER)
        connection = sqlite3.connect(tmp_path / "untaken.sqlite3")
        try:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        finally:
            connection.close()


PROGRAM = """
import sys
from builders import a_run
from untaken.workspace import Workspace
folder, who = sys.argv[1:]
with Workspace(folder) as workspace:
    for i in range(15):
        workspace.add(f"{who}{i}.jsonl", a_run(f"{who}{i}").call("search").finish().ledger())
        workspace.add(f"shared{i}.jsonl", a_run(f"shared{i}").call("search").finish().ledger())
"""


def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path, in_two_processes) -> None:
    in_two_processes(PROGRAM)
    with Workspace(tmp_path / "w") as workspace:
        runs, findings = workspace.read_runs()
        assert (len(workspace.files()), len(runs), findings) == (45, 45, [])
        assert {run.integrity.verdict for run in runs} == {"INTACT"}
        assert len(workspace.heads()) == 45


@pytest.mark.parametrize(
    ("name", "head", "want"),
    [
        ("x.json", b'{"schema": "untaken.plan/1"}', "graph"),
        ("x.yaml", b"title: x\nsub_goals: []\n", "graph"),
        ("x.yaml", b"title: x\n", None),
        ("x.json", b'[{"task_id": 1}]', None),
        ("x.jsonl", b'{"task_id": 1}\n', None),
        ("x.txt", b'\0\xff\n{"type":"MESSAGE","run_id":"r","seq":1,', "ledger"),
        ("x.jsonl", b'{"type":"RUN_STARTED","run_id":"r"}\n', "ledger"),
        ("x.memory.jsonl", b'{"key":"outcome/r1/0","kind":"outcome"}\n', None),
        ("x.signals.jsonl", b'{"key":"weak/r1/0/negative/a","run_id":"r1"}\n', None),
        ("x", b"\xff\xfe", None),
        ("x", b"[" * 100_000, None),
    ],
)
def test_content_decides_before_the_name(name: str, head: bytes, want: str | None) -> None:
    assert sniff(name, head) == want


def test_a_file_that_is_no_ledger_is_named_in_the_audit_log_when_its_folder_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "notes.jsonl").write_text('{"hello": "world"}\n')
    for _ in range(2):  # once for the same words
        with Workspace.open_folder(folder) as workspace:
            assert workspace.files() == []
            (line,) = workspace.audit_log()
            assert (line.code, "notes.jsonl was not added" in line.message) == ("file-not-recognised", True)
