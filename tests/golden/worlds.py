"""The worlds that stored sessions run in: folders with ledgers, plan graphs, memories and workspaces."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import desk
from builders import RunBuilder, a_graph, a_run
from foreign_files import tau_record
from histories import lines_of
from workspaces import JUDGED

from components.shared.demo import SAMPLES
from untaken.analysis.failure_modes import FailureMode, Taxonomy, save_taxonomy
from untaken.counterfactual.memory import PolicyMemory, queue_path
from untaken.judging.criteria import ledger_criteria, save_criteria
from untaken.ledger import ModeAssignment, ReviewNote
from untaken.plans import save_graph
from untaken.workspace import Workspace


def write(path: Path, runs: Iterable[RunBuilder]) -> None:
    """One ledger with several runs."""
    path.write_bytes(b"".join(run.ledger() for run in runs))


def samples(folder: Path) -> None:
    """What comes with the program, without Crafter."""
    unwanted = shutil.ignore_patterns("*.py", "__pycache__", "crafter")
    shutil.copytree(SAMPLES, folder, ignore=unwanted, dirs_exist_ok=True)


def refunds(folder: Path) -> None:
    """The desk with a memory, and one of each thing that can be wrong."""
    desk.write_folder(folder)
    PolicyMemory.build(desk.runs()[:-1]).save(folder / "m.memory.jsonl")
    lines = desk.careful(77).ledger().splitlines(keepends=True)
    (folder / "altered.jsonl").write_bytes(b"".join([*lines[:2], *lines[3:]]))
    (folder / "bad.memory.jsonl").write_text("nonsense\n")
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe")
    write(folder / "unanchored.jsonl", [desk.careful(5)])
    (folder / "damaged").mkdir()
    for n, name in enumerate(("bad.jsonl", "good.jsonl")):
        write(folder / "damaged" / name, [desk.careful(n)])
    (folder / "damaged" / "bad.jsonl.heads.json").write_text("{not JSON")
    nameless = desk.careful(2).ledger().replace(b'"agent":"careful"', b'"agent":""', 1)
    (folder / "nameless.jsonl").write_bytes(desk.careful(1).ledger() + nameless)
    seen = a_run("seen", task="refund-1").call("read_policy").verdict("policy", True, by="human:ann")
    write(folder / "seen.jsonl", [seen.finish(True)])
    hostile = "\x1b]0;owned\x07\u202e"
    write(folder / "hostile.jsonl", [a_run(hostile, agent=hostile, task=hostile).call(hostile).finish()])


def plans(folder: Path) -> None:
    """The desk, its next version, one that names no tool rightly, and some that are no plans."""
    desk.write_folder(folder)
    newer = desk.GRAPH.replace(b"title: Refund desk", b"title: Refund desk\nversion: 2")
    newer = newer.replace(b"- id: refund", b"- id: pay").replace(b"  critical: true\n", b"")
    texts = {
        "new": newer.decode(),
        "other/o": "id: o\ntasks: [other]\nsub_goals: [{id: a}]\n",
        "bad": "id: g\nsub_goals: [{id: a, deps: [b]}, {id: b, deps: [a]}, {id: c, deps: [b, z]}, {id: c}]\n",
        "itself": "id: g\nsub_goals: [{id: a, deps: [a]}]\n",
        "empty": "id: g\nsub_goals: []\nmetadata: {nothing_expected: true}\n",
        "misspelled": "id: refund\ntasks: [task]\nsub_goals:\n"
        "  - {id: order, critical: true, check: {tool_call: {name: serch_orders}}}\n",
    }
    (folder / "other").mkdir()
    for name, text in texts.items():
        (folder / f"{name}.plan.yaml").write_text(text)
    write(folder / "searching.jsonl", [a_run(f"r{n}").call("search_orders").finish() for n in range(5)])
    (folder / "graphs" / "a.jsonl.heads.json").write_text("{}")
    (folder / "graphs" / "loss.json").write_text('{"schema": "untaken.loss/1", "conversions": []}')


def learning(folder: Path) -> None:
    """The desk's runs, day after day: later ones have something to learn from."""
    (folder / "ledgers").mkdir()
    for day, builder in enumerate(desk.builders()):
        (folder / "ledgers" / f"{builder.run_id}.jsonl").write_bytes(b"".join(lines_of(builder, day)))
    lines = desk.careful(1).ledger().splitlines(keepends=True)
    (folder / "broken.jsonl").write_bytes(b"".join([*lines[:2], *lines[3:]]))
    PolicyMemory().save(folder / "bad.memory.jsonl")
    queue_path(folder / "bad.memory.jsonl").write_text("nonsense\n")


def criteria(folder: Path) -> None:
    """The desk, and replies that a model gave on twelve problems in two runs, one of them disturbed."""
    desk.write_folder(folder)
    good = {f"p{n}": "good" if n < 6 else "bad" for n in range(12)}
    for name, values in (
        ("replies/run1", good),
        ("replies/run2", good),
        ("worse/run1", dict.fromkeys(good, "bad")),
    ):
        said = {
            problem: {"actual_success": n < 6, "estimated_performance": json.dumps({"Clarity": value})}
            for n, (problem, value) in enumerate(values.items())
        }
        (folder / name).parent.mkdir(exist_ok=True)
        scale = [{"name": "Clarity", "accepted_values": ["bad", "fair", "good"]}]
        (folder / f"{name}.criteria.json").write_text(json.dumps(scale))
        (folder / f"{name}.evaluated_problems.json").write_text(json.dumps(said))
    (folder / "bad.criteria.json").write_text("[1]")
    save_criteria(ledger_criteria(), folder / "mine.criteria.json")
    (folder / "empty").mkdir()


def modes(folder: Path) -> None:
    """A workspace of three failed runs."""
    with Workspace(folder / "w") as store:
        for i in range(3):
            store.add(f"{i}.jsonl", a_run(f"r{i}").call("look").finish(success=False).ledger())


def pivot(folder: Path) -> None:
    """Runs with and without an outcome that have modes."""
    for name, success in (("failed", False), ("good", True), ("unknown", None)):
        run = a_run(name).call("look").finish(success=success)
        run.add(ModeAssignment, mode="loop" if success is not None else "rare", by="human:ann")
        write(folder / f"{name}.jsonl", [run])
    (folder / "only").mkdir()
    noted = a_run("r0").call("look").finish(False).add(ReviewNote, author="human:ann", text="nothing new")
    good = a_run("good").call("look").finish(True).add(ModeAssignment, mode="paid-twice", by="human:ann")
    write(folder / "only" / "runs.jsonl", [noted, good])


def issues(folder: Path) -> None:
    """Two tasks, each with a failed run that has a mode and a successful one with a note; one unread."""
    graph = b"""schema: untaken.plan/1
id: desk
tasks: ['t*']
sub_goals:
- {id: look, title: Look it up, check: {tool_call: {name: look, match: subset, arguments: {}}}}
"""
    (folder / "ledgers").mkdir()
    (folder / "desk.plan.yaml").write_bytes(graph)
    with Workspace(folder / "w") as store:
        store.add("desk.plan.yaml", graph)
        circles = Taxonomy(modes=[FailureMode(id="loop", name="Runs in circles")])
        save_taxonomy(circles, store.path / "failure_modes.yaml")
        for n in range(5):
            run = a_run(f"r{n}", task=f"t{n // 2}").call("look", ok=n % 2 == 0).finish(n % 2 == 1)
            if n in (0, 2):
                run.add(ModeAssignment, mode="loop", by="human:ann")
            elif n < 4:
                run.add(ReviewNote, author="human:ann", text="fine")
            store.add(f"{n}.jsonl", run.ledger())
            write(folder / "ledgers" / f"{n}.jsonl", [run])


def review(folder: Path) -> None:
    """A workspace with verdicts of two people."""
    with Workspace(folder / "w") as store:
        store.add("desk.plan.yaml", JUDGED)
        for i in range(4):
            run = a_run(f"r{i}", agent=f"a{i % 2}", task=f"t{i // 2}", metadata={"shift": "night", "n": i})
            run.call("look").finish(success=i == 3).verdict("look", True, "human:ann", reason="seen")
            run.verdict("pay", i == 3, "human:ann").verdict("pay", i > 1, "human:bob", reason="paid twice")
            store.add(f"{i}.jsonl", run.ledger())


def unplanned(folder: Path) -> None:
    """Two agents in four tasks, three runs each; one records no cost, and nobody records a plan."""
    made = []
    for agent, cheap in (("quick", 0.1), ("slow", 0.4)):
        for task in range(4):
            for trial in range(3):
                cost = None if (task, trial) == (0, 0) else cheap + 0.01 * trial
                run = a_run(f"{agent}-{task}-{trial}", agent=agent, task=f"t{task}")
                tokens = {"total_tokens": 100 * (trial + 1)}
                made.append(run.finish(trial > 0, cost=cost, steps=5 + task, metrics=tokens))
    write(folder / "runs.jsonl", made)
    pairs = [a_run(f"r{i}", agent=f"a{i % 2}", task=f"t{i // 2}").call("look").finish() for i in range(8)]
    write(folder / "equal.jsonl", pairs)
    save_graph(a_graph("look"), folder / "look.plan.yaml")


def weights(folder: Path) -> None:
    """Six runs in which the cheap skill fails and the dear one succeeds, twice: once with settings."""
    lines = []
    for n in range(6):
        dear = bool(n % 2)
        one, other = ("dear", "cheap") if dear else ("cheap", "dear")
        run = a_run(f"r{n}").select(one, other).select(one, other, context="later")
        lines += lines_of(run.finish(dear, cost=2.0 if dear else 1.0, steps=4), n)
    for name in ("usual", "success"):
        with Workspace(folder / name) as store:
            store.add("runs.jsonl", b"".join(lines))
    (folder / "success" / "untaken.yaml").write_text("weights: [1, 0, 0]\n")


def foreign(folder: Path) -> None:
    """Files that are no ledgers, or not wholly."""
    tau = json.dumps([tau_record()]).encode()
    contents = {
        "tau.jsonl": tau,
        "tau.json": tau,
        "unknown.jsonl": b'{"id": 1, "b": 2, "c": 3, "d": 4}\n{"id": 2}',
        "latin.jsonl": b'{"name": "caf\xe9"}\n',
        "g.plan.yaml": b"schema: untaken.plan/1\nid: g\n",
        "score.json": b'{"schema": "untaken.score/1"}',
        "x.jsonl.heads.json": b"{}",
        "picture.jsonl": b"\x89PNG\r\n\x1a\n\0",
        "t.jsonl.bz2": b"BZh91AY&SY\0",
        "notes.txt": b"hello\n",
        "nothing.jsonl": b"",
        "result.json": b'{"type": "result", "subtype": "success", "session_id": "s", '
        b'"num_turns": 2, "result": ""}',
        "named.json": b'{"data": [{"id": "t", "observations": ["o1"]}], "meta": {}}',
        "logs.json": b'{"resourceLogs": []}',
        "half.json": b'{"a": [1, 2',
        "page.json": b"<html>502 Bad Gateway",
        "half.zip": b"PK\x03\x04\x14\0",
        "cut/a.json": tau[:-20],
        "cut/b.json": tau[:-21],
        "beside/a.jsonl": desk.careful(5).ledger(),
        "beside/b.jsonl": tau,
        "none/a.json": tau,
        "none/b.txt": b"hello",
        "none/c.txt": b"hello",
        "none/d.txt": b"hello",
        "text/notes.txt": b"hello",
        "headed/a.jsonl": b"garbage\n",
        "headed/a.jsonl.heads.json": json.dumps({"r": {"events": 2, "sha256": "0" * 64}}).encode(),
        "destroyed.jsonl": b"\n".join([b"\xff\0", *desk.careful(5).ledger().split(b"\n")[1:]]),
    }
    for name, content in contents.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b" " * (4 << 20))


MODULES = ("worlds", "workspaces")


def make(world: str, folder: Path) -> None:
    """Make the world of this name in the folder."""
    module = next(found for name in MODULES if hasattr(found := import_module(name), world))
    getattr(module, world)(folder)
