"""Choices of runs in words: what succeeded more often, and what is only cheaper (§2e)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypedDict

from untaken.analysis import CheaperChoice, ChoiceAdvice, Corpus, Often, Saving, advice
from untaken.views.plan_words import option_words, situation_words, statement_in_units


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedChoice:
    """An option that succeeded more often than the one taken; names in its texts are untrusted.

    Attributes:
        kind: ``skill`` (at SKILL_SELECTION events) or ``plan`` (at plan changes).
        digest: short content digest; of a skill, its choice's id in links.
        context_hash: of a skill; `context`: the situation, readable where a run recorded one.
        recommended: whether to follow it; `reason`: why not. `cautions`: what it costs, to be said first.
        words: what the two differ in, in units.
        difference, low, high: of the rates of success, with the 95% interval, by association.
        often: runs that took the other option; `gain`: `often` × `difference`, with its interval.
        runs: content digest and `seq` of the choice.
    """

    kind: Literal["skill", "plan"]
    digest: str
    selected: str
    alternative: str
    context: str | None
    context_hash: str | None
    recommended: bool
    reason: str
    cautions: str
    words: str
    difference: float
    low: float
    high: float
    q: float
    often: Often
    gain: float
    gain_low: float
    gain_high: float
    runs: tuple[tuple[str, int], ...]
    agents: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheaperOption:
    """A skill that costs less or takes fewer steps at the same success; fields as of `AdvisedChoice`."""

    digest: str
    selected: str
    alternative: str
    context: str | None
    context_hash: str
    words: str
    cost: Saving | None
    cost_unit: str
    steps: Saving | None
    runs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """What may be said of choices.

    Attributes:
        choices: the recommended ones first, by gain; `cheaper`: by what is saved in total.
        skipping: cheaper or shorter alternatives that are not listed: they cost a critical sub-goal.
        evaluated: runs behind the skills, of `runs`.
    """

    choices: tuple[AdvisedChoice, ...]
    cheaper: tuple[CheaperOption, ...]
    skipping: int
    evaluated: int
    runs: int

    @property
    def silent(self) -> str:
        """Why no choice is listed."""
        if not self.evaluated:
            return "no run has decisions that can be evaluated"
        return f"no alternative is supported to succeed more often in the {self.evaluated:,} evaluated runs"


def advised(corpus: Corpus, digests: Collection[str] | None = None) -> Advised:
    """`untaken.analysis.fix_first.advice` in words."""
    found = advice(corpus, digests)
    kept = corpus.runs.keys() if digests is None else digests
    return Advised(
        choices=tuple(_choice(one) for one in found.choices),
        cheaper=tuple(_cheaper(one) for one in found.cheaper),
        skipping=found.skipping,
        evaluated=sum(corpus.evaluations.status(digest) == "evaluated" for digest in kept),
        runs=len(kept),
    )


def _choice(one: ChoiceAdvice) -> AdvisedChoice:
    return AdvisedChoice(
        **_named(one),
        kind=one.kind,
        recommended=one.recommended,
        reason=one.reason,
        cautions=one.cautions,
        difference=one.difference,
        low=one.low,
        high=one.high,
        q=one.q,
        often=one.often,
        gain=one.gain,
        gain_low=one.gain_low,
        gain_high=one.gain_high,
        runs=one.runs,
        agents=one.agents,
    )


class _Named(TypedDict):
    """The attributes of `AdvisedChoice` that say what it is about."""

    digest: str
    selected: str
    alternative: str
    context: str | None
    context_hash: str | None
    words: str


def _named(one: ChoiceAdvice) -> _Named:
    if one.choice is not None:
        choice = one.choice
        return {
            "digest": choice.digest,
            "selected": choice.selected,
            "alternative": choice.alternative,
            "context": choice.context,
            "context_hash": choice.context_hash,
            "words": choice.parts.words,
        }
    if one.statement is None:
        raise TypeError("advice is about a skill or about a plan change")
    statement = one.statement
    selected, alternative = option_words(statement.against), option_words(statement.option)
    context = situation_words(statement.situation)
    # A NUL between them: three other names, cut at other places, must not give the same digest.
    named = f"{context}\0{selected}\0{alternative}"
    return {
        "digest": sha256(named.encode()).hexdigest()[:16],
        "selected": selected,
        "alternative": alternative,
        "context": context,
        "context_hash": None,
        "words": statement_in_units(statement, one.parts),
    }


def _cheaper(one: CheaperChoice) -> CheaperOption:
    choice = one.choice
    return CheaperOption(
        digest=choice.digest,
        selected=choice.selected,
        alternative=choice.alternative,
        context=choice.context,
        context_hash=choice.context_hash,
        words=choice.parts.words,
        cost=one.cost,
        cost_unit=choice.parts.cost_unit,
        steps=one.steps,
        runs=one.runs,
    )
