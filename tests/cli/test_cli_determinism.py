"""The same runs give the same bytes: in any process, under any hash seed, in any order of files."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import desk
import pytest
from histories import lines_of

from untaken.ledger import heads_path

VERBS = {
    "score": "score {ledgers} --graphs graphs --runs --json",
    "rank": "rank {ledgers} --graphs graphs --resamples 50 --json",
    "compare": "compare {ledgers} --graphs graphs --json",
    "gate": "gate {ledgers} --graphs graphs --require completion>=0.5 --resamples 50 --json",
    "report": "report {ledgers} --graphs graphs --html report.html --json",
    "full report": "report {ledgers} --graphs graphs --html full.html --full --json",
    "memory": "memory build {ledgers} -o m.memory.jsonl --json",
    "counterfactual": "counterfactual {ledgers} --json",
    "counterfactual with a memory": "counterfactual {ledgers} --memory m.memory.jsonl --json",
    "counterfactual, appended": "counterfactual {ledgers} --memory m.memory.jsonl --append --json",
    "signals": "memory queue m.memory.jsonl {ledgers} --json",
    "preview of signals": "memory preview m.memory.jsonl --json",
    "signals applied": "memory apply m.memory.jsonl --all --at 2027-01-01T00:00:00Z --json",
}
EACH_IN_TURN = """
import sys
from pathlib import Path
from untaken.cli import main
for n, command in enumerate(sys.argv[1:]):
    sys.stdout = open(f"{n}.json", "w", encoding="utf-8")
    main(command.split())
    sys.stdout.close()
"""


def ledgers() -> dict[str, bytes]:
    """One a run, day after day; two runs interleaved in one file, and a broken one among them."""
    runs = {builder.run_id: lines_of(builder, day) for day, builder in enumerate(desk.builders())}
    first, second = (runs.pop(run_id) for run_id in list(runs)[:2])
    files = {f"{run_id}.jsonl": b"".join(lines) for run_id, lines in runs.items()}
    files["both.jsonl"] = b"".join(line for pair in zip(first, second, strict=True) for line in pair)
    broken = desk.careful(77).ledger().splitlines(keepends=True)
    return files | {"broken.jsonl": b"".join(broken[:2] + broken[3:])}


def put(folder: Path, order: random.Random) -> list[str]:
    """Writes the world into a folder, file after file in the given order, and names the ledgers in it."""
    (folder / "graphs").mkdir(parents=True)
    (folder / "graphs" / "desk.plan.yaml").write_bytes(desk.GRAPH)
    files = list(ledgers().items())
    order.shuffle(files)
    for name, content in files:
        (folder / name).write_bytes(content)
    return [name for name, _ in files]


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Every verb done in two processes, each in a folder of its own."""
    folders = []
    for seed in (1, 2):
        folder = tmp_path_factory.mktemp("world") / "here"
        names = " ".join(put(folder, random.Random(seed)))
        command = [sys.executable, "-W", "error", "-c", EACH_IN_TURN]
        command += [verb.format(ledgers=names) for verb in VERBS.values()]
        known = os.environ | {"PYTHONHASHSEED": str(seed)}
        subprocess.run(command, cwd=folder, env=known, check=True, capture_output=True)
        folders.append(folder)
    return folders[0], folders[1]


@pytest.mark.parametrize("number", range(len(VERBS)), ids=VERBS)
def test_a_document_is_the_same_in_any_process_and_order_of_files(number, twice) -> None:
    first, second = ((folder / f"{number}.json").read_bytes() for folder in twice)
    assert len(first) > 500
    assert first == second


@pytest.mark.parametrize("name", ["m.memory.jsonl", "m.signals.jsonl", *ledgers()])
def test_a_file_that_is_written_is_the_same_in_any_process_and_order_of_files(name, twice) -> None:
    first, second = ((folder / name).read_bytes() for folder in twice)
    assert first == second
    if name not in ("m.memory.jsonl", "m.signals.jsonl", "broken.jsonl", "stray.jsonl"):
        assert first.count(b"EVALUATION_SUMMARY") == (2 if name == "both.jsonl" else 1)
        assert heads_path(twice[0] / name).read_bytes() == heads_path(twice[1] / name).read_bytes()
