"""Without a plan graph the verbs show what runs record: outcome, cost, tokens and steps, with intervals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import a_run

from untaken.cli import main
from untaken.errors import Unscored
from untaken.views.spending import AgentUsage, usage


def by_agent(made: list[Any]) -> AgentUsage:
    return usage([run.run() for run in made])[0]


def test_every_task_counts_once_however_often_it_was_run() -> None:
    often = [a_run(f"o{i}", task="often").finish(True, cost=1.0, steps=2) for i in range(9)]
    found = by_agent([*often, a_run("s", task="seldom").finish(False, cost=3.0, steps=4)])
    assert (found.success, found.cost, found.steps) == (0.5, 2.0, 3.0)
    assert (found.runs, found.tasks, found.cost_n) == (10, 2, 10)


def test_what_nobody_records_is_unscored_and_costs_in_two_units_are_not_added() -> None:
    one = a_run("a").finish(True, cost=1.0, cost_unit="usd")
    alone = by_agent([one])
    assert isinstance(alone.cost_low, Unscored)  # one value has no interval
    assert (alone.success_low, alone.success_high) == (pytest.approx(0.025), 1.0)
    found = by_agent([one, a_run("b").finish(None, cost=900.0, cost_unit="tokens")])
    assert isinstance(found.cost, Unscored)
    assert "several units" in found.cost.reason
    assert isinstance(found.tokens, Unscored)
    assert (found.success, found.success_n) == (1.0, 1)
    assert found.cost_unit is None


def test_tasks_that_cost_the_same_say_nothing_of_what_others_cost() -> None:
    found = by_agent([a_run(f"r{n}", task=f"t{n}").finish(True, cost=0.5, steps=4 + n) for n in range(3)])
    assert found.cost == 0.5
    for end in (found.cost_low, found.cost_high):
        assert isinstance(end, Unscored)
        assert "how far others differ is unknown" in end.reason
    assert isinstance(found.steps_low, float)


@pytest.mark.parametrize("verb", ["score", "triage", "counterfactual", "export --to parquet -o {out}"])
def test_the_largest_doubles_stop_no_verb(verb, tmp_path, capsys) -> None:
    huge = 1.7e308
    made = []
    for n in range(6):
        run = a_run(f"r{n}", task=f"t{n % 2}")
        for context in ("first", "second"):
            run.select("xy"[n % 2], "x", "y", context=context)
        tokens = {"input_tokens": huge, "output_tokens": huge}
        made.append(run.finish(n % 3 > 0, cost=huge, steps=2**62, metrics=tokens))
    (tmp_path / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in made))
    words = verb.format(out=tmp_path / "out").split()
    assert main([*words, str(tmp_path / "runs.jsonl"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    if verb == "score":
        (row,) = [row for row in document["usage"] if not row["task_id"]]
        assert row["cost"] == pytest.approx(huge)
        assert row["tokens"] is None
