"""A file is removed from the workspace in a real browser, after confirmation, and restored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import desk
import pytest
from conftest import answered
from playwright.sync_api import Page, expect
from screen import tick


@pytest.mark.slow
def test_a_file_is_removed_after_a_second_thought_and_restored(
    serve: Callable[..., str], open_page: Callable[..., Page], tmp_path: Path
) -> None:
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
