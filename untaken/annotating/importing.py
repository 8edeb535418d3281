"""Plan graphs out of a file that somebody brings: our own formats, or what a benchmark expected (§4)."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from untaken import limits
from untaken.errors import Finding, UntakenError
from untaken.formats import convert, sniff
from untaken.plans import PlanGraph, load_graphs, read_graph

HEAD: Final = 64 * limits.KIB
"""Bytes by which a foreign format is told."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a file held: its plan graphs, valid all of them, and what was noticed."""

    graphs: tuple[PlanGraph, ...]
    findings: tuple[Finding, ...]


def graphs_in(name: str, data: bytes) -> Brought:
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
        return Brought(graphs=(graph,), findings=tuple(findings))
    return _converted(name, data, foreign)


def _converted(name: str, data: bytes, format: str) -> Brought:
    """Through the importer of a foreign format, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="untaken-") as folder:
        source = Path(folder, _UNSAFE.sub("-", PurePath(name).name).lstrip(".-")[-100:] or "source")
        source.write_bytes(data)
        done = convert(format, [source], Path(folder, "out"))
        found = load_graphs(done.graphs)
    if not found.graphs:
        raise UntakenError(
            "import-without-graphs",
            f"no plan graph in this {format} file",
            hint="Traces alone are added on the Data page; their runs can suggest a graph here.",
        )
    noticed = [finding for finding in done.findings if finding.code != "no-runs"]
    return Brought(graphs=found.graphs, findings=(*noticed, *found.findings))
