"""The Data page: removed and broken runs, many files, uploads under way, a format of your own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import desk
import msgspec
import pytest
from builders import a_run
from sessions import filled, go_to, metrics, said, session, table

from components.data import files
from components.shared import arriving
from untaken.ledger import Draft, Verdict, heads_path, save_heads
from untaken.workspace import Workspace
from untaken.workspace.adding_many import KeptTrace
from untaken.workspace.intake import take_in

Patch = pytest.MonkeyPatch


def test_a_damaged_database_is_said_in_words_on_every_page(folder: Path, monkeypatch: Patch) -> None:
    database = folder / "untaken.sqlite3"
    database.write_bytes(database.read_bytes()[:8192] + b"\xff" * 60_000)
    for page in ("overview", "data", "review"):
        app = session(folder, monkeypatch, page)
        assert any("database is damaged" in error.value and "doctor" in error.value for error in app.error)


def test_imported_events_count_once_somebody_confirms_them(tmp_path: Path, monkeypatch: Patch) -> None:
    run = desk.careful(1)
    with Workspace(tmp_path / "w") as store:
        store.add("a.jsonl", run.ledger())
        run.verdict("intent", True, by="human:boss")
        heads = msgspec.json.encode({run.run_id: run.head})
        store.add("b.jsonl", run.ledger(), heads=heads)
    app = session(tmp_path / "w", monkeypatch, "data")
    assert "human:boss" in said(app)
    key = next(button.key for button in app.button if (button.key or "").startswith("confirm-"))
    assert app.button(key=key).disabled
    app.text_input(key="confirm_author").set_value("ann").run()
    app.button(key=key).click().run()
    with Workspace(tmp_path / "w") as store:
        assert store.heads()[run.run_id] == run.head
        (line,) = [entry for entry in store.audit_log() if entry.code == "run-extended"]
        assert line.message.startswith("ann confirmed 1 VERDICT signed human:boss")


def test_the_loss_of_a_trace_that_is_converted_again_is_there_at_once(folder, monkeypatch) -> None:
    with Workspace(folder) as store:
        for loss in ("one message left out", "two messages left out"):
            store.keep_traces([KeptTrace(name="t.json", data=b"[]", kind="tau-bench", loss=(loss,))])
            app = session(folder, monkeypatch, "data")
            app.segmented_control(key="files_group").set_value("other").run()
            files = next(table.value for table in app.dataframe if "added_at" in table.value)
            assert loss in set(files["loss"])


@pytest.fixture
def many(tmp_path: Path, monkeypatch: Patch) -> Path:
    """A workspace of five files, more than a table shows."""
    monkeypatch.setattr(files, "ROWS", 2)
    return filled(tmp_path, *map(a_run, ("one", "two", "Three", "four", "five")))


def names(app: Any) -> list[str]:
    """Of the files that are shown."""
    return next(list(shown.value["name"]) for shown in app.dataframe if "bytes" in shown.value)


def test_of_many_files_a_part_is_shown_at_a_time_and_each_is_found_by_name(many, monkeypatch) -> None:
    app = session(many, monkeypatch, "data")
    assert "5 files · 5 runs" in said(app)
    assert names(app) == ["one.jsonl", "two.jsonl"]
    assert "Files 1 to 2 of 5 files" in said(app)
    app.session_state["files"] = {"selection": {"cells": [[0, "name"]]}}
    app.number_input(key="files_part").set_value(3).run()
    assert "Choose a row to remove its file." in said(app)  # a chosen row is no row of another part
    assert names(app) == ["five.jsonl"]
    assert "Files 5 to 5 of 5 files" in said(app)
    for words, found in (("THREE", ["Three.jsonl"]), ("%", [])):
        app.text_input(key="files_named").set_value(words).run()
        assert names(app) == found
    assert "Files 0 to 0 of 0 files" in said(app)


ADDED = "Files are being added"


def test_ledgers_count_when_all_of_an_upload_is_in_and_verdicts_and_plans_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(folder) as store:
        first, *others = store.read_runs()[0]
        before = 1 + len(others)
        with arriving.upload(store):
            store.add("more.jsonl", desk.lucky(70).ledger())
            seen = said(session(folder, monkeypatch, "data"))
            assert f"2 files · {before} runs" in seen
            assert ADDED in seen
            store.add("other.plan.yaml", desk.GRAPH.replace(b"id: desk", b"id: other"))
            verdict = Draft(Verdict, {"sub_goal": "polite", "passed": False, "by": "human:zoe"})
            store.append_events(first, [verdict])
            app = session(folder, monkeypatch, "data")
            assert f"3 files · {before} runs" in said(app)
            assert "human:zoe" in app.sidebar.multiselect[0].options
        seen = said(session(folder, monkeypatch, "data"))
        assert f"4 files · {before + 1} runs" in seen
        assert ADDED not in seen


def test_of_two_uploads_the_first_to_end_counts_then(tmp_path: Path) -> None:
    with Workspace(tmp_path) as store:
        with arriving.upload(store):
            store.add("slow.jsonl", desk.lucky(1).ledger())
            with arriving.upload(store):
                store.add("quick.jsonl", desk.lucky(2).ledger())
                assert store.ledgers(arriving.position(store)) == []
            store.add("slow-too.jsonl", desk.lucky(3).ledger())
            counted = [file.name for file in store.ledgers(arriving.position(store))]
            assert counted == ["slow.jsonl", "quick.jsonl"]
        assert arriving.position(store) is None


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
    (draft,) = [area for area in app.text_area if area.label == "Mapping file"]
    assert 'each: "steps[]"' in draft.value
    assert "1 record in the file, 1 run made of it" in said(app)
    draft.set_value("format: our-bot\nrun: {}\nitems: {}\n").run()
    assert "a list of rules is expected (line 3)" in said(app).replace("\\", "")
    draft.set_value(MAPPING).run()
    assert "agent in 1 · task in 1 · outcome in 1" in said(app)
    app.button(key="mapping-save").click().run()
    assert "Saved as our-bot.mapping.yaml" in said(app)
    with Workspace(tmp_path / "w") as store:
        (row,) = take_in(store, [("more.json", json.dumps([{**RUN, "ticket": "T2"}]).encode())])
    assert (row.kind, row.runs) == ("our-bot", 1)
    app.run()
    app.button(key="mapping-remove-our-bot.mapping.yaml").click().run()
    with Workspace(tmp_path / "w") as store:
        (row,) = take_in(store, [("again.json", json.dumps([{**RUN, "ticket": "T3"}]).encode())])
    assert row.kind is None


def test_a_mapping_file_that_is_damaged_is_named_and_stops_no_upload(tmp_path, monkeypatch) -> None:
    with Workspace(tmp_path / "w") as store:
        (store.path / "mappings").mkdir()
        (store.path / "mappings" / "bad.mapping.yaml").write_text("format: [")
        (store.path / "mappings" / "good.mapping.yaml").write_text(MAPPING)
        (row,) = take_in(store, [("more.json", json.dumps([RUN]).encode())])
        assert row.runs == 1
    assert "bad.mapping.yaml · not valid YAML" in said(session(tmp_path / "w", monkeypatch, "data"))


def broken_folder(folder: Path) -> Path:
    """Sound runs, one altered in the middle, and one of which not even the start can be read."""
    folder.mkdir()
    sound, altered, unread = desk.careful(1), desk.careful(2), desk.careful(3)
    both = sound.ledger() + altered.ledger().replace(b'"search"', b'"sealed"', 1)
    (folder / "a.jsonl").write_bytes(both)
    save_heads(heads_path(folder / "a.jsonl"), {run.run_id: run.head for run in (sound, altered)})
    (folder / "b.jsonl").write_bytes(unread.ledger().replace(b'"agent":"careful"', b'"agent":""', 1))
    (folder / "desk.plan.yaml").write_bytes(desk.GRAPH)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every ledger below the folder, and every heads file."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.jsonl*")) if path.is_file()}


def logged(workspace: Path) -> list[tuple[str, str | None]]:
    """Code and run of each line of the audit log."""
    with Workspace(workspace) as store:
        return [(entry.code, entry.run) for entry in store.audit_log()]


def test_every_broken_run_is_listed_on_the_data_page_and_logged_once(tmp_path, monkeypatch) -> None:
    source, at = broken_folder(tmp_path / "source"), tmp_path / "workspace"
    Workspace.open_folder(source, at=at).close()
    before = contents(tmp_path)
    for _ in range(2):
        app = session(at, monkeypatch, "data")
        assert "2 broken runs" in said(app)
        assert "UNREADABLE · careful\\-3 · " in said(app)
        assert "2 broken ledgers, excluded" in said(go_to(app, "overview"))
        assert metrics(app)["Success, mean over tasks"] == "100%"
        assert logged(at) == [("DTL-STRAT-006", "careful-2"), ("DTL-STRAT-006", "careful-3")]
    app = go_to(app, "run")
    picker = app.selectbox(key="run_picker")
    picker.select_index(next(n for n, name in enumerate(picker.options) if "careful-2" in name)).run()
    assert "ALTERED" in app.error[0].value
    assert "DTL-STRAT-006" in app.error[0].value
    assert contents(tmp_path) == before


def test_where_every_run_is_broken_a_page_says_so_and_leads_to_the_data(tmp_path, monkeypatch) -> None:
    with Workspace.open_folder(tmp_path) as store:
        store.add("a.jsonl", desk.careful(2).ledger().replace(b'"search"', b'"sealed"', 1))
    app = session(tmp_path, monkeypatch)
    for page in ("overview", "rankings", "criteria"):
        words = [warning.value for warning in go_to(app, page).warning]
        assert words == ["Every run here is broken, so nothing can be counted."]
        assert "See what is broken" in [link.proto.label for link in app.get("page_link")]


def test_agents_of_broken_runs_alone_are_not_said_to_be_comparable(folder: Path, monkeypatch: Patch) -> None:
    app = session(folder, monkeypatch, "data")
    stranger = a_run("s-1", agent="stranger", task="elsewhere").call("search", ok=True).finish(False)
    broken = stranger.ledger().replace(b'"search"', b'"sealed"', 1)
    app.file_uploader[0].set_value(("s.jsonl", broken, "application/jsonl")).run()
    next(button for button in app.button if button.label == "Add 1 file").click().run()
    assert "1 broken run" in said(app)
    (compared,) = [line for line in said(app).splitlines() if line.startswith("Can be compared: ")]
    assert "stray" in compared
    assert "stranger" not in compared


def test_the_button_that_adds_files_stays_itself_while_more_files_arrive(tmp_path, monkeypatch) -> None:
    """Else a click at that moment is lost: Streamlit takes it for the click of a button that is gone."""
    app = session(tmp_path, monkeypatch, "data")
    names = {app.button(key="upload_add").proto.id}
    for chosen in (
        [("a.jsonl", b"", "text/plain")],
        [(n, b"", "text/plain") for n in ("a.jsonl", "b.jsonl")],
    ):
        app.file_uploader[0].set_value(chosen).run()
        names.add(app.button(key="upload_add").proto.id)
    assert app.button(key="upload_add").label == "Add 2 files"
    assert len(names) == 1


def test_files_of_one_group_have_no_column_that_its_name_says(folder: Path, monkeypatch: Patch) -> None:
    app = session(folder, monkeypatch, "data")
    for group, columns in {"ledger": {"name", "runs"}, "graph": {"name"}}.items():
        app.segmented_control(key="files_group").set_value(group).run()
        assert set(table(app, "Files").columns) & {"name", "kind", "runs"} == columns
