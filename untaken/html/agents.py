"""Every agent at every sub-goal, and the runs that count nowhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from untaken.corpus import Corpus
from untaken.errors import Unscored
from untaken.html.markup import Markup, short, tag, together
from untaken.html.style import STAR, STATUS
from untaken.present.numbers import counted
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
            f"{STATUS[status].icon} {STATUS[status].word}" for status in ("attempted", "skipped", "unscored")
        )
    )
    return together(tag("h2", "Every sub-goal, by agent"), tag("p", f"{note}.", class_="note"), *tables)


def _table(graph: str, nodes: Mapping[str, NodeScore], tally: Mapping[str, Tally], *, folded: bool) -> Markup:
    agents = sorted({agent for by_agent in tally.values() for agent in by_agent})
    head = tag(
        "tr", tag("th", "sub-goal", scope="col"), *(tag("th", short(a, 30), scope="col") for a in agents)
    )
    rows = [
        tag(
            "tr",
            tag("th", short(node.title or goal, 120) + (f" {STAR}" if node.critical else ""), scope="row"),
            *(tag("td", _cell(tally[goal].get(agent, Counter()))) for agent in agents),
        )
        for goal, node in nodes.items()
    ]
    caption = tag("caption", f"Plan graph {short(graph)}")
    table = tag("div", tag("table", caption, tag("thead", head), tag("tbody", *rows)), class_="card scroll")
    return tag("details", tag("summary", f"Plan graph {short(graph)}"), table) if folded else table


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
        tag(
            "tr",
            tag("td", tag("span", short(run.run_id), class_="run")),
            tag("td", short(run.agent, 40)),
            tag("td", short(run.task_id, 60)),
            tag("td", short(why, 200)),
        )
        for run, why in unscored[:LISTED]
    ]
    heads = (tag("th", name, scope="col") for name in ("run", "agent", "task", "why"))
    more = f"The first {LISTED} of {len(unscored)}" if len(unscored) > LISTED else f"All {len(unscored)}"
    table = tag("table", tag("caption", more), tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    return together(
        tag("h2", "Runs without a score"),
        tag(
            "p",
            f"{counted(len(unscored), 'run')} cannot be scored, and "
            f"{'is' if len(unscored) == 1 else 'are'} not part of any sub-goal rate.",
            class_="note",
        ),
        tag("div", table, class_="card scroll"),
    )


def _why_not(score: RunScore | Unscored) -> str | None:
    if isinstance(score, Unscored):
        return score.reason
    if not score.nodes and isinstance(score.completion, Unscored):
        return score.completion.reason
    return None
