"""Where do runs of a task part ways? Asked in a real browser, by clicking in the matrix of runs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from conftest import answered
from playwright.sync_api import Page, expect
from screen import click_in

Open = Callable[..., Page]
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
