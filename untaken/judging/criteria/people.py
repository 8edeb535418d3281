"""How far a quantifier's values agree with people's, criterion by criterion (§6, §8)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from untaken import stats
from untaken.errors import Score
from untaken.judging.criteria.criterion import Quantified, QuantifierRun, Value


class ConfusionCell(Struct, frozen=True, kw_only=True):
    """How often people said one value and the quantifier another, or the same."""

    people: str
    quantifier: str
    n: int


class CriterionAgreement(Struct, frozen=True, kw_only=True):
    """One pass of a quantifier against people's values by one criterion.

    Attributes:
        run: name of the pass; people: of that of the people.
        name: of the criterion.
        n: runs (or problems) with a value by both; the confusion adds up to it.
        agreement: share of equal values, kappa: Cohen's κ of values without an order; each with its 95%
            interval, clustered by task.
    """

    run: str
    people: str
    name: str
    n: int
    agreement: Score
    low: Score
    high: Score
    kappa: Score
    kappa_low: Score
    kappa_high: Score
    confusion: tuple[ConfusionCell, ...]


def criteria_against_people(
    passes: Iterable[QuantifierRun], people: QuantifierRun
) -> tuple[CriterionAgreement, ...]:
    """Each pass against people's values, by every criterion that both have.

    Args:
        passes: of quantifiers.
        people: their values as recorded replies; a subject is the name, the id, the digest or the task of a
            run. A task of several runs names none of them.
    """
    return tuple(
        _compared(one, people, name, _both(one, people, name))
        for one in passes
        for name in (criterion.name for criterion in one.criteria)
        if any(name == criterion.name for criterion in people.criteria)
    )


def _both(one: QuantifierRun, people: QuantifierRun, name: str) -> list[tuple[str, str, str]]:
    """(task, people's value, the quantifier's) of every subject that both have a value of."""
    named = _named(one.items)
    found = []
    for item in people.items:
        twin = named.get(item.subject.removesuffix(".json"))  # people's values may be under names of files
        if twin is not None and name in item.values and name in twin.values:
            task = twin.task_id or twin.subject
            found.append((task, _word(people, name, item.values[name]), _word(one, name, twin.values[name])))
    return found


def _named(items: Sequence[Quantified]) -> dict[str, Quantified]:
    """Runs by every name that people may use for them, if only one run has that name."""
    found: dict[str, list[Quantified]] = defaultdict(list)
    for item in items:
        task = item.task_id
        # A name of a file has no `/`.
        for key in {item.subject.removesuffix(".json"), item.run_id, task, task.replace("/", "_")} - {""}:
            found[key].append(item)
    return {key: some[0] for key, some in found.items() if len(some) == 1}


def _word(one: QuantifierRun, name: str, value: Value) -> str:
    """The accepted value as the criterion spells it; others as they were said."""
    if value.level is None:
        return value.text
    return next(criterion for criterion in one.criteria if criterion.name == name).accepted_values[
        value.level
    ]


def _compared(
    one: QuantifierRun, people: QuantifierRun, name: str, both: Sequence[tuple[str, str, str]]
) -> CriterionAgreement:
    clusters: dict[str, list[stats.Pair]] = defaultdict(list)
    for task, a, b in both:
        clusters[task].append((a, b))
    counts = Counter((a, b) for _, a, b in both)
    return CriterionAgreement(
        run=one.name,
        people=people.name,
        name=name,
        n=len(both),
        **stats.agreement_figures([*clusters.values()]),
        confusion=tuple(ConfusionCell(people=a, quantifier=b, n=n) for (a, b), n in sorted(counts.items())),
    )
