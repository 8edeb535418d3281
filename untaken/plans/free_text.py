"""Expected arguments that are free text: no two agents write the same, so being there is enough (§4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from untaken.plans.patterns import Pattern, is_pattern
from untaken.plans.plan_graph import PlanGraph, SubGoal, ToolCallSpec

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replacing:
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
