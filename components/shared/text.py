"""Untrusted words made safe for where they are shown.

Text from ledgers and graphs may hold anything. Streamlit reads markdown in labels and captions, plotly reads
a small HTML (and TeX) in every label. One function for each reader.
"""

from __future__ import annotations

import re
import textwrap
from typing import Final

from untaken.errors import Unscored
from untaken.visible import one_line

PARTS: Final = {"sce": "state causality", "win": "What-If-Not"}
"""Of Counterfactual Planning, by what `untaken crafter run` adds to the name of an agent that uses it."""
JOINER: Final = "\u2060"
"""Word joiner: invisible, and no part of any word that a markdown extension looks for."""

_PUNCTUATION: Final = re.compile(r"([!\"#$%&'()*+,\-./;<=>?\[\\\]^_`{|}~])")

_HEADING: Final = re.compile(r"^\s{0,3}#{1,6}\s+")
_BOLD: Final = re.compile(r"(?<![\w*])\*\*(?=\S)(?P<words>[^*]+)(?<=\S)\*\*(?![\w*])")
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def _isolated(text: str) -> str:
    """Arabic or Hebrew words, kept from moving the numbers and signs beside them to their other side."""
    return f"\u2066{text}\u2069" if _RIGHT_TO_LEFT.search(text) else text


def label(text: object, limit: int = 80) -> str:
    """Words for a Streamlit label, caption or message: markdown, icons, emoji codes, TeX stay words."""
    escaped = _PUNCTUATION.sub(r"\\\1", one_line(text, limit).strip())
    # A backslash does not stop icons (`:name:`), colours (`:red[`) and mail addresses.
    escaped = re.sub(r"([:@])", rf"\1{JOINER}", escaped)
    return _isolated(re.sub(r"(?i)(www)(\\\.)", rf"\1{JOINER}\2", escaped))


def figure(text: object, limit: int = 60) -> str:
    """Words for a plotly label, hover or title: no tags, no links, no TeX, no template fields."""
    escaped = one_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _isolated(escaped.replace("$", "&#36;").replace("%{", f"%{JOINER}{{"))


def name(words: object) -> str:
    """A name for what takes plain text, such as a list to choose from."""
    return _isolated(one_line(words, 60))


def outcome(success: bool | Unscored) -> str:
    """The mark of how a run ended."""
    return "?" if isinstance(success, Unscored) else "✓" if success else "✗"


def repeat(number: int | None) -> str:
    """Which of several runs of a task by an agent, after its name; empty for the only one."""
    return "" if number is None else f" · repeat {number}"


def short(name: object, limit: int) -> str:
    """A name on one line, cut in its middle: names of models begin alike and differ at their ends."""
    shown = one_line(name, 400)
    if len(shown) <= limit:
        return shown
    tail = (limit - 1) // 2
    return f"{shown[: limit - 1 - tail]}…{shown[len(shown) - tail :]}"


def folded(name: object, *, width: int, lines: int) -> str:
    """A name for a plotly label, in at most `lines` lines of `width` characters."""
    # The longest cut that fits: words break where they like.
    for limit in range(width * lines, 0, -1):
        parts = textwrap.wrap(short(name, limit), width)
        if len(parts) <= lines:
            return "<br>".join(figure(part) for part in parts)
    return ""


def agent(name: str) -> str:
    """The name of an agent; of an agent of the simulator, with the parts of the method that it uses."""
    player, *parts = name.split("+")
    if not parts or not PARTS.keys() >= {*parts}:
        return name
    return f"{player} with {' and '.join(PARTS[part] for part in parts)}"


def file_name(text: object, limit: int = 60) -> str:
    """A harmless stem for a downloaded file."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", str(text)).strip("-.")[:limit]
    return stem or "untaken"


def without_marks(line: str) -> str:
    """A line of Markdown as plain text: without the marks of a heading and of bold words."""
    return _BOLD.sub(r"\g<words>", _HEADING.sub("", line))


def sentence(words: str) -> str:
    """The words as a sentence begins; a name, such as ``book_flight`` or ``human:ann``, stays as it is."""
    code = bool({"_", ":"} & {*words.partition(" ")[0][:-1]})
    return words if code else f"{words[:1].upper()}{words[1:]}"
