"""One broken part breaks one part: it shows its code and what to do, the rest of the page is drawn."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any

import pytest
from sessions import ROOT, SAMPLES, go_to, said, sent, session
from streamlit.testing.v1 import AppTest
from waiting import patience

from components.shared import navigation, panels, state
from untaken.errors import UntakenError
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
SECRET = "/srv/untaken/secret.py"
PAGES = [name for name, _ in navigation.PAGES]
NO_PANELS = {"shared.evaluating", "shared.starting", "shared.state", "shared.text", "shared.navigation"}
NO_PART_OF_A_PAGE = {  # they say or change what is chosen, or head the page
    *("compare.choice.remember", "review.body.remember"),
    *("annotate.session.edit", "annotate.session.redo", "annotate.session.undo"),
    *("shared.cards.headline", "shared.cards.nothing_here", "shared.tables.picked"),
    "shared.listed_runs.of_whom",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("panels") / "w"
    Workspace.open_folder(SAMPLES / "graphs", at=at).close()
    with Workspace(at) as store:
        for name in ("careful-planner", "eager-closer"):
            store.add(f"{name}.jsonl", SAMPLES / "ledgers" / f"{name}.jsonl")
    return at


def modules() -> Iterator[ModuleType]:
    for path in sorted((ROOT / "components").glob("*/*.py")):
        if path.stem != "__init__" and path.parent.name != "figures":
            yield importlib.import_module(f"components.{path.parent.name}.{path.stem}")


def parts(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The panels that a module defines."""
    found = {name: value for name, value in vars(module).items() if hasattr(value, "__wrapped__")}
    return {name: f for name, f in found.items() if f.__module__ == module.__name__}


def draws(function: Callable[..., Any]) -> bool:
    """Whether it only draws: one that also answers what was chosen decides what follows."""
    return function.__annotations__.get("return") == "None"


def watch(patch: Patch, replaced: Callable[[str, Callable[..., Any]], Callable[..., Any]]) -> None:
    """Puts something in the place of every panel that only draws."""
    for module in modules():
        for name, function in parts(module).items():
            if draws(function):
                patch.setattr(module, name, replaced(f"{module.__name__}.{name}", function))


SEARCHING = "components.data.upload.injections_looked_for"


def drawn_parts(app: AppTest, page: str, patch: Patch) -> list[str]:
    """The panels that the page itself draws, in order."""
    calls: list[str] = []
    depth = 0

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            nonlocal depth
            calls.extend([name] if depth == 0 else [])
            depth += 1
            try:
                return function(*args, **named)
            finally:
                depth -= 1

        return call

    with patch.context() as inside:
        watch(inside, counted)
        go_to(app, page)
    return calls


@pytest.mark.parametrize("page", PAGES)
def test_every_part_of_a_page_is_reached_though_all_of_them_are_broken(
    page: str, folder: Path, monkeypatch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    app = session(folder, monkeypatch, page)
    ends = monotonic() + patience()
    while SEARCHING in (wanted := drawn_parts(app, page, monkeypatch)) and monotonic() < ends:
        sleep(0.5)  # it would be gone from the page at any moment
    broken: list[str] = []

    def breaking(name: str, _function: Callable[..., Any]) -> Callable[..., Any]:
        def fail(*_args: Any, **_named: Any) -> None:
            broken.append(name)
            raise RuntimeError(f"{SECRET}: {name}")

        return panels.panel(fail)

    with monkeypatch.context() as inside:
        watch(inside, breaking)
        go_to(app, page)
    assert broken == wanted
    assert said(app).count("panel\\-failed") == len(wanted)
    assert [text for _, text in sent(app) if SECRET in text or "Traceback" in text] == []
    assert len([record for record in caplog.records if SECRET in str(record.exc_info)]) == len(wanted)
    caplog.clear()


FAULTS = [
    ("an error of ours", UntakenError("ledger-locked", "it is locked", hint="Try again."), "ledger\\-locked"),
    ("a disk that fails", OSError(5, "Input/output error", SECRET), "disk\\-failed"),
    ("what nobody foresaw", ZeroDivisionError(SECRET), "panel\\-failed"),
]


@pytest.mark.parametrize(("desc", "error", "code"), FAULTS, ids=[case[0] for case in FAULTS])
def test_a_page_that_cannot_be_computed_says_so_and_the_way_to_the_others_stays(
    desc: str, error: Exception, code: str, folder: Path, monkeypatch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise error

    app = session(folder, monkeypatch, "data")
    with monkeypatch.context() as inside:
        inside.setattr(state, "derived", fail)
        go_to(app, "overview")
    assert code in said(app)
    assert app.sidebar.radio
    assert [text for _, text in sent(app) if SECRET in text] == []
    caplog.clear()
    assert "Overview" in said(go_to(app, "overview"))


def called(page: Path) -> Iterator[str]:
    """What a page uses of the components: folder, module and name."""
    tree = ast.parse(page.read_text("utf-8"))
    modules = {
        alias.asname or alias.name: f"{node.module}.{alias.name}".removeprefix("components.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield f"{modules[node.value.id]}.{node.attr}"


def test_whatever_a_page_draws_is_a_panel() -> None:
    used = {name for page in (ROOT / "pages").glob("*.py") for name in called(page)}
    bare = []
    for module in modules():
        short = module.__name__.removeprefix("components.")
        for name, function in vars(module).items():
            own = callable(function) and getattr(function, "__module__", "") == module.__name__
            if own and f"{short}.{name}" in used - NO_PART_OF_A_PAGE and short not in NO_PANELS:
                answer = str(getattr(function, "__annotations__", {}).get("return"))
                if answer.endswith("None") and not hasattr(function, "__wrapped__"):
                    bare.append(f"{short}.{name}")
    assert bare == []
