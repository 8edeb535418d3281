"""The brackets that give a Mermaid node its shape and its label."""

from __future__ import annotations

import re

_SHAPES = (
    ("(((", (")))",)),
    ("((", ("))",)),
    ("([", ("])",)),
    ("(", (")",)),
    ("[[", ("]]",)),
    ("[(", (")]",)),
    ("[/", ("/]", "\\]")),
    ("[\\", ("\\]", "/]")),
    ("[", ("]",)),
    ("{{", ("}}",)),
    ("{", ("}",)),
    (">", ("]",)),
)
"""Openings, the longer before those they begin with, each with what may close it."""

_CLOSED: dict[tuple[str, ...], re.Pattern[str]] = {
    closings: re.compile("|".join(map(re.escape, closings))) for _, closings in _SHAPES
}
_ATTRIBUTES = re.compile(r'@\{((?:"[^"]*"|[^"}])*)\}')
_ATTRIBUTE_LABEL = re.compile(r'\blabel[ \t]*:[ \t]*"([^"]*)"')
_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_ENTITY = re.compile(r"#(?:([0-9]{1,7})|(quot|amp|lt|gt|nbsp|semi|colon|apos));")
_NAMED = {
    "quot": '"', "amp": "&", "lt": "<", "gt": ">", "nbsp": " ", "semi": ";", "colon": ":", "apos": "'",
}  # fmt: skip


def read_shape(text: str, at: int) -> tuple[str | None, int]:
    """The label of the shape at `at`, ``None`` if there is none, and where it ends.

    Raises:
        ValueError: for brackets or quotes that do not close on the line.
    """
    if attributes := _ATTRIBUTES.match(text, at):
        label = _ATTRIBUTE_LABEL.search(attributes.group(1))
        return (_plain(label.group(1)) if label else None), attributes.end()
    for opening, closings in _SHAPES:
        if text.startswith(opening, at):
            return _label(text, at + len(opening), closings)
    return None, at


def _label(text: str, at: int, closings: tuple[str, ...]) -> tuple[str, int]:
    start = at
    while text[start : start + 1] in {" ", "\t"}:
        start += 1
    quoted = text.startswith('"', start)
    end = text.find('"', start + 1) if quoted else start
    if end < 0:
        raise ValueError("a quoted label is not closed on its line")
    closed = _CLOSED[closings].search(text, end)
    if closed is None:
        raise ValueError(f"the brackets of a label are not closed: {text[at : at + 30]!r}")
    label = text[start + 1 : end] if quoted else text[start : closed.start()].strip()
    return _plain(label), closed.end()


def _plain(label: str) -> str:
    """Line breaks as spaces, Markdown's backticks taken off, entities decoded."""
    text = _BREAK.sub(" ", label)
    if len(text) > 1 and text[0] == text[-1] == "`":
        text = text[1:-1]
    return _ENTITY.sub(_decoded, text)


def _decoded(match: re.Match[str]) -> str:
    if match.group(2):
        return _NAMED[match.group(2)]
    code = int(match.group(1))
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match.group()
