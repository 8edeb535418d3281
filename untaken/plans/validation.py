"""What makes a plan graph valid, and what is merely suspicious in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from untaken import limits
from untaken.errors import Finding, Severity, UntakenError, first_few
from untaken.plans.calls import answer_patterns
from untaken.plans.expressions import check_expression
from untaken.plans.patterns import Path, expectation, leaves, looks_like_pattern
from untaken.plans.plan_graph import AnswerSpec, PlanGraph, Rule, SubGoal, ToolCallSpec
from untaken.plans.structure import cycle_in_words, cycles, path_in_words, waiting_for_a_cycle

_NAMED = 5
"""How many sub-goals one message names before it only counts."""


class Fault(Struct, frozen=True, kw_only=True):
    """A finding about one place of a graph, before the line in a file is known."""

    code: str
    message: str
    path: Path
    hint: str = ""
    severity: Severity = "error"

    def finding(self) -> Finding:
        """The fault without a place in a file."""
        return Finding(code=self.code, message=self.message, hint=self.hint, severity=self.severity)


def validate(graph: PlanGraph) -> list[Finding]:
    """Errors (no run may be scored with such a graph) and warnings, errors first."""
    return [fault.finding() for fault in faults(graph)]


def faults(graph: PlanGraph) -> list[Fault]:
    """The findings of `validate` with the path of each in the document."""
    links = sum(len(node.deps) + len(node.any_of) for node in graph.sub_goals)
    if links > limits.EDGES:  # what else is wrong could be a flood: this alone is said
        return [_too_many(links)]
    if flood := too_many_regexes(graph):  # each costs milliseconds to read
        return [flood]
    found = [*_ids(graph), *_dependencies(graph), *_cycles(graph), *_any_of(graph)]
    for i, node in enumerate(graph.sub_goals):
        found += _check(node, ("sub_goals", i, "check"))
        found += _condition(node, ("sub_goals", i))
        for j, rule in enumerate(node.rules):
            found += _rule(node, rule, ("sub_goals", i, "rules", j))
    found += [*_disconnected(graph), *_unchecked(graph)]
    return sorted(found, key=lambda fault: fault.severity != "error")  # stable: otherwise in the order found


def _too_many(links: int) -> Fault:
    return Fault(
        code="graph-too-many-edges",
        message=f"the graph has {links:,} dependencies and options; {limits.EDGES:,} are allowed",
        path=("sub_goals",),
    )


def _ids(graph: PlanGraph) -> Iterator[Fault]:
    if not graph.sub_goals and graph.metadata.get("nothing_expected") is not True:
        yield Fault(
            code="graph-empty",
            message="the graph has no sub-goals",
            path=("sub_goals",),
            hint="Add one, or say `metadata: {nothing_expected: true}` if the task has no expectations.",
        )
    count = Counter(node.id for node in graph.sub_goals)
    seen: set[str] = set()
    for i, node in enumerate(graph.sub_goals):
        if node.id in seen:
            yield Fault(
                code="graph-duplicate-id",
                message=f"{count[node.id]} sub-goals have the id {node.id!r}",
                path=("sub_goals", i, "id"),
                hint="Give each its own id.",
            )
        seen.add(node.id)


def _dependencies(graph: PlanGraph) -> Iterator[Fault]:
    known = {node.id for node in graph.sub_goals}
    for i, node in enumerate(graph.sub_goals):
        named: set[str] = set()
        for j, dep in enumerate(node.deps):
            path = ("sub_goals", i, "deps", j)
            if dep == node.id:
                yield Fault(
                    code="graph-self-dependency", message=f"the sub-goal {node.id!r} needs itself", path=path
                )
            elif dep not in known:
                yield Fault(
                    code="graph-unknown-dependency",
                    message=f"the sub-goal {node.id!r} needs {dep!r}, which is not in the graph",
                    path=path,
                    hint="Check the spelling, or add that sub-goal.",
                )
            elif dep in named:
                yield Fault(
                    code="graph-duplicate-dependency",
                    message=f"the sub-goal {node.id!r} names its dependency {dep!r} twice",
                    path=path,
                    severity="warning",
                )
            named.add(dep)


def _cycles(graph: PlanGraph) -> Iterator[Fault]:
    on_a_cycle: set[str] = set()
    index = {node.id: i for i, node in enumerate(graph.sub_goals)}
    for cycle in cycles(graph):
        on_a_cycle.update(cycle)
        yield Fault(
            code="graph-cycle",
            message=cycle_in_words(cycle),
            path=("sub_goals", index[cycle[0]], "deps"),
            hint="Remove one of these dependencies.",
        )
    stuck = waiting_for_a_cycle(graph) - on_a_cycle if on_a_cycle else set()
    behind = [name for name in index if name in stuck]
    if behind:
        yield Fault(
            code="graph-unreachable",
            message=f"{_some(behind)} can never be reached: it depends on a cycle",
            path=("sub_goals", index[behind[0]]),
            severity="warning",
        )


def _any_of(graph: PlanGraph) -> Iterator[Fault]:
    index = {node.id: i for i, node in enumerate(graph.sub_goals)}
    for i, node in enumerate(graph.sub_goals):
        for j, option in enumerate(node.any_of):
            if option not in index:
                yield Fault(
                    code="graph-any-of-unknown",
                    message=f"{node.id!r} accepts any of {option!r}, which is not in the graph",
                    path=("sub_goals", i, "any_of", j),
                    severity="warning",
                )
        if node.any_of and node.check:
            yield Fault(
                code="graph-any-of-check",
                message=f"{node.id!r} has both any_of and a check: only any_of decides",
                path=("sub_goals", i, "check"),
                severity="warning",
            )
    # Options in the place of dependencies: the same search finds their circles, but for those of one.
    options = [replace(node, deps=node.any_of) for node in graph.sub_goals]
    themselves = [[node.id, node.id] for node in graph.sub_goals if node.id in node.any_of]
    for cycle in [*themselves, *cycles(replace(graph, sub_goals=options))]:
        yield Fault(
            code="graph-any-of-cycle",
            message=f"{cycle[0]!r} is one of its own options (any_of): {path_in_words(cycle)}",
            path=("sub_goals", index[cycle[0]], "any_of"),
        )


def _check(node: SubGoal, path: tuple[str | int, ...]) -> Iterator[Fault]:
    check = node.check
    if check is None:
        return
    kinds = [kind for kind in ("expr", "tool_call", "verdict", "outcome") if _given(getattr(check, kind))]
    if len(kinds) != 1:
        found = f"it has {len(kinds)} ({', '.join(kinds)})" if kinds else "it has none"
        yield Fault(
            code="graph-check-kind",
            message=f"the check of {node.id!r} must be one of expr, tool_call, verdict, outcome; {found}",
            path=path,
        )
    yield from _expression(f"the check of {node.id!r}", check.expr, (*path, "expr"))
    if check.on == "step" and (_given(check.verdict) or check.outcome):
        yield Fault(
            code="graph-check-on",
            message=f"`on: step` has no effect on the {kinds[0]} check of {node.id!r}",
            path=path,
            severity="warning",
        )
    if check.tool_call is not None:
        yield from expected_call_faults(check.tool_call, f"the check of {node.id!r}", (*path, "tool_call"))
    if check.tool_call and check.tool_call.compare_args is not None and check.tool_call.match != "call_keys":
        yield Fault(
            code="graph-compare-args-unused",
            message=f"compare_args of {node.id!r} is only used with `match: call_keys`",
            path=(*path, "tool_call", "compare_args"),
            severity="warning",
        )


def _given(part: object) -> bool:
    return part is not None and part is not False


def _expression(whose: str, expression: str | None, path: tuple[str | int, ...]) -> Iterator[Fault]:
    if expression is None:
        return
    try:
        check_expression(expression)
    except UntakenError as error:
        yield Fault(code=error.code, message=f"{whose}: {error.message}", path=path, hint=error.hint)


def _condition(node: SubGoal, path: tuple[str | int, ...]) -> Iterator[Fault]:
    """When a sub-goal is required, and settings that change nothing beside its check."""
    yield from _expression(f"`when` of {node.id!r}", node.when, (*path, "when"))
    calls = node.check is not None and node.check.tool_call is not None
    decided = bool(node.check and (node.check.expr is not None or node.check.outcome))
    for field, unused, why in (
        ("when_at", node.when_at != "final" and node.when is None, "it has no `when`"),
        ("times", node.times is not None and not calls, "only a tool_call check counts calls"),
        (
            "needs_action",
            not node.needs_action and not decided,
            "only an expression or the outcome can be met without an action",
        ),
    ):
        if unused:
            yield Fault(
                code="graph-setting-unused",
                message=f"`{field}` of {node.id!r} has no effect: {why}",
                path=(*path, field),
                severity="warning",
            )


def _rule(node: SubGoal, rule: Rule, path: tuple[str | int, ...]) -> Iterator[Fault]:
    yield from expected_call_faults(rule, f"a rule of {node.id!r}", path)
    on_calls = [part for part in (rule.tool, rule.arguments, rule.answer) if part is not None]
    if rule.text is None and not on_calls:
        yield Fault(
            code="graph-rule-empty",
            message=f"a rule of {node.id!r} gives none of tool, arguments, text, answer: "
            "it would match everything",
            path=path,
        )
    elif rule.text is not None and on_calls:
        yield Fault(
            code="graph-rule-impossible",
            message=f"a rule of {node.id!r} asks for both a message (text) and a tool call",
            path=path,
            hint="Write two rules.",
        )


def _disconnected(graph: PlanGraph) -> Iterator[Fault]:
    index = {node.id: i for i, node in enumerate(graph.sub_goals)}
    touched: set[str] = set()
    for node in graph.sub_goals:
        linked = [other for other in (*node.deps, *node.any_of) if other in index and other != node.id]
        touched.update(linked, [node.id] if linked else [])
    # Without any link a graph is a list.
    alone = [name for name in index if name not in touched] if touched else []
    if alone:
        yield Fault(
            code="graph-isolated",
            message=f"{_some(alone)} is not connected to the rest of the graph",
            path=("sub_goals", index[alone[0]]),
            severity="warning",
        )


def _unchecked(graph: PlanGraph) -> Iterator[Fault]:
    without = [(i, node.id) for i, node in enumerate(graph.sub_goals) if not node.check and not node.any_of]
    if without:
        yield Fault(
            code="graph-no-check",
            message=f"{_some([name for _, name in without])} has no success check, so it needs a verdict",
            path=("sub_goals", without[0][0]),
            hint="Add `check:`, or record verdicts for it.",
            severity="warning",
        )


def _some(names: list[str]) -> str:
    return ("each of " if len(names) > 1 else "") + first_few([*map(repr, names)], _NAMED)


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
        dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
        where, argument = (*path, "arguments", *place), dotted.removeprefix(".")
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
                regex = expected.get("regex") if isinstance(expected, dict) else None
                found.update([regex] if isinstance(regex, str) else [])
            found.update([spec.answer.regex] if spec.answer and spec.answer.regex else [])
        if len(found) > limits.REGEXES:
            return Fault(
                code="graph-too-many-regexes",
                message=f"the graph has more than {limits.REGEXES} different regular expressions",
                path=("sub_goals", i),
                hint="Use `glob` or `contains` where possible.",
            )
    return None


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
