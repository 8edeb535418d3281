"""What a graph may expect instead of one exact value: a glob, a part, a regular expression, free text (§4).

The regular expressions are RE2's: linear in the text, whatever the text and the pattern say; no look-around,
no back-references. Each is compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import re2
from msgspec import Struct
from msgspec.structs import replace

from untaken import limits
from untaken.errors import UntakenError
from untaken.ledger import readable
from untaken.plans.globs import matches_glob
from untaken.plans.plan_graph import PlanGraph, SubGoal, ToolCallSpec

TEXT_KINDS: Final = ("glob", "contains", "regex")
KINDS: Final = (*TEXT_KINDS, "any", "literal", "equals")
"""The keys of which a mapping with only that key is a pattern. ``literal`` and ``equals`` take their value
verbatim; ``equals`` compares it even where it is free text."""
_KINDS: Final = frozenset(KINDS)
_REGEX_BYTES: Final = 512 * limits.KIB
"""Memory of one compiled expression with its automaton: compiling takes 20 ms, reading 0.2 µs a character at
worst."""
_LIKE_GLOB: Final = re.compile(r"(?:^|[^\s\d*()])\*|\*(?:[^\s\d*()]|$)")
"""A star beside a letter, a slash or an end: not that of a product."""
_LIKE_GLOB_WORD: Final = re.compile(r"\w\?[\w.]|\?\?")
"""In a text without blanks, a ``?`` that ends no question."""
_LIKE_REGEX: Final = re.compile(r"^\^|\\[dsw][+*{]|\.\+")
_WEB_ADDRESS: Final = re.compile(r"\w+://")
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""Types of most values, checked first because checks for a mapping or a list are slower."""
_MAPPING: Final = (dict, Mapping)
"""A plain `dict` first: the check for the abstract class is slow."""

Path = tuple[str | int, ...]


class Pattern(Struct, frozen=True):
    """A pattern, ready to be compared: `kind` is one of `KINDS` but ``literal``, `text` its text.

    Of ``equals`` the `value` is any JSON value; ``given`` replaces free text, which need only be there.
    """

    kind: str
    text: str = ""
    value: Any = None

    def fits(self, value: Any) -> bool:
        """Whether a recorded value is as expected; ``null`` fits ``any`` alone."""
        if self.kind == "any":
            return True
        if self.kind == "equals":
            return json_equal(self.value, value)
        if self.kind == "given":
            return value is not None and (not isinstance(value, str) or bool(value.strip()))
        text = text_of(value)
        return text is not None and self.fits_text(text)

    def fits_text(self, text: str) -> bool:
        """Whether a text is: the whole of it (``glob``), or a part (``contains``, ``regex``)."""
        if self.kind == "contains":
            return self.text in text
        if self.kind == "glob":
            return matches_glob(self.text, text)
        return _regex(self.text).search(text) is not None


def text_of(value: Any) -> str | None:
    """A recorded value as the text that patterns look at: a text itself, a list of texts or of text parts one
    below the other, anything else as JSON; ``None`` for ``null``.
    """
    if isinstance(value, list) and value:
        parts = [part.get("text") if isinstance(part, dict) else part for part in value]
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            return "\n".join(texts)
    return readable(value)


def expectation(value: Any) -> Any:
    """An expected value with a `Pattern` in place of each mapping that denotes one.

    A mapping with the single key ``glob``, ``contains``, ``regex``, ``any``, ``literal`` or ``equals``
    denotes a pattern, at any depth, except inside the last two. A value without patterns is returned
    unchanged.

    Raises:
        UntakenError: ``graph-pattern-invalid``.
    """
    if isinstance(value, dict):
        kind = _kind(value)
        if kind == "literal":
            return value[kind]
        if kind == "equals":
            return Pattern(kind, value=value[kind])
        if kind is not None:
            return _pattern(kind, value[kind])
        made = {key: expectation(item) for key, item in value.items()}
        # Without a pattern: no copy.
        return made if any(made[key] is not value[key] for key in value) else value
    if isinstance(value, list):
        items = [expectation(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def expected_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """`expectation` of each argument: the mapping of arguments itself is no pattern, whatever its keys.

    Raises:
        UntakenError: ``graph-pattern-invalid``.
    """
    made = {name: expectation(value) for name, value in arguments.items()}
    return made if any(made[name] is not arguments[name] for name in arguments) else arguments


def text_pattern(kind: str, text: Any) -> Pattern:
    """A pattern on a text.

    Raises:
        UntakenError: ``graph-pattern-invalid``.
    """
    if not isinstance(text, str) or not 0 < len(text) <= limits.PATTERN_CHARS:
        raise _invalid(f"`{kind}` takes a text of 1 to {limits.PATTERN_CHARS} characters")
    if kind == "regex":
        _regex(text)
    return Pattern(kind, text)


def leaves(arguments: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """The texts and the patterns (as mappings) in expected arguments, with the path of each."""
    for name, value in arguments.items():
        yield from _leaves(value, (name,))


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and not is_pattern(value):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, (*path, place))
    elif isinstance(value, str | dict):  # a mapping that gets here is a pattern
        yield path, value


def looks_like_pattern(text: str) -> bool:
    """True where a literal was likely meant as a glob or a regular expression: ``pytest*``, ``^git``."""
    if len(text) > limits.PATTERN_CHARS or _WEB_ADDRESS.match(text):
        return False
    one_word = len(text.split()) == 1
    return bool(
        _LIKE_GLOB.search(text) or _LIKE_REGEX.search(text) or (one_word and _LIKE_GLOB_WORD.search(text))
    )


def as_literal(value: Any) -> Any:
    """A value of a record written so that a graph expects exactly that: what could be taken for a pattern
    is inside ``literal``.
    """
    if isinstance(value, dict):
        if is_pattern(value):
            return {"literal": value}
        return {key: as_literal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_literal(item) for item in value]
    return {"literal": value} if isinstance(value, str) and looks_like_pattern(value) else value


def is_pattern(value: dict[str, Any]) -> bool:
    """Whether a mapping in an expected value denotes a pattern."""
    return bool(value) and value.keys() <= _KINDS


def _kind(value: dict[str, Any]) -> str | None:
    if not is_pattern(value):
        return None
    if len(value) > 1:
        both = " and ".join(f"`{key}`" for key in value)
        raise _invalid(
            f"a pattern says one of {', '.join(KINDS)}; this one says {both}",
            hint="Use one of them, or write {literal: {…}} for a literal mapping.",
        )
    return next(iter(value))


def _pattern(kind: str, text: Any) -> Pattern:
    if kind != "any":
        return text_pattern(kind, text)
    if text is not True:
        raise _invalid("`any` takes true: the argument is present, with any value")
    return Pattern("any")


@lru_cache(maxsize=4096)
def _regex(text: str) -> Any:
    if len(text) > limits.REGEX_CHARS:
        raise _invalid(f"`regex` takes up to {limits.REGEX_CHARS} characters, this one has {len(text)}")
    options = re2.Options()
    options.max_mem = _REGEX_BYTES
    options.log_errors = False  # RE2 would write them to stderr
    options.never_capture = True  # no groups: RE2 then needs its fastest automaton only
    try:
        return re2.compile(text, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error, re2.error) else "not valid text"
        raise _invalid(
            f"the regular expression {text!r} cannot be used: {reason}",
            hint="The syntax is RE2's: no look-ahead, no look-behind, no back-references.",
        ) from None


def _invalid(message: str, *, hint: str = "") -> UntakenError:
    return UntakenError("graph-pattern-invalid", message, hint=hint)


def json_equal(a: Any, b: Any) -> bool:
    """Equality of JSON values: 1 equals 1.0, but neither ``true`` nor "1"; `a` may hold patterns."""
    if type(a) in _SCALARS:
        return _same_scalar(a, b)
    if isinstance(a, _MAPPING) and isinstance(b, _MAPPING):
        return a.keys() == b.keys() and all(json_equal(value, b[key]) for key, value in a.items())
    if _is_list(a) and _is_list(b):
        return len(a) == len(b) and all(map(json_equal, a, b))
    return a.fits(b) if type(a) is Pattern else _same_scalar(a, b)


def contains(actual: Any, expected: Any) -> bool:
    """True where `actual` says all that `expected` says: mappings may hold more, lists no more items."""
    if type(expected) in _SCALARS:
        return _same_scalar(actual, expected)
    if isinstance(expected, _MAPPING) and isinstance(actual, _MAPPING):
        for key, value in expected.items():  # a generator inside all() takes twice as long
            if key not in actual or not contains(actual[key], value):
                return False
        return True
    if _is_list(expected) and _is_list(actual):
        return len(actual) == len(expected) and all(map(contains, actual, expected))
    return expected.fits(actual) if type(expected) is Pattern else _same_scalar(actual, expected)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _same_scalar(a: Any, b: Any) -> bool:
    if type(a) is type(b):
        return bool(a == b)
    # In Python True equals 1, in JSON it does not.
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b
    return False


WORDS: Final = 4
"""Fewest words of a sentence."""
FREE: Final = Pattern("given")
"""The pattern in place of free text: it fits anything but nothing and blanks."""
_WORD: Final = re.compile(r"[\"'“‘(\[]*[^\W\d_]+(?:['’-][^\W\d_]+)*[.,;:!?…)\]\"'”’]*")
_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PER_WORD: Final = 2
"""Signs of a word where words are not set apart."""
_CODE_NAMES: Final = frozenset(
    {"cmd", "code", "command", "commands", "path", "pattern", "regex", "script", "sql"}
)
_SQL: Final = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP)\b")
_CALCULATION_NAMES: Final = frozenset({"equation", "expr", "expression", "formula"})
_CALCULATORS: Final = re.compile(r"calc|arithmetic|evaluate_expression|math", re.IGNORECASE)
_CALCULATION: Final = re.compile(r"[\d\s.,()$%+*/×÷−-]+")
_OPERATION: Final = re.compile(r"[\d)]\s*[+*×÷]\s*[\d($-]|[\d)]\s+[-−/]\s+[\d($]|\)\s*[-−/]|[-−/]\s*\(")
"""Between two numbers; a ``-`` or ``/`` without blanks or brackets may be that of a date or a range."""


def is_free_text(text: str, *, tool: str, argument: str) -> bool:
    """Whether an expected text is a sentence (at least `WORDS` words) or a calculation.

    Commands, code and patterns are neither: an argument of such a name is compared.

    Args:
        text: what is expected.
        tool: of the expected call.
        argument: its name, or the key that the text has inside it.
    """
    name = argument.casefold()
    if name in _CALCULATION_NAMES and (_CALCULATORS.search(tool) or _calculates(text)):
        return True
    if name in _CODE_NAMES or _SQL.match(text):  # every sign of it matters
        return False
    return _calculates(text) or _words(text) >= WORDS


def _calculates(text: str) -> bool:
    return bool(_CALCULATION.fullmatch(text) and _OPERATION.search(text))


def _words(text: str) -> int:
    """How many words a sentence has; a name of capitalised words (``New York City Hall``) is none."""
    words = [token for token in text.split() if _WORD.fullmatch(token)]
    # In a text of capitals alone, they tell nothing.
    is_name = not text.isupper() and all(word.strip("\"'“‘([")[:1].isupper() for word in words)
    return max(0 if is_name else len(words), len(_IDEOGRAPHS.findall(text)) // _PER_WORD)


def without_free_text(spec: ToolCallSpec, expected: dict[str, Any]) -> dict[str, Any]:
    """Expected arguments with `FREE` in place of each free text; the same object where there is none."""
    replacing = _Replacing(tool=spec.name, instead=lambda _: FREE)
    return replacing.arguments(expected)


def comparing_free_text(graph: PlanGraph) -> PlanGraph:
    """The graph with each free text compared for equality, as benchmarks do that compare all arguments.

    Their own figures (τ-bench, τ²-bench) are reproduced by it, beside those of the graph itself.
    """
    return replace(graph, sub_goals=[comparing_sub_goal(node) for node in graph.sub_goals])


def comparing_sub_goal(node: SubGoal) -> SubGoal:
    """One sub-goal of `comparing_free_text`."""
    if node.check is None or node.check.tool_call is None:
        return node
    spec = node.check.tool_call
    replacing = _Replacing(tool=spec.name, instead=lambda text: {"equals": text}, patterns=True)
    call = replace(spec, arguments=replacing.arguments(spec.arguments))
    return replace(node, check=replace(node.check, tool_call=call))


class _Replacing(Struct, frozen=True, kw_only=True):
    """Puts something else in place of each free text that a call of a tool is expected to give.

    Attributes:
        patterns: whether mappings may denote patterns, as in a file.
    """

    tool: str
    instead: Callable[[str], Any]
    patterns: bool = False

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments; the same object where nothing is free text."""
        made = {name: self.value(value, name) for name, value in given.items()}
        return made if any(made[name] is not given[name] for name in given) else given

    def value(self, value: Any, name: str) -> Any:
        """A value under the name of its argument, or its own key inside it."""
        if isinstance(value, str):
            return self.instead(value) if is_free_text(value, tool=self.tool, argument=name) else value
        if isinstance(value, dict):
            if self.patterns and is_pattern(value):
                literal = value.get("literal")
                new = self.value(literal, name) if isinstance(literal, str) else literal
                return value if new is literal else new
            return self.arguments(value)
        if isinstance(value, list):
            items = [self.value(item, name) for item in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        return value
