"""A command that could not run says so with exit code 2, a code and a next step: each verb, each trouble.

Exit code 1 says that a check failed; a pipeline must not mistake a full disk for that.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from errno import EIO, ENOSPC, EROFS
from pathlib import Path
from typing import Any

import desk
import filelock
import pytest
from test_disk_trouble import mounted

from untaken.cli import appending, main, parser
from untaken.counterfactual.memory import PolicyMemory
from untaken.judging.criteria import ledger_criteria, save_criteria
from untaken.ledger import read_ledger
from untaken.simulator.crafter.names import ACHIEVEMENTS
from untaken.workspace import Workspace, database
from untaken.workspace.schema import DATABASE

MODEL = "--model http://127.0.0.1:1/v1#gone --replies {replies}"
NAMES = {
    "ledger": "a.jsonl",
    "graph": "desk.plan.yaml",
    "memory": "a.memory.jsonl",
    "trace": "trace.json",
    "mapping": "own.mapping.yaml",
    "issues": "issues.yaml",
    "odds": "odds.csv",
    "criteria": "desk.criteria.json",
    "scores": "scores.json",
    "backup": "backup.zip",
    "workspace": "workspace",
    "out": "out",
    "replies": "replies",
}
COUNTS = {"length": [2], "xs": [2]}
SCORES = [{"method": "mine", "seed": 0, **COUNTS, **{f"achievement_{name}": [1] for name in ACHIEVEMENTS}}]
LINES = {
    "app": "{out}/workspace",
    "formats": "",
    "convert": ("{trace} -o {out}/converted", "{trace} --mapping {mapping} -o {out}/mapped"),
    "mapping check": "{mapping} {trace}",
    "mapping draft": "{trace} -o {out}/draft.mapping.yaml",
    "verify": "{ledger}",
    "score": "{ledger} --graphs {graph}",
    "rank": "{ledger} --graphs {graph}",
    "triage": "{ledger} --graphs {graph} --memory {memory}",
    "causes": "{ledger} --graphs {graph}",
    "compare": "{ledger} --graphs {graph}",
    "gate": "{ledger} --graphs {graph} --require completion>=0.1 --issues {issues}",
    "report": "{ledger} --graphs {graph} --html {out}/report.html",
    "export": (
        "{ledger} --graphs {graph} --to csv -o {out}/results.csv",
        "{ledger} --to otel -o {out}/results.jsonl",
        "{ledger} --to xes -o {out}/results.xes",
        "{ledger} --to langfuse -o {out}/scores.jsonl",
        "{ledger} --to atif -o {out}/atif",
        "{ledger} --to parquet -o {out}/results.parquet",
        "{ledger} --to csv --decisions {out}/decisions.parquet",
        "{ledger} --graphs {graph} --to csv --statements {out}/statements.parquet",
    ),
    "judge": f"{{ledger}} --graphs {{graph}} {MODEL} --offline --append",
    "agree": "{ledger} --a human:* --b judge:* --odds {odds}",
    "review": (
        "--workspace {workspace}",
        "--workspace {workspace} --runs careful-1 --set explained --by ann",
    ),
    "modes list": "--workspace {workspace}",
    "modes pivot": ("--workspace {workspace}", "{ledger} --graphs {graph}"),
    "modes import": "mast --workspace {workspace} --by ann",
    "modes rename": "loops Loops --workspace {workspace} --by ann",
    "modes merge": "loops --into step-repeated --workspace {workspace} --by ann",
    "modes split": "loops --into Long Short --workspace {workspace} --by ann",
    "modes retire": "loops --workspace {workspace} --by ann",
    "modes restore": "loops --workspace {workspace} --by ann",
    "modes agree": ("--workspace {workspace}", "{ledger} --graphs {graph}"),
    "modes assign": "--workspace {workspace} --run careful-1 --note odd --by ann",
    "modes notes": "--workspace {workspace}",
    "modes suggest": f"--workspace {{workspace}} {MODEL} --offline",
    "issues": (
        "--workspace {workspace}",
        "{ledger} --file {issues}",
        "{ledger} --file {out}/issues.yaml --add a --mode loops --by ann",
    ),
    "memory build": "{ledger} -o {out}/agents.memory.jsonl",
    "memory show": "{memory}",
    "memory queue": "{memory} {ledger}",
    "memory preview": "{memory}",
    "memory apply": "{memory}",
    "memory verify": "{memory} {ledger}",
    "counterfactual": ("{ledger} --graphs {graph} --memory {memory}", "{ledger} --append"),
    "criteria propose": f"{{ledger}} --task refunds {MODEL} --offline",
    "criteria quantify": (
        "{ledger} --graphs {graph} --criteria {criteria}",
        f"{{ledger}} --criteria {{criteria}} {MODEL} --offline",
    ),
    "criteria verify": "{ledger} --graphs {graph} --criteria {criteria}",
    "crafter run": "--policy random --episodes 1 --steps 2 -o {out}/episodes",
    "crafter win": f"--policy language --steps 2 {MODEL} --offline",
    "crafter score": "{scores}",
    "graph check": "{graph} --against {ledger}",
    "graph diff": "{graph} {graph}",
    "graph draw": (
        "{graph} -o {out}/desk.svg",
        "{graph} -o {out}/desk.svg --run {ledger} --run-id careful-1",
    ),
    "graph audit": "{graph} --against {ledger}",
    "graph discover": "{ledger} -o {out}/draft.plan.yaml",
    "graph export": "{graph} --to mermaid -o {out}/desk.mmd",
    "workspace backup": "{out}/backup.zip --workspace {workspace}",
    "workspace restore": "{backup} --to {out}/restored",
    "workspace doctor": "--workspace {workspace} --rebuild {out}/rebuilt",
    "mcp": "--skill",
    "schema": "",
}
"""Every verb, with the ways in which it reads and writes."""


def leaves(grammar: argparse.ArgumentParser, *path: str) -> Iterator[str]:
    groups = [action for action in grammar._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield " ".join(path)
    for group in groups:
        for name, verb in group.choices.items():
            yield from leaves(verb, *path, name)


def test_the_table_has_every_verb() -> None:
    assert set(LINES) == set(leaves(parser()))


Making = Callable[[Path, pytest.MonkeyPatch], Any]


def missing(place: Path, _: pytest.MonkeyPatch) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()


def unreadable(place: Path, _: pytest.MonkeyPatch) -> None:
    """A file that can be opened and not read, even by the superuser."""
    place.unlink()
    place.symlink_to("/proc/self/mem")


def damaged(place: Path, _: pytest.MonkeyPatch) -> None:
    place.write_bytes(b"\x00\xff{]" * 40)


def locked(place: Path, monkeypatch: pytest.MonkeyPatch) -> AbstractContextManager[Any]:
    monkeypatch.setattr(appending, "LOCK_SECONDS", 0.05)
    return filelock.FileLock(place.with_name(f".{place.name}.lock"))


def locked_database(place: Path, monkeypatch: pytest.MonkeyPatch) -> AbstractContextManager[Any]:
    monkeypatch.setattr(database.open_engine, "__kwdefaults__", {"busy_seconds": 0.05, "read_only": False})
    held = sqlite3.connect(place / DATABASE, isolation_level=None)
    held.execute("PRAGMA journal_mode=DELETE")
    held.execute("BEGIN EXCLUSIVE")
    return closing(held)


def damaged_database(place: Path, _: pytest.MonkeyPatch) -> None:
    file = place / DATABASE
    file.write_bytes(file.read_bytes()[:100] + b"\xff" * 20_000)


def unreachable(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("UNTAKEN_STORE", "postgresql+psycopg://ann:secret@127.0.0.1:1/untaken")


def refusing(code: int) -> Making:
    def make(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def make_rooms(*_: object, **__: object) -> None:
            raise OSError(code, os.strerror(code), "x")

        monkeypatch.setattr("untaken.workspace.workspace.make_rooms", make_rooms)

    return make


def a_file(place: Path, _: pytest.MonkeyPatch) -> None:
    place.rmdir()
    place.touch()


def full(_: Path, __: pytest.MonkeyPatch) -> AbstractContextManager[Any]:
    """No file of this process may grow, which is what a full disk does."""
    resource = pytest.importorskip("resource")
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    left = ExitStack()
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    left.callback(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
    return left


def read_only(place: Path, _: pytest.MonkeyPatch) -> AbstractContextManager[Any]:
    return mounted(place, "-t", "tmpfs", "-o", "ro,size=4k", "tmpfs")


FILES = {"missing": missing, "unreadable": unreadable}
RECORDS = {**FILES, "damaged": damaged}
"""A damaged ledger is a check that says no, and so is an invalid graph: exit code 1 where others are left."""
TROUBLES: dict[str, dict[str, Making]] = {
    "ledger": FILES,
    "graph": RECORDS,
    "memory": RECORDS,
    "trace": RECORDS,
    "mapping": RECORDS,
    "issues": RECORDS,
    "odds": RECORDS,
    "criteria": RECORDS,
    "scores": RECORDS,
    "backup": RECORDS,
    "ledger --append": {"full": full, "locked": locked},
    "workspace": {
        "missing": missing,
        "damaged": damaged_database,
        "locked": locked_database,
        "unreachable": unreachable,
        "full": refusing(ENOSPC),
        "read-only": refusing(EROFS),
        "failing": refusing(EIO),
    },
    "out": {"full": full, "read-only": read_only, "no folder": a_file},
    "replies": {"unanswered": lambda *_: None},
}


CHECKS = {("graph check", "graph", "damaged"), ("workspace doctor", "workspace", "damaged")}
CHECKS |= {("workspace doctor", "workspace", "locked")}
"""What these verbs are asked about: exit code 1."""


def cases() -> Iterator[Any]:
    for verb, lines in LINES.items():
        for number, line in enumerate([lines] if isinstance(lines, str) else lines):
            for kind, troubles in TROUBLES.items():
                words = [word if word.startswith("-") else f"{{{word}}}" for word in kind.split()]
                for trouble in troubles:
                    if all(word in line for word in words) and (verb, kind, trouble) not in CHECKS:
                        name = f"{verb} {number}, {kind} {trouble}"
                        yield pytest.param(f"{verb} {line}", kind, trouble, id=name)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of everything that a command line names."""
    folder = tmp_path_factory.mktemp("places")
    made = {name: folder / file for name, file in NAMES.items()}
    made["graph"].write_bytes(desk.GRAPH)
    made["ledger"].write_bytes(desk.careful(1).ledger() + desk.failing(2).ledger())
    made["trace"].write_text(json.dumps({"messages": [{"role": "user", "content": "Hello"}]}))
    made["mapping"].write_text("format: own\nrun: {agent: \"'a'\"}\nitems:\n  - {message: 'messages[]'}\n")
    made["odds"].write_text("run_id,sub_goal,odds\ncareful-1,polite,0.5\n")
    made["scores"].write_text(json.dumps(SCORES))
    save_criteria(ledger_criteria(), made["criteria"])
    PolicyMemory.build(read_ledger(made["ledger"])).save(made["memory"])
    with Workspace(made["workspace"]) as workspace:
        workspace.add("desk.plan.yaml", made["graph"])
        workspace.add("a.jsonl", made["ledger"])
        workspace.backup(made["backup"])
    add = f"issues {made['ledger']} --file {made['issues']} --add a --mode loops --by ann"
    note = f"modes assign --workspace {made['workspace']} --run careful-1 --note odd --event 1 --by ann"
    mast = f"modes import mast --workspace {made['workspace']} --by ann"
    assert [main(words.split()) for words in (add, note, mast)] == [0, 0, 0]
    (folder / "out").mkdir()
    return folder


@pytest.mark.parametrize(("line", "kind", "trouble"), [*cases()])
def test_what_could_not_run_exits_with_2_a_code_and_a_next_step(
    line: str,
    kind: str,
    trouble: str,
    places: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if line.startswith("app") and trouble == "full":
        pytest.skip("its server makes the workspace, and its pages say what is wrong")
    folder = tmp_path / "there"
    folder.mkdir()
    for name, file in NAMES.items():
        if f"{{{name}}}" in line:
            for place in places.glob(f"{file}*"):
                (shutil.copytree if place.is_dir() else shutil.copy2)(place, folder / place.name)
    named = {name: folder / file for name, file in NAMES.items()}
    with ExitStack() as stack:
        if held := TROUBLES[kind][trouble](named[kind.split(maxsplit=1)[0]], monkeypatch):
            stack.enter_context(held)
        code = main(line.format(**named).split())
    said = capsys.readouterr().err
    assert code == 2, said
    assert re.search(r"^error: .*\[[a-z0-9-]+\]\n  → .", said, re.M), said
    assert "secret" not in said
