"""``untaken criteria``: what is printed, what the documents hold, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from untaken.cli import main

CLARITY = [{"name": "Clarity", "accepted_values": ["bad", "fair", "good"]}]


def document(world: Path, words: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, Any]:
    assert main(["criteria", *words.format(w=world).split(), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_replies_of_a_model_are_read_offline(
    world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")
    (tmp_path / "c.criteria.json").write_text(json.dumps(CLARITY))
    words = f"quantify {{w}}/ledgers --criteria {tmp_path}/c.criteria.json --model openai:gpt-4.1 --offline"
    told = document(world, f"{words} --replies {tmp_path}/store --seeds 2", capsys, code=2)
    assert [one["seed"] for one in told["quantifier_runs"]] == [0, 1]
    assert all(len(one["unparseable"]) == one["problems"] for one in told["quantifier_runs"])
