"""What the browser tests read off the screen: the plan graph's pixels, a table's cells, what was injected."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import TypedDict

from conftest import settle
from PIL import Image
from playwright.sync_api import Download, Locator, Page, TimeoutError

Open = Callable[..., Page]
Serve = Callable[..., str]
EVERYWHERE = """() => {
  const found = [], pending = [document];
  while (pending.length) {
    for (const element of pending.pop().querySelectorAll('*')) {
      found.push(element);
      if (element.shadowRoot) pending.push(element.shadowRoot);
    }
  }
  return found.filter((e) => %s).map((e) => e.outerHTML.slice(0, 200));
}"""
"""Elements of the document and of every component in it that satisfy a condition."""

STILL = """(element) => { const before = element.getBoundingClientRect(); return new Promise((answer) =>
  setTimeout(() => { const now = element.getBoundingClientRect();
    answer(before.width > 0 && ["x", "y", "width", "height"].every((side) => before[side] === now[side]));
  }, 400)) }"""
AT = """([plot, x, y]) => {
  const { xaxis, yaxis } = plot._fullLayout, at = plot.getBoundingClientRect();
  return [at.x + xaxis._offset + xaxis.d2p(x), at.y + yaxis._offset + yaxis.d2p(y)];
}"""
"""Where on the screen a point of a figure is."""

HOVERED = "(plot) => plot.matches(':hover') && (plot._hoverdata || []).length > 0"


class Box(TypedDict):
    """A sub-goal as drawn: its status, and its centre in pixels of the stage."""

    status: str
    x: int
    y: int


def boxes(page: Page) -> list[Box]:
    """The sub-goals of the plan graph, once it no longer moves."""
    settle(page)
    stage = page.locator(".plan-stage[data-boxes]")
    stage.wait_for()
    page.wait_for_function(
        "(stage) => { const now = stage.dataset.boxes; return new Promise((tell) => "
        "setTimeout(() => tell(now === stage.dataset.boxes), 200)) }",
        arg=stage.element_handle(),
    )
    return list(json.loads(stage.get_attribute("data-boxes") or "[]"))


def fills(page: Page, drawn: list[Box]) -> list[str]:
    """The colour that most pixels inside each box have, as #RRGGBB."""
    picture = Image.open(io.BytesIO(page.locator(".plan-stage").screenshot())).convert("RGB")
    return [_most_frequent(picture, box) for box in drawn]


def _most_frequent(picture: Image.Image, box: Box) -> str:
    near = product(range(box["x"] - 40, box["x"] + 41), range(box["y"] - 10, box["y"] + 11))
    inside = (at for at in near if 0 <= at[0] < picture.width and 0 <= at[1] < picture.height)
    (colour, _), *_ = Counter(picture.getpixel(at) for at in inside).most_common(1)
    return "#{:02X}{:02X}{:02X}".format(*colour)


def click(page: Page, box: Box) -> None:
    """Click the middle of a sub-goal."""
    page.locator(".plan-stage").click(position={"x": box["x"], "y": box["y"]})


def download(page: Page, label: str) -> Download:
    """What the button with this label hands out."""
    settle(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"⤓ {label}", exact=True).click()
    return waiting.value


def still(page: Page, element: Locator) -> Locator:
    """This element, once it is in view and neither moves nor changes its size."""
    settle(page)
    element.scroll_into_view_if_needed()
    page.wait_for_function(STILL, arg=element.element_handle())
    return element


def click_in(page: Page, plot: Locator, x: float, y: float) -> None:
    """Click a point of a figure, given in its own units, once the figure answers to the mouse there.

    On a busy machine the page may still move after it was found still, and a click beside the point is lost.
    """
    for _ in range(20):
        at = page.evaluate(AT, [still(page, plot).element_handle(), x, y])
        page.mouse.move(at[0] + 1, at[1])
        page.mouse.move(*at)
        with suppress(TimeoutError):
            page.wait_for_function(HOVERED, arg=plot.element_handle(), timeout=3_000)
            return page.mouse.click(*at)
    raise AssertionError(f"no point of the figure is at {x}, {y}")


def button(page: Page, words: str) -> Locator:
    """The button with these words and no others; a screen reader reads its shortcut after them."""
    return page.get_by_role("button", name=re.compile(rf"^{re.escape(words)}( Shortcut \S+)?$"))


def cells(grid: Locator, column: str) -> list[str]:
    """One column of a table, as a screen reader reads it (the rows in view)."""
    grid.get_by_test_id("stDataFrameResizable").scroll_into_view_if_needed()
    grid.locator("[role=gridcell]").first.wait_for(state="attached")
    heads = grid.locator("[role=columnheader]")
    index = heads.filter(has_text=re.compile(rf"^{re.escape(column)}$")).get_attribute("aria-colindex")
    return grid.locator(f"[role=gridcell][aria-colindex='{index}']").all_text_contents()


def tick(table: Locator, row: int) -> None:
    """Choose a row of a table by a click in it."""
    table.locator("[role=gridcell]").first.wait_for(state="attached")  # the rows are drawn
    table.get_by_test_id("stDataFrameResizable").click(position={"x": 18, "y": 52 + 35 * row})


def elements(page: Page, condition: str) -> list[str]:
    """Elements `e`, in the page and in its components, for which a JavaScript condition holds."""
    return list(page.evaluate(EVERYWHERE % condition))
