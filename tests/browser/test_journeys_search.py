"""Search from any page, by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import answered, headline
from playwright.sync_api import Page, expect

Open = Callable[..., Page]


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
