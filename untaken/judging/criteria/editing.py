"""What people do to criteria: write, edit, accept, reject, take back; who, when and why (§8).

Every function takes a set and gives a new one. Nothing is lost: a change keeps how it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from untaken.errors import UntakenError, Where
from untaken.judging.criteria.consolidation import plain_name
from untaken.judging.criteria.criterion import Change, Content, CriteriaSet, Criterion, Status
from untaken.judging.criteria.files import parse_criteria

Edit = Callable[[CriteriaSet], CriteriaSet]


def now() -> datetime:
    """The moment of a change that is made now."""
    return datetime.now(UTC)


def write(
    criteria: CriteriaSet,
    name: str,
    *,
    description: str = "",
    accepted_values: Sequence[str],
    by: str,
    at: datetime,
    why: str = "",
) -> CriteriaSet:
    """A new criterion, written by a person and so accepted.

    Raises:
        UntakenError: ``criteria-invalid``.
    """
    if any(plain_name(known.name) == plain_name(name) for known in criteria.criteria):
        raise _invalid(criteria, f"there is a criterion {name!r} already")
    fresh = Criterion(
        name=" ".join(name.split()),
        description=description.strip(),
        accepted_values=_tidy(accepted_values),
        origin="human",
        history=[_change(by, at, "wrote it", why)],
    )
    return _checked(replace(criteria, criteria=[*criteria.criteria, fresh]))


def edit(
    criteria: CriteriaSet,
    name: str,
    *,
    new_name: str | None = None,
    description: str | None = None,
    accepted_values: Sequence[str] | None = None,
    by: str,
    at: datetime,
    why: str = "",
) -> CriteriaSet:
    """Other words for a criterion; what is ``None`` stays as it is, and so does its status.

    Raises:
        UntakenError: ``criterion-unknown``, ``criteria-invalid``.
    """
    known = find(criteria, name)
    wanted: dict[str, Any] = {
        "name": known.name if new_name is None else " ".join(new_name.split()),
        "description": known.description if description is None else description.strip(),
        "accepted_values": known.accepted_values if accepted_values is None else _tidy(accepted_values),
    }
    # Not itself: its own name in other capitals is no second criterion.
    others = {plain_name(c.name) for c in criteria.criteria if c is not known}
    if plain_name(wanted["name"]) in others:
        raise _invalid(criteria, f"there is a criterion {wanted['name']!r} already")
    changed = {field: value for field, value in wanted.items() if value != getattr(known, field)}
    if not changed:
        return criteria
    what = f"changed {', '.join(field.replace('_', ' ') for field in changed)}"
    return _with(criteria, known, changed, _change(by, at, what, why))


def accept(criteria: CriteriaSet, name: str, *, by: str, at: datetime, why: str = "") -> CriteriaSet:
    """The criterion is used from now on.

    Raises:
        UntakenError: ``criterion-unknown``.
    """
    return _judged(criteria, name, "accepted", _change(by, at, "accepted it", why))


def reject(criteria: CriteriaSet, name: str, *, by: str, at: datetime, why: str = "") -> CriteriaSet:
    """The criterion is kept, with the reason, and used no more.

    Raises:
        UntakenError: ``criterion-unknown``.
    """
    return _judged(criteria, name, "rejected", _change(by, at, "rejected it", why))


def take_back(criteria: CriteriaSet, name: str, *, by: str, at: datetime, why: str = "") -> CriteriaSet:
    """Undo the last change to a criterion that is not undone yet; the history keeps both.

    Raises:
        UntakenError: ``criterion-unknown``, or ``nothing-to-take-back``.
    """
    known = find(criteria, name)
    effective = changes_in_force(known)
    if not effective or (before := effective[-1].before) is None:
        raise UntakenError(
            "nothing-to-take-back",
            f"no change to {name!r} is left that could be taken back",
            hint="To remove a criterion, reject it.",
        )
    change = replace(_change(by, at, f"undid: {effective[-1].what}", why), takes_back=True)
    return _with(criteria, known, msgspec.structs.asdict(before), change)


def changes_in_force(criterion: Criterion) -> list[Change]:
    """Its changes without those that were taken back, oldest first."""
    effective: list[Change] = []
    for change in criterion.history:
        if change.takes_back and effective:
            effective.pop()
        elif not change.takes_back:
            effective.append(change)
    return effective


def add(criteria: CriteriaSet, others: Iterable[Criterion]) -> CriteriaSet:
    """The set with those of `others` whose names it does not know; what it knows stays as it is.

    Raises:
        UntakenError: ``criteria-invalid`` where that makes too many.
    """
    known = {plain_name(criterion.name) for criterion in criteria.criteria}
    fresh = [criterion for criterion in others if plain_name(criterion.name) not in known]
    return _checked(replace(criteria, criteria=[*criteria.criteria, *fresh]))


def find(criteria: CriteriaSet, name: str) -> Criterion:
    """The criterion with exactly this name.

    Raises:
        UntakenError: ``criterion-unknown``.
    """
    found = next((criterion for criterion in criteria.criteria if criterion.name == name), None)
    if found is None:
        known = ", ".join(criterion.name for criterion in criteria.criteria) or "none"
        raise UntakenError(
            "criterion-unknown", f"there is no criterion {name!r}", hint=f"There are: {known}."
        )
    return found


def _judged(criteria: CriteriaSet, name: str, status: Status, change: Change) -> CriteriaSet:
    known = find(criteria, name)
    return criteria if known.status == status else _with(criteria, known, {"status": status}, change)


def _with(criteria: CriteriaSet, known: Criterion, changed: dict[str, Any], change: Change) -> CriteriaSet:
    before = Content(
        name=known.name,
        description=known.description,
        accepted_values=known.accepted_values,
        status=known.status,
    )
    # An undo is never undone itself: taking back once more goes one change further back.
    kept = change if change.takes_back else replace(change, before=before)
    fresh = replace(known, **changed, history=[*known.history, kept])
    return _checked(replace(criteria, criteria=[fresh if c is known else c for c in criteria.criteria]))


def _change(by: str, at: datetime, what: str, why: str) -> Change:
    return Change(author=by, at=at.astimezone(UTC).isoformat(timespec="seconds"), what=what, why=why.strip())


def _tidy(values: Sequence[str]) -> list[str]:
    return [plain for value in values if (plain := " ".join(value.split()))]


def _checked(criteria: CriteriaSet) -> CriteriaSet:
    """Through the reader of files: what is kept can be read again."""
    return parse_criteria(msgspec.json.encode(criteria), name=criteria.id)


def _invalid(criteria: CriteriaSet, message: str) -> UntakenError:
    hint = "Names are unique; accepted values are at least two, from worst to best."
    return UntakenError("criteria-invalid", message, where=Where(file=criteria.id), hint=hint)
