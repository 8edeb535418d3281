"""Fields of a trace that say how its run ended: those read, those only named, and the one asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from untaken.traces.losses import Findings, clip
from untaken.traces.readings import mapping, parsed

GOOD: Final = (
    *("success", "successful", "is_success", "pass", "passed", "win", "won", "resolved", "is_resolved"),
    *("solved", "is_solved", "correct", "is_correct", "reward", "score"),
    *("succeeded", "task_success", "task_completion", "outcome"),
)
"""Names that say success with true or 1."""
BAD: Final = ("failure", "failed", "is_failure")
"""Names that say failure with true or 1."""
OUTCOMES: Final = (*GOOD, *BAD)
INVERTED: Final = frozenset((*BAD, "error", "is_error", "has_error", "errored"))
"""Names that say failure with true or 1 where they were asked for."""
ANSWERS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""Texts that answer what the name of a field that was asked for says."""
WORDS: Final = {
    **dict.fromkeys(("pass", "passed", "success", "succeeded", "resolved", "correct"), True),
    **dict.fromkeys(("fail", "failed", "failure", "unresolved", "incorrect", "error"), False),
}
"""Texts that are an outcome, whatever the name of the field."""
WITHIN: Final = 1e-6
_LOOKED_AT: Final = 100_000
_DEEPEST: Final = 3
"""Objects in objects that are searched for a field to name."""
_WRITTEN: Final = frozenset(("metadata", "tags", "attributes", "info", "extra"))
"""Members that some exports write as JSON text."""
_CONTENT: Final = frozenset(
    (
        *("messages", "input", "inputs", "output", "outputs", "content", "arguments", "history"),
        *("trajectory", "steps"),
    )
)
"""Members with what was said and done, where a name is no outcome of the run."""


def outcome_of(document: Mapping[str, Any], findings: Findings, run: str) -> tuple[bool | None, bool]:
    """The outcome that fields of a document say: true or false, 0 or 1, and the other way round in `BAD`.

    What such a field says otherwise is named, and so are two that disagree, of which neither is used.

    Returns:
        The outcome, and whether a finding says why there is none.
    """
    given = {name: document[name] for name in OUTCOMES if document.get(name) is not None}
    read = {name: success for name, value in given.items() if (success := _flag(name, value)) is not None}
    if len(set(read.values())) > 1:
        both = " and ".join(f"`{name}` = {clip(given[name], 40)}" for name in read)
        message = f"{both} contradict each other; success is unknown"
        hint = f"Say which one is the outcome: --outcome {next(iter(read))}."
        findings.add("outcomes-differ", message, run=run, hint=hint)
        return None, True
    for name in given.keys() - read.keys() if read else ():
        name_unused(name, findings, run, known=True)
    return next(iter(read.values()), None), False


def agreed(evaluations: Iterable[tuple[str, bool]], findings: Findings) -> tuple[bool | None, bool]:
    """What evaluations that name the success of a run say together.

    Returns:
        The outcome, and whether a finding says why there is none: they contradict each other.
    """
    given = list(evaluations)
    if len({success for _, success in given}) > 1:
        names = ", ".join(dict.fromkeys(name for name, _ in given))
        message = f"the evaluations {clip(names, 80)} contradict each other; success is unknown"
        findings.add("outcomes-differ", message)
        return None, True
    return next((success for _, success in given), None), False


def name_unused(name: str, findings: Findings, run: str, *, known: bool = False) -> None:
    """Says of a field that it was not used as the outcome; in a note where the outcome is `known`."""
    message = f"field `{clip(name, 80)}` was not used as the outcome"
    hint = f"To use it: --outcome {clip(name, 80)}."
    findings.add("outcome-not-used", message, run=run, hint=hint, severity="note" if known else "warning")


def fields_beside(about: Any) -> list[str]:
    """The paths of fields with the name of an outcome, in the objects of what a source says about a run."""
    found: list[str] = []
    waiting: deque[tuple[str, Any, int]] = deque([("", about, 0)])
    while waiting:
        path, value, depth = waiting.popleft()  # the outermost first
        for name, each in islice(mapping(value).items(), 1_000):  # names in a hostile file have no end
            if name in OUTCOMES and isinstance(each, bool | int | float | str) and each != "":
                found.append(f"{path}{name}")
            elif isinstance(each, dict) and depth < _DEEPEST and name not in _CONTENT:
                waiting.append((f"{path}{name}.", each, depth + 1))
    return found


def outcome_in(field: str, about: Any, findings: Findings, run: str) -> tuple[bool, bool | None]:
    """Whether a field is in what a source says about a run, and the outcome that it says.

    Args:
        field: a name, or names with dots between from the outside in; the outermost place counts.
        about: objects and lists.
        findings: where a value that is no outcome is named, and values that differ.
        run: the run's id.
    """
    values = [value for value in _nearest(field, about) if value is not None]
    name = field.rpartition(".")[2]
    read = {_asked(name, value) for value in values}
    if len(read) > 1:
        message = f"field `{clip(field, 80)}` says different things; success is unknown"
        findings.add("outcomes-differ", message, run=run)
    elif read == {None}:
        message = f"field `{clip(field, 80)}` is {clip(values[0], 80)}, neither true nor false, 0 nor 1"
        findings.add("outcome-not-used", f"{message}; success is unknown", run=run)
    return bool(values), next(iter(read)) if len(read) == 1 else None


def outcome_from(value: Any, findings: Findings, run: str) -> tuple[bool | None, bool]:
    """The outcome that a value says, and whether a finding says why it says none."""
    success = None if value is None else _asked("", value)
    if value is None or success is not None:
        return success, False
    message = f"the outcome is {clip(value, 80)}, neither true nor false, 0 nor 1; success is unknown"
    findings.add("outcome-not-used", message, run=run)
    return None, True


def _flag(name: str, value: Any) -> bool | None:
    """What a field says where it says it with true or false, 0 or 1."""
    if not isinstance(value, bool | int | float):
        return None
    one, zero = abs(value - 1) < WITHIN, abs(value) < WITHIN
    return (one != (name in INVERTED)) if one or zero else None


def _asked(name: str, value: Any) -> bool | None:
    """What a field that was asked for says: in words, too."""
    if isinstance(value, str):
        word = value.strip().lower()
        answer = ANSWERS.get(word)
        return WORDS.get(word) if answer is None else answer != (name in INVERTED)
    return _flag(name, value)


def _nearest(field: str, about: Any) -> list[Any]:
    """The values of a field at the outermost depth at which it is, of a bounded number of objects."""
    level: list[Any] = [about]
    looked = 0
    while level and looked < _LOOKED_AT:
        found: list[Any] = []
        inner: list[Any] = []
        for value in level:
            looked += 1
            if isinstance(value, dict):
                found += list(_at(field, value))
                inner += [parsed(each) if name in _WRITTEN else each for name, each in value.items()]
            elif isinstance(value, list | tuple):
                inner += [each for each in value if isinstance(each, dict | list | tuple)]
        if found:
            return found
        level = inner
    return []


def _at(field: str, document: Mapping[str, Any]) -> Iterator[Any]:
    """The value of a field, whether its dots are in the name or lead on inside."""
    if field in document:
        yield document[field]
        return
    value: Any = document
    for name in field.split("."):
        if name not in mapping(value):
            return
        value = value[name]
    yield value
