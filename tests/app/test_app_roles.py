"""Who may do what on a shared server, and who signs: a name asked once, or known from the sign-in."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from builders import a_run
from sessions import filled, go_to, plain, said, session
from streamlit.testing.v1 import AppTest

from components.shared import reviewer
from untaken.errors import UntakenError
from untaken.workspace import Workspace
from untaken.workspace.settings import Roles, read_settings

Patch = pytest.MonkeyPatch
COMPONENTS = Path(__file__).parents[2] / "components"
ROLES = """roles:
  owner: [ann@example.org]
  reviewer: ["*@Example.org"]
"""
WRITES = {
    "add_all", "append_events", "change_criteria", "change_issues", "change_taxonomy", "confirm", "fold_in",
    "forget_replies", "open_folder", "remove", "remove_mapping", "restore", "save_graph", "save_mapping",
    "take_in_apart", "take_in_criteria",
}  # fmt: skip
AT_THE_START = {"state._open", "demo.open_demo", "demo._save_plans", "demo._write_reviews"}
"""What the server does before anybody visits."""


def visit(at: Path, monkeypatch: Patch, page: str, email: str, **user: Any) -> AppTest:
    who = {"is_logged_in": True, "email": email, "name": email.partition("@")[0]} | user
    monkeypatch.setattr(reviewer, "sign_in", lambda: {"client_id": "x"})
    monkeypatch.setattr(type(st.user), "to_dict", lambda _: who)
    return session(at, monkeypatch, page)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "untaken.yaml").write_text(ROLES, "utf-8")
    return filled(tmp_path, a_run("a").call("pay", ok=False).finish(False))


@pytest.mark.parametrize(
    ("email", "want"),
    [
        ("ann@example.org", "owner"),
        ("ANN@example.org", "owner"),
        ("bob@example.org", "reviewer"),
        ("eve@example.com", "viewer"),
        ("ann@example.org.evil.com", "viewer"),
        ("", "viewer"),
    ],
)
def test_an_address_has_the_first_role_that_names_it(folder: Path, email: str, want: str) -> None:
    assert read_settings(folder).roles.of(email) == want
    assert Roles(owner=("a@b.c",), others="reviewer").of("") == "reviewer"


@pytest.mark.parametrize(
    "words",
    [
        "roles: {reviewer: [a@b.c]}",
        "roles: {owner: []}",
        "roles: {owner: a@b.c}",
        "roles: {owner: [a@b.c], others: admin}",
        "roles: {owner: [a@b.c], admin: [d@e.f]}",
        "roles: {owner: [a@b.c], others: [viewer]}",
        "roles: [a@b.c]",
    ],
)
def test_roles_that_mean_nothing_are_refused(tmp_path: Path, words: str) -> None:
    (tmp_path / "untaken.yaml").write_text(words, "utf-8")
    with pytest.raises(UntakenError, match="settings-invalid"):
        read_settings(tmp_path)


@pytest.mark.parametrize(
    ("email", "notes", "adds"),
    [("ann@example.org", 1, 1), ("bob@example.org", 1, 0), ("eve@x.com", 0, 0), ("", 1, 1)],
    ids=["owner", "reviewer", "viewer", "without sign-in on this machine"],
)
def test_a_page_offers_what_its_visitor_may_do(folder, monkeypatch, email, notes, adds) -> None:
    app = visit(folder, monkeypatch, "run", email) if email else session(folder, monkeypatch, "run")
    assert sum(one.label == "Note" for one in app.text_area) == notes
    assert ("Only reviewers and owners of this workspace can add notes" in said(app)) == (not notes)
    go_to(app, "data")
    private = next(one for one in app.checkbox if one.label == "Look at it privately first")
    assert (private.disabled, private.value) == (not adds, not adds)


@pytest.mark.parametrize("verified", [False, None])
def test_an_address_that_the_provider_has_not_verified_gives_no_role(folder, monkeypatch, verified) -> None:
    more = {} if verified is None else {"email_verified": verified}
    app = visit(folder, monkeypatch, "run", "ann@example.org", **more)
    assert sum(one.label == "Note" for one in app.text_area) == (verified is None)


def test_a_save_of_somebody_who_lost_the_role_is_refused(folder: Path, monkeypatch: Patch) -> None:
    app = visit(folder, monkeypatch, "run", "bob@example.org")
    next(one for one in app.text_area if one.label == "Note").input("mine")
    (folder / "untaken.yaml").write_text("roles: {owner: [ann@example.org]}", "utf-8")
    next(one for one in app.button if one.label == "Add note").click().run()
    assert "this needs the role reviewer, and you are a viewer" in plain(app)
    with Workspace(folder) as workspace:
        (run,) = workspace.read_runs()[0]
    assert not any(event.__struct_config__.tag == "REVIEW_NOTE" for event in run.events)


def test_whatever_a_page_writes_asks_for_a_role_first() -> None:
    seen = set()
    for file in COMPONENTS.rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            used = [one for one in ast.walk(function) if isinstance(one, ast.Name | ast.Attribute)]
            names = {one.attr if isinstance(one, ast.Attribute) else one.id for one in used}
            place = f"{file.stem}.{function.name}"
            if names & WRITES and place not in AT_THE_START:
                seen |= names & WRITES
                assert names & {"need", "offered"}, place
    assert {"append_events", "save_graph", "take_in_apart", "change_taxonomy"} <= seen


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
    for typed, kept in (("a\u202eb\x1b[0m", "human:a\ufffdb\ufffd[0m"), ("   ", "None")):
        app.text_input(key="reviewer_field").set_value(typed).run()
        assert app.text[0].value == kept


TWO = {"redirect_uri": "y", "okta": {"client_id": "x"}, "corp": {}}


@pytest.mark.parametrize(
    ("auth", "buttons"),
    [
        ({"client_id": "x", "redirect_uri": "y"}, ["Sign in"]),
        (TWO, ["Sign in with okta", "Sign in with corp"]),
    ],
)
def test_where_the_server_has_a_sign_in_no_name_is_typed(auth: dict[str, Any], buttons: list[str]) -> None:
    app = AppTest.from_function(page)
    app.secrets["auth"] = auth
    app.run()
    assert [button.label for button in app.button] == buttons
    assert len(app.text_input) == 0
    assert app.text[0].value == "None"


def test_the_name_of_who_signed_in_signs(monkeypatch: Patch) -> None:
    who = {"is_logged_in": True, "email": "ann@example.org", "name": ""}
    monkeypatch.setattr(reviewer, "sign_in", lambda: {"client_id": "x"})
    monkeypatch.setattr(type(st.user), "to_dict", lambda _: who)
    assert reviewer.author() == "human:ann@example.org"


def test_a_server_open_to_others_shows_nothing_before_sign_in(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("UNTAKEN_SIGN_IN", "required")
    app = session(tmp_path, monkeypatch)
    assert [title.value for title in app.title] == ["Untaken"]
    assert not app.subheader
    assert not app.sidebar.radio
    monkeypatch.setattr(reviewer, "_signed_in", lambda: "ann")
    assert "Overview" in said(go_to(app, "overview"))
