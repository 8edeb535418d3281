"""A command loads what it needs, and no more: people wait for its first line."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from untaken.cli import _VERBS, parser

ROOT = Path(__file__).parents[2]
SLOW = {"pandas", "numpy", "scipy", "networkx", "sqlalchemy"}
COMMANDS = [
    ["verify", "sample_runs/ledgers", "--json"],
    ["score", "sample_runs/ledgers", "--graphs", "sample_runs/graphs", "--json"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_command_without_tables_or_statistics_loads_no_library_for_them(words: list[str]) -> None:
    program = f"import sys, untaken.cli as c; c.main({words!r}); print(list(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "'untaken.cli'" in done.stderr
    assert {library for library in SLOW if f"'{library}'" in done.stderr} == set()


def verbs(of: argparse.ArgumentParser) -> set[str]:
    (choices,) = (a.choices for a in of._actions if isinstance(a, argparse._SubParsersAction))
    return set(choices)


def test_every_verb_is_found_without_loading_the_others() -> None:
    assert verbs(parser()) == set(_VERBS)
    assert [verb for verb in _VERBS if verb not in verbs(parser(verb))] == []


def test_every_verb_has_the_file_of_its_name() -> None:
    assert [verb for verb in _VERBS if not (ROOT / "untaken" / "cli" / f"{verb}.py").is_file()] == []
