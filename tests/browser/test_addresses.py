"""The address of a page, and the way back; from what to fix first to the run and the very sub-goal."""

from __future__ import annotations

import re

import pytest
from conftest import answered, go_to, headline, press, selection, settle
from playwright.sync_api import Locator, Page, expect
from screen import Open, still

COVER = "#starting"


def test_one_step_back_from_a_run_is_the_queue_with_the_run_that_was_looked_at(demo, open_page) -> None:
    page = open_page(f"{demo}/overview?missing=drop")
    assert selection(page) == {"missing": "drop"}
    assert page.url.startswith(f"{demo}/?")  # the first page has one address
    go_to(page, "Queue")
    first = selection(page)["run"]
    press(page, "j")
    second = selection(page)["run"]
    assert second != first
    with answered(page):
        page.get_by_test_id("stMainBlockContainer").get_by_test_id("stPageLink").last.click()
    headline(page, "Run")
    for title, selected in (("Queue", second), ("Queue", first), ("Overview", first)):
        with answered(page):
            page.go_back()
        headline(page, title)
        assert selection(page).get("run", first) == selected


@pytest.mark.slow
def test_one_step_back_from_a_link_to_another_run_is_the_page_with_its_own_address(demo, open_page) -> None:
    page = open_page(f"{demo}/run?sub_goal=order")
    before = page.url
    go_to(page, "Overview")
    overview = page.url
    with answered(page):
        page.get_by_test_id("stPageLink-NavLink").filter(has_text="lucky").first.click()
    headline(page, "Run")
    assert selection(page)["run"] not in before
    with answered(page):
        page.get_by_role("link", name="Compare with the other runs of this task").click()
    headline(page, "Compare")
    expect(page.get_by_text("fewer than two runs")).to_have_count(0)
    for title in ("Run", "Overview"):
        with answered(page):
            page.go_back()
        headline(page, title)
        assert "task" not in selection(page)
    assert page.url == overview
    with answered(page):
        page.go_back()
    assert page.url == before


@pytest.mark.slow
def test_what_is_selected_in_a_run_is_no_step_of_its_own(demo: str, open_page: Open) -> None:
    page = open_page(f"{demo}/review")
    go_to(page, "Run")
    for goal in ("intent", "order"):
        with answered(page):
            page.locator(".plan-frame").focus()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
        settle(page)
        assert "sub_goal" in selection(page), goal
    with answered(page):
        page.go_back()
    headline(page, "Queue")


def test_the_first_thing_that_a_browser_draws_is_a_progress_bar(demo: str, open_page: Open) -> None:
    page = open_page(f"{demo}/data")
    page.route("**/index.*.js", lambda route: None)  # none of Streamlit's scripts comes
    cover = page.locator(COVER)
    for scheme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(16, 22, 29)")):
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{demo}/run", wait_until="commit")
        expect(cover.get_by_role("progressbar", name="Loading")).to_be_visible()
        expect(cover).to_contain_text("Loading the page …")
        expect(cover).to_have_css("background-color", colour)


def chosen(page: Page) -> Locator:
    """The frame with the runs of the chosen item."""
    return page.locator(".st-key-fix_first")


def follow(page: Page) -> dict[str, str]:
    """Go to the first run of the chosen item; what the address then says is selected."""
    chosen(page).get_by_test_id("stPageLink-NavLink").first.click()
    headline(page, "Run")
    return selection(page)


def test_the_overview_takes_two_screens_at_most_and_its_first_item_leads_to_a_run_in_which_it_failed(
    demo: str, open_page: Open
) -> None:
    page = open_page(demo, width=1440, height=900)
    headline(page, "Overview")
    assert page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight") <= 2 * 900
    page.set_viewport_size({"width": 1440, "height": 1600})
    figure = page.locator(".st-key-scroll-fix .js-plotly-plot")
    expect(figure.get_by_text("✓ ★ Check policy applies").first).to_be_visible()
    expect(figure.get_by_text(re.compile("skill recall_policy")).first).to_be_visible()
    expect(chosen(page).get_by_text(re.compile(r"Fails first in \d+ failed runs"))).to_be_visible()
    asked = follow(page)
    assert asked["sub_goal"] == "policy"
    expect(page.get_by_role("combobox", name="Sub-goal", exact=True)).to_have_value(
        re.compile("Check policy")
    )


@pytest.mark.slow
def test_a_click_on_a_bar_chooses_the_item_and_causes_and_choices_are_one_click_away(demo, open_page) -> None:
    page = open_page(demo, height=1600)
    bars = page.locator(".st-key-scroll-fix .js-plotly-plot .bars .point path")
    expect(bars.first).to_be_visible()
    before = chosen(page).get_by_role("combobox").input_value()
    box = still(page, bars.nth(2)).bounding_box()
    with answered(page):
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 4)
    expect(chosen(page).get_by_role("combobox")).not_to_have_value(before)
    assert follow(page)["sub_goal"] == "intent"
    page.go_back()
    headline(page, "Overview")
    page.get_by_role("link", name="All causes", exact=True).click()
    headline(page, "Failure modes")
    expect(page.get_by_role("heading", name="Why they fail there")).to_be_visible()
    page.go_back()
    headline(page, "Overview")
    page.get_by_role("link", name="Choices to change", exact=True).click()
    headline(page, "Decisions")
    expect(page.get_by_role("heading", name="Choices that succeeded more often")).to_be_visible()
