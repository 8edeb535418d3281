"""Text stays text: forty payloads in every text field of runs and graphs, on every page, in every export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import RunBuilder, a_run
from conftest import go_to, settle
from playwright.sync_api import Page
from screen import elements

from components.shared import navigation
from untaken.cli import main
from untaken.workspace import Workspace

Open = Callable[..., Page]
Serve = Callable[..., str]
RUN = "window.evil=1"
HOST = "//evil.example"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"--><script>{RUN}</script>",
    f"]]><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><img src=x onerror="{RUN}">',
    f"'><img src=x onerror='{RUN}'>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><a xlink:href='javascript:{RUN}'><text>evil</text></a></svg>",
    f"<math><mtext><img src=x onerror={RUN}></mtext></math>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe src=javascript:{RUN}></iframe>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<body onload={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<a href='javascript:{RUN}'>evil</a>",
    f"<a href='https:{HOST}'>evil</a>",
    f"<form action='https:{HOST}'><button>evil</button></form>",
    f"<meta http-equiv=refresh content='0;url=https:{HOST}'>",
    f"<base href='https:{HOST}/'>",
    f"<link rel=stylesheet href='https:{HOST}/a.css'>",
    f"<object data='https:{HOST}/a'></object>",
    f"<style>@import 'https:{HOST}/evil.css'</style>",
    f"<div style='background:url(https:{HOST}/evil.png)'>evil</div>",
    f"![evil](https:{HOST}/a.png)",
    f"[evil](javascript:{RUN})",
    f"[evil](data:text/html,<script>{RUN}</script>)",
    f"[evil][1]\n\n[1]: https:{HOST}",
    f"<https:{HOST}> https:{HOST} www.evil.example",
    f"$\\href{{javascript:{RUN}}}{{evil}}$",
    f"$$\\url{{https:{HOST}}}$$",
    f":red[evil] :material/home: `{RUN}`",
    f"# evil\n\n| a |\n|---|\n| <img src=x onerror={RUN}> |",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"&lt;script&gt;{RUN}&lt;/script&gt; &#60;img src=x onerror={RUN}&#62;",
]
A_FIELD = 4
"""Payloads together in one text: what is longer is cut on some pages."""
LIVE = (
    "[...e.attributes].some(a => /evil/.test(a.value) && (/^on/i.test(a.name) || "
    "/^(src|srcdoc|href|xlink:href|action|formaction|data|poster|content|style)$/i.test(a.name)) && "
    "!(e.tagName === 'A' && e.origin === location.origin && !/evil/.test(e.pathname + e.hash)))"
)
"""An element that would run or fetch something of a payload; a link of the app's own may name an id."""


def texts() -> list[str]:
    return [" ".join(PAYLOADS[n : n + A_FIELD]) for n in range(0, len(PAYLOADS), A_FIELD)]


def a_hostile_run(number: int, words: str) -> RunBuilder:
    run = a_run(
        f"{number} {words}", agent=f"{number % 2} {words}"[:200], task=f"t {words}"[:200], model=words
    )
    run.plan(words).select(words, f"other {words}", context=words)
    run.call(words[:200], ok=False, argument=words).observe({words[:60]: words}, ok=False)
    run.select(f"other {words}", words, context=words).say(words)
    run.verdict(words, bool(number % 2), by=f"human:{words}", reason=words)
    return run.finish(bool(number % 2), error=words, limit=words)


def a_hostile_graph(number: int, words: str) -> bytes:
    goals = [
        {"id": words, "title": words, "description": words, "critical": True, "check": {"verdict": True}},
        {
            "id": "b",
            "title": words,
            "deps": [words],
            "rules": [{"tool": words[:200]}],
            "check": {"outcome": True},
        },
    ]
    graph = {"schema": "untaken.plan/1", "id": f"g{number} {words}", "title": words, "sub_goals": goals}
    return json.dumps(graph | {"tasks": [f"t {words}"[:20] + "*"]}).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("hostile") / "w"
    with Workspace(at) as workspace:
        for number, words in enumerate(texts()):
            workspace.add(f"{words}.jsonl", a_hostile_run(number, words).ledger())
            added = workspace.add(f"{words}.plan.json", a_hostile_graph(number, words))
            assert number or added.new
        assert len(workspace.ledgers()) == len(texts())
    return at


def inert(page: Page) -> None:
    """Nothing of the payloads became an element, and nothing ran."""
    assert elements(page, LIVE) == []
    assert page.evaluate("window.evil") is None


def test_no_payload_in_any_field_runs_on_any_page(
    folder: Path, serve: Serve, open_page: Open, request: pytest.FixtureRequest
) -> None:
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
