"""HTML from parts. Whatever is not `Markup` is text, and is escaped: there is no other way in."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Final

from untaken.visible import visible

_VOID: Final = frozenset({"meta", "br", "hr"})


class Markup(str):
    """Text that is HTML already; made in this module alone."""

    __slots__ = ()


def words(text: str) -> Markup:
    """Text as text: nothing in it is a tag, an attribute, a reference or an invisible character."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(visible(text), quote=True))


def short(text: object, limit: int = 80) -> str:
    """The text cut to `limit` characters; still to be escaped."""
    shown = str(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def tag(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """An element: ``tag("th", "agent", scope="col")``.

    Args:
        name: of the element; ours, never from a record.
        children: what is not `Markup` is escaped.
        attributes: values are escaped, ``None`` leaves one out; ``class_`` is ``class``, ``stroke_width``
            is ``stroke-width``, as HTML and SVG call them.
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}="  # `class_`: Python has a word of its own
        f'"{words(f"{value:.4g}" if isinstance(value, float) else str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{''.join(map(words, children))}</{name}>")


def together(*parts: str) -> Markup:
    """Parts one after the other."""
    return Markup("".join(map(words, parts)))


def section(title: str, note: str, *parts: str) -> Markup:
    """A part of a page: its heading, a few words, and what it shows."""
    return together(tag("h2", title), tag("p", note, class_="note"), *parts)


def table(
    heads: Iterable[str], rows: Iterable[Markup], caption: str = "", *, class_: str = "card scroll"
) -> Markup:
    """A table that scrolls sideways where there is little room."""
    named = [tag("caption", caption)] if caption else []
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in heads)))
    return tag("div", tag("table", *named, head, tag("tbody", *rows)), class_=class_)


def row(*cells: str, head: str | None = None) -> Markup:
    """A row of a table, with its heading if it has one."""
    first = [] if head is None else [tag("th", head, scope="row")]
    return tag("tr", *first, *(tag("td", cell) for cell in cells))


def facts(words: str) -> Markup:
    """What a number rests on, on a line of its own."""
    return together(tag("br"), tag("span", words, class_="facts"))


def run_name(run_id: str) -> Markup:
    """The id of a run."""
    return tag("span", short(run_id), class_="run")


def run_list(title: str, runs: Sequence[Sequence[str]], total: int) -> Markup:
    """Runs to unfold: each an id and words after it; how many more there are."""
    items = [tag("li", run_name(run_id), *words) for run_id, *words in runs]
    more = [tag("li", f"and {total - len(items)} more")] if total > len(items) else []
    return tag("details", tag("summary", title), tag("ul", *items, *more))


def page(head: Markup, body: Markup, *, language: str) -> str:
    """A whole document."""
    return f"<!doctype html>\n{tag('html', head, body, lang=language)}\n"


def stylesheet(css: str) -> Markup:
    """Our own style sheet, as it is written: CSS is not escaped."""
    return Markup(f"<style>{css}</style>")
