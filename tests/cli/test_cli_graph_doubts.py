"""Every verb that blames an agent for a misspelled tool reports it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import a_run

from untaken.cli import main

GRAPH = """
id: refund
tasks: [task]
sub_goals:
  - {id: order, critical: true, check: {tool_call: {name: serch_orders}}}
"""
SAID = "a check of 'order' names the tool 'serch_orders', which none of 5 runs calls"
VERBS = {
    "score": "score {w}/l.jsonl --graphs {w}/g.plan.yaml",
    "rank": "rank {w}/l.jsonl --graphs {w}/g.plan.yaml --resamples 0",
    "triage": "triage {w}/l.jsonl --graphs {w}/g.plan.yaml",
    "gate": "gate {w}/l.jsonl --graphs {w}/g.plan.yaml --require completion>=0.5",
    "graph check": "graph check {w}/g.plan.yaml --against {w}/l.jsonl",
}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "g.plan.yaml").write_text(GRAPH)
    runs = [a_run(f"r{n}").call("search_orders").finish() for n in range(5)]
    (tmp_path / "l.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    return tmp_path


@pytest.mark.parametrize("verb", VERBS)
def test_a_misspelled_tool_is_reported_with_the_likely_name(
    verb: str, world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.format(w=world) for word in VERBS[verb].split()]
    main(words)
    assert SAID in "".join(capsys.readouterr())
    main([*words, "--json"])
    document = json.loads(capsys.readouterr().out)
    findings = document["graphs"][0]["findings"] if verb == "graph check" else document["findings"]
    (found,) = (f for f in findings if f["code"] == "graph-tool-unknown")
    assert SAID in found["message"]
    assert found["hint"] == "Did you mean 'search_orders'?"


def test_the_gate_tells_it_beside_its_verdict(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([word.format(w=world) for word in VERBS["gate"].split()])
    assert f"{SAID}. Did you mean 'search_orders'?" in capsys.readouterr().out


def test_a_doubt_alone_makes_no_graph_invalid(world: Path) -> None:
    assert main([word.format(w=world) for word in VERBS["graph check"].split()]) == 0
