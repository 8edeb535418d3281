"""Imports plan graphs from uploaded files: our own formats, or a benchmark's expected actions (§4)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Set
from pathlib import Path, PurePath
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken import limits
from untaken.errors import Finding, UntakenError
from untaken.plans import PlanGraph, SubGoal, decode, format_of, load_graphs, read_graph
from untaken.traces.conversion import convert
from untaken.traces.registry import sniff

DRAWN: Final = ("mermaid", "csv")
"""Formats that say what needs what, and no more."""
HEAD: Final = 64 * limits.KIB
"""Bytes that identify a format."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._]+")


class ImportedGraphs(Struct, frozen=True, kw_only=True):
    """What a file held: its plan graphs, valid all of them, and what was noticed.

    Attributes:
        drawn: the format holds ids, titles, dependencies and critical marks only, no checks or rules.
    """

    graphs: tuple[PlanGraph, ...]
    findings: tuple[Finding, ...]
    drawn: bool = False


def graphs_in(name: str, data: bytes) -> ImportedGraphs:
    """The plan graphs in a file: YAML, JSON, Mermaid, node-link, an edge list; or a benchmark's instances.

    Args:
        name: of the file (untrusted); its ending tells the format.
        data: its content.

    Raises:
        UntakenError: what is wrong with the file where it is no plan graph in any format.
    """
    foreign = sniff(name, data[:HEAD])
    if foreign is None or foreign == "native":
        graph, findings = read_graph(data, name=name)
        drawn = format_of(name, decode(data, name)) in DRAWN
        return ImportedGraphs(graphs=(graph,), findings=tuple(findings), drawn=drawn)
    return _converted(name, data, foreign)


def filled(graph: PlanGraph, old: PlanGraph) -> PlanGraph:
    """A drawn graph, with everything a drawing cannot express taken from the old one.

    Args:
        graph: from a format that is `ImportedGraphs.drawn`.
        old: the graph that it replaces. Sub-goals with the same id give descriptions, checks, rules, options,
            kinds, metadata, and a title where the drawing has none; the graph gives title, tasks, metadata.
    """
    known = {goal.id: goal for goal in old.sub_goals}
    there = {goal.id for goal in graph.sub_goals}
    goals = [
        _goal_filled(goal, known[goal.id], there) if goal.id in known else goal for goal in graph.sub_goals
    ]
    return replace(
        graph,
        title=graph.title or old.title,
        tasks=old.tasks,
        mutates=old.mutates,
        hand_over=old.hand_over,
        metadata=old.metadata,
        sub_goals=goals,
    )


def _goal_filled(goal: SubGoal, old: SubGoal, there: Set[str]) -> SubGoal:
    return replace(
        goal,
        title=goal.title or old.title,
        description=old.description,
        check=old.check,
        rules=old.rules,
        any_of=[option for option in old.any_of if option in there],
        kind=old.kind,
        metadata=old.metadata,
    )


def _converted(name: str, data: bytes, format: str) -> ImportedGraphs:
    """Reads with the importer of another format, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="untaken-") as folder:
        source = Path(folder, _UNSAFE.sub("-", PurePath(name).name).lstrip(".-")[-100:] or "source")
        source.write_bytes(data)
        done = convert(format, [source], Path(folder, "out"))
        found = load_graphs(done.graphs)
    if not found.graphs:
        raise UntakenError(
            "import-without-graphs",
            f"no plan graph in this {format} file",
            hint="Add traces on the Data page. Their runs can suggest a graph here.",
        )
    # Only plans were asked for.
    findings = [finding for finding in done.findings if finding.code != "no-runs"]
    return ImportedGraphs(graphs=found.graphs, findings=(*findings, *found.findings))
