"""Does a recorded call, with its recorded answer, fulfil an expected one?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from untaken.ledger import Observation, ToolCall
from untaken.plans.patterns import (
    TEXT_KINDS,
    Pattern,
    contains,
    expected_arguments,
    json_equal,
    text_of,
    text_pattern,
    without_free_text,
)
from untaken.plans.plan_graph import AnswerSpec, Rule, ToolCallSpec

_PLAIN: Final = (str, int, float, type(None))


def call_matches(spec: ToolCallSpec, call: ToolCall) -> bool:
    """True where `call` has the tool and the arguments that `spec` expects, whatever its answer.

    ``exact``: the arguments are equal. ``subset``: each expected argument is in the call; the call may say
    more, also inside nested mappings. ``call_keys``: compared only on the call's own keys, or on
    `compare_args` where that is given, so a call that leaves an argument out is not blamed for it, and a call
    without any argument matches. A pattern in the place of a value fits as `untaken.plans.patterns` says.

    Raises:
        UntakenError: ``graph-pattern-invalid`` for a spec that was never validated.
    """
    if spec.name != call.tool:
        return False
    expected = expected_of(spec)
    if spec.match == "exact":
        return json_equal(expected, call.arguments)
    if spec.match == "subset":
        return contains(call.arguments, expected)
    keys = set(call.arguments if spec.compare_args is None else spec.compare_args)
    return json_equal(_only(expected, keys), _only(call.arguments, keys))


def call_counts(spec: ToolCallSpec, answer: Observation | None) -> bool | None:
    """Whether a call that matches is a completion, by its recorded answer (§4).

    An answer that says ``ok: false`` is none, unless the spec says so. ``None`` where the record cannot tell:
    there is no answer, or it has no `ok` where one is expected.
    """
    if spec.answer is None:
        if spec.answered == "any":
            return True
        return None if answer is None else answer.ok is not False
    # An answer that is expected to say something may still not be that of a refused call.
    if spec.answered == "ok" and spec.answer.ok is None and answer is not None and answer.ok is False:
        return False
    return answer_fits(spec.answer, answer)


def answer_fits(expected: AnswerSpec, answer: Observation | None) -> bool | None:
    """Whether a recorded answer says what is expected; ``None`` where the record cannot tell."""
    if answer is None:
        return None
    if expected.ok is not None and answer.ok is not None and answer.ok is not expected.ok:
        return False
    patterns = answer_patterns(expected)
    if patterns:
        text = text_of(answer.content) or ""
        if not all(pattern.fits_text(text) for pattern in patterns):
            return False
    # The text fits; whether it worked, nobody wrote down.
    return None if expected.ok is not None and answer.ok is None else True


def answer_patterns(expected: AnswerSpec) -> tuple[Pattern, ...]:
    """The patterns on the text of an answer, made once.

    Raises:
        UntakenError: ``graph-pattern-invalid``.
    """
    made: tuple[Pattern, ...] | None = expected.__dict__.get("patterns")
    if made is None:
        given = [(kind, getattr(expected, kind)) for kind in TEXT_KINDS]
        made = tuple(text_pattern(kind, text) for kind, text in given if text is not None)
        expected.__dict__["patterns"] = made
    return made


def expected_of(spec: ToolCallSpec | Rule) -> Mapping[str, Any]:
    """The expected arguments with their patterns ready to be compared, made once.

    What a check expects of free text is that it is given; a rule looks for what it says.

    Raises:
        UntakenError: ``graph-pattern-invalid``.
    """
    # Kept with the specification, which all runs of a graph share: its arguments have no hash for a cache.
    made: dict[str, Any] | None = spec.__dict__.get("expected")
    if made is None:
        made = expected_arguments(spec.arguments or {})
        if isinstance(spec, ToolCallSpec):
            made = without_free_text(spec, made)
        spec.__dict__["expected"] = made
    return made


def fixed_arguments(spec: ToolCallSpec) -> Mapping[str, object]:
    """Arguments that have one plain value in each call that matches, unless the call leaves them out.

    The values are `plain_key`s. By these, few calls need be compared where a plan has hundreds of checks on
    one tool.

    Raises:
        UntakenError: ``graph-pattern-invalid``.
    """
    made: dict[str, object] | None = spec.__dict__.get("fixed")
    if made is None:
        compared = spec.compare_args
        made = {
            name: key
            for name, value in expected_of(spec).items()
            if (compared is None or name in compared) and (key := plain_key(value)) is not None
        }
        spec.__dict__["fixed"] = made
    return made


def plain_key(value: Any) -> tuple[bool, object] | None:
    """The same for values that compare as equal; ``None`` for mappings, lists and patterns."""
    # In Python True equals 1, in JSON it does not.
    return (isinstance(value, bool), value) if isinstance(value, _PLAIN) else None


def reads_text(spec: ToolCallSpec | Rule) -> bool:
    """True where comparing a call takes the longer the more it or its answer says."""
    patterned = bool(spec.arguments) and expected_of(spec) is not spec.arguments
    return patterned or spec.answer is not None


def chars_of(call: ToolCall, answer: Observation | None) -> int:
    """How much a pattern may have to read of a call and its answer."""
    text = text_of(answer.content) if answer is not None else None
    return len(msgspec.json.encode(call.arguments)) + len(text or "")


def _only(arguments: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key in keys}
