"""Floors, locks and public names agree with one another."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import untaken

ROOT = Path(__file__).parents[2]
FLOOR = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)$")
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)$")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


def floors(lines: list[str]) -> dict[str, str]:
    found = (FLOOR.match(line.strip()) for line in lines)
    return {canonical(m[1]): m[2] for m in found if m}


def declared() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    return floors(project["dependencies"] + extras)


def test_requirements_and_metadata_name_the_same_floors() -> None:
    named = floors((ROOT / "requirements.txt").read_text("utf-8").splitlines())
    assert named
    assert {name: declared()[name] for name in named} == named


def test_every_declared_package_is_locked_at_or_above_its_floor() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    locked = {canonical(m[1]): m[2] for m in map(PINNED.match, lines) if m}
    low = {
        n: (locked.get(n), f)
        for n, f in declared().items()
        if n not in locked or version(locked[n]) < version(f)
    }
    assert low == {}


def test_at_most_40_public_names_and_each_can_be_imported() -> None:
    assert len(untaken.__all__) <= 40
    assert [name for name in untaken.__all__ if not hasattr(untaken, name)] == []


@pytest.mark.parametrize("room", ["", ".judging", ".analysis.ranking", ".views", ".workspace"])
def test_every_name_that_a_room_imports_on_first_use_is_there(room: str) -> None:
    package = import_module(f"untaken{room}")
    assert [name for name in dir(package) if not hasattr(package, name)] == []
    assert not hasattr(package, "no_such_name")


def test_every_public_name_has_a_docstring_and_is_in_the_docs() -> None:
    documented = (ROOT / "docs" / "interface.md").read_text("utf-8")
    assert [name for name in untaken.__all__ if not (getattr(untaken, name).__doc__ or "").strip()] == []
    assert [name for name in untaken.__all__ if f"`{name}`" not in documented] == []
