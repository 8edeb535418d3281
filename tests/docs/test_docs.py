"""What the documents say is what the program does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "sample_runs" / "README.md"]
BLOCK = re.compile(r"```python\n(.*?)```\s*prints\s*```text\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)")
CODE = re.compile(
    r"""(?:UntakenError|Finding|fault|finding)\(\s*(?:code=)?\s*["']([a-z0-9]+(?:-[a-z0-9]+)+)["']"""
)


def test_the_readme_example_prints_what_the_readme_shows() -> None:
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    assert blocks
    for program, shown in blocks:
        assert len(program.strip().splitlines()) <= 15
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.stdout.strip() == shown.strip(), done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    broken = [t for t in LINK.findall(page.read_text("utf-8")) if not (page.parent / t).exists()]
    assert broken == []


def test_every_error_and_finding_code_is_documented() -> None:
    documented = (ROOT / "docs" / "errors.md").read_text("utf-8")
    codes = {c for path in (ROOT / "untaken").rglob("*.py") for c in CODE.findall(path.read_text("utf-8"))}
    assert len(codes) > 20
    assert sorted(code for code in codes if f"`{code}`" not in documented) == []


def test_every_page_of_the_app_is_documented() -> None:
    documented = (ROOT / "docs" / "interface.md").read_text("utf-8")
    pages = [page.stem for page in (ROOT / "pages").glob("*.py")]
    assert [p for p in pages if f"| {p.replace('_', '-').title()} |" not in documented] == []


def test_promises_name_tests_that_exist() -> None:
    promised = re.findall(
        r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs" / "promises.md").read_text("utf-8")
    )
    assert promised
    for path, name in promised:
        text = (ROOT / path).read_text("utf-8")
        assert not name or f"def {name}(" in text, (path, name)
