"""The documents as tests read them: sections, tables, words in backticks, fenced blocks, sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_CELLS = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r'^```(\w+)(?: title="([^"\n]*)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def page(name: str) -> str:
    """A page, by its path from the root."""
    return (ROOT / name).read_text("utf-8")


def section(text: str, heading: str) -> str:
    """The text below a heading, up to the next heading of the same or a higher level."""
    level = heading.count("#")
    after = text.split(f"\n{heading}\n", 1)[1]
    return re.split(rf"^#{{1,{level}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str, first: str) -> list[list[str]]:
    """The rows of every table whose first column has this heading."""
    found: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in _CELLS.split(line)[1:-1]]
        if inside and not set(line) <= set("|-: "):
            found.append(cells)
        inside = inside or cells[0] == first
    return found


def items(text: str, before: str = "") -> list[str]:
    """What the items of a list are about: the words before the colon; of the list that follows `before`."""
    block = text.partition(f"{before}\n\n")[2] if before else text
    lines = block.partition("\n\n")[0].splitlines() if before else block.splitlines()
    return [line[2:].partition(":")[0] for line in lines if line.startswith("- ")]


def names(cell: str) -> list[str]:
    """The words in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def plain_names(cell: str) -> list[str]:
    """The words in backticks that stand outside brackets: names, not the values they take."""
    return names(re.sub(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]", "", cell))


def listed_keys(text: str) -> dict[str, set[str]]:
    """The keys of a document by their place, from the tables whose first column is called ``in``."""
    return {
        place: set(plain_names(cells[1]))
        for cells in rows(text, "in")
        for place in names(cells[0]) or [cells[0]]
    }


def occurring_keys(
    value: Any, *, free: Sequence[str] = (), place: str = ""
) -> Iterator[tuple[str, set[str]]]:
    """The keys of a document as it was written, by their place; of a list, the first element tells.

    Members called like one in `free` are mappings whose keys are not ours.
    """
    if isinstance(value, list):
        for item in value[:1]:
            yield from occurring_keys(item, free=free, place=f"{place}[]")
    elif isinstance(value, dict):
        if place.endswith(tuple(free)) and free:
            for inner in list(value.values())[:1]:
                yield from occurring_keys(inner, free=free, place=f"{place}{{}}")
            return
        yield place or "document", set(value)
        for key, inner in value.items():
            yield from occurring_keys(inner, free=free, place=f"{place}.{key}".lstrip("."))


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its file (empty for none), and its text."""

    language: str
    title: str
    text: str


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page that name their language, in order."""
    return [Block(language, title, body) for language, title, body in _FENCE.findall(text)]


def session(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def shows(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines shown are the lines printed; a line of ``…`` matches any number of them."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(shows(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and shows(shown[1:], printed[1:])
