"""Whatever is typed, in whatever order people go about: no word is lost, none lands on another run."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest
from builders import a_run
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sessions import said, session
from streamlit.testing.v1 import AppTest

from untaken.ledger import ReviewNote, Verdict
from untaken.workspace import Workspace

RUNS = 3


def page() -> None:
    """The fields of Review and Run, and the ways between runs, without what is not about writing."""
    import streamlit as st

    from components.review import signing, writing
    from components.run import note_panel
    from components.shared import drafts, reviewer, state

    def step(by: int) -> None:
        st.session_state["at"] = (st.session_state["at"] + by) % 3

    with state.frame():
        store = state.workspace()
        st.session_state.setdefault("at", 0)
        reviewer.ask_reviewer()
        st.button("K", key="K", on_click=step, args=(-1,))
        st.button("J", key="J", on_click=step, args=(1,))
        run = sorted(state.workspace().read_runs()[0], key=lambda one: one.run_id)[st.session_state["at"]]
        if not st.toggle("Another page", key="elsewhere"):
            note_panel.notes_and_modes(run, goals={})
            why = drafts.DraftField(name="why", about=(run.digest, "pay"))
            drafts.text_input("Why", why)
            st.button(
                "Met",
                key="met",
                on_click=signing.save,
                args=(lambda author: writing.save_verdict(store, run, "pay", True, author=author, why=why),),
            )


class Reviewing(RuleBasedStateMachine):
    """People type, step, save, leave, reload; the model knows who typed what about which run."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("UNTAKEN_WORKSPACE", self.folder.name)
        with Workspace(self.folder.name) as store:
            for i in range(RUNS):
                store.add(f"{i}.jsonl", a_run(f"r{i}").call("look").finish(success=False).ledger())
        self.at, self.name, self.elsewhere = 0, "", False
        self.unsaved: dict[tuple[str, str, int], str] = {}
        self.saved: list[tuple[str, str, int, str]] = []
        self.reload()

    @rule()
    def reload(self) -> None:
        """A new session of the browser; a server that was restarted knows no more than this."""
        self.app = AppTest.from_function(page, default_timeout=60).run()
        self.at, self.name, self.elsewhere = 0, "", False

    @rule(name=st.sampled_from(["ann", "bob"]))
    def sign(self, name: str) -> None:
        self.app.text_input(key="reviewer_field").input(name).run()
        self.name = name

    @rule(key=st.sampled_from("JK"))
    def step(self, key: str) -> None:
        self.app.button(key=key).click().run()
        self.at = (self.at + (1 if key == "J" else -1)) % RUNS

    @rule()
    def turn_page(self) -> None:
        self.elsewhere = not self.elsewhere
        self.app.toggle(key="elsewhere").set_value(self.elsewhere).run()

    @precondition(lambda self: self.name and not self.elsewhere)
    @rule(field=st.sampled_from(["Note", "Why"]), words=st.sampled_from(["paid twice", "refused", ""]))
    def type(self, field: str, words: str) -> None:
        self.element(field).input(words).run()
        self.unsaved[self.name, field, self.at] = words

    @precondition(lambda self: self.name and not self.elsewhere)
    @rule(field=st.sampled_from(["Note", "Why"]), words=st.sampled_from(["in haste", "at once"]))
    def type_and_step(self, field: str, words: str) -> None:
        """The field is left by pressing the button: both reach the server together."""
        self.element(field).input(words)
        self.app.button(key="J").click().run()
        self.unsaved[self.name, field, self.at] = words
        self.at = (self.at + 1) % RUNS

    @precondition(lambda self: self.name and not self.elsewhere)
    @rule(field=st.sampled_from(["Note", "Why"]))
    def save(self, field: str) -> None:
        words = self.unsaved.get((self.name, field, self.at), "")
        button = "met" if field == "Why" else "add-note"
        next(b for b in self.app.button if str(b.key).startswith(button)).click().run()
        before = [one for one in self.saved if one[:3] == (self.name, field, self.at)]
        repeats = before[-1:] if field == "Why" else before  # what is there already is not written again
        one = (self.name, field, self.at, words)
        if (words or field == "Why") and one not in repeats:
            self.saved.append(one)
        self.unsaved[self.name, field, self.at] = ""

    def element(self, field: str) -> Any:
        fields = self.app.text_area if field == "Note" else self.app.text_input
        return next(one for one in fields if one.label == field)

    @invariant()
    def each_field_holds_what_was_typed_there(self) -> None:
        if self.name and not self.elsewhere:
            for field in ("Note", "Why"):
                assert self.element(field).value == self.unsaved.get((self.name, field, self.at), "")

    def teardown(self) -> None:
        with Workspace(self.folder.name) as store:
            found = []
            for run in store.read_runs()[0]:
                at = int(run.run_id[1:])
                found += [(n.author, "Note", at, n.text) for n in run.of(ReviewNote)]
                found += [(v.by, "Why", at, v.reason or "") for v in run.of(Verdict)]
        assert sorted(found) == sorted((f"human:{who}", *rest) for who, *rest in self.saved)
        self.patch.undo()
        self.folder.cleanup()


def test_no_word_is_lost_and_none_lands_on_another_run(request: pytest.FixtureRequest) -> None:
    examples = 40 if request.config.getoption("--slow") else 4
    run_state_machine_as_test(
        Reviewing, settings=settings(max_examples=examples, stateful_step_count=12, deadline=None)
    )


@pytest.mark.parametrize("page", ["data", "criteria", "annotate"])
def test_where_files_are_uploaded_it_is_said_who_sees_them(page, tmp_path, monkeypatch) -> None:
    assert "shares one workspace" in said(session(tmp_path, monkeypatch, page))
