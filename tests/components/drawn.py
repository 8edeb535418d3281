"""Small plan graphs and scores for tests of what is drawn, and a name that is more than words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import plotly.graph_objects as go

from untaken.errors import Unscored
from untaken.plans.plan_graph import PlanGraph, SubGoal
from untaken.scoring.run_score import DetailLater, NodeScore, RunScore, ScoreDetail, Status, Violation

HOSTILE = '<b onclick="x">$\\alpha$</b><a href="javascript:alert(1)">go</a></script>%{evil}'


def markup(*figures: go.Figure) -> list[str]:
    """What plotly would read as more than words where `HOSTILE` is drawn."""
    drawn = "".join(figure.to_json() for figure in figures).replace("\\u003c", "<")
    return [sign for sign in ("<b on", "<a ", "</script", "$", "%{evil") if sign in drawn]


Filled = TypeVar("Filled")
BLANK: dict[Any, Any] = {int: 0, float: 0.0, str: "", bool: False, tuple: (), dict: {}, list: []}


def filled(kind: type[Filled], **given: Any) -> Filled:
    """An object of this kind; what is not given is blank: nothing, unscored, or the first that it may be."""
    if is_dataclass(kind):
        needed = {one.name for one in fields(kind) if one.default is one.default_factory is MISSING}
    else:
        needed = {one.name for one in msgspec.structs.fields(kind) if one.required}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    return kind(**{name: blank(hints[name]) for name in needed - given.keys()} | given)


def blank(hint: Any) -> Any:
    """The least value of a type."""
    kinds = get_args(hint)
    if NoneType in kinds:
        return None
    if Unscored in kinds:
        return Unscored("not given")
    plain = get_origin(hint) or hint
    return BLANK[plain] if plain in BLANK else kinds[0]


def note(figure: go.Figure) -> str:
    """What a figure says where it has nothing to draw."""
    return str(figure.layout.annotations[0].text)


def a_graph(
    needs: Mapping[str, Sequence[str]],
    *,
    critical: Collection[str] = (),
    titles: Mapping[str, str] | None = None,
    any_of: Mapping[str, Sequence[str]] | None = None,
) -> PlanGraph:
    """A graph from name → needs."""
    return PlanGraph(
        id="drawn",
        title="Drawn for a test",
        sub_goals=[
            SubGoal(
                id=name,
                title=(titles or {}).get(name, name),
                deps=list(deps),
                critical=name in critical,
                any_of=list((any_of or {}).get(name, ())),
            )
            for name, deps in needs.items()
        ],
    )


def a_score(
    graph: PlanGraph,
    status: Mapping[str, Status],
    *,
    violated: Collection[tuple[str, str]] = (),
    unknown: Collection[str] = (),
    progress: tuple[tuple[int, int], ...] = ((2, 1), (4, 2)),
) -> RunScore:
    """A score in which each sub-goal has the status given; `violated` holds (dependency, sub-goal).

    Whether those in `unknown` were attempted is not known.
    """
    nodes = tuple(
        filled(
            NodeScore,
            sub_goal=goal.id,
            title=goal.title,
            critical=goal.critical,
            status=status[goal.id],
            attempted=None if goal.id in unknown else status[goal.id] in ("completed", "attempted"),
            completed=status[goal.id] == "completed",
            decided_by="expr",
            reason="the check says so",
        )
        for goal in graph.sub_goals
    )
    done = sum(node.completed is True for node in nodes)
    counts = dict.fromkeys(("attempted", "completed", "completed_with_deps", "completed_with_deps_all"), done)
    shares = dict.fromkeys(("coverage", "completion", "completion_weighted"), done / len(nodes))
    violations = tuple(
        Violation(kind="critical", sub_goal=goal, dependency=dep, message=f"reached {goal} without {dep}")
        for dep, goal in violated
    )
    about = {"agent": "agent", "task_id": "task", "success": True, "cost": 1.0, "steps": 4.0}
    detail = DetailLater(ScoreDetail(nodes=nodes, progress=progress))
    return filled(
        RunScore, **about, **counts, **shares, graph_id=graph.id, graph_version=graph.version, results=nodes,
        required=len(nodes), violations=violations, detail=detail,
    )  # fmt: skip
