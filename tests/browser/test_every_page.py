"""Every page on every screen: nothing runs off the side, and axe-core finds nothing serious or moderate."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import answered
from playwright.sync_api import Page, expect
from screen import Open

from components.shared.navigation import PAGES

DARK = "rgb(16, 22, 29)"
WIDTHS = (390, 1280, 2560)
IN_DARK = ("overview", "run", "annotate", "decisions")
"""A page with figures, one with a transcript, one with fields, one with tables."""
NOT_MINOR = ("moderate", "serious", "critical")
LOUD = """async ([where, rules]) => (await axe.run(where || document, {resultTypes: ['violations'],
        ...(rules.length && {runOnly: {type: 'rule', values: rules}})})).violations
    .map((rule) => ({impact: rule.impact, id: rule.id,
                     nodes: rule.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary}`)}))"""
"""What axe-core has against the page, or these parts of it, as it is now."""


POPOVER = ("[data-testid=stPopover]", "[data-testid=stPopoverBody]")
CURRENT = "[data-testid=stSidebarNavLink][aria-current=page]"
COVER = "#starting"
AT_THE_TOP = "() => document.querySelector('h1').getBoundingClientRect().y < 40"
SIDEWAYS = """() => [document.documentElement, document.body, document.querySelector('[data-testid=stMain]')]
    .every((element) => element.scrollWidth <= element.clientWidth + 1)"""


CLIPPED = """() => {
  const found = [];
  const outside = (one, frame) => one.width && (one.left < frame.left - 2 || one.right > frame.right + 2
    || one.top < frame.top - 2 || one.bottom > frame.bottom + 2);
  for (const plot of document.querySelectorAll('.js-plotly-plot')) {
    if (!plot.checkVisibility()) continue;
    const frame = plot.getBoundingClientRect(), holder = plot.closest('[class*=st-key-scroll-]');
    if (frame.width > holder.scrollWidth + 1) found.push(`figure wider than its frame: ${holder.className}`);
    for (const words of plot.querySelectorAll('.main-svg text'))
      if (outside(words.getBoundingClientRect(), frame)) found.push(words.textContent);
  }
  for (const table of document.querySelectorAll('[data-testid=stDataFrameResizable]'))
    if (table.checkVisibility() && table.getBoundingClientRect().right > innerWidth) found.push('a table');
  return found;
}"""
"""Labels of figures that are cut off, figures and tables that run out of their frames."""


HINTED = """() => {
  const boxes = [...document.querySelectorAll('[class*=st-key-scroll-]')].filter((b) => b.checkVisibility());
  const scrolls = (box) => box.scrollWidth > box.clientWidth + 1;
  const says = (box) => getComputedStyle(box, '::before').content !== 'none';
  return boxes.every((box) => scrolls(box) === says(box)) ? boxes.filter(scrolls).length : -1;
}"""
"""How many figures scroll sideways; -1 until these and no others say so."""


def axe_core() -> str | None:
    """The script of axe-core, where a package of the development environment carries it."""
    found = find_spec("axe_playwright_python")
    return None if found is None or found.origin is None else str(Path(found.origin).parent / "axe.min.js")


def fits(page: Page, width: int) -> None:
    """Nothing of the page gets wider than the screen; tables and figures may scroll in their own frame."""
    expect(page.locator("html")).to_have_js_property("clientWidth", width)
    page.wait_for_function(SIDEWAYS)  # figures follow a new width a moment later
    page.wait_for_function(f"() => ({CLIPPED})().length === 0")


def faults(page: Page, *rules: str, where: Sequence[str] = ()) -> list[Any]:
    """Violations of these rules (or all) of axe-core, without the minor ones."""
    asked = [{"include": [[part] for part in where]} if where else None, rules]
    return [one for one in page.evaluate(LOUD, asked) if one["impact"] in NOT_MINOR]


@pytest.mark.parametrize(("name", "title"), PAGES, ids=[name for name, _ in PAGES])
def test_a_page_at_its_address_is_marked_fits_every_screen_and_is_accessible_in_light_and_dark(
    demo: str, open_page: Open, name: str, title: str, request: pytest.FixtureRequest
) -> None:
    """With --slow in dark, too, where otherwise the pages of `IN_DARK` speak for the others."""
    page, script = open_page(f"{demo}/{name}", width=1280), axe_core()
    page.wait_for_function(AT_THE_TOP)
    expect(page.locator(CURRENT)).to_have_text(title)
    expect(page).to_have_title(f"{title} · Untaken")
    expect(page.locator(COVER)).to_have_count(0)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        fits(page, width)
        hinted = ("> 0" if width < 1280 else "=== 0") if title == "Rankings" else ">= 0"
        page.wait_for_function(f"() => ({HINTED})() {hinted}")
    page.set_viewport_size({"width": 1280, "height": 900})
    if script is None:
        pytest.skip("axe-core is not installed: pip install axe-playwright-python, or make test")
    page.add_script_tag(path=script)
    page.locator("[data-testid=stSidebarNavItems][role=none]").wait_for()
    assert faults(page) == []
    if name not in IN_DARK and not request.config.getoption("--slow"):
        return
    with answered(page):  # figures are coloured by the server
        page.emulate_media(color_scheme="dark")  # the system's theme changes while the page is open
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", DARK)
    assert faults(page, "color-contrast") == []
    page.get_by_role("button", name="How is this computed?").click()  # an open one has a colour of its own
    page.get_by_test_id("stPopoverBody").wait_for()
    assert faults(page, "color-contrast", where=POPOVER) == []


PLACES = """(parts) => parts
    .map((one) => document.querySelector(`.st-key-${one}`).closest('[class*=st-key-beside-] > *'))
    .map((one) => one.getBoundingClientRect())
    .map((box) => [box.left, box.top, box.right, box.bottom])"""


def test_what_follows_two_columns_takes_the_room_below_the_shorter_one(demo: str, open_page: Open) -> None:
    parts = ("annotate-plan", "annotate_sub_goal", "annotate_view")
    page = open_page(f"{demo}/annotate", width=1440)
    column, beside, below = page.evaluate(PLACES, parts)
    assert beside[3] > column[3] + 40  # longer than the first column
    assert 0 <= below[1] - column[3] < 40
    assert below[2] <= beside[0]
    page.set_viewport_size({"width": 900, "height": 900})
    page.wait_for_function(
        f"(parts) => new Set(({PLACES})(parts).map((one) => one[0])).size === 1", arg=parts
    )


COLUMNS = """() => [document.querySelector('.st-key-run-body'),
    ...document.querySelectorAll(':is(.st-key-why, .st-key-plan-and-transcript) [data-testid=stColumn]')]
    .map((one) => one.getBoundingClientRect().width)"""
"""Widths of the first screen of a run and of its columns."""


def test_a_run_begins_with_its_answers_and_has_plan_and_transcript_on_the_first_screen(
    demo: str, open_page: Open
) -> None:
    page = open_page(f"{demo}/run", width=1440, height=900)

    def places() -> list[tuple[float, float, float]]:
        parts = (".st-key-brief", ".st-key-why", ".plan-frame", ".transcript")
        boxes = [page.locator(one).first.bounding_box() or {"x": 0, "y": 0, "height": 0} for one in parts]
        return [(box["x"], box["y"], box["height"]) for box in boxes]

    page.locator(".plan-stage[data-boxes]").wait_for()
    for width in (1440, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        fits(page, width)
        brief, why, plan, transcript = places()
        assert brief[1] < why[1] < min(plan[1], transcript[1])
        assert 0 < max(brief[2], why[2]) <= 320
        assert max(plan[1], transcript[1]) < 700
        assert plan[0] < transcript[0]
    for width in (1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        fits(page, width)
        downwards = [y for _, y, _ in places()]
        assert downwards == sorted(downwards)
        widths = page.evaluate(COLUMNS)
        assert len(widths) == 5  # the body; cause and notes; plan and transcript
        assert all(abs(width - widths[0]) < 40 for width in widths), "one under the other, and as wide"
