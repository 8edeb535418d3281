"""Overview and Annotate say where the runs speak against a plan graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from sessions import session

from untaken.workspace import Workspace

GRAPH = b"""
id: refund
tasks: [task]
sub_goals:
  - {id: order, check: {tool_call: {name: serch_orders}}}
"""


@pytest.mark.parametrize("page", ["overview", "annotate"])
def test_a_misspelled_tool_is_reported_before_anybody_is_blamed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(tmp_path) as store:
        store.add("refund.plan.yaml", GRAPH)
        runs = [a_run(f"r{n}").call("search_orders").finish().ledger() for n in range(5)]
        store.add("runs.jsonl", b"".join(runs))
    app = session(tmp_path, monkeypatch, page)
    shown = [text.value for text in app.text if "serch_orders" in text.value]
    assert len(shown) == 1
    assert shown[0].endswith("Did you mean 'search_orders'?")
