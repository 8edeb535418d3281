"""Criteria with their accepted values, and a quantifier's values for each run (§8)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from untaken import limits
from untaken.errors import Finding

Status = Literal["proposed", "accepted", "rejected"]
Words = Annotated[str, Meta(max_length=2_000)]
Label = Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARS)]


class Content(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a change may change."""

    name: Label
    description: Words
    accepted_values: Annotated[list[Label], Meta(min_length=2, max_length=20)]
    status: Status


class Change(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody did to a criterion: who, when (RFC 3339), what, and why.

    Attributes:
        before: how it was, so that the change can be taken back.
        takes_back: the last change before this one that was not taken back yet is undone by it.
    """

    author: Label
    at: Label
    what: Words
    why: Words = ""
    before: Content | None = None
    takes_back: bool = False


class Criterion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One criterion: `accepted_values` in order from worst to best; a value's level is its place, from 0.

    Attributes:
        origin: where it came from: ``human``, ``task``, ``solution`` or a file's name.
        status: rejected criteria are kept, with the reason in `history`, and not quantified.
        merged: names of similar proposed criteria that were merged into this one.
    """

    name: Label
    description: Words = ""
    accepted_values: Annotated[list[Label], Meta(min_length=2, max_length=20)]
    origin: str = ""
    status: Status = "accepted"
    history: list[Change] = []
    merged: Annotated[list[Label], Meta(max_length=200)] = []


class CriteriaSet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The criteria of one application; field order is the order in a written file."""

    schema: Literal["untaken.criteria-set/1"] = "untaken.criteria-set/1"
    id: Label
    task: Words = ""
    criteria: Annotated[list[Criterion], Meta(max_length=200)]

    @property
    def accepted(self) -> list[Criterion]:
        """Those that are quantified."""
        return [criterion for criterion in self.criteria if criterion.status == "accepted"]


class Value(Struct, frozen=True, kw_only=True, gc=False):
    """What a quantifier said by one criterion.

    `level` is the place of the value among the accepted ones, from 0 (worst); ``None`` where it is none of
    them: then `out_of_vocabulary`, kept as it was said and never turned into something near.
    """

    text: str
    level: int | None

    @property
    def out_of_vocabulary(self) -> bool:
        """Whether the value is none of the accepted ones."""
        return self.level is None


class Quantified(Struct, frozen=True, kw_only=True):
    """One run, or problem, by every criterion.

    Attributes:
        subject: digest of the run, or the name of the recorded problem; of a disturbed run, the original's.
        success: the outcome; ``None`` where unknown.
        values: by the criterion's name; a criterion that the reply left out is not there.
        unparseable: why the reply could not be read; empty where it could.
        unscored: criteria without a value because there is no evidence, and why (§0.2).
        run_id, agent, task_id: of the run, if known (untrusted text).
    """

    subject: str
    success: bool | None
    values: dict[str, Value]
    unparseable: str = ""
    unscored: dict[str, str] = msgspec.field(default_factory=dict)
    run_id: str = ""
    agent: str = ""
    task_id: str = ""


class QuantifierRun(Struct, frozen=True, kw_only=True):
    """One pass of a quantifier over many runs.

    Attributes:
        by: ``recorded``, a model's name, or ``ledger`` for what is computed without a model.
        seed: of a model; passes over the same runs with other seeds show how stable a criterion is.
        deterministic: the quantifier gives the same values every time, whatever the seed.
        findings: what was noticed, such as a possible prompt injection in a record.
    """

    name: str
    by: str
    criteria: tuple[Criterion, ...]
    items: tuple[Quantified, ...]
    seed: int = 0
    deterministic: bool = False
    findings: tuple[Finding, ...] = ()

    @property
    def unparseable(self) -> tuple[str, ...]:
        """Subjects whose reply could not be read."""
        return tuple(item.subject for item in self.items if item.unparseable)


def read_value(criterion: Criterion, text: str) -> Value:
    """The value as the criterion knows it; upper and lower case, and white space, make no difference."""
    plain = " ".join(text.split()).casefold()
    known = [" ".join(value.split()).casefold() for value in criterion.accepted_values]
    return Value(text=text, level=known.index(plain) if plain in known else None)
