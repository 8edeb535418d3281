"""The HTML report in a real browser: offline, on any screen, in light and dark, on paper."""

from __future__ import annotations

from collections.abc import Iterator

import desk
import pytest
from playwright import sync_api
from screen import Open, download

from untaken import html_report

FITS = "document.documentElement.scrollWidth <= window.innerWidth"
GROUND = "getComputedStyle(document.body).backgroundColor"
PAPER = 673
"""Pixels between the margins of an A4 page."""
LONG = "a-name-that-goes-on-" * 20


@pytest.fixture(scope="module")
def page(chromium: sync_api.Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sync_api.Page]:
    """The full report on the desk, in a browser without a network; nothing may have been asked for."""
    report = tmp_path_factory.mktemp("report") / "report.html"
    report.write_text(html_report(desk.corpus(), full=True, title=LONG), encoding="utf-8")
    context = chromium.new_context(offline=True)
    opened = context.new_page()
    asked: list[str] = []
    messages: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda message: messages.append(message.text))
    opened.goto(report.as_uri())
    yield opened
    assert set(asked) == {report.as_uri()}
    assert messages == []
    context.close()


def test_the_report_opens_offline_and_fits_every_screen(page: sync_api.Page) -> None:
    for unfolded in (False, True):
        if unfolded:
            for folded in page.locator("summary").all():
                folded.click()
        for width in (360, 800, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(FITS), (width, unfolded)
    assert page.get_by_role("img", name="Plan graph: Refund desk").count() >= 2


def test_the_report_is_light_or_dark_as_the_reader_likes_it_and_light_on_paper(page: sync_api.Page) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, media="screen")
        grounds[scheme] = page.evaluate(GROUND)
    page.emulate_media(color_scheme="dark", media="print")
    assert grounds == {"light": "rgb(243, 245, 247)", "dark": "rgb(12, 17, 22)"}
    assert page.evaluate(GROUND) == "rgb(255, 255, 255)"


def test_nothing_is_cut_off_on_paper_and_what_is_folded_is_left_out(page: sync_api.Page) -> None:
    page.reload()  # as it is folded
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 900})
    assert page.evaluate(FITS)
    assert page.locator("details:not([open])").count() > 0
    assert page.locator("details:not([open])").locator("visible=true").count() == 0


def test_a_page_hands_out_the_report_in_both_lengths(open_page: Open, demo: str) -> None:
    page = open_page(f"{demo}/data")  # of the Overview: test_journeys_scope.py
    page.get_by_role("button", name="Share report").click()
    sizes = []
    for label in ("Report (HTML)", "Full report (HTML)"):
        written = download(page, label).path().read_text("utf-8")
        assert written.startswith("<!doctype html>")
        assert "Fix first: “Check policy applies”" in written
        sizes.append(len(written))
    assert sizes[0] < sizes[1] < 3_000_000
