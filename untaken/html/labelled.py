"""Rates from a few people's labels and a judge, beside the labels alone and the judge alone."""

from __future__ import annotations

from typing import Final

from untaken.errors import Score, Unscored
from untaken.html.markup import Markup, row, section, short, table, tag
from untaken.judging import LabelledRate, LabelledRates
from untaken.present.numbers import decimal, interval, percent, points

HEADINGS: Final = ("", "labels and judge", "labels alone", "judge alone", "labels", "worth")
MOST_ROWS: Final = 40


def labels_section(found: LabelledRates | None) -> Markup | None:
    """Overall, by agent and their differences; nothing where it was not asked for or labels add nothing."""
    if found is None or not found.adds:
        return None
    shown = [one for one in found.rates if one.part != "sub_goal"][:MOST_ROWS]
    note = (
        f"Share of sub-goals met, as people would say: a judge decided {found.overall.items:,}, and people "
        f"labelled {found.overall.labels:,} of them. The judge's share is corrected by how far it is off. "
        "In brackets: 95% intervals, for tasks like these. Worth: how many times the labels "
        "are needed without the judge. Labels must be a random draw"
    )
    warnings = [tag("p", f"{short(finding.message, 300)}.", class_="note") for finding in found.findings]
    return section("A few labels and a judge", f"{note}.", *warnings, table(HEADINGS, map(_row, shown)))


def _row(one: LabelledRate) -> Markup:
    name = short(one.name, 60) if one.name else "all"
    if one.other:
        name = f"{name} − {short(one.other, 60)}"
    sign = one.part == "difference"
    return row(
        _span(one.value, one.low, one.high, sign=sign),
        _span(one.people, one.people_low, one.people_high, sign=sign),
        _percent(one.judge, sign=sign),
        f"{one.labels:,} of {one.items:,}",
        "–" if isinstance(one.worth, Unscored) else f"{decimal(one.worth, 1)}×",
        head=name,
    )


def _percent(value: Score, *, sign: bool) -> str:
    if isinstance(value, Unscored):
        return "–"
    return f"{points(value, 0)} points" if sign else percent(value)


def _span(value: Score, low: Score, high: Score, *, sign: bool) -> str:
    middle = _percent(value, sign=sign)
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        return middle
    return f"{middle} ({interval(low, high, points if sign else percent, 0)})"
