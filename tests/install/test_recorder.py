"""The small wheel for agents: it records without the engine."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from builders import a_run
from environments import Environment, environment
from test_installing import PIP

from scripts.ledger_wheel import build
from untaken.ledger import read_ledger

MEGABYTE = 1_000_000
RECORDS = """
from untaken_ledger import LedgerWriter, verify_ledger
with LedgerWriter("desk.jsonl") as ledger, ledger.start(run_id="r1", agent="desk", task_id="t1") as run:
    run.choose("look", ["look", "leap"], {"order": "named"})
    run.tool_call("search", {"order": 17})
    run.finish(success=True)
print(len(verify_ledger("desk.jsonl")))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build(folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def agent(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The environment of an agent that installed nothing but the recorder."""
    return environment(tmp_path_factory.mktemp("agent") / "venv", wheel, installer=PIP)


def test_what_it_records_is_what_the_engine_reads(agent: Environment, tmp_path: Path) -> None:
    done = agent.python(RECORDS, cwd=tmp_path)
    assert done.stdout == "1\n", done.stderr
    (run,) = read_ledger(tmp_path / "desk.jsonl")
    assert (run.run_id, run.integrity.verdict, len(run.selections)) == ("r1", "INTACT", 1)


def test_it_takes_ten_megabytes_at_most_with_all_that_it_needs(agent: Environment) -> None:
    names = {path.name for path in agent.library.iterdir()}
    assert {"untaken_ledger", "msgspec", "filelock"} <= names
    assert not {"untaken", "numpy", "zstandard", "opentelemetry"} & names
    files = [file for one in agent.library.iterdir() for file in one.resolve().rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 10 * MEGABYTE


def test_what_needs_an_extra_names_it(agent: Environment, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.zst").write_bytes(zstandard.compress(a_run("r").finish().ledger()))
    for program, hint in (
        ("import untaken_ledger as u; u.read_ledger('a.jsonl.zst')", "pip install zstandard"),
        (
            "from untaken_ledger.span_files import SpanFileExporter; SpanFileExporter('runs')",
            "pip install 'untaken-ledger[otel]'",
        ),
    ):
        assert hint in agent.python(program, cwd=tmp_path).stderr
