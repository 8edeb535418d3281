"""Two reviewers in two browsers: verdicts, a disagreement, the queue by keyboard, a link to a view."""

from __future__ import annotations

import re

import pytest
from builders import a_run
from conftest import answered, go_to, press, settle, sign
from playwright.sync_api import Page, expect
from screen import Open, Serve, boxes, button, click

from untaken.workspace import Workspace

GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ['t*']
sub_goals:
- {id: look, title: Look it up, rules: [{tool: look}], check: {verdict: true}}
- {id: pay, title: Pay back, critical: true, deps: [look], check: {verdict: true}}
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> str:
    """The app on three failing runs; what the tests say of them adds up, in their order."""
    folder = tmp_path_factory.mktemp("reviewed") / "w"
    with Workspace(folder) as store:
        store.add("desk.plan.yaml", GRAPH)
        for i in range(3):
            run = a_run(f"r{i}", agent=f"agent {i}", task="t0").call("look")
            store.add(f"{i}.jsonl", run.finish(success=False).ledger())
    return serve(str(folder))


def at_run(page: Page, place: int) -> None:
    """The run in this place of the queue is open."""
    settle(page)  # until then the fields of the run before are there, too
    expect(page.get_by_text(f"{place} of 3", exact=True)).to_be_visible()


def test_the_queue_does_not_widen_a_small_screen_and_shows_ten_rows_on_a_small_laptop(
    address: str, open_page: Open
) -> None:
    page = open_page(f"{address}/review", width=390, height=844, dark=True)
    expect(page.get_by_text("0 of 3 reviewed")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    second = page.get_by_role("list", name="Runs to review").get_by_role("button").nth(1)
    first_row, row = second.locator("xpath=../../li[1]").bounding_box(), second.bounding_box()
    assert first_row
    assert row
    assert first_row["y"] + 10 * row["height"] <= 800
    second.click()
    at_run(page, 2)
    expect(second).to_have_attribute("aria-current", "true")


@pytest.mark.slow
def test_a_selected_sub_goal_shows_what_a_colleague_has_said_meanwhile_on_the_whole_page(
    address: str, open_page: Open
) -> None:
    ann, bob = (open_page(f"{address}/run", height=1400, elsewhere=True) for _ in range(2))
    for page in (ann, bob):
        with answered(page):
            click(page, boxes(page)[0])
        expect(page.get_by_text("0 of 2 (0%) completed")).to_be_visible()
    above = ann.locator(".st-key-headline-low").element_handle()
    ann.evaluate("head => { head.dataset.met = 'before'; }", above)
    with answered(ann):
        click(ann, boxes(ann)[1])
    expect(ann.locator(".st-key-headline-low")).to_have_attribute("data-met", "before")

    sign(bob, "bob")
    press(bob, "y")
    expect(bob.get_by_text("1 of 2 (50%) completed")).to_be_visible()
    with answered(ann):
        click(ann, boxes(ann)[0])
    expect(ann.get_by_text("human:bob", exact=True)).to_be_visible()
    expect(ann.get_by_text("1 of 2 (50%) completed")).to_be_visible()


def test_enter_pressed_twice_signs_once_and_the_dialog_stays_closed(address: str, open_page: Open) -> None:
    page = open_page(f"{address}/run", elsewhere=True)
    press(page, "2")  # the first save asks for the name
    page.keyboard.type("kim")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("Signed as kim").first).to_be_visible()
    expect(button(page, "◐ In review")).to_have_attribute("kind", "primary")
    press(page, "1")
    expect(button(page, "○ New")).to_have_attribute("kind", "primary")


def test_two_reviewers_mark_differ_and_go_through_the_queue_by_keyboard(address, open_page) -> None:
    ann = open_page(f"{address}/review")
    sign(ann, "ann")
    at_run(ann, 1)
    note = ann.get_by_role("textbox", name="Note", exact=True)
    with answered(ann):
        note.fill("only of the first run")
        note.blur()
    press(ann, "j")
    at_run(ann, 2)
    expect(note).to_have_value("")
    note.fill("of the second")
    button(ann, "Previous").click()  # leaves the field by the same click
    at_run(ann, 1)
    expect(note).to_have_value("only of the first run")
    press(ann, "j")
    at_run(ann, 2)
    expect(note).to_have_value("of the second")
    ann.wait_for_url(re.compile(r"run=[0-9a-f]{64}"))
    link = ann.url
    press(ann, "3")
    expect(ann.get_by_text("1 of 3 reviewed")).to_be_visible()
    expect(button(ann, "● Explained")).to_have_attribute("kind", "primary")
    press(ann, "k")
    at_run(ann, 1)

    bob = open_page(link, elsewhere=True)  # a colleague follows the link
    at_run(bob, 2)
    expect(button(bob, "● Explained")).to_have_attribute("kind", "primary")
    expect(bob.get_by_text("Not signed yet")).to_be_visible()

    run = link.replace("/review?", "/run?") + "&sub_goal=pay"
    for page, name, key, words in ((ann, "ann", "y", "✓ met"), (bob, "bob", "x", "✗ not met")):
        page.goto(run)
        settle(page)
        if name == "ann":  # her browser remembers her
            expect(page.get_by_text("Signed as ann").first).to_be_visible()
        else:
            sign(page, name)
        expect(button(page, "✓ Met")).to_be_visible()
        why = page.get_by_role("textbox", name="Why", exact=True)
        with answered(page):
            why.fill(f"{name} looked <b>closely</b>")
            why.blur()
        press(page, key)
        expect(page.get_by_text(f"human:{name}", exact=True)).to_be_visible()
        expect(page.get_by_text(words, exact=True).first).to_be_visible()
        expect(page.get_by_text(f"{name} looked <b>closely</b>", exact=True)).to_be_visible()
    expect(bob.get_by_text("Reviewers disagree: human:ann say met, human:bob say not met")).to_be_visible()

    go_to(bob, "Queue")
    bob.get_by_role("tab", name="Disagreements", exact=True).click()
    expect(bob.get_by_text("1 sub-goal where one reviewer says met and another not")).to_be_visible()
    bob.get_by_role("tab", name="Agreement", exact=True).click()
    expect(
        bob.get_by_text(re.compile("ann, .*bob: two or more answered on 1 sub-goal of 1 run"))
    ).to_be_visible()
