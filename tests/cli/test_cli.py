"""The command line: what is printed, and how it ends."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import desk
import jsonschema
import pytest

from untaken.cli import main
from untaken.cli.console import plain
from untaken.views import SCHEMAS, json_schema


def document(words: list[str], capsys: pytest.CaptureFixture[str], want: int) -> dict[str, Any]:
    """What a command prints under ``--json``."""
    assert main([*words, "--json"]) == want
    return dict(json.loads(capsys.readouterr().out))


def test_nothing_is_appended_where_one_ledger_is_compressed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain_one, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain_one.write_bytes(desk.careful(1).ledger())
    packed.write_bytes(gzip.compress(desk.careful(2).ledger()))
    before = plain_one.read_bytes()
    assert main(["counterfactual", str(tmp_path), "--append"]) == 2
    assert "ledger-compressed" in capsys.readouterr().err
    assert plain_one.read_bytes() == before


def test_nothing_is_appended_to_a_ledger_in_which_anything_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mixed, sound = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    altered = desk.careful(2).ledger().replace(b'"search"', b'"sealed"', 1)
    mixed.write_bytes(desk.careful(1).ledger() + altered)
    sound.write_bytes(desk.careful(3).ledger())
    before = mixed.read_bytes()
    found = document(["counterfactual", str(tmp_path), "--append"], capsys, 1)
    assert mixed.read_bytes() == before
    assert b"EVALUATION_SUMMARY" in sound.read_bytes()
    assert [f["file"] for f in found["findings"] if f["code"] == "insights-not-appended"] == [str(mixed)]


def nulls(value: Any, place: str = "") -> set[str]:
    """Places of a document with null but without a reason next to it."""
    if isinstance(value, list):
        return {found for item in value for found in nulls(item, f"{place}[]")}
    if not isinstance(value, dict):
        return set()
    bare = {f"{place}.{k}" for k, v in value.items() if v is None and f"{k}_reason" not in value}
    return bare | {found for key, item in value.items() for found in nulls(item, f"{place}.{key}")}


WITHOUT_FIGURES = [
    "score {w} --graphs {g} --runs",
    "rank {w} --graphs {g} --resamples 9",
    "counterfactual {w}",
]
TEXTS = {"model", "kind", "code", "direction", "file", "line", "run", "cost_unit", "as_of", "task_repeat"}


def test_every_figure_that_is_null_has_its_reason_beside_it(
    tmp_path: Path, world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = tmp_path / "a.jsonl"
    runs = [desk.a_run(f"{agent}{n}", agent=agent, task=f"refund-{n}") for agent in "ab" for n in (1, 2)]
    runs[0].select("x", "y").select("x", "y").finish(None, cost=None)
    runs[1].select("x", "y").select("x", "y").finish(True, cost=None, steps=0)
    runs[2].finish(True, cost=None)
    ledger.write_bytes(b"".join(run.ledger() for run in runs))
    for command in WITHOUT_FIGURES:
        answer = document(command.format(w=ledger, g=world / "graphs").split(), capsys, 0)
        assert {place.rsplit(".", 1)[1] for place in nulls(answer)} <= TEXTS, command
        jsonschema.validate(answer, json_schema(command.split()[0]))


def test_all_schemas_are_schemas() -> None:
    for name in SCHEMAS:
        jsonschema.Draft202012Validator.check_schema(json_schema(name))


def test_ledger_lines_fit_the_event_schema() -> None:
    schema = json_schema("event")
    for line in desk.careful(1).lines:
        jsonschema.validate(json.loads(line), schema)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\rb"),
        ("a\nb", "a\\nb"),
        ("a\u202eb", "a\\u202eb"),
        ("tab\t", "tab\\t"),
        ("τ-bench – ü 漢", "τ-bench – ü 漢"),
    ],
)
def test_untrusted_text_cannot_steer_the_terminal(text: str, want: str) -> None:
    assert plain(text) == want


def test_a_reader_that_leaves_is_no_fault(world: Path) -> None:
    words = [sys.executable, "-m", "untaken", "schema", "event"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.wait(), process.stderr.read()) == (0, b"")
    process.stderr.close()
