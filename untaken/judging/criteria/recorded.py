"""Recorded replies of a quantifier, as AgentEval's published notebook writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from untaken.errors import Finding, Severity, UntakenError, Where
from untaken.judging.criteria.criterion import (
    CriteriaSet,
    Criterion,
    Quantified,
    QuantifierRun,
    Value,
    read_value,
)
from untaken.judging.criteria.files import load_criteria
from untaken.ledger import JsonFault, Run
from untaken.traces import parse_document, values_in

REPLIES: Final = ".evaluated_problems.json"
CRITERIA: Final = (".criteria.txt", ".criteria.json")
FILE_BYTES: Final = 64 * 1024 * 1024
NO_VALUE: Final = "the reply gives no value"
_TRUTHS: Final = {"true": True, "false": False}
"""The published notebook writes outcomes as text, too, where any text would count as true."""


def read_quantifier_runs(
    path: str | Path,
    *,
    criteria: CriteriaSet | None = None,
    on_finding: Callable[[Finding], None] | None = None,
) -> tuple[QuantifierRun, ...]:
    """Every recorded run below a path: ``NAME.evaluated_problems.json`` beside ``NAME.criteria.txt``.

    Args:
        path: a folder, or one file of replies.
        criteria: its accepted ones are what is read, instead of those in the file beside each run.
        on_finding: called with what is wrong with a run that cannot be read; the others are read. Without it,
            the first such run raises. Also called with outcomes that are written as text, and with those that
            are missing: their problems count neither as successes nor as failures.

    Raises:
        UntakenError: ``replies-missing`` if there is none, ``replies-invalid`` for a file that holds none;
            as `load_criteria`.
    """
    place = Path(path)
    files = sorted(place.rglob(f"*{REPLIES}")) if place.is_dir() else [place]
    if not files or not files[0].exists():
        raise UntakenError(
            "replies-missing",
            "no recorded quantifier replies found",
            where=Where(file=str(place)),
            hint=f"They are in files that end in {REPLIES}, each next to its criteria ({CRITERIA[0]}).",
        )
    found: list[QuantifierRun] = []
    for file in files:
        try:
            wanted = _criteria_beside(file) if criteria is None else criteria
            found.append(_read(file, wanted.accepted, on_finding or (lambda _: None)))
        except UntakenError as error:
            if on_finding is None:
                raise
            on_finding(error.finding())
    return tuple(found)


def join_runs(passes: Sequence[QuantifierRun], runs: Sequence[Run]) -> tuple[QuantifierRun, ...]:
    """The passes joined with the runs by name: ``prealgebra_11.json`` is ``prealgebra/11``.

    A subject that matches the task of exactly one unbroken run gets its digest, run id, agent and task; the
    others stay as they are. The outcome stays the recorded one.
    """
    found: dict[str, Run | None] = {}
    for run in runs:
        if not run.integrity.broken:
            key = run.task_id.replace("/", "_")
            found[key] = run if key not in found else None  # of several runs of a task, none is meant
    return tuple(replace(one, items=tuple(_joined(item, found) for item in one.items)) for one in passes)


def _joined(item: Quantified, runs: Mapping[str, Run | None]) -> Quantified:
    run = runs.get(item.subject.removesuffix(".json"))
    if run is None:
        return item
    return replace(item, subject=run.digest, run_id=run.run_id, agent=run.agent, task_id=run.task_id)


def _name(file: Path) -> str:
    return file.name.removesuffix(REPLIES).removesuffix(".json")


def _criteria_beside(file: Path) -> CriteriaSet:
    candidates = [file.with_name(_name(file) + ending) for ending in CRITERIA]
    # An error names the usual one.
    return load_criteria(next((f for f in candidates if f.exists()), candidates[0]))


def _read(file: Path, criteria: Sequence[Criterion], on_finding: Callable[[Finding], None]) -> QuantifierRun:
    if file.stat().st_size > FILE_BYTES:
        raise _invalid(f"a file of replies has at most {FILE_BYTES} bytes", file)
    try:
        found = parse_document(file.read_bytes())
    except JsonFault as fault:
        raise _invalid(fault.message, file) from fault
    if not isinstance(found, dict):
        raise _invalid("not a mapping from problem to reply", file)
    items = tuple(_item(subject, record, criteria, file) for subject, record in found.items())
    texts = [s for s, record in found.items() if isinstance(record.get("actual_success"), str)]
    if texts:
        on_finding(
            _finding("flag-as-text", "actual_success is written as text", texts, file, severity="note")
        )
    unknown = [item.subject for item in items if item.success is None]
    if unknown:
        on_finding(_finding("missing-outcome", "actual_success is not known", unknown, file))
    return QuantifierRun(name=_name(file), by="recorded", criteria=tuple(criteria), items=items)


def _finding(
    code: str, what: str, subjects: Sequence[str], file: Path, *, severity: Severity = "warning"
) -> Finding:
    """One finding for all these problems: how many, and the first."""
    others = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
    message = f"{what}: {subjects[0][:100]!r}{others}"
    return Finding(code=code, message=message, where=Where(file=str(file)), severity=severity)


def _item(subject: str, record: Any, criteria: Sequence[Criterion], file: Path) -> Quantified:
    if not isinstance(record, dict):
        raise _invalid(f"{subject!r} holds no record", file)
    success = record.get("actual_success")
    known = _TRUTHS.get(success.casefold()) if isinstance(success, str) else success
    reply = record.get("estimated_performance")
    values, why = _values(reply, criteria)
    outcome = known if isinstance(known, bool) else None
    missing = {} if why else {c.name: NO_VALUE for c in criteria if c.name not in values}
    return Quantified(subject=subject, success=outcome, values=values, unparseable=why, unscored=missing)


def _values(reply: Any, criteria: Sequence[Criterion]) -> tuple[dict[str, Value], str]:
    """The values in a reply: an object, or a text that holds one, fenced or not."""
    if isinstance(reply, str):
        reply, why = _object_in(reply)
        if why:
            return {}, f"the reply holds no JSON: {why}"
    if not isinstance(reply, dict):
        return {}, "the reply is no JSON object"
    answered = [c for c in criteria if reply.get(c.name) is not None]
    return {c.name: read_value(c, _as_text(reply[c.name])) for c in answered}, ""


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _object_in(reply: str) -> tuple[Any, str]:
    """The first object that the text holds; else why its last candidate is none."""
    why = ""
    for text in values_in(reply):
        try:
            found = parse_document(text.encode())
        except (JsonFault, UnicodeEncodeError) as fault:  # half of a surrogate pair cannot be encoded
            why = str(fault)
            continue
        if isinstance(found, dict):
            return found, ""
    return None, why


def _invalid(message: str, file: Path) -> UntakenError:
    hint = 'Each entry is {"actual_success": true, "estimated_performance": "{…}"}.'
    return UntakenError("replies-invalid", message, where=Where(file=str(file)), hint=hint)
