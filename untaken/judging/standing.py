"""May a judge speak? Its passport against the verdicts, plans and labels there are now (§12)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from untaken.errors import Finding
from untaken.judging.passport import (
    Identity,
    JudgedSubGoal,
    JudgePassport,
    MeasuredSubGoal,
    asked_about,
    judged_sub_goals,
)
from untaken.judging.reviewers import EVERYBODY
from untaken.judging.trust import judges_of
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import GraphSet, escape_glob
from untaken.scoring import EXCEPT, PLACE, whose_count

State = Literal["calibrated", "uncalibrated", "stale"]
WORST_LAST: Final[tuple[State, ...]] = ("calibrated", "stale", "uncalibrated")


class JudgeStanding(Struct, frozen=True, kw_only=True):
    """Whether a judge's verdicts may count, everywhere or on one sub-goal.

    Attributes:
        judge: who (VERDICT.by; untrusted).
        graph, sub_goal: where; both empty for all its verdicts.
        state: ``uncalibrated`` without a passport that speaks for it; ``stale`` where that was measured with
            something else.
        reason: in words; of a calibrated judge, its agreement.
        verdicts: how many it is about.
    """

    judge: str
    graph: str
    sub_goal: str
    state: State
    reason: str
    verdicts: int

    @property
    def glob(self) -> str:
        """The choice of verdicts that leaves these out."""
        place = f"{PLACE}{escape_glob(f'{self.graph}/{self.sub_goal}')}" if self.sub_goal else ""
        return f"{EXCEPT}{escape_glob(self.judge)}{place}"

    @property
    def finding(self) -> Finding:
        """A warning that these verdicts rest on nobody's word but the judge's own."""
        where = f" on {self.sub_goal!r}" if self.sub_goal else ""
        return Finding(
            code="judge-stale" if self.state == "stale" else "judge-uncalibrated",
            message=f"{self.judge!r}{where} is {self.state}: {self.reason}",
            hint="Label a random draw of its verdicts, then run `untaken agree PATH --passport FILE`.",
        )


def judge_standings(
    runs: Iterable[Run], graphs: GraphSet, passports: Sequence[JudgePassport], *, verdicts: Sequence[str] = ()
) -> tuple[JudgeStanding, ...]:
    """Which judges of these runs may speak by their passports, each as a whole or by sub-goal.

    Args:
        runs: broken ones are left out.
        graphs: the plans in force.
        passports: that there are.
        verdicts: whose verdicts count, as globs; others are not asked for a passport.
    """
    sound = [run for run in runs if not run.integrity.broken]
    found: list[JudgeStanding] = []
    for author in judges_of(sound):
        own = [one for one in passports if one.judge == author]
        judged = [
            one
            # By whose labels it was measured.
            for one in judged_sub_goals(sound, graphs, author, own[0].people if own else EVERYBODY)
            if one.decided and whose_count([one.verdict], [verdicts], graph=one.place[0])
        ]
        if judged:
            found += _standings(author, judged, own)
    return tuple(found)


def _standings(
    author: str, judged: Sequence[JudgedSubGoal], passports: Sequence[JudgePassport]
) -> list[JudgeStanding]:
    known = {one.identity: _Known.of(one, judged) for one in passports}
    by_place: dict[tuple[str, str], Counter[tuple[State, str]]] = defaultdict(Counter)
    for one in judged:
        by_place[one.place][_standing(one, known)] += 1
    # A judge can be left out at a sub-goal, not some of its verdicts there: the worst decides.
    worst = {
        place: max(some, key=lambda one: (WORST_LAST.index(one[0]), one[1]))
        for place, some in by_place.items()
    }
    if len(set(worst.values())) == 1:
        (state, reason), total = next(iter(worst.values())), len(judged)
        return [
            JudgeStanding(judge=author, graph="", sub_goal="", state=state, reason=reason, verdicts=total)
        ]
    return [
        JudgeStanding(
            judge=author,
            graph=place[0],
            sub_goal=place[1],
            state=state,
            reason=reason,
            verdicts=by_place[place].total(),
        )
        for place, (state, reason) in sorted(worst.items())
    ]


class _Known(Struct, frozen=True, kw_only=True):
    """A passport, its sub-goals by place, and what changed in the labels it was measured on."""

    passport: JudgePassport
    sub_goals: Mapping[tuple[str, str], MeasuredSubGoal]
    changed: str

    @classmethod
    def of(cls, passport: JudgePassport, judged: Sequence[JudgedSubGoal]) -> _Known:
        now = {
            (one.run.digest, *one.place): (one.people, one.verdict.passed)
            for one in judged
            if Identity.of(one.verdict.made_with) == passport.identity
        }
        then = {(one.run, one.graph, one.sub_goal): (one.people, one.judge) for one in passport.labelled}
        # A label on a run that is not among these has not changed: these may be a part of what was measured.
        different = sum(now[key] != verdicts for key, verdicts in then.items() if key in now)
        return cls(
            passport=passport,
            sub_goals={(one.graph, one.sub_goal): one for one in passport.sub_goals},
            changed=f"{different:,} of its {counted(len(then), 'label')} changed" if different else "",
        )


def _standing(one: JudgedSubGoal, known: Mapping[Identity, _Known]) -> tuple[State, str]:
    if not known:
        return "uncalibrated", "it has no passport"
    kind = Identity.of(one.verdict.made_with)
    if kind not in known:
        latest = max(known.values(), key=lambda each: each.passport.date).passport
        return "stale", f"its {kind.changed(latest.identity)} changed since it was measured"
    found = known[kind]
    if found.passport.doubt:
        return "uncalibrated", found.passport.doubt
    if found.changed:
        return "stale", f"{found.changed} since it was measured"
    measured, asked = found.sub_goals.get(one.place), asked_about(one)
    if measured is None:
        return "uncalibrated", "it was not measured on this sub-goal"
    if asked is not None and measured.digests and asked not in measured.digests:
        return "stale", "the sub-goal changed since it was measured"
    if asked is not None and one.digest not in (asked, None):
        return "stale", "the sub-goal changed since the judge was asked"
    return "calibrated", ""


def uncalibrated(standings: Iterable[JudgeStanding]) -> tuple[JudgeStanding, ...]:
    """Those whose verdicts may not count."""
    return tuple(one for one in standings if one.state != "calibrated")
