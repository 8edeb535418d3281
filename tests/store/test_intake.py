"""Adding uploaded files."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import desk
import msgspec
import pytest
from foreign_files import devai_human, devai_sheet, hand_crafted_record, tau_record

from untaken.analysis.failure_modes.root_causes import root_causes
from untaken.workspace import KeptTrace, Workspace, batches, syncing
from untaken.workspace.intake import take_in

pytestmark = pytest.mark.database("sqlite")  # what it keeps are files


def tau(trials: int = 2) -> bytes:
    """A tau-bench result with so many trials of one task."""
    return json.dumps([tau_record(trial=n) for n in range(trials)]).encode()


def archive(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return buffer.getvalue()


def test_every_kind_of_file_is_taken_in_at_once_and_a_bad_one_stops_nothing(workspace: Workspace) -> None:
    good = desk.careful(1)
    brought = [
        ("runs.jsonl", good.ledger()),
        ("runs.jsonl.heads.json", msgspec.json.encode({good.run_id: good.head})),
        ("desk.plan.yaml", desk.GRAPH),
        ("flow.mmd", b"flowchart TD\n a --> b\n"),
        ("gpt-4o-airline.json", tau()),
        ("broken.plan.yaml", b"id: [\n"),
        ("photo.png", b"\x89PNG\r\n"),
        ("empty.json", b""),
    ]
    rows = take_in(workspace, brought)
    assert [(row.name, row.kind, row.new, row.runs) for row in rows] == [
        ("runs.jsonl", "ledger", True, 1),
        ("runs.jsonl.heads.json", "heads", True, 0),
        ("desk.plan.yaml", "graph", True, 0),
        ("flow.mmd", "graph", True, 0),
        ("gpt-4o-airline.json", "tau-bench", True, 2),
        ("broken.plan.yaml", "graph", False, 0),
        ("photo.png", None, False, 0),
        ("empty.json", None, False, 0),
    ]
    assert [i.verdict for i in rows[0].integrity] == ["INTACT"]
    assert all(row.findings for row in rows[5:])
    runs, findings = workspace.read_runs()
    assert (len(runs), findings) == (3, [])
    assert {run.integrity.verdict for run in runs} == {"INTACT"}


def test_a_converted_trace_tells_what_was_lost(workspace: Workspace) -> None:
    (row,) = take_in(workspace, [("gpt-4o-airline.json", tau())])
    assert row.loss.name == "gpt-4o-airline.json"
    assert {f.where.file for f in row.findings} <= {"gpt-4o-airline.json", None}
    (kept,) = workspace.sources("tau-bench")
    assert (kept.name, kept.loss) == ("gpt-4o-airline.json", row.loss.lines())


def test_a_longer_record_of_the_same_runs_takes_the_place_of_the_shorter(workspace: Workspace) -> None:
    take_in(workspace, [("gpt-4o-airline.json", tau(1))])
    take_in(workspace, [("gpt-4o-airline.json", tau(3))])
    assert len(workspace.read_runs()[0]) == 3


def test_an_archive_is_opened_and_its_names_never_become_paths(workspace: Workspace, tmp_path: Path) -> None:
    packed = archive(
        {
            "../../evil.jsonl": desk.careful(1).ledger(),
            "/abs/gpt-4o-airline.json": tau(),
            "deep/../../x.plan.yaml": desk.GRAPH,
            "C:\\temp\\notes.txt": b"hello",
        }
    )
    rows = take_in(workspace, [("upload.zip", packed)])
    assert [(row.name, row.kind) for row in rows] == [
        ("upload.zip", "archive"),
        ("upload.zip/../../evil.jsonl", "ledger"),
        ("upload.zip//abs/gpt-4o-airline.json", "tau-bench"),
        ("upload.zip/deep/../../x.plan.yaml", "graph"),
        (rows[4].name, None),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["w"]


REFUSED = [
    ("bomb.zip", archive({"zeros.json": b"\0" * 50_000_000}), "archive-member-refused"),
    ("cut.zip", archive({"a.jsonl": desk.careful(1).ledger()})[:60], "archive-refused"),
]


@pytest.mark.parametrize(("name", "data", "code"), REFUSED, ids=["a bomb", "a damaged one"])
def test_a_hostile_archive_is_refused_in_words(workspace, name, data, code) -> None:
    (row,) = take_in(workspace, [(name, data)])
    assert (row.kind, row.new, [finding.code for finding in row.findings]) == ("archive", False, [code])


def test_verdicts_that_come_later_join_those_that_came_before(workspace: Workspace) -> None:
    take_in(
        workspace, [("judgment/Ann/human_as_a_judge/01_Boat.json", json.dumps(devai_human(True)).encode())]
    )
    take_in(
        workspace, [("judgment/Ann/agent_as_a_judge/01_Boat.json", json.dumps(devai_sheet(False)).encode())]
    )
    (run,) = workspace.read_runs()[0]
    judges = {event.by for event in run.events if hasattr(event, "by")}
    assert run.agent == "Ann"
    assert judges == {"human:consensus", "judge:agent_as_a_judge"}


def test_a_second_persons_labels_join_the_runs_that_came_before(workspace: Workspace) -> None:
    failure = {"failure_id": 1, "step_number": 8, "failed_agent": "WebSurfer"}
    label = {"trajectory_id": "q-1", "failures": [failure], "root_cause": {"failure_id": 1}}
    take_in(workspace, [("7.json", json.dumps(hand_crafted_record()).encode())])
    take_in(workspace, [("second.json", json.dumps([label]).encode())])
    (run,) = workspace.read_runs()[0]
    assert {*root_causes(run)} == {"human:who-and-when", "human:agentrx"}


def test_files_of_equal_bytes_are_distinguished_by_their_folders(workspace: Workspace) -> None:
    sheet = json.dumps(devai_sheet(True)).encode()
    take_in(
        workspace, [(f"judgment/{agent}/agent_as_a_judge/01_Boat.json", sheet) for agent in ("Ann", "Bob")]
    )
    assert {run.agent for run in workspace.read_runs()[0]} == {"Ann", "Bob"}


def test_the_agent_can_be_named_where_the_trace_does_not(workspace: Workspace) -> None:
    take_in(workspace, [("results.json", tau())], agent="my agent")
    assert {run.agent for run in workspace.read_runs()[0]} == {"my agent"}


def test_taking_in_can_be_cancelled(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_FILES", 1)

    class Cancelled(Exception):
        pass

    def cancel(done: int, total: int, name: str) -> None:
        if done:
            raise Cancelled

    with pytest.raises(Cancelled):
        take_in(
            workspace,
            [("a.jsonl", desk.careful(1).ledger()), ("b.jsonl", desk.lucky(1).ledger())],
            progress=cancel,
        )
    assert len(workspace.files()) == 1


def test_progress_names_each_file_before_the_work_on_it_and_counts_it_once_it_is_kept(workspace) -> None:
    told: list[tuple[int, int, str]] = []
    take_in(
        workspace, [("a.jsonl", desk.careful(1).ledger()), ("x", b"?")], progress=lambda *a: told.append(a)
    )
    sorting, adding = told[:2], told[2:]
    assert sorting == [(0, 0, "a.jsonl"), (0, 0, "x")]
    assert adding == [(0, 2, "a.jsonl"), (0, 2, "x"), (1, 2, "a.jsonl"), (2, 2, "x")]


def test_traces_that_are_kept_together_are_synced_together(tmp_path, monkeypatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(syncing, "sync_folder", synced.append)
    traces = [KeptTrace(name=f"{n}.json", data=str(n).encode(), kind="tau-bench") for n in range(5)]
    with Workspace(tmp_path) as workspace:
        assert workspace.keep_traces(traces) == [True] * 5
    assert synced == [tmp_path / "sources"]
