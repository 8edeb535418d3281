"""The reviewer: asked once per session, or known from the server's sign-in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from sessions import go_to, said, session
from streamlit.testing.v1 import AppTest

from components.shared import reviewer


def page() -> None:
    import streamlit as st

    from components.shared.reviewer import ask_reviewer, author

    if st.checkbox("elsewhere", key="elsewhere"):
        st.text(str(author()))
    else:
        ask_reviewer()
        st.text(str(author()))


def test_the_name_is_asked_once_and_kept_where_a_page_does_not_ask() -> None:
    app = AppTest.from_function(page).run()
    assert app.text[0].value == "None"
    app.text_input(key="reviewer_field").set_value("  Ann\n Lee ").run()
    assert app.text[0].value == "human:Ann Lee"
    app.checkbox(key="elsewhere").check().run()
    assert app.text[0].value == "human:Ann Lee"
    app.checkbox(key="elsewhere").uncheck().run()
    assert app.text_input(key="reviewer_field").value == "Ann Lee"


def test_a_name_taken_back_is_asked_again() -> None:
    app = AppTest.from_function(page).run()
    app.text_input(key="reviewer_field").set_value("Ann").run()
    app.text_input(key="reviewer_field").set_value("   ").run()
    assert app.text[0].value == "None"


def test_no_name_hides_a_line_or_turns_the_words_round() -> None:
    app = AppTest.from_function(page).run()
    app.text_input(key="reviewer_field").set_value("a\u202eb\x1b[0m").run()
    assert app.text[0].value == "human:a\ufffdb\ufffd[0m"


@pytest.mark.parametrize(
    ("auth", "buttons"),
    [
        ({"client_id": "x", "redirect_uri": "y"}, ["Sign in"]),
        (
            {"redirect_uri": "y", "okta": {"client_id": "x"}, "corp": {}},
            [r"Sign in with okta", "Sign in with corp"],
        ),
    ],
)
def test_where_the_server_has_a_sign_in_no_name_is_typed(auth: dict[str, Any], buttons: list[str]) -> None:
    app = AppTest.from_function(page)
    app.secrets["auth"] = auth
    app.run()
    assert not app.exception
    assert [button.label for button in app.button] == buttons
    assert len(app.text_input) == 0
    assert app.text[0].value == "None"


def test_the_name_of_who_signed_in_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    who = {"is_logged_in": True, "email": "ann@example.org", "name": ""}
    monkeypatch.setattr(reviewer, "sign_in", lambda: {"client_id": "x"})
    monkeypatch.setattr(type(st.user), "to_dict", lambda _: who)
    assert reviewer.author() == "human:ann@example.org"


def test_a_server_open_to_others_shows_nothing_before_sign_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNTAKEN_SIGN_IN", "required")
    app = session(tmp_path, monkeypatch)
    assert [title.value for title in app.title] == ["Untaken"]
    assert not app.subheader
    assert not app.sidebar.radio
    monkeypatch.setattr(reviewer, "_signed_in", lambda: "ann")
    assert "Overview" in said(go_to(app, "overview"))
