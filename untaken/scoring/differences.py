"""What a failed check expects and what the run holds instead, field by field (§4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from untaken.errors import UntakenError, first_few
from untaken.ledger import Observation, ToolCall, cut, readable
from untaken.plans import (
    Check,
    FieldPath,
    Pattern,
    Token,
    ToolCallSpec,
    answer_patterns,
    contains,
    evaluate_expression,
    expected_of,
    json_equal,
    read_source,
    text_of,
)

ABSENT: Final = "not set"
VALUE_CHARS: Final = 240
"""Characters of a value that is shown next to what was expected."""
BRIEF_CHARS: Final = 60
"""Characters of a value in a sentence."""
MOST_NESTED: Final = 4
"""Levels of a value that are written in words; deeper ones are JSON."""
MOST_FIELDS: Final = 24
MOST_IN_WORDS: Final = 3
COMPARED_CALLS: Final = 200
"""Calls, the last ones, that are looked through for the nearest."""
_NOTHING: Final = object()
_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})
_SWAPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TIGHT_AFTER: Final = frozenset({"(", "[", "{", ".", "!"})
_TIGHT_BEFORE: Final = frozenset({")", "]", "}", ".", ","})


class FieldDifference(Struct, frozen=True, kw_only=True, gc=False):
    """One thing a check looked at; its texts may come from the ledger or the graph and are untrusted.

    Attributes:
        field: what is compared: ``state.a.b``, an argument (``order.id``), ``result``, ``verdict``, …
        expected: what the check asks of it, in words.
        actual: what the run holds; `ABSENT` where it holds nothing.
        met: whether this part is as expected.
    """

    field: str
    expected: str
    actual: str
    met: bool = False


def differences_in_words(found: Sequence[FieldDifference]) -> str:
    """The unmet ones in one sentence part: ``order_id is 7, expected 8``; empty where there are none."""
    unmet = [one for one in found if not one.met]
    parts = [
        f"{one.field} is {cut(one.actual, BRIEF_CHARS)}, expected {cut(one.expected, BRIEF_CHARS)}"
        for one in unmet
    ]
    return first_few(parts, MOST_IN_WORDS, "; ")


def fields_in_words(found: Sequence[FieldDifference]) -> str:
    """The fields of a state that are not as expected: ``paid: not set``, ``amount: 78, expected 67``.

    A part of an expression that says more than one comparison is shown by the fields that it reads.
    """
    return first_few([_field_in_words(one) for one in found if not one.met], MOST_IN_WORDS, "; ")


def _field_in_words(one: FieldDifference) -> str:
    paths = one.field.split(", ")
    actual = cut(one.actual, BRIEF_CHARS).replace("state.", "")
    if paths[0] in one.expected:  # more than a comparison: its own text would be source
        return f"{paths[0]}: {actual}".replace("state.", "") if len(paths) == 1 else actual
    field = one.field.replace("state.", "")
    if one.expected == "true" and one.actual == ABSENT:
        return f"{field}: {ABSENT}"
    return f"{field}: {actual}, expected {cut(_value_alone(one.expected), BRIEF_CHARS)}"


def _value_alone(expected: str) -> str:
    """An expectation without the source behind its value: ``2 (state.limit)``."""
    value, _, source = expected.rpartition(" (") if expected[:1] == '"' else expected.partition(" (")
    return value if "state." in source else expected


def shown(value: Any) -> str:
    """A recorded value in words, cut at `VALUE_CHARS`: ``"A12"``, ``["a", 7]``, ``(to = "Bonn", no = 5)``."""
    if value is _NOTHING:
        return ABSENT
    if isinstance(value, Pattern) and value.kind == "equals":
        return shown(value.value)
    if isinstance(value, Pattern) and value.kind == "given":
        return "some text"
    if isinstance(value, Pattern):
        return "any value" if value.kind == "any" else f"{value.kind} {shown(value.text)}"
    return cut(_in_words(value, MOST_NESTED), VALUE_CHARS)


def _in_words(value: Any, deeper: int) -> str:
    nested = isinstance(value, Mapping | list) and deeper
    # In one order: equal contents, equal texts. What is left out would be cut.
    first = (sorted(value, key=str) if isinstance(value, Mapping) else value)[:VALUE_CHARS] if nested else ()
    if first and isinstance(value, Mapping):
        return f"({', '.join(f'{key} = {_in_words(value[key], deeper - 1)}' for key in first)})"
    if first:
        return f"[{', '.join(_in_words(one, deeper - 1) for one in first)}]"
    if isinstance(value, str):
        value = value[: VALUE_CHARS + 1]  # a text may have megabytes, and all of it would be escaped
    return (readable([value]) or "")[1:-1]  # inside a list a text keeps its quotes


def state_differences(expression: str, state: Mapping[str, Any]) -> tuple[FieldDifference, ...]:
    """The parts of an expression that is false on a state, each with the values that it reads.

    An expression of parts joined by ``&&`` is taken apart; any other is one part.
    """
    return tuple(
        FieldDifference(
            field=part.field,
            expected=_with_values(part.expected, part.others, state),
            actual=_values(part.paths, state),
            met=evaluate_expression(part.text, state) is True,
        )
        for part in _parts(expression)[:MOST_FIELDS]
    )


def asked_values(check: Check, state: Mapping[str, Any], calls: Sequence[ToolCall]) -> tuple[str, ...]:
    """The values that a check asks for, each with its field: ``amount: 67``, ``channel: "email"``.

    Of a call those come first that the nearest of `calls` does not have. A value that an expression reads
    from a state is the one in `state`. What is only to be true, false, any value or different has none; nor
    has an expression of more than comparisons.
    """
    if check.tool_call is not None:
        spec = check.tool_call
        nearest = nearest_call(spec, [call for call in calls if call.tool == spec.name])
        unmet = {one.field.partition(".")[0] for one in nearest[1] if not one.met} if nearest else set()
        asked = sorted(expected_of(spec).items(), key=lambda one: one[0] not in unmet)
        fixed = [(name, one) for name, one in asked if not isinstance(one, Pattern) or one.kind == "equals"]
        return tuple(f"{name}: {cut(shown(one), BRIEF_CHARS)}" for name, one in fixed)
    found = [
        (part, _value_alone(_with_values(part.expected, part.others, state)))
        for part in (_parts(check.expr) if check.expr else ())
        if part.equals and part.field == _dotted(part.paths[0])
    ]
    return tuple(
        f"{'.'.join(part.paths[0])}: {cut(value, BRIEF_CHARS)}"
        for part, value in found
        if value not in (ABSENT, "true", "false")
    )


class _Part(Struct, frozen=True, kw_only=True, gc=False):
    """One conjunct: ``field expected``; `others` are the fields that the expectation itself reads."""

    text: str
    field: str
    expected: str
    paths: tuple[tuple[str, ...], ...]
    others: tuple[tuple[str, ...], ...] = ()
    equals: bool = False


@lru_cache(maxsize=1024)  # the runs of a graph fail at the same few expressions
def _parts(expression: str) -> tuple[_Part, ...]:
    try:
        source = read_source(expression)
    except UntakenError:  # the same fault makes the check itself unscored, with its reason
        return ()
    return tuple(_part(source.tokens, source.paths, start, end) for start, end in _conjuncts(source.tokens))


def _conjuncts(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Token ranges of the parts that `&&` joins outside all brackets; `||` or `?` there leaves one part."""
    outside = list(_outside(tokens, 0, len(tokens)))
    if any(tokens[at].text in ("||", "?") for at in outside):
        return [(0, len(tokens))]
    cuts = [at for at in outside if tokens[at].text == "&&"]
    return list(zip([0, *(at + 1 for at in cuts)], [*cuts, len(tokens)], strict=True))


def _outside(tokens: Sequence[Token], start: int, end: int) -> Iterator[int]:
    depth = 0
    for at in range(start, end):
        token = tokens[at]
        if token.kind == "mark" and token.text in "([{":
            depth += 1
        elif token.kind == "mark" and token.text in ")]}":
            depth -= 1
        elif depth == 0 and token.kind in ("mark", "name"):
            yield at


def _part(tokens: Sequence[Token], paths: Sequence[FieldPath], start: int, end: int) -> _Part:
    read = [path for path in paths if start <= path.at < end]
    text = _spelled(tokens[start:end])
    every = tuple(dict.fromkeys(path.segments for path in read))
    signs = [at for at in _outside(tokens, start, end) if tokens[at].text in _COMPARISONS]
    if len(signs) == 1 and read:
        at = signs[0]
        left, right = _spelled(tokens[start:at]), _spelled(tokens[at + 1 : end])
        sign = tokens[at].text
        mine = tuple(dict.fromkeys(path.segments for path in read if path.at < at))
        others = tuple(dict.fromkeys(path.segments for path in read if path.at > at))
        if mine:
            expected = right if sign == "==" else f"{sign} {right}"
            same = sign == "=="
            return _Part(text=text, field=left, expected=expected, paths=mine, others=others, equals=same)
        if sign != "in":  # a list that holds a value cannot be turned round
            swapped = _SWAPPED.get(sign, sign)  # `==` and `!=` read the same from both sides
            expected = left if swapped == "==" else f"{swapped} {left}"
            return _Part(text=text, field=right, expected=expected, paths=others, equals=swapped == "==")
    if tokens[start].text == "!" and len(every) == 1 and _is_path(tokens[start + 1 : end]):
        return _Part(text=text, field=_dotted(every[0]), expected="false", paths=every)
    if len(every) == 1 and _is_path(tokens[start:end]):
        return _Part(text=text, field=text, expected="true", paths=every)
    return _Part(text=text, field=", ".join(map(_dotted, every)) or "state", expected=text, paths=every)


def _is_path(tokens: Sequence[Token]) -> bool:
    return all(token.kind == "name" or token.text == "." for token in tokens)


def _spelled(tokens: Sequence[Token]) -> str:
    spelled = ""
    for before, token in zip([None, *tokens], tokens, strict=False):
        tight = before is None or before.text in _TIGHT_AFTER or token.text in _TIGHT_BEFORE
        opens = (
            token.text in ("(", "[") and before is not None and before.kind == "name" and before.text != "in"
        )
        spelled += token.text if tight or opens else f" {token.text}"
    return spelled


def _values(paths: Sequence[tuple[str, ...]], state: Mapping[str, Any]) -> str:
    if len(paths) == 1:
        return _value(paths[0], state)
    return ", ".join(f"{_dotted(path)} {_value(path, state)}" for path in paths[:MOST_IN_WORDS]) or ABSENT


def _with_values(expected: str, paths: Sequence[tuple[str, ...]], state: Mapping[str, Any]) -> str:
    """An expectation that reads fields itself, after what these hold."""
    current = ", ".join(_value(path, state) for path in paths[:MOST_IN_WORDS])
    return f"{current} ({expected})" if current else expected


def _value(path: tuple[str, ...], state: Any) -> str:
    for segment in path:
        if not isinstance(state, Mapping) or segment not in state:
            return ABSENT
        state = state[segment]
    return shown(state)


def _dotted(segments: tuple[str, ...]) -> str:
    return ".".join(("state", *segments))


def nearest_call(
    spec: ToolCallSpec, calls: Sequence[ToolCall]
) -> tuple[ToolCall, tuple[FieldDifference, ...]] | None:
    """The call whose arguments differ least from the expected ones, with what differs; of equals the last."""
    call = min(
        calls[-COMPARED_CALLS:], key=lambda one: (_distance(_arguments(spec, one)), -one.seq), default=None
    )
    return None if call is None else (call, argument_differences(spec, call))


def argument_differences(spec: ToolCallSpec, call: ToolCall) -> tuple[FieldDifference, ...]:
    """Each expected argument beside the call's, as the spec's `match` compares them."""
    return tuple(
        FieldDifference(field=one.name, expected=shown(one.expected), actual=shown(one.actual), met=one.met)
        for one in islice(_arguments(spec, call), MOST_FIELDS)
    )


def unmet_arguments(spec: ToolCallSpec, call: ToolCall) -> Iterator[tuple[str, Any, Any]]:
    """The name, the expected value and the call's value of each argument that is not as expected.

    The call's value is an object of no JSON type where it has none.
    """
    for one in islice(_arguments(spec, call), MOST_FIELDS):
        if not one.met and one.expected is not _NOTHING:
            yield one.name, one.expected, one.actual


class _Argument(Struct, frozen=True, gc=False):
    name: str
    expected: Any
    actual: Any
    met: bool


def _distance(found: Iterable[_Argument]) -> float:
    """Unmet fields; one that is set to another value is nearer than one that is missing."""
    return sum(1.0 if one.actual is _NOTHING else 0.9 for one in found if not one.met)


def _arguments(spec: ToolCallSpec, call: ToolCall) -> Iterator[_Argument]:
    expected: Mapping[str, Any] = expected_of(spec)
    actual: Mapping[str, Any] = call.arguments
    if spec.match == "call_keys":
        keys = set(actual if spec.compare_args is None else spec.compare_args)
        expected = {key: value for key, value in expected.items() if key in keys}
        actual = {key: value for key, value in actual.items() if key in keys}
    return _compared(expected, actual, "", exact=spec.match != "subset")


def _compared(
    expected: Mapping[str, Any], actual: Mapping[str, Any], place: str, *, exact: bool
) -> Iterator[_Argument]:
    for key, value in expected.items():
        found = actual.get(key, _NOTHING)
        met = found is not _NOTHING and (json_equal(value, found) if exact else contains(found, value))
        if not met and isinstance(value, Mapping) and isinstance(found, Mapping):
            yield from _compared(value, found, f"{place}{key}.", exact=exact)
        elif not met and isinstance(value, list) and isinstance(found, list) and len(value) == len(found):
            yield from _compared(_by_place(value), _by_place(found), f"{place}{key}.", exact=exact)
        else:
            yield _Argument(f"{place}{key}", value, found, met)
    for key in actual if exact else ():
        if key not in expected:
            yield _Argument(f"{place}{key}", _NOTHING, actual[key], False)


def _by_place(items: Sequence[Any]) -> dict[str, Any]:
    return {str(at): item for at, item in enumerate(items)}


def answer_differences(spec: ToolCallSpec, answer: Observation | None) -> tuple[FieldDifference, ...]:
    """What a check asks of the answer of a call beside what was answered."""
    if answer is None:
        return (FieldDifference(field="result", expected="recorded", actual="not recorded"),)
    wanted = spec.answer.ok if spec.answer is not None and spec.answer.ok is not None else True
    found = []
    if answer.ok is not None and spec.answered == "ok":
        found.append(
            FieldDifference(
                field="result.ok", expected=shown(wanted), actual=shown(answer.ok), met=answer.ok is wanted
            )
        )
    text = text_of(answer.content) or ""
    patterns = answer_patterns(spec.answer) if spec.answer is not None else ()
    found += [
        FieldDifference(field="result", expected=shown(one), actual=shown(text), met=one.fits_text(text))
        for one in patterns
    ]
    if not patterns:
        found.append(FieldDifference(field="result", expected="a success", actual=shown(text), met=True))
    return tuple(found)
