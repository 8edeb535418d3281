"""What can be wrong with the calls that checks and rules expect: patterns, answers, likely slips."""

from __future__ import annotations

from collections.abc import Iterator

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans.calls import answer_patterns
from untaken.plans.fault import Fault
from untaken.plans.patterns import Path, expectation, leaves, looks_like_pattern
from untaken.plans.plan_graph import AnswerSpec, PlanGraph, Rule, ToolCallSpec


def expected_call_faults(spec: ToolCallSpec | Rule, whose: str, path: Path) -> Iterator[Fault]:
    """Patterns that cannot be used, and literals that were likely meant as patterns."""
    if isinstance(spec, ToolCallSpec) and looks_like_pattern(spec.name):
        yield Fault(
            code="graph-literal-wildcard",
            message=f"{whose} expects a tool named exactly {spec.name!r}, not a pattern",
            path=(*path, "name"),
            hint="A check covers one tool. To map several, use a rule, where `tool` is a glob.",
            severity="warning",
        )
    for place, expected in leaves(spec.arguments or {}):
        where, argument = (*path, "arguments", *place), _dotted(place)
        if isinstance(expected, dict):
            yield from _unusable(expected, f"{whose}, argument {argument!r}", where)
        elif looks_like_pattern(expected):
            yield Fault(
                code="graph-literal-wildcard",
                message=f"{whose} expects {argument!r} to be exactly {expected!r}, not a pattern",
                path=where,
                hint="For a pattern write {glob: …}, {contains: …} or {regex: …}; "
                "write {literal: …} for a text that only looks like one.",
                severity="warning",
            )
    if spec.answer is not None:
        yield from _answer(spec.answer, whose, (*path, "answer"))


def too_many_regexes(graph: PlanGraph) -> Fault | None:
    """The fault of a graph with more different regular expressions than are read."""
    found: set[str] = set()
    for i, node in enumerate(graph.sub_goals):
        calls: list[ToolCallSpec | Rule] = [*node.rules]
        if node.check and node.check.tool_call:
            calls.append(node.check.tool_call)
        for spec in calls:
            for _, expected in leaves(spec.arguments or {}):
                found.update(text for text in _regexes(expected) if isinstance(text, str))
            found.update([spec.answer.regex] if spec.answer and spec.answer.regex else [])
        if len(found) > limits.REGEXES:
            return Fault(
                code="graph-too-many-regexes",
                message=f"the graph has more than {limits.REGEXES} different regular expressions",
                path=("sub_goals", i),
                hint="Use `glob` or `contains` where possible.",
            )
    return None


def _regexes(expected: object) -> list[object]:
    return [expected["regex"]] if isinstance(expected, dict) and "regex" in expected else []


def _unusable(expected: dict[str, object], whose: str, path: Path) -> Iterator[Fault]:
    try:
        expectation(expected)
    except UntakenError as error:
        yield Fault(code=error.code, message=f"{whose}: {error.message}", path=path, hint=error.hint)


def _answer(answer: AnswerSpec, whose: str, path: Path) -> Iterator[Fault]:
    if answer == AnswerSpec():
        yield Fault(
            code="graph-answer-empty",
            message=f"the answer that {whose} expects has no condition",
            path=path,
            hint="Give `ok`, `contains`, `glob` or `regex`, or leave `answer` out.",
        )
    try:
        answer_patterns(answer)
    except UntakenError as error:
        yield Fault(code=error.code, message=f"{whose}, answer: {error.message}", path=path, hint=error.hint)


def _dotted(place: Path) -> str:
    """``filter.city``, ``command[2]``."""
    words = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return words.removeprefix(".")
