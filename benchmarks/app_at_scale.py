"""Responsiveness of the app with very many runs: seconds until a page is idle, in a real browser.

Writes a workspace of small runs with the real writer (ten agents, a hundred tasks, ten repeats, a dozen
events each), serves it as a user does, and measures: the first visit, which reads and evaluates everything;
a second visit; a switch to each page; a step to the next failing run; what a reviewer saves about a run;
the other rule for missing verdicts, new and known. Then the same with a server that is started again,
which opens the ledgers from their tables. Nothing is asserted.

    python benchmarks/app_at_scale.py [runs]
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from browsing import APP, STILL, browser, served
from playwright.sync_api import Browser, Page, expect

from untaken.ledger import LedgerWriter, Observation, Plan, RunFinished, SkillSelection, ToolCall, Verdict
from untaken.workspace import Workspace

AGENTS, REPEATS = 10, 10
STEPS = ("find", "check", "pay")
CHOICES = ("quick", "careful", "ask")
GRAPH = """schema: untaken.plan/1
id: scale
tasks: ["task-*"]
sub_goals:
  - {id: find, title: Find the order, check: {tool_call: {name: find}}}
  - {id: check, title: Check the policy, deps: [find], critical: true, check: {tool_call: {name: check}}}
  - {id: pay, title: Pay, deps: [check], check: {tool_call: {name: pay}}}
  - {id: polite, title: Be polite, check: {verdict: true}}
"""


def write_ledger(path: Path, agent: int, tasks: int, chance: random.Random) -> None:
    """All runs of one agent; some steps are left out, some runs fail, some are never judged."""
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=agent)
    ticks = (start + timedelta(seconds=10 * n) for n in range(10**9))
    with LedgerWriter(path, clock=ticks.__next__, fsync="never") as ledger:
        for task in range(tasks):
            for repeat in range(REPEATS):
                run = ledger.start(
                    run_id=f"a{agent}.t{task}.{repeat}",
                    agent=f"agent-{agent}",
                    task_id=f"task-{task:03}",
                    task_repeat=repeat,
                )
                run.write(Plan, sub_goals=list(STEPS))
                for step in STEPS:
                    selected, *others = chance.sample(CHOICES, 3)
                    run.write(
                        SkillSelection,
                        selected=selected,
                        alternatives=others,
                        context_hash=f"{step}{task % 10}",
                    )
                    if chance.random() < 0.6 + agent * 0.04:
                        run.write(ToolCall, call_id=step, tool=step, arguments={"order": task})
                        run.write(Observation, call_id=step, ok=chance.random() < 0.9, content="done")
                if chance.random() < 0.8:
                    run.write(Verdict, sub_goal="polite", passed=chance.random() < 0.7, by="human:ann")
                won = chance.random() < 0.3 + agent * 0.05
                run.write(RunFinished, success=won, steps=3, cost=round(chance.uniform(0.1, 1.0), 3))


def make_workspace(folder: Path, runs: int) -> None:
    """A workspace of that many runs."""
    written = folder / "written"
    written.mkdir()
    (written / "scale.plan.yaml").write_text(GRAPH)
    for agent in range(AGENTS):
        tasks = max(1, runs // (AGENTS * REPEATS))
        write_ledger(written / f"agent-{agent}.jsonl", agent, tasks, random.Random(agent))
    Workspace.open_folder(written, at=folder / "workspace").close()


def timed(what: str, act: Callable[[], object]) -> None:
    """Print how long something took."""
    start = time.perf_counter()
    act()
    print(f"{time.perf_counter() - start:8.2f} s  {what}", flush=True)


def measure(address: str, chromium: Browser, *, saving: bool) -> None:
    """Walk through the app and print the times; `saving`: also of what a reviewer saves."""
    expect.set_options(timeout=600_000)

    def shows(page: Page, name: str) -> None:
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        page.locator(STILL).wait_for()

    def switch(page: Page, name: str) -> None:
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
        shows(page, name)

    def visit(page: Page) -> None:
        page.goto(address)
        shows(page, "Overview")

    def step(page: Page, place: int) -> None:
        page.keyboard.press("j")
        expect(page.get_by_text(re.compile(rf"^{place} of [\d,]+ to review"))).to_be_visible()
        page.locator(STILL).wait_for()

    def save(page: Page, key: str, words: str) -> None:
        page.keyboard.press(key)
        expect(page.locator(".st-key-saved-note")).to_contain_text(words)

    def saves(page: Page) -> None:
        page.get_by_role("button", name="Sign", exact=True).first.click()
        page.get_by_role("textbox", name="Your name", exact=True).press_sequentially("kim")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Signed as kim").first).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.locator(STILL).wait_for()
        page.keyboard.press("e")
        page.locator(".st-key-marking").wait_for()
        page.locator(STILL).wait_for()
        timed("a verdict saved", lambda: save(page, "x", "Verdict saved"))
        page.locator(STILL).wait_for()
        page.keyboard.press("n")
        page.keyboard.type(f"seen at {time.time()}")
        timed("a note saved", lambda: save(page, "Control+Enter", "Note saved"))
        page.locator(STILL).wait_for()
        timed("a failure mode saved", lambda: save(page, "c", "Failure mode assigned"))
        page.locator(STILL).wait_for()
        timed("a status saved", lambda: save(page, "2", "Status saved"))

    def rule(page: Page, words: str) -> None:
        page.get_by_test_id("stSidebar").get_by_text(words).click()
        expect(page.get_by_test_id("stMain").get_by_text(words).first).to_be_visible()
        page.locator(STILL).wait_for()

    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(600_000)
    timed("first visit: everything is read and evaluated", lambda: visit(page))
    timed("second visit", lambda: visit(page))
    for name in ("Run", "Decisions", "Rankings", "Data", "Overview"):
        timed(f"to {name}, for the first time", lambda name=name: switch(page, name))
    for name in ("Run", "Decisions", "Rankings", "Data", "Run"):
        timed(f"to {name}, again", lambda name=name: switch(page, name))
    for place in (2, 3, 4):
        timed("next failing run", lambda place=place: step(page, place))
    if saving:
        switch(page, "Queue")
        saves(page)
    switch(page, "Overview")
    for words in ("are left out", "count as not completed", "are left out"):
        timed(f"missing verdicts {words}", lambda words=words: rule(page, words))


def main() -> None:
    """Write, serve, measure."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="untaken-") as folder:
        timed(f"writing {runs:,} runs and adding them", lambda: make_workspace(Path(folder), runs))
        for what, saving in (("a new workspace", True), ("a server started again", False)):
            print(f"{what}:", flush=True)
            with served(*APP, str(Path(folder) / "workspace")) as address, browser() as chromium:
                measure(address, chromium, saving=saving)


if __name__ == "__main__":
    main()
