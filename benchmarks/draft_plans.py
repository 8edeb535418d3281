"""Drafts of the calls that all successes of a task make, against the reference actions of public records.

For each task with at least two successes: which of the reference's writes are in the draft (found), which of
the draft's are in no reference (extra), and how often a decided order is that of the reference path. In
tau-bench and in tau2-bench airline the reward *is* the reference's end state, so that writes are found is
circular; the order and the reads are not.

    python benchmarks/draft_plans.py FOLDER
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from untaken import convert
from untaken.errors import Unscored, UntakenError
from untaken.ledger import Run, read_ledger
from untaken.plans import GraphSet, PlanGraph, ancestors, load_graphs, matches_glob
from untaken.plans.discovery import discover

SETS = ("tau_bench", "tau2_bench", "agentrx")


def main(folder: Path) -> None:
    for name in SETS:
        with TemporaryDirectory() as out:
            convert(None, [folder / name], out)
            files = sorted(Path(out).rglob("*.jsonl"))
            runs = [run for path in files for run in read_ledger(path, strict=False)[0]]
            for group, tally in measured(runs, load_graphs(Path(out) / "graphs")).items():
                rates = "  ".join(f"{what} {sum(held)} of {len(held)}" for what, held in tally.items())
                print(f"{name} {group}: {rates}")


def measured(runs: list[Run], graphs: GraphSet) -> dict[str, dict[str, list[bool]]]:
    """By domain, what holds of each write, read and order."""
    by_task: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.success is True:
            by_task[run.task_id].append(run)
    found: defaultdict[str, defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for task, some in by_task.items():
        graph, _ = graphs.for_task(task, some[0].started.graph)
        if isinstance(graph, Unscored) or not graph.mutates:
            continue
        try:
            draft = discover(some, source="calls", mutates=graph.mutates, min_share=0.0)
        except UntakenError:
            continue
        domain = "telecom" if "suspend_line" in graph.mutates else "retail/airline"
        found[domain]["tasks"].append(True)
        for what, held in held_against(draft.graph, graph):
            found[domain][what].append(held)
    return {name: dict(tally) for name, tally in found.items()}


def held_against(draft: PlanGraph, reference: PlanGraph) -> Iterator[tuple[str, bool]]:
    def writes(graph: PlanGraph) -> dict[str, str]:
        calls = {
            node.id: node.check.tool_call for node in graph.sub_goals if node.check and node.check.tool_call
        }
        users = {node.id for node in graph.sub_goals if node.metadata.get("requestor") == "user"}
        return {
            str((call.name, sorted(call.arguments.items(), key=str))): name
            for name, call in calls.items()
            if name not in users and any(matches_glob(glob, call.name) for glob in reference.mutates)
        }

    drafted, wanted = writes(draft), writes(reference)
    yield from (("found", key in drafted) for key in wanted)
    yield from (("extra", key not in wanted) for key in drafted)
    place = {node.id: at for at, node in enumerate(reference.sub_goals)}
    before = ancestors(draft)
    both = [(drafted[key], place[wanted[key]]) for key in drafted if key in wanted]
    for name, at in both:
        yield from (("order", earlier < at) for other, earlier in both if other in before[name])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
