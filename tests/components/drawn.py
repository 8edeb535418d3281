"""Small plan graphs and scores for tests of what is drawn, and a name that is more than words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import plotly.graph_objects as go

from untaken.errors import Unscored
from untaken.plans.plan_graph import PlanGraph, SubGoal
from untaken.scoring.run_score import DetailLater, NodeScore, RunScore, ScoreDetail, Status, Violation

HOSTILE = '<b onclick="x">$\\alpha$</b><a href="javascript:alert(1)">go</a></script>%{evil}'


def markup(*figures: go.Figure) -> list[str]:
    """What plotly would read as more than words where `HOSTILE` is drawn."""
    drawn = "".join(figure.to_json() for figure in figures).replace("\\u003c", "<")
    return [sign for sign in ("<b on", "<a ", "</script", "$", "%{evil") if sign in drawn]


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
        NodeScore(
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
    return RunScore(
        run_id="run-1",
        digest="0" * 64,
        agent="agent",
        task_id="task",
        task_repeat=None,
        model=None,
        kind=None,
        graph_id=graph.id,
        graph_version=graph.version,
        success=True,
        cost=1.0,
        steps=4.0,
        results=nodes,
        missing="fail",
        required=len(nodes),
        attempted=done,
        completed=done,
        unscored=0,
        critical=0,
        critical_completed=0,
        critical_skipped=0,
        completed_with_deps=done,
        completed_with_deps_all=done,
        coverage=done / len(nodes),
        completion=done / len(nodes),
        completion_weighted=done / len(nodes),
        critical_completion=Unscored("no critical sub-goal"),
        violations=tuple(
            Violation(kind="critical", sub_goal=goal, dependency=dep, message=f"reached {goal} without {dep}")
            for dep, goal in violated
        ),
        mapped=(),
        extra=(),
        replans=0,
        transient_failures=0,
        recovered=Unscored("nothing failed"),
        diagnosis="clean",
        diagnosis_reason="",
        detail=DetailLater(ScoreDetail(nodes=nodes, progress=progress)),
    )
