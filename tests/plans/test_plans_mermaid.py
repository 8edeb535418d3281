"""Flowcharts in, flowcharts out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from builders import a_graph

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans import export_graph, parse_graph, read_graph


def edges_of(text: str) -> list[tuple[str, list[str]]]:
    return [(node.id, node.deps) for node in parse_graph(text, name="g.mmd").sub_goals]


ARROWS = [
    ("A --> B", [("A", []), ("B", ["A"])]),
    ("A-->B", [("A", []), ("B", ["A"])]),
    ("A ----> B", [("A", []), ("B", ["A"])]),
    ("A -.-> B", [("A", []), ("B", ["A"])]),
    ("A ==> B", [("A", []), ("B", ["A"])]),
    ("A --x B", [("A", []), ("B", ["A"])]),
    ("A --o B", [("A", []), ("B", ["A"])]),
    ("A --- B", [("A", []), ("B", ["A"])]),
    ("A e1@--> B", [("A", []), ("B", ["A"])]),
    ("A ~~~ B", [("A", []), ("B", [])]),
    ("A -->|yes| B", [("A", []), ("B", ["A"])]),
    ("A -->||B", [("A", []), ("B", ["A"])]),
    ("A --> |y|B", [("A", []), ("B", ["A"])]),
    ("A -- yes, of course --> B", [("A", []), ("B", ["A"])]),
    ("A == yes ==> B", [("A", []), ("B", ["A"])]),
    ("A -. yes .-> B", [("A", []), ("B", ["A"])]),
    ("A --> B --> C", [("A", []), ("B", ["A"]), ("C", ["B"])]),
    ("A & B --> C", [("A", []), ("B", []), ("C", ["A", "B"])]),
    ("A --> B & C --> D", [("A", []), ("B", ["A"]), ("C", ["A"]), ("D", ["B", "C"])]),
    ("A --> B; B --> C;", [("A", []), ("B", ["A"]), ("C", ["B"])]),
    ("A --> B\nA --> B", [("A", []), ("B", ["A"])]),
    ("my-step.1 --> größe_2", [("my-step.1", []), ("größe_2", ["my-step.1"])]),
    ("endpoint --> classy", [("endpoint", []), ("classy", ["endpoint"])]),
]


@pytest.mark.parametrize(("text", "want"), ARROWS)
def test_arrow(text: str, want: Any) -> None:
    assert edges_of(f"flowchart LR\n{text}") == want


SHAPES = [
    "[Look up]", '["Look up"]', "(Look up)", "([Look up])", "[[Look up]]", "[(Look up)]", "((Look up))",
    "(((Look up)))", ">Look up]", "{Look up}", "{{Look up}}", "[/Look up/]", "[\\Look up\\]", "[/Look up\\]",
    "[\\Look up/]", '("Look up")', '["`Look up`"]', '[ "Look up" ]', "[Look<br/>up]",
    '@{ shape: rect, label: "Look up" }'
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_label_of_shape(shape: str) -> None:
    (node,) = parse_graph(f"graph TD\nA{shape}:::critical", name="g.mmd").sub_goals
    assert (node.id, node.title, node.critical) == ("A", "Look up", True)


LABELS = [
    ('"a ] ) } b"', "a ] ) } b"),
    ('"say #quot;hi#quot;"', 'say "hi"'),
    ('"#35;1 #9829;"', "#1 ♥"),
    ('"#57343; #57344;"', "#57343; \ue000"),  # half of a pair is no character
    ('"`"', "`"),
    ('"#1114111; #1114112;"', "\U0010ffff #1114112;"),
    ('"x #55296; y"', "x #55296; y"),
    ('"#9999999;"', "#9999999;"),
    ('"A --> B"', "A --> B"),
    ('"x; y"', "x; y"),
]


@pytest.mark.parametrize(("written", "want"), LABELS)
def test_quoted_label(written: str, want: str) -> None:
    text = f"flowchart TD\nA[{written}] --> B"
    assert parse_graph(text, name="g.mmd").sub_goals[0].title == want


def test_critical_is_a_class_in_either_form() -> None:
    text = "flowchart TD\nA:::critical --> B\nclass B,C critical\nC --> D:::other"
    graph = parse_graph(text, name="g.mmd")
    assert [node.id for node in graph.sub_goals if node.critical] == ["A", "B", "C"]


def test_what_has_no_place_is_left_out_and_named() -> None:
    text = """---
title: Refund desk
---
%%{init: {"theme": "dark"}}%%
flowchart TD
    %% a comment --> not an edge
    subgraph one [First part]
      direction LR
      A -->|label| B
    end
    classDef critical fill:#f9f;
    style A fill:#f9f,stroke:#333
    linkStyle 0 stroke:#ff3
    click A "https://example.org" "tip"
    B --- C
"""
    graph, findings = read_graph(text, name="g.mmd")
    assert graph.title == "Refund desk"
    assert [node.id for node in graph.sub_goals] == ["A", "B", "C"]
    ignored = {f.where.line: f.message for f in findings if f.code == "plan-mermaid-ignored"}
    assert sorted(ignored) == [7, 9, 14, 15]
    assert "subgraphs" in ignored[7]


REFUSED = [
    ("no header", "A --> B", 1),
    ("another diagram", "sequenceDiagram\nA->>B: hi", 1),
    ("empty", "", 0),
    ("label not closed", "flowchart TD\nA[oh --> B", 2),
    ("quote not closed", 'flowchart TD\n\nA["oh] --> B', 3),
    ("edge label not closed", "flowchart TD\nA -->|oh B", 2),
    ("arrow to nothing", "flowchart TD\nA -->", 2),
    ("arrow from nothing", "flowchart TD\n--> B", 2),
    ("class of no node", "flowchart TD\nA\nclass <b>,A critical", 3),
    ("half an arrow", "flowchart TD\nA - B", 2),
    ("a comment of ours that is broken", "flowchart TD\n%% untaken graph {oops\nA", 2),
]


@pytest.mark.parametrize(("desc", "text", "line"), REFUSED)
def test_flowchart_is_refused_with_its_line(desc: str, text: Any, line: Any) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(text, name="g.mmd", format="mermaid")
    assert (caught.value.code, caught.value.where.line) == ("plan-mermaid", line)


HOSTILE = [
    '"] --> X; click A "javascript:alert(1)"', "%%{init: {'securityLevel': 'loose'}}%%",
    "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "`** markdown **`",
    "line\nbreak\r\nand\u2028separator", "#quot; &amp; #35;", "a  double  space ", " ", "subgraph x\nend",
    "end", "𝒳 astral 漢字 é", "\x00\x1b[31m",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_exported_harmlessly_and_comes_back(text: str) -> None:
    graph = a_graph(
        {"id": text, "title": text, "critical": True}, {"id": "graph", "deps": [text]}, title=text
    )
    written = export_graph(graph, "mermaid")
    back = parse_graph(written, name="g.mmd")
    assert [(n.id, n.title or n.id, n.critical, n.deps) for n in back.sub_goals] == [
        (n.id, n.title or n.id, n.critical, n.deps) for n in graph.sub_goals
    ]
    assert (back.id, back.version, back.title) == (graph.id, graph.version, graph.title)
    for line in written.splitlines():
        assert re.fullmatch(
            r"flowchart TD|  %% untaken (graph|id \w+) [^{}%<>]*|  classDef critical stroke-width:4px"
            r'|  \w+ --> \w+|  \w+(\["[^"<>&%`{}\[\]]*"\])?(:::critical)?',
            line,
        ), line


def test_export_reads_well() -> None:
    graph = a_graph("intent", {"id": "order", "title": "Look up order", "deps": ["intent"], "critical": True})
    assert export_graph(graph, "mermaid") == (
        'flowchart TD\n  %% untaken graph "g" 1 ""\n  intent\n  order["Look up order"]:::critical\n'
        "  intent --> order\n  classDef critical stroke-width:4px\n"
    )


def test_a_fault_in_a_block_of_a_markdown_file_names_the_line_of_the_file() -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph("# Plan\n\n```mermaid\nflowchart TD\na ??? b\n```\n", name="g.mmd")
    assert caught.value.where.line == 5


@pytest.mark.parametrize("piece", ["A --> ", "A & ", "A[x] -- y", "A[", "A -->|", "-", "`", '"', "("])
def test_a_huge_hostile_line_is_refused_without_delay(piece: str) -> None:
    text = "flowchart TD\n" + piece * (limits.GRAPH_FILE_BYTES // len(piece) - 10)
    with pytest.raises(UntakenError):
        parse_graph(text, name="g.mmd")


@pytest.mark.parametrize(
    ("desc", "body", "want"),
    [
        ("one node again and again", ("a;" * 50_000 + "\n") * 5, "places"),
        ("arrows that never end", "a -" + "." * 100_000, "an arrow was expected"),
    ],
)
def test_a_hostile_flowchart_is_refused_with_its_line(desc: str, body: str, want: str) -> None:
    with pytest.raises(UntakenError, match=want) as caught:
        parse_graph(f"flowchart TD\n{body}", name="hostile.mmd")
    assert caught.value.code == "plan-mermaid", desc
    assert caught.value.where.line
