"""What rates from a few people's labels and a judge are (`untaken.judging.labelling` makes them)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from untaken.errors import Finding
from untaken.stats import Corrected, Target


class LabelledRate(Corrected, frozen=True, kw_only=True):
    """A rate of sub-goals met, or the difference of two agents' rates.

    Attributes:
        part: ``all``, ``agent``, ``sub_goal`` or ``difference``; `name` says which, `other` the second agent.
        graph: of a sub-goal.
    """

    part: Literal["all", "agent", "sub_goal", "difference"]
    name: str
    other: str
    graph: str


class LabelledRates(Struct, frozen=True, kw_only=True):
    """What labels and judge say together.

    Attributes:
        people, judge: globs over VERDICT.by.
        target: what the rates are of: these ``runs``, or ``tasks`` like these.
        cluster: what intervals take for independent of each other.
        odds: whether labels were drawn with even odds, as is supposed without a file, or with those given.
        rates: over all, by agent, differences of agents, by sub-goal; only those with a label.
        outside: labels on what the judge was not asked; they are not used.
        findings: a warning where the labelled items do not look like a random draw, or where that cannot be
            checked.
    """

    people: tuple[str, ...]
    judge: tuple[str, ...]
    target: Target
    cluster: Literal["task", "run"]
    odds: Literal["even", "given"]
    rates: tuple[LabelledRate, ...]
    outside: int
    findings: tuple[Finding, ...]

    @property
    def overall(self) -> LabelledRate:
        """Over all items."""
        return self.rates[0]

    @property
    def adds(self) -> bool:
        """Whether there is anything to add to the labels: the judge decided more than people did."""
        return 0 < self.overall.labels < self.overall.items
