"""Many people at one workspace, each in a process: the chain is whole, and nobody meets a lock."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import a_run

from untaken.ledger import ReviewNote
from untaken.workspace import Workspace

WRITER = """
import sys
from untaken.ledger import Draft, ReviewNote
from untaken.workspace import Workspace
folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Workspace(folder) as workspace:
    for n in range(count):
        run = next(run for run in workspace.read_runs()[0] if run.run_id == "shared")
        workspace.append_events(run, [Draft(ReviewNote, {"author": name, "text": f"{name} {n}"})])
        print(n, flush=True)
"""
READER = """
import json, sys
from pathlib import Path
from untaken.ledger import ReviewNote
from untaken.workspace import Workspace
seen = []
with Workspace(sys.argv[1]) as workspace:
    while not Path(sys.argv[2]).exists():
        runs, findings = workspace.read_runs()
        assert not findings, findings
        assert {run.integrity.verdict for run in runs} == {"INTACT"}, runs
        seen.append(sum(len(run.of(ReviewNote)) for run in runs))
print(json.dumps(seen))
"""


def process(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_writers_and_four_readers_see_a_whole_chain_at_every_moment(tmp_path, request) -> None:
    count = 300 if request.config.getoption("--slow") else 10
    folder, done = tmp_path / "w", tmp_path / "done"
    with Workspace(folder) as workspace:
        workspace.add("shared.jsonl", a_run("shared").call("x").finish().ledger())
    writers = [process(WRITER, folder, name, count) for name in ("ann", "ben")]
    readers = [process(READER, folder, done) for _ in range(4)]
    said = [writer.communicate() for writer in writers]
    done.touch()
    read = [reader.communicate() for reader in readers]
    assert [(out.split()[-1:], err) for out, err in said] == [([str(count - 1)], "")] * 2
    assert [err for _, err in read] == [""] * 4
    for out, _ in read:
        seen = json.loads(out)
        assert seen == sorted(seen), "what was there once is there later"
    with Workspace(folder) as workspace:
        (run,), findings = workspace.read_runs()
        assert (run.integrity.verdict, findings) == ("INTACT", [])
        written = [note.text for note in run.of(ReviewNote)]
    assert sorted(written) == sorted(f"{name} {n}" for name in ("ann", "ben") for n in range(count))
    assert [text for text in written if text.startswith("ann")] == [f"ann {n}" for n in range(count)]


SAVER = """
import sys
from untaken.ledger import Draft, ReviewNote
from untaken.workspace import Workspace
GRAPH = b"{schema: untaken.plan/1, id: desk, title: v%d, sub_goals: [{id: a, check: {outcome: true}}]}"
with Workspace(sys.argv[1]) as workspace:
    (run,), _ = workspace.read_runs()
    notes, versions = len(run.of(ReviewNote)), len(workspace.graph_history("desk"))
    while True:
        workspace.append_events(run, [Draft(ReviewNote, {"author": "ann", "text": str(notes)})])
        notes += 1
        print(notes, versions, flush=True)
        saved = workspace.save_graph(GRAPH % versions, author="ann", message="", based_on=versions or None)
        versions += 1
        assert saved.version == versions, saved
        print(notes, versions, flush=True)
"""


def test_whenever_a_saving_process_is_killed_all_it_acknowledged_is_there_and_nothing_twice(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Kill after kill on one workspace, each process continuing what the one before it left behind."""
    folder, moment = tmp_path / "w", random.Random(20)
    with Workspace(folder) as workspace:
        workspace.add("r.jsonl", a_run("r").call("x").finish().ledger())
    for _ in range(200 if request.config.getoption("--slow") else 5):
        with process(SAVER, folder) as saver:
            assert saver.stdout
            said = saver.stdout.readline()
            time.sleep(moment.uniform(0, 0.1))
            saver.kill()
            said += saver.stdout.read()
        acknowledged = [int(number) for number in said.split("\n")[-2].split()]
        with Workspace(folder) as workspace:
            (run,), findings = workspace.read_runs()
            assert (run.integrity.verdict, findings) == ("INTACT", [])
            notes = [note.text for note in run.of(ReviewNote)]
            versions = sorted(one.version for one in workspace.graph_history("desk"))
        assert notes == [str(n) for n in range(len(notes))]
        assert versions == list(range(1, len(versions) + 1))
        unsaid = [len(kept) - number for kept, number in zip((notes, versions), acknowledged, strict=True)]
        assert unsaid in ([0, 0], [0, 1], [1, 0])
