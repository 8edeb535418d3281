"""Pages of the app as lines of text, and the steps of a visitor who looks at them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sessions import go_to, session
from streamlit import config
from streamlit.testing.v1 import AppTest

OPTIONS = 12
"""Of a widget, listed by name."""
MARKS = {"title": "# ", "header": "## ", "subheader": "### ", "markdown": "", "text": ""}
UNSEEN = re.compile(r"\u2060|\\(?=[^a-zA-Z0-9\s])")
"""What keeps words from being markdown."""


class Visit:
    """A visitor of the workspace in the folder `w`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._app: AppTest | None = None
        config.set_option("runner.magicEnabled", False)  # as the app's own settings have it
        self._lines: list[str] = []

    def does(self, step: str) -> str:
        """What the page shows after a step; of a page that was open before, only what has changed."""
        verb, *words = shlex.split(step)
        before = [] if verb in ("open", "go") else self._lines
        getattr(self, f"_{verb}")(*words)
        assert not self.app.exception
        self._lines = list(_lines(self.app))
        if not before:
            return "\n".join(self._lines) + "\n"
        changes = unified_diff(before, self._lines, n=0, lineterm="")
        return "\n".join(line for line in changes if line[:2] not in ("--", "++", "@@")) + "\n"

    @property
    def app(self) -> AppTest:
        assert self._app is not None
        return self._app

    def _open(self, page: str, *address: str) -> None:
        """Follows a link: ``open PAGE NAME=VALUE``."""
        self._app = session(Path.cwd() / "w", self._patch, page)
        for name, _, value in (part.partition("=") for part in address):
            self.app.query_params[name] = value
        if address:
            self.app.run()

    def _go(self, page: str) -> None:
        """Clicks in the navigation, which forgets the address."""
        self.app.query_params.clear()
        go_to(self.app, page)

    def _name(self, name: str) -> None:
        self._show("reviewer_name", name)

    def _show(self, key: str, value: str = "") -> None:
        """Opens a tab of this name, or a fold."""
        self.app.session_state[key] = value or True
        self.app.run()

    def _click(self, key: str) -> None:
        self._found(key).click().run()

    def _set(self, key: str, value: str) -> None:
        """A value as JSON, or a text."""
        try:
            told = json.loads(value)
        except ValueError:
            told = value
        self._found(key).set_value(told).run()

    def _pick(self, key: str, words: str) -> None:
        """Of a list the first that says so."""
        found = self._found(key)
        at = next(n for n, option in enumerate(found.options) if words in UNSEEN.sub("", option))
        found.select_index(at).run()

    def _found(self, key: str) -> Any:
        """The widget with this key or label, or whose key begins so: the rest may name what it is about."""
        widgets = [node for node in _nodes(self.app._tree) if getattr(node, "key", None)]
        for fits in (
            lambda node: node.key == key,
            lambda node: UNSEEN.sub("", str(getattr(node, "label", ""))) == key,
            lambda node: node.key.startswith(f"{key}-"),
        ):
            for node in widgets:
                if fits(node):
                    return node
        raise LookupError(f"no widget {key!r} among {[node.key for node in widgets]}")


def _nodes(node: Any) -> Iterator[Any]:
    for child in getattr(node, "children", {}).values():
        yield child
        yield from _nodes(child)


def _lines(app: AppTest) -> Iterator[str]:
    held = {name: value for name, value in app.query_params.items() if value}
    yield "address " + json.dumps(held, ensure_ascii=False)
    for node in _nodes(app._tree):
        yield from UNSEEN.sub("", _words(node)).splitlines()


def _words(node: Any) -> str:
    """What one element says; nothing for frames, drawings of our own and style."""
    kind, label = node.type, getattr(node, "label", "")
    if kind in ("flex_container", "column", "html", "bidi_component", "main", "sidebar", "event", "form"):
        return ""
    if kind in ("tab_container", "popover", "download_button"):
        return f"[{label or node.proto.label}]" if kind == "download_button" else ""
    if kind == "metric":
        return f"{label}: {node.value} {node.delta}".rstrip()
    if kind == "dataframe":
        return f"table {node.proto.alt}\n{_table(node.value)}"
    if kind == "plotly_chart":
        return f"figure {node.proto.alt}"
    if kind == "progress":
        return f"progress {node.proto.value}% {node.proto.text}"
    if kind == "page_link":
        return f"→ {node.proto.label}"
    if kind in ("tab", "expander"):
        return f"[{kind} {label}]"
    if kind == "button":
        return f"[{label}]{' (disabled)' if node.disabled else ''}"
    if hasattr(node, "options"):
        options = " | ".join(map(str, node.options[:OPTIONS]))
        return f"[{label}: {node.value!r} of {len(node.options)}: {options}]"
    if getattr(node, "key", None):
        return f"[{label}: {getattr(node, 'value', '')!r}]"
    return "\n".join(f"{MARKS.get(kind, f'{kind}: ')}{line}" for line in str(node.value).splitlines())


def _table(rows: pd.DataFrame) -> str:
    return rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")
