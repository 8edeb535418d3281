"""Is B ahead of A? Asked in a real browser, by clicking in the matrix of pairs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from conftest import answered, headline
from playwright.sync_api import Page, expect
from screen import click_in

Open = Callable[..., Page]
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
