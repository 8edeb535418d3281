"""What ``untaken triage`` and ``untaken causes`` print is what the library says, and fits its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from builders import RunBuilder, a_run

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.fix_first import triage
from untaken.cli import main
from untaken.plans import GraphSet, parse_graph
from untaken.views.schemas import json_schema

GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ["t*"]
mutates: ["write_*"]
sub_goals:
  - {id: refund, critical: true, check: {tool_call: {name: write_refund}}}
"""


def builders() -> list[RunBuilder]:
    """In each of four tasks two trials refund and succeed; two write something else and fail."""
    made = []
    for task in range(4):
        for trial in range(4):
            did = "refund" if trial % 2 else "other"
            agent = "early" if task < 2 else "late"
            about: dict[str, Any] = {"task": f"t{task}", "agent": agent, "metadata": {"seed": trial}}
            run = a_run(f"{task}-{trial}", **about).call(f"write_{did}")
            made.append(run.call("write_other").finish(False) if trial == 0 else run.finish(trial % 2 == 1))
    return made


def corpus() -> Corpus:
    graphs = GraphSet.of([parse_graph(GRAPH, name="desk.plan.yaml")])
    return evaluate_corpus([run.run() for run in builders()], graphs, resamples=0)


def printed(
    folder: Path, capsys: pytest.CaptureFixture[str], verb: str, *more: str, graph: bool = True
) -> Mapping[str, Any]:
    (folder / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in builders()))
    (folder / "desk.plan.yaml").write_bytes(GRAPH)
    plans = ["--graphs", str(folder / "desk.plan.yaml")] if graph else []
    assert main([verb, str(folder / "runs.jsonl"), *plans, *more, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema(verb))
    return document


def test_triage_prints_the_list_with_choices_under_a_heading_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = printed(tmp_path, capsys, "triage")
    (item,) = document["items"]
    want = triage(corpus()).items[0]
    assert (item["kind"], item["way"], item["sub_goal"], item["failed_runs"]) == (
        "sub_goal",
        "stopped",
        "refund",
        8,
    )
    assert (item["gain"], item["low"], item["high"]) == (want.gain, want.low, want.high)
    assert item["recommended"] is True
    assert {run["digest"] for run in item["runs"]} == set(want.runs)
    assert document["schema"] == "untaken.triage/2"
    assert all("recommended" in choice for choice in document["choices"])
    assert sum(len(choice["runs"]) for choice in document["choices"]) == 8


def test_without_a_plan_triage_lists_the_failed_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = printed(tmp_path, capsys, "triage", graph=False)
    assert document["items"] == []
    assert len(document["unscored_failed_runs"]) == 8
    assert document["headline"] == "8 failed runs, none scored: read one · draft a plan"


def test_causes_prints_what_failed_runs_have_in_common(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = printed(tmp_path, capsys, "causes")
    assert document["schema"] == "untaken.causes/1"
    assert document["found"] == len(document["causes"]) == len(triage(corpus()).causes)


def test_the_list_can_be_cut_and_is_of_one_agent_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = printed(tmp_path, capsys, "triage", "--agent", "early", "--top", "1")
    assert (document["agents"], document["failed"], len(document["items"])) == (["early"], 4, 1)


def test_people_read_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(tmp_path, capsys, "triage")
    main(["triage", str(tmp_path / "runs.jsonl"), "--graphs", str(tmp_path / "desk.plan.yaml")])
    out = capsys.readouterr().out
    assert "8 failed runs of 16." in out
    assert "Fix “refund” (the run ended before it): critical." in out


@pytest.mark.parametrize(
    ("success", "want"),
    [
        (True, "drafts a plan from runs that succeeded"),
        (False, "No run succeeded, so no plan can be drafted"),
    ],
)
def test_a_plan_is_drafted_only_from_runs_that_succeeded(
    success: bool, want: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [a_run("failed").finish(False), a_run("other").finish(success)]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    main(["triage", str(tmp_path / "runs.jsonl")])
    assert want in capsys.readouterr().out


def test_where_runs_have_a_plan_and_did_nothing_no_draft_is_advised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "desk.plan.yaml").write_bytes(GRAPH)
    runs = [a_run(name, task="t").finish(False) for name in "abc"]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    main(["triage", str(tmp_path / "runs.jsonl"), "--graphs", str(tmp_path / "desk.plan.yaml")])
    out = capsys.readouterr().out
    assert "record no action or verdict that it asks for" in out
    assert "no run records whether it was completed" in out
    assert "draft" not in out
