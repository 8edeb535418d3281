"""Which action served which sub-goal (docs/concepts.md §4, mapping)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from untaken import limits
from untaken.errors import Finding, Where
from untaken.ledger.events import Message, Plan, ToolCall
from untaken.ledger.model import Run
from untaken.plans.calls import call_matches, contains
from untaken.plans.globs import matches_glob
from untaken.plans.model import PlanGraph, Rule, SubGoal

Authority = Literal["tag", "rule", "check", "plan"]
_AGENT_ROLES = frozenset({"assistant", "agent", "ai", "model"})
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d{1,4}[.):])\s*")
_REMEMBERED_TOOLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """The actions of a run laid over the sub-goals of a graph.

    Attributes:
        mapped: (seq, sub-goal, authority) in the order of the ledger. One call may serve several sub-goals,
            then it stands here once for each. Authority ``tag``: the ledger says so; ``rule``: a rule of the
            graph; ``check``: a tool_call check expects this tool; ``plan``: the plan in force named this
            sub-goal alone.
        extra: seq of each tool call that serves no sub-goal, the user's own calls included.
        findings: unknown tags, and actions that rules of several sub-goals claim.
    """

    mapped: tuple[tuple[int, str, Authority], ...]
    extra: tuple[int, ...]
    findings: tuple[Finding, ...]


def map_actions(run: Run, graph: PlanGraph) -> Mapping:
    """Map the run's tool calls, and the agent's messages where a text rule matches, to sub-goals.

    Authority, highest first: the event's own tag; the graph's rules, first match in graph order; the tool
    that a tool_call check expects: a call that fulfils such checks serves these, one that fulfils none is an
    attempt at each check on its tool; in a run without tags, a plan in force that names exactly one sub-goal.
    """
    return _Mapper(run, _index(graph)).mapping()


@dataclass(frozen=True, slots=True)
class _Claim:
    sub_goal: str
    rule: Rule


class _Index:
    """What mapping needs to know of a graph, found once a graph."""

    def __init__(self, graph: PlanGraph) -> None:
        self.known = {node.id: node for node in graph.sub_goals}
        self.claims = [_Claim(node.id, rule) for node in graph.sub_goals for rule in node.rules]
        self.text_claims = [claim for claim in self.claims if claim.rule.text is not None]
        self.expecting: dict[str, list[SubGoal]] = {}
        for node in graph.sub_goals:
            if node.check and node.check.tool_call:
                self.expecting.setdefault(node.check.tool_call.name, []).append(node)
        self.names = _names(graph)
        self._by_tool: dict[str, list[_Claim]] = {}

    def comparisons(self, tool: str) -> int:
        """How many rules and checks a call of this tool is compared with."""
        rules = self._by_tool.get(tool, self.claims)
        return len(rules) + len(self.expecting.get(tool, ()))

    def claims_on(self, tool: str) -> list[_Claim]:
        """Rules whose tool pattern fits, in graph order."""
        found = self._by_tool.get(tool)
        if found is None:
            found = [c for c in self.claims if c.rule.text is None and _fits_tool(c.rule, tool)]
            if len(self._by_tool) < _REMEMBERED_TOOLS:
                self._by_tool[tool] = found
        return found


def _index(graph: PlanGraph) -> _Index:
    index: _Index | None = graph.__dict__.get("_mapping_index")
    if index is None:
        index = _Index(graph)
        graph.__dict__["_mapping_index"] = index
    return index


class _Mapper:
    def __init__(self, run: Run, index: _Index) -> None:
        self.run = run
        self.index = index
        self.mapped: list[tuple[int, str, Authority]] = []
        self.extra: list[int] = []
        self.plan: str | None = None
        self.tags = any(call.sub_goal is not None for call in run.actions)
        self.comparisons = 0
        self.unknown_tags: dict[str, list[int]] = {}
        self.conflicts: dict[tuple[str, ...], list[int]] = {}

    def mapping(self) -> Mapping:
        for event in self.run.events:
            if isinstance(event, ToolCall):
                self.call(event)
            elif isinstance(event, Message):
                self.message(event)
            elif isinstance(event, Plan):
                self.plan = self.only_sub_goal(event)
        findings = tuple(self.findings())
        return Mapping(mapped=tuple(self.mapped), extra=tuple(self.extra), findings=findings)

    def call(self, event: ToolCall) -> None:
        if self.tagged(event):
            return
        affordable = self.affordable(self.index.comparisons(event.tool))
        if not ((affordable and (self.ruled(event) or self.expected(event))) or self.planned(event)):
            self.extra.append(event.seq)

    def affordable(self, comparisons: int) -> bool:
        """Whether the run may be compared that much more: a hostile graph must not hold up the others."""
        self.comparisons += comparisons
        return self.comparisons <= limits.MAPPING_COMPARISONS

    def message(self, event: Message) -> None:
        rules = len(self.index.text_claims)
        if rules and event.role.lower() in _AGENT_ROLES and self.affordable(rules):
            text = _text(event.content)[: limits.RULE_TEXT_CHARS].casefold()
            self.claimed(event.seq, [c.sub_goal for c in self.index.text_claims if _fits_text(c.rule, text)])

    def tagged(self, event: ToolCall) -> bool:
        if event.sub_goal is None:
            return False
        if event.sub_goal not in self.index.known:
            self.unknown_tags.setdefault(event.sub_goal, []).append(event.seq)
            return False
        self.serve(event.seq, event.sub_goal, "tag")
        return True

    def ruled(self, event: ToolCall) -> bool:
        claims = self.index.claims_on(event.tool)
        return self.claimed(
            event.seq, [c.sub_goal for c in claims if contains(event.arguments, c.rule.arguments or {})]
        )

    def claimed(self, seq: int, sub_goals: Sequence[str]) -> bool:
        distinct = tuple(dict.fromkeys(sub_goals))
        if len(distinct) > 1:
            self.conflicts.setdefault(distinct, []).append(seq)
        if distinct:
            self.serve(seq, distinct[0], "rule")
        return bool(distinct)

    def expected(self, event: ToolCall) -> bool:
        nodes = self.index.expecting.get(event.tool, [])
        fulfilled = [node for node in nodes if _fulfils(event, node)]
        for node in fulfilled or nodes:
            self.serve(event.seq, node.id, "check")
        return bool(nodes)

    def planned(self, event: ToolCall) -> bool:
        if self.plan is None:
            return False
        self.serve(event.seq, self.plan, "plan")
        return True

    def only_sub_goal(self, plan: Plan) -> str | None:
        """The one sub-goal a plan names. A run that tags its actions leaves nothing for a plan to guess."""
        if self.tags:
            return None
        named = {self.index.names.get(_plain_name(entry)) for entry in plan.sub_goals} - {None}
        return named.pop() if len(named) == 1 else None

    def serve(self, seq: int, sub_goal: str, authority: Authority) -> None:
        self.mapped.append((seq, sub_goal, authority))

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
                message=f"{_actions(seqs)} claimed by rules of {rivals}; the first is used",
                where=where,
                hint="Make one of the rules narrower.",
            )
        if self.comparisons > limits.MAPPING_COMPARISONS:
            yield Finding(
                code="mapping-limit",
                message=f"more than {limits.MAPPING_COMPARISONS:,} comparisons with rules and checks; "
                "what came after counts as unmapped",
                where=where,
                hint="Tag the actions in the ledger, or give the graph fewer rules.",
            )


def _fulfils(event: ToolCall, node: SubGoal) -> bool:
    spec = node.check.tool_call if node.check else None
    return spec is not None and call_matches(spec, event)


def _fits_tool(rule: Rule, tool: str) -> bool:
    return rule.tool is None or matches_glob(rule.tool, tool)


def _fits_text(rule: Rule, folded: str) -> bool:
    return rule.text is not None and matches_glob(rule.text.casefold(), folded)


def _names(graph: PlanGraph) -> dict[str, str | None]:
    """Ids and titles by which a plan may name a sub-goal; ``None`` where two sub-goals share a title."""
    names: dict[str, str | None] = {}
    for node in graph.sub_goals:
        title = _plain_name(node.title)
        if title:
            names[title] = node.id if names.get(title, node.id) == node.id else None
    names.update({_plain_name(node.id): node.id for node in graph.sub_goals})
    return names


def _plain_name(text: str) -> str:
    return _LIST_MARK.sub("", text[: 2 * limits.NAME_CHARS]).strip().rstrip(".").casefold()


def _text(content: Any) -> str:
    """What a message says: a text, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


def _actions(seqs: list[int]) -> str:
    shown = ", ".join(map(str, seqs[:5])) + (" …" if len(seqs) > 5 else "")
    return f"action {shown} is" if len(seqs) == 1 else f"{len(seqs)} actions (seq {shown}) are"
