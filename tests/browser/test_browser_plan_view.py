"""The plan graph in a real browser: what survives a click, and a first visit that follows a link."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from screen import boxes, click

pytestmark = pytest.mark.xdist_group("browser")


def test_a_click_selects_and_the_viewport_stays(demo: str, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{demo}/run", height=1400)
    boxes(page)
    page.get_by_label("Larger").click()
    near = [box for box in boxes(page) if 60 < box["x"] < 400 and 60 < box["y"] < 400]
    before = page.locator(".plan-stage").get_attribute("data-scale")
    click(page, near[0])
    page.wait_for_url("**sub_goal=**")
    expect(page.locator(".plan-live")).to_contain_text("Selected:")
    expect(page.get_by_text("How one can tell")).to_be_visible()
    assert page.locator(".plan-stage").get_attribute("data-scale") == before


def test_a_link_to_a_page_works_as_the_first_visit_of_a_server(
    serve: Callable[..., str], open_page: Callable[..., Page]
) -> None:
    """Such a visit makes Streamlit take the folder of pages for an app of its own."""
    page = open_page(f"{serve('--demo')}/run")
    page.get_by_role("link", name="Rankings").wait_for()
    assert page.get_by_role("heading", name="Run").is_visible()
