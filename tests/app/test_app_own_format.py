"""A format of your own, on the Data page: drafted from a sample, corrected, saved, and read from then on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sessions import said, session

from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

RUN = {
    "bot": {"name": "helper"}, "ticket": "T1", "passed": True,
    "steps": [
        {"kind": "say", "words": "<b>Where?</b>"},
        {"kind": "call", "tool": "look", "args": {"id": 1}, "result": "here"}],
}  # fmt: skip
MAPPING = """format: our-bot
recognise:
  - {sure: certain, names: [bot, ticket, steps]}
run: {agent: bot.name, task: ticket, success: passed}
items:
  - each: "steps[]"
    choose:
      - when: {kind: call}
        items:
          - {call: {tool: tool, arguments: args}}
          - {answer: {content: result}}
      - {say: {role: "'user'", content: words}}
"""


def test_a_sample_is_drafted_corrected_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = session(tmp_path / "w", monkeypatch, "data")
    sample = ("runs.json", json.dumps([RUN]).encode(), "application/json")
    app.file_uploader(key="mapping-sample").set_value(sample).run()
    assert not app.exception
    (draft,) = [area for area in app.text_area if area.label == "Mapping file"]
    assert 'each: "steps[]"' in draft.value
    assert "1 record in the file, 1 run made of it" in said(app)
    draft.set_value("format: our-bot\nrun: {}\nitems: {}\n").run()
    assert "a list of rules is expected (line 3)" in said(app).replace("\\", "")
    draft.set_value(MAPPING).run()
    assert "agent in 1 · task in 1 · outcome in 1" in said(app)
    app.button(key="mapping-save").click().run()
    assert "Saved as our-bot.mapping.yaml" in said(app)
    assert not app.exception
    with Workspace(tmp_path / "w") as store:
        (row,) = take_in(store, [("more.json", json.dumps([{**RUN, "ticket": "T2"}]).encode())])
    assert (row.kind, row.runs) == ("our-bot", 1)
    app.run()
    app.button(key="mapping-remove-our-bot.mapping.yaml").click().run()
    with Workspace(tmp_path / "w") as store:
        (row,) = take_in(store, [("again.json", json.dumps([{**RUN, "ticket": "T3"}]).encode())])
    assert row.kind is None


def test_a_mapping_file_that_is_damaged_is_named_and_stops_no_upload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(tmp_path / "w") as store:
        (store.path / "mappings").mkdir()
        (store.path / "mappings" / "bad.mapping.yaml").write_text("format: [")
        (store.path / "mappings" / "good.mapping.yaml").write_text(MAPPING)
        (row,) = take_in(store, [("more.json", json.dumps([RUN]).encode())])
        assert row.runs == 1
    assert "bad.mapping.yaml · not valid YAML" in said(session(tmp_path / "w", monkeypatch, "data"))
