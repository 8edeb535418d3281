"""A session of the app without a browser: opened on a folder, and everything it sends to a screen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import RunBuilder
from google.protobuf.message import Message
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from components.shared.panels import LOG
from untaken.workspace import Workspace

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_runs"
SECONDS = 60


@pytest.fixture(scope="session", autouse=True)
def installed_components() -> Iterator[None]:
    """AppTest looks through every installed package for each session, a server does so once."""
    with pytest.MonkeyPatch.context() as patch:
        once = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", once)
        yield


@pytest.fixture(autouse=True)
def no_part_of_a_page_failed(caplog: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A part that fails is a sentence on the page and a traceback in the log: here it fails the test."""
    run = AppTest._run

    def checked(app: AppTest, *args: Any, **named: Any) -> AppTest:
        assert not run(app, *args, **named).exception
        return app

    monkeypatch.setattr(AppTest, "_run", checked)
    yield
    assert [record for record in caplog.get_records("call") if record.name == LOG.name] == []


class AfterTheFirstVisit(PagesManager):
    """AppTest treats every run as the first of a server, in which `pages/` is taken for an app of its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        PagesManager.uses_pages_directory = False


def filled(folder: Path, *runs: RunBuilder, plan: bytes | None = None) -> Path:
    """A workspace of these runs, each a file, and of a plan."""
    with Workspace(folder) as store:
        if plan:
            store.add("a.plan.yaml", plan)
        for run in runs:
            store.add(f"{run.run_id}.jsonl", run.ledger())
    return folder


def session(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    page: str = "overview",
    *,
    who: str = "",
    **address: str | list[str],
) -> AppTest:
    """A new session of somebody on the workspace in `folder`, by a link to one of its pages."""
    monkeypatch.setenv("UNTAKEN_WORKSPACE", str(folder))
    monkeypatch.delenv("UNTAKEN_DEMO", raising=False)
    monkeypatch.setattr("streamlit.testing.v1.app_test.PagesManager", AfterTheFirstVisit)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    for name, value in address.items():
        app.query_params[name] = value
    if who:
        app.session_state["reviewer_name"] = who
    return go_to(app, page)


def go_to(app: AppTest, page: str) -> AppTest:
    """The same session on another page."""
    return app.switch_page(f"pages/{page}.py").run()


def open_tab(app: AppTest, name: str) -> AppTest:
    """The Run page with another of its tabs open: only the open one is drawn."""
    return show_tab(app, "run_tabs", name)


def show_tab(app: AppTest, key: str, name: str | bool) -> AppTest:
    """The same page with another tab open, of tabs of which only the open one is drawn; or a fold open."""
    app.session_state[key] = name
    return app.run()


def field(app: AppTest, name: str) -> Any:
    """The first field whose key or label is this or begins so."""
    kinds = (app.text_input, app.text_area, app.checkbox, app.multiselect, app.selectbox, app.radio)
    return _called([one for kind in (*kinds, app.number_input) for one in kind], name)


def button(app: AppTest, name: str) -> Any:
    """The first button whose key or label is this or begins so."""
    return _called(app.button, name)


def press(app: AppTest, name: str) -> AppTest:
    button(app, name).click().run()
    return app


def _called(widgets: Iterable[Any], name: str) -> Any:
    every = [(words, one) for one in widgets for words in (str(one.key), one.label)]
    return next(one for fits in (str.__eq__, str.startswith) for words, one in every if fits(words, name))


def component_data(app: AppTest, component: str) -> dict[str, Any] | None:
    """What the page sends to a component of ours, where it draws one."""
    pending: list[Any] = [app._tree]
    while pending:
        node = pending.pop()
        pending += getattr(node, "children", {}).values()
        proto = getattr(node, "proto", None)
        if getattr(proto, "component_name", "").endswith(component):
            found: dict[str, Any] = json.loads(proto.json)
            return found
    return None


def said(app: AppTest) -> str:
    """All words that the page says by itself, tables and figures left out."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.text, app.info, app.warning)
    return "\n".join(element.value for kind in (*kinds, app.error, app.success) for element in kind)


def plain(app: AppTest) -> str:
    """What the page says, without the marks that keep words from being markdown."""
    return said(app).replace("\\", "").replace("\u2060", "")


def metrics(app: AppTest) -> dict[str, str]:
    """The figures on cards, by their labels."""
    return {card.label: card.value for card in app.metric}


def table(app: AppTest, name: str) -> pd.DataFrame:
    """The table of this name, as it is on screen."""
    return next(found.value for found in app.dataframe if found.proto.alt == name)


def sent(app: AppTest) -> Iterator[tuple[str, str]]:
    """Every text sent to the browser, with its place: ``Markdown.body``, ``Selectbox.options``.

    Texts inside JSON (figures, our component's data) come one by one, named after what holds the JSON.
    """
    pending: list[Any] = [app._tree]
    while pending:
        node = pending.pop()
        pending += getattr(node, "children", {}).values()
        if isinstance(proto := getattr(node, "proto", None), Message):
            yield from _texts(proto)


def _texts(message: Message) -> Iterator[tuple[str, str]]:
    for field, value in message.ListFields():
        place = f"{message.DESCRIPTOR.name}.{field.name}"
        repeated = not isinstance(value, (str, bytes, Message, int, float, bool))
        for one in value if repeated else (value,):
            if isinstance(one, Message):
                yield from _texts(one)
            elif isinstance(one, str):
                yield from ((place, text) for text in _inside(one))


def _inside(text: str) -> Iterator[str]:
    try:
        pending = [json.loads(text)] if text[:1] in ("{", "[") else [text]
    except ValueError:
        pending = [text]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            pending += value
