"""`rank` on many agents, and on facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import a_graph, a_run

from untaken.cli import main
from untaken.plans import save_graph


def test_a_long_table_says_how_to_get_the_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [a_run(f"r{i}", agent=f"a{i:02}").call("look").finish(success=i % 2 == 0) for i in range(21)]
    (tmp_path / "l.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    save_graph(a_graph("look"), tmp_path / "g.plan.yaml")
    words = ["rank", str(tmp_path / "l.jsonl"), "--graphs", str(tmp_path), "--resamples", "0"]
    main(words)
    assert "the first 200 of 210 pairs; --json lists them all" in capsys.readouterr().out
    main([*words, "--json"])
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert sum(pair["metric"] == "success_rate" for pair in pairs) == 210


def test_facts_give_the_ranking_of_their_ledgers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        a_run(f"r{i}", agent=f"a{i % 3}", task=f"t{i % 4}").call("look").finish(success=i % 5 < 3)
        for i in range(48)
    ]
    (tmp_path / "l.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    save_graph(a_graph("look", tasks=["*"]), tmp_path / "g.plan.yaml")
    ledgers, out = [str(tmp_path / "l.jsonl"), "--graphs", str(tmp_path)], str(tmp_path / "facts")
    assert main(["export", *ledgers, "--to", "parquet", "-o", out]) == 0
    found = []
    for words in (ledgers, [out]):
        capsys.readouterr()
        assert main(["rank", *words, "--json", "--resamples", "200"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    of_runs = found[0] | {"contradictions": [], "findings": []}
    del of_runs["rule"]  # what another rule would change is not in facts
    assert len(of_runs["pairs"]) > 3
    assert of_runs["pass_k"]
    assert found[1] == of_runs


@pytest.mark.parametrize("option", [["--labels"], ["--missing", "drop"], ["--verdicts", "human:*"]])
def test_facts_take_no_option_that_needs_runs(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "facts.json").write_text("{}")
    assert main(["rank", str(tmp_path), *option]) == 2
    assert option[0] in capsys.readouterr().err
