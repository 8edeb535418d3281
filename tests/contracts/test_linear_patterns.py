"""No text, however hostile, makes a pattern of the program work much longer than the text is long.

A backtracking pattern holds the interpreter: while it works, no other page is served and nothing can be
cancelled.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hostile_patterns import ROOT, Found, offence

GENEROUS = 600
"""Seconds after which an attack is taken for endless; all of them together need a few."""

KNOWN = [  # each was in the program, and froze it
    ("cubic in blank lines", r'(?m)^\s*\{?\s*"?schema"?\s*:\s*["\']?untaken\.plan/', "scan"),
    ("an unclosed string tried again at every quote", r'"[^"\\]*(?:\\.[^"\\]*)*"', "scan"),
    ("an arrow's dots tried again at every dot", r"--+[->xo]|==+[=>xo]|\.+-[>xo]?", "scan"),
    ("blanks taken by three repeats in a row", r"orchestrator\s*\(\s*->\s*([^)]+?)\s*\)", "fullmatch"),
    ("a fence that never closes", r"```(?:json)?\s*(.*?)```(?s:)", "scan"),
    ("a word of signs tried again at every sign", r"(?<![a-z])[@$]+[a-z]", "scan"),
    ("two repeats that share the blanks", r"graph\b[ \t]*(?:TD\b)?[ \t]*(?:;|\Z)", "match"),
    ("a column named again and again", r"\A[^\n]*\bfrom\b[^\n]*\bto\b", "match"),
]


@pytest.mark.parametrize(("desc", "pattern", "use"), KNOWN)
def test_the_attacks_find_a_pattern_that_goes_back(desc: str, pattern: str, use: str) -> None:
    found = Found(place="here", pattern=re.compile(pattern, re.DOTALL), uses=frozenset({use}))
    assert offence(found), desc


@pytest.fixture(scope="module")
def attacked() -> subprocess.CompletedProcess[str]:
    """Every pattern of the program, attacked in a process that can be ended."""
    return subprocess.run(
        [sys.executable, ROOT / "tests/hostile_patterns.py"],
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "PYTHONIOENCODING": "utf-8"},
    )


def test_the_patterns_of_every_room_are_found(attacked: subprocess.CompletedProcess[str]) -> None:
    places = [line.split("/") for line in attacked.stdout.splitlines() if line.startswith("untaken/")]
    rooms = {place[1] for place in places}
    assert rooms >= {"ledger", "plans", "traces", "judging", "workspace"}


def test_no_pattern_works_much_longer_than_its_text(attacked: subprocess.CompletedProcess[str]) -> None:
    offences = [line for line in attacked.stdout.splitlines() if line.startswith("OFFENCE")]
    assert not offences
    assert attacked.returncode == 0, attacked.stderr
