"""``untaken criteria``: what is printed, what the documents hold, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import desk
import pytest

from untaken.cli import main
from untaken.judging.criteria import ledger_criteria, save_criteria

CLARITY = [{"name": "Clarity", "accepted_values": ["bad", "fair", "good"]}]


def replies(folder: Path, name: str, values: dict[str, str], *, successes: int = 6) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.criteria.json").write_text(json.dumps(CLARITY))
    said = {
        subject: {"actual_success": n < successes, "estimated_performance": json.dumps({"Clarity": value})}
        for n, (subject, value) in enumerate(values.items())
    }
    (folder / f"{name}.evaluated_problems.json").write_text(json.dumps(said))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = desk.write_folder(tmp_path_factory.mktemp("criteria"))
    good = {f"p{n}": "good" if n < 6 else "bad" for n in range(12)}
    for name in ("run1", "run2"):
        replies(folder / "replies", name, good)
    replies(folder / "worse", "run1", dict.fromkeys(good, "bad"))
    lines = desk.careful(1).ledger().splitlines(keepends=True)
    (folder / "broken").mkdir()
    (folder / "broken" / "altered.jsonl").write_bytes(b"".join([*lines[:2], *lines[3:]]))
    (folder / "bad.criteria.json").write_text("[1]")
    save_criteria(ledger_criteria(), folder / "mine.criteria.json")
    (folder / "empty").mkdir()
    return folder


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
