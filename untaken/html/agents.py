"""Every agent at every sub-goal, and the runs that count nowhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from untaken.corpus import Corpus
from untaken.errors import Unscored
from untaken.html.markup import Markup, row, run_name, section, short, table, tag
from untaken.present.numbers import counted
from untaken.present.statuses import STAR, STATUS
from untaken.subgoals import NodeScore, RunScore, Status

Tally = Mapping[str, Counter[Status]]
LISTED: Final = 1000


def sub_goals_section(corpus: Corpus) -> Markup | None:
    """How often each agent completed each sub-goal: a table for each plan graph."""
    nodes: dict[str, dict[str, NodeScore]] = {}
    tally: dict[str, dict[str, dict[str, Counter[Status]]]] = {}
    for score in corpus.scores.values():
        if isinstance(score, RunScore) and score.nodes:
            for node in score.nodes:
                nodes.setdefault(score.graph_id, {}).setdefault(node.sub_goal, node)
                row = tally.setdefault(score.graph_id, {}).setdefault(node.sub_goal, {})
                row.setdefault(score.agent, Counter())[node.status] += 1
    if not nodes:
        return None
    tables = [_table(graph, nodes[graph], tally[graph], folded=len(nodes) > 3) for graph in sorted(nodes)]
    note = (
        "Runs that completed the sub-goal, of those that require it; then the status of the others: "
        + ", ".join(
            f"{STATUS[status].icon} {STATUS[status].word}"
            for status in ("not_completed", "skipped", "unscored")
        )
    )
    return section("Every sub-goal, by agent", f"{note}.", *tables)


def _table(graph: str, nodes: Mapping[str, NodeScore], tally: Mapping[str, Tally], *, folded: bool) -> Markup:
    agents = sorted({agent for by_agent in tally.values() for agent in by_agent})
    rows = [
        row(
            *(_cell(tally[goal].get(agent, Counter())) for agent in agents),
            head=short(node.title or goal, 120) + (f" {STAR}" if node.critical else ""),
        )
        for goal, node in nodes.items()
    ]
    made = table(["sub-goal", *(short(a, 30) for a in agents)], rows, f"Plan graph {short(graph)}")
    return tag("details", tag("summary", f"Plan graph {short(graph)}"), made) if folded else made


def _cell(found: Counter[Status]) -> str:
    required = found.total() - found["not_required"]
    if not required:
        return "not required"
    rest = [f"{STATUS[s].icon}\u00a0{found[s]}" for s in ("attempted", "skipped", "unscored") if found[s]]
    return f"{found['completed']} of {required}" + (f" · {' '.join(rest)}" if rest else "")


def unused_section(corpus: Corpus) -> Markup | None:
    """Runs without a score, with the reason."""
    found = [(run, _why_not(corpus.scores[digest])) for digest, run in corpus.runs.items()]
    unscored = [(run, why) for run, why in found if why is not None]
    unscored.sort(key=lambda pair: (pair[0].agent, pair[0].task_id, pair[0].run_id, pair[0].digest))
    if not unscored:
        return None
    rows = [
        row(run_name(run.run_id), short(run.agent, 40), short(run.task_id, 60), short(why, 200))
        for run, why in unscored[:LISTED]
    ]
    more = f"The first {LISTED} of {len(unscored)}" if len(unscored) > LISTED else f"All {len(unscored)}"
    verb = "is" if len(unscored) == 1 else "are"
    return section(
        "Runs without a score",
        f"{counted(len(unscored), 'run')} cannot be scored, and {verb} not part of any sub-goal rate.",
        table(("run", "agent", "task", "why"), rows, more),
    )


def _why_not(score: RunScore | Unscored) -> str | None:
    if isinstance(score, Unscored):
        return score.reason
    if not score.nodes and isinstance(score.completion, Unscored):
        return score.completion.reason
    return None
