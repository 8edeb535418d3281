"""Safe expressions over a run's state (docs/concepts.md §4a).

The language is CEL, run by a Rust library: no attribute access, no calls into Python, linear-time regular
expressions. It has no cost limit of its own, so nothing is run before its cost is bounded here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from msgspec import Struct

from untaken import limits
from untaken.errors import Unscored, UntakenError
from untaken.plans.expression_source import LOOPS, ROOT, ExpressionSource, read_source, unreadable
from untaken.plans.expression_state import Projection, describe_missing, measure, refuse_regexes, steps

_HELD = 4096
# What is not on this list stays refused, whatever the library learns.
_FUNCTIONS = LOOPS | {
    *("size", "contains", "startsWith", "endsWith", "matches", "has"),
    *("int", "uint", "double", "string", "type", "timestamp", "duration"),
    *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
    *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
}
_TYPES = frozenset({"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint"})
_TYPE_WORDS = {
    type(None): "null",
    str: "a text",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}
CEL_WORDS = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "is": "==",
    "True": "true",
    "False": "false",
    "None": "null",
    "len": "size",
}
"""What Python's words are in CEL."""
_QUOTED = re.compile(r"\"[^\"\n]*+\"|'[^'\n]*+'")
_WORD = re.compile(r"[A-Za-z_]++")
_UNDEFINED = re.compile(r"Undefined variable or function: '(\w+)'")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")


class _Compiled(Struct, frozen=True):
    program: Any
    source: ExpressionSource
    projection: Projection


def check_expression(expression: str) -> None:
    """Refuse an expression that cannot be read, or whose cost has no bound.

    Raises:
        UntakenError: ``expression-too-long``, ``expression-too-deep``, ``expression-nested-loop``,
            ``expression-regex``, ``expression-unknown-name``, ``expression-unknown-function``,
            ``expression-unreadable``.
    """
    compiled = _compiled(expression)
    if isinstance(compiled, UntakenError):
        raise UntakenError(compiled.code, compiled.message, hint=compiled.hint)


def evaluate_expression(expression: str, state: Mapping[str, Any]) -> bool | Unscored:
    """Pass, fail, or unscored with the reason: which field is missing, what the result is instead of true or
    false, that the state is too large to look through.

    Nothing is guessed: a field that is absent is never false. Only the fields that the expression names are
    handed to it.
    """
    compiled = _compiled(expression)
    if isinstance(compiled, UntakenError):
        return Unscored(f"the expression cannot be used: {compiled.message}")
    seen = compiled.projection.of(state)
    size = measure(seen)
    if isinstance(size, Unscored):
        return size
    if steps(compiled.source, seen, size) > limits.EXPRESSION_STEPS:
        return Unscored("the state is too large for this expression: it would take too many steps")
    return _run(compiled, seen)


def _run(compiled: _Compiled, seen: Any) -> bool | Unscored:
    try:
        result = compiled.program.execute({ROOT: seen})
    except (KeyError, TypeError) as error:
        return Unscored(describe_missing(compiled.source, seen, error))
    except Exception as error:  # the library raises a class for each kind of fault; each is "no evidence"
        return Unscored(_in_words(error))
    if not isinstance(result, bool):
        given = _TYPE_WORDS.get(type(result), f"a {type(result).__name__}")
        return Unscored(f"the expression gives {given}, not true or false")
    return result


@lru_cache(maxsize=_HELD)
def _compiled(expression: str) -> _Compiled | UntakenError:
    try:
        source = read_source(expression)
        refuse_regexes(source)
        program = _parsed(expression)
        _known_names(program, source)
    except UntakenError as error:
        return error.with_traceback(None)  # kept: without the frames that it would hold on to
    return _Compiled(program=program, source=source, projection=Projection.reading(source.paths))


@cache
def _cel() -> Any:
    """The library, without its own command line, which loads all that draws a terminal."""
    loaded = sys.modules.setdefault("cel.cli", ModuleType("cel.cli"))
    cel = import_module("cel")
    if loaded.__spec__ is None:  # our stand-in goes: the real one can still be imported
        sys.modules.pop("cel.cli", None)
    return cel


_PLACE: Final = re.compile(r"ERROR: <input>:(?P<line>\d+):(?P<column>\d+):")


def _parsed(expression: str) -> Any:
    try:
        return _cel().compile(expression)
    except Exception as error:  # the library's parser raises ValueError, its lexer others
        hint = _python_hint(expression) or 'Write it like `state.decision == "approve"`.'
        place = _PLACE.search(str(error))
        if place is None:
            message = f"the expression cannot be read: {str(error).partition(chr(10))[0][:300]}"
            raise UntakenError("expression-unreadable", message, hint=hint) from None
        before = expression.split("\n")[: int(place["line"]) - 1]
        at = sum(len(line) + 1 for line in before) + int(place["column"]) - 1
        raise unreadable(expression, at, hint) from None


def _known_names(program: Any, source: ExpressionSource) -> None:
    bound = {loop.variable for loop in source.loops}
    if ROOT in bound:
        raise UntakenError("expression-unknown-name", f"a loop variable may not be called {ROOT!r}")
    unknown = sorted(set(program.variables()) - bound - _TYPES - {ROOT})
    if unknown:
        raise UntakenError(
            "expression-unknown-name",
            f"the expression uses the name {unknown[0]!r}; it may only use {ROOT!r}",
            hint=_python_hint(unknown[0]) or f"Did you mean `{ROOT}.{unknown[0]}`?",
        )
    # Operators are functions, too, with names such as `_+_`.
    functions = sorted(f for f in set(program.functions()) - _FUNCTIONS if _NAME.match(f))
    if functions:
        raise UntakenError(
            "expression-unknown-function",
            f"there is no function {functions[0]!r}",
            hint=_python_hint(functions[0]) or f"Functions: {', '.join(sorted(_FUNCTIONS))}.",
        )


def _python_hint(expression: str) -> str:
    """How CEL writes what looks like Python; empty where nothing does."""
    words = dict.fromkeys(_WORD.findall(_QUOTED.sub("", expression)))  # "and" in quotes is no Python
    replacements = [f"`{CEL_WORDS[word]}` for `{word}`" for word in words if word in CEL_WORDS]
    return f"Expressions are CEL, not Python: write {', '.join(replacements)}." if replacements else ""


def _in_words(error: Exception) -> str:
    message = str(error)
    undefined = _UNDEFINED.match(message)
    if undefined:  # unknown names are refused before: here it is the values that do not fit
        return f"{undefined.group(1)!r} does not apply to these values"
    if message.startswith("Conversion Error"):
        return "the part of the state that the expression reads holds a value that is not JSON"
    return f"the expression failed: {message.split('. ', 1)[0][:300]}"
