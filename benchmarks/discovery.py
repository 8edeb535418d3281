"""How much of a plan graph annotated by hand discovery finds in runs, and how much it makes up.

The runs are the sample runs of the refund desk, the successful ones; the graph is the one annotated by hand.
Its rules map actions to sub-goals, its edges are what is to be found. Compared are

- *closure*: pairs (A, B) such that B needs A, at any distance; precision is the share of the draft's pairs
  that are pairs of the graph, recall the share of the graph's pairs that are pairs of the draft;
- *reduction*: the same of direct edges, after what other edges imply is taken out of both graphs.

Options of an `any_of` are no needs. Wilson intervals count pairs as independent, which they are not quite.

1. By agent and all together. 2. By theta. 3. By number of runs: means over random samples without putting
back, and the range that holds 95% of the samples. 4. The remedy for a fixed order: added are runs of a
*simulated* agent that takes each time another order that the graph allows (the same sub-goals as a recorded
run, in a random order).

    python benchmarks/discovery.py [samples]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import mean

from msgspec.structs import replace as rebuilt

from untaken.ledger import Run, ToolCall, read_ledger
from untaken.plans import PlanGraph, ancestors, edges, load_graph, map_actions, transitive_reduction
from untaken.plans.discovery import discover
from untaken.stats.rates import wilson

SAMPLES = Path(__file__).parents[1] / "sample_runs"
THETAS = (0.6, 0.8, 0.9, 0.95, 0.99, 1.0)
SIZES = (5, 10, 20, 40, 80, 160)
ADDED = (0, 5, 10, 20, 30, 40, 80)


@dataclass(frozen=True)
class Match:
    """Pairs of the draft, pairs of the graph, and how many are both."""

    found: int
    wanted: int
    right: int

    @property
    def precision(self) -> float | None:
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float:
        return self.right / self.wanted


def closure(graph: PlanGraph) -> set[tuple[str, str]]:
    return {(dep, name) for name, above in ancestors(graph).items() for dep in above}


def matches(draft: PlanGraph, graph: PlanGraph) -> tuple[Match, Match]:
    """On the closure and on the reduction."""
    both = []
    for pairs in (closure, lambda one: set(edges(transitive_reduction(one)))):
        found, wanted = pairs(draft), pairs(graph)
        both.append(Match(len(found), len(wanted), len(found & wanted)))
    return both[0], both[1]


def sample_runs() -> list[Run]:
    files = sorted((SAMPLES / "ledgers").glob("*.jsonl")) + sorted((SAMPLES / "ledgers").glob("*.jsonl.gz"))
    return [run for file in files for run in read_ledger(file) if run.success is True]


def line(name: str, runs: Sequence[Run], graph: PlanGraph, theta: float = 0.95) -> None:
    shown = [f"{name:18} {len(runs):5}"]
    for match in matches(discover(runs, graph, theta=theta).graph, graph):
        for right, of in ((match.right, match.found), (match.right, match.wanted)):
            low, high = wilson(right, of) if of else (0.0, 1.0)
            shown.append(f"{right:2}/{of:2} = {right / of if of else 0:.2f} ({low:.2f}–{high:.2f})")
    print("  ".join(shown))


def headings(first: str) -> None:
    columns = ("closure precision", "closure recall", "reduction precision", "reduction recall")
    print(f"\n{first:18} {'runs':>5}  " + "  ".join(f"{column:24}" for column in columns))


def spread(values: Iterable[float | None]) -> str:
    """Mean and the range that holds 95% of the values; of those that there are."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return "–"
    low, high = known[int(0.025 * len(known))], known[min(len(known) - 1, int(0.975 * len(known)))]
    return f"{mean(known):.2f} ({low:.2f}–{high:.2f})"


def by_size(runs: Sequence[Run], graph: PlanGraph, samples: int) -> None:
    random = Random(7)
    for size in SIZES:
        drafts = [discover(random.sample(runs, size), graph).graph for _ in range(samples)]
        found = [matches(draft, graph) for draft in drafts]
        cells = [
            spread(getattr(match[kind], what) for match in found)
            for kind in (0, 1)
            for what in ("precision", "recall")
        ]
        print(f"{'random sample':18} {size:5}  " + "  ".join(f"{cell:24}" for cell in cells))


def in_another_order(run: Run, graph: PlanGraph, random: Random) -> Run:
    """The run's first call for each sub-goal, in a random order that the graph allows."""
    first: dict[str, ToolCall] = {}
    calls = {call.seq: call for call in run.actions}
    for seq, name, _ in map_actions(run, graph).mapped:
        if seq in calls:
            first.setdefault(name, calls[seq])
    above = ancestors(graph)
    options = {node.id: node.any_of for node in graph.sub_goals}
    left, events = list(first), [rebuilt(run.started, agent="any-order")]
    while left:
        waiting = {option for group in left for option in left if option in options[group]}
        free = [
            name
            for name in left
            if not any(dep in left or any(option in left for option in options[dep]) for dep in above[name])
        ]
        name = random.choice(free or sorted(waiting) or left)
        left.remove(name)
        events.append(rebuilt(first[name], seq=len(events)))
    end = run.finished
    return replace(run, events=(*events, rebuilt(end, seq=len(events))))


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    graph = load_graph(SAMPLES / "graphs" / "refund-desk.plan.yaml")
    runs = sample_runs()
    headings("agent")
    for agent in sorted({run.agent for run in runs}):
        line(agent, [run for run in runs if run.agent == agent], graph)
    line("all", runs, graph)
    headings("theta")
    for theta in THETAS:
        line(f"{theta}", runs, graph, theta)
    headings(f"mean of {samples}")
    by_size(runs, graph, samples)
    headings("simulated added")
    random = Random(11)
    careful = [run for run in runs if run.agent in ("careful-planner", "full-workflow")]
    mixed = [in_another_order(random.choice(careful), graph, random) for _ in range(max(ADDED))]
    for added in ADDED:
        line(f"{added}", [*runs, *mixed[:added]], graph)


if __name__ == "__main__":
    main()
