"""What MkDocs does beside `mkdocs.yml`: pages from other folders, a generated reference, links.

The pages of `docs/` are read on the code host, too, so they link to files by their place in the repository.
Here such a link leads to the page made from that file, else to the repository (`repo_url`, if it is known),
else it becomes plain text.
"""

from __future__ import annotations

import contextlib
import io
import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.superfences import fence_code_format

import untaken
from scripts.reference import PARTS
from untaken.cli import main

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "sample_runs/README.md": "project/sample-runs.md",
    "sample_runs/crafter/README.md": "project/crafter-runs.md",
}
"""Files outside `docs/`, and the page that each becomes."""
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#]*)(#[^)]*)?\)")
LIST_AFTER_TEXT = re.compile(r"^(?!\s*(?:[-*|>]|\d+\.) ?)(.*\S.*)\n(?=(?:-|\d+\.) )", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Anchors and diagrams as on a code host; the address of the repository where CI names it."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    mermaid = {"name": "mermaid", "class": "mermaid", "format": fence_code_format}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [mermaid]}
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        config.repo_url = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
    return config


def anchor(heading: str, separator: str) -> str:
    """The name of a heading in a link, as a code host makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of other folders and the generated ones."""
    for path, uri in ELSEWHERE.items():
        files.append(File.generated(config, uri, content=(ROOT / path).read_text("utf-8")))
    files.append(File.generated(config, "reference/python.md", content=python_page()))
    names = printed("schema").split()
    files.append(File.generated(config, "reference/schemas.md", content=schemas_page(names)))
    for name in names:
        files.append(File.generated(config, f"reference/{name}.schema.json", content=printed("schema", name)))
    return files


def printed(*words: str) -> str:
    """What a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(list(words)) == 0, words
    return out.getvalue()


def python_page() -> str:
    """Every public name, with its signature and docstring."""
    intro = "`import untaken` has these names. Tables are [described by column](../tables.md)."
    return "\n\n".join(["# Python", intro, *(f"::: untaken.{name}" for name in untaken.__all__)])


def schemas_page(names: list[str]) -> str:
    """A list of the JSON Schemas, each a file."""
    rows = "\n".join(f"- [{name}]({name}.schema.json)" for name in names)
    intro = (
        "The JSON Schema (draft 2020-12) of each file and each `--json` document, as `untaken schema NAME` "
        "prints it. [The keys](../interface.md) are explained elsewhere."
    )
    return "\n\n".join(["# JSON schemas", intro, rows])


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """What is declared, in full; links to pages of the site; an empty line between a text and its list."""
    if page.file.src_uri.startswith("reference/"):
        return markdown
    if whole := PARTS.get(page.file.src_uri):
        markdown = whole(markdown, True)
    ours = {uri: path for path, uri in ELSEWHERE.items()}
    here = ours.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def link(found: re.Match[str]) -> str:
        text, target, part = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        there = ELSEWHERE.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
        if there:
            start = posixpath.dirname(page.file.src_uri) or "."
            return f"[{text}]({posixpath.relpath(there, start)}{part})"
        return f"[{text}]({config.repo_url}/blob/main/{path}{part})" if config.repo_url else text

    def prose(text: str) -> str:
        return LIST_AFTER_TEXT.sub(r"\1\n\n", LINK.sub(link, text))

    return "".join(part if part.startswith("```") else prose(part) for part in FENCED.split(markdown))
