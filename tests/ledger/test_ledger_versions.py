"""RUN_STARTED says the version of the agent and of its prompt, in a field of its own or in the metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from untaken.ledger import LedgerWriter, read_ledger

STARTED: list[tuple[dict[str, Any], str | None, str | None]] = [
    ({}, None, None),
    ({"version": "1.2", "prompt_version": "p3"}, "1.2", "p3"),
    ({"version": 7, "prompt_version": 2.5}, "7", "2.5"),
    ({"metadata": {"version": "1.2", "prompt_version": 3}}, "1.2", "3"),
    ({"metadata": {"agent_version": "1.2"}}, "1.2", None),
    ({"version": "2", "metadata": {"version": "1", "prompt_version": "p"}}, "2", "p"),
    ({"version": "", "metadata": {"version": None, "agent_version": "1"}}, "1", None),
]


@pytest.mark.parametrize(("fields", "version", "prompt_version"), STARTED)
def test_a_run_keeps_its_versions_and_the_field_counts_before_the_metadata(
    tmp_path: Path, fields: dict[str, Any], version: str | None, prompt_version: str | None
) -> None:
    with LedgerWriter(tmp_path / "l.jsonl") as ledger:
        ledger.start(run_id="r", agent="a", task_id="t", **fields).finish(success=True)
    (run,) = read_ledger(tmp_path / "l.jsonl")
    assert (run.version, run.prompt_version) == (version, prompt_version)
