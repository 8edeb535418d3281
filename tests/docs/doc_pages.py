"""The documents as tests read them: sections, tables, words in backticks, fenced blocks, sessions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_CELLS = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def page(name: str) -> str:
    """A page, by its path from the root."""
    return (ROOT / name).read_text("utf-8")


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next heading of the same or a higher level."""
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


def names(cell: str) -> list[str]:
    """The words in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def plain_names(cell: str) -> list[str]:
    """The words in backticks that stand outside brackets: names, not the values they take."""
    return names(re.sub(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]", "", cell))


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and its text."""

    language: str
    text: str


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page that name their language, in order."""
    return [Block(language, body) for language, body in _FENCE.findall(text)]


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
    """Whether the lines shown are the lines printed; a line of ``…`` stands for any number of them."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(shows(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and shows(shown[1:], printed[1:])
