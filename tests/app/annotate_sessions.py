"""What tests of the Annotate page do on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sessions import session
from streamlit.testing.v1 import AppTest

from untaken.plans import PlanGraph, SubGoal
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


def opened(folder: Path, monkeypatch: Patch, name: str = "Ann", **address: str) -> AppTest:
    return session(folder, monkeypatch, "annotate", who=name, **address)


def signed(app: AppTest, name: str) -> AppTest:
    app.text_input(key="reviewer_field").set_value(name).run()
    assert not app.exception
    return app


def view(app: AppTest, name: str) -> AppTest:
    app.button_group(key="annotate_view").set_value(name).run()
    assert not app.exception
    return app


def field(app: AppTest, start: str) -> Any:
    kinds = (app.text_input, app.text_area, app.checkbox, app.multiselect, app.selectbox, app.radio)
    return next(one for kind in (*kinds, app.number_input) for one in kind if str(one.key).startswith(start))


def pressed(app: AppTest, label: str) -> AppTest:
    next(one for one in app.button if one.label.startswith(label)).click().run()
    assert not app.exception
    return app


def save(app: AppTest, message: str) -> AppTest:
    field(app, "annotate_message").set_value(message)
    return pressed(app, "Save as ")


def address(app: AppTest, name: str) -> str:
    """What the address says of `name`."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def newest(folder: Path, graph: str = "desk") -> PlanGraph:
    with Workspace(folder) as store:
        version = store.newest_version(graph)
        return store.graph_version(graph, version.version)


def node(graph: PlanGraph, name: str) -> SubGoal:
    return next(one for one in graph.sub_goals if one.id == name)
