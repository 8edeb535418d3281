"""Two reviewers in two browsers: verdicts, a disagreement, the queue by keyboard, a link to a view."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import a_run
from conftest import press, settle
from playwright.sync_api import Page, expect

from untaken.store import Workspace

pytestmark = pytest.mark.xdist_group("browser")
Open = Callable[..., Page]
GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ['t*']
sub_goals:
- {id: look, title: Look it up, rules: [{tool: look}], check: {verdict: true}}
- {id: pay, title: Pay back, critical: true, deps: [look], check: {verdict: true}}
"""


@pytest.fixture
def address(tmp_path: Path, serve: Callable[..., str]) -> str:
    """The app on three failing runs."""
    with Workspace(tmp_path / "w") as store:
        store.add("desk.plan.yaml", GRAPH)
        for i in range(3):
            run = a_run(f"r{i}", agent=f"agent {i}", task=f"t{i}").call("look")
            store.add(f"{i}.jsonl", run.finish(success=False).ledger())
    return serve(str(tmp_path / "w"))


def sign(page: Page, name: str) -> None:
    """Say who sits here, and leave the field."""
    field = page.get_by_role("textbox", name="Your name").first
    field.fill(name)
    field.press("Enter")
    field.blur()


def test_two_reviewers_mark_differ_and_go_through_the_queue_by_keyboard(
    address: str, open_page: Open
) -> None:
    ann = open_page(f"{address}/review")
    sign(ann, "ann")
    expect(ann.get_by_text("1 of 3", exact=True)).to_be_visible()
    settle(ann)
    note = ann.get_by_role("textbox", name="Note")
    note.fill("only of the first run")
    note.blur()
    press(ann, "j")
    expect(ann.get_by_text("2 of 3", exact=True)).to_be_visible()
    settle(ann)  # until then the first run's field is there, too
    expect(note).to_have_value("")
    note.fill("of the second")
    ann.get_by_role("button", name="Previous").click()  # leaves the field by the same click
    expect(ann.get_by_text("1 of 3", exact=True)).to_be_visible()
    settle(ann)
    expect(note).to_have_value("only of the first run")
    press(ann, "j")
    expect(ann.get_by_text("2 of 3", exact=True)).to_be_visible()
    settle(ann)
    expect(note).to_have_value("of the second")
    ann.wait_for_url(re.compile(r"run=[0-9a-f]{64}"))
    link = ann.url
    press(ann, "3")
    expect(ann.get_by_text("1 of 3 reviewed")).to_be_visible()
    expect(ann.get_by_role("button", name="● Explained")).to_have_attribute("kind", "primary")
    press(ann, "k")
    expect(ann.get_by_text("1 of 3", exact=True)).to_be_visible()

    bob = open_page(link, elsewhere=True)  # a colleague follows the link
    expect(bob.get_by_text("2 of 3", exact=True)).to_be_visible()
    expect(bob.get_by_role("button", name="● Explained")).to_have_attribute("kind", "primary")
    expect(bob.get_by_role("button", name="✔ Fixed")).to_be_disabled()  # nobody knows yet who it is

    run = link.replace("/review?", "/run?") + "&sub_goal=pay"
    for page, name, key, said in ((ann, "ann", "y", "✓ met"), (bob, "bob", "x", "✗ not met")):
        page.goto(run)
        if name == "ann":  # her browser remembers her
            expect(page.get_by_role("textbox", name="Your name").first).to_have_value(name)
        else:
            sign(page, name)
        expect(page.get_by_role("button", name="✓ Met")).to_be_visible()
        page.get_by_role("textbox", name="Why").fill(f"{name} looked <b>closely</b>")
        page.get_by_role("textbox", name="Why").blur()
        press(page, key)
        expect(page.get_by_text(f"human:{name}", exact=True)).to_be_visible()
        expect(page.get_by_text(said, exact=True).first).to_be_visible()
        expect(page.get_by_text(f"{name} looked <b>closely</b>", exact=True)).to_be_visible()
    expect(bob.get_by_text("reviewers disagree: human:ann say met, human:bob say not met")).to_be_visible()

    bob.goto(f"{address}/review")
    bob.get_by_role("tab", name="Disagreements").click()
    expect(bob.get_by_text("1 sub-goal where one reviewer says met and another not")).to_be_visible()
    bob.get_by_role("tab", name="Agreement", exact=True).click()
    expect(
        bob.get_by_text(re.compile("ann, .*bob: two or more gave an answer on 1 sub-goal of 1 run"))
    ).to_be_visible()


def test_on_a_small_screen_the_queue_does_not_widen_the_page(address: str, open_page: Open) -> None:
    page = open_page(f"{address}/review", width=390, height=844, dark=True)
    expect(page.get_by_text("0 of 3 reviewed")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
