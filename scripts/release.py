"""Check that a version can be released, and build it for a package index.

    python scripts/release.py check [--tag v1.2.3]
    python scripts/release.py build --repository https://host/owner/name --ref v1.2.3 --to dist

`check` compares the version of the package, the changelog, the citation file and the tag. `build` needs the
package `build`; it builds a copy of the committed files in which the links of the README are absolute, as
package indexes need them, and the metadata names the repository. The checkout itself stays as it is.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)]+)\)")


def problems(root: Path, tag: str | None = None) -> list[str]:
    """Everything that keeps this version from being released, in words."""
    version = re.search(r'^__version__.* = "(.+)"$', (root / "untaken/__init__.py").read_text("utf-8"), re.M)
    assert version, "untaken/__init__.py has no __version__"
    ours = version[1]
    found = []
    if tag is not None and tag != f"v{ours}":
        found.append(f"The tag is {tag}, the version of the package is {ours}; the tag must be v{ours}.")
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text("utf-8"), re.M)
    if not cited or cited[1] != ours:
        found.append(f"CITATION.cff names version {cited[1] if cited else 'none'}; write {ours}.")
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    section = re.search(rf"^## {re.escape(ours)} – ([^\n]+)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if not section:
        found.append(f"CHANGELOG.md has no section '## {ours} – DATE'; add one.")
    elif not re.fullmatch(r"\d{4}-\d{2}-\d{2}", section[1].strip()):
        found.append(f"CHANGELOG.md: {ours} is '{section[1].strip()}'; write the date, YYYY-MM-DD.")
    elif "- " not in section[2]:
        found.append(f"CHANGELOG.md: the section of {ours} is empty; list what changed.")
    return found


def absolute_links(readme: str, repository: str, ref: str) -> str:
    """A README whose links to files of the repository work on any site; code stays as it is."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"  # a picture, or a page about a file
        return f"{link[1]}[{link[2]}]({repository}/{kind}/{ref}/{link[3]})"

    parts = re.split(r"(^```.*?^```$)", readme, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(absolute, part) for part in parts)


def with_addresses(pyproject: str, repository: str, ref: str) -> str:
    """A `pyproject.toml` that names the repository, its changelog and its issues."""
    urls = {
        "Repository": repository,
        "Documentation": f"{repository}/tree/{ref}/docs",
        "Changelog": f"{repository}/blob/{ref}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    table = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    return pyproject.replace("\n[project.scripts]\n", f"\n[project.urls]\n{table}\n[project.scripts]\n", 1)


def build(repository: str, ref: str, to: Path) -> None:
    """Build an sdist and a wheel of the committed files into a folder."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="untaken-release-") as made:
        folder = Path(made)
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        for name, changed in (("README.md", absolute_links), ("pyproject.toml", with_addresses)):
            text = (folder / name).read_text("utf-8")
            (folder / name).write_text(changed(text, repository, ref), encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "build", "--outdir", str(to.resolve()), str(folder)], check=True
        )


def main() -> int:
    """Exit code 1 where the version cannot be released."""
    parser = argparse.ArgumentParser(description="Check or build a release.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check").add_argument("--tag")
    building = verbs.add_parser("build")
    for option in ("--repository", "--ref", "--to"):
        building.add_argument(option, required=True)
    given = parser.parse_args()
    if given.verb == "build":
        build(given.repository, given.ref, Path(given.to))
        return 0
    found = problems(ROOT, given.tag)
    print("\n".join(found) or "This version can be released.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
