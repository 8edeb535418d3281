"""Text stays text: forty payloads in every text of runs, graphs, people and files, wherever it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import go_to, settle
from hostile_fields import fill
from playwright.sync_api import Page
from screen import Open, elements

from components.shared import navigation
from untaken.cli import main
from untaken.workspace import Workspace

LIVE = (
    "[...e.attributes].some(a => /evil/.test(a.value) && (/^on/i.test(a.name) || "
    "/^(src|srcdoc|href|xlink:href|action|formaction|data|poster|content|style)$/i.test(a.name)) && "
    "!(e.tagName === 'A' && e.origin === location.origin && !/evil/.test(e.pathname + e.hash)))"
)
"""An element that would run or fetch something of a payload; a link of the app's own may name an id."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("hostile") / "w"
    fill(at)
    return at


def inert(page: Page) -> None:
    """Nothing of the payloads became an element, and nothing ran."""
    assert elements(page, LIVE) == []
    assert page.evaluate("window.evil") is None


@pytest.mark.slow
def test_no_payload_in_any_field_runs_on_any_page(folder, serve, open_page, request) -> None:
    address = serve(str(folder))
    page = open_page(f"{address}/")
    inert(page)
    for _, title in navigation.PAGES:
        go_to(page, title)
        inert(page)
        for place in range(8):  # a tab may show tabs of its own, or take others away
            if place >= page.get_by_role("tab").count():
                break
            page.get_by_role("tab").nth(place).click()
            settle(page)
            inert(page)
    with Workspace(folder) as workspace:
        digests = [run.digest for run in workspace.read_runs()[0]]
    for digest in digests if request.config.getoption("--slow") else digests[:2]:
        page.goto(f"{address}/run?run={digest}")
        settle(page)
        inert(page)


def test_no_payload_in_any_field_runs_in_the_report(folder: Path, open_page: Open, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    main(["report", str(folder / "ledgers"), "--graphs", str(folder / "graphs"), "--html", str(target)])
    assert "evil" in target.read_text("utf-8")
    inert(open_page(target.as_uri()))
