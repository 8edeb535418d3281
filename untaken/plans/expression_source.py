"""What an expression's text says before anything runs it: tokens, loops, and the fields of the state it
reads.

The expression library gives no syntax tree, so the little that must be known beforehand is read from tokens.
Whatever the tokens leave unclear counts as a reason to refuse.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from untaken import limits
from untaken.errors import UntakenError

ROOT = "state"
"""The one name an expression may use."""
LOOPS = frozenset({"all", "exists", "exists_one", "existsOne", "map", "filter"})
BUILDERS = frozenset({"map", "filter"})
"""Loops that copy a growing list at each step, so that they cost the square of its length."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<text>[rR](?:"[^"\n\r]*"|'[^'\n\r]*')|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
    |(?P<number>0[xX][0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?[uU]?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<mark>&&|\|\||[=!<>]=|[-+*/%!<>?:,.()\[\]{}])""",
    re.VERBOSE,
)
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


class Token(NamedTuple):
    """A word of an expression."""

    kind: str
    text: str


class Loop(NamedTuple):
    """``receiver.all(variable, body)`` and its kin; `start` and `end` are the tokens around its brackets."""

    kind: str
    variable: str
    start: int
    end: int


class FieldPath(NamedTuple):
    """``state.a.b`` as read at token `at`; no segments for the whole state."""

    segments: tuple[str, ...]
    at: int


class ExpressionSource(Struct, frozen=True):
    """An expression's tokens and what follows from them."""

    tokens: tuple[Token, ...]
    loops: tuple[Loop, ...]
    paths: tuple[FieldPath, ...]

    def chain_to(self, field: str) -> str | None:
        """The first dotted chain that ends in `field`, as written (``order.total``)."""
        for i, token in enumerate(self.tokens):
            if token.text == field and i and self.tokens[i - 1].text == ".":
                start = i
                while (
                    start >= 2
                    and self.tokens[start - 1].text == "."
                    and self.tokens[start - 2].kind == "name"
                ):
                    start -= 2
                return "".join(t.text for t in self.tokens[start : i + 1])
        return None


def read_source(expression: str) -> ExpressionSource:
    """Tokens, loops and field paths of `expression`.

    Raises:
        UntakenError: ``expression-too-long``, ``expression-too-deep``, ``expression-nested-loop``,
            ``expression-unreadable``.
    """
    if len(expression) > limits.EXPRESSION_CHARS:
        raise UntakenError(
            "expression-too-long",
            f"the expression has {len(expression):,} characters; {limits.EXPRESSION_CHARS:,} are allowed",
        )
    tokens = _tokens(expression)
    if len(tokens) > limits.EXPRESSION_NODES:
        raise UntakenError(
            "expression-too-long",
            f"the expression has {len(tokens):,} parts; {limits.EXPRESSION_NODES:,} are allowed",
        )
    return ExpressionSource(tokens=tokens, loops=_loops(tokens), paths=_paths(tokens))


def _tokens(expression: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    at = 0
    while at < len(expression):
        match = _TOKEN.match(expression, at)
        if match is None:
            raise unreadable(expression, at)
        if match.lastgroup != "space":
            token = Token(str(match.lastgroup), match.group())
            before = tokens[-1] if tokens else Token("", "")
            # CEL reads a text otherwise right after these: triple quotes, bytes, prefixes.
            binds = before.kind == "text" or (before.kind == "name" and before.text != "in")
            if token.kind == "text" and binds:
                raise unreadable(expression, at)
            tokens.append(token)
        at = match.end()
    return tuple(tokens)


def unreadable(
    expression: str, at: int, hint: str = "Text goes in single or double quotes, on one line."
) -> UntakenError:
    """Where an expression cannot be read, from character `at` on (0 is the first)."""
    rest = expression[at : at + 20]
    words = f"cannot be read at character {at + 1}: {rest!r}" if rest.strip() else "ends too early"
    return UntakenError("expression-unreadable", f"the expression {words}", hint=hint)


class _Bracket(Struct):
    loop: str | None
    start: int
    held_a_loop: bool = False
    operand_holds_a_loop: bool = False


def _loops(tokens: tuple[Token, ...]) -> tuple[Loop, ...]:
    """Every loop, refusing one inside another's brackets or built on another's result."""
    found: list[Loop] = []
    stack = [_Bracket(None, -1)]
    for i, token in enumerate(tokens):
        if token.text in _OPEN and token.kind == "mark":
            name = _loop_name(tokens, i)
            if name and (any(b.loop for b in stack) or stack[-1].operand_holds_a_loop):
                raise UntakenError(
                    "expression-nested-loop",
                    f"a loop ({name}) inside or after another one is not allowed: its cost has no bound",
                    hint="Use one all/exists/filter, with && inside it.",
                )
            stack.append(_Bracket(name, i))
            if len(stack) > limits.EXPRESSION_DEPTH:
                raise UntakenError(
                    "expression-too-deep", f"brackets are nested deeper than {limits.EXPRESSION_DEPTH} levels"
                )
        # A bracket too many is left for CEL to refuse.
        elif token.text in _CLOSE and token.kind == "mark" and len(stack) > 1:
            closed = stack.pop()
            holds = closed.held_a_loop or closed.loop is not None
            stack[-1].held_a_loop |= holds
            stack[-1].operand_holds_a_loop |= holds
            if closed.loop:
                found.append(Loop(closed.loop, tokens[closed.start + 1].text, closed.start, i))
        elif token.kind == "mark" and token.text != ".":
            # An operator ends the operand: what a loop gave before it is not looped over.
            stack[-1].operand_holds_a_loop = False
    return tuple(found)


def _loop_name(tokens: tuple[Token, ...], at: int) -> str | None:
    """The loop whose bracket opens at token `at`, if one does."""
    if at >= 2 and tokens[at].text == "(" and tokens[at - 2].text == "." and tokens[at - 1].text in LOOPS:
        return tokens[at - 1].text
    return None


def _paths(tokens: tuple[Token, ...]) -> tuple[FieldPath, ...]:
    found = []
    for i, token in enumerate(tokens):
        if token == ("name", ROOT) and not (i and tokens[i - 1].text == "."):
            found.append(FieldPath(_segments(tokens, i + 1), i))
    return tuple(found)


def _segments(tokens: tuple[Token, ...], at: int) -> tuple[str, ...]:
    """Field names from token `at` on: ``.name`` and ``["name"]``; a method's name is not a field."""
    segments: list[str] = []
    while at < len(tokens):
        texts = [t.text for t in tokens[at : at + 3]]
        if texts[0] == "." and len(texts) > 1 and tokens[at + 1].kind == "name" and texts[2:] != ["("]:
            segments.append(texts[1])
            at += 2
        elif (
            (texts[0], texts[2:]) == ("[", ["]"])
            and tokens[at + 1].kind == "text"
            and (texts[1][0] in "\"'" and "\\" not in texts[1])
        ):
            segments.append(texts[1][1:-1])
            at += 3
        else:
            break
    return tuple(segments)
