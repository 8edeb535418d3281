"""The page of dependencies, and the list of packages of a release, are what `pyproject.toml` asks for."""

from __future__ import annotations

from doc_pages import page
from packaging.requirements import Requirement

from scripts.dependencies import requirements, sbom

ASKED: dict[tuple[str, str], Requirement] = {
    (extra, need.name): need
    for extra, asked in requirements().items()
    for need in asked
    if need.name != "untaken"
}


def test_every_dependency_is_on_the_page_with_its_versions_and_a_licence() -> None:
    rows = [line.split(" | ") for line in page("docs/dependencies.md").splitlines() if line.startswith("| ")]
    listed = {
        (extra.strip("| `[]"), name.strip("`")): (versions, rest) for extra, name, versions, rest in rows[1:]
    }
    for place, need in ASKED.items():
        versions, licence = listed[place]
        assert versions == f"`{need.specifier}`"
        assert licence.strip(" |") not in ("", "not said")
    assert listed.keys() == ASKED.keys()


def test_the_list_of_a_release_has_every_package_with_its_version_and_licence() -> None:
    found = {each["name"].lower(): each for each in sbom()["components"]}
    assert {name.lower() for extra, name in ASKED if extra in ("", "app")} <= found.keys()
    assert {"sqlalchemy", "tornado", "greenlet"} & found.keys(), (
        "what dependencies need in turn is there, too"
    )
    assert all(each["version"] and each["licenses"][0]["license"]["name"] for each in found.values())
