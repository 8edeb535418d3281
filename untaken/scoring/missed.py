"""Why no action is mapped to a sub-goal: did the agent leave it out, or does the graph's mapping miss it?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from untaken.ledger import ToolCall, readable
from untaken.plans import FREE, Mapping, Rule, SubGoal, expected_of, matches_glob
from untaken.scoring.differences import ABSENT, COMPARED_CALLS, FieldDifference, shown
from untaken.scoring.tool_names import CLOSE, alike

MissedBy = Literal["agent", "mapping", "plan"]
NEVER: Final = "never attempted"
NAMED: Final = 3
MOST_RULES: Final = 8
SPELLED_CHARS: Final = 4
"""Fewest literal characters of a pattern by which a call that it does not fit is recognised."""
READ_CHARS: Final = 20_000
"""Characters of the arguments, over all calls, that are searched for them."""
_FREE: Final = "…"
"""In place of free text, which is not compared."""
_WILD: Final = re.compile(r"[*?\[\]!^$\\.+(){}|]")


class Missed(Struct, frozen=True, kw_only=True, gc=False):
    """Why no action is mapped to a sub-goal.

    Attributes:
        cause: which is likelier at fault: the ``agent`` that left it out, or the graph's ``mapping``.
        why: in words, with the calls that point to it.
        differences: what would have been mapped, beside what is there.
    """

    cause: MissedBy
    why: str
    differences: tuple[FieldDifference, ...]


class Unserved:
    """The calls of a run that serve no sub-goal, found once a run."""

    def __init__(self, calls: Sequence[ToolCall], mapping: Mapping) -> None:
        extra = set(mapping.extra)
        # A simulated user's calls are not the agent's.
        own = [call for call in calls if call.requestor != "user"]
        left = [call for call in own if call.seq in extra]
        self.contested = mapping.contested
        self.calls = left[-COMPARED_CALLS:]
        self.tools = {call.tool: call.seq for call in self.calls}
        self.rest = _rest(len(own), len(left))


def why_missed(node: SubGoal, unserved: Unserved) -> Missed:
    """Why a sub-goal has no action, from the run's own calls.

    The mapping is the likelier cause where a call fits a rule of the sub-goal but serves another one, where
    an unmapped call has nearly the tool's name, or where one says what a rule's pattern spells out; else the
    agent.
    """
    wanted = tuple(_wanted(node))
    differences = tuple(
        FieldDifference(field=one.field, expected=one.expected, actual=ABSENT) for one in wanted
    )
    if clue := _fits_elsewhere(node, unserved) or _unmapped(node, wanted, unserved):
        return Missed(cause="mapping", why=f"likely a gap in the mapping: {clue}", differences=differences)
    names = " or ".join(dict.fromkeys(one.words for one in wanted[:NAMED]))
    did = f"no {names}" if names else "no action is tagged with it"
    return Missed(
        cause="agent", why=f"likely the agent's mistake: {did}{unserved.rest}", differences=differences
    )


class _Wanted(Struct, frozen=True, kw_only=True, gc=False):
    """An action that would have been mapped: by its tool (a glob in rules), or by a message."""

    field: str
    expected: str
    words: str
    tool: str | None = None


def _wanted(node: SubGoal) -> Iterator[_Wanted]:
    for rule in node.rules[:MOST_RULES]:
        if rule.text is not None:
            yield _Wanted(
                field="message", expected=shown(rule.text), words=f"message like {shown(rule.text)}"
            )
        else:
            tool = rule.tool or "any tool"
            with_these = f" with {shown(rule.arguments)}" if rule.arguments else ""
            yield _Wanted(
                field="call", expected=f"{tool}{with_these}", words=f"call of {tool}{with_these}", tool=tool
            )
    if node.check is not None and node.check.tool_call is not None:
        spec = node.check.tool_call
        given = {
            name: _FREE if one is FREE else spec.arguments[name] for name, one in expected_of(spec).items()
        }
        with_these = f" with {shown(given)}" if given else ""
        yield _Wanted(
            field="call", expected=f"{spec.name}{with_these}", words=f"call of {spec.name}", tool=spec.name
        )


def _fits_elsewhere(node: SubGoal, unserved: Unserved) -> str:
    """A rule of the sub-goal fits an action that the rule of an earlier one claims."""
    for names, seqs in unserved.contested:
        if node.id in names[1:]:  # the first is served
            return f"event {seqs[0]} fits its rule, but is mapped to {names[0]!r} first"
    return ""


def _unmapped(node: SubGoal, wanted: Sequence[_Wanted], unserved: Unserved) -> str:
    """An action that serves no sub-goal and looks like one of this."""
    tools = unserved.tools
    for one in wanted if tools else ():
        # It was called: the name is right, and something else of the rule does not fit.
        if one.tool is None or any(matches_glob(one.tool, tool) for tool in tools):
            continue
        near = [tool for how, tool in alike(one.tool, tools) if how >= CLOSE]
        if near:
            return f"{near[0]} (event {tools[near[0]]}) serves no sub-goal, and the graph names {one.tool}"
    for rule in node.rules[:MOST_RULES]:
        if found := _spelled_out(rule, unserved.calls):
            return found
    return ""


def _spelled_out(rule: Rule, calls: Iterable[ToolCall]) -> str:
    """An unmapped call of the rule's tool that says what one of its patterns spells out."""
    budget = READ_CHARS
    spelled = [(name, words) for name, value in (rule.arguments or {}).items() if (words := _literal(value))]
    for call in calls if spelled else ():
        if rule.tool is not None and not matches_glob(rule.tool, call.tool):
            continue
        for name, words in spelled:
            content = (readable(call.arguments.get(name)) or "")[: max(budget, 0)]
            budget -= len(content)
            if words.casefold() in content.casefold():
                return f"event {call.seq} says {shown(words)} in {name}, but the rule does not fit it"
    return ""


def _literal(value: Any) -> str:
    """The longest text that a pattern spells out; empty where it is too short to recognise a call by."""
    if not isinstance(value, dict) or len(value) != 1:
        return ""
    kind, text = next(iter(value.items()))
    if kind not in ("glob", "contains", "regex") or not isinstance(text, str):
        return ""
    parts = [text] if kind == "contains" else _WILD.split(text)
    longest = max((part.strip() for part in parts), key=len, default="")
    return longest if len(longest) >= SPELLED_CHARS else ""


def _rest(own: int, left: int) -> str:
    """What the run's other calls were for."""
    if not own:
        return "; the run calls no tool"
    if own == 1:
        return f"; its only call serves {'no' if left else 'another'} sub-goal"
    if not left:
        return "; all its calls serve other sub-goals"
    return f"; {left} of its {own} calls {'serves' if left == 1 else 'serve'} no sub-goal"
