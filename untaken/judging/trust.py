"""Which judges agree with people well enough for their verdicts to count (§6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import asdict

from untaken import stats
from untaken.errors import Score, Unscored, number
from untaken.judging.agreement import AgreementEstimate, VerdictPair, independent, verdict_agreement
from untaken.ledger import Run, Verdict
from untaken.plans import escape_glob
from untaken.scoring import EXCEPT, PLACE, whose_count

LEAST_KAPPA: Final = 0.4
"""Below, agreement is at best fair (Landis and Koch 1977)."""
FEWEST_PAIRS: Final = 10
"""Sub-goals of runs that both decided, below which nothing is said."""
MOST_JUDGES: Final = 6
ALIKE = 1e-12
Trust = Literal["reliable", "unreliable", "cannot_tell"]


class JudgeTrust(AgreementEstimate, frozen=True, kw_only=True):
    """One judge against people (a: people, b: the judge): over everything it judged, or on one sub-goal.

    Attributes:
        judge: who (VERDICT.by; untrusted).
        trust: ``reliable`` or ``unreliable`` where κ's whole interval is on that side of the threshold.
    """

    judge: str
    trust: Trust


def judge_trust(
    runs: Iterable[Run],
    people: Sequence[str] = ("human:*",),
    judges: Sequence[str] = ("judge:*",),
    *,
    least: float = LEAST_KAPPA,
) -> tuple[JudgeTrust, ...]:
    """Each judge separately, compared with people's labels; overall first, then the least κ.

    Args:
        runs: broken ones are left out.
        people: globs over VERDICT.by whose word is taken for the truth.
        judges: globs of those compared with it.
        least: a judge whose κ is shown to be below is unreliable, one shown to be at least that reliable.
    """
    everyone = [run for run in runs if not run.integrity.broken]
    return tuple(
        one for author in judges_of(everyone, judges) for one in _trust(everyone, people, author, least)
    )


def judges_of(runs: Iterable[Run], judges: Sequence[str] = ("judge:*",)) -> tuple[str, ...]:
    """Every author of a verdict that fits a glob, by name."""
    verdicts = (verdict for run in runs for verdict in run.of(Verdict))
    return tuple(sorted({verdict.by for verdict in whose_count(verdicts, [judges])}))


def trust_of(low: Score, high: Score, n: int, *, least: float = LEAST_KAPPA) -> Trust:
    """Whether values that agree with people's by a κ from `low` to `high`, over `n` pairs, can be relied on.

    Args:
        low: of κ's 95% interval; unscored, as where nearly all is met, it speaks for and against nobody.
        high: its other end.
        n: pairs that it rests on; of fewer than `FEWEST_PAIRS` nothing is said.
        least: κ that reliable values have at least.
    """
    ends = number(low), number(high)
    if n < FEWEST_PAIRS or ends[0] is None or ends[1] is None or ends[0] < least <= ends[1]:
        return "cannot_tell"
    return "reliable" if ends[0] >= least else "unreliable"


def distrusted(found: Iterable[JudgeTrust]) -> tuple[str, ...]:
    """Globs for `verdicts=` that leave unreliable verdicts out: ``!judge:m``, ``!judge:m#graph/sub_goal``."""
    bad = unreliable_judges(found)
    return (
        *sorted(f"{EXCEPT}{escape_glob(one.judge)}" for one in bad if one.part == "all"),
        *(
            f"{EXCEPT}{escape_glob(one.judge)}{PLACE}{escape_glob(f'{one.graph}/{one.name}')}"
            for one in bad
            if one.part != "all"
        ),
    )


def unreliable_judges(found: Iterable[JudgeTrust]) -> list[JudgeTrust]:
    """The judges, and the sub-goals of a judge, whose verdicts agree too little with people."""
    bad = [one for one in found if one.trust == "unreliable"]
    whole = {one.judge for one in bad if one.part == "all"}
    # Named as a whole, a judge is not named for each sub-goal again.
    return [one for one in bad if one.part == "all" or one.judge not in whole]


class JudgeDifference(Struct, frozen=True, kw_only=True):
    """Two judges, or two wordings of a rubric, against people's labels on the same sub-goals of runs.

    Attributes:
        first, second: who (VERDICT.by; untrusted).
        n: sub-goals of runs that people and both judges decided.
        first_agrees, second_agrees: on how many of them with people.
        difference: of the two shares, with its 95% interval.
        p: two-sided, by swapping the two judges in whole tasks at random.
        clusters: tasks (or runs, where all are of one task) that these come from.
    """

    first: str
    second: str
    n: int
    first_agrees: int
    second_agrees: int
    difference: Score
    low: Score
    high: Score
    p: Score
    clusters: int


def judge_differences(
    runs: Iterable[Run], people: Sequence[str] = ("human:*",), judges: Sequence[str] = ("judge:*",)
) -> tuple[JudgeDifference, ...]:
    """Which of two judges agrees better with people: any two of at most `MOST_JUDGES`, paired."""
    everyone = [run for run in runs if not run.integrity.broken]
    agrees: dict[str, dict[tuple[str, str], VerdictPair]] = {
        author: {
            (pair.digest, pair.sub_goal): pair
            for pair in verdict_agreement(everyone, people, [escape_glob(author)]).pairs
        }
        for author in judges_of(everyone, judges)[:MOST_JUDGES]  # pairs grow with the square
    }
    return tuple(_difference(a, b, agrees[a], agrees[b]) for a, b in combinations(agrees, 2))


def _difference(
    first: str,
    second: str,
    one: dict[tuple[str, str], VerdictPair],
    other: dict[tuple[str, str], VerdictPair],
) -> JudgeDifference:
    both = [(one[key], other[key]) for key in one if key in other]
    by_task = independent([pair for pair, _ in both]) == "task"
    gaps: dict[str, list[float]] = defaultdict(list)
    for pair, twin in both:
        gap = float(pair.a == pair.b) - float(twin.a == twin.b)
        gaps[pair.task_id if by_task else pair.digest].append(gap)
    few = Unscored("both judges need labels on the same sub-goals, in two tasks or runs")
    found: tuple[Score, Score, Score, Score] = (few, few, few, few)
    if len(gaps) > 1:
        mean, low, high = _mean_gap(list(gaps.values()))
        # Pairs of one task are no independent evidence: their judges are swapped together.
        p = stats.sign_flips([sum(some) for some in gaps.values()], resamples=10_000, seed=0)
        found = mean, low, high, p
    return JudgeDifference(
        first=first,
        second=second,
        n=len(both),
        first_agrees=sum(pair.a == pair.b for pair, _ in both),
        second_agrees=sum(pair.a == pair.b for _, pair in both),
        difference=found[0],
        low=found[1],
        high=found[2],
        p=found[3],
        clusters=len(gaps),
    )


def _mean_gap(gaps: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    mean, reach = stats.mean_of_groups(gaps)
    if reach > ALIKE:
        return mean, max(-1.0, mean - reach), min(1.0, mean + reach)
    # The judges are as far apart in every task: no spread, which says little of others where tasks are few.
    return mean, *stats.interval_of_alike(mean, len(gaps))


def _trust(runs: Sequence[Run], people: Sequence[str], author: str, least: float) -> list[JudgeTrust]:
    found = verdict_agreement(runs, people, [escape_glob(author)])
    goals = sorted(found.sub_goals, key=lambda one: 2.0 if isinstance(one.kappa, Unscored) else one.kappa)
    return [_judged(author, one, least) for one in (found.overall, *goals) if one.n]


def _judged(author: str, one: AgreementEstimate, least: float) -> JudgeTrust:
    trust = trust_of(one.kappa_low, one.kappa_high, one.n, least=least)
    return JudgeTrust(judge=author, trust=trust, **asdict(one))
