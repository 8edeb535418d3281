"""The decision points of a plan: each accepted change that a run made, a hand-over, and the run's end (§2d).

No SKILL_SELECTION event is needed: the plan graph says which changes were expected, its `mutates` which tools
change anything. Reads, talk and refused calls are no decisions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from math import nan
from typing import Final, Literal

from msgspec import Struct

from untaken.errors import Unscored
from untaken.ledger import Observation, Run, copies_of, paired
from untaken.plans import PlanGraph, SubGoal, call_matches, matches_glob

OptionKind = Literal["advance", "unplanned", "hand_over", "stop_open", "stop_done"]

HAND_OVER: Final = (
    "transfer_to_human*",
    "transfer_to_agent*",
    "*handover*",
    "*hand_over*",
    "*handoff*",
    "*hand_off*",
)
"""Tools that pass the task to a person, where the graph does not name its own."""

UNDECLARED: Final = Unscored("the plan graph does not list the tools that change state (`mutates`)")
NO_GRAPH: Final = Unscored("the run has no plan graph")
BROKEN: Final = Unscored("the ledger is broken")
UNFINISHED: Final = Unscored("the run did not finish")


class Option(Struct, frozen=True, order=True, gc=False):
    """What a run did at a decision point.

    Attributes:
        kind: ``advance``, an accepted change that meets an expected sub-goal for the first time;
            ``unplanned``, one that meets none; ``hand_over``; ``stop_open`` and ``stop_done``, the end of the
            run with expected changes left and without.
        name: the sub-goal of an ``advance``, the tool of an ``unplanned`` change; else empty.
    """

    kind: OptionKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}({self.name})" if self.name else self.kind

    @property
    def general(self) -> Option:
        """The option without its sub-goal or tool, as it is compared across tasks."""
        return Option(self.kind) if self.name else self


class PlanState(Struct, frozen=True, order=True, gc=False):
    """What a run had changed before a decision.

    Attributes:
        made: the expected sub-goals met so far, sorted.
        unplanned: whether it made a change that meets none.
        handed_over: whether it passed the task to a person.
    """

    made: tuple[str, ...] = ()
    unplanned: bool = False
    handed_over: bool = False


class PlanDecision(Struct, frozen=True, gc=False):
    """One decision point of a plan.

    Attributes:
        seq: of the call, or of RUN_FINISHED for the end of the run.
        state: before it; `left`: expected changes that were still open then.
        option: what the run did.
    """

    seq: int
    state: PlanState
    left: int
    option: Option


class PlanPath(Struct, frozen=True, kw_only=True):
    """One run as the changes it made to its plan.

    Attributes:
        domain: the `mutates` of its graph: tasks with the same tools are compared with each other.
        identity: who ran, with all recorded of what can change an agent (`Run.identity`).
        named: names and values of the metadata that the workspace adds to that.
        started: when it began, in seconds since 1970; NaN where its trace carried no clock.
        copy: whether it is a copy of an earlier one of these runs: then no test counts it.
        as_planned: the run ended with every expected change made and no other.
    """

    digest: str
    run_id: str
    task_id: str
    agent: str
    graph_id: str
    domain: tuple[str, ...]
    success: bool | Unscored
    decisions: tuple[PlanDecision, ...]
    as_planned: bool
    identity: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    started: float = nan
    copy: bool = False

    @property
    def stratum(self) -> tuple[str, ...]:
        """Task, agent and so on: only runs that share all of it are compared directly."""
        who = self.identity or (self.agent, "", "", "")
        return self.task_id, *who, *(value for _, value in self.named)


class PlanChange(Struct, frozen=True, gc=False):
    """An accepted change with the sub-goals that it met; a hand-over has no `tool`."""

    seq: int
    tool: str
    met: tuple[str, ...]


_Read = tuple[Run, PlanGraph, tuple[PlanChange, ...]]
"""A run and its changes, before what all runs of the graph met is known."""
Mapped = Sequence[tuple[int, str, str]]
"""(seq of an action, sub-goal, authority), as `RunScore.mapped` has them."""


def plan_paths(
    runs: Iterable[tuple[Run, PlanGraph | Unscored, Mapped]], *, identity: Sequence[str] = ()
) -> tuple[list[PlanPath], dict[str, Unscored]]:
    """The decision points of each run's plan.

    Returns:
        The paths, in order; and by run digest why another run has none.
    """
    read: list[_Read] = []
    silent: dict[str, Unscored] = {}
    for run, graph, mapped in runs:
        why = why_silent(run, graph)
        if why is None and not isinstance(graph, Unscored):
            read.append((run, graph, tuple(plan_changes(run, graph, mapped))))
        elif why is not None:
            silent[run.digest] = why
    expected = _expected(read)
    copies = copies_of(run for run, _, _ in read)
    return [_path(each, expected[id(each[1])], copies, identity) for each in read], silent


def why_silent(run: Run, graph: PlanGraph | Unscored) -> Unscored | None:
    """Why a run has no decision points of a plan; ``None`` where it has some."""
    if run.integrity.broken:
        return BROKEN
    if isinstance(graph, Unscored):
        return NO_GRAPH
    if not graph.mutates:
        return UNDECLARED
    return UNFINISHED if run.finished is None else None


def plan_changes(run: Run, graph: PlanGraph, mapped: Mapped) -> Iterator[PlanChange]:
    """The accepted changes of a run, in order, from its own record alone."""
    end = run.finished.seq if run.finished else run.own
    calls = [call for call in run.actions if call.seq < end]
    kinds = {tool: _kind(tool, graph) for tool in {call.tool for call in calls}}
    refused = _refused(run)
    serves: dict[int, list[str]] = {}
    for seq, sub_goal, _ in mapped:
        serves.setdefault(seq, []).append(sub_goal)
    checks = {
        node.id: node.check.tool_call for node in graph.sub_goals if node.check and node.check.tool_call
    }
    for call in calls:
        kind = kinds[call.tool]
        if kind is None or call.seq in refused:
            continue
        if kind == "hand_over":
            yield PlanChange(call.seq, "", ())
            continue
        # A rule may map any call of the tool; planned is the one that the check asks for.
        met = [g for g in serves.get(call.seq, ()) if g not in checks or call_matches(checks[g], call)]
        yield PlanChange(call.seq, call.tool, tuple(met))


def _kind(tool: str, graph: PlanGraph) -> Literal["change", "hand_over"] | None:
    return _kind_among(tool, tuple(graph.hand_over or HAND_OVER), tuple(graph.mutates))


@lru_cache(maxsize=4096)  # every run of a graph asks for the same tools
def _kind_among(
    tool: str, hand_over: tuple[str, ...], mutates: tuple[str, ...]
) -> Literal["change", "hand_over"] | None:
    if any(matches_glob(pattern, tool) for pattern in hand_over):
        return "hand_over"
    return "change" if any(matches_glob(pattern, tool) for pattern in mutates) else None


def _refused(run: Run) -> frozenset[int]:
    """`seq` of each call of which some recorded answer says that it failed."""
    failed = [event for event in run.of(Observation) if event.ok is False]
    answered = paired(run.actions, failed) if failed else ()
    return frozenset(call.seq for _, call in answered if call is not None)


class _Expected:
    """The changes that a graph expects, and how many of them are left in a state."""

    def __init__(self, graph: PlanGraph, met: set[str]) -> None:
        named = {node.id for node in graph.sub_goals if _names_a_change(graph, node)}
        self.sub_goals = frozenset(named | met)
        grouped = {option for node in graph.sub_goals for option in node.any_of}
        self._each = self.sub_goals - grouped
        self._groups = [
            options for node in graph.sub_goals if (options := self.sub_goals.intersection(node.any_of))
        ]

    def left(self, made: Iterable[str]) -> int:
        """Expected changes that are still open; a group of alternatives is open until one of them is made."""
        done = frozenset(made)
        return len(self._each - done) + sum(done.isdisjoint(options) for options in self._groups)


def _names_a_change(graph: PlanGraph, node: SubGoal) -> bool:
    """Whether a sub-goal's check or rules name a tool that changes something."""
    tools = [rule.tool for rule in node.rules if rule.tool]
    if node.check and node.check.tool_call:
        # Rules may map what only looks; a check names the call that is wanted.
        tools = [node.check.tool_call.name]
    return any(_kind(tool, graph) == "change" for tool in tools)


def _expected(read: Sequence[_Read]) -> dict[int, _Expected]:
    met: dict[int, set[str]] = {}
    graphs: dict[int, PlanGraph] = {}
    for _, graph, changes in read:
        graphs[id(graph)] = graph
        met.setdefault(id(graph), set()).update(goal for change in changes for goal in change.met)
    return {key: _Expected(graph, met[key]) for key, graph in graphs.items()}  # by `id`: graphs have no hash


def _path(read: _Read, expected: _Expected, copies: Collection[str], identity: Sequence[str]) -> PlanPath:
    run, graph, changes = read
    made: set[str] = set()
    state, left = PlanState(), expected.left(())
    decisions = []
    for change in changes:
        option = _option(change, made, state)
        if option is None:
            continue
        decisions.append(PlanDecision(change.seq, state, left, option))
        made.update(change.met)
        state = PlanState(
            tuple(sorted(made)),
            state.unplanned or option.kind == "unplanned",
            state.handed_over or option.kind == "hand_over",
        )
        left = expected.left(made)
    if not state.handed_over and run.finished is not None:  # after a hand-over the end is another's doing
        end = Option("stop_open" if left else "stop_done")
        decisions.append(PlanDecision(run.finished.seq, state, left, end))
    return PlanPath(
        digest=run.digest,
        run_id=run.run_id,
        task_id=run.task_id,
        agent=run.agent,
        graph_id=graph.id,
        domain=tuple(graph.mutates),
        success=run.success,
        decisions=tuple(decisions),
        as_planned=not left and not state.unplanned,
        identity=run.identity,
        named=tuple((name, dict(run.named(identity)).get(name, "")) for name in identity),
        started=nan if run.started_at is None else run.started_at.timestamp(),
        copy=run.digest in copies,
    )


def _option(change: PlanChange, made: set[str], state: PlanState) -> Option | None:
    """What a change is; ``None`` for one that repeats what was made before."""
    if not change.tool:
        return None if state.handed_over else Option("hand_over")
    if not change.met:
        return Option("unplanned", change.tool)
    new = next((sub_goal for sub_goal in change.met if sub_goal not in made), None)
    return None if new is None else Option("advance", new)
