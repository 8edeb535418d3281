"""Plan graphs from Mermaid flowcharts, and as such.

Read: node shapes, quoted labels with entities, chains (``A --> B --> C``), ``A & B --> C``, edge labels in
both forms, classes (``:::critical``, ``class a,b critical``), comments. ``A --> B`` means that B needs A.
Styles are skipped; what says something that a plan graph cannot hold (subgraphs, edge labels, links) is left
out and named in a finding.
"""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any, NoReturn

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.plans.plan_graph import PlanGraph
from untaken.plans.strict_document import Document, Path

_HEADER = re.compile(r"(?:flowchart-elk|flowchart|graph)\b[ \t]*+(?:(?:TD|TB|BT|LR|RL)\b)?[ \t]*(?:;|\Z)")
# What follows a keyword's name tells a statement from a node that is called `end` or `class`.
_KEYWORD = re.compile(
    r"(subgraph|end|direction|classDef|class|style|linkStyle|click|accTitle|accDescr)\b"
    r"(?![\[({>@]|:::|[ \t]*(?:--|==|-\.|~~~|<-|&))"
)
_REPORTED = {"subgraph": "subgraphs", "click": "links (click)"}
# A hyphen with which an arrow begins ends the id.
_ID = re.compile(r"\w(?:[\w.]|-(?![-.>=]))*")
_CLASS_MARK = re.compile(r":::([\w-]+)")
_AND = re.compile(r"[ \t]*&")
_BLANK = re.compile(r"[ \t]*")
_SEPARATORS = re.compile(r"[; \t]*")
_ARROW = re.compile(r"(?:\w+@)?<?(?:--+[->xo]|==+[=>xo]|-\.+-[>xo]?|~~~+)")
_ARROW_WITH_TEXT = re.compile(r"(?:\w+@)?<?(?:--|==|-\.)")
_ARROW_END = re.compile(r"--(?:-++[>xo]?|[>xo])|==(?:=++[>xo]?|[>xo])|\.-[>xo]?")
_FENCE = "```mermaid"
_SHAPES = (
    ("(((", (")))",)),
    ("((", ("))",)),
    ("([", ("])",)),
    ("(", (")",)),
    ("[[", ("]]",)),
    ("[(", (")]",)),
    ("[/", ("/]", "\\]")),
    ("[\\", ("\\]", "/]")),
    ("[", ("]",)),
    ("{{", ("}}",)),
    ("{", ("}",)),
    (">", ("]",)),
)
"""Openings, the longer before those they begin with, each with what may close it."""
_CLOSED: dict[tuple[str, ...], re.Pattern[str]] = {
    closings: re.compile("|".join(map(re.escape, closings))) for _, closings in _SHAPES
}
_ATTRIBUTES = re.compile(r'@\{((?:"[^"]*"|[^"}])*)\}')
_ATTRIBUTE_LABEL = re.compile(r'\blabel[ \t]*:[ \t]*"([^"]*)"')
_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_ENTITY = re.compile(r"#(?:([0-9]{1,7})|(quot|amp|lt|gt|nbsp|semi|colon|apos));")
_NAMED = {
    "quot": '"', "amp": "&", "lt": "<", "gt": ">", "nbsp": " ", "semi": ";", "colon": ":", "apos": "'",
}  # fmt: skip


def looks_like_mermaid(text: str) -> bool:
    """True where the first line that says anything is a flowchart's header."""
    for line in StringIO(_fenced(text)):  # one by one: it may be megabytes of something else
        stripped = line.strip()
        if stripped and not stripped.startswith("%%"):
            return _HEADER.match(stripped) is not None
    return False


def read_mermaid(text: str, name: str, graph_id: str) -> tuple[Document, list[Finding]]:
    """The graph document of a flowchart, and what was left out.

    Raises:
        UntakenError: ``plan-mermaid``, with the line.
    """
    reader = _Reader(name, graph_id)
    header: re.Match[str] | None = None
    for number, line in enumerate(_fenced(text).splitlines(), start=1):
        reader.line = number
        if number > limits.MERMAID_LINES:
            reader.refuse(f"the flowchart has more than {limits.MERMAID_LINES:,} lines")
        if len(line) > limits.MERMAID_LINE_CHARS:
            reader.refuse(f"the line is longer than {limits.MERMAID_LINE_CHARS:,} characters")
        stripped = line.strip()
        if reader.in_front_matter(stripped) or not stripped:
            continue
        if stripped.startswith("%%"):
            reader.comment(stripped)
        elif header is None:
            if (header := _HEADER.match(stripped)) is None:
                reader.refuse("a Mermaid plan graph begins with `flowchart TD` (or LR, …)")
            reader.statements(stripped[header.end() :])
        else:
            reader.statements(stripped)
    if header is None:
        reader.refuse("there is no flowchart in this file")
    return reader.document(), reader.findings()


def _fenced(text: str) -> str:
    """The first ```mermaid block of a Markdown text, its lines kept in place; else the text itself."""
    if _FENCE not in text:
        return text
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.strip() == _FENCE), None)
    if start is None:
        return text
    end = next((i for i in range(start + 1, len(lines)) if lines[i].strip() == "```"), len(lines))
    return "\n" * (start + 1) + "\n".join(lines[start + 1 : end])  # faults name the line of the whole file


class _Reader:
    """Nodes and edges gathered so far; `line` is the line being read."""

    def __init__(self, name: str, graph_id: str) -> None:
        self.name, self.line = name, 0
        self.about: dict[str, Any] = {"id": graph_id}
        self.nodes: dict[str, dict[str, Any]] = {}
        self.real_ids: dict[str, str] = {}
        self.lines: dict[Path, int] = {(): 1}
        self.left_out: dict[str, int] = {}
        self.edges = self.written = 0
        self._front_matter = False

    def refuse(self, message: str) -> NoReturn:
        raise UntakenError("plan-mermaid", message, where=Where(file=self.name, line=self.line))

    def in_front_matter(self, line: str) -> bool:
        """True between two ``---`` at the top, where only the title is read."""
        if line == "---" and (self.line == 1 or self._front_matter):
            self._front_matter = not self._front_matter
            return True
        if self._front_matter and line.startswith("title:"):
            self.about["title"] = line.removeprefix("title:").strip().strip("\"'")
        return self._front_matter

    def comment(self, comment: str) -> None:
        """Ours carry the graph's own id, and the ids of sub-goals that Mermaid could not."""
        if not comment.startswith(NOTE):
            return
        kind, _, rest = comment.removeprefix(NOTE).partition(" ")
        alias, _, quoted = rest.partition(" ") if kind == "id" else ("", "", rest)
        try:
            values = _json_values(quoted)
        except (ValueError, RecursionError):
            self.refuse(f"the comment {comment[:60]!r} cannot be read")
        if kind == "graph":
            self.about |= dict(zip(("id", "version", "title"), values, strict=False))
        elif kind == "id" and values and isinstance(values[0], str):
            self.real_ids[alias] = values[0]

    def statements(self, text: str) -> None:
        """The statements of one line, separated by semicolons."""
        at = _skip(_SEPARATORS, text, 0)
        while at < len(text):
            at = _skip(_SEPARATORS, text, self.statement(text, at))

    def statement(self, text: str, at: int) -> int:
        """Read one statement and return where it ends."""
        keyword = _KEYWORD.match(text, at)
        if keyword is None:
            return self.chain(text, at)
        end = text.find(";", at)
        end = len(text) if end < 0 else end
        if keyword.group(1) == "class":
            self.classes(text[keyword.end() : end].split())
        elif keyword.group(1) in _REPORTED:
            self.leave_out(_REPORTED[keyword.group(1)])
        return end

    def classes(self, words: list[str]) -> None:
        """``class a,b critical``."""
        if len(words) < 2:
            self.refuse("a class statement names nodes and a class")
        if words[-1].lower() == "critical":
            for written in filter(None, "".join(words[:-1]).split(",")):
                if not _ID.fullmatch(written):
                    self.refuse(f"a class statement names no node: {written[:30]!r}")
                self.node(written)["critical"] = True

    def chain(self, text: str, at: int) -> int:
        """``A & B -->|label| C --> D``: nodes, then arrows and nodes as long as they come."""
        before, at = self.group(text, at)
        while (at := _skip(_BLANK, text, at)) < len(text) and text[at] != ";":
            arrow, at = self.arrow(text, at)
            after, at = self.group(text, at)
            if arrow[:1] != "~":  # `~~~` only moves nodes about
                self.connect(before, after, both_ways=arrow[:1] == "<")
            before = after
        return at

    def arrow(self, text: str, at: int) -> tuple[str, int]:
        """The arrow at `at` (without its label) and where it ends."""
        if plain := _ARROW.match(text, at):
            arrow, at = plain.group(), plain.end()
            if text.startswith("|", start := _skip(_BLANK, text, at)):
                self.leave_out("edge labels")
                at = text.find("|", start + 1) + 1
                if not at:
                    self.refuse("an edge label is not closed")
        elif (begun := _ARROW_WITH_TEXT.match(text, at)) and (end := _ARROW_END.search(text, begun.end())):
            self.leave_out("edge labels")
            arrow, at = begun.group() + end.group(), end.end()
        else:
            self.refuse(f"an arrow was expected here: {text[at : at + 30]!r}")
        arrow = arrow.partition("@")[2] or arrow  # an arrow may have an id: `e1@-->`
        if arrow[-1] in "-=":
            self.leave_out("lines without an arrowhead (read as pointing forward)")
        return arrow, at

    def connect(self, before: list[str], after: list[str], *, both_ways: bool) -> None:
        self.edges += len(before) * len(after)  # before any is drawn: two joined groups may make millions
        if self.edges > limits.EDGES:
            self.refuse(f"the flowchart has more than {limits.EDGES:,} edges")
        for source in before:
            for target in after:
                self.nodes[target]["deps"].setdefault(source)
                if both_ways:
                    self.nodes[source]["deps"].setdefault(target)

    def group(self, text: str, at: int) -> tuple[list[str], int]:
        """One node, or several joined by ``&``."""
        written, at = self.one(text, at)
        names = [written]
        while joint := _AND.match(text, at):
            written, at = self.one(text, joint.end())
            names.append(written)
        return names, at

    def one(self, text: str, at: int) -> tuple[str, int]:
        """One node: its id, perhaps a shape with a label, perhaps classes."""
        at = _skip(_BLANK, text, at)
        match = _ID.match(text, at)
        if match is None:
            self.refuse(f"a node was expected here: {text[at : at + 30]!r}")
        node = self.node(match.group())
        try:
            label, at = read_shape(text, match.end())
        except ValueError as error:
            self.refuse(str(error))
        if label is not None:
            node["title"] = label
        while mark := _CLASS_MARK.match(text, at):
            at = mark.end()
            if mark.group(1).lower() == "critical":
                node["critical"] = True
        return match.group(), at

    def node(self, written: str) -> dict[str, Any]:
        self.written += 1
        if self.written > limits.MERMAID_NODES_WRITTEN:
            self.refuse(f"nodes are written in more than {limits.MERMAID_NODES_WRITTEN:,} places")
        if written not in self.nodes:
            if len(self.nodes) >= limits.SUB_GOALS:
                self.refuse(f"the flowchart has more than {limits.SUB_GOALS:,} nodes")
            self.lines["sub_goals", len(self.nodes)] = self.line
            self.nodes[written] = {"id": written, "deps": {}}  # a dict, so that each is kept once, in order
        return self.nodes[written]

    def leave_out(self, what: str) -> None:
        self.left_out.setdefault(what, self.line)

    def document(self) -> Document:
        """The graph document, with the real ids back in place."""
        sub_goals = [
            {**node, "id": self._real(written), "deps": list(map(self._real, node["deps"]))}
            for written, node in self.nodes.items()
        ]
        # Our own writer shows the real id as the title where Mermaid got an alias.
        for written, sub_goal in zip(self.nodes, sub_goals, strict=True):
            if written in self.real_ids and sub_goal.get("title") == sub_goal["id"]:
                del sub_goal["title"]
        return Document({**self.about, "sub_goals": sub_goals}, self.name, self.lines)

    def _real(self, written: str) -> str:
        return self.real_ids.get(written, written)

    def findings(self) -> list[Finding]:
        return [
            Finding(
                code="plan-mermaid-ignored",
                message=f"left out, because plan graphs do not support them: {what} (first here)",
                where=Where(file=self.name, line=line),
                severity="note",
            )
            for what, line in self.left_out.items()
        ]


def _skip(what: re.Pattern[str], text: str, at: int) -> int:
    match = what.match(text, at)
    return match.end() if match else at


def _json_values(text: str) -> list[Any]:
    """JSON values separated by spaces."""
    decoder, values, at = json.JSONDecoder(), [], 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        values.append(value)
        at = _skip(_BLANK, text, at)
    return values


def read_shape(text: str, at: int) -> tuple[str | None, int]:
    """The label of the shape at `at`, ``None`` if there is none, and where it ends.

    Raises:
        ValueError: for brackets or quotes that do not close on the line.
    """
    if attributes := _ATTRIBUTES.match(text, at):
        label = _ATTRIBUTE_LABEL.search(attributes.group(1))
        return (_plain(label.group(1)) if label else None), attributes.end()
    for opening, closings in _SHAPES:
        if text.startswith(opening, at):
            return _label(text, at + len(opening), closings)
    return None, at


def _label(text: str, at: int, closings: tuple[str, ...]) -> tuple[str, int]:
    start = at
    while text[start : start + 1] in {" ", "\t"}:
        start += 1
    quoted = text.startswith('"', start)
    end = text.find('"', start + 1) if quoted else start
    if end == -1:
        raise ValueError("a quoted label is not closed on its line")
    closed = _CLOSED[closings].search(text, end)
    if closed is None:
        raise ValueError(f"the brackets of a label are not closed: {text[at : at + 30]!r}")
    label = text[start + 1 : end] if quoted else text[start : closed.start()].strip()
    return _plain(label), closed.end()


def _plain(label: str) -> str:
    """Line breaks as spaces, Markdown's backticks taken off, entities decoded."""
    text = _BREAK.sub(" ", label)
    if len(text) > 1 and text[0] == text[-1] == "`":
        text = text[1:-1]
    return _ENTITY.sub(_decoded, text)


def _decoded(match: re.Match[str]) -> str:
    if match.group(2):
        return _NAMED[match.group(2)]
    code = int(match.group(1))
    # Half of a pair is no character.
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match.group()


NOTE = "%% untaken "
"""Begins a comment that carries what Mermaid has no place for, as JSON texts separated by spaces."""

_SAFE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ALIAS = re.compile(r"n[0-9]+\Z")
_RESERVED = frozenset({
    *("graph", "flowchart", "subgraph", "end", "direction", "td", "tb", "bt", "lr", "rl", "v", "default"),
    *("class", "classdef", "style", "linkstyle", "click", "call", "href", "interpolate"),
    *("acctitle", "accdescr", "title", "_self", "_blank", "_parent", "_top"),
})  # fmt: skip
_UNSAFE_IN_TITLE = re.compile(r"[^\w .,()/+=?!'*-]")


def write_mermaid(graph: PlanGraph) -> str:
    """A ``flowchart TD``: arrows run from a dependency to what needs it; critical ones have a class.

    Ids and titles are untrusted.
    """
    lines = ["flowchart TD", f"  {NOTE}graph {_quoted(graph.id)} {graph.version} {_quoted(graph.title)}"]
    # Ids that Mermaid could take for syntax become n1, n2, … with the real id in a comment.
    names = {node.id: f"n{i}" for i, node in enumerate(graph.sub_goals, start=1)}
    for own in names:
        if _SAFE_ID.match(own) and not _ALIAS.match(own) and own.lower() not in _RESERVED:
            names[own] = own
    lines += [f"  {NOTE}id {name} {_quoted(real)}" for real, name in names.items() if name != real]
    for node in graph.sub_goals:
        title = node.title or ("" if names[node.id] == node.id else node.id)
        # As entities: no title can close its quotes, or smuggle in a directive, a link or HTML.
        plain = _UNSAFE_IN_TITLE.sub(lambda match: f"#{ord(match.group())};", title)
        shape = f'["{plain}"]' if title else ""
        lines.append(f"  {names[node.id]}{shape}{':::critical' if node.critical else ''}")
    for node in graph.sub_goals:
        lines += [f"  {names[dep]} --> {names[node.id]}" for dep in node.deps]
    if any(node.critical for node in graph.sub_goals):
        lines.append("  classDef critical stroke-width:4px")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A JSON text that no Mermaid version takes for a directive (``%%{…}%%``)."""
    return re.sub(r"[{}%<>]", lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text))
