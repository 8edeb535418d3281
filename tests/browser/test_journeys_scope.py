"""One scope in the address, on the screen and in every download: after a reload, for somebody else, later."""

from __future__ import annotations

import json
from pathlib import Path

import desk
import pytest
from builders import a_run
from conftest import settle
from playwright.sync_api import expect
from screen import Open, Serve, download

from untaken.cli import main
from untaken.workspace import Workspace

LINK = "with_task=other&listed=all&missing=drop&order=teaches&kind=failed"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Agents of a refund desk, and one that shares no task with them."""
    at = tmp_path_factory.mktemp("scope") / "w"
    with Workspace(at) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        for run in (desk.careful(1), desk.lucky(1), desk.failing(1), desk.stray()):
            store.add(f"{run.run_id}.jsonl", run.ledger())
        for n in (1, 2):
            lost = a_run(f"lost-{n}", agent="stray", task="other").call("dance").finish(False)
            store.add(f"lost-{n}.jsonl", lost.ledger())
    return at


@pytest.fixture(scope="module")
def address(folder: Path, serve: Serve) -> str:
    return serve(str(folder))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "words", "want"),
    [
        ("", ("--compared", "careful"), ["failing-1", "lucky-1"]),
        ("agents=other", ("--compared", "other"), ["lost-1", "lost-2"]),
        (
            LINK,
            ("--missing", "drop", "--order", "teaches", "--where", "kind=failed"),
            ["failing-1", "lost-1", "lost-2"],
        ),
    ],
)
def test_the_review_that_a_page_exports_is_what_the_verb_prints(
    folder: Path,
    address: str,
    open_page: Open,
    capsys: Capture,
    asked: str,
    words: tuple[str],
    want: list[str],
) -> None:
    """The download is made outside of the session, and is of its agents all the same."""
    page = open_page(f"{address}/review?{asked}")
    exported = download(page, "Review (JSON)").path().read_text("utf-8-sig")
    main(["review", "--workspace", str(folder), *words, "--json"])
    assert exported == capsys.readouterr().out
    assert sorted(case["run_id"] for case in json.loads(exported)["cases"]) == want


def test_the_overview_and_the_report_shared_from_it_are_of_the_agents_compared(address, open_page) -> None:
    page = open_page(f"{address}/?agents=other")
    expect(page.get_by_text("3 runs · 1 agent")).to_be_visible()
    page.get_by_role("button", name="Share report").click()
    written = download(page, "Full report (HTML)").path().read_text("utf-8-sig")
    assert "stray" in written
    left_out = "3 of 6 runs are left out, of agents that share no task with those compared:"
    left_out += " careful, failing, lucky."
    assert written.count(left_out) == 1
    assert "careful" not in written.replace(left_out, "")


@pytest.mark.slow
def test_a_copied_link_shows_the_same_after_a_reload_to_somebody_else_and_on_another_server(
    folder: Path, address: str, serve: Serve, open_page: Open
) -> None:
    page = open_page(f"{address}/review?{LINK}")
    words = "0 of 3 reviewed"
    expect(page.get_by_text(words)).to_be_visible()
    settle(page)
    link = page.url
    assert "listed=all" in link
    page.reload()
    expect(page.get_by_text(words)).to_be_visible()
    settle(page)
    assert page.url == link
    for at in (link, link.replace(address, serve(str(folder)))):
        other = open_page(at, elsewhere=True)
        # a server's first visit by a link makes Streamlit take the folder of pages for an app of its own
        other.get_by_test_id("stSidebarNav").get_by_role("link", name="Rankings", exact=True).wait_for()
        expect(other.get_by_role("heading", name="Queue", level=1)).to_be_visible()
        expect(other.get_by_text(words)).to_be_visible()
        other.get_by_role("button", name="Order and filters").click()
        for choice in ("All agents", "Most informative first", "are left out"):
            expect(other.get_by_role("radio", name=choice)).to_be_checked()
