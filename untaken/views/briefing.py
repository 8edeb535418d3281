"""What a run was asked, what was expected of it, and what came out: the first lines of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from untaken.ledger import Message, Run, RunFinished, State, ToolCall, readable
from untaken.plans import PlanGraph, SubGoal
from untaken.scoring import StateFold, asked_values, shown
from untaken.views.statuses import STAR

MOST_GOALS: Final = 8
MOST_VALUES: Final = 2
"""Of a sub-goal, that are said beside its title."""
MOST_CHARS: Final = 10_000
_AGENT: Final = frozenset({"assistant", "agent", "ai", "model"})
_USER: Final = frozenset({"user", "human", "customer"})
_OTHERS: Final = _USER | {"system", "developer", "tool", "function", "environment", "reasoning", "compaction"}
"""Who else speaks in a record: members of a team go by names of their own."""


class RunBrief(Struct, frozen=True, kw_only=True):
    """The run in three answers; every text is untrusted, and empty where nothing is recorded.

    Attributes:
        asked: the task's text, else what the user said first.
        target: the answer that is recorded as right.
        plan: the critical and the last sub-goals of the plan graph, in its order, with values they ask for.
        got: the agent's last message or call.
        ended: the error or limit that the run ended with.
    """

    asked: str
    target: str
    plan: str
    got: str
    ended: str


def run_brief(run: Run, graph: PlanGraph | None) -> RunBrief:
    """Reads the three answers off the record; nothing is concluded from them."""
    metadata = run.started.metadata or {}
    end = run.finished
    given = () if end is None else (("error", end.error), ("limit", end.limit))
    return RunBrief(
        asked=_text(metadata.get("input")) or _first_words(run),
        target=_text(metadata.get("target")),
        plan=_plan(run, graph),
        got=_last_words(run),
        ended="; ".join(f"{name}: {value}" for name, value in given if value)[:MOST_CHARS],
    )


def _text(value: object) -> str:
    return (readable(value) or "").strip()[:MOST_CHARS]


def _first_words(run: Run) -> str:
    asked = (one for one in run.of(Message) if one.role.lower() in _USER)
    return next((words for one in asked if (words := _text(one.content))), "")


def _last_words(run: Run) -> str:
    """The last message of the agent, or its last call where that came later: an answer may be submitted."""
    texts = [one for one in run.of(Message) if _text(one.content)]
    messages = [one for one in texts if one.role.lower() in _AGENT]
    messages = messages or [one for one in texts if one.role.lower() not in _OTHERS]
    calls = [one for one in run.actions if one.requestor != "user"]
    if messages and not (calls and calls[-1].seq > messages[-1].seq):
        return _text(messages[-1].content)
    if not calls:
        return ""
    last = calls[-1]
    given = ", ".join(
        f"{name}: {value if isinstance(value, str) else shown(value)}"
        for name, value in last.arguments.items()
    )
    return f"{last.tool}({given})"[:MOST_CHARS]


def _plan(run: Run, graph: PlanGraph | None) -> str:
    """The sub-goals that decide whether the plan is met: critical ones, and those that none waits for."""
    if graph is None:
        return ""
    # Options count as needed: the group that lists them is named instead.
    needed = {dep for goal in graph.sub_goals for dep in (*goal.deps, *goal.any_of)}
    named = [goal for goal in graph.sub_goals if goal.critical or goal.id not in needed]
    states: list[State | RunFinished] = [one for one in run.events if isinstance(one, State | RunFinished)]
    fold = StateFold(states)
    fold.forward(run.events[-1].seq)
    more = f" · {len(named) - MOST_GOALS} more" if len(named) > MOST_GOALS else ""
    calls = [call for call in run.actions if call.requestor != "user"]
    return " · ".join(_goal(goal, fold.state, calls) for goal in named[:MOST_GOALS]) + more


def _goal(goal: SubGoal, state: Mapping[str, Any], calls: Sequence[ToolCall]) -> str:
    star = f"{STAR} " * goal.critical
    values = asked_values(goal.check, state, calls)[:MOST_VALUES] if goal.check else ()
    return f"{star}{goal.title or goal.id}" + (f" ({', '.join(values)})" if values else "")
