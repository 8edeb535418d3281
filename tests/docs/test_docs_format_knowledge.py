"""The table of what each format can know: a dash is never contradicted, and recorded files show the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import foreign_files as made
import pytest
from doc_pages import names, page, rows

from untaken.formats import formats
from untaken.ledger import Observation, Plan, Run

RECORDED = Path(__file__).parents[1] / "formats" / "recorded"
FACTS: dict[str, Callable[[Run], bool]] = {
    "success": lambda run: run.finished is not None and run.finished.success is not None,
    "cost": lambda run: run.finished is not None and run.finished.cost is not None,
    "tokens": lambda run: run.finished is not None and any("token" in n for n in run.finished.metrics or {}),
    "failed calls": lambda run: any(answer.ok is False for answer in run.of(Observation)),
    "plans": lambda run: bool(run.of(Plan)),
    "sub-goals": lambda run: run.started.graph is not None,
}
TABLE = {names(cells[0])[0]: cells[1:] for cells in rows(page("docs/formats.md"), "trace")}
BUILT: dict[str, dict[str, Any]] = {
    "devai": {
        "judgment/Crew/human_as_a_judge/01_Boat.json": made.devai_human(True, False, True),
        "instances/01_Boat.json": made.devai_sheet(),
    },
    "tau-bench": {"gpt-9-airline.json": [made.tau_record()]},
    "tau2-bench": {"r.json": made.tau2_document()},
    "who-and-when": {"A/1.json": made.generated_record(), "H/2.json": made.hand_crafted_record()},
    "agenteval": {"number_theory/7.json": made.maths_record()},
}
FILES = [
    ("pydantic-ai", "pydantic_ai.json"),
    ("smolagents", "smolagents.json"),
    ("openai-agents", "openai_agents_chat.jsonl"),
    ("langsmith", "langsmith.json"),
    ("mlflow", "mlflow.json"),
    ("openai-messages", "langgraph_state.json"),
]


def known(runs: list[Run]) -> set[str]:
    return {fact for fact, holds in FACTS.items() if any(map(holds, runs))}


def can(format: str) -> set[str]:
    return {fact for fact, cell in zip(FACTS, TABLE[format], strict=True) if cell == "yes"}


def test_every_format_has_its_row_and_every_cell_a_word() -> None:
    assert sorted(TABLE) == sorted(info.name for info in formats() if info.name != "native")
    assert {cell for cells in TABLE.values() for cell in cells} == {"yes", "–"}


@pytest.mark.parametrize("format", BUILT)
def test_no_file_of_a_benchmark_says_what_its_format_cannot_know(tmp_path: Path, format: str) -> None:
    for name, content in BUILT[format].items():
        made.put(tmp_path / "in" / name, content)
    _, runs = made.converted(format, tmp_path / "out", tmp_path / "in")
    assert known(runs) <= can(format)


@pytest.mark.parametrize(("format", "name"), FILES)
def test_recorded_files_say_the_tokens_and_failures_that_their_format_can_know(
    tmp_path: Path, format: str, name: str
) -> None:
    _, runs = made.converted(format, tmp_path / "out", RECORDED / name)
    assert {"tokens", "failed calls"} <= known(runs) <= can(format)
