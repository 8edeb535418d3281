"""What maps to no sub-goal, what several rules claim, and which rules never come to anything (§4)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from untaken.ledger import Message, Run, ToolCall
from untaken.plans.calls import call_counts, call_matches
from untaken.plans.globs import escape_glob, matches_glob
from untaken.plans.mapping import Mapping, map_actions, rule_fits
from untaken.plans.patterns import as_literal
from untaken.plans.plan_graph import PlanGraph, Rule, SubGoal, ToolCallSpec

EXAMPLES: Final = 5
"""Actions that are named for each thing found."""
VALUES: Final = 4
"""A narrower rule is offered for an argument that has at most so many values."""
TEXT_CHARS: Final = 200
"""An argument longer than this makes no rule: nothing else will say exactly the same."""
_WORDS: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Example(Struct, frozen=True, kw_only=True):
    """One action, with its run and position."""

    digest: str
    run_id: str
    seq: int
    call: ToolCall | None


class Unmapped(Struct, frozen=True, kw_only=True):
    """Actions alike in tool and in the names of their arguments that serve no sub-goal.

    Attributes:
        tool: its name.
        arguments: names of the arguments, sorted.
        actions, runs, agents: how many.
        failed_runs: of these runs, how many failed.
        examples: the first ones, of different runs where there are such.
        rules: that would map them, the broadest first: the tool, then the tool with a value that recurs.
        likely: ids of sub-goals whose words are those of the tool, the likeliest first.
    """

    tool: str
    arguments: tuple[str, ...]
    actions: int
    runs: int
    agents: int
    failed_runs: int
    examples: tuple[Example, ...]
    rules: tuple[Rule, ...]
    likely: tuple[str, ...]


class Contested(Struct, frozen=True, kw_only=True):
    """Actions that rules of several sub-goals match; the first of `sub_goals` is served."""

    sub_goals: tuple[str, ...]
    actions: int
    runs: int
    examples: tuple[Example, ...]


class RuleUse(Struct, frozen=True, kw_only=True):
    """What a rule comes to over some runs.

    Attributes:
        place: which rule of the sub-goal, from 0.
        claims: actions without a tag of their own that it fits.
        serves: of them, those that its sub-goal is served by.
        taken_by: for the others, the sub-goals whose rules come before it.
    """

    sub_goal: str
    place: int
    rule: Rule
    claims: int
    serves: int
    taken_by: tuple[str, ...]

    @property
    def idle(self) -> bool:
        """Whether it fits nothing, or never gets what it fits."""
        return not self.serves


class MappingSummary(Struct, frozen=True, kw_only=True):
    """How the actions of some runs are mapped by a graph, and what is left to do.

    Attributes:
        runs: that were looked at.
        actions: tool calls of the agents in them; `mapped` of them serve a sub-goal.
        unmapped: the most frequent first.
        contested: the most frequent first.
        rules: every rule of the graph, in its order.
    """

    runs: int
    actions: int
    mapped: int
    unmapped: tuple[Unmapped, ...]
    contested: tuple[Contested, ...]
    rules: tuple[RuleUse, ...]


def unmapped(runs: Iterable[Run], graph: PlanGraph) -> MappingSummary:
    """Map the actions of the runs and collect what no rule, check, tag, plan or judge maps."""
    count = _MappingCount(graph)
    for run in runs:
        count.lay(run, map_actions(run, graph))
    return count.summary()


def made_rule(node: SubGoal, rule: Rule) -> list[Rule]:
    """The rules of a sub-goal with one more, where it does not have it already."""
    return node.rules if rule in node.rules else [*node.rules, rule]


class _Group(Struct):
    actions: int = 0
    runs: dict[str, Run] = msgspec.field(default_factory=dict)
    examples: dict[str, list[Example]] = msgspec.field(default_factory=dict)
    values: dict[str, Counter[Any]] = msgspec.field(default_factory=lambda: defaultdict(Counter))

    def take(self, run: Run, seq: int, call: ToolCall | None) -> None:
        self.actions += 1
        self.runs[run.digest] = run
        own = self.examples.setdefault(run.digest, [])
        if len(own) < EXAMPLES:
            own.append(Example(digest=run.digest, run_id=run.run_id, seq=seq, call=call))
        for name, value in call.arguments.items() if call else ():
            if isinstance(value, str | bool) and len(str(value)) <= TEXT_CHARS:
                self.values[name][value] += 1

    def shown(self) -> tuple[Example, ...]:
        """One of each run first."""
        first = [own[0] for own in self.examples.values()]
        more = [example for own in self.examples.values() for example in own[1:]]
        return tuple([*first, *more][:EXAMPLES])


class _MappingCount:
    def __init__(self, graph: PlanGraph) -> None:
        self.graph = graph
        self.runs = self.actions = self.mapped = 0
        self.left: dict[tuple[str, tuple[str, ...]], _Group] = defaultdict(_Group)
        self.contested: dict[tuple[str, ...], _Group] = defaultdict(_Group)
        self.rules = [
            (node.id, place, rule) for node in graph.sub_goals for place, rule in enumerate(node.rules)
        ]
        self.claims: Counter[tuple[str, int]] = Counter()
        self.serves: Counter[tuple[str, int]] = Counter()
        self.takers: dict[tuple[str, int], dict[str, None]] = defaultdict(dict)
        self.by_tool: dict[str, list[tuple[str, int, Rule]]] = {}
        self.hearing = [known for known in self.rules if known[2].text is not None]

    def lay(self, run: Run, mapping: Mapping) -> None:
        """Take one run in."""
        self.runs += 1
        calls = {call.seq: call for call in run.actions}
        # Simulated users make calls, too.
        own = [seq for seq in mapping.extra if calls[seq].requestor != "user"]
        served = {seq for seq, _, _ in mapping.mapped}
        self.actions += sum(call.requestor != "user" for call in calls.values())
        self.mapped += sum(call.requestor != "user" and seq in served for seq, call in calls.items())
        for seq in own:
            call = calls[seq]
            self.left[call.tool, tuple(sorted(call.arguments))].take(run, seq, call)
        for names, seqs in mapping.contested:
            for seq in seqs:
                self.contested[names].take(run, seq, calls.get(seq))
        self.use(run, {seq: name for seq, name, authority in mapping.mapped if authority == "rule"})

    def use(self, run: Run, served: dict[int, str]) -> None:
        """Count what each rule claims and gets; every action that a rule claims was mapped by one."""
        calls = [call for call in run.actions if call.seq in served]
        messages = [event for event in run.of(Message) if event.seq in served] if self.hearing else []
        actions: list[ToolCall | Message] = [*calls, *messages]
        for action in actions:
            for name, place, rule in self.candidates(action):
                if rule_fits(rule, action, run.answers.get(action.seq)):
                    self.claims[name, place] += 1
                    if served[action.seq] == name:
                        self.serves[name, place] += 1
                    else:
                        self.takers[name, place][served[action.seq]] = None

    def candidates(self, action: ToolCall | Message) -> Sequence[tuple[str, int, Rule]]:
        """The rules that can fit, found once a tool."""
        if isinstance(action, Message):
            return self.hearing
        found = self.by_tool.get(action.tool)
        if found is None:
            on_calls = (known for known in self.rules if known[2].text is None)
            found = [known for known in on_calls if matches_glob(known[2].tool or "*", action.tool)]
            self.by_tool[action.tool] = found
        return found

    def summary(self) -> MappingSummary:
        """What was found, ranked."""
        return MappingSummary(
            runs=self.runs,
            actions=self.actions,
            mapped=self.mapped,
            unmapped=tuple(sorted(self.unmapped(), key=lambda one: (-one.runs, -one.actions, one.tool))),
            contested=tuple(
                sorted(
                    (
                        Contested(
                            sub_goals=names,
                            actions=group.actions,
                            runs=len(group.runs),
                            examples=group.shown(),
                        )
                        for names, group in self.contested.items()
                    ),
                    key=lambda one: (-one.actions, one.sub_goals),
                )
            ),
            rules=tuple(
                RuleUse(
                    sub_goal=name,
                    place=place,
                    rule=rule,
                    claims=self.claims[name, place],
                    serves=self.serves[name, place],
                    taken_by=tuple(self.takers.get((name, place), ())),
                )
                for name, place, rule in self.rules
            ),
        )

    def unmapped(self) -> Iterator[Unmapped]:
        """Each kind of action that serves no sub-goal."""
        for (tool, arguments), group in self.left.items():
            yield Unmapped(
                tool=tool,
                arguments=arguments,
                actions=group.actions,
                runs=len(group.runs),
                agents=len({run.agent for run in group.runs.values()}),
                failed_runs=sum(run.success is False for run in group.runs.values()),
                examples=group.shown(),
                rules=tuple(_rules(tool, group)),
                likely=_likely(tool, self.graph),
            )


def _rules(tool: str, group: _Group) -> Iterator[Rule]:
    """The tool; and with it each recurring value of an argument that has few."""
    broad = escape_glob(tool)
    yield Rule(tool=broad)
    for name, values in sorted(group.values.items()):
        if len(values) <= VALUES:
            for value, count in values.most_common():
                # what is seen once makes no rule
                if 1 < count < group.actions or len(values) == 1 < group.actions:
                    yield Rule(tool=broad, arguments={name: as_literal(value)})


def _likely(tool: str, graph: PlanGraph) -> tuple[str, ...]:
    """Sub-goals that share words with the tool's name."""
    wanted = _words(tool)
    found = [(len(wanted & _words(f"{node.id} {node.title}")), node.id) for node in graph.sub_goals]
    ranked = sorted((one for one in found if one[0]), key=lambda one: -one[0])
    return tuple(name for _, name in ranked[:3])


def _words(text: str) -> set[str]:
    # Not `of`, not `to`.
    return {word.casefold() for word in _WORDS.findall(_HUMP.sub(" ", text)) if len(word) > 2}


LOOKED_AT: Final = 20_000
"""Calls of the tool that are compared at most."""


class CallMatches(Struct, frozen=True, kw_only=True):
    """The calls of one tool, compared with an expected call.

    Attributes:
        runs: how many hold a call that counts; `calls`: calls of the tool that were compared.
        counting: calls that match and complete the sub-goal, those without a recorded answer included.
        failed: calls that match, but whose answer does not count.
        unclear: calls that match, but whose answer is asked for and not recorded.
        examples: the first calls that count; `misses`: the first that match and do not count,
            else the first others.
    """

    runs: int
    calls: int
    counting: int
    failed: int
    unclear: int
    examples: tuple[Example, ...]
    misses: tuple[Example, ...]


def matched_calls(runs: Iterable[Run], spec: ToolCallSpec) -> CallMatches:
    """Compare the calls of the runs with an expected call of a valid graph."""
    counting: list[Example] = []
    refused: list[Example] = []
    others: list[Example] = []
    holding: set[str] = set()
    unclear = calls = 0
    for run in runs:
        if calls == LOOKED_AT:
            break
        if spec.name not in run.tools:  # known without its calls
            continue
        for call in run.actions:
            if call.tool != spec.name or calls == LOOKED_AT:
                continue
            calls += 1
            example = Example(digest=run.digest, run_id=run.run_id, seq=call.seq, call=call)
            if not call_matches(spec, call):
                others.append(example)
                continue
            counts = call_counts(spec, run.answers.get(call.seq))
            # Unanswered, it counts where no answer is asked for.
            if counts or (counts is None and spec.answer is None):
                counting.append(example)
                holding.add(run.digest)
            else:
                refused.append(example)
                unclear += counts is None
    return CallMatches(
        runs=len(holding),
        calls=calls,
        counting=len(counting),
        failed=len(refused) - unclear,
        unclear=unclear,
        examples=tuple(counting[:EXAMPLES]),
        misses=tuple((refused or others)[:EXAMPLES]),  # what nearly counts tells more
    )
