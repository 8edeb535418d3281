"""Uploads in a real browser: many files at once, some broken, some hostile; and the exports."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import desk
import msgspec
import pytest
from builders import RunBuilder, a_run
from conftest import answered, go_to, headline, settle
from foreign_files import tau_record
from playwright.sync_api import Download, FilePayload, Page, expect
from screen import Open, boxes, click, download, elements, still

from components.shared.navigation import PAGES

TAMPERED = Path(__file__).parents[2] / "sample_runs/tampered"
EVIL = "http://evil.example"
MARKUP = (
    f"<img src={EVIL}/x.png onerror='window.evil=1;alert(1)'><script data-evil>window.evil=1</script>"
    f"<a href='javascript:alert(1)'>go</a><iframe srcdoc='x'></iframe><style>body{{display:none}}</style>"
)
MARKDOWN = (
    f"![pixel]({EVIL}/p.png) [go](javascript:alert(1)) <{EVIL}> {EVIL}/auto www.evil.example "
    ":material/home: $x^2$ # h"
)
FORMULA = f'=HYPERLINK("{EVIL}","pay")'
LEADS_AWAY = (
    "e.matches('a[*|href*=evil]') && (e.origin !== location.origin || /evil/.test(e.pathname + e.hash))"
)
"""A link of the app's own may carry an id in its query, percent-encoded; nothing else of a link is theirs."""
INJECTED = (
    "(e.matches('img,script,iframe,embed,object,link') && (e.src || e.href || '').includes('evil')) || "
    "e.matches('script[data-evil],iframe[srcdoc=x],a[href^=\"javascript\" i]') || "
    f"({LEADS_AWAY}) || "
    "(e.tagName === 'STYLE' && e.textContent.includes('body{display:none}')) || e.hasAttribute('onerror') || "
    "(e.matches('annotation') && e.textContent.includes('x^2'))"
)


def payload(name: str, content: bytes | str) -> FilePayload:
    data = content.encode() if isinstance(content, str) else content
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def bring(page: Page, *files: FilePayload) -> None:
    """Choose these files on the Data page, add them, and wait for the account of what became of them."""
    settle(page)
    with answered(page):
        page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(list(files))
    with answered(page):
        page.get_by_role("button", name=re.compile(rf"Add {len(files)} files?$")).click()
    expect(page.get_by_text(re.compile(rf"\d+ of {len(files)} files? added"))).to_be_visible()


def hostile_run(number: int, success: bool) -> RunBuilder:
    name, task = f"{number}{MARKUP}", f"ticket-{MARKDOWN}"
    run = a_run(name, agent=f"{number}{MARKDOWN}", task=task, model=MARKUP)
    run.select(MARKUP, MARKDOWN, context=MARKUP).call(FORMULA, ok=False).say(MARKUP)
    run.select(MARKDOWN, MARKUP, context=MARKUP).call(MARKUP).observe(MARKDOWN, ok=False)
    run.verdict(MARKUP, not success, by=f"human:{MARKUP}", reason=MARKDOWN)
    return run.finish(success, error=MARKUP, cost_unit=FORMULA)


def hostile_graph() -> bytes:
    first = {"id": MARKUP, "title": MARKUP, "description": MARKDOWN, "critical": True}
    goals = [
        first | {"check": {"verdict": True}},
        {"id": MARKDOWN, "title": MARKDOWN, "deps": [MARKUP], "check": {"tool_call": {"name": MARKUP}}},
        {"id": FORMULA, "title": FORMULA, "deps": [MARKDOWN], "check": {"tool_call": {"name": FORMULA}}},
    ]
    graph = {"schema": "untaken.plan/1", "id": MARKUP, "title": MARKDOWN, "tasks": ["ticket-*"]}
    return json.dumps({**graph, "sub_goals": goals}).encode()


def untouched(page: Page) -> None:
    """Nothing of the hostile files became anything but words."""
    assert elements(page, INJECTED) == []
    assert page.evaluate("window.evil") is None
    assert page.title() in {f"{title} · Untaken" for _, title in PAGES}
    expect(page.get_by_test_id("stApp")).to_be_visible()


def opened_alone(open_page: Open, exported: Download, folder: Path, drawn: str) -> None:
    """A page that was taken home draws itself without the app, and holds words only."""
    kept = folder / exported.suggested_filename
    exported.save_as(kept)
    page = open_page(kept.as_uri())
    page.locator(drawn).first.wait_for()
    assert elements(page, INJECTED) == []
    assert page.evaluate("window.evil") is None
    page.close()  # browsers throttle pages in the background


@pytest.mark.slow
def test_many_files_at_once_then_the_overview_speaks_of_the_good_ones(serve, open_page, tmp_path) -> None:
    page = open_page(f"{serve(str(tmp_path))}/")
    expect(page.get_by_text("No runs yet")).to_be_visible()
    with answered(page):
        page.get_by_role("link", name="Go to Data", exact=True).click()
    runs = [desk.careful(1), desk.lucky(2), desk.failing(3)]
    cut = b"".join(desk.careful(4).ledger().splitlines(keepends=True)[:-1])
    bring(
        page,
        *(payload(f"{number}.jsonl", run.ledger()) for number, run in enumerate(runs)),
        payload("0.jsonl.heads.json", msgspec.json.encode({runs[0].run_id: runs[0].head})),
        payload("cut.jsonl", cut),
        payload("cut.jsonl.heads.json", msgspec.json.encode({"careful-4": desk.careful(4).head})),
        payload("desk.plan.yaml", desk.GRAPH),
        payload("gpt-4o-ferry.json", json.dumps([tau_record()])),
        payload("holiday.png", b"\x89PNG\r\n\x1a\n"),
    )
    expect(page.get_by_text("8 of 9 files added")).to_be_visible()
    go_to(page, "Overview")
    expect(page.get_by_text(re.compile("4 runs · 3 agents · 1 task"))).to_be_visible()
    expect(page.get_by_text(re.compile("1 broken ledger"))).to_be_visible()
    expect(page.get_by_test_id("stMetricValue").first).to_have_text("67%")
    page.keyboard.press("Escape")
    page.locator(".st-key-fix_first a[href*=sub_goal]").first.click()
    headline(page, "Run")
    assert {box["status"] for box in boxes(page)} >= {"skipped"}


def test_hostile_files_are_shown_as_words_and_nothing_else(serve, open_page, tmp_path) -> None:
    address, failed = serve(str(tmp_path / "w")), hostile_run(2, False)
    page = open_page(f"{address}/data")
    bring(
        page,
        payload(f"{MARKDOWN}.plan.json", hostile_graph()),
        payload(f"{MARKUP}.jsonl", hostile_run(1, True).ledger() + failed.ledger()),
        payload("broken.jsonl", hostile_run(3, True).ledger().replace(b'"seq":4', b'"seq":5')),
        payload("hostile-text.jsonl", (TAMPERED / "hostile-text.jsonl").read_bytes()),
        payload(f"{MARKUP}.png", b"junk"),
    )
    untouched(page)
    go_to(page, "Overview")  # test_hostile_text goes through all pages
    still(page, page.locator(".st-key-scroll-flow .js-plotly-plot"))
    page.locator(".st-key-scroll-flow .point").first.hover(force=True)
    expect(page.locator(".st-key-scroll-flow .hovertext").first).to_contain_text("![pixel]")
    untouched(page)
    page.locator(".st-key-head-flow").get_by_role("button").click()
    opened_alone(open_page, download(page, "Where ranks differ (HTML)"), tmp_path, ".main-svg")
    page.keyboard.press("Escape")
    page.locator(".st-key-fix_first a[href*=sub_goal]").first.click()
    headline(page, "Run")
    expect(page.locator(".plan-live")).to_contain_text("Selected: ")
    untouched(page)
    page.goto(f"{address}/run?run={failed.head.sha256}")
    drawn = boxes(page)
    assert len(drawn) == 3
    click(page, drawn[0])
    expect(page.locator(".plan-live")).to_contain_text("Selected: <img src=")
    untouched(page)
    opened_alone(open_page, download(page, "Plan graph (HTML)"), tmp_path, ".plan-stage[data-boxes]")

    go_to(page, "Data")
    text = download(page, "Runs (CSV)").path().read_text(encoding="utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len(rows) == 1 + 3  # of the agents compared
    words = [cell for row in rows for cell in row if not re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell)]
    assert any(FORMULA in cell for cell in words)
    assert [cell for cell in words if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


@pytest.mark.slow
def test_a_plan_graph_and_a_sample_that_are_chosen_are_read_as_they_were_sent(serve, open_page) -> None:
    """Uploads are on disk: every place that takes one reads it from there."""
    page = open_page(f"{serve()}/annotate")
    page.get_by_role("button", name="Import").first.click()
    graph = "flowchart TD\n  look --> book\n"
    page.locator("input[type=file]").last.set_input_files([payload("plan.mmd", graph)])
    settle(page)
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_text("2 sub-goals").first).to_be_visible()
    go_to(page, "Data")
    page.get_by_text("Read a format of your own").click()
    sample = json.dumps({"bot": "b", "steps": [{"kind": "say", "words": MARKUP}]})
    page.locator("input[type=file]").last.set_input_files([payload("own.json", sample)])
    expect(page.get_by_text("1 record in the file, 1 run made of it")).to_be_visible()
    assert not elements(page, INJECTED)
