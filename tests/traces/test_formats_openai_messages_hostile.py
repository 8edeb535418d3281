"""Bare message lists that hold anything, or ask for much."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put
from hypothesis import given
from hypothesis import strategies as st

from untaken import limits
from untaken.ledger import Run, SkillSelection, ToolCall
from untaken.traces import Conversion, sniff

GO = {"role": "user", "content": "Go."}


def read(tmp_path: Path, content: Any) -> tuple[Conversion, list[Run]]:
    return converted("openai-messages", tmp_path / "out", put(tmp_path / "in" / "chat.json", content))


def test_a_short_file_that_calls_thousands_of_tools_fills_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DECISIONS_CHARS", 2_000)
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": f"tool{n:02}", "arguments": "{}"}}
        for n in range(60)
    ]
    done, (run,) = read(tmp_path, [GO, {"role": "assistant", "content": None, "tool_calls": calls}])
    assert len(run.of(ToolCall)) == 60
    listed = sum(len(name) for each in run.of(SkillSelection) for name in each.alternatives)
    assert 0 < listed <= 2_000
    assert codes(done)["decisions-left-out"] == 1


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = (
    "content",
    "tool_calls",
    "function_call",
    "type",
    "data",
    "output",
    "status",
    "usage",
    "timestamp",
    "error",
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, values)), values)
def test_any_content_of_a_message_is_survived(
    tmp_path_factory: pytest.TempPathFactory, odd: dict[str, Any], around: Any
) -> None:
    document = {
        "messages": [GO, {"role": "assistant", **odd}, odd, around],
        "model": around,
        "response": around,
    }
    _, runs = read(tmp_path_factory.mktemp("chat"), document)
    assert len(runs) == 1
    sniff("x.json", json.dumps([odd, around]).encode())
