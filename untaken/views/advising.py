"""Choices of runs in words: what succeeded more often, and what is only cheaper (§2e)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct

from untaken.analysis import CheaperChoice, ChoiceAdvice, Corpus, Often, Saving, advice
from untaken.counterfactual import Choice
from untaken.views.plan_words import option_words, situation_words, statement_in_units


class AdvisedChoice(Struct, frozen=True, kw_only=True):
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


class CheaperOption(Struct, frozen=True, kw_only=True):
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


class Advised(Struct, frozen=True, kw_only=True):
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
    """The advice with what it is about; all else is called as it is there."""
    named = _named(one)
    own = {name: getattr(one, name) for name in AdvisedChoice.__struct_fields__ if name not in named}
    return AdvisedChoice(**named, **own)


def _named(one: ChoiceAdvice) -> dict[str, Any]:
    """The attributes of `AdvisedChoice` that say what it is about."""
    if one.choice is not None:
        return _named_choice(one.choice)
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
    parts = one.choice.parts
    named = _named_choice(one.choice) | {"words": parts.saving_words}
    return CheaperOption(**named, cost=one.cost, cost_unit=parts.cost_unit, steps=one.steps, runs=one.runs)


def _named_choice(choice: Choice) -> dict[str, Any]:
    about = ("digest", "selected", "alternative", "context", "context_hash")
    return {name: getattr(choice, name) for name in about} | {"words": choice.parts.words}
