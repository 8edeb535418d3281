"""`rank` on many agents: what is left out of its tables is said."""

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
