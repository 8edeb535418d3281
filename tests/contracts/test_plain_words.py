"""Plain English in everything people read: strings of the app and the engine, docstrings, comments, docs."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import programs
import pytest

ROOT = Path(__file__).parents[2]
NOUNS = (
    "row line file run task agent record step event entry side seed criterion metric sub-goal cell database "
    "node verdict skill page table version trial tool column ledger trace test card sheet picture question "
    "point bar box panel label pair call job process"
).replace(" ", "|")
MANNERED = re.compile(
    rf"""\b(?:
        (?<!cannot\ be\ )told|brought|mend(?:s|ed|ing)?|stands|stood|anew|whoever|weightiest
        |lies\ open|for\ want\ of|held\ against|passed\ over|say\ who\ you\ are
        |what\ is\ said\ of|where\ there\ is\ one|comes?\ to\ nothing
        |(?:a|one)\ (?:{NOUNS})\ an?\ (?:{NOUNS})
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
NAMES = re.compile(r"`[^`]*`|\{[^{}]*\}|^ *\w+: |\bnoqa: .*")
"""Code in backticks or braces, and the name in front of a documented attribute, are identifiers."""

CODE = (
    "app.py",
    "server.py",
    "benchmarks",
    "components",
    "pages",
    "sample_runs",
    "scripts",
    "tests",
    "untaken",
)
ON_SCREEN = ("components", "pages", "untaken/cli", "untaken/views/html", "untaken/views")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "notebooks", "sample_runs")


def files(places: tuple[str, ...], ending: str) -> list[Path]:
    """The files of these places that may have a phrase; this file lists them, so it is left out."""
    paths = (ROOT / place for place in places)
    found = (file for path in paths for file in ([path] if path.is_file() else path.rglob(f"*{ending}")))
    kept = (file for file in found if file.suffix == ending and file != Path(__file__))
    return sorted(file for file in kept if MANNERED.search(file.read_text("utf-8")))


def documented(nodes: Iterable[ast.AST]) -> Iterator[ast.Constant]:
    """Docstrings, also those of constants and attributes."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def prose(path: Path) -> Iterator[str]:
    """Lines of docstrings and comments."""
    source = path.read_text("utf-8")
    for node in documented(programs.nodes(path)):
        yield from str(node.value).splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def strings(path: Path) -> Iterator[str]:
    """Every string of several words but docstrings: one word is a key or a name."""
    nodes = programs.nodes(path)
    docs = {id(node) for node in documented(nodes)}
    for node in nodes:
        text = node.value if isinstance(node, ast.Constant) and id(node) not in docs else None
        if isinstance(text, str) and " " in text.strip():
            yield text


def mannered(path: Path, texts: Iterator[str]) -> list[str]:
    """The lines with a phrase of the list, with their file."""
    place = path.relative_to(ROOT)
    return [f"{place}: {text.strip()}" for text in texts if MANNERED.search(NAMES.sub("", text))]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("One row per run.", True),
        ("One row a run.", False),
        ("Which plan graph lies open.", False),
        ("What to mend first.", False),
        ("Nothing is recommended.", True),
        ("told: the result of the last save.", True),
        ("Who is told.", False),
        ("`stood` is a key.", True),
    ],
)
def test_the_list_finds_phrases_and_leaves_names_alone(text: str, plain: bool) -> None:
    assert (MANNERED.search(NAMES.sub("", text)) is None) is plain


def test_no_string_on_a_page_in_the_terminal_or_in_a_report_is_mannered() -> None:
    assert [line for path in files(ON_SCREEN, ".py") for line in mannered(path, strings(path))] == []


BETTER: Final = re.compile(r"\bbetter\b", re.IGNORECASE)
BY_WHAT: Final = re.compile(
    r"""\bbetter\b(?=[ ](?:than[ ](?:chance|two[ ]people|people|the[ ]first|for[ ]labels|these|their|the[ ]al)
        |critical[ ]completion|outcome|of\b|or[ ]worse|\|))|agrees?[ ]better
        |(?:causally|action[ ](?:itself|was)|0\.5[ ]it[ ]was|called)[ -]better|better,[ ]worse
        |[ ]\ better\n|0\.910\ \ better|1\.000\ \ better|called-better""",
    re.IGNORECASE | re.VERBOSE,
)
"""Of an action in the simulator (by its reward), of a judge (by agreement), of a ranking (by the metric)."""


def better_alone(text: str) -> bool:
    """Whether something is called better without the part that differs (§2e of docs/concepts.md)."""
    words = NAMES.sub("", text)
    return len(BETTER.findall(words)) > len(BY_WHAT.findall(words))


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("runs that took it fared better", True),
        ("alternative better ▸", True),
        ("the skill with the better history", True),
        ("succeeded more often: 9 of 10 against 2 of 10", False),
        ("`alternative_may_be_better` stays a key", False),
        ("a WIN above 0.5 means the action was better", False),
    ],
)
def test_what_is_called_better_without_its_part_is_found(text: str, alone: bool) -> None:
    assert better_alone(text) is alone


def test_no_screen_error_or_page_calls_anything_better_without_saying_by_what() -> None:
    code = [
        path for place in ("components", "pages", "untaken") for path in sorted((ROOT / place).rglob("*.py"))
    ]
    found = [
        f"{path.relative_to(ROOT)}: {text}" for path in code for text in strings(path) if better_alone(text)
    ]
    for place in (ROOT / page for page in PAGES):
        for path in [place] if place.is_file() else sorted(place.rglob("*.md")):
            lines = path.read_text("utf-8").splitlines()
            found += [f"{path.relative_to(ROOT)}: {line}" for line in lines if better_alone(line)]
    assert found == []


def test_no_docstring_or_comment_is_mannered() -> None:
    assert [line for path in files(CODE, ".py") for line in mannered(path, prose(path))] == []


def markdown(notebook: Path) -> Iterator[str]:
    """Lines of the markdown cells."""
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            yield from "".join(cell["source"]).splitlines()


def test_no_page_of_documentation_is_mannered() -> None:
    pages = [(path, iter(path.read_text("utf-8").splitlines())) for path in files(PAGES, ".md")]
    pages += [(path, markdown(path)) for path in files(PAGES, ".ipynb")]
    assert [line for path, lines in pages for line in mannered(path, lines)] == []
