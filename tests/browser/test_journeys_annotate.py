"""What should have happened is edited on the canvas, in a field, in the table; saved; merged."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from conftest import answered, press, settle, sign
from playwright.sync_api import Page, expect
from screen import Open, Serve, boxes

from untaken.workspace import Workspace


@pytest.fixture
def address(serve: Serve, tmp_path: Path) -> str:
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("runs.jsonl", b"".join(run.ledger() for run in desk.builders()))
    return serve(str(tmp_path))


def write(page: Page, label: str, words: str) -> None:
    settle(page)
    field = page.get_by_role("textbox", name=label, exact=True)
    with answered(page):
        field.fill(words)
        field.press("Control+Enter" if label == "Expression" else "Enter")


def save(page: Page, name: str, message: str) -> None:
    settle(page)
    page.get_by_test_id("stPopover").get_by_role("button", name="Save …").click()
    page.get_by_role("textbox", name="What changed, and why", exact=True).fill(message)
    with answered(page):
        page.get_by_role("button", name=f"Save as {name}", exact=True).click()


def test_a_graph_is_edited_previewed_saved_and_merged(address: str, open_page: Open, tmp_path: Path) -> None:
    page = open_page(f"{address}/annotate?graph=desk&sub_goal=policy")
    assert len(boxes(page)) == 4
    sign(page, "Ann")
    write(page, "Expression", "state.read == false")
    expect(page.get_by_text("4 of 12 runs")).to_be_visible()
    page.get_by_role("heading", name="Annotate", level=1).click()
    press(page, "Alt+z")
    expect(page.get_by_text("· no unsaved changes")).to_be_visible()
    press(page, "Alt+y")
    expect(page.get_by_text("kept as a draft")).to_be_visible()

    page.locator(".plan-frame").focus()
    press(page, "x")
    expect(page.get_by_text("2 steps to undo")).to_be_visible()

    other = open_page(f"{address}/annotate?graph=desk&sub_goal=order", elsewhere=True)
    sign(other, "Bob")
    write(other, "Title", "Find the order")
    save(other, "Bob", "A better title")
    expect(other.get_by_text("Saved as version 2.")).to_be_visible()

    save(page, "Ann", "Reading is not enough")
    expect(page.get_by_text("Your edits are not saved.")).to_be_visible()
    with answered(page):
        page.get_by_role("button", name="Merge with version 2", exact=True).click()
    expect(page.get_by_text("Check the result, then save")).to_be_visible()
    save(page, "Ann", "Both")
    expect(page.get_by_text("Saved as version 3.")).to_be_visible()
    page.get_by_text("Versions and export").click()
    expect(page.get_by_role("heading", name="What differs")).to_be_visible()
    page.locator("[class*=st-key-head-]", has_text="What differs").get_by_role("button").click()
    expect(page.get_by_role("button", name="⤓ What differs (HTML)")).to_be_visible()
    page.keyboard.press("Escape")

    with Workspace(tmp_path) as store:
        graph = store.graph_version("desk", 3)
        assert [one.author for one in store.graph_history("desk")] == ["upload", "human:Bob", "human:Ann"]
    by_id = {one.id: one for one in graph.sub_goals}
    assert by_id["order"].title == "Find the order"
    assert (by_id["policy"].check.expr, by_id["policy"].critical) == ("state.read == false", False)


@pytest.mark.slow
def test_the_table_is_written_by_keyboard_alone(address: str, open_page: Open) -> None:
    page = open_page(f"{address}/annotate?graph=desk&sub_goal=policy")
    with answered(page):
        page.get_by_text("Table", exact=True).click()
    table = page.get_by_test_id("stDataFrame").last
    table.scroll_into_view_if_needed()
    table.locator("[role=gridcell]").first.wait_for(state="attached")  # the grid is drawn
    box = table.bounding_box()
    page.mouse.click(box["x"] + 200, box["y"] + 55)  # the first title; from here on the keyboard
    table.locator("[role=gridcell][aria-selected=true]").first.wait_for(state="attached")
    retype(page, "Find it")
    settle(page)
    expect(page.get_by_text("1 step to undo")).to_be_visible()
    press(page, "ArrowDown")
    retype(page, "Pay back")
    settle(page)
    expect(page.get_by_text("2 steps to undo")).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_text("Versions and export").click()
    expect(page.get_by_text("Look up order → Find it")).to_be_visible()


def retype(page: Page, words: str) -> None:
    """Other words in the cell that is selected."""
    editor = page.locator("#portal textarea")
    page.keyboard.press("Enter")
    expect(editor).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type(words, delay=20)
    expect(editor).to_have_value(words)
    page.keyboard.press("Enter")
    editor.wait_for(state="detached")


SIZE = "(stage) => [stage.dataset.scale, stage.clientHeight]"
FOCUSED = """() => {
  let at = document.activeElement;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (!at.matches('button, input, textarea, .plan-frame')) return '';
  return at.getAttribute('aria-label') || at.innerText;
}"""


def tab_to(page: Page, words: str, *, back: bool = False) -> None:
    """Go on by Tab until the field or button is reached whose name begins with `words`."""
    for _ in range(80):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if page.evaluate(FOCUSED).strip().startswith(words):
            return
    pytest.fail(f"Tab does not lead to {words!r}")


@pytest.mark.slow
def test_in_an_empty_workspace_a_graph_is_made_and_saved_by_keyboard_alone(
    serve: Serve, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(f"{serve(str(tmp_path))}/annotate")
    tab_to(page, "New …")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Graph id")).to_be_focused()
    page.keyboard.type("refund-desk")
    for label, words in (("Tasks", "refund-*"), ("First", "find_order")):
        tab_to(page, label)
        page.keyboard.type(words)
    with answered(page):
        page.keyboard.press("Enter")
    expect(page.get_by_text("a new graph · unsaved changes, kept as a draft")).to_be_visible()
    expect(page.get_by_role("textbox", name="Graph id")).to_be_hidden()
    tab_to(page, "Your name")
    with answered(page):
        page.keyboard.type("Ann")
        page.keyboard.press("Enter")
    assert len(boxes(page)) == 1
    shown = page.locator(".plan-stage").evaluate(SIZE)

    tab_to(page, "Plan graph to edit")
    page.keyboard.press("Home")
    page.keyboard.press("a")
    page.keyboard.type("Pay back")
    with answered(page):
        page.keyboard.press("Enter")
    page.wait_for_url("**/annotate?graph=refund-desk&sub_goal=pay_back")
    press(page, "x")  # the canvas kept the focus, and the new sub-goal is the selected one
    expect(page.get_by_text("2 steps to undo")).to_be_visible()
    assert len(boxes(page)) == 2
    assert page.locator(".plan-stage").evaluate(SIZE) == shown  # the first line moves neither page nor scale

    tab_to(page, "Save …", back=True)
    page.keyboard.press("Enter")
    tab_to(page, "What changed, and why")
    page.keyboard.type("What should happen")
    tab_to(page, "Save as Ann")
    press(page, "Enter")
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    expect(page.get_by_role("textbox", name="What changed, and why")).to_be_hidden()
    with Workspace(tmp_path) as store:
        graph = store.graph_version("refund-desk", 1)
    assert [(one.id, one.title, one.deps, one.critical) for one in graph.sub_goals] == [
        ("find_order", "", [], False),
        ("pay_back", "Pay back", ["find_order"], True),
    ]
