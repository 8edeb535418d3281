"""The plan graph in a real browser: colours, mouse, keyboard, and what survives a click."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from itertools import product

import pytest
from PIL import Image
from playwright.sync_api import Page

from components.palette import STATUS

pytestmark = pytest.mark.xdist_group("browser")


def settled(page: Page) -> None:
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    page.wait_for_timeout(400)


def boxes(page: Page) -> list[dict[str, object]]:
    """Status and centre of each box, in pixels of the stage."""
    stage = page.locator(".plan-stage[data-boxes]")
    stage.wait_for()
    page.wait_for_timeout(300)
    return list(json.loads(stage.get_attribute("data-boxes") or "[]"))


def colours_around(page: Page, x: int, y: int) -> set[tuple[int, int, int]]:
    """Colours of the pixels near a point of the stage, as painted."""
    picture = Image.open(io.BytesIO(page.locator(".plan-stage").screenshot())).convert("RGB")
    near = product(range(x - 60, x + 61, 3), range(y - 12, y + 13, 3))
    return {picture.getpixel(at) for at in near if 0 <= at[0] < picture.width and 0 <= at[1] < picture.height}


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def click(page: Page, box: dict[str, object]) -> None:
    page.locator(".plan-stage").click(position={"x": int(box["x"]), "y": int(box["y"])})  # type: ignore[call-overload]
    page.wait_for_url("**sub_goal=**")
    settled(page)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1440, 390])
def test_each_box_is_filled_in_the_colour_of_its_status(
    demo: str, open_page: Callable[..., Page], dark: bool, width: int
) -> None:
    page = open_page(f"{demo}/run", width=width, height=1400, dark=dark)
    drawn = boxes(page)
    assert len(drawn) > 3
    for box in drawn:
        fill = rgb(STATUS[box["status"]].fill)  # type: ignore[index]
        assert fill in colours_around(page, int(box["x"]), int(box["y"]))  # type: ignore[call-overload]


def test_a_click_selects_and_the_viewport_stays(demo: str, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{demo}/run", height=1400)
    boxes(page)
    page.get_by_label("Larger").click()
    page.wait_for_timeout(300)
    before = page.locator(".plan-stage").get_attribute("data-scale")
    near = [b for b in boxes(page) if 60 < int(b["x"]) < 400 and 60 < int(b["y"]) < 400]  # type: ignore[call-overload]
    click(page, near[0])
    assert "Selected:" in page.locator(".plan-live").inner_text()
    assert page.get_by_text("How one can tell").is_visible()
    assert page.locator(".plan-stage").get_attribute("data-scale") == before


def test_arrow_keys_move_and_enter_selects(demo: str, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{demo}/run", height=1400)
    boxes(page)
    frame = page.locator(".plan-frame")
    assert "sub-goals" in (frame.get_attribute("aria-label") or "")
    frame.focus()
    page.keyboard.press("Home")
    first = page.locator(".plan-live").inner_text()
    page.keyboard.press("ArrowDown")
    second = page.locator(".plan-live").inner_text()
    assert first != second
    page.keyboard.press("Enter")
    page.wait_for_url("**sub_goal=**")
    settled(page)
    assert page.locator(".plan-live").inner_text() == f"Selected: {second}"
    assert (
        page.evaluate(
            "() => { let a = document.activeElement; while (a?.shadowRoot) a = a.shadowRoot.activeElement; "
            "return a?.className }"
        )
        == "plan-frame"
    )


def test_j_and_k_step_through_the_failing_runs(demo: str, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{demo}/run")
    boxes(page)
    start = page.url
    page.locator("h1").click()
    page.keyboard.press("j")
    page.wait_for_function("start => location.href !== start", arg=start)
    settled(page)
    page.keyboard.press("k")
    page.wait_for_url(start)


def test_a_link_to_a_page_works_as_the_first_visit_of_a_server(
    serve: Callable[..., str], open_page: Callable[..., Page]
) -> None:
    """Such a visit makes Streamlit take the folder of pages for an app of its own."""
    page = open_page(f"{serve('--demo')}/run")
    page.get_by_role("link", name="Rankings").wait_for()
    assert page.get_by_role("heading", name="Run").is_visible()
