"""What to fix first, as a table and as a document (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from untaken.answers.documents import Document, entry, finding_entries
from untaken.answers.frame import Columns, count, figure, frame, text, truth
from untaken.answers.plan_words import option_words, situation_words, statement_words
from untaken.errors import Finding
from untaken.fix_first import BetterWay, FailurePattern, FixFirst, Often, Triage
from untaken.fix_first.model import ROUGH
from untaken.ledger import Run

if TYPE_CHECKING:
    import pandas as pd

FIX_FIRST: Final[Columns[FixFirst]] = {
    "kind": text("sub_goal or decision", "kind"),
    "graph": text("the plan graph of a sub-goal", "graph"),
    "sub_goal": text("the sub-goal that fails first", "sub_goal"),
    "title": text("its title", "title"),
    "critical": truth("whether it is critical", "critical"),
    "selected": text("of a decision, the skill that was taken", "selected"),
    "alternative": text("the skill with the better history", "alternative"),
    "also": text("further skills with a better history", lambda item: ", ".join(item.also) or None),
    "context": text("the context of the choice, readable", "context"),
    "context_hash": text("digest of that context", "context_hash"),
    "runs": count("runs in which it happens", "often.count"),
    "of_runs": count("of so many scored (for a decision: evaluated) runs", "often.n"),
    "required": count("runs that require the sub-goal, or had the choice", "required"),
    "unknown": count("runs in which the sub-goal is unscored", "unknown"),
    "often": figure("runs / of_runs", "often.share"),
    "often_low": figure("lower end of its 95% interval", "often.low"),
    "often_high": figure("upper end of its 95% interval", "often.high"),
    "much": figure("mean gain in a run in which it occurs, in unit", "much"),
    "gain": figure("often × much", "gain"),
    "low": figure("lower end of the gain's 95% interval", "low"),
    "high": figure("upper end of the gain's 95% interval", "high"),
    "unit": text("critical completion or completion (at most), or score (association)", "unit"),
    "q": figure("of a decision, its p adjusted for being one of q_family", "q"),
    "q_family": count("pairs of skills compared", "q_family"),
    "reason": text("the whole result in words", "reason"),
    "digest": text("short content digest; of a decision, its choice's id in links", "digest"),
    "first_run": text("content digest of the run with the largest effect", lambda item: item.runs[0]),
}
"""Columns of `triage_table`."""


def triage_table(found: Triage) -> pd.DataFrame:
    """One row per item to fix, by expected gain (columns: `FIX_FIRST`)."""
    return frame(FIX_FIRST, found.items)


def triage_document(
    found: Triage,
    runs: Mapping[str, Run],
    *,
    missing: str,
    verdicts: Sequence[str] = (),
    top: int | None = None,
    better_ways: Sequence[BetterWay] = (),
    findings: Iterable[Finding] = (),
) -> Document:
    """``untaken.triage/1``: what to fix first, and the runs that contradict themselves.

    Args:
        found: the list.
        runs: of at least the runs in it, by digest.
        missing: the rule in force for sub-goals without a verdict.
        verdicts: whose verdicts counted; empty for everybody's.
        top: how many items of each kind, and how many contradictory runs, to list; all by default.
        better_ways: supported better ways at plan changes, a list of their own.
        findings: what was noticed.
    """
    shown = leading(found, top)
    return {
        "schema": "untaken.triage/1",
        "missing": missing,
        "verdicts": list(verdicts),
        "agents": list(found.agents),
        "scored": found.scored,
        "unscored": found.unscored,
        "evaluated": found.evaluated,
        "not_evaluated": found.not_evaluated,
        "harmless": found.harmless,
        "found": len(found.items),
        "found_contradictions": len(found.contradictions),
        "order": ROUGH,
        "reason": found.reason,
        "items": [_item(item, runs) for item in shown],
        "patterns": [_pattern(one, runs) for one in found.patterns[:top]],
        "conflicts": [
            {"sub_goal": one.sub_goal.digest, "decision": one.decision.digest, "words": one.words}
            for one in found.conflicts
        ],
        "better_ways": [_way(way, runs) for way in better_ways[:top]],
        "contradictions": [entry(contradiction) for contradiction in found.contradictions[:top]],
        "findings": finding_entries(findings),
    }


def leading(found: Triage, top: int | None) -> tuple[FixFirst, ...]:
    """The first `top` items of each kind, in the order of the whole list."""
    kept = {id(item) for kind in ("sub_goal", "decision") for item in found.of_kind(kind)[:top]}
    return tuple(item for item in found.items if id(item) in kept)


def _way(way: BetterWay, runs: Mapping[str, Run]) -> dict[str, Any]:
    statement = way.statement
    return {
        "situation": situation_words(statement.situation),
        "option": option_words(statement.option),
        "against": option_words(statement.against),
        "difference": statement.difference,
        "q": statement.q,
        "words": statement_words(statement),
        "often": _often(way.often),
        "gain": way.gain,
        "low": way.low,
        "high": way.high,
        "runs": [{"run_id": runs[digest].run_id, "digest": digest, "seq": seq} for digest, seq in way.runs],
        "agents": dict(way.agents),
    }


def _often(often: Often) -> dict[str, Any]:
    return {
        "count": often.count,
        "n": often.n,
        "share": often.share,
        "low": often.low,
        "high": often.high,
    }


def _pattern(one: FailurePattern, runs: Mapping[str, Run]) -> dict[str, Any]:
    return {
        "subject": one.subject,
        "way": one.way,
        "tasks": one.tasks,
        "sub_goals": one.sub_goals,
        "arguments": dict(one.arguments),
        "often": _often(one.often),
        "gain": one.gain,
        "low": one.low,
        "high": one.high,
        "unit": one.unit,
        "reason": one.reason,
        "runs": [
            {"run_id": runs[digest].run_id, "digest": digest, "sub_goal": goal}
            for digest, goal in zip(one.runs, one.goals, strict=True)
        ],
        "agents": dict(one.agents),
    }


def _item(item: FixFirst, runs: Mapping[str, Run]) -> dict[str, Any]:
    return entry(item) | {
        "often": _often(item.often),
        "runs": [
            {"run_id": runs[digest].run_id, "digest": digest, "decision_point": point}
            for digest, point in zip_longest(item.runs, item.points)
        ],
        "agents": dict(item.agents),
    }
