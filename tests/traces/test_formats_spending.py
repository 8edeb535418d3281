"""What a run spent: one meaning of tokens, one rule for parts and totals; graders are apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from foreign_files import converted, put
from one_trace import FORMATS, USER, Node, langfuse, mlflow, otel, put_trace
from reading import Case, case, each

from untaken.ledger import Message, Run
from untaken.traces.losses import Findings
from untaken.traces.spending import Amounts, spend, usage

OPENAI = {"prompt_tokens": 1000, "completion_tokens": 60, "total_tokens": 1060}
READINGS: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    ("OpenAI: parts are inside",
     {**OPENAI, "prompt_tokens_details": {"cached_tokens": 900},
      "completion_tokens_details": {"reasoning_tokens": 50}},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "reasoning_tokens": 50}),
    ("Responses: parts are inside",
     {"input_tokens": 1000, "output_tokens": 60, "input_tokens_details": {"cached_tokens": 900}},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900}),
    ("Anthropic: cached tokens are beside",
     {"input_tokens": 10, "output_tokens": 60, "cache_read_input_tokens": 900,
      "cache_creation_input_tokens": 90},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "cache_creation_tokens": 90}),
    ("Bedrock: cached tokens are beside",
     {"inputTokens": 10, "outputTokens": 60, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 90},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "cache_creation_tokens": 90}),
    ("Gemini: cached tokens are inside, thoughts beside",
     {"promptTokenCount": 1000, "candidatesTokenCount": 10, "thoughtsTokenCount": 50,
      "cachedContentTokenCount": 900, "totalTokenCount": 1060},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "reasoning_tokens": 50}),
    ("LangChain: parts are inside",
     {"input_tokens": 1000, "output_tokens": 60, "input_token_details": {"cache_read": 900},
      "output_token_details": {"reasoning": 50}},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "reasoning_tokens": 50}),
    ("LiteLLM: the names of Anthropic, counted as OpenAI does",
     {**OPENAI, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "cache_creation_tokens": 50}),
    ("the total says that parts are beside",
     {"input_tokens": 100, "output_tokens": 60, "cached_tokens": 900, "total_tokens": 1060},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900}),
    ("the total says that parts are inside",
     {"input_tokens": 1000, "output_tokens": 60, "cache_read_input_tokens": 900, "total_tokens": 1060},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900}),
    ("a part greater than its whole is beside it",
     {"input_tokens": 100, "output_tokens": 60, "cached_tokens": 900},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900}),
    ("nothing but a total says nothing of its parts", {"total_tokens": 9}, {}),
    ("-1 is unknown", {"input_tokens": -1, "output_tokens": 60}, {"output_tokens": 60}),
    ("nothing is nothing", {"input_tokens": None, "output_tokens": {}}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "counts", "want"), READINGS, ids=[case[0] for case in READINGS])
def test_tokens_mean_one_thing_whoever_counted_them(desc, counts, want) -> None:
    assert usage(counts, Findings(None)) == want


class Sum(NamedTuple):
    desc: str
    parts: list[Amounts]
    total: Amounts
    tokens: dict[str, float]
    cost: float | None
    finding: str = ""
    apart: tuple[Amounts, ...] = ()


def paid(tokens: float, cost: float | None = None) -> Amounts:
    used = {"input_tokens": tokens, "output_tokens": 1}
    return used if cost is None else {**used, "cost": cost}


IN = "input_tokens"
SUMS = [
    Sum("parts alone", [paid(5, 0.1), paid(7, 0.2)], {}, {IN: 12}, 0.3),
    Sum("a total alone", [], paid(12, 0.3), {IN: 12}, 0.3),
    Sum("nothing", [], {}, {}, None),
    Sum("a total that agrees", [paid(5, 0.1), paid(7, 0.2)], {IN: 12, "cost": 0.3}, {IN: 12}, 0.3),
    Sum("a rounded total agrees", [paid(5, 0.1234), paid(7, 0.2)], {"cost": 0.3233}, {IN: 12}, 0.3234),
    Sum("a total twice the sum", [paid(5), paid(7)], {IN: 24}, {IN: 12}, None, "total-contradicts-parts"),
    Sum("a cost twice the sum", [paid(5, 0.1)], {"cost": 0.2}, {IN: 5}, 0.1, "total-contradicts-parts"),
    Sum("one part without a price", [paid(5, 0.1), paid(7)], {}, {IN: 12}, None, "partly-recorded"),
    Sum("one part without a price, and a total", [paid(5, 0.1), paid(7)], {"cost": 0.3}, {IN: 12}, 0.3,
        "partly-recorded"),
    Sum("one part without a price, and a total below the others", [paid(5, 0.1), paid(7)], {"cost": 0.05},
        {IN: 12}, None, "partly-recorded"),
    Sum("a price of 0 is none", [paid(5, 0.1), paid(7, 0)], {}, {IN: 12}, None, "partly-recorded"),
    Sum("no tokens cost 0", [paid(5, 0.1), {IN: 0, "output_tokens": 0, "cost": 0}], {}, {IN: 5}, 0.1),
    Sum("no price at all is the recorded 0", [paid(5, 0), paid(7, 0)], {}, {IN: 12}, 0),
    Sum("one part without tokens", [paid(5), {"cost": 0.1}], {}, {IN: 5}, None, "partly-recorded"),
    Sum("one part without tokens, and a total", [paid(5, 0.1), {"cost": 0.1}], {IN: 12, "output_tokens": 2},
        {IN: 12}, 0.2, "partly-recorded"),
    Sum("a total with what graders spent agrees", [paid(5, 0.1)], paid(105, 5.1), {IN: 5}, 0.1, "",
        (paid(100, 5),)),
    Sum("cached tokens are summed beside", [{IN: 9, "cached_tokens": 4}, {IN: 1}], {}, {IN: 10}, None),
]  # fmt: skip


@pytest.mark.parametrize("case", SUMS, ids=[case.desc for case in SUMS])
def test_parts_are_added_up_and_totals_fill_in(case: Sum) -> None:
    findings = Findings(None)
    spent = spend(case.parts, case.total, run="r", findings=findings, apart=case.apart)
    assert {IN: spent.tokens[IN]} == case.tokens if case.tokens else IN not in spent.tokens
    assert spent.cost == (None if case.cost is None else pytest.approx(case.cost))
    if case.finding != "total-contradicts-parts" or case.cost is not None:
        assert {finding.code for finding in findings.all()} <= {case.finding}
    assert not case.finding or case.finding in findings


JUDGED = {"role": "user", "content": "Is it good?"}
JUDGE = {"at": (4, 5), "asked": (JUDGED,), "gave": "Yes.", "tokens": (500, 9), "cost": 5.0}
TRACE = [
    Node(id="a", kind="agent", name="clerk"),
    Node(id="m", parent="a", at=(1, 2), asked=(USER,), gave="Done.", tokens=(5, 1), cost=0.1),
    Node(id="g", parent="a", kind="plain", name="judge", at=(3, 8)),
    Node(id="j", parent="g", **JUDGE),
]


def otel_judge() -> str:
    lines = [json.loads(each) for each in otel(TRACE).splitlines()]
    lines[2]["attributes"]["openinference.span.kind"] = "EVALUATOR"
    return "\n".join(map(json.dumps, lines))


def langfuse_judge() -> str:
    observed = json.loads(langfuse(TRACE))
    observed[2]["type"] = "EVALUATOR"
    return json.dumps(observed)


def mlflow_judge() -> str:
    document = json.loads(mlflow(TRACE))
    document["data"]["spans"][2]["attributes"]["mlflow.spanType"] = '"EVALUATOR"'
    return json.dumps(document)


def otel_result() -> str:
    """A plain span with the result of the evaluation, and no kind that says so."""
    lines = [json.loads(each) for each in otel(TRACE).splitlines()]
    about = {"gen_ai.evaluation.name": "quality", "gen_ai.evaluation.score.value": 0.5}
    lines[2]["events"] = [{"name": "gen_ai.evaluation.result", "attributes": about}]
    return "\n".join(map(json.dumps, lines))


FILES = {"otel": otel_judge, "langfuse": langfuse_judge, "mlflow": mlflow_judge}


def spent(run: Run) -> tuple[Any, ...]:
    metrics = run.finished.metrics or {}
    return metrics.get("input_tokens"), metrics.get("output_tokens"), run.finished.steps, run.finished.cost


@pytest.mark.parametrize("format", FILES)
def test_what_a_grader_did_is_apart(tmp_path: Path, format: str) -> None:
    _, (run,) = converted(format, tmp_path / "out", put(tmp_path / "in" / "t.jsonl", FILES[format]()))
    assert spent(run) == (5, 1, 1, 0.1)
    assert [said.content for said in run.of(Message)] == ["Go.", "Done."]
    metrics = run.finished.metrics or {}
    names = ("grader_input_tokens", "grader_output_tokens", "grader_cost", "grader_steps")
    assert [metrics[name] for name in names] == [500, 9, 5, 1]


def test_a_span_that_has_the_result_of_an_evaluation_is_a_grader(tmp_path: Path) -> None:
    _, (run,) = converted("otel", tmp_path / "out", put(tmp_path / "in" / "t.jsonl", otel_result()))
    assert spent(run) == (5, 1, 1, 0.1)
    assert (run.finished.metrics or {})["evaluation:quality"] == 0.5


PLAYERS = ("user_simulator", "UserSimulatorAgent", "user_sim", "ActorSimulator", "Simulated Customer")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", PLAYERS)
def test_what_a_simulated_user_did_is_apart(tmp_path: Path, format: str, name: str) -> None:
    player = Node(id="g", parent="a", kind="agent", name=name, at=(3, 8))
    file = put_trace(tmp_path / "in", format, [*TRACE[:2], player, TRACE[3]])
    _, (run,) = converted(format, tmp_path / "out", file)
    assert spent(run)[:3] == (5, 1, 1)
    assert [said.content for said in run.of(Message)] == ["Go.", "Done."]
    assert (run.finished.metrics or {})["user_input_tokens"] == 500


def test_a_trace_of_a_grader_alone_is_read_as_it_is(tmp_path: Path) -> None:
    lines = [json.loads(each) for each in otel(TRACE[2:]).splitlines()]
    lines[0]["attributes"]["openinference.span.kind"] = "EVALUATOR"
    lines[0]["parent_id"] = None
    file = put(tmp_path / "in" / "t.jsonl", "\n".join(map(json.dumps, lines)))
    _, (run,) = converted("otel", tmp_path / "out", file)
    assert spent(run) == (500, 9, 1, 5)


def model(span: str | None = None, tokens: int = 5, **more: Any) -> dict[str, Any]:
    counts = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
    return {"event": "model", "model": "openai/m", "output": {"usage": counts}, "span_id": span, **more}


def begun(name: str, kind: str, parent: str | None = None) -> dict[str, Any]:
    return {"event": "span_begin", "id": name, "type": kind, "name": kind, "parent_id": parent}


TOOL = {"event": "tool", "id": "c9", "function": "score", "arguments": {}, "result": "x"}
MARKS = {
    "a span of a scorer": [
        *(begun("s", "solver"), model("s"), begun("all", "scorers"), begun("one", "scorer", "all")),
        *(begun("in", "model", "one"), model("in", 500), {**TOOL, "span_id": "one"}),
    ],
    "a step of a scorer, as older versions write it": [
        *(model(), {"event": "step", "action": "begin", "type": "scorer", "name": "graded"}),
        *(model(tokens=500), TOOL, {"event": "step", "action": "end", "type": "scorer", "name": "graded"}),
    ],
    "a model with the role of a grader": [model(), model(tokens=500, role="grader")],
}


BOTH = {"openai/m": {"input_tokens": 505, "output_tokens": 2, "total_tokens": 507}}
GRADER = {"input_tokens": 500, "output_tokens": 1, "total_tokens": 501}
OWN = {"openai/m": {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}, "openai/g": GRADER}


def inspected(**about: Any) -> dict[str, Any]:
    """A log with a sample of which this is known."""
    said = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}]
    log = {"eval": {"task": "desk", "model": "openai/m", "run_id": "R"}, "status": "success"}
    return {**log, "samples": [{"id": 1, "epoch": 1, "messages": said, **about}]}


CASES = [
    case("a grader without events, by its role", inspected(model_usage=OWN, role_usage={"grader": GRADER}),
         some_metrics={"input_tokens": 5, "output_tokens": 1, "grader_input_tokens": 500,
                  "grader_output_tokens": 1}),
    *(case(mark, inspected(events=events, model_usage=BOTH), steps=1, cost=None, calls=[],
           some_metrics={"input_tokens": 5, "output_tokens": 1, "grader_input_tokens": 500,
                    "grader_output_tokens": 1, "grader_steps": 1}, missing={"total-contradicts-parts"})
      for mark, events in MARKS.items()),
]  # fmt: skip


@each(CASES)
def test_a_scorer_of_inspect_that_asks_a_model_is_apart(tmp_path: Path, case: Case) -> None:
    case.holds("inspect", tmp_path)
