"""All verdicts on one sub-goal, in the order of authority, and whether their quotes are valid (§6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from untaken.analysis import Corpus
from untaken.judging import holds
from untaken.ledger import Run, Verdict
from untaken.scoring import AUTHORITIES, NodeScore, not_withdrawn, settlement, whose_count

Standing = Literal["decides", "outranked", "no opinion", "replaced", "withdrawn", "not counted"]

SETTLED: Final = ""
"""Instead of the author of a settlement: their own verdict stays beside it."""
DECIDED_BY_CHECK: Final = ("expr", "tool_call", "outcome", "any_of")


class Quoted(Struct, frozen=True, kw_only=True):
    """The quotes of a verdict, and whether they occur in the cited event; untrusted text."""

    seq: int
    quote: str
    found: bool


class VerdictView(Struct, frozen=True, kw_only=True):
    """One verdict on a sub-goal.

    Attributes:
        seq: of the verdict itself.
        authority: ``recorded checks``, ``reviewers`` or ``judges``, in this order.
        standing: it ``decides``, is ``outranked`` by a higher authority or a majority, was ``replaced`` by
            this author's later word or ``withdrawn``, had ``no opinion``, or is ``not counted`` under the
            rules in force.
        unanchored: it decides, on a sub-goal that says nothing about which results a quote must be from.
        imported: it came with a file; the workspace did not record it.
        settles: reviewers who differed agreed on it; `blind`: its author had not seen what others wrote.
    """

    seq: int
    by: str
    authority: str
    passed: bool | None
    reason: str
    quotes: tuple[Quoted, ...]
    standing: Standing
    unanchored: bool
    imported: bool
    settles: bool
    blind: bool


def imported_in_words(corpus: Corpus) -> str:
    """How many of the verdicts on unbroken runs came with files; empty where there is no verdict."""
    sound = [run for run in corpus.runs.values() if not run.integrity.broken]
    given = [run.imported(verdict) for run in sound for verdict in run.of(Verdict)]
    if not given:
        return ""
    return (
        f"{sum(given):,} of {len(given):,} verdicts are imported: they came with "
        "files, so their names are not verified."
    )


def verdict_views(run: Run, node: NodeScore, verdicts: Sequence[str] = ()) -> tuple[VerdictView, ...]:
    """Every verdict on a sub-goal, the highest authority first, then in the order of the ledger.

    A verdict that was withdrawn is among them; what took it back is not.
    """
    given = [verdict for verdict in run.of(Verdict) if verdict.sub_goal == node.sub_goal]
    sound = not_withdrawn(given)
    latest = {verdict.by: verdict.seq for verdict in given if not verdict.settles}
    settled = settlement(sound)
    latest |= {} if settled is None else {SETTLED: settled.seq}
    kept = {verdict.seq for verdict in sound}
    counted = {verdict.seq for verdict in whose_count(given, [verdicts], graph=run.started.graph or "")}
    winners = node.decided_by.removeprefix("verdict:").split(", ")  # a majority of reviewers decides together
    found = [
        VerdictView(
            seq=verdict.seq,
            by=verdict.by,
            authority=next(title for title, prefixes in AUTHORITIES if verdict.by.startswith(prefixes)),
            passed=verdict.passed,
            reason=verdict.reason or "",
            quotes=_quotes(run, verdict),
            standing=_standing(verdict, latest, counted, winners) if verdict.seq in kept else "withdrawn",
            unanchored=node.unanchored and verdict.by in winners,
            imported=run.imported(verdict),
            settles=verdict.settles,
            blind=verdict.blind,
        )
        for verdict in given
        if not verdict.withdrawn and not (verdict.settles and verdict.passed is None)  # marked at the others
    ]
    order = [title for title, _ in AUTHORITIES]
    return tuple(sorted(found, key=lambda view: (order.index(view.authority), view.seq)))


def reviewers_differ(views: Sequence[VerdictView]) -> bool:
    """Whether the verdicts of reviewers on a sub-goal differ, and none of them settles it."""
    own = ("decides", "outranked")
    # Verdicts that count, and those that a check overrules.
    people = [v for v in views if v.authority == "reviewers" and not v.settles and v.standing in own]
    settled = any(view.settles and view.standing == "decides" for view in views)
    return not settled and len({view.passed for view in people}) > 1


def decided_by_check(node: NodeScore) -> bool:
    """Whether its own check decided a sub-goal, which no verdict overturns."""
    return node.decided_by in DECIDED_BY_CHECK


def _quotes(run: Run, verdict: Verdict) -> tuple[Quoted, ...]:
    events = {event.seq: event for event in run.events} if verdict.evidence else {}
    return tuple(
        Quoted(
            seq=cited.seq,
            quote=cited.quote,
            # Without a quote it is enough that the event exists.
            found=cited.seq in events and (not cited.quote or holds(events[cited.seq], cited.quote)),
        )
        for cited in verdict.evidence or ()
    )


def _standing(
    verdict: Verdict, latest: dict[str, int], counted: set[int], winners: Sequence[str]
) -> Standing:
    if verdict.seq not in counted:
        return "not counted"
    if latest.get(SETTLED if verdict.settles else verdict.by) != verdict.seq:
        return "replaced"
    if verdict.passed is None:
        return "no opinion"
    if SETTLED in latest and not verdict.settles:
        return "outranked"
    return "decides" if verdict.by in winners else "outranked"
