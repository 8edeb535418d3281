"""A private area in a browser: it survives a reload, and another browser does not have it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import desk
import pytest
from conftest import answered, settle
from playwright.sync_api import Page, expect

Open = Callable[..., Page]
BANNER = "Private area."


@pytest.mark.slow
def test_a_private_area_survives_a_reload_and_is_discarded_for_good(
    serve: Callable[..., str], open_page: Open, tmp_path: Path
) -> None:
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
