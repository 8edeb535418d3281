"""What people come for, done in a real browser on the sample runs: from the first number to the evidence."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from conftest import answered, go_to, headline, press, selection, settle
from playwright.sync_api import Locator, Page, expect
from screen import Open, boxes, button, cells, click, fills, still, tick

from untaken.ledger import Run, read_ledger
from untaken.plans import load_graph
from untaken.scoring import NodeScore, RunScore, score_run

SAMPLES = Path(__file__).parents[2] / "sample_runs"
COLOURS = {"completed": "#BFE0F7", "attempted": "#FFD199", "skipped": "#EEF0F2", "unscored": "#FFFFFF"}
NIGHT = {"completed": "#1F5C86", "attempted": "#7A4A12", "skipped": "#26313C", "unscored": "#10161D"}
WHITE, BLACK = "rgb(255, 255, 255)", "rgb(16, 22, 29)"
FOCUSED = """() => {
  let element = document.activeElement;
  while (element?.shadowRoot) element = element.shadowRoot.activeElement;
  return element?.className;
}"""


@cache
def telling_run() -> tuple[Run, RunScore]:
    """A sample run with completed, attempted and skipped sub-goals, scored by the engine."""
    graph = load_graph(SAMPLES / "graphs/refund-desk.plan.yaml")
    for run in read_ledger(SAMPLES / "ledgers/eager-closer.jsonl"):
        score = score_run(run, graph)
        if {"completed", "attempted", "skipped"} <= {node.status for node in score.nodes}:
            return run, score
    raise LookupError("the samples hold no such run")


def node(status: str) -> NodeScore:
    """The first sub-goal of `telling_run` with this status."""
    return next(node for node in telling_run()[1].nodes if node.status == status)


def picker(page: Page, name: str) -> Locator:
    """The list that shows, and changes, what is selected."""
    return page.get_by_role("combobox", name=name, exact=True)


def evidence_of(page: Page, of: NodeScore) -> None:
    """The evidence beside the graph speaks of this sub-goal."""
    settle(page)
    expect(picker(page, "Sub-goal")).to_have_value(re.compile(re.escape(of.title)))
    expect(page.get_by_text("How it is checked")).to_be_visible()
    expect(page.get_by_test_id("stText").filter(has_text=of.reason).first).to_be_visible()


def test_a_newcomer_comes_from_the_numbers_to_a_run_that_contradicts_them(demo: str, open_page: Open) -> None:
    page = open_page(demo)
    headline(page, "Overview")
    numbers = page.get_by_test_id("stMetric")
    expect(numbers).to_have_count(3)
    expect(page.get_by_text(re.compile(r"^432 runs · 6 agents · 24 tasks"))).to_be_visible()
    value = numbers.first.get_by_test_id("stMetricValue").inner_text()
    count, of = re.findall(r"(\d+) of (\d+) runs with a recorded", page.locator("body").inner_text())[0]
    assert value == f"{int(count) / int(of):.0%}"
    flow = page.locator(".st-key-scroll-flow .js-plotly-plot")
    for agent in ("careful-planner", "full-workflow", "quick-workflow"):
        expect(flow.get_by_text(agent).first).to_be_visible()

    link = page.get_by_test_id("stPageLink-NavLink").filter(has_text="lucky").first
    agent, task = re.findall(r"lucky · (\S+) on (\S+)", link.inner_text())[0]
    with answered(page):
        link.click()
    headline(page, "Run")
    assert len(selection(page)["run"]) == 64
    expect(page.locator(".st-key-facts").get_by_text("✓ succeeded", exact=True)).to_be_visible()
    expect(page.get_by_text("Succeeded without").first).to_be_visible()
    expect(picker(page, "Run")).to_have_value(re.compile(f"lucky · {task} .* · {agent} · "))
    assert len(boxes(page)) == 8


def the_drawn_colours_are_the_status_of_each_sub_goal(page: Page, colours: dict[str, str]) -> None:
    drawn = boxes(page)
    assert [box["status"] for box in drawn] == [node.status for node in telling_run()[1].nodes]
    for box, fill in zip(drawn, fills(page, drawn), strict=True):
        assert fill == colours.get(box["status"], fill)


def test_the_drawn_colours_are_the_status_of_each_sub_goal_and_a_click_shows_its_evidence(
    demo: str, open_page: Open
) -> None:
    run, score = telling_run()
    page = open_page(f"{demo}/run?run={run.digest}", height=1400)
    the_drawn_colours_are_the_status_of_each_sub_goal(page, COLOURS)
    for status in ("completed", "attempted", "skipped"):
        wanted = node(status)
        with answered(page):
            click(page, boxes(page)[score.nodes.index(wanted)])
        evidence_of(page, wanted)
        assert selection(page) == {"run": run.digest, "sub_goal": wanted.sub_goal}

    elsewhere = open_page(page.url, width=390, height=1400, dark=True, elsewhere=True)
    elsewhere.get_by_text("Plan graph", exact=True).click()
    the_drawn_colours_are_the_status_of_each_sub_goal(elsewhere, NIGHT)
    elsewhere.set_viewport_size({"width": 1440, "height": 1400})
    evidence_of(elsewhere, wanted)
    expect(elsewhere.locator(".plan-live")).to_contain_text(f"Selected: {wanted.title}")

    with answered(elsewhere):
        elsewhere.get_by_role(
            "tab", name="Sub-goals", exact=True
        ).click()  # the graph's twin for those who cannot see it
    twin = elsewhere.locator("[role=tabpanel]:not([hidden])")
    assert cells(twin, "sub-goal") == [node.title for node in score.nodes]
    words = {"attempted": "attempted, not completed", "not_required": "not required"}
    statuses = [cell.partition(" ")[2] for cell in cells(twin, "status")]
    assert statuses == [words.get(node.status, node.status) for node in score.nodes]


@pytest.mark.slow
def test_the_graph_can_be_read_and_used_by_keyboard_alone(demo: str, open_page: Open) -> None:
    run, score = telling_run()
    page = open_page(f"{demo}/run?run={run.digest}", height=1400)
    boxes(page)
    expect(page.locator(".plan-frame")).to_have_attribute(
        "aria-label", re.compile("8 sub-goals: 3 completed")
    )
    page.locator(".plan-frame").focus()
    ways = walk(page)
    assert {words.partition(":")[0] for words in ways} == {node.title for node in score.nodes}
    wanted = node("skipped")
    page.keyboard.press("Home")
    for key in ways[f"{wanted.title}: skipped, critical"]:
        page.keyboard.press(key)
    press(page, "Enter")
    evidence_of(page, wanted)
    assert selection(page)["sub_goal"] == wanted.sub_goal
    expect(page.locator(".plan-live")).to_have_text(f"Selected: {wanted.title}: skipped, critical")
    assert page.evaluate(FOCUSED) == "plan-frame"


def walk(page: Page) -> dict[str, tuple[str, ...]]:
    """The label of each sub-goal that arrow keys lead to, and the keys."""
    live = page.locator(".plan-live")
    ways: dict[str, tuple[str, ...]] = {}
    pending: list[tuple[str, ...]] = [()]
    while pending:
        way = pending.pop(0)
        for key in ("Home", *way):
            page.keyboard.press(key)
        if (words := live.inner_text()) not in ways:
            ways[words] = way
            pending += [(*way, key) for key in ("ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp")]
    return ways


@pytest.mark.slow
def test_j_and_k_count_through_the_failing_runs_but_not_while_typing(demo: str, open_page: Open) -> None:
    page = open_page(f"{demo}/run")
    position = page.get_by_text(re.compile(r"^\d+ of \d+ to review$"))
    expect(position).to_contain_text("1 of")
    expect(button(page, "Next")).to_be_enabled()
    first = selection(page)["run"]
    for key, place in (("j", 2), ("j", 3), ("k", 2)):
        press(page, key)
        expect(position).to_contain_text(f"{place} of")
    second = selection(page)["run"]
    assert second != first
    settle(page)
    typing = picker(page, "Run")
    typing.click()
    page.keyboard.type("jk")
    expect(typing).to_have_value("jk")
    page.keyboard.press("Escape")
    expect(position).to_contain_text("2 of")
    assert selection(page)["run"] == second


@pytest.mark.slow
def test_a_row_of_the_decisions_opens_its_run_at_that_decision(demo: str, open_page: Open) -> None:
    page = open_page(f"{demo}/decisions?view=skills", width=2600)  # wide enough for every column
    table = page.locator(".st-key-paths")
    wanted = {name: cells(table, name)[2] for name in ("agent", "task id", "decision point", "alternative")}
    with answered(page):
        tick(table, 2)
    headline(page, "Run")
    assert selection(page)["decision"] == wanted["decision point"]
    expect(picker(page, "Run")).to_have_value(re.compile(f"{wanted['task id']} .* · {wanted['agent']} · "))
    expect(page.get_by_role("tab", name="Decision points", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    alternatives = page.locator("[role=tabpanel]:not([hidden])")
    assert set(cells(alternatives, "decision point")) == {wanted["decision point"]}
    assert wanted["alternative"] in cells(alternatives, "alternative")
    with answered(page):
        page.go_back()
    headline(page, "Decisions")
    expect(page.get_by_role("heading", name="All alternatives")).to_be_visible()


@pytest.mark.slow
def test_the_navigation_of_a_narrow_screen_keeps_the_selected_run_and_pages_follow_the_theme(
    demo: str, open_page: Open
) -> None:
    run, _ = telling_run()
    page = open_page(f"{demo}/run?run={run.digest}&sub_goal=order", width=390, height=844, dark=True)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", BLACK)
    for name in ("Data", "Run", "Overview"):
        settle(page)
        if page.get_by_test_id("stExpandSidebarButton").is_visible():
            page.get_by_test_id("stExpandSidebarButton").click()
        go_to(page, name)
        expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
        assert selection(page) == {"run": run.digest, "sub_goal": "order"}
    figure = page.locator(".st-key-scroll-flow .main-svg").first
    expect(figure).to_have_css("background-color", BLACK)
    with answered(page):
        page.emulate_media(color_scheme="light")  # the system's theme changes while the page is open
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", WHITE)
    expect(figure).to_have_css("background-color", WHITE)


@pytest.mark.slow
def test_a_mark_of_the_decisions_opens_its_choice_and_brings_it_into_view(demo: str, open_page: Open) -> None:
    page = open_page(f"{demo}/decisions?view=skills")
    marks = page.locator(".st-key-scroll-choices-Advantage .points path.point")
    expect(marks).to_have_count(10)
    assert "choice" not in selection(page)
    still(page, page.locator(".st-key-scroll-choices-Advantage .js-plotly-plot"))
    with answered(page):
        marks.nth(3).click(force=True)  # plotly lays its own layer over the marks
    opened = page.locator(".st-key-choice")
    expect(opened).to_be_in_viewport(ratio=0.9)
    expect(opened).to_contain_text("search_by_email chosen, search_by_number alternative")
    expect(picker(page, "Choice")).to_have_value(re.compile("search_by_email → search_by_number"))
    with answered(page):
        opened.get_by_test_id("stPageLink").first.click()
    headline(page, "Run")
    assert {"run", "decision"} <= selection(page).keys()
    with answered(page):
        page.go_back()
    headline(page, "Decisions")
    expect(page.locator(".st-key-choice")).to_contain_text("search_by_email chosen")
