"""Krippendorff's α: any number of raters, answers may be missing (§6, §8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import fsum, inf
from typing import Final

from untaken.errors import Score, Unscored
from untaken.stats.jackknife import TOO_RARE, agreement_interval
from untaken.stats.means import student_quantile
from untaken.stats.rates import TAIL, wilson

FEWEST_ITEMS: Final = 3
FEWEST_EFFECTIVE: Final = 2.5
TOO_RARE_ANSWER: Final = Unscored(
    f"too few: an interval needs the rarer answer on {FEWEST_ITEMS} items, of 3 tasks (or runs of one task)"
)
Unit = Sequence[Hashable]
"""What was answered on one item, missing answers left out."""


def nominal_alpha(units: Sequence[Unit]) -> Score:
    """α = 1 − Dₒ/Dₑ: how far raters agree beyond chance; 1 is full agreement, 0 what chance gives.

    Over the items with two answers or more: Dₒ is the share of pairs of answers to one item that differ, the
    pairs of an item with m answers weighing 1/(m − 1); Dₑ the share of differing pairs among all n answers
    (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011). Unscored where all answers are the same.
    """
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    total = Counter[Hashable]()
    for unit in pairable:
        total.update(unit)
    n = total.total()
    if len(total) < 2:
        return Unscored(
            "all answers are the same, so chance explains the agreement" if n else "no item has two answers"
        )
    return 1.0 - fsum(map(_differing, pairable)) / _expected(list(total.values()))


def ordinal_alpha(units: Sequence[Sequence[int]]) -> Score:
    """Krippendorff's α for ordinal data, missing values allowed.

    Args:
        units: for each subject the levels it was given, in any order; one with fewer than two says nothing.

    α = 1 − Dₒ/Dₑ with δ²(c, k) = (Σ g=c…k of n_g − (n_c + n_k)/2)², n_g the pairable values at level g
    (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011). Unscored where all values are the same.
    """
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    totals = Counter[int]()
    for unit in pairable:
        totals.update(unit)
    n, levels = totals.total(), sorted(totals)
    if len(levels) < 2:
        why = "all values are the same" if n else "no subject has two values"
        return Unscored(why)
    place, below = {}, 0.0
    for level in levels:  # the middle of the level's ranks: δ is the distance of two middles
        place[level] = below + totals[level] / 2
        below += totals[level]
    observed = fsum(
        unit[c] * unit[k] * (place[c] - place[k]) ** 2 / (unit.total() - 1)
        for unit in pairable
        for c in unit
        for k in unit
    )
    expected = fsum(totals[c] * totals[k] * (place[c] - place[k]) ** 2 for c in levels for k in levels)
    return 1.0 - (n - 1) * observed / expected


def alpha_interval(clusters: Mapping[str, Sequence[Unit]]) -> tuple[Score, Score]:
    """95% interval of `nominal_alpha`; the items of a cluster (a task, or a run) are taken together.

    Of two answers, with the same number on each item, by `_of_two_answers`. Else by the jackknife over
    clusters (`untaken.stats.jackknife`).
    """
    groups = [[Counter(unit) for unit in some if len(unit) > 1] for some in clusters.values()]
    groups = [some for some in groups if some]
    alpha = nominal_alpha([list(unit.elements()) for some in groups for unit in some])
    if isinstance(alpha, Unscored):
        return alpha, alpha
    if len(groups) < 2:
        few = Unscored("an interval needs at least two tasks or runs")
        return few, few
    answers = list(dict.fromkeys(answer for some in groups for unit in some for answer in unit))
    if len(answers) == 2 and len({unit.total() for some in groups for unit in some}) == 1:
        return _of_two_answers(groups)
    sums = [
        [[_differing(unit), *(float(unit[answer]) for answer in answers)] for unit in some] for some in groups
    ]
    if alpha == 1.0:  # no spread to see: the lower end takes Dₒ at the upper end for none of so many
        total = [sum(unit[answer] for some in groups for unit in some) for answer in answers]
        most = 1 - TAIL ** (1 / len(groups))  # Clopper and Pearson's upper end for 0 of n
        return max(-1.0, 1.0 - most * sum(total) / _expected(total)), 1.0
    return agreement_interval(sums, _ratio)


def _of_two_answers(groups: Sequence[Sequence[Counter[Hashable]]]) -> tuple[Score, Score]:
    """α = 1 − q / D: q is the share of the other answers that differ, on items with a minority answer.

    Each such item weighs by its minority answers; D = (1 − p)N / (N − 1), p their share of all N answers.
    The interval is Wilson's of q with as many items as the jackknife variance over clusters is worth, between
    1 and the items with a minority answer (where all, or none, differ: the clusters with one), and Student's
    t for Kish's number of clusters, (ΣA)² / ΣA², A the minority answers of one.
    """
    total = sum((unit for some in groups for unit in some), Counter[Hashable]())
    rare = min(total, key=lambda answer: (total[answer], str(answer)))  # of equals, whatever comes first
    n, minority = total.total(), total[rare]
    by_chance = (n - minority) / (n - 1)
    weights = [sum(unit[rare] for unit in some) for some in groups]
    items = sum(unit[rare] > 0 for some in groups for unit in some)
    kish = minority**2 / sum(weight**2 for weight in weights)
    if items < FEWEST_ITEMS or kish < FEWEST_EFFECTIVE:
        return TOO_RARE_ANSWER, TOO_RARE_ANSWER
    differ = [
        fsum(unit[rare] * (unit.total() - unit[rare]) / (unit.total() - 1) for unit in some)
        for some in groups
    ]
    q = fsum(differ) / minority
    if 0 < q < 1:
        sizes = [sum(unit.total() for unit in some) for some in groups]
        if any(n - size == minority - w for size, w in zip(sizes, weights, strict=True)):
            return TOO_RARE, TOO_RARE  # one task has all the other answers: without it there is no α
        left = [  # 1 − α without each: a variance does not ask where it is measured from
            (fsum(differ) - d) * (n - size - 1) / ((minority - w) * (n - size - minority + w))
            for d, size, w in zip(differ, sizes, weights, strict=True)
        ]
        mean, k = fsum(left) / len(left), len(left)
        variance = (k - 1) / k * fsum((one - mean) ** 2 for one in left) * by_chance**2
        worth = q * (1 - q) / variance if variance else inf
        worth = min(max(1.0, worth), float(items))
    else:
        worth = float(sum(weight > 0 for weight in weights))
    low, high = wilson(q * worth, worth, student_quantile(kish - 1))
    return max(-1.0, 1 - high / by_chance), 1 - low / by_chance


def _differing(unit: Counter[Hashable]) -> float:
    m = unit.total()
    return (m * m - sum(c * c for c in unit.values())) / (m - 1)


def _expected(counts: Sequence[float]) -> float:
    """Differing pairs by chance, in units of answers."""
    n = sum(counts)
    return (n * n - sum(c * c for c in counts)) / (n - 1)


def _ratio(sums: Sequence[float]) -> float:
    expected = _expected(sums[1:])
    return sums[0] / expected if expected else inf
