"""The plan decisions of a corpus: evaluated once, kept where runs and graphs are the same."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.analysis.corpus import Corpus, evaluate_corpus, part_of
from untaken.ledger import Run
from untaken.ledger.events import ActionMapping, MappedAction
from untaken.plans import GraphSet

GRAPH: dict[str, Any] = {"graph_id": "desk", "tasks": ["t*"], "mutates": ["write_*"]}


def graphs(**other: Any) -> GraphSet:
    return GraphSet.of([a_graph({"id": "refund", "check": REFUND}, **{**GRAPH, **other})])


REFUND = {"tool_call": {"name": "write_refund"}}


def runs(agents: tuple[str, ...] = ("one",)) -> list[Run]:
    """Each agent refunds in half of its trials, and succeeds in just these."""
    made = []
    for agent, task, trial in product(agents, range(4), range(4)):
        did = "refund" if trial % 2 else "other"
        about = {"metadata": {"seed": trial}, "task": f"t-{agent}-{task}", "agent": agent}
        built = a_run(f"{agent}-{task}-{trial}", **about).call(f"write_{did}")
        made.append(built.finish(did == "refund").run())
    return made


def corpus(of: list[Run], known: Corpus | None = None, **rules: str) -> Corpus:
    return evaluate_corpus(of, graphs(), resamples=0, known=known, **rules)


def test_plan_decisions_are_evaluated_once_and_outlive_another_rule_but_not_another_run() -> None:
    first = corpus(runs())
    assert first.plans is first.plans
    assert first.plans.statements[0].supported
    assert first.plans.runs.keys() == first.runs.keys()
    again = corpus(list(first.runs.values()), known=first, missing="drop")
    assert again.plans is first.plans
    fewer = corpus(list(first.runs.values())[:-1], known=first)
    assert fewer.plans is not first.plans
    assert len(fewer.plans.runs) == len(first.runs) - 1


def test_a_verdict_leaves_plan_decisions_as_they_are_and_a_call_that_a_judge_maps_does_not() -> None:
    def run() -> RunBuilder:
        return a_run("r", task="t-one-0", agent="one").call("write_refund").call("look").finish(True)

    others = runs()
    first = corpus([run().run(), *others])
    assert corpus([run().verdict("refund", False).run(), *others], known=first).plans is first.plans
    mapped = run().add(ActionMapping, by="judge:m", actions=[MappedAction(seq=2, sub_goal="refund")])
    assert corpus([mapped.run(), *others], known=first).plans is not first.plans


def test_a_part_of_a_corpus_has_its_own_decisions_under_the_statements_of_all_runs() -> None:
    whole = corpus(runs(("one", "two")))
    part = part_of(whole, [d for d, run in whole.runs.items() if run.agent == "one"])
    assert part.plans.runs.keys() == part.runs.keys()
    assert part.plans.decisions * 2 == whole.plans.decisions
    assert {s.situation.task_id for s in part.plans.statements} <= {"", *(f"t-one-{n}" for n in range(4))}
    assert set(part.plans.statements) < set(whole.plans.statements)
    assert part.plans.shuffled_supported_share == whole.plans.shuffled_supported_share


@pytest.mark.parametrize(
    ("other", "why"),
    [({"mutates": []}, "does not list the tools that change state"), ({"tasks": ["other"]}, "no plan graph")],
)
def test_runs_without_plan_decisions_say_why(other: dict[str, Any], why: str) -> None:
    found = evaluate_corpus(runs(), graphs(**other), resamples=0)
    assert not found.plans.runs
    assert len(found.plans.silent) == len(found.runs)
    assert all(why in silent.reason for silent in found.plans.silent.values())
