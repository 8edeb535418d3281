"""Open coding by keyboard: a note on what is selected, a mode by search, a suggested one with one key."""

from __future__ import annotations

import pytest
from builders import a_run, run_of
from conftest import answered, press, sign
from playwright.sync_api import expect

from untaken.analysis.failure_modes import (
    assignment_draft,
    change_taxonomy,
    counted,
    create_mode,
    note_draft,
    notes_of,
)
from untaken.workspace import Workspace

BOB = "human:bob"


def test_a_note_is_written_and_modes_are_assigned_without_a_mouse(tmp_path, serve, open_page) -> None:
    with Workspace(tmp_path / "w") as store:
        for i in range(2):
            store.add(f"{i}.jsonl", a_run(f"r{i}", task=f"t{i}").call("look").finish(success=False).ledger())
        for name in ("Paid twice", "Lost the thread"):
            change_taxonomy(store.path, lambda known, name=name: create_mode(known, name, by=BOB)[0])
        filed = run_of(store, "r0")
        store.append_events(
            filed,
            [note_draft("the order was paid twice", author=BOB), assignment_draft("paid-twice", by=BOB)],
        )
        page = open_page(f"{serve(str(store.path))}/run?run={run_of(store, 'r1').digest}")
        sign(page, "ann")
        note = page.get_by_role("textbox", name="Note", exact=True)
        press(page, "n")
        expect(note).to_be_focused()
        with answered(page):  # a pause in typing sends it
            page.keyboard.type("no, it paid twice for the order")
        expect(page.get_by_text("Suggested: similar to the note")).to_be_visible()
        with answered(page):
            page.keyboard.press("Control+Enter")
        expect(note).to_have_value("")
        expect(note).not_to_be_focused()
        with answered(page):
            page.keyboard.press("a")
        expect(page.get_by_role("button", name="Withdraw", exact=True)).to_have_count(1)
        press(page, "m")
        page.keyboard.type("thread")
        with answered(page):
            page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Withdraw", exact=True)).to_have_count(2)
        press(page, "m")
        page.keyboard.type("Never asked")
        with answered(page):
            page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Withdraw", exact=True)).to_have_count(3)
        run = run_of(store, "r1")
        assert [one.text for one in notes_of(run)] == ["no, it paid twice for the order"]
        assert [one.mode for one in counted(run)] == ["paid-twice", "lost-the-thread", "never-asked"]
        press(page, "Escape")
        for left in (["paid-twice", "lost-the-thread"], ["paid-twice"], []):
            with answered(page):
                page.keyboard.press("u")
            assert [one.mode for one in counted(run_of(store, "r1"))] == left
        press(page, "u")
        assert notes_of(run_of(store, "r1")) == ()


@pytest.mark.slow
def test_a_note_survives_a_reload_without_its_field_being_left(tmp_path, serve, open_page) -> None:
    with Workspace(tmp_path / "w") as store:
        store.add("0.jsonl", a_run("r0").call("look").finish(success=False).ledger())
        page = open_page(f"{serve(str(store.path))}/run")
        sign(page, "ann")
        note = page.get_by_role("textbox", name="Note", exact=True)
        note.focus()
        for words in ("half", " a thought", " about it"):
            with answered(page):
                page.keyboard.type(words)
            expect(note).to_be_focused()
        expect(note).to_have_value("half a thought about it")
        page.reload()
        expect(note).to_have_value("half a thought about it")
