"""Globs fit whole names, and no pattern is slow."""

from __future__ import annotations

import time

import pytest

from untaken.plans import escape_glob, matches_glob
from untaken.plans.globs import unescaped

FITS = [
    ("refund-*", "refund-12", True),
    ("refund-*", "refund-", True),
    ("refund-*", "my-refund-1", False),
    ("get_?", "get_a", True),
    ("get_?", "get_ab", False),
    ("[ab]*", "bcd", True),
    ("[!ab]*", "bcd", False),
    ("Search", "search", False),
    ("*", "", True),
    ("*", "two\nlines", True),
    ("a[b", "a[b", True),
    ("[x]y[z]", "[x]y[z]", True),
    ("[x]y[z]", "xyz", True),
    ("a.b", "axb", False),
    ("(a|b)+", "a", False),
]


@pytest.mark.parametrize(("pattern", "text", "want"), FITS)
def test_glob(pattern: str, text: str, want: bool) -> None:
    assert matches_glob(pattern, text) is want


@pytest.mark.parametrize("text", ["plain", "[mobile_data]x[PERSONA:None]", "a*b?c", "[[", "]", "[!a]"])
def test_an_escaped_text_fits_itself_alone(text: str) -> None:
    assert matches_glob(escape_glob(text), text)
    assert unescaped(escape_glob(text)) == text
    assert not matches_glob(escape_glob(text), text + "x")


@pytest.mark.parametrize("pattern", ["a*", "?", "[ab]c", "[*]*"])
def test_a_pattern_with_wildcards_has_no_single_text(pattern: str) -> None:
    assert unescaped(pattern) is None


HOSTILE = [
    "*a" * 200 + "*b",
    "*" * 400 + "b",
    "*a?a?" * 100 + "b",
    "*[ab]" * 100 + "c",
    "*" + "a?" * 200 + "b*",
]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_hostile_patterns_do_not_backtrack(pattern: str) -> None:
    started = time.process_time()
    assert not matches_glob(pattern, "a" * 100_000)
    assert time.process_time() - started < 30  # a hang, not a speed: backtracking would take years
