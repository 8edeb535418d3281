"""Do two authors of verdicts agree? The share of one opinion, and Cohen's κ, with their intervals (§6)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from untaken.errors import Score, Unscored
from untaken.stats.jackknife import agreement_interval
from untaken.stats.krippendorff import alpha_interval, nominal_alpha
from untaken.stats.means import student_quantile
from untaken.stats.rates import TAIL

Pair = tuple[Hashable, Hashable]
"""Both answers on one item: yes or no, or one of several categories without an order."""
Clusters = Sequence[Sequence[Pair]]
"""The pairs of each cluster; those of one are not taken for independent."""
Interval = tuple[Score, Score, Score]
"""A value with both ends of its 95% interval."""


def agreement_share(clusters: Clusters) -> Interval:
    """Wilson's interval, n divided by the design effect of the clusters, with Student's t for few of them."""
    same = [[float(a == b) for a, b in pairs] for pairs in clusters]
    n = sum(map(len, same))
    if not n:
        none = Unscored("no sub-goal has a verdict from both")
        return none, none, none
    share = sum(map(sum, same)) / n
    if len(same) < 2:
        few = Unscored("an interval needs at least two tasks or runs")
        return share, few, few
    # The variance of a mean of values that are independent between clusters only.
    sums = (math.fsum(one - share for one in ones) for ones in same)
    spread = len(same) / (len(same) - 1) * math.fsum(moved**2 for moved in sums) / n**2
    alone = share * (1 - share) / n
    size = n / max(1.0, spread / alone) if alone else float(len(same))  # all alike: no spread to compare
    t = student_quantile(len(same) - 1)
    centre = (share + t * t / (2 * size)) / (1 + t * t / size)
    half = t * math.sqrt(share * (1 - share) / size + t * t / (4 * size * size)) / (1 + t * t / size)
    return share, max(0.0, centre - half), min(1.0, centre + half)


def agreement_figures(clusters: Clusters) -> dict[str, Score]:
    """`agreement_share` and `cohen_kappa` of the same pairs, each with its 95% interval, by name."""
    share = agreement_share(clusters)
    names = "agreement", "low", "high", "kappa", "kappa_low", "kappa_high"
    return dict(zip(names, (*share, *cohen_kappa(clusters, share)), strict=True))


def cohen_kappa(clusters: Clusters, share: Interval) -> Interval:
    """Cohen's κ = (pₒ − pₑ) / (1 − pₑ), with its interval.

    Of two answers, the interval of α, which has the same pₒ: its ends in units of 1 − κ. Of more answers, by
    the jackknife over clusters.
    """
    pairs = [pair for some in clusters for pair in some]
    n = len(pairs)
    observed = share[0]
    if isinstance(observed, Unscored):
        return observed, observed, observed
    a, b = (Counter(answers) for answers in zip(*pairs, strict=True))
    chance = sum(a[answer] * b[answer] for answer in a) / n**2
    if chance == 1:
        same = Unscored("both always give the same answer, so chance explains the agreement")
        return same, same, same
    # Rounded: what agrees just as often as by chance is 0, not the noise of a sum.
    kappa = round((observed - chance) / (1 - chance), 12) + 0.0  # never -0
    low, high = share[1:]
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        return kappa, low, high
    # κ is 0 whatever the other says. Its ends are those of a rater who says so in all but as many cases as
    # might not have been seen.
    if len(a) == 1 or len(b) == 1:
        swapped = clusters if len(b) == 1 else [[(b, a) for a, b in some] for some in clusters]
        return kappa, *_where_one_is_constant(swapped)
    if observed in (0, 1):  # no spread to see: κ at both ends of the share's interval
        ends = [(end - chance) / (1 - chance) for end in (low, high)]
        return kappa, max(-1.0, min(ends[0], kappa)), min(1.0, max(ends[1], kappa))
    answers = [*(a | b)]
    if len(answers) == 2:
        return kappa, *_as_alpha(clusters, kappa)
    sums = [[_counted(x, y, answers) for x, y in some] for some in clusters]
    low, high = agreement_interval(sums, _ratio)
    return kappa, low, high


def _as_alpha(clusters: Clusters, kappa: float) -> tuple[Score, Score]:
    alpha = nominal_alpha([pair for some in clusters for pair in some])
    low, high = alpha_interval({str(place): some for place, some in enumerate(clusters)})
    if isinstance(alpha, Unscored) or isinstance(low, Unscored) or isinstance(high, Unscored):
        return low, high
    unit = (1 - kappa) / (1 - alpha)
    return max(-1.0, 1 - (1 - low) * unit), 1 - (1 - high) * unit


def _where_one_is_constant(clusters: Clusters) -> tuple[float, float]:
    """Ends of κ where the second always gives one answer.

    Of 0 exceptions in k clusters, at most the share 1 − .025^(1/k) is one (Clopper and Pearson 1934). For the
    upper end these agree with the first where it differs, for the lower end they differ where it agrees.
    """
    constant = clusters[0][0][1]
    first = Counter(a for some in clusters for a, _ in some)
    n, same = first.total(), first[constant]
    others = {answer: count for answer, count in first.items() if answer != constant}
    unseen = [
        1 - TAIL ** (1 / max(1, sum(any((a == constant) is agrees for a, _ in some) for some in clusters)))
        for agrees in (False, True)
    ]
    caught = {answer: unseen[0] * count for answer, count in others.items()}
    high = _kappa_of(first, {constant: n - math.fsum(caught.values()), **caught}, same + sum(caught.values()))
    slips, most = unseen[1] * same, max(others, key=lambda answer: others[answer])
    low = _kappa_of(first, {constant: n - slips, most: slips}, same - slips)
    return min(0.0, low), max(0.0, high)


def _kappa_of(first: Mapping[Hashable, float], second: Mapping[Hashable, float], same: float) -> float:
    """κ from how often each of two gives each answer, and on how many of the items they agree."""
    n = math.fsum(first.values())
    chance = math.fsum(first.get(answer, 0.0) * count for answer, count in second.items()) / n**2
    return (same / n - chance) / (1 - chance)


def gwet_ac1(clusters: Clusters, share: Interval) -> Interval:
    """Gwet's AC1 = (pₒ − pₑ) / (1 − pₑ), pₑ = Σ π(1 − π) / (K − 1), π the mean share of each of K answers.

    Unlike κ it does not fall to 0 where nearly all answers are the same (Gwet 2008). With one answer only,
    AC1 is the share of agreement. The interval is that of the share, wider by as much as π, which was
    measured on the same items, adds to the standard error.
    """
    observed = share[0]
    if isinstance(observed, Unscored):
        return observed, observed, observed
    answers = Counter(answer for some in clusters for pair in some for answer in pair)
    prevalence = {answer: count / answers.total() for answer, count in answers.items()}
    kinds = max(1, len(answers) - 1)
    chance = math.fsum(part * (1 - part) for part in prevalence.values()) / kinds
    value = (observed - chance) / (1 - chance)
    slopes = {answer: (1 - 2 * part) / kinds for answer, part in prevalence.items()}
    wider = _wider(clusters, observed, (1 - observed) / (1 - chance), slopes, prevalence)

    def end(agreement: Score) -> Score:
        if isinstance(agreement, Unscored):
            return agreement
        return max(-1.0, min(1.0, value + wider * ((agreement - chance) / (1 - chance) - value)))

    return value, end(share[1]), end(share[2])


def _wider(
    clusters: Clusters,
    observed: float,
    apart: float,
    slopes: Mapping[Hashable, float],
    prevalence: Mapping[Hashable, float],
) -> float:
    """How many times the standard error of pₒ alone that of AC1 is, by the influence of each cluster."""
    usual = math.fsum(slopes[answer] * part for answer, part in prevalence.items())
    alone, whole = [], []
    for pairs in clusters:
        agreed = math.fsum((a == b) - observed for a, b in pairs)
        expected = math.fsum((slopes[a] + slopes[b]) / 2 - usual for a, b in pairs)
        alone.append(agreed**2)
        whole.append((agreed - apart * expected) ** 2)
    least = math.fsum(alone)
    return math.sqrt(max(1.0, math.fsum(whole) / least)) if least > 1e-12 else 1.0


def _counted(a: Hashable, b: Hashable, answers: Sequence[Hashable]) -> tuple[float, ...]:
    """One item as a row that can be summed: differing, 1, then which answer each of the two gave."""
    return float(a != b), 1.0, *(float(a == one) for one in answers), *(float(b == one) for one in answers)


def _ratio(sums: Sequence[float]) -> float:
    """Disagreement over what chance gives: 1 − κ."""
    differing, n, *counts = sums
    half = len(counts) // 2
    expected = n * n - math.fsum(a * b for a, b in zip(counts[:half], counts[half:], strict=True))
    return differing * n / expected if expected else math.inf
