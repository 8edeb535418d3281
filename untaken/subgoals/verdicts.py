"""Recorded verdicts: whose count, which authority goes first, and what several say together (§4, §6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from untaken.errors import Unscored
from untaken.ledger.events import Verdict
from untaken.plans.globs import matches_glob

RECORDED: Final = "test"
"""In a choice of verdicts: let the benchmark's own recorded results stand in for recomputed checks."""
AUTHORITIES: Final = (
    ("recorded checks", ("test", "rule")),
    ("reviewers", ("human:",)),
    ("judges", ("judge:",)),
)
"""In words and by prefix of VERDICT.by, the highest authority first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the verdicts of the highest authority that spoke say together.

    Attributes:
        passed: unscored where they contradict each other, or where nobody could tell.
        voices: the verdicts behind it.
    """

    passed: bool | Unscored
    voices: tuple[Verdict, ...]


def whose_count(verdicts: Iterable[Verdict], choices: Sequence[Sequence[str]]) -> list[Verdict]:
    """The verdicts whose `by` fits a glob of every choice; an empty choice lets everybody speak."""
    return [
        verdict
        for verdict in verdicts
        if all(not globs or any(matches_glob(glob, verdict.by) for glob in globs) for globs in choices)
    ]


def ruling(verdicts: Iterable[Verdict]) -> Ruling | None:
    """The ruling of the highest authority with an opinion, or ``None`` where there is no verdict.

    Each reviewer, judge or check has one voice, its latest verdict; the majority decides. ``passed: null`` is
    "could not tell": no opinion.
    """
    latest = {verdict.by: verdict for verdict in verdicts}
    if not latest:
        return None
    for title, prefixes in AUTHORITIES:
        voices = [v for by, v in latest.items() if by.startswith(prefixes) and v.passed is not None]
        if voices:
            return _majority(title, voices)
    silent = tuple(latest.values())
    return Ruling(passed=Unscored(f"{_names(silent)} could not tell"), voices=silent)


def _majority(title: str, voices: Sequence[Verdict]) -> Ruling:
    passed = [voice for voice in voices if voice.passed]
    failed = [voice for voice in voices if not voice.passed]
    if len(passed) == len(failed):
        split = Unscored(f"{title} disagree: {_names(passed)} say met, {_names(failed)} say not met")
        return Ruling(passed=split, voices=tuple(voices))
    winners = passed if len(passed) > len(failed) else failed
    return Ruling(passed=winners is passed, voices=tuple(winners))


def _names(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(verdict.by for verdict in verdicts)
