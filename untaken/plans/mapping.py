"""Which action served which sub-goal (docs/concepts.md §4, mapping)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct

from untaken import limits
from untaken.errors import Finding, Where, first_few
from untaken.ledger import ActionMapping, Message, Observation, Plan, Run, ToolCall
from untaken.plans.calls import (
    answer_fits,
    call_matches,
    chars_of,
    expected_of,
    fixed_arguments,
    plain_key,
    reads_text,
)
from untaken.plans.globs import matches_glob
from untaken.plans.patterns import contains
from untaken.plans.plan_graph import PlanGraph, Rule, ToolCallSpec

Authority = Literal["tag", "rule", "check", "plan", "judge"]
_AGENT_ROLES = frozenset({"assistant", "agent", "ai", "model"})
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d{1,4}[.):])\s*")
_NAME_CHARS = 2 * limits.NAME_CHARS
"""Most characters of a plan's entry that can be a name."""
_REMEMBERED_TOOLS = 10_000
_SEQ = attrgetter("seq")


class Mapping(Struct, frozen=True, kw_only=True, gc=False):
    """The actions of a run laid over the sub-goals of a graph.

    Attributes:
        mapped: (seq, sub-goal, authority) in the order of the ledger. One call may serve several sub-goals,
            and is then listed once for each. Authority ``tag``: the ledger says so; ``rule``: a rule of the
            graph; ``check``: a tool_call check expects this tool; ``plan``: the plan in force named this
            sub-goal alone; ``judge``: nothing else maps it, and a judge recorded in the ledger does.
        extra: seq of each tool call that serves no sub-goal, the user's own calls included.
        contested: (sub-goals, seq of each action) where rules of several sub-goals claim an action; the first
            is served.
        findings: unknown tags, and actions that rules of several sub-goals claim.
    """

    mapped: tuple[tuple[int, str, Authority], ...]
    extra: tuple[int, ...]
    findings: tuple[Finding, ...]
    contested: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = ()


def map_actions(run: Run, graph: PlanGraph, *, judged: bool = True) -> Mapping:
    """Map the run's tool calls, and the agent's messages where a text rule matches, to sub-goals.

    Authority, highest first: the event's own tag; the graph's rules, first match in graph order; the tool
    that a tool_call check expects: a call that fulfils such checks serves these, one that fulfils none is an
    attempt at each check on its tool; in a run without tags, a plan in force that names exactly one sub-goal;
    a judge's word in the ledger (ACTION_MAPPING), of several the latest.
    """
    return _Mapper(run, _index(graph), judged=judged).mapping()


def rule_fits(rule: Rule, action: ToolCall | Message, answer: Observation | None = None) -> bool:
    """Whether a rule matches an action, regardless of tags and other rules; a call with its last answer."""
    if isinstance(action, Message):
        text = _text(action.content)[: limits.RULE_TEXT_CHARS].casefold()
        return action.role.lower() in _AGENT_ROLES and _fits_text(rule, text)
    return rule.text is None and _fits_tool(rule, action.tool) and _fits_call(rule, action, answer)


_Claim = tuple[str, Rule]
_Expected = tuple[str, ToolCallSpec]
"""A sub-goal with a rule of it, or with the call that its check expects."""


class _Tool:
    """What a call of one tool may serve.

    Attributes:
        claims: the rules whose tool pattern fits, in graph order.
        always: the sub-goals that claim every call of it; ``None`` where a rule looks at the arguments or the
            answer. `alone`: the one that does, where nothing else need be looked at. `plain`: there is one,
            or no rule and no check is about the tool.
        expecting: the sub-goals whose tool_call check is on it. `telling`: the argument that tells most of
            them apart; `by_value`: their places by its value, and under ``None`` of those without it.
        comparisons: with how many rules and checks a call is compared; `reading`: of them, those that take
            the longer the more the call and its answer say.
        asks: whether a rule looks at the answer.
    """

    __slots__ = (
        *("alone", "always", "asks", "by_value", "claims"),
        *("comparisons", "expecting", "plain", "reading", "telling"),
    )

    def __init__(self, claims: list[_Claim], expecting: Sequence[_Expected]) -> None:
        self.claims = claims
        self.expecting = expecting
        self.comparisons = len(claims) + len(expecting)
        self.asks = any(rule.answer is not None for _, rule in claims)
        selective = self.asks or any(rule.arguments for _, rule in claims)
        # Without arguments or answers to look at, all calls are alike.
        self.always = None if selective else _distinct(claims)
        self.reading = sum(reads_text(rule) for _, rule in claims)
        self.reading += sum(reads_text(call) for _, call in expecting)
        sole = self.always is not None and len(self.always) == 1 and not self.reading
        self.alone = self.always[0] if self.always and sole else None
        self.plain = self.alone is not None or not self.comparisons
        values: dict[str, set[object]] = {}
        for _, call in expecting:
            for name, value in fixed_arguments(call).items():
                values.setdefault(name, set()).add(value)
        self.telling = max(values, key=lambda name: len(values[name]), default="")
        self.by_value: dict[object, list[int]] = {}
        for place, (_, call) in enumerate(expecting):
            self.by_value.setdefault(fixed_arguments(call).get(self.telling), []).append(place)

    def claimants(self, call: ToolCall, answer: Observation | None) -> tuple[str, ...]:
        """The sub-goals whose rules claim the call, in graph order."""
        return _distinct([claim for claim in self.claims if _fits_call(claim[1], call, answer)])

    def fulfilled(self, call: ToolCall) -> list[_Expected]:
        """The checks that the call is as expected by, in graph order."""
        near = self.expecting
        if self.telling in call.arguments:
            rest = self.by_value.get(None, [])
            value = plain_key(call.arguments[self.telling])
            alike = self.by_value.get(value, []) if value is not None else []
            near = [near[place] for place in sorted([*alike, *rest])]
        return [one for one in near if call_matches(one[1], call)]


class _Index:
    """What mapping needs to know of a graph, found once a graph."""

    def __init__(self, graph: PlanGraph) -> None:
        self.known = {node.id: node for node in graph.sub_goals}
        self.claims = [(node.id, rule) for node in graph.sub_goals for rule in node.rules]
        self.text_claims = [claim for claim in self.claims if claim[1].text is not None]
        self.expecting: dict[str, list[_Expected]] = {}
        for node in graph.sub_goals:
            if node.check and node.check.tool_call:
                spec = node.check.tool_call
                self.expecting.setdefault(spec.name, []).append((node.id, spec))
        self.names = _names(graph)
        self.tools: dict[str, _Tool] = {}

    def comparisons(self, tool: str) -> int:
        """How many rules and checks a call is compared with, the first time that its tool is met."""
        return len(self.claims) + len(self.expecting.get(tool, ()))

    def learn(self, tool: str) -> _Tool:
        """What a call of this tool may serve."""
        claims = [c for c in self.claims if c[1].text is None and _fits_tool(c[1], tool)]
        found = _Tool(claims, self.expecting.get(tool, ()))
        if len(self.tools) < _REMEMBERED_TOOLS:  # a hostile ledger may name any number of tools
            self.tools[tool] = found
        return found


def _index(graph: PlanGraph) -> _Index:
    index: _Index | None = graph.__dict__.get("_mapping_index")
    if index is None:
        index = _Index(graph)
        graph.__dict__["_mapping_index"] = index  # kept on the graph, and let go with it
    return index


def _distinct(claims: Sequence[_Claim]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([sub_goal for sub_goal, _ in claims]))


class _Mapper:
    def __init__(self, run: Run, index: _Index, *, judged: bool) -> None:
        self.judged = {a.seq: a.sub_goal for e in run.of(ActionMapping) for a in e.actions} if judged else {}
        self.run = run
        self.index = index
        self.mapped: list[tuple[int, str, Authority]] = []
        self.extra: list[int] = []
        self.plan: str | None = None
        self.comparisons = 0  # bounded: a hostile graph must not hold up the review of the others
        self.unknown_tags: dict[str, list[int]] = {}
        self.conflicts: dict[tuple[str, ...], list[int]] = {}

    def mapping(self) -> Mapping:
        tools, mapped = self.index.tools, self.mapped
        for event in self.course():
            if isinstance(event, ToolCall):
                tool = tools.get(event.tool)
                if tool is None or not tool.plain or event.sub_goal is not None:
                    self.call(event)
                    continue
                self.comparisons += tool.comparisons  # most calls: one rule claims them all, or none does
                if tool.alone is not None and self.comparisons <= limits.MAPPING_COMPARISONS:
                    mapped.append((event.seq, tool.alone, "rule"))
                else:
                    self.unclaimed(event)
            elif isinstance(event, Message):
                self.message(event)
            else:
                self.plan = self.only_sub_goal(event)
        has_findings = self.unknown_tags or self.conflicts or self.comparisons > limits.MAPPING_COMPARISONS
        findings = tuple(self.findings()) if has_findings else ()
        contested = tuple((names, tuple(seqs)) for names, seqs in self.conflicts.items())
        return Mapping(
            mapped=tuple(self.mapped), extra=tuple(self.extra), findings=findings, contested=contested
        )

    def course(self) -> Sequence[ToolCall | Message | Plan]:
        """The events that can matter, in order."""
        calls = self.run.actions
        others: list[Message | Plan] = []
        if self.index.text_claims:
            others += self.run.of(Message)
        plans = self.run.of(Plan)
        # A run that tags its actions leaves nothing to its plans.
        if any(map(self.only_sub_goal, plans)) and not any(call.sub_goal is not None for call in calls):
            others += plans
        return sorted([*calls, *others], key=_SEQ) if others else calls  # calls are in order already

    def call(self, event: ToolCall) -> None:
        if event.sub_goal is not None and self.tagged(event.seq, event.sub_goal):
            return
        tool = self.index.tools.get(event.tool)
        self.comparisons += tool.comparisons if tool else self.index.comparisons(event.tool)
        if self.comparisons > limits.MAPPING_COMPARISONS:
            self.unclaimed(event)
            return
        tool = tool or self.index.learn(event.tool)
        if not self.claimed(event, tool):
            self.unclaimed(event)

    def unclaimed(self, event: ToolCall) -> None:
        """Handles a call that no tag, rule or check claims: the plan may, else a judge."""
        if self.plan is not None:
            self.mapped.append((event.seq, self.plan, "plan"))
        elif (named := self.judged.get(event.seq)) in self.index.known and event.requestor != "user":
            self.mapped.append((event.seq, str(named), "judge"))
        else:
            self.extra.append(event.seq)

    def claimed(self, event: ToolCall, tool: _Tool) -> bool:
        """Whether a sub-goal claims the call: by a rule, else by a check on its tool."""
        answer = self.run.answers.get(event.seq) if tool.asks else None
        if tool.reading:
            self.comparisons += tool.reading * chars_of(event, answer) // limits.CHARS_PER_COMPARISON
        claimants = tool.always if tool.always is not None else tool.claimants(event, answer)
        if claimants:
            self.ruled(event.seq, claimants)
            return True
        # A call that fulfils no check is still an attempt at those that expect its tool.
        serves = tool.fulfilled(event) or tool.expecting
        self.mapped += [(event.seq, sub_goal, "check") for sub_goal, _ in serves]
        return bool(serves)

    def message(self, event: Message) -> None:
        claims = self.index.text_claims
        if event.role.lower() not in _AGENT_ROLES:
            return
        self.comparisons += len(claims)
        if self.comparisons <= limits.MAPPING_COMPARISONS:
            text = _text(event.content)[: limits.RULE_TEXT_CHARS].casefold()
            claimants = _distinct([claim for claim in claims if _fits_text(claim[1], text)])
            if claimants:
                self.ruled(event.seq, claimants)

    def ruled(self, seq: int, claimants: tuple[str, ...]) -> None:
        """The first of several sub-goals whose rules claim an action gets it."""
        if len(claimants) > 1:
            self.conflicts.setdefault(claimants, []).append(seq)
        self.mapped.append((seq, claimants[0], "rule"))

    def tagged(self, seq: int, sub_goal: str) -> bool:
        if sub_goal not in self.index.known:
            self.unknown_tags.setdefault(sub_goal, []).append(seq)
            return False
        self.mapped.append((seq, sub_goal, "tag"))
        return True

    def only_sub_goal(self, plan: Plan) -> str | None:
        """The one sub-goal a plan names."""
        named: str | None = None
        for entry in plan.sub_goals:
            found = self.index.names.get(_plain_name(entry[:_NAME_CHARS]))  # an entry may be a whole page
            if found is not None and found != named:  # its id and its title may both be there
                if named is not None:
                    return None
                named = found
        return named

    def findings(self) -> Iterator[Finding]:
        where = Where(run=self.run.run_id)
        for tag, seqs in self.unknown_tags.items():
            yield Finding(
                code="sub-goal-tag-unknown",
                message=f"{_actions(seqs)} tagged with the sub-goal {tag!r}, which the graph does not have",
                where=where,
            )
        for names, seqs in self.conflicts.items():
            rivals = ", ".join(map(repr, names))
            yield Finding(
                code="mapping-conflict",
                message=f"{_actions(seqs)} matched by rules of {rivals}; the first is used",
                where=where,
                hint="Make one of the rules narrower.",
            )
        if self.comparisons > limits.MAPPING_COMPARISONS:
            yield Finding(
                code="mapping-limit",
                message=f"more than {limits.MAPPING_COMPARISONS:,} comparisons with rules and checks; the "
                "rest counts as unmapped",
                where=where,
                hint="Tag the actions in the ledger, or give the graph fewer rules.",
            )


def _fits_call(rule: Rule, call: ToolCall, answer: Observation | None) -> bool:
    if rule.arguments and not contains(call.arguments, expected_of(rule)):
        return False
    # A rule that asks for an answer claims no call without one.
    return rule.answer is None or answer_fits(rule.answer, answer) is True


def _fits_tool(rule: Rule, tool: str) -> bool:
    return rule.tool is None or matches_glob(rule.tool, tool)


def _fits_text(rule: Rule, folded: str) -> bool:
    return rule.text is not None and matches_glob(rule.text.casefold(), folded)


def _names(graph: PlanGraph) -> dict[str, str | None]:
    """Ids and titles by which a plan may name a sub-goal; ``None`` where two sub-goals share a title."""
    names: dict[str, str | None] = {}
    for node in graph.sub_goals:
        title = _plain_name(node.title[:_NAME_CHARS])
        if title:
            names[title] = node.id if names.get(title, node.id) == node.id else None
    # Last: where one sub-goal's title is the id of another, the id counts.
    names.update({_plain_name(node.id[:_NAME_CHARS]): node.id for node in graph.sub_goals})
    return names


@lru_cache(maxsize=4096)
def _plain_name(text: str) -> str:
    return _LIST_MARK.sub("", text).strip().rstrip(".").casefold()


def _text(content: Any) -> str:
    """What a message says: a text, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


def _actions(seqs: list[int]) -> str:
    shown = first_few([*map(str, seqs)], 5)
    return f"action {shown} is" if len(seqs) == 1 else f"{len(seqs)} actions (seq {shown}) are"
