"""Reading and writing plan graphs, whatever the format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec.structs import replace

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import disk
from untaken.plans.edge_list import read_edge_list, write_edge_list
from untaken.plans.mermaid import looks_like_mermaid, read_mermaid, write_mermaid
from untaken.plans.node_link import is_node_link, read_node_link, write_node_link
from untaken.plans.plan_graph import Check, PlanGraph, Rule, SubGoal, ToolCallSpec, VerdictSpec
from untaken.plans.strict_document import Document, decode, read_json, read_yaml
from untaken.plans.structure import graph_digest
from untaken.plans.validation import faults
from untaken.plans.yaml_text import graph_yaml

GraphFormat = Literal["yaml", "json", "mermaid", "node-link", "csv"]
GRAPH_FORMATS: tuple[GraphFormat, ...] = get_args(GraphFormat)

_BY_SUFFIX: Mapping[str, GraphFormat] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".csv": "csv",
}
"""Endings of files that may hold a plan graph."""
_GRAPH_NAMES = (".plan.yaml", ".plan.yml", ".plan.json", ".mmd", ".mermaid")
_GRAPH_SIGNS: Mapping[str, re.Pattern[bytes]] = {
    "yaml": re.compile(rb"^sub_goals[ ]*:", re.MULTILINE),
    "json": re.compile(rb'"(?:sub_goals|nodes)"\s*:\s*\['),
    # `(?>…)`: a long first line is not searched again from every `from` in it.
    "csv": re.compile(rb"\A(?>[^\n]*?\b(?:source|from)\b)[^\n]*?\b(?:target|to)\b"),
}

_OTHER_DOCUMENT = re.compile(rb'\s*\{\s*"schema"\s*:\s*"untaken\.(?!plan/)')
"""What a command printed, or a passport: they have sub-goals and nodes, too."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "": PlanGraph.__struct_fields__,
    "sub_goals": SubGoal.__struct_fields__,
    "check": Check.__struct_fields__,
    "tool_call": ToolCallSpec.__struct_fields__,
    "verdict": VerdictSpec.__struct_fields__,
    "rules": Rule.__struct_fields__,
}
"""The keys of each mapping in a plan graph, by the key that holds it."""
FORMAT_HINT = "`untaken schema graph` prints the format; docs/interface.md, section 2, explains it."
_UNKNOWN_KEY = re.compile(r"unknown field `([^`]{1,100})`")
FOREIGN_KEYS: Final = {
    "deps": ("requires", "depends_on", "dependencies", "needs", "after", "prerequisites", "parents"),
    "critical": ("required", "mandatory", "must"),
    "arguments": ("args", "params", "parameters", "input", "inputs"),
    "title": ("name", "label", "summary"),
    "sub_goals": ("nodes", "steps", "subgoals", "goals"),
}
"""Keys by the words that other formats have for them: spelling alone takes `requires` for `rules`."""
_PLACE = re.compile(r"`\$((?:\.\w+|\[\d+\])+)")


def load_graph(path: str | os.PathLike[str]) -> PlanGraph:
    """The valid plan graph in a file; its ending and content determine the format.

    Raises:
        UntakenError: the first thing wrong with it, with file and, for YAML, line.
        OSError: where the file cannot be read.
    """
    return parse_graph(read_bytes(Path(path)), name=str(path))


def parse_graph(data: str | bytes, *, name: str, format: GraphFormat | None = None) -> PlanGraph:
    """The valid plan graph in `data`; `name` is used in messages and determines the format if that is not
    given.

    Raises:
        UntakenError: the first thing wrong with it.
    """
    return read_graph(data, name=name, format=format)[0]


def read_graph(
    data: str | bytes, *, name: str, format: GraphFormat | None = None
) -> tuple[PlanGraph, list[Finding]]:
    """Like `parse_graph`, with what was noticed: parts of the file left out, and warnings about the graph.

    Raises:
        UntakenError: the first thing wrong with it.
    """
    graph, findings = inspect_graph(data, name=name, format=format)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        message = errors[0].message + (f" (and {len(errors) - 1} more)" if len(errors) > 1 else "")
        raise UntakenError(errors[0].code, message, where=errors[0].where, hint=errors[0].hint)
    return graph, findings


def inspect_graph(
    data: str | bytes, *, name: str, format: GraphFormat | None = None
) -> tuple[PlanGraph, list[Finding]]:
    """A graph that may be invalid, with everything that is wrong with it and what was noticed besides.

    Raises:
        UntakenError: where the data cannot be read as a graph at all.
    """
    text = decode(data, name)
    document, left_out = _document(text, name, format or format_of(name, text))
    graph = _converted(document)
    found = [replace(fault.finding(), where=document.where(fault.path)) for fault in faults(graph)]
    return graph, [*left_out, *found]


def save_graph(graph: PlanGraph, path: str | os.PathLike[str]) -> None:
    """Write `graph` to a ``.json`` file as JSON, to any other as YAML; equal graphs give equal bytes.

    Raises:
        UntakenError: ``plan-not-writable`` where reading the file would not give the same graph back.
    """
    target = Path(path)
    as_json = target.suffix == ".json"
    text = export_graph(graph, "json" if as_json else "yaml")
    read_back = (read_json if as_json else read_yaml)(decode(text, str(path)), str(path))
    if graph_digest(_converted(read_back)) != graph_digest(graph):
        raise UntakenError(
            "plan-not-writable",
            "the graph has values that its file cannot store",
            where=Where(file=str(path)),
            hint="Use text, numbers, true/false, lists and mappings only.",
        )
    disk.replace(target, text.encode(), sync=False)


def export_graph(graph: PlanGraph, format: GraphFormat) -> str:
    """The graph as text.

    YAML, JSON and node-link keep everything. Mermaid and CSV keep the ids, titles, dependencies and critical
    marks of sub-goals; Mermaid also the graph's own id, version and title.

    Raises:
        UntakenError: ``plan-format-unknown``.
    """
    writers: Mapping[str, Callable[[PlanGraph], str]] = {
        "yaml": lambda graph: graph_yaml(_plain(graph)),
        "json": lambda graph: (
            msgspec.json.format(msgspec.json.encode(_plain(graph)), indent=2).decode() + "\n"
        ),
        "mermaid": write_mermaid,
        "node-link": write_node_link,
        "csv": write_edge_list,
    }
    if format not in writers:
        raise _unknown(format)
    return writers[format](graph)


def is_graph_file(path: Path) -> bool:
    """True for a file of a folder that means to be a plan graph, by its name or else by its content."""
    if path.name.lower().endswith(_GRAPH_NAMES):
        return True
    format = _BY_SUFFIX.get(path.suffix.lower())  # folders hold other YAML, JSON and CSV files, too
    try:
        # Mermaid has no sign here: all its files are known by their names.
        if format is None:
            return False
        data = read_bytes(path)
        return _GRAPH_SIGNS[format].search(data) is not None and not _OTHER_DOCUMENT.match(data)
    except OSError:  # the next reader reports it
        return True


def read_bytes(path: Path) -> bytes:
    """A file's content, cut just above the size that is refused anyway."""
    with path.open("rb") as file:
        return file.read(limits.GRAPH_FILE_BYTES + 1)


def graph_name(name: str) -> str:
    """The id a graph gets from its file's name where it gives none: ``a/refund.plan.yaml`` → ``refund``."""
    # A file called ``.plan.yaml`` has nothing before its first dot.
    return PurePath(name).name.split(".")[0] or "graph"


def format_of(name: str, text: str) -> GraphFormat:
    """The format of a file, by the ending of its name, else by its text."""
    by_suffix = _BY_SUFFIX.get(PurePath(name).suffix.lower())
    if by_suffix is not None:
        return by_suffix
    if looks_like_mermaid(text):
        return "mermaid"
    return "json" if text.lstrip()[:1] == "{" else "yaml"


def _document(text: str, name: str, format: str) -> tuple[Document, list[Finding]]:
    match format:
        case "yaml":
            return read_yaml(text, name), []
        case "json" | "node-link":
            document = read_json(text, name)
            if format == "node-link" or is_node_link(document.value):
                return read_node_link(document, graph_name(name))
            return document, []
        case "mermaid":
            return read_mermaid(text, name, graph_name(name))
        case "csv":
            return read_edge_list(text, name, graph_name(name)), []
    raise _unknown(format)


def _unknown(format: str) -> UntakenError:
    hint = f"One of: {', '.join(GRAPH_FORMATS)}."
    return UntakenError("plan-format-unknown", f"there is no graph format {format!r}", hint=hint)


def _converted(document: Document) -> PlanGraph:
    if not isinstance(document.value, dict):
        raise UntakenError(
            "plan-schema",
            "a plan graph is a mapping with `id` and `sub_goals`",
            where=document.where(()),
            hint="Write `id:` and `sub_goals:` at the top level. `untaken schema graph` prints every key.",
        )
    try:
        return msgspec.convert(spelled_out(document.value), PlanGraph)
    except msgspec.ValidationError as error:
        raise UntakenError(
            "plan-schema", str(error), where=document.where(_path_in(str(error))), hint=_key_hint(str(error))
        ) from None


def _key_hint(message: str) -> str:
    """The key that was meant, those that there are, and where they are described."""
    unknown = _UNKNOWN_KEY.search(message)
    place = [part for part in _path_in(message) if isinstance(part, str)]
    keys = KEYS.get(place[-1] if place else "")
    if unknown is None or keys is None:
        return FORMAT_HINT
    written = unknown.group(1)
    # By meaning before spelling, and only where the key exists at this place.
    meant = next((key for key, words in FOREIGN_KEYS.items() if written in words and key in keys), None)
    near = [meant] if meant else get_close_matches(written, keys, n=1)
    suggestion = f"Did you mean `{near[0]}`? " if near else ""
    return f"{suggestion}Keys here: {', '.join(keys)}. {FORMAT_HINT}"


def _path_in(message: str) -> tuple[str | int, ...]:
    """The place that msgspec names as ``- at `$.sub_goals[3].check` ``."""
    match = _PLACE.search(message)
    parts = re.findall(r"\.(\w+)|\[(\d+)\]", match.group(1)) if match else []
    return tuple(name or int(index) for name, index in parts)


def _plain(graph: PlanGraph) -> dict[str, Any]:
    plain = msgspec.to_builtins(graph)
    # Written even at their defaults, which `to_builtins` leaves out.
    return {"schema": graph.schema, "id": graph.id, "version": graph.version, **plain}


_IDS = ("deps", "any_of")


def spelled_out(document: dict[str, Any]) -> dict[str, Any]:
    """The graph document in the words of the schema; the one given is not changed.

    ``check: outcome`` and ``check: verdict``; ``verdict: "human:*"``, or a list of such globs, for whose
    verdict is needed; ``outcome: {}``; ``times`` inside the check or its tool call; whole numbers for ids.
    Everything else is left to the schema, faults included.
    """
    sub_goals = document.get("sub_goals")
    if isinstance(sub_goals, list):
        sub_goals = [_sub_goal(item) if isinstance(item, dict) else item for item in sub_goals]
        document = document | {"sub_goals": sub_goals}
    return document | {"id": _text(document["id"])} if "id" in document else document


def _sub_goal(item: dict[str, Any]) -> dict[str, Any]:
    lists = {key: [*map(_text, item[key])] for key in _IDS if isinstance(item.get(key), list)}
    own = {"id": _text(item["id"])} if "id" in item else {}
    times, check = _times(item.get("check"))
    counted = {} if times is None or "times" in item else {"times": times}
    return item | own | lists | counted | ({"check": _check(check)} if "check" in item else {})


def _times(check: Any) -> tuple[Any, Any]:
    """How often a check asks for its call, and the check without that."""
    for place in (check, check.get("tool_call")) if isinstance(check, dict) else ():
        if isinstance(place, dict) and "times" in place:
            rest = {key: value for key, value in place.items() if key != "times"}
            return place["times"], rest if place is check else {**check, "tool_call": rest}
    return None, check


# Shorthand is spelled out before the schema looks, so that there is one schema.
def _check(check: Any) -> Any:
    if check in ("outcome", "verdict"):
        return {check: True}
    if not isinstance(check, dict):
        return check
    verdict = check.get("verdict")
    if isinstance(verdict, str | list):
        check = check | {"verdict": {"by": [verdict] if isinstance(verdict, str) else verdict}}
    return check | {"outcome": True} if check.get("outcome") == {} else check


def _text(value: Any) -> Any:
    # YAML reads `id: 7` as a number.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
