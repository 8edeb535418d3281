"""Decisions to fix first: choices whose alternative is better, chance among many choices ruled out (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from untaken import stats
from untaken.corpus import Corpus
from untaken.counterfactual.choices import Choice, Point
from untaken.counterfactual.levels import level_words
from untaken.errors import number
from untaken.fix_first.advice import SkillTakers
from untaken.fix_first.findings import FixFirst, Often
from untaken.fix_first.patterns import often_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Advantage:
    """The advantage of an alternative to fix: its 95% interval is above 0, at a small q."""

    mean: float
    ends: tuple[float, float]
    q: float


def decisions_to_fix(
    corpus: Corpus, made: Iterable[Choice], digests: Collection[str]
) -> tuple[tuple[FixFirst, ...], int]:
    """One item for each (selected, context) of the runs named that has an alternative `to_fix`.

    Of several alternatives the one with the largest gain counts; the others are named in `FixFirst.also`.

    Returns:
        The items, in no order yet, and the number of runs that were evaluated.
    """
    sample = stats.TaskSample(
        {d: corpus.runs[d].task_id for d in digests if corpus.evaluations.status(d) == "evaluated"}
    )
    found: dict[tuple[str, str], list[FixFirst]] = {}
    takers = SkillTakers(corpus)
    for choice in made:
        advantage = None if choice.succeeds > 0 and takers.costs(choice) else _supported(choice)
        points = _points(corpus, choice, sample) if advantage else {}
        if advantage and points:
            item = _item(corpus, choice, advantage, points, sample)
            found.setdefault((choice.selected, choice.context_hash), []).append(item)
    return tuple(_best(items) for items in found.values()), sample.n


def _supported(choice: Choice) -> Advantage | None:
    mean, low, high, q = (number(figure) for figure in (choice.advantage, choice.low, choice.high, choice.q))
    if choice.succeeds <= 0 or mean is None or low is None or high is None or q is None:
        return None
    return Advantage(mean=mean, ends=(low, high), q=q)


def _points(corpus: Corpus, choice: Choice, sample: stats.TaskSample) -> dict[str, int]:
    """The decision point with the largest delta in each run that made this choice; the largest first."""
    met = [point for point in choice.points if point.run in sample]
    delta = {point: _delta(corpus, choice.alternative, point) for point in met}
    runs = corpus.runs
    ordered = sorted(
        met, key=lambda p: (-delta[p], runs[p.run].agent, runs[p.run].task_id, runs[p.run].run_id, p)
    )
    points: dict[str, int] = {}
    for point in ordered:
        points.setdefault(point.run, point.decision_point)
    return points


def _delta(corpus: Corpus, alternative: str, point: Point) -> float:
    made = zip(corpus.runs[point.run].selections, corpus.evaluations.paths(point.run), strict=True)
    paths = next(paths for selection, paths in made if selection.seq == point.decision_point)
    delta = number(next(path.delta for path in paths if path.alternative == alternative))
    return -inf if delta is None else delta


def _item(
    corpus: Corpus, choice: Choice, advantage: Advantage, points: dict[str, int], sample: stats.TaskSample
) -> FixFirst:
    often = often_of(points, sample)
    low, high = stats.product(often.share, (often.low, often.high), advantage.mean, advantage.ends)
    return FixFirst(
        kind="decision",
        digest=choice.digest,
        selected=choice.selected,
        alternative=choice.alternative,
        context_hash=choice.context_hash,
        context=choice.context,
        often=often,
        required=often.count,
        much=advantage.mean,
        gain=often.share * advantage.mean,
        low=low,
        high=high,
        unit="score",
        q=advantage.q,
        q_family=choice.q_family,
        reason=_reason(choice, often, advantage),
        runs=tuple(points),
        points=tuple(points.values()),
        agents=dict(Counter(sorted(corpus.runs[d].agent for d in points)).most_common()),
    )


def _reason(choice: Choice, often: Often, advantage: Advantage) -> str:
    low, high = advantage.ends
    many = f"; q = {advantage.q:.2g} among {choice.q_family} pairs of skills"
    if level := level_words(choice.level, choice.levels):
        many += f"; {level}"
    return (
        f"In {often.count} of {often.n} evaluated runs {choice.selected} was taken where "
        f"{choice.alternative} succeeded more often: {advantage.mean:+.2f} ({low:+.2f} to {high:+.2f}; "
        f"{choice.n_alternative} outcomes against {choice.n_selected}), an association{many}"
    )


def _best(items: Sequence[FixFirst]) -> FixFirst:
    best, *others = sorted(items, key=lambda item: (-item.gain, item.alternative))
    return replace(best, also=tuple(str(other.alternative) for other in others))
