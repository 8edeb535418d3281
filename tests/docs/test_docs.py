"""What the documents say is what the program does, and what they point at is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doc_pages import ROOT, page
from programs import run_python

PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "sample_runs" / "README.md",
]
EXAMPLE = re.compile(r"```python\n(.*?)```\s*prints\s*```text\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]*)(#[^)]*)?\)")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PROMISED = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
OUT_OF_PLACE = re.compile(r"(?<![\w./:])/\w+/\w+|\bTODO\b|\bFIXME\b")
"""Paths of somebody's machine, and what is unfinished."""


def test_the_readme_example_prints_what_the_readme_shows() -> None:
    examples = EXAMPLE.findall(page("README.md"))
    assert examples
    for program, shown in examples:
        assert len(program.strip().splitlines()) <= 15
        done = run_python(program, check=False)
        assert done.stdout.strip() == shown.strip(), done.stderr


def anchors(path: Path) -> set[str]:
    """The names under which the headings of a page are linked to."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", path.read_text("utf-8")), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {f"#{heading.replace(' ', '-')}" for heading in plain}


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(path: Path) -> None:
    broken = []
    for target, anchor in LINK.findall(FENCED.sub("", path.read_text("utf-8"))):
        there = path.parent / target if target else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target + anchor)
    assert broken == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        here = waiting.pop()
        if here not in reached and here.suffix == ".md":
            reached.add(here)
            waiting += [
                (here.parent / target).resolve()
                for target, _ in LINK.findall(here.read_text("utf-8"))
                if target
            ]
    assert sorted(path.relative_to(ROOT).as_posix() for path in PAGES if path not in reached) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_speaks_of_the_project_alone(path: Path) -> None:
    assert OUT_OF_PLACE.findall(path.read_text("utf-8")) == []


def test_promises_name_tests_that_exist() -> None:
    promises, _, _ = page("docs/promises.md").partition("\n## Intervals")
    promised = [line for line in promises.splitlines() if line.startswith("- ")]
    assert len(promised) >= 40
    for promise in promised:
        tests = PROMISED.findall(promise)
        assert tests, promise
        for file, test in tests:
            assert f"def {test}(" in page(file), (file, test)
