"""What to fix first, as a table and as a document (§5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal

from untaken.answers.documents import Count, DocumentPart, Spread
from untaken.answers.frame import Columns, count, figure, frame, interval, text, truth
from untaken.answers.plan_words import option_words, situation_words, statement_words
from untaken.errors import Finding
from untaken.fix_first import BetterWay, FailurePattern, FixFirst, Triage
from untaken.fix_first.findings import ROUGH, Way
from untaken.ledger import Run
from untaken.ranking import Contradiction
from untaken.subgoals import MissingRule

if TYPE_CHECKING:
    import pandas as pd

FIX_FIRST: Final[Columns[FixFirst]] = {
    "kind": text("sub_goal or decision", "kind"),
    "graph": text("the plan graph of a sub-goal", "graph"),
    "sub_goal": text("the sub-goal that fails first", "sub_goal"),
    "title": text("its title", "title"),
    "critical": truth("whether it is critical", "critical"),
    "selected": text("of a decision, the skill that was taken", "selected"),
    "alternative": text("the skill whose runs succeeded more often", "alternative"),
    "also": text("further skills of which that is supported", lambda item: ", ".join(item.also) or None),
    "context": text("the context of the choice, readable", "context"),
    "context_hash": text("digest of that context", "context_hash"),
    "runs": count("runs in which it happens", "often.count"),
    "of_runs": count("of so many scored (for a decision: evaluated) runs", "often.n"),
    "required": count("runs that require the sub-goal, or had the choice", "required"),
    "unknown": count("runs in which the sub-goal is unscored", "unknown"),
    "often": figure("runs / of_runs", "often.share"),
    **interval("often_", at="often."),
    "much": figure("mean gain in a run in which it occurs, in unit", "much"),
    "gain": figure("often × much", "gain"),
    **interval(of="the gain's"),
    "unit": text("critical completion or completion (at most), or score (association)", "unit"),
    "q": figure("of a decision, its p adjusted for being one of q_family", "q"),
    "q_family": count("pairs of skills compared", "q_family"),
    "reason": text("the whole result in words", "reason"),
    "digest": text("short content digest; of a decision, its choice's id in links", "digest"),
    "first_run": text("content digest of the run with the largest effect", lambda item: item.runs[0]),
}


def triage_table(found: Triage) -> pd.DataFrame:
    """One row per item to fix, by expected gain (columns: `FIX_FIRST`)."""
    return frame(FIX_FIRST, found.items)


class OftenEntry(DocumentPart, frozen=True, kw_only=True):
    """How many of how many runs, with the 95% interval of the share."""

    count: Count
    n: Count
    share: float
    low: float
    high: float


class DecidedRun(DocumentPart, frozen=True, kw_only=True):
    """A run behind an item; of a decision, with its decision point."""

    run_id: str
    digest: str
    decision_point: Count | None


class FixFirstEntry(DocumentPart, frozen=True, kw_only=True):
    """One item to fix."""

    item: Spread[FixFirst]
    often: OftenEntry
    runs: Sequence[DecidedRun]
    agents: Mapping[str, Count]


class FailedRun(DocumentPart, frozen=True, kw_only=True):
    """A run behind a pattern, and the sub-goal that failed first in it."""

    run_id: str
    digest: str
    sub_goal: str


class FailurePatternEntry(DocumentPart, frozen=True, kw_only=True):
    """The same failure in several tasks."""

    subject: str
    way: Way
    tasks: Count
    sub_goals: Count
    arguments: Mapping[str, Count]
    often: OftenEntry
    gain: float
    low: float
    high: float
    unit: Literal["critical completion", "completion"]
    reason: str
    runs: Sequence[FailedRun]
    agents: Mapping[str, Count]


class ConflictEntry(DocumentPart, frozen=True, kw_only=True):
    """Two items that contradict each other."""

    sub_goal: str
    decision: str
    words: str


class DecidedAt(DocumentPart, frozen=True, kw_only=True):
    """A run behind a better way, and the `seq` of its plan change."""

    run_id: str
    digest: str
    seq: Count


class BetterWayEntry(DocumentPart, frozen=True, kw_only=True):
    """A supported better way at a plan change."""

    situation: str
    option: str
    against: str
    difference: float
    q: float
    words: str
    often: OftenEntry
    gain: float
    low: float
    high: float
    runs: Sequence[DecidedAt]
    agents: Mapping[str, Count]


class TriageDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.triage/1"):
    """What to fix first, and the runs that contradict themselves."""

    missing: MissingRule
    verdicts: Sequence[str]
    agents: Sequence[str]
    scored: Count
    unscored: Count
    evaluated: Count
    not_evaluated: Count
    harmless: Count
    found: Count
    found_contradictions: Count
    order: str
    reason: str
    items: Sequence[FixFirstEntry]
    patterns: Sequence[FailurePatternEntry]
    conflicts: Sequence[ConflictEntry]
    better_ways: Sequence[BetterWayEntry]
    contradictions: Sequence[Contradiction]
    findings: Sequence[Finding]


def triage_document(
    found: Triage,
    runs: Mapping[str, Run],
    *,
    missing: MissingRule,
    verdicts: Sequence[str] = (),
    top: int | None = None,
    better_ways: Sequence[BetterWay] = (),
    findings: Sequence[Finding] = (),
) -> TriageDocument:
    """The document of `found`; `top` limits each of its lists."""
    return TriageDocument.of(
        found,
        missing=missing,
        verdicts=verdicts,
        found=len(found.items),
        found_contradictions=len(found.contradictions),
        order=ROUGH,
        items=[_item(item, runs) for item in leading(found, top)],
        patterns=[_pattern(one, runs) for one in found.patterns[:top]],
        conflicts=[
            ConflictEntry.of(one, sub_goal=one.sub_goal.digest, decision=one.decision.digest)
            for one in found.conflicts
        ],
        better_ways=[_way(way, runs) for way in better_ways[:top]],
        contradictions=found.contradictions[:top],
        findings=findings,
    )


def leading(found: Triage, top: int | None) -> tuple[FixFirst, ...]:
    """The first `top` items of each kind, in the order of the whole list."""
    kept = {id(item) for kind in ("sub_goal", "decision") for item in found.of_kind(kind)[:top]}
    return tuple(item for item in found.items if id(item) in kept)


def _item(item: FixFirst, runs: Mapping[str, Run]) -> FixFirstEntry:
    decided = zip_longest(item.runs, item.points)
    return FixFirstEntry.of(
        item,
        item=item,
        often=OftenEntry.of(item.often),
        runs=[DecidedRun.of(runs[digest], decision_point=point) for digest, point in decided],
    )


def _pattern(one: FailurePattern, runs: Mapping[str, Run]) -> FailurePatternEntry:
    failed = zip(one.runs, one.goals, strict=True)
    return FailurePatternEntry.of(
        one,
        often=OftenEntry.of(one.often),
        runs=[FailedRun.of(runs[digest], sub_goal=goal) for digest, goal in failed],
    )


def _way(way: BetterWay, runs: Mapping[str, Run]) -> BetterWayEntry:
    statement = way.statement
    return BetterWayEntry.of(
        way,
        statement,
        situation=situation_words(statement.situation),
        option=option_words(statement.option),
        against=option_words(statement.against),
        words=statement_words(statement),
        often=OftenEntry.of(way.often),
        runs=[DecidedAt.of(runs[digest], seq=seq) for digest, seq in way.runs],
    )
