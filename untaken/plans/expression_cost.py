"""An upper bound of what evaluating an expression costs, known before it is run.

One step is about 30 ns on an ordinary machine: one comparison, or one element copied. Measured with
``benchmarks/expressions.py``; the bound errs on the dear side.
"""

from __future__ import annotations

import math
import re
from typing import Any

from untaken.errors import UntakenError
from untaken.plans.expression_source import BUILDERS, ExpressionSource, Loop, Token
from untaken.plans.expression_state import Size, at, measure

_CHARS_PER_STEP = 32
_REGEX_CHARS = 200
_REGEX_REPEATS = 100
_HIDING = re.compile(r"\\[xXuU0-7]")
_COUNTED = re.compile(r"\{([0-9]*)(?:,([0-9]*))?\}")


def refuse_regexes(source: ExpressionSource) -> None:
    """A pattern must be written in the expression, short, and without large counted repetitions.

    Raises:
        UntakenError: ``expression-regex``.
    """
    for i in range(len(source.tokens)):
        if not _calls_matches(source.tokens, i):
            continue
        pattern = _pattern(source.tokens, i)
        if pattern is None:
            message = (
                "the pattern of matches() must be written out in the expression, like x.matches('ORD-[0-9]+')"
            )
        elif len(pattern) > _REGEX_CHARS:
            message = f"the pattern of matches() has {len(pattern)} characters; {_REGEX_CHARS} are allowed"
        elif _repeats(pattern) > _REGEX_REPEATS:
            message = f"the counted repetitions in matches() multiply to more than {_REGEX_REPEATS}"
        else:
            continue
        raise UntakenError("expression-regex", message)


def steps(source: ExpressionSource, state: Any, size: Size) -> float:
    """Upper bound of the steps that `source` takes on `state`, of `size`."""
    # With n additions a list or a text can be n + 1 times as long as all that is read.
    weight = size.items + size.chars / _CHARS_PER_STEP + 1
    joins = 1 + sum(token.text == "+" for token in source.tokens)
    total = len(source.tokens) * weight * joins
    rounds = size.longest * joins + len(source.tokens)  # a list may also be written out in the expression
    for loop in source.loops:
        total += rounds * _body(source, loop, state)
        if loop.kind in BUILDERS:
            held = rounds * _body(source, loop, state) if loop.kind == "map" else 0.0
            total += rounds * (weight * joins + held)
    return total + _regexes(source, size, rounds)


def _body(source: ExpressionSource, loop: Loop, state: Any) -> float:
    """Steps of one round: its tokens, each of which may look through what the body reads of the state."""
    read = 1.0
    for path in source.paths:
        if loop.start < path.at < loop.end:
            part = measure(at(state, path.segments))
            read += part.items + part.chars / _CHARS_PER_STEP if isinstance(part, Size) else math.inf
    return (loop.end - loop.start) * read


def _regexes(source: ExpressionSource, size: Size, rounds: float) -> float:
    total = 0.0
    for i in range(len(source.tokens)):
        if _calls_matches(source.tokens, i) and (pattern := _pattern(source.tokens, i)) is not None:
            parts = len(pattern) * _repeats(pattern)
            # A class such as \w has thousands of ranges in Unicode; inside a loop each round compiles again.
            compiling = 100 * parts + 8_000 * pattern.count("\\") * _repeats(pattern)
            times = rounds if any(loop.start < i < loop.end for loop in source.loops) else 1
            total += times * compiling + parts * size.chars / 4
    return total


def _calls_matches(tokens: tuple[Token, ...], i: int) -> bool:
    return tokens[i].text == "matches" and [t.text for t in tokens[i + 1 : i + 2]] == ["("]


def _pattern(tokens: tuple[Token, ...], i: int) -> str | None:
    """The pattern in ``x.matches("…")`` at token `i`; ``None`` where it is not plainly written there."""
    texts = [t.text for t in tokens[i + 1 : i + 4]]
    if i == 0 or tokens[i - 1].text != "." or texts[:1] != ["("] or texts[2:] != [")"]:
        return None
    return _unquoted(tokens[i + 2])


def _unquoted(token: Token) -> str | None:
    """A text's content; ``None`` where escapes could hide what it says."""
    if token.kind != "text":
        return None
    if token.text[0] in "rR":
        return token.text[2:-1]
    plain = token.text[1:-1].replace("\\\\", "\0")
    return None if _HIDING.search(plain) else plain.replace("\0", "\\")


def _repeats(pattern: str) -> int:
    repeats = 1
    for low, high in _COUNTED.findall(pattern):
        repeats *= max(int((high or low)[:9] or 1), 1)
    return repeats
