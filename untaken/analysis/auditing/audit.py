"""Is the plan itself right? A verdict on each sub-goal and edge of plan graphs, from recorded runs (§10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from untaken.analysis.auditing.probing import Probe, expects_something, probe
from untaken.analysis.auditing.scored import PlanRuns, by_plan
from untaken.analysis.auditing.successes import (
    MIN_SUCCESSES,
    Completion,
    Order,
    completion,
    everybody_differs,
    misspelt,
    order,
    other_arguments,
    other_order,
)
from untaken.analysis.auditing.writes import TaskAudit, audit_tasks
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import Edit, PlanGraph, SubGoal
from untaken.scoring import RunScore, check_kind

NodeVerdict = Literal["doubtful", "blind", "contested", "sound", "untested"]
EdgeVerdict = Literal["doubtful", "sound", "untested"]
ALARMS: Final = ("doubtful", "blind")
"""Verdicts that make `untaken graph audit` exit with 1."""
_TO_LOOK_AT: Final = (*ALARMS, "contested")
_ORDER: Final = (*_TO_LOOK_AT, "untested", "sound")


class NodeAudit(Struct, frozen=True, kw_only=True):
    """A sub-goal of a plan graph; its names are untrusted text.

    Attributes:
        why: the verdict in a sentence.
        completion: successes that complete it.
        probe: mutants of its own actions that its check detected; ``None`` where there is no check to try.
        proposed: the edit that the runs suggest; `proposed_words`, in a few words.
    """

    graph: str
    sub_goal: str
    title: str
    critical: bool
    verdict: NodeVerdict
    why: str
    completion: Completion
    probe: Probe | None
    proposed: Edit | None
    proposed_words: str

    @property
    def tried(self) -> Probe:
        """What its check was tried on: nothing where there is none."""
        return self.probe or Probe()


class EdgeAudit(Struct, frozen=True, kw_only=True):
    """An edge of a plan graph: `sub_goal` needs `dependency`."""

    graph: str
    dependency: str
    sub_goal: str
    verdict: EdgeVerdict
    why: str
    order: Order
    proposed: Edit | None


class PlanAudit(Struct, frozen=True, kw_only=True):
    """What runs say of plan graphs.

    Attributes:
        tasks: the most doubtful first; only where success is the plan's writes, and two agents ran the task.
        runs: counted, copies once; `successes` among them.
        strangers: runs that seem to be of another task.
    """

    nodes: tuple[NodeAudit, ...]
    edges: tuple[EdgeAudit, ...]
    tasks: tuple[TaskAudit, ...]
    runs: int
    successes: int
    strangers: int

    @property
    def alarms(self) -> int:
        """Sub-goals that are doubtful or blind."""
        return sum(self.verdicts[verdict] for verdict in ALARMS)

    @property
    def verdicts(self) -> Counter[str]:
        """How many sub-goals have each verdict."""
        return Counter(node.verdict for node in self.nodes)

    @property
    def worst_first(self) -> tuple[NodeAudit, ...]:
        """The sub-goals by verdict, what is for a person to decide first."""
        return tuple(sorted(self.nodes, key=lambda node: _ORDER.index(node.verdict)))

    @property
    def to_look_at(self) -> tuple[NodeAudit, ...]:
        """The doubtful, then the blind, then the contested sub-goals."""
        return tuple(node for node in self.worst_first if node.verdict in _TO_LOOK_AT)

    @property
    def doubtful_edges(self) -> tuple[EdgeAudit, ...]:
        """Edges that successes go against."""
        return tuple(edge for edge in self.edges if edge.verdict in ALARMS)

    def of_plans(self, graphs: Collection[str]) -> PlanAudit:
        """The part about these plans; `runs` stay those of all plans."""
        return replace(
            self,
            nodes=tuple(one for one in self.nodes if one.graph in graphs),
            edges=tuple(one for one in self.edges if one.graph in graphs),
            tasks=tuple(one for one in self.tasks if one.graph in graphs),
        )

    @property
    def headline(self) -> str:
        """The audit in one sentence."""
        runs = f"{counted(self.runs, 'run')}, {self.successes:,} successful"
        if not self.nodes:
            return f"No plan graph to audit ({runs})"
        found = [
            f"{count:,} {verdict}"
            for verdict in ("doubtful", "blind", "contested", "sound", "untested")
            if (count := self.verdicts[verdict])
        ]
        return f"{counted(len(self.nodes), 'sub-goal')} against {runs}: {', '.join(found)}"


def audit_plans(
    graphs: Iterable[PlanGraph],
    scored: Iterable[tuple[Run, RunScore]],
    *,
    tools: Collection[str] = (),
) -> PlanAudit:
    """Checks each sub-goal, each edge and each task of plans by recorded runs; no model is asked.

    Args:
        graphs: to audit.
        scored: each run with its score against one of them.
        tools: what runs call that were read with these and have no score.
    """
    given = list(scored)
    plans = by_plan(graphs, given)
    # A name that runs of another plan call is no misspelling.
    called = frozenset(tools).union(*(run.tools for run, _ in given))
    everyone = [one for plan in plans for one in plan.runs]
    tasks = sorted(audit_tasks(plans), key=lambda task: (-task.doubt, task.graph, task.task_id))
    return PlanAudit(
        nodes=tuple(_node(plan, node, called) for plan in plans for node in plan.graph.sub_goals),
        edges=tuple(edge for plan in plans for edge in _edges(plan)),
        tasks=tuple(tasks),
        runs=len(everyone),
        successes=sum(one.success is True for one in everyone),
        strangers=sum(len(task.strangers) for task in tasks),
    )


def _node(plan: PlanRuns, node: SubGoal, tools: Collection[str]) -> NodeAudit:
    done = completion(plan, node.id)
    tried = probe(plan, node.id) if expects_something(node) else None
    # What some success completes has no name that nobody knows.
    name = misspelt(plan, node, tools) if not done.completed else None
    verdict, why = _verdict(node, done, tried)
    if name is not None:  # before what is counted: it says what to change
        verdict, why = "doubtful", f"no run knows a name in its check: {name[1]}?"
    elif verdict != "doubtful" and not done.completed and everybody_differs(plan, node):
        verdict, why = "doubtful", "every run that tries it gives the same other arguments"
    edit = name or (other_arguments(plan, node) if verdict == "doubtful" and not done.completed else None)
    return NodeAudit(
        graph=plan.graph.id,
        sub_goal=node.id,
        title=node.title,
        critical=node.critical,
        verdict=verdict,
        why=why,
        completion=done,
        probe=tried,
        proposed=edit[0] if edit else None,
        proposed_words=edit[1] if edit else "",
    )


def _verdict(node: SubGoal, done: Completion, tried: Probe | None) -> tuple[NodeVerdict, str]:
    """The first that applies: doubtful, blind, contested, sound, untested."""
    share = f"{done.completed} of {counted(done.successes, 'successful run', 'complete')} it"
    if tried is None:
        kind = check_kind(node)
        reason = "it has no check" if kind == "none" else f"its check is the recorded {kind}"
        return "untested", f"{reason}: there is nothing to try"
    if done.nobody:
        return "doubtful", f"{share}: a wrong check, or an unnecessary step"
    if tried.reads_nothing:
        return "blind", "its check reads neither calls nor the state"
    if tried.detects_no_change:
        return "doubtful", f"its check detects none of {counted(tried.changed, 'changed value')}"
    if done.contested and done.needless:
        return "doubtful", f"{share}, and completing it is not linked to success"
    if tried.blind:
        return "blind", (
            f"its check still passes in {tried.hollow} of {counted(tried.hollow, 'run')} "
            "in which its own actions failed"
        )
    if done.contested:
        return "contested", f"{share}: is it needed, or were the others lucky?"
    if done.completed >= MIN_SUCCESSES and tried.detected:
        if done.low is not None:  # many succeed without it: the reader asks why it is sound
            return "sound", f"{share}, linked to success; its check detects failure"
        return "sound", f"{share}, and its check detects when its actions fail"
    few = f"{share}; {MIN_SUCCESSES} are needed" if done.completed < MIN_SUCCESSES else share
    return "untested", few if tried.detected else f"{few}; no change of its actions could be tried"


def _edges(plan: PlanRuns) -> Iterator[EdgeAudit]:
    for name, dependency in plan.compiled.edges:
        found = order(plan, name, dependency)
        verdict: EdgeVerdict = "doubtful" if found.doubtful else "sound" if found.sound else "untested"
        both = counted(found.both, "successful run")
        why = f"{found.reversed} of {both} with both do them the other way round"
        yield EdgeAudit(
            graph=plan.graph.id,
            dependency=dependency,
            sub_goal=name,
            verdict=verdict,
            why=why,
            order=found,
            proposed=other_order(name, dependency) if verdict == "doubtful" else None,
        )
