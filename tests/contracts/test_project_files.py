"""The files that a code host, pre-commit, MkDocs and a package index read are valid and name what exists."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import moving_picture, release

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
YAML_FILES = [
    *WORKFLOWS,
    *sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")),
    *(
        ROOT / name
        for name in (".pre-commit-config.yaml", "CITATION.cff", "mkdocs.yml")
        if (ROOT / name).exists()
    ),
]
BASE = "https://host.example/owner/name"


class OneOfEachKey(yaml.SafeLoader):
    """A mapping that names a key twice is an error, as it is on a code host."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"line {node.start_mark.line + 1}: a key occurs twice"
        return super().construct_mapping(node, deep)


def read(path: Path) -> Any:
    return OneOfEachKey(path.read_text("utf-8")).get_single_data()


def steps(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in read(workflow)["jobs"].values() for step in job.get("steps", [])]


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda p: p.name)
def test_a_yaml_file_is_valid_and_names_each_key_once(path: Path) -> None:
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_workflow_reads_only_and_each_job_ends(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow.keys() & {"on", True}  # YAML 1.1 reads `on` as true
    jobs = {name: job for name, job in workflow["jobs"].items() if "uses" not in job}
    assert [name for name, job in jobs.items() if not job.get("timeout-minutes")] == []
    known = set(workflow["jobs"])
    for job in jobs.values():
        needs = job.get("needs", [])
        assert {needs} <= known if isinstance(needs, str) else set(needs) <= known


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_workflow_calls_what_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    said = "\n".join(step.get("run", "") for step in steps(path))
    assert set(re.findall(r"\bmake ([a-z-]+)", said)) <= targets
    named = re.findall(r"\b((?:scripts|tests)/[\w/.]+)", said)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_matrix_is_what_the_package_says_it_supports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    said = [c.rsplit(" ", 1)[1] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    jobs = read(ROOT / ".github/workflows/ci.yml")["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == said
    assert jobs["portable"]["strategy"]["matrix"] == {
        "os": ["ubuntu-latest", "macos-latest", "windows-latest"],
        "python": said,
    }
    assert project["requires-python"] == f">={said[0]}"


def pages(nav: Any) -> list[str]:
    """The pages of a navigation, in order."""
    if isinstance(nav, str):
        return [nav]
    return [page for inner in (nav.values() if isinstance(nav, dict) else nav) for page in pages(inner)]


def test_the_site_has_every_page_of_the_documentation_once() -> None:
    source = ast.parse((ROOT / "scripts/docs_site.py").read_text("utf-8"))
    (elsewhere,) = (
        ast.literal_eval(node.value)
        for node in source.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ELSEWHERE"
    )
    assert [path for path in elsewhere if not (ROOT / path).exists()] == []
    written = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    generated = ["reference/python.md", "reference/schemas.md"]
    assert sorted(pages(read(ROOT / "mkdocs.yml")["nav"])) == sorted(
        [*written, *elsewhere.values(), *generated]
    )


def test_the_citation_says_what_a_citation_needs() -> None:
    cited = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(cited)


@pytest.mark.parametrize(
    ("link", "want"),
    [
        ("[docs](docs/cli.md#untaken-gate)", f"[docs]({BASE}/blob/v1/docs/cli.md#untaken-gate)"),
        ("![a page](docs/img/run.png)", f"![a page]({BASE}/raw/v1/docs/img/run.png)"),
        ("[elsewhere](https://example.org/a)", "[elsewhere](https://example.org/a)"),
        ("[below](#below)", "[below](#below)"),
        ("```python\nx = [a](b)\n```", "```python\nx = [a](b)\n```"),
    ],
)
def test_a_readme_for_a_package_index_has_absolute_links(link: str, want: str) -> None:
    assert release.absolute_links(f"{link}\n", BASE, "v1") == f"{want}\n"


def test_the_readme_and_the_metadata_lead_to_the_repository() -> None:
    readme = release.absolute_links((ROOT / "README.md").read_text("utf-8"), BASE, "v1")
    assert BASE in readme
    prose = re.sub(r"^```.*?^```$", "", readme, flags=re.M | re.S)
    assert [
        link for link in re.findall(r"\]\(([^)]+)\)", prose) if not link.startswith(("https://", "#"))
    ] == []
    pyproject = release.with_addresses((ROOT / "pyproject.toml").read_text("utf-8"), BASE, "v1")
    assert tomllib.loads(pyproject)["project"]["urls"]["Repository"] == BASE


def test_the_readme_has_one_picture_that_loads_quickly() -> None:
    (shown,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert (ROOT / shown).stat().st_size <= moving_picture.LIMIT


@pytest.mark.parametrize(
    ("changelog", "cited", "tag", "want"),
    [
        ("## 1.2.0 – 2026-01-31\n\n- New.\n", "1.2.0", "v1.2.0", []),
        ("## 1.2.0 – 2026-01-31\n\n- New.\n", "1.2.0", "v1.3.0", ["The tag is v1.3.0"]),
        ("## 1.2.0 – unreleased\n\n- New.\n", "1.2.0", None, ["CHANGELOG.md: 1.2.0 is 'unreleased'"]),
        (
            "## 1.2.0 – 2026-01-31\n\n## 1.1.0 – 2025-01-31\n\n- Old.\n",
            "1.2.0",
            None,
            ["CHANGELOG.md: the section"],
        ),
        (
            "## 1.1.0 – 2025-01-31\n\n- Old.\n",
            "1.1.0",
            None,
            ["CITATION.cff names", "CHANGELOG.md has no section"],
        ),
    ],
)
def test_a_release_needs_one_version_and_a_dated_changelog(
    changelog: str, cited: str, tag: str | None, want: list[str], tmp_path: Path
) -> None:
    (tmp_path / "untaken").mkdir()
    (tmp_path / "untaken" / "__init__.py").write_text('__version__: Final = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{changelog}", encoding="utf-8")
    (tmp_path / "CITATION.cff").write_text(f"title: x\nversion: {cited}\n")
    found = release.problems(tmp_path, tag)
    assert [said.startswith(start) for said, start in zip(found, want, strict=True)] == [True] * len(want)


def test_only_the_date_of_the_release_is_missing_here() -> None:
    assert [said for said in release.problems(ROOT) if "unreleased" not in said] == []
