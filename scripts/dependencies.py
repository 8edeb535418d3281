"""What the program needs, with licences: a page of the documentation, and a list of all packages (CycloneDX).

    python -m scripts.dependencies page               # writes docs/dependencies.md
    python -m scripts.dependencies sbom > FILE        # every package that is installed for the program

Both describe the environment that it runs in, as constraints.txt does.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "dependencies.md"
HEAD: Final = """\
# Dependencies and their licences

What the program asks for; without an extra in the first column, always. This page is written by
`python -m scripts.dependencies page`. Each release has a list of all packages that it was tested with
(`sbom.cdx.json`, CycloneDX).

| extra | package | versions | licence |
|---|---|---|---|
"""
TOOLS: Final = ("dev", "docs")
"""Extras for those who work on the program, which no user installs."""


def requirements() -> dict[str, list[Requirement]]:
    """What `pyproject.toml` asks for, by the extra; without one under ``""``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: list(map(Requirement, asked)) for extra, asked in extras.items() if extra not in TOOLS}


def licence(found: Distribution) -> str:
    """The licence of a package: its expression, else what its classifiers or an older field say."""
    expression = found.metadata.get("License-Expression")
    classified = [
        each.rpartition(" :: ")[2]
        for each in found.metadata.get_all("Classifier") or []
        if each.startswith("License :: ")
    ]
    older = (found.metadata.get("License") or "").strip().splitlines()
    return expression or ", ".join(classified) or (older[0][:60] if older else "not said")


def installed(asked: Iterable[Requirement]) -> Iterator[Distribution]:
    """The packages that are installed for requirements, with those that they need in turn."""
    waiting = [(each, "") for each in asked]
    known: set[str] = set()
    while waiting:
        need, extra = waiting.pop()
        if need.marker is not None and not need.marker.evaluate({"extra": extra}):
            continue
        try:
            found = distribution(need.name)
        except PackageNotFoundError:  # an extra that is not installed here
            continue
        name = re.sub(r"[-_.]+", "-", need.name).lower()
        inner = list(map(Requirement, found.requires or []))
        waiting += [(each, extra) for extra in need.extras for each in inner if each.marker is not None]
        if name not in known:
            known.add(name)
            yield found
            waiting += [(each, "") for each in inner]


def page() -> str:
    """The packages that are asked for by name, in Markdown."""
    rows = []
    for extra, asked in requirements().items():
        for need in sorted(asked, key=lambda each: each.name.lower()):
            found = next(installed([need]), None)
            if need.name != "untaken" and found is not None:
                rows.append(
                    f"| {extra and f'`[{extra}]`'} | `{need.name}` | `{need.specifier}` | {licence(found)} |"
                )
    return HEAD + "\n".join(rows) + "\n"


def sbom() -> dict[str, Any]:
    """All packages that are installed for the program and its extras, as CycloneDX describes them."""
    every = [need for asked in requirements().values() for need in asked if need.name != "untaken"]
    found = sorted(installed(every), key=lambda each: each.name.lower())
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "untaken",
                "version": distribution("untaken").version,
            }
        },
        "components": [
            {
                "type": "library",
                "name": each.name,
                "version": each.version,
                "purl": f"pkg:pypi/{each.name.lower()}@{each.version}",
                "licenses": [{"license": {"name": licence(each)}}],
            }
            for each in found
        ],
    }


def main(asked: str) -> None:
    """Writes the page, or prints the bill of materials."""
    if asked == "page":
        PAGE.write_text(page(), "utf-8")
    else:
        print(json.dumps(sbom(), indent=1))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sbom")
