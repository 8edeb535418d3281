"""Plan graphs from Mermaid flowcharts.

Read: node shapes, quoted labels with entities, chains (``A --> B --> C``), ``A & B --> C``, edge labels in both forms,
classes (``:::critical``, ``class a,b critical``), comments. ``A --> B`` means that B needs A. What has no meaning in a
plan graph (subgraphs, styles, links, edge labels) is left out and named in a finding.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.plans.mermaid_writer import NOTE
from untaken.plans.strict_document import Document, Path

_HEADER = re.compile(r"(?:flowchart|flowchart-elk|graph)(?:\s+(?:TD|TB|BT|LR|RL))?\s*(?:;|\Z)")
_IGNORED = re.compile(r"(subgraph|end|direction|classDef|style|linkStyle|click|accTitle|accDescr)\b")
_CLASS = re.compile(r"class\s+([^\s].*?)\s+([\w-]+)\Z")
_ID = re.compile(r"\w(?:[\w.]|-(?![-.>=]))*")
_ARROW = re.compile(
    r"\s*(?P<back><)?(?P<line>--+(?P<h1>[->xo])|==+(?P<h2>[=>xo])|-\.+-(?P<h3>[>xo]?)|~~~+)(?:\s*\|(?P<label>[^|]*)\|)?"
)
_TEXT_ARROW = re.compile(
    r"\s*(?P<back><)?(?:--(?![->xo])|==(?![=>xo])|-\.(?![.-]))\s*(?P<label>\"[^\"]*\"|(?:(?!--|==|\.-)[^|\n])+?)\s*"
    r"(?P<line>--+(?P<h1>[->xo])|==+(?P<h2>[=>xo])|\.+-(?P<h3>[>xo]?))"
)
_SHAPES = (
    ("(((", (")))",)), ("((", ("))",)), ("([", ("])",)), ("(", (")",)), ("[[", ("]]",)), ("[(", (")]",)),
    ("[/", ("/]", "\\]")), ("[\\", ("\\]", "/]")), ("[", ("]",)), ("{{", ("}}",)), ("{", ("}",)), (">", ("]",)),
)  # fmt: skip
_ENTITY = re.compile(r"#(?:(\d{1,7})|(quot|amp|lt|gt|nbsp|semi|colon|apos));")
_NAMED = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "nbsp": " ", "semi": ";", "colon": ":", "apos": "'"}
_BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
_ATTRIBUTES = re.compile(r'@\{(?P<body>(?:"[^"]*"|[^"}])*)\}')
_LABEL = re.compile(r'label\s*:\s*"([^"]*)"')


def looks_like_mermaid(text: str) -> bool:
    """True where the first line that says anything is a flowchart's header."""
    for line in _fenced(text).splitlines()[:200]:
        stripped = line.strip()
        if stripped and not stripped.startswith("%%"):
            return _HEADER.match(stripped) is not None
    return False


def read_mermaid(text: str, name: str, graph_id: str) -> tuple[Document, list[Finding]]:
    """The graph document of a flowchart, and what was left out.

    Raises:
        UntakenError: ``plan-mermaid``, with the line.
    """
    reader = _Reader(name=name)
    lines = _fenced(text).splitlines()
    header_seen, frontmatter = False, bool(lines) and lines[0].strip() == "---"
    title = ""
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if frontmatter:
            frontmatter = number == 1 or stripped != "---"
            title = stripped.removeprefix("title:").strip().strip("\"'") if stripped.startswith("title:") else title
        elif stripped.startswith("%%"):
            reader.note(stripped, number)
        elif not header_seen and stripped:
            if (header := _HEADER.match(stripped)) is None:
                reader.refuse(number, "a Mermaid plan graph begins with `flowchart TD` (or LR, …)")
            header_seen = True
            reader.statements(stripped[header.end() :], number)
        else:
            reader.statements(stripped, number)
    if not header_seen:
        reader.refuse(1, "there is no flowchart in this file")
    return reader.document(graph_id, title), reader.findings()


def _fenced(text: str) -> str:
    """The first ```mermaid block of a Markdown text, its lines kept in place; else the text itself."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.strip().lower() == "```mermaid"), None)
    if start is None:
        return text
    end = next((i for i in range(start + 1, len(lines)) if lines[i].strip() == "```"), len(lines))
    return "\n" * (start + 1) + "\n".join(lines[start + 1 : end])


@dataclass
class _Reader:
    name: str
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: dict[Path, int] = field(default_factory=lambda: {(): 1})
    real_ids: dict[str, str] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    edge_count: int = 0

    def refuse(self, line: int, message: str) -> NoReturn:
        raise UntakenError("plan-mermaid", message, where=Where(file=self.name, line=line))

    def note(self, comment: str, line: int) -> None:
        """A comment; ours carry the graph's own id and the ids that Mermaid could not."""
        if not comment.startswith(NOTE):
            return
        kind, _, rest = comment.removeprefix(NOTE).partition(" ")
        alias, _, quoted = rest.partition(" ") if kind == "id" else ("", "", rest)
        try:
            value = json.loads(quoted)
        except (ValueError, RecursionError):
            self.refuse(line, f"the comment {comment[:60]!r} is not readable")
        if kind == "graph" and isinstance(value, dict):
            self.about = {key: value[key] for key in ("id", "version", "title") if key in value}
        elif kind == "id" and isinstance(value, str):
            self.real_ids[alias] = value

    def statements(self, text: str, line: int) -> None:
        """The statements of one line, parted by semicolons outside of quotes and brackets."""
        at = 0
        while at < len(text):
            while at < len(text) and text[at] in "; \t":
                at += 1
            if at < len(text):
                at = self.statement(text, at, line)

    def statement(self, text: str, at: int, line: int) -> int:
        ignored = _IGNORED.match(text, at)
        if ignored and not re.match(r"\s*(?:[-=~<&@\[({>]|:::)", text[ignored.end() :]):
            self.leave_out(ignored.group(1), line)
            end = len(text) if ignored.group(1) != "end" else ignored.end()
            return end if ";" not in text[at:end] else text.index(";", at)
        if text.startswith("class ", at):
            end = text.index(";", at) if ";" in text[at:] else len(text)
            self.classes(text[at:end].strip(), line)
            return end
        return self.chain(text, at, line)

    def classes(self, text: str, line: int) -> None:
        match = _CLASS.match(text)
        if match is None:
            self.refuse(line, f"not a class statement: {text[:60]!r}")
        for sub_goal in match.group(1).split(","):
            if match.group(2).lower() == "critical":
                self.node(sub_goal.strip(), line)["critical"] = True

    def chain(self, text: str, at: int, line: int) -> int:
        """``A & B -->|label| C --> D``: nodes, then arrows and nodes as long as they come."""
        before, at = self.group(text, at, line)
        while at < len(text) and text[at] != ";":
            arrow = _ARROW.match(text, at) or _TEXT_ARROW.match(text, at)
            if arrow is None:
                if not text[at:].strip():
                    return len(text)
                if text[at:].lstrip().startswith(";"):
                    return text.index(";", at)
                self.refuse(line, f"not an arrow: {text[at : at + 30].strip()!r}")
            after, at = self.group(text, arrow.end(), line)
            self.connect(before, after, arrow, line)
            before = after
        return at

    def connect(self, before: list[str], after: list[str], arrow: re.Match[str], line: int) -> None:
        if arrow["line"].startswith("~~~"):
            return
        if arrow["label"]:
            self.leave_out("edge label", line)
        if arrow.groupdict()["h1"] == "-" or arrow["h2"] == "=" or arrow["h3"] == "":
            self.leave_out("missing arrowhead (read as pointing forward)", line)
        self.edge_count += len(before) * len(after)
        if self.edge_count > limits.EDGES:
            self.refuse(line, f"more than {limits.EDGES:,} edges")
        for source in before:
            for target in after:
                self.nodes[target]["deps"].setdefault(source)
                if arrow["back"]:
                    self.nodes[source]["deps"].setdefault(target)

    def group(self, text: str, at: int, line: int) -> tuple[list[str], int]:
        names = []
        while True:
            name, at = self.one(text, at, line)
            names.append(name)
            joint = re.compile(r"\s*&").match(text, at)
            if joint is None:
                return names, at
            at = joint.end()

    def one(self, text: str, at: int, line: int) -> tuple[str, int]:
        """One node: id, shape with its label, class."""
        while at < len(text) and text[at].isspace():
            at += 1
        match = _ID.match(text, at)
        if match is None:
            self.refuse(line, f"a node was expected here: {text[at : at + 30]!r}")
        node, at = self.node(match.group(), line), match.end()
        label, at = self.shape(text, at, line)
        if label is not None:
            node["title"] = label
        while (mark := re.compile(r":::([\w-]+)").match(text, at)) is not None:
            at = mark.end()
            if mark.group(1).lower() == "critical":
                node["critical"] = True
        return match.group(), at

    def shape(self, text: str, at: int, line: int) -> tuple[str | None, int]:
        """The label in the brackets at `at`, if there are any, and where they end."""
        if attributes := _ATTRIBUTES.match(text, at):
            label = _LABEL.search(attributes["body"])
            return (_clean(label.group(1)) if label else None), attributes.end()
        for opening, closings in _SHAPES:
            if text.startswith(opening, at):
                return self.label(text, at + len(opening), closings, line)
        return None, at

    def label(self, text: str, at: int, closings: tuple[str, ...], line: int) -> tuple[str, int]:
        start = at + len(text[at:]) - len(text[at:].lstrip())
        quoted = text.startswith('"', start)
        end = text.find('"', start + 1) if quoted else start
        if end < 0:
            self.refuse(line, "a quoted label is not closed on its line")
        closed = [(text.find(closing, end), closing) for closing in closings]
        found = min((pair for pair in closed if pair[0] >= 0), default=None)
        if found is None:
            self.refuse(line, f"the brackets of a label are not closed: {text[at : at + 30]!r}")
        label = text[start + 1 : end] if quoted else text[start : found[0]]
        return _clean(label), found[0] + len(found[1])

    def node(self, written: str, line: int) -> dict[str, Any]:
        if written not in self.nodes:
            if len(self.nodes) >= limits.SUB_GOALS:
                self.refuse(line, f"more than {limits.SUB_GOALS:,} nodes")
            self.lines["sub_goals", len(self.nodes)] = line
            self.nodes[written] = {"id": written, "deps": {}}
        return self.nodes[written]

    def leave_out(self, what: str, line: int) -> None:
        if what not in ("end", "direction"):
            self.left_out.setdefault(what, line)

    def document(self, graph_id: str, title: str) -> Document:
        def real(written: str) -> str:
            return self.real_ids.get(written, written)

        nodes = [
            {**node, "id": real(written), "deps": [real(dep) for dep in node["deps"]]}
            for written, node in self.nodes.items()
        ]
        for node in nodes:
            if node.get("title") == node["id"]:
                del node["title"]
        about = {"id": graph_id, "title": title, **self.about}
        return Document({**about, "sub_goals": nodes}, self.name, self.lines)

    def findings(self) -> list[Finding]:
        return [
            Finding(
                code="plan-mermaid-ignored",
                message=f"a plan graph has no place for this, first seen here: {what}",
                where=Where(file=self.name, line=line),
                severity="note",
            )
            for what, line in self.left_out.items()
        ]


def _clean(label: str) -> str:
    """A label's text: line breaks as spaces, entities decoded, Markdown's backticks taken off."""
    text = _BREAK.sub(" ", label.strip())
    if len(text) > 1 and text[0] == text[-1] == "`":
        text = text[1:-1]
    return _ENTITY.sub(_decoded, text)


def _decoded(match: re.Match[str]) -> str:
    if match.group(2):
        return _NAMED[match.group(2)]
    code = int(match.group(1))
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match.group()
