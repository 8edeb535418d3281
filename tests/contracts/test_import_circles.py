"""No import circle, imports for types and imports inside functions included."""

from __future__ import annotations

import ast
from pathlib import Path

import networkx as nx
from programs import nodes

ROOT = Path(__file__).parents[2]


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_from(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    """The module that an import names, a relative one in full."""
    if not node.level:
        return node.module or ""
    above = module.split(".")[: None if is_package else -1]
    above = above[: len(above) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def inside(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def imports(root: Path, rooms: tuple[str, ...]) -> nx.DiGraph:
    modules = {name_of(path): path for room in rooms for path in (root / room).rglob("*.py")}
    graph = nx.DiGraph()
    for name, path in modules.items():
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom):
                home = imported_from(node, name, is_package=path.name == "__init__.py")
                found = [f"{home}.{alias.name}" for alias in node.names]
                graph.add_edges_from((name, m if m in modules else home) for m in found)
            elif isinstance(node, ast.Import):
                graph.add_edges_from((name, alias.name) for alias in node.names)
    # To load a module is to load the packages it is in first: those that the importing module is not in.
    for name, found in list(graph.edges):
        parts = found.split(".")
        packages = (".".join(parts[:n]) for n in range(1, len(parts)))
        graph.add_edges_from((name, one) for one in packages if one in modules and not inside(name, one))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph.subgraph([module for module in graph if module in modules])


def test_no_two_modules_need_each_other() -> None:
    graph = imports(ROOT, ("untaken", "components"))
    assert graph.number_of_edges() > 1_000
    circles = [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    assert circles == []
