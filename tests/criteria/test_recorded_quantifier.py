"""Recorded replies of a quantifier: read as they came, never coerced, summed by outcome and over passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from untaken.cli import main
from untaken.errors import Finding, UntakenError
from untaken.judging.criteria import (
    across_runs,
    criterion_means,
    load_criteria,
    parse_criteria,
    read_quantifier_runs,
    save_criteria,
)

CLARITY = {"name": "Clarity", "description": "", "accepted_values": ["bad", "fair", "good"]}


def a_recording(folder: Path, name: str, replies: dict[str, tuple[Any, Any]]) -> None:
    (folder / f"{name}.criteria.txt").write_text(json.dumps([CLARITY]))
    records = {k: {"actual_success": s, "estimated_performance": r} for k, (s, r) in replies.items()}
    (folder / f"{name}.evaluated_problems.json").write_text(json.dumps(records))


REPLIES = [
    ("an object as text", '{"Clarity": "good"}', (2, "")),
    ("an object", {"Clarity": "good"}, (2, "")),
    ("fenced", 'Here:\n```json\n{"Clarity": "good"}\n```\nDone.', (2, "")),
    ("fenced, the language in capitals", '```JSON\n{"Clarity": "good"}\n```', (2, "")),
    ("fenced on one line", '```json {"Clarity": "good"}```', (2, "")),
    ("fenced as Python", "```python\n{'Clarity': 'good'}\n```", (2, "")),
    ("a fence that is cut", '```json\n{"Clarity": "good"}\n', (2, "")),
    ("after another block", '```\nx = 1\n```\n```json\n{"Clarity": "good"}\n```', (2, "")),
    ("single quotes", "{'Clarity': 'good', 'x': None, 'y': (True,),}", (2, "")),
    ("an apostrophe", '{"Clarity": "good", "why": "it\'s"}', (2, "")),
    ("a key twice", '{"Clarity": "good", "Clarity": "bad"}', (None, "the reply holds no")),
    ("a key twice in Python", "{'Clarity': 'good', 'Clarity': 'bad'}", (None, "the reply")),
    ("a call", "{'Clarity': str('good')}", (None, "the reply holds no JSON")),
    ("a tower of brackets", "{'a': " + "[" * 90_000, (None, "the reply holds no JSON")),
    ("a tower of signs", "{'a': " + "-" * 90_000 + "1}", (None, "the reply holds no JSON")),
    ("a sum", "{'a': " + "1+" * 20_000 + "1}", (None, "the reply holds no JSON")),
    ("fences only", "```" * 30_000, (None, "the reply holds no JSON")),
    ("in the middle of words", 'I say {"Clarity": "good"} to that', (2, "")),
    ("another case", '{"Clarity": " Good "}', (2, "")),
    ("near is not equal", '{"Clarity": "very good"}', (None, "")),
    ("a number", '{"Clarity": 3}', (None, "")),
    ("no JSON", "good", (None, "the reply holds no JSON")),
    ("a list", [1], (None, "the reply is no JSON object")),
    ("nothing", None, (None, "the reply is no JSON object")),
]


@pytest.mark.parametrize(("desc", "reply", "want"), REPLIES)
def test_a_reply_is_read_as_it_came(desc: str, reply: Any, want: Any, tmp_path: Path) -> None:
    a_recording(tmp_path, "run1", {"p": (True, reply)})
    (run,) = read_quantifier_runs(tmp_path)
    (item,) = run.items
    level, why = want
    value = item.values.get("Clarity")
    assert (value.level if value else None) == level
    assert item.unparseable.startswith(why)
    assert bool(item.unparseable) == bool(why)


@pytest.mark.parametrize(
    ("said", "want"), [(True, True), ("true", True), ("False", False), (None, None), ("", None), (1, None)]
)
def test_success_may_be_a_truth_or_its_name(said: Any, want: bool | None, tmp_path: Path) -> None:
    a_recording(tmp_path, "run1", {"p": (said, '{"Clarity": "good"}')})
    assert read_quantifier_runs(tmp_path)[0].items[0].success is want


def test_means_are_by_outcome_over_accepted_values_and_the_others_are_counted(tmp_path: Path) -> None:
    replies = {
        "a": (True, {"Clarity": "good"}),
        "b": (True, {"Clarity": "fair"}),
        "c": (False, {"Clarity": "bad"}),
        "d": (False, {"Clarity": "n/a"}),
    }
    a_recording(tmp_path, "run1", replies)
    (means,) = criterion_means(read_quantifier_runs(tmp_path)[0])
    assert (means.success_mean, means.success_n, means.failed_mean, means.failed_n) == (1.5, 2, 0.0, 1)
    assert (means.gap, means.out_of_vocabulary) == (1.5, {"n/a": 1})


@pytest.mark.parametrize(
    ("desc", "said", "want"),
    [
        ("null", {"Clarity": None}, {}),
        ("left out", {}, {}),
        ("a truth", {"Clarity": True}, {"true": 1}),
        ("a mapping", {"Clarity": {"é": None}}, {'{"é": null}': 1}),
    ],
)
def test_a_criterion_without_a_value_is_unscored_and_any_other_value_is_kept_as_written(
    desc: str, said: Any, want: dict[str, int], tmp_path: Path
) -> None:
    a_recording(tmp_path, "run1", {"a": (True, json.dumps(said))})
    (run,) = read_quantifier_runs(tmp_path)
    (means,) = criterion_means(run)
    assert means.out_of_vocabulary == want
    assert list(run.items[0].unscored) == ([] if want else ["Clarity"])


def test_replies_can_be_read_by_criteria_that_lie_elsewhere(tmp_path: Path) -> None:
    a_recording(tmp_path, "run1", {"a": (True, '{"Speed": "fast"}')})
    speed = CLARITY | {"name": "Speed", "accepted_values": ["slow", "fast"]}
    other = parse_criteria(json.dumps([speed, CLARITY | {"status": "rejected"}]).encode(), name="x.json")
    (run,) = read_quantifier_runs(tmp_path, criteria=other)
    assert [(m.name, m.success_mean) for m in criterion_means(run)] == [("Speed", 1.0)]


def test_passes_are_compared_subject_by_subject(tmp_path: Path) -> None:
    for name, second in (("run1", "good"), ("run2", "bad")):
        a_recording(tmp_path, name, {"a": (True, {"Clarity": "good"}), "b": (False, {"Clarity": second})})
    (across,) = across_runs(read_quantifier_runs(tmp_path))
    assert (across.runs, across.problems, across.runs_ordered_rightly) == (2, 2, 1)
    assert (across.mean_of_run_gaps, across.mean_within_problem_sd) == (1.0, 0.5)


CRITERIA_FORMS = [
    ("a list", [CLARITY | {"sub_criteria": []}]),
    ("a mapping", {"Clarity": {"accepted_values": ["bad", "fair", "good"]}}),
    ("values in one text", [CLARITY | {"accepted_values": "bad, fair, good"}]),
    ("our own", {"schema": "untaken.criteria-set/1", "id": "x", "criteria": [CLARITY]}),
]


@pytest.mark.parametrize(("desc", "data"), CRITERIA_FORMS)
def test_criteria_are_read_in_every_form_and_written_in_one(desc: str, data: Any, tmp_path: Path) -> None:
    read = parse_criteria(json.dumps(data).encode(), name="x.json")
    assert [(c.name, c.accepted_values) for c in read.criteria] == [("Clarity", ["bad", "fair", "good"])]
    save_criteria(read, tmp_path / "x.criteria.json")
    assert load_criteria(tmp_path / "x.criteria.json") == read


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[1]",
        b'"x"',
        b'[{"name": "a", "accepted_values": ["one"]}]',
        b'[{"name": "a", "accepted_values": ["x", " X "]}]',
        b'[{"name": "a", "accepted_values": ["x", "y"]}, {"name": "a", "accepted_values": ["x", "y"]}]',
        b'{"a": 1}',
    ],
)
def test_what_holds_no_criteria_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_criteria(data, name="c.json")
    assert (caught.value.code, caught.value.where.file) == ("criteria-invalid", "c.json")
    assert caught.value.hint


def test_a_run_that_cannot_be_read_does_not_stop_the_others(tmp_path, capsys) -> None:
    a_recording(tmp_path, "run1", {"p": (True, '{"Clarity": "good"}')})
    a_recording(tmp_path, "run2", {"p": (True, '{"Clarity": "bad"}')})
    (tmp_path / "run1.evaluated_problems.json").write_text("{broken")
    noticed: list[Finding] = []
    assert [run.name for run in read_quantifier_runs(tmp_path, on_finding=noticed.append)] == ["run2"]
    assert [(finding.code, finding.severity) for finding in noticed] == [("replies-invalid", "error")]
    with pytest.raises(UntakenError, match="replies-invalid"):
        read_quantifier_runs(tmp_path)
    assert main(["criteria", "quantify", "--recorded", str(tmp_path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [run["run"] for run in document["quantifier_runs"]] == ["run2"]
    assert [finding["code"] for finding in document["findings"]] == ["replies-invalid"]
