"""Better ways at plan changes: which failed runs missed them, each counted once."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from builders import a_run

from untaken.answers.plan_words import statement_words
from untaken.answers.schemas import json_schema
from untaken.cli import main
from untaken.corpus import Corpus, evaluate_corpus
from untaken.fix_first import better_ways
from untaken.ledger import Run
from untaken.plans import GraphSet, parse_graph

GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ["t*"]
mutates: ["write_*"]
sub_goals:
  - {id: refund, check: {tool_call: {name: write_refund}}}
"""


def builders() -> list:
    """In each of four tasks two trials refund and succeed; two write something else and fail."""
    made = []
    for task in range(4):
        for trial in range(4):
            did = "refund" if trial % 2 else "other"
            agent = "early" if task < 2 else "late"
            run = a_run(f"{task}-{trial}", task=f"t{task}", agent=agent).call(f"write_{did}")
            made.append(
                run.call("write_other").finish(did == "refund") if trial == 0 else run.finish(trial % 2 == 1)
            )
    return made


def corpus(text: bytes = GRAPH, runs: list[Run] | None = None) -> Corpus:
    graphs = GraphSet.of([parse_graph(text, name="desk.plan.yaml")])
    return evaluate_corpus(runs or [b.run() for b in builders()], graphs, resamples=0)


def test_each_failed_run_counts_in_one_better_way() -> None:
    found = corpus()
    ways = better_ways(found)
    counted = [digest for way in ways for digest, _ in way.runs]
    failed = {digest for digest, run in found.runs.items() if run.success is False}
    assert len(counted) == len(set(counted)) == len(failed)
    assert set(counted) == failed
    assert all(way.statement.supported for way in ways)
    assert sum(way.gain for way in ways) <= len(failed) / len(found.runs)


def test_the_gain_is_how_often_times_how_much_inside_its_interval() -> None:
    for way in better_ways(corpus()):
        assert way.gain == pytest.approx(way.often.count / way.often.n * way.statement.difference)
        assert way.low < way.gain < way.high


def test_the_runs_of_one_agent_are_counted_under_the_statements_of_all() -> None:
    found = corpus()
    early = [digest for digest, run in found.runs.items() if run.agent == "early"]
    (way,) = better_ways(found, early)
    assert set(way.agents) == {"early"}
    assert way.often.n == len(early)
    assert way.statement in {whole.statement for whole in better_ways(found)}


def test_a_graph_that_names_no_tools_has_no_better_ways() -> None:
    assert better_ways(corpus(GRAPH.replace(b'mutates: ["write_*"]\n', b""))) == ()


def test_the_document_of_triage_lists_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "desk.plan.yaml").write_bytes(GRAPH)
    ledger = tmp_path / "runs.jsonl"
    ledger.write_bytes(b"".join(b.ledger() for b in builders()))
    assert main(["triage", str(ledger), "--graphs", str(tmp_path / "desk.plan.yaml"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema("triage"))
    assert sum(way["often"]["count"] for way in document["better_ways"]) == 8
    assert "Supported, q = " in document["better_ways"][0]["words"]


def test_a_statement_on_one_task_begins_with_the_name_of_the_task_as_it_is() -> None:
    found = corpus().plans.statements
    of_a_task = [statement_words(one) for one in found if one.situation.layer == 1]
    assert of_a_task
    assert all(words.startswith("t") for words in of_a_task)
    assert all(statement_words(one)[0] != "t" for one in found if one.situation.layer > 1)
