"""A fluent builder of runs for tests: `a_run("r1").call("search", sub_goal="look").finish().run()`.

The bytes are a real ledger: every line chains on the one before, so `ledger()` reads like any written file.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import msgspec

from untaken.errors import Unscored
from untaken.ledger import events as e
from untaken.ledger.run import Head, Integrity, IntegrityVerdict, Run
from untaken.plans import PlanGraph, parse_graph
from untaken.scoring.run_score import DetailLater, NodeScore, RunScore, ScoreDetail, Violation

if TYPE_CHECKING:
    from untaken.workspace import Workspace

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def run_of(store: Workspace, run_id: str) -> Run:
    """The run of this name in a workspace."""
    return next(run for run in store.read_runs()[0] if run.run_id == run_id)


class RunBuilder:
    """Collects events one second apart; every method returns the builder."""

    def __init__(self, run_id: str, *, agent: str = "agent", task: str = "task", **started: Any) -> None:
        self.run_id = run_id
        self.events: list[e.AnyEvent] = []
        self.lines: list[bytes] = []
        self._calls = 0
        self.add(e.RunStarted, agent=agent, task_id=task, **started)

    def add(self, kind: type[e.AnyEvent], /, **fields: Any) -> Self:
        """Any event, by its class."""
        seq = len(self.events)
        prev = sha256(self.lines[-1]).hexdigest() if self.lines else e.GENESIS
        ts = EPOCH + timedelta(seconds=seq)
        event = kind(run_id=self.run_id, seq=seq, ts=ts, prev=prev, **fields)
        self.events.append(event)
        self.lines.append(msgspec.json.encode(event))
        return self

    def plan(self, *sub_goals: str) -> Self:
        """A PLAN event."""
        return self.add(e.Plan, sub_goals=list(sub_goals))

    def select(self, selected: str, *alternatives: str, context: str = "ctx") -> Self:
        """A SKILL_SELECTION event."""
        return self.add(
            e.SkillSelection, selected=selected, alternatives=list(alternatives), context_hash=context
        )

    def call(
        self,
        tool: str,
        sub_goal: str | None = None,
        *,
        ok: bool | None = None,
        by: Any = None,
        **arguments: Any,
    ) -> Self:
        """A TOOL_CALL event, followed by its OBSERVATION where `ok` is given."""
        self._calls += 1
        call_id = f"c{self._calls}"
        self.add(e.ToolCall, call_id=call_id, tool=tool, arguments=arguments, sub_goal=sub_goal, requestor=by)
        return self if ok is None else self.observe(ok=ok, call_id=call_id)

    def observe(
        self,
        content: Any = "",
        *,
        ok: bool | None = None,
        transient: bool | None = None,
        call_id: str | None = None,
    ) -> Self:
        """An OBSERVATION event."""
        return self.add(e.Observation, content=content, ok=ok, transient=transient, call_id=call_id)

    def say(self, content: Any, role: str = "assistant") -> Self:
        """A MESSAGE event."""
        return self.add(e.Message, role=role, content=content)

    def state(self, **patch: Any) -> Self:
        """A STATE event."""
        return self.add(e.State, state=patch)

    def verdict(
        self,
        sub_goal: str,
        passed: bool | None,
        by: str = "human:ann",
        *,
        evidence: tuple[int, ...] = (),
        reason: str | None = None,
    ) -> Self:
        """A VERDICT event."""
        quotes = [e.Evidence(seq=seq, quote="") for seq in evidence] or None
        return self.add(e.Verdict, sub_goal=sub_goal, passed=passed, by=by, evidence=quotes, reason=reason)

    def finish(
        self,
        success: bool | None = True,
        *,
        steps: int | None = None,
        cost: float | None = 0.5,
        **fields: Any,
    ) -> Self:
        """A RUN_FINISHED event; `steps` defaults to the number of calls made."""
        return self.add(
            e.RunFinished, success=success, steps=self._calls if steps is None else steps, cost=cost, **fields
        )

    @property
    def head(self) -> Head:
        """The end of the chain so far."""
        return Head(events=len(self.lines), sha256=sha256(self.lines[-1]).hexdigest())

    def ledger(self) -> bytes:
        """The run as a ledger file's bytes."""
        return b"".join(line + b"\n" for line in self.lines)

    def run(self, verdict: IntegrityVerdict = "INTACT") -> Run:
        """The run as a reader gives it."""
        integrity = Integrity(run_id=self.run_id, verdict=verdict, reason="built for a test", head=self.head)
        return Run(events=tuple(self.events), integrity=integrity, source=f"{self.run_id}.jsonl")


def a_run(run_id: str = "run-1", *, agent: str = "agent", task: str = "task", **started: Any) -> RunBuilder:
    """Start building a run."""
    return RunBuilder(run_id, agent=agent, task=task, **started)


def a_graph(*sub_goals: dict[str, Any] | str, graph_id: str = "g", **fields: Any) -> PlanGraph:
    """A validated graph; a sub-goal given as text has nothing but that id."""
    nodes = [{"id": node} if isinstance(node, str) else node for node in sub_goals]
    document = {"schema": "untaken.plan/1", "id": graph_id, "tasks": ["*"], "sub_goals": nodes} | fields
    return parse_graph(msgspec.json.encode(document), name="g.plan.json", format="json")


def ready(name: str, *deps: str, critical: bool = False, **fields: Any) -> dict[str, Any]:
    """A sub-goal that is completed where it is acted on and the state has its field."""
    rules, check = [{"tool": name}], {"expr": f"state.{name}"}
    return {"id": name, "deps": list(deps), "critical": critical, "check": check, "rules": rules, **fields}


def a_score(
    agent: str,
    task: str,
    completed: int = 0,
    required: int = 4,
    *,
    success: bool | None = None,
    critical: int = 0,
    **fields: Any,
) -> RunScore:
    """A run's score with the counts given: the first sub-goals are completed, the last are critical."""
    critical_completed = max(0, completed - (required - critical))
    nodes = tuple(
        NodeScore(
            sub_goal=f"s{i}",
            title="",
            critical=i >= required - critical,
            status="completed" if i < completed else "attempted",
            attempted=True,
            completed=i < completed,
            decided_by="expr",
            reason="",
        )
        for i in range(required)
    )
    none = Unscored("this run has no expectations")
    violations = tuple(
        Violation(kind="critical", sub_goal="s0", dependency=node.sub_goal, message="")
        for node in nodes[required - critical :]
        if not node.completed and completed
    )
    values: dict[str, Any] = {
        "run_id": f"{agent}/{task}",
        "digest": sha256(f"{agent}/{task}/{completed}/{required}/{critical}/{success}".encode()).hexdigest(),
        "agent": agent,
        "task_id": task,
        "task_repeat": None,
        "model": None,
        "kind": None,
        "graph_id": "g",
        "graph_version": 1,
        "success": Unscored("RUN_FINISHED records no success") if success is None else success,
        "cost": 0.5,
        "steps": 3.0,
        "results": nodes,
        "missing": "fail",
        "required": required,
        "attempted": required,
        "completed": completed,
        "unscored": 0,
        "critical": critical,
        "critical_completed": critical_completed,
        "critical_skipped": 0,
        "completed_with_deps": completed,
        "completed_with_deps_all": completed,
        "coverage": 1.0 if required else none,
        "completion": completed / required if required else none,
        "completion_weighted": completed / required if required else none,
        "critical_completion": critical_completed / critical
        if critical
        else Unscored("no critical sub-goals"),
        "violations": violations,
        "mapped": (),
        "extra": (),
        "replans": 0,
        "transient_failures": 0,
        "recovered": Unscored("no attempt failed"),
        "diagnosis": "clean" if completed == required else "inside",
        "diagnosis_reason": "",
    }
    detail = {"nodes": nodes, "progress": ()}
    detail |= {name: fields.pop(name) for name in detail if name in fields}
    if "results" not in fields:
        fields["results"] = detail["nodes"]
    return RunScore(detail=DetailLater(ScoreDetail(**detail)), **(values | fields))
