"""Journeys on one page each: compare, rankings, removing, a private area, search by keys, What-If-Not."""

from __future__ import annotations

import re
from pathlib import Path

import desk
import pytest
from conftest import answered, headline, settle
from playwright.sync_api import Page, expect
from screen import Open, click_in, tick

from untaken.simulator.record import read_planning

MATRIX = ".st-key-scroll-compare-matrix"
OVER_THE_EDGE = """(figure) => {
  const boxes = [...figure.querySelectorAll('.shapelayer path')].map((box) => box.getBoundingClientRect());
  const wide = (words, box) => words.left < box.left || words.right > box.right;
  const middle = (words) => ({x: (words.left + words.right) / 2, y: (words.top + words.bottom) / 2});
  const holds = (box, at) => box.left < at.x && at.x < box.right && box.top < at.y && at.y < box.bottom;
  return [...figure.querySelectorAll('.scatterlayer text')].filter((text) => {
    const words = text.getBoundingClientRect();
    const around = boxes.filter((box) => holds(box, middle(words)));
    return !around.length || around.every((box) => wide(words, box));
  }).map((text) => text.textContent);
}"""
"""Words of cells that are wider than their box."""


@pytest.mark.slow
def test_a_click_in_the_matrix_sets_the_steps_side_by_side_and_the_address_leads_back(
    demo: str, open_page: Open
) -> None:
    page = open_page(f"{demo}/compare?task=refund-05")
    steps = page.locator(".st-key-compare-steps")
    picked = steps.get_by_role("combobox")
    expect(picked).to_have_value("≠ ★ Check policy applies")
    with answered(page):
        click_in(page, page.locator(f"{MATRIX} .js-plotly-plot"), 1, 3)
    expect(picked).to_have_value("≠ ★ Determine refund eligibility")
    expect(steps.get_by_role("link").nth(1)).to_contain_text("careful-planner #1")  # the run that was clicked
    expect(steps).to_contain_text(re.compile(r"17\s+check_eligibility"))
    page.wait_for_url(re.compile("sub_goal=eligibility"))
    page.set_viewport_size({"width": 390, "height": 844})
    frame = page.locator(MATRIX)
    frame.locator(".js-plotly-plot").wait_for()
    wider = "(frame) => frame.scrollWidth > frame.clientWidth + 200"
    page.wait_for_function(wider, arg=frame.element_handle())
    assert frame.locator(".js-plotly-plot").evaluate(OVER_THE_EDGE) == []  # columns are at their narrowest
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    again = open_page(page.url)
    steps = again.locator(".st-key-compare-steps")
    expect(steps.get_by_role("combobox")).to_have_value("≠ ★ Determine refund eligibility")
    steps.get_by_role("link").first.click()
    again.wait_for_url(re.compile(r"/run\?run=[0-9a-f]{64}&sub_goal=eligibility"))


PLOT = ".st-key-scroll-pairs-critical_completion .js-plotly-plot"


@pytest.mark.slow
def test_a_click_in_the_matrix_compares_two_agents_and_leads_to_the_runs_that_drive_a_difference(
    demo: str, open_page: Open
) -> None:
    page = open_page(f"{demo}/rankings")
    pair = page.locator(".st-key-pair")
    expect(pair).to_contain_text("Is full-workflow ahead of careful-planner?")
    with answered(page):
        click_in(page, page.locator(PLOT), 3, 1)
    expect(pair).to_contain_text("Is careful-planner ahead of echo-agent? Yes.")
    expect(pair).to_contain_text(re.compile(r"over the 24 tasks .*95% interval \+\d"))
    page.wait_for_url(re.compile(r"pair=[0-9a-f]{16}"))
    link = page.url
    pair.get_by_text("By task, with the clearest run of each agent").click()
    pair.get_by_role("link").first.click()
    page.wait_for_url(re.compile(r"/run\?run=[0-9a-f]{64}"))
    headline(page, "Run")
    again = open_page(link)
    expect(again.locator(".st-key-pair")).to_contain_text("Is careful-planner ahead of echo-agent?")


@pytest.mark.slow
def test_a_file_is_removed_after_a_second_thought_and_restored(serve, open_page, tmp_path) -> None:
    for run in (desk.careful(1), desk.lucky(1), desk.failing(1)):
        (tmp_path / f"{run.run_id}.jsonl").write_bytes(run.ledger())
    page = open_page(f"{serve(str(tmp_path))}/data")
    expect(page.get_by_text("3 files · 3 runs")).to_be_visible()
    with answered(page):
        tick(page.get_by_test_id("stDataFrame").first, 1)
    page.get_by_test_id("stPopover").get_by_role("button", name="Remove from this workspace …").click()
    expect(page.get_by_test_id("stText").get_by_text("failing-1.jsonl")).to_be_visible()
    with answered(page):
        page.get_by_role("button", name="Remove it", exact=True).click()
    expect(page.get_by_text("2 files · 2 runs")).to_be_visible()
    expect(page.get_by_text("Choose a row to remove its file.")).to_be_visible()
    page.get_by_text("Removed: 1").click()
    with answered(page):
        page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_text("3 files · 3 runs")).to_be_visible()
    assert (tmp_path / "failing-1.jsonl").exists()


BANNER = "Private area."


@pytest.mark.slow
def test_a_private_area_survives_a_reload_and_is_discarded_for_good(serve, open_page, tmp_path) -> None:
    address = serve(str(tmp_path / "w"))
    page = open_page(f"{address}/data", elsewhere=True)
    with answered(page):
        page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(
            {"name": "runs.jsonl", "mimeType": "text/plain", "buffer": desk.careful(1).ledger()}
        )
    with answered(page):
        page.get_by_text("Look at it privately first", exact=True).click()
    page.get_by_role("button", name="Add 1 file", exact=True).click()
    banner = page.get_by_text(BANNER, exact=True)
    expect(banner).to_be_visible()
    settle(page)
    page.reload()
    expect(banner).to_be_visible()
    expect(open_page(f"{address}/data").get_by_text("No files yet.", exact=False)).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Discard", exact=True).click()
    with answered(page):
        page.get_by_role("button", name="Discard it", exact=True).click()
    expect(banner).to_have_count(0)
    page.reload()
    settle(page)
    expect(page.get_by_text("No files yet.", exact=False)).to_be_visible()


@pytest.mark.slow
def test_the_search_is_opened_filled_in_and_followed_by_keys_alone(demo: str, open_page: Open) -> None:
    page = open_page(f"{demo}/data")
    dialog = page.get_by_role("dialog")
    page.keyboard.press("Control+k")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    page.keyboard.type("failure modes")  # and no Enter: a pause is one
    expect(dialog.get_by_role("link")).to_have_text(["Page · Failure modes"])
    page.keyboard.press("ArrowDown")
    expect(dialog.get_by_role("link")).to_be_focused()
    with answered(page):
        page.keyboard.press("Enter")
    headline(page, "Failure modes")
    expect(dialog).to_have_count(0)


PLANNED = Path(__file__).parents[2] / "sample_runs" / "crafter" / "planning"
NAME = "noisy+sce+win.crafter-collect_iron-seed1"
"""The run that the page opens with."""
PLACE = 10
"""Units of the strip from one picture to the next."""


def at_step(page: Page, step: int) -> None:
    expect(page.get_by_role("heading", name=f"State at step {step}", exact=True)).to_be_visible()
    page.wait_for_url(re.compile(rf"step={step}(&|$)"))
    settle(page)


@pytest.mark.slow
def test_keys_and_clicks_go_through_the_steps_and_the_address_leads_back(demo: str, open_page: Open) -> None:
    steps = dict(enumerate(read_planning(PLANNED / f"{NAME}.planning.json.zst").steps, start=1))
    decision = max(n for n, step in steps.items() if n < 30 and step.begun)
    worse = next(n for n, s in steps.items() if n > decision and s.asked and s.asked.verdict == "worse")
    page = open_page(f"{demo}/what_if_not?step=30", height=1400)
    expect(page.get_by_role("heading", level=1)).to_have_text("What-If-Not")
    at_step(page, 30)
    for key, step in (("j", 31), ("k", 30), ("Shift+K", decision), ("n", worse)):
        with answered(page):
            page.keyboard.press(key)
        at_step(page, step)
    strip = page.locator(".st-key-scroll-strip .js-plotly-plot")
    with answered(page):
        click_in(page, strip, 6 * PLACE + 4, 3)  # the chosen step is in place 4
    at_step(page, worse + 2)
    again = open_page(page.url, width=390, dark=True)
    expect(again.get_by_role("group", name="Step", exact=True)).to_contain_text(str(worse + 2))
    settle(again)
    expect(again.get_by_role("heading", name=f"State at step {worse + 2}")).to_be_hidden()
    assert "run=" in again.url
    expect(again.locator(".st-key-strip-of-many")).to_be_hidden()
    few = again.locator(".st-key-scroll-strip-few")
    expect(few.locator(".js-plotly-plot")).to_be_visible()
    assert few.evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    assert again.evaluate("document.documentElement.scrollWidth <= innerWidth")
