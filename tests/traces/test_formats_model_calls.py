"""Which spans are the calls of a model and what they spent: the same claims about every format of spans."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from foreign_files import codes, converted
from one_trace import FORMATS, PRICED, USER, Node, put_trace

from untaken.ledger import Message, Observation, ToolCall

MORE = (USER, {"role": "assistant", "content": "I look."}, {"role": "user", "content": "And?"})
AGENT = Node(id="a", kind="agent", name="clerk")
ONE = Node(id="m1", parent="a", at=(1, 2), asked=(USER,), gave="I look.", tokens=(10, 2), cost=0.25)
TWO = Node(id="m2", parent="a", at=(5, 6), asked=MORE, gave="Done.", tokens=(20, 3), cost=0.5)
SAID = {"user": 2, "assistant": 2}


def of(node: Node, **changed: Any) -> Node:
    return Node(**{**{name: getattr(node, name) for name in node.__dataclass_fields__}, **changed})


class Case(NamedTuple):
    desc: str
    nodes: list[Node]
    tokens: tuple[int, int] | None
    steps: int
    cost: float | None = 0.75
    messages: dict[str, int] = SAID
    findings: tuple[str, ...] = ()
    formats: tuple[str, ...] = tuple(FORMATS)


FRAME = Node(id="f", parent="a", at=(0.5, 8), name="chat agent", tokens=(30, 5), cost=0.75)
LATER = {"id": "i", "at": (1.1, 1.9), "maker": "other"}
CASES = [
    Case("two calls", [AGENT, ONE, TWO], (30, 5), 2),
    Case("an agent repeats their usage", [of(AGENT, tokens=(30, 5), cost=0.75), ONE, TWO], (30, 5), 2),
    Case("a frame of a model around both, without what was said",
         [AGENT, FRAME, of(ONE, parent="f"), of(TWO, parent="f")], (30, 5), 2),
    Case("a frame that repeats what was said",
         [AGENT, of(FRAME, asked=(USER,), gave="Done."), of(ONE, parent="f"), of(TWO, parent="f")], (30, 5),
         2),
    Case("frames in frames, with plain spans between",
         [AGENT, of(FRAME, asked=(USER,), gave="Done."),
          Node(id="retry", parent="f", kind="plain", at=(0.6, 7.9)),
          Node(id="f2", parent="retry", at=(0.7, 7), asked=(USER,), gave="Done.", tokens=(30, 5), cost=0.75),
          Node(id="http", parent="f2", kind="plain", at=(0.8, 6.9)), of(ONE, parent="http"),
          of(TWO, parent="http")], (30, 5), 2),
    Case("the usage is on a plain span above the call",
         [AGENT, Node(id="p", parent="a", kind="plain", tokens=(10, 2), at=(1, 2)),
          of(ONE, parent="p", tokens=None)], (10, 2), 1, 0.25, {"user": 1, "assistant": 1}),
    Case("the usage is on a sub-agent's span alone",
         [AGENT, ONE, Node(id="sub", parent="a", kind="agent", at=(4, 8), tokens=(20, 3), cost=0.5),
          of(TWO, parent="sub", tokens=None, cost=None)], (30, 5), 2),
    Case("a sub-agent without spans of its models",
         [AGENT, ONE, Node(id="sub", parent="a", kind="agent", at=(4, 8), tokens=(20, 3), cost=0.5)], (30, 5),
         1, 0.75, {"user": 1, "assistant": 1}),
    Case("only the root has a usage",
         [of(AGENT, tokens=(30, 5), cost=0.75), *(of(each, tokens=None, cost=None) for each in (ONE, TWO))],
         (30, 5), 2),
    Case("the inner span has the usage, the outer what was said",
         [AGENT, of(ONE, tokens=None, cost=None),
          Node(id="i", parent="m1", at=(1.1, 1.9), tokens=(10, 2), cost=0.25)], (10, 2), 1, 0.25,
         {"user": 1, "assistant": 1}),
    Case("no span has what was said",
         [AGENT, of(FRAME, parent="a"), *(of(each, parent="f", asked=(), gave="") for each in (ONE, TWO))],
         (30, 5), 2, messages={}),
    Case("two instrumentations, one inside of the other",
         [AGENT, ONE, of(ONE, id="i", parent="m1", at=(1.1, 1.9), maker="other")], (10, 2), 1, 0.25,
         {"user": 1, "assistant": 1}),
    Case("two instrumentations, beside each other",
         [AGENT, ONE, of(ONE, **LATER)], (10, 2), 1, 0.25,
         {"user": 1, "assistant": 1}, formats=tuple(name for name in FORMATS if name != "openai-agents")),
    Case("the same call twice at the same time is two calls", [AGENT, ONE, of(ONE, id="i", at=(1.1, 1.9))],
         (20, 4), 2, 0.5, {"user": 1, "assistant": 2}),
    Case("another instrumentation at the same time with another answer is another call",
         [AGENT, ONE, of(ONE, **LATER, gave="I wait.")], (20, 4), 2, 0.5,
         {"user": 1, "assistant": 2}),
    *(Case(f"two instrumentations that keep no words, {desc}",
           [AGENT, of(ONE, asked=(), gave="", tokens=first),
            of(ONE, asked=(), gave="", tokens=tokens, **LATER)],
           spent, steps, steps * 0.25, {}, formats=("otel",))
      for desc, first, tokens, spent, steps in (("with the same figures", (10, 2), (10, 2), (10, 2), 1),
                                                ("with other figures", (10, 2), (10, 3), (20, 5), 2),
                                                ("with one figure", (10, 0), (10, 0), (20, 0), 2))),
    Case("a model called inside of a tool is a call of its own",
         [AGENT, ONE, Node(id="t", parent="a", kind="tool", name="help", at=(3, 8)), of(TWO, parent="t")],
         (30, 5), 2),
    Case("a tool hangs below the model that called it, and calls another",
         [AGENT, ONE, Node(id="t", parent="m1", kind="tool", name="help", at=(3, 8)), of(TWO, parent="t")],
         (30, 5), 2),
    Case("a call that failed has no price, and costs nothing",
         [AGENT, ONE, Node(id="x", parent="a", at=(3, 4), asked=(USER,), error="overloaded"), TWO], (30, 5),
         3),
    Case("one of two has a price", [AGENT, ONE, of(TWO, cost=None)], (30, 5), 2, None,
         findings=("partly-recorded",), formats=PRICED),
    Case("one of two has a price, and the root a total", [of(AGENT, cost=0.75), ONE, of(TWO, cost=None)],
         (30, 5), 2, 0.75, findings=("partly-recorded",), formats=PRICED),
    Case("the root's total is twice the sum of its parts", [of(AGENT, tokens=(60, 10), cost=1.5), ONE, TWO],
         (30, 5), 2, findings=("total-contradicts-parts",), formats=("otel", "langsmith")),
]  # fmt: skip


RECORDED = [
    pytest.param(f, case, id=f"{f}: {case.desc}") for case in CASES for f in FORMATS if f in case.formats
]


@pytest.mark.parametrize(("format", "case"), RECORDED)
def test_every_format_counts_the_calls_of_a_model_once(tmp_path: Path, format: str, case: Case) -> None:
    done, (run,) = converted(format, tmp_path / "out", put_trace(tmp_path / "in", format, case.nodes))
    metrics = run.finished.metrics or {}
    assert (metrics.get("input_tokens"), metrics.get("output_tokens")) == (case.tokens or (None, None))
    assert run.finished.steps == case.steps
    assert run.finished.cost == (pytest.approx(case.cost) if format in PRICED and case.cost else None)
    assert dict(Counter(said.role for said in run.of(Message))) == case.messages
    assert {code for code in codes(done) if code in ("partly-recorded", "total-contradicts-parts")} == set(
        case.findings
    )


@pytest.mark.parametrize("format", FORMATS)
def test_a_span_that_comes_twice_is_read_once_in_its_complete_form(tmp_path: Path, format: str) -> None:
    tool = Node(id="t", parent="a", kind="tool", name="look", at=(3, 4))
    begun = of(ONE, gave="", tokens=None, cost=None)
    nodes = [AGENT, begun, ONE, tool, tool, AGENT, ONE]
    done, (run,) = converted(format, tmp_path / "out", put_trace(tmp_path / "in", format, nodes))
    metrics = run.finished.metrics or {}
    assert (metrics["input_tokens"], metrics["output_tokens"], run.finished.steps) == (10, 2, 1)
    assert Counter(said.role for said in run.of(Message)) == {"user": 1, "assistant": 1}
    assert [call.tool for call in run.of(ToolCall)] == ["look"]
    (finding,) = (each for each in done.findings if each.code == "repeated-record")
    assert finding.message.startswith("4 ")


@pytest.mark.parametrize("format", FORMATS)
def test_a_trace_in_two_files_is_one_run(tmp_path: Path, format: str) -> None:
    first = put_trace(tmp_path / "in", format, [AGENT, ONE], "1.jsonl")
    second = put_trace(tmp_path / "in", format, [ONE, TWO], "2.jsonl")
    done, (run,) = converted(format, tmp_path / "out", first, second)
    metrics = run.finished.metrics or {}
    assert (metrics["input_tokens"], metrics["output_tokens"], run.finished.steps) == (30, 5, 2)
    assert Counter(said.role for said in run.of(Message)) == SAID
    assert [loss.runs for loss in done.losses] == [1, 1]
    assert "duplicate-run" not in codes(done)


@pytest.mark.parametrize("format", FORMATS)
def test_without_spans_of_tools_the_messages_name_the_calls(tmp_path: Path, format: str) -> None:
    asks = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"day": 1}'}}
    seen = {"role": "tool", "tool_call_id": "c1", "content": "monday"}
    asked = (USER, {"role": "assistant", "content": None, "tool_calls": [asks]}, seen)
    nodes = [AGENT, of(ONE, gave=""), of(TWO, asked=asked)]
    _, (run,) = converted(format, tmp_path / "out", put_trace(tmp_path / "in", format, nodes))
    assert [(call.tool, call.arguments) for call in run.of(ToolCall)] == [("look", {"day": 1})]
    assert [(answer.content, answer.ok) for answer in run.of(Observation)] == [("monday", None)]
    assert [said.content for said in run.of(Message)] == ["Go.", "Done."]


@pytest.mark.parametrize("error", [None, "no desk"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_failed_tool_is_no_error_of_the_run_and_a_failed_root_is(tmp_path, format, error) -> None:
    nodes = [of(AGENT, error=error), Node(id="t", parent="a", kind="tool", name="look", error="closed")]
    _, (run,) = converted(format, tmp_path / "out", put_trace(tmp_path / "in", format, nodes))
    assert [(answer.content, answer.ok) for answer in run.of(Observation)] == [("closed", False)]
    assert (run.finished.error, run.finished.success) == (error, None)


@pytest.mark.parametrize(
    ("name", "values", "steps"),
    [
        ("request.model", ("gpt-4o", "claude-x"), 2),
        ("request.model", ("gpt-4o", "openai/gpt-4o-2024-08-06"), 1),
        ("response.id", ("r1", "r2"), 2),
        ("response.id", ("r1", "r1"), 1),
    ],
)
def test_the_same_answer_of_two_models_or_under_two_ids_is_two_calls(name, values, steps, tmp_path) -> None:
    file = put_trace(tmp_path, "otel", [AGENT, ONE, of(ONE, **LATER)])
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line, value in zip(lines[1:], values, strict=True):
        line["attributes"][f"gen_ai.{name}"] = value
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    _, (run,) = converted("otel", tmp_path / "out", file)
    assert run.finished.steps == steps


def test_prompts_are_kept_where_only_the_trace_or_its_arguments_have_them(tmp_path: Path) -> None:
    silent = of(ONE, asked=(), gave="")
    shapes = {
        "langfuse": ('"input": null', '"input": {"args": ["What?"], "kwargs": {}}', '"output": "So."'),
        "mlflow": (
            '"mlflow.spanType": "\\"AGENT\\""',
            '"mlflow.spanType": "\\"AGENT\\"", "mlflow.spanInputs": "{\\"args\\": [\\"What?\\"]}"',
            '"mlflow.spanOutputs": "\\"So.\\""',
        ),
    }
    for format, (was, now, output) in shapes.items():
        file = put_trace(tmp_path / format, format, [AGENT, silent])
        text = file.read_text(encoding="utf-8")
        assert was in text
        given = now + (f", {output}" if format == "mlflow" else "")
        text = text.replace(was, given, 1)
        if format == "langfuse":
            text = text.replace('"output": null', output, 1)
        file.write_text(text, encoding="utf-8")
        _, (run,) = converted(format, tmp_path / "out" / format, file)
        assert [(m.role, m.content) for m in run.of(Message)] == [("user", "What?"), ("assistant", "So.")]


def test_who_speaks_under_the_name_of_a_tool_answers_its_call(tmp_path: Path) -> None:
    called = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    defined = {"type": "function", "function": {"name": "look", "description": "Looks."}}
    asked = (
        USER,
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "look", "content": "monday"},
        {"role": "tool", "content": defined},
    )
    for format in FORMATS:
        node = of(ONE, asked=asked, gave="It is monday.")
        _, (run,) = converted(
            format, tmp_path / "out" / format, put_trace(tmp_path / format, format, [AGENT, node])
        )
        assert [(call.tool, call.call_id) for call in run.of(ToolCall)] == [("look", "c1")], format
        assert [(seen.content, seen.call_id) for seen in run.of(Observation)] == [("monday", "c1")], format
        assert [said.role for said in run.of(Message)] == ["user", "assistant"], format


def test_a_tool_is_known_by_its_name_or_by_the_message_that_it_gave(tmp_path: Path) -> None:
    gave = {"type": "tool", "name": "look", "tool_call_id": "c1", "content": "monday", "status": "error"}
    marks: list[dict[str, Any]] = [
        {"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1", "tool.status": "error"},
        {"openinference.span.kind": "CHAIN", "tool.name": "look", "tool.id": "c1", "tool.status": "error"},
        {"openinference.span.kind": "CHAIN", "output.value": json.dumps(gave)},
        {"traceloop.span.kind": "task", "traceloop.entity.output": json.dumps(gave)},
    ]
    for number, about in enumerate(marks):
        tool = Node(id="t", parent="a", kind="plain", name="look", at=(3, 4))
        file = put_trace(tmp_path / str(number), "otel", [AGENT, ONE, tool])
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        lines[2]["attributes"], lines[2]["status"] = about, {}
        file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        _, (run,) = converted("otel", tmp_path / "out" / str(number), file)
        assert [(call.tool, call.call_id) for call in run.of(ToolCall)] == [("look", "c1")]
        assert [seen.ok for seen in run.of(Observation)] == [False]
