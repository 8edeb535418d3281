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
DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


class Visit:
    """A visitor of the workspace in the folder `w`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._app: AppTest | None = None
        self._page = ""
        self._seen: dict[str, list[str]] = {}
        config.set_option("runner.magicEnabled", False)  # as the app's own settings have it

    def does(self, step: str) -> str:
        """What the page shows after a step; of a page that was shown before, only what has changed."""
        verb, *words = shlex.split(step)
        getattr(self, f"_{verb}")(*words)
        assert not self.app.exception
        before, now = self._seen.get(self._page), list(_lines(self.app))
        self._seen[self._page] = now
        if before is None:
            return "\n".join(now) + "\n"
        changes = unified_diff(before, now, n=0, lineterm="")
        return "".join(f"{line}\n" for line in changes if line[:3] not in ("---", "+++", "@@ "))

    @property
    def app(self) -> AppTest:
        assert self._app is not None
        return self._app

    def _open(self, page: str, *address: str) -> None:
        """Follows a link: ``open PAGE NAME=VALUE``."""
        asked = {name: value for name, _, value in (part.partition("=") for part in address)}
        self._page, self._app = page, session(Path.cwd() / "w", self._patch, page, **asked)

    def _again(self) -> None:
        """Somebody else opens the same address: what it does not hold changes."""
        held = dict(self.app.query_params)
        self._open(self._page)
        for name, value in held.items():
            self.app.query_params[name] = value
        self.app.run()

    def _go(self, page: str) -> None:
        """Clicks in the navigation, which forgets the address."""
        self._page = page
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
        self._type(key, value)
        self.app.run()

    def _type(self, key: str, value: str) -> None:
        """A value as JSON, or a text, which is sent with the next click."""
        try:
            told = json.loads(value)
        except ValueError:
            told = value
        self._found(key).set_value(told)

    def _pick(self, key: str, words: str) -> None:
        """Of a list the option at this place, or the first that says so."""
        found = self._found(key)
        said = [UNSEEN.sub("", option) for option in found.options]
        at = int(words) if words.isdigit() else next(n for n, option in enumerate(said) if words in option)
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
    yield "address " + DIGEST.sub(r"\1…", json.dumps(held, ensure_ascii=False))
    for node in _nodes(app._tree):
        yield from DIGEST.sub(r"\1…", UNSEEN.sub("", _words(node))).splitlines()


def _words(node: Any) -> str:
    """What one element says; nothing for frames, drawings of our own and style."""
    kind, label = node.type, getattr(node, "label", "")
    if kind == "bidi_component" and node.proto.component_name.endswith("untaken_queue"):
        sent = json.loads(node.proto.json)
        rows = [(one, "▸" if one["digest"] == sent["here"] else "-") for one in sent["rows"]]
        return "\n".join(f"{mark} {one['icon']} {one['what']} · {one['run']}" for one, mark in rows)
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
        return f"→ {node.proto.label} ?{node.proto.query_string}".removesuffix(" ?")
    if kind in ("tab", "expander"):
        return f"[{kind} {label}]"
    if kind == "button":
        return f"[{label}]{' (disabled)' if node.disabled else ''}"
    if hasattr(node, "options"):
        options = " | ".join(map(str, node.options[:OPTIONS]))
        return f"[{label}: {node.value!r} of {len(node.options)}: {options}]"
    if getattr(node, "key", None):
        return f"[{label}: {getattr(node, 'value', '')!r}]"
    value = getattr(node, "value", None)
    if value is None:  # a frame, of which a dialog has a name
        return f"[{kind} {label}]" if label else ""
    return "\n".join(f"{MARKS.get(kind, f'{kind}: ')}{line}" for line in str(value).splitlines())


def _table(rows: pd.DataFrame) -> str:
    return rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")
