"""An outcome beside the messages is read, or named; what the agent did not cause is no failure of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put
from reading import Case, case, each
from trace_pieces import DONE, GO, otel_span
from trace_records import RECORDS, put_record

from untaken.errors import UntakenError
from untaken.ledger import RunFinished, read_ledger
from untaken.traces import Conversion, convert
from untaken.traces.outcome_fields import BAD, GOOD

CHAT = [GO, DONE]


NAMED = {"missing-outcome", "outcome-not-used", "outcomes-differ"}


def beside(desc: str, fields: dict[str, Any], success: bool | None, *said: str) -> Case:
    content = {"messages": CHAT, **fields}
    return case(desc, content, success=success, found={*said}, missing=NAMED - {*said})


CASES = [
    *(beside(f"{name} is true", {name: True}, True) for name in GOOD),
    *(beside(f"{name} is 0", {name: 0}, False) for name in GOOD),
    *(beside(f"{name} is 1.0", {name: 1.0}, True) for name in GOOD),
    *(beside(f"{name} is true", {name: True}, False) for name in BAD),
    *(beside(f"{name} is false", {name: False}, True) for name in BAD),
    beside("two that agree", {"passed": True, "failure": False}, True),
    beside("two that disagree", {"passed": True, "failure": True}, None, "outcomes-differ"),
    beside("a flag and a share", {"passed": True, "score": 0.4}, True, "outcome-not-used"),
    beside("a flag and a reason", {"pass": False, "failure": "row 3 is wrong"}, False, "outcome-not-used"),
    beside("a share alone", {"reward": 0.4}, None, "outcome-not-used"),
    beside("a word", {"resolved": "yes"}, None, "outcome-not-used"),
    beside("a field of the metadata", {"metadata": {"passed": False}}, False),
    beside("a field further in", {"result": {"passed": False}}, None, "outcome-not-used"),
    beside("nothing", {}, None, "missing-outcome"),
]


@each(CASES)
def test_a_field_beside_the_messages_is_the_outcome_or_is_named(tmp_path: Path, case: Case) -> None:
    case.holds(None, tmp_path)


DEEP = {"info": {"checks": {"passed": True}}, "checks": {"passed": False}}
ASKED: dict[str, tuple[dict[str, Any], str, bool | None, set[str]]] = {
    "a word that is an outcome, in a field of failures": ({"failure": "failed"}, "failure", False, set()),
    "an answer in a field of failures": ({"failure": "no"}, "failure", True, set()),
    "a field of failures": ({"failure": True}, "failure", False, set()),
    "an error that was asked for": ({"has_error": True}, "has_error", False, set()),
    "a word further in": ({"result": {"eval": {"verdict": "Pass"}}}, "result.eval.verdict", True, set()),
    "metadata as text": ({"metadata": '{"verdict": 0}'}, "verdict", False, set()),
    "something else": ({"verdict": "partly"}, "verdict", None, {"outcome-not-used"}),
    "its path": (DEEP, "info.checks.passed", True, set()),
    "the outermost one": (DEEP, "checks.passed", False, set()),
    "a name with a dot": ({"a.b": 1}, "a.b", True, set()),
    "one that is missing": ({"passed": True}, "graded", True, {"outcome-unmatched"}),
    "one that says neither": ({"score": 0.5}, "score", None, {"outcome-not-used"}),
}


@pytest.mark.parametrize("desc", ASKED)
def test_a_field_that_is_asked_for_is_read_as_it_is_meant_or_named(tmp_path: Path, desc: str) -> None:
    fields, name, success, found = ASKED[desc]
    source = put(tmp_path / "in" / "run.json", {"messages": CHAT, **fields})
    want = case(desc, None, success=success, codes={"synthetic-timestamps", *found})
    want.of(None, tmp_path / "out", source, outcome=name)


def with_field(content: Any, name: str, value: Any) -> Any:
    """A record with one more member: of the object, or of its first line or element."""
    if isinstance(content, dict):
        return {**content, name: value}
    first, *rest = content
    return [{**first, name: value}, *rest]


LISTED = {
    "inspect": "samples", "tau2-bench": "simulations", "promptfoo": "results", "terminal-bench": "results",
    "adk-eval": "eval_case_results", "adk-evalset": "eval_cases",
}  # fmt: skip
"""Where the runs of a file are, by format."""


@pytest.mark.parametrize("value", [True, 0, "failed"], ids=str)
@pytest.mark.parametrize(
    "format", [each for each in RECORDS if each not in ("devai", "agentrx", "aider", "cursor", "cline")]
)
def test_the_field_that_is_asked_for_is_the_outcome_in_every_format(tmp_path, format, value) -> None:
    name, content = next(iter(RECORDS[format].items()))
    if format == "otel":
        content = [{**each, "attributes": {**each["attributes"], "verified": value}} for each in content]
    elif format in LISTED:
        rows = content[LISTED[format]]
        rows = rows["results"] if isinstance(rows, dict) else rows
        content = {**content, LISTED[format]: [{**each, "verified": value} for each in rows]}
    elif format in ("mlflow", "opencode"):
        content = {**content, "info": {**content["info"], "verified": value}}
    else:
        content = with_field(content, "verified", value)
    source = put_record(tmp_path / "in", {name: content})
    done, runs = converted(format, tmp_path / "out", source, outcome="verified")
    assert {run.finished.success for run in runs if run.finished} == {value is True}
    assert not {"missing-outcome", "outcome-unmatched", "missing-reward"} & set(codes(done))


def test_a_field_and_a_table_say_so_where_they_are_given_for_one_another(tmp_path: Path) -> None:
    chat = put(tmp_path / "run.json", {"messages": CHAT, "passed": True})
    table = put(tmp_path / "ended.csv", "run_id,success\nrun,true\n")
    with pytest.raises(UntakenError, match="--outcomes") as one:
        convert(None, [chat], tmp_path / "out", outcome=str(table))
    with pytest.raises(UntakenError, match="--outcome passed") as other:
        convert(None, [chat], tmp_path / "out", outcomes="passed")
    assert (one.value.code, other.value.code) == ("outcome-is-a-file", "outcomes-invalid")


TRIAL = RECORDS["harbor"]["t__1/result.json"]
ENDINGS = [
    ("an error of the provider", "APIStatusError: Error code: 529 overloaded", None, "infrastructure-error"),
    ("an environment that never started", "EnvironmentStartTimeoutError: x", None, "infrastructure-error"),
    ("a time limit", "AgentTimeoutError: timed out after 900 s", False, "ended-by-limit"),
    ("a verifier that took too long", "VerifierTimeoutError: timed out", False, "ended-by-limit"),
    ("an error of the agent itself", "ValueError: no such order", False, None),
]


@pytest.mark.parametrize(("desc", "raised", "success", "said"), ENDINGS, ids=[one[0] for one in ENDINGS])
def test_a_recorded_failure_counts_unless_the_provider_or_the_environment_caused_it(
    tmp_path: Path, desc: str, raised: str, success: bool | None, said: str | None
) -> None:
    kind, _, message = raised.partition(": ")
    about = {"exception_type": kind, "exception_message": message}
    failed = {**TRIAL, "verifier_result": {"rewards": {"reward": 0.0}}, "exception_info": about}
    put_record(tmp_path / "in", {"t__1/result.json": failed})
    done, (run,) = converted("harbor", tmp_path / "out", tmp_path / "in")
    assert run.finished.success is success
    assert {"infrastructure-error", "ended-by-limit"} & set(codes(done)) == ({said} if said else set())


def test_a_table_of_outcomes_is_meant_even_beside_an_error_of_the_provider(tmp_path: Path) -> None:
    put_record(
        tmp_path / "in", {"t__1/result.json": {**TRIAL, "exception_info": {"exception_type": "APIError"}}}
    )
    table = put(tmp_path / "ended.csv", "run_id,success\nt__1,false\n")
    _, (run,) = converted("harbor", tmp_path / "out", tmp_path / "in", outcomes=table)
    assert run.finished.success is False


ANNOTATED = {
    "numbered": {"trace.annotations.0.annotation.name": "task_completion",
                 "trace.annotations.0.annotation.label": "failed", "trace.annotations.0.annotation.score": 0,
                 "annotations.1.annotation.name": "helpfulness", "annotations.1.annotation.score": 0.25},
    "a list": {"annotations": [{"name": "task_completion", "label": "failed", "score": 0},
                               {"name": "helpfulness", "score": 0.25}]},
}  # fmt: skip


@pytest.mark.parametrize("form", ANNOTATED)
def test_annotations_of_phoenix_are_scores(tmp_path: Path, form: str) -> None:
    span = otel_span(1, "invoke_agent")
    span = {**span, "attributes": {**span["attributes"], **ANNOTATED[form]}}
    _, (run,) = converted("otel", tmp_path / "out", put_record(tmp_path / "in", {"t.jsonl": [span]}))
    assert run.finished.success is False
    assert run.finished.metrics == {"evaluation:task_completion": 0.0, "evaluation:helpfulness": 0.25}


def evaluated(format: str, *said: tuple[str, bool]) -> dict[str, Any]:
    """The record of a format with these evaluations of its run."""
    ((name, content),) = RECORDS[format].items()
    if format == "mlflow":
        judged = [{"assessment_name": each, "feedback": {"value": value}} for each, value in said]
        content = {**content, "info": {**content["info"], "assessments": judged}}
    elif format == "langfuse":
        content = {**content, "scores": [{"name": each, "value": int(value)} for each, value in said]}
    elif format == "otel":
        noted = [{"name": each, "score": int(value)} for each, value in said]
        content = [
            {**content[0], "attributes": {**content[0]["attributes"], "annotations": noted}},
            *content[1:],
        ]
    else:
        stats = {each: {"n": 1, "avg": float(value)} for each, value in said}
        content = [{**content[0], "feedback_stats": stats}, *content[1:]]
    return {name: content}


@pytest.mark.parametrize("agree", [True, False])
@pytest.mark.parametrize("format", ["otel", "mlflow", "langfuse", "langsmith"])
def test_evaluations_that_contradict_each_other_are_no_outcome(tmp_path, format, agree) -> None:
    source = put_record(tmp_path / "in", evaluated(format, ("success", True), ("outcome", agree)))
    done, (run,) = converted(format, tmp_path / "out", source)
    assert run.finished.success is (True if agree else None)
    assert ("outcomes-differ" in codes(done), "missing-outcome" in codes(done)) == (not agree, False)


STEPS = {"steps": [{"source": "agent", "message": "hi"}]}
TRAJECTORY = {"schema_version": "ATIF-v1.5", "session_id": "s1", "agent": {"name": "a"}, **STEPS}


def finished(tmp_path: Path, table: str) -> tuple[Conversion, RunFinished]:
    put(tmp_path / "in" / "t.json", TRAJECTORY)
    (tmp_path / "outcomes.csv").write_text(table, encoding="utf-8")
    done = convert(None, [tmp_path / "in"], tmp_path / "out", outcomes=tmp_path / "outcomes.csv")
    (run,) = read_ledger(done.ledgers[0])
    return done, run.finished


@pytest.mark.parametrize(("run_id", "between"), [("atif/a/s1", ","), ("s1", ","), ("s1", ";"), ("s1", "\t")])
def test_a_row_says_how_the_run_ended(tmp_path: Path, run_id: str, between: str) -> None:
    table = f"run_id,success,cost\n{run_id},true,0.25\n".replace(",", between)
    done, end = finished(tmp_path, table)
    assert (end.success, end.cost) == (True, 0.25)
    assert "outcome-unmatched" not in codes(done)


def test_json_lines_do_as_well(tmp_path: Path) -> None:
    _, end = finished(tmp_path, '{"run_id": "s1", "success": false, "error": "time\u2028out"}\r\n')
    assert (end.success, end.error) == (False, "time\u2028out")


def test_an_empty_cell_changes_nothing_and_a_row_without_a_run_is_named(tmp_path: Path) -> None:
    done, end = finished(tmp_path, "run_id,success,cost\ns1,1,\nother,0,\n")
    assert (end.success, end.cost) == (True, None)
    assert "outcome-unmatched" in codes(done)


@pytest.mark.parametrize("table", ["run_id,passed\ns1,true\n", "run_id,success\ns1,\n", '{"run_id": "s1"}'])
def test_a_table_that_says_nothing_of_any_run_is_refused(tmp_path: Path, table: str) -> None:
    with pytest.raises(UntakenError, match="no row has one of success, cost, steps, error, limit"):
        finished(tmp_path, table)


BAD_TABLES = [
    ("id,success\n", 1),
    ("run_id,success\ns1,perhaps\n", 2),
    ("run_id,success\ns1,1\ns1,0\n", 3),
    ("run_id,cost\ns1,-3\n", 2),
    ('{"run_id": ', 1),
]


@pytest.mark.parametrize(("table", "line"), BAD_TABLES)
def test_a_bad_table_is_refused_with_its_line(tmp_path: Path, table: str, line: int) -> None:
    with pytest.raises(UntakenError) as caught:
        finished(tmp_path, table)
    assert (caught.value.code, caught.value.where.line) == ("outcomes-invalid", line)
