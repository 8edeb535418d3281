"""The plan graph in a real browser: what survives a click."""

from __future__ import annotations

import json
from typing import Final

import desk
from builders import a_graph
from conftest import answered
from playwright.sync_api import expect
from screen import Open, boxes, click

from components.plan.bundle import bundle
from components.plan.markup import markup, plan_html
from components.plan.network import payload
from components.plan.view import SOURCE
from untaken.plans import read_graph
from untaken.views.plan_drawing import draw

CALLED_TWICE: Final = """async ([drawer, loader, markup, data]) => {
  const module = async (text) => (await import(URL.createObjectURL(
    new Blob([text], { type: "text/javascript" })))).default;
  const [draw, load] = [await module(drawer), await module(loader)];
  const pause = (ms) => new Promise((go) => setTimeout(go, ms));
  const drawn = [];
  for (const late of [true, false]) for (let ticks = 0; ticks < 8; ticks += 1) {
    if (late) delete window.untakenVis;
    const parentElement = document.createElement("div");
    parentElement.innerHTML = markup;
    document.body.append(parentElement);
    let latest = 0;
    const call = async (turn) => {
      latest = turn;
      const cleanUp = await (async () => draw({ data: structuredClone(data), parentElement }))();
      if (turn !== latest) cleanUp?.();
    };
    call(1);
    for (let tick = 0; tick < ticks; tick += 1) await null;
    call(2);
    if (late) load();
    await pause(20);
    drawn.push(parentElement.querySelectorAll("canvas").length);
    parentElement.remove();
  }
  return drawn;
}"""
"""Calls the drawer as Streamlit does, the second time while the first is under way: canvases of each try."""


def test_a_click_selects_and_the_viewport_stays(demo: str, open_page: Open) -> None:
    page = open_page(f"{demo}/run", height=1400)
    boxes(page)
    stage = page.locator(".plan-stage")
    fitted = stage.get_attribute("data-scale") or ""
    page.get_by_label("Larger").click()
    # Until the plan is redrawn, its boxes keep their old places.
    expect(stage).not_to_have_attribute("data-scale", fitted)
    near = [box for box in boxes(page) if 60 < box["x"] < 400 and 60 < box["y"] < 400]
    before = stage.get_attribute("data-scale")
    with answered(page):
        click(page, near[0])
    page.wait_for_url("**sub_goal=**")
    expect(page.locator(".plan-live")).to_contain_text("Selected:")
    expect(page.get_by_text("How it is checked")).to_be_visible()
    assert stage.get_attribute("data-scale") == before


def test_an_edit_while_the_drawing_comes_leaves_one_canvas(open_page: Open) -> None:
    """Streamlit cleans up after a call that another one has overtaken, as soon as it has answered."""
    graph, _ = read_graph(desk.GRAPH, name="desk.plan.yaml")
    given = [SOURCE, bundle(), markup(), payload(draw(graph, None), selected=None)]
    assert open_page("about:blank").evaluate(CALLED_TWICE, given) == [1] * 16


def test_a_zoomed_drawing_shows_no_blank_beside_it(open_page: Open) -> None:
    steps = [{"id": f"s{n}", "deps": [f"s{n - 1}"] if n else []} for n in range(30)]
    page = open_page("about:blank", width=390)
    page.set_content(plan_html(a_graph(*steps)))
    page.locator(".plan-stage[data-boxes]").wait_for()
    first, *_ = json.loads(page.locator(".plan-stage").get_attribute("data-boxes") or "[]")
    assert 0 < first["y"] < 60


def test_a_phone_shows_every_column_and_a_tap_makes_them_readable(open_page: Open) -> None:
    branches = [
        {"id": f"b{b}s{n}", "deps": [f"b{b}s{n - 1}"] if n else []} for b in range(6) for n in range(10)
    ]
    page = open_page("about:blank", width=390)
    page.set_content(plan_html(a_graph(*branches)))
    stage = page.locator(".plan-stage[data-boxes]")
    stage.wait_for()
    drawn = json.loads(stage.get_attribute("data-boxes") or "[]")
    assert all(20 < box["x"] < 338 for box in drawn)
    click(page, drawn[0])
    expect(stage).to_have_attribute("data-scale", "0.620")
