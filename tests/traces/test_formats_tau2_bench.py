"""What becomes of tau2-bench results, whole or faulty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import (
    ACTION,
    at,
    codes,
    converted,
    put,
    tau2_call,
    tau2_document,
    tau2_message,
    tau2_simulation,
)
from reading import Case as Row
from reading import case, each, fact, read

from untaken.errors import Unscored
from untaken.ledger import Observation, Run, Verdict
from untaken.plans import load_graphs
from untaken.scoring import score_run
from untaken.traces.tau2_runs import agent_name


def one_run(tmp_path: Path, **changed: Any) -> tuple[Run, set[str]]:
    """The run of a document whose simulation differs in some ways."""
    conversion, (run,) = read(tmp_path, "tau2-bench", simulated(ACTION, **changed))
    return run, set(codes(conversion)) - {"naive-timestamps"}


def test_a_simulation_becomes_a_run(tmp_path: Path) -> None:
    run, found = one_run(tmp_path)
    assert not found
    assert (run.run_id, run.agent, run.started.model) == ("tau2-bench/gpt-9/ferry/7/0", "gpt-9", "gpt-9")
    assert (run.task_id, run.started.graph) == ("tau2-bench-ferry-7", "tau2-bench-ferry-7")
    assert (run.success, run.finished.steps, run.finished.cost) == (True, 2, 0.5)
    spent = {"input_tokens": 20.0, "output_tokens": 4.0, "user_input_tokens": 20.0, "user_output_tokens": 4.0}
    told = {"reward": 1.0, "user_cost": 0.1, "duration": 8.0, "db_match": True}
    assert run.finished.metrics == told | spent
    assert [(c.tool, c.requestor) for c in run.actions] == [("buy", None), ("check_phone", "user")]
    assert [s.selected for s in run.selections] == ["buy"]
    assert [seen.ok for seen in run.of(Observation)] == [True, True]
    assert run.started.ts.isoformat() == "2025-08-01T10:00:01+00:00"
    assert run.events[-1].ts.isoformat() == "2025-08-01T10:00:09+00:00"
    assert run.started.metadata["timestamps"] == "recorded"
    (verdict,) = run.of(Verdict)
    assert (verdict.sub_goal, verdict.passed, verdict.by) == ("a0_buy", True, "test")


def simulated(action: dict[str, Any] | None = ACTION, **changed: Any) -> dict[str, Any]:
    """A document with one simulation."""
    return tau2_document(simulations=[tau2_simulation(action, **changed)])


def ended(reason: str = "user_stop", reward: float | None = 0.0) -> dict[str, Any]:
    info = None if reward is None else {"reward": reward}
    return simulated(termination_reason=reason, reward_info=info)


TIMES = [
    ("with a zone", "2025-08-01T12:00:01+02:00", "2025-08-01T10:00:01+00:00"),
    ("no start: the first message", None, "2025-08-01T10:00:01+00:00"),
    ("nonsense: the first message", "noon", "2025-08-01T10:00:01+00:00"),
    ("a start after the messages", at(30), "2025-08-01T10:00:30+00:00"),
]
CALLED = (tau2_call("buy", {"seat": 3}, "assistant", "a"), tau2_call("look", {}, "assistant", "b"))
ANSWERS = [{"role": "tool", "id": name, "content": f"of {name}", "error": name == "b"} for name in "ba"]
BUNDLE = {"role": "tool", "tool_messages": ANSWERS, "timestamp": at(4)}
AS_TEXT = tau2_call("buy", '{"seat": 3}', "assistant", "a")
TIMELESS = {"start_time": None, "end_time": None, "messages": [{"role": "assistant", "content": "Hello."}]}
ALL = tau2_document()
TWICE = {**ALL, "tasks": ALL["tasks"] * 2, "simulations": ALL["simulations"] * 2}
CASES = [
    case("a failure", ended(), success=False, error=None, limit=None),
    case("an infrastructure error is no failure", ended("infrastructure_error"), success=None,
         error="infrastructure_error", limit=None, found={"infrastructure-error"}),
    case("no reward info", ended(reward=None), success=None, error=None, limit=None,
         found={"missing-reward-info"}),
    case("too many steps are a failure by a limit", ended("max_steps"), success=False, error=None,
         limit="max_steps", found={"ended-by-limit"}),
    case("too many steps without an outcome are none", ended("max_steps", None), success=None,
         limit="max_steps", missing={"ended-by-limit"}),
    case("too many errors are a failure by an error", ended("too_many_errors"), success=False,
         error="too_many_errors", limit=None),
    case("zero cost of one run among priced ones is kept",
         tau2_document(simulations=[tau2_simulation(ACTION, trial=n, agent_cost=0.5 * n) for n in (0, 1)]),
         all_cost=[0.0, 0.5], missing={"unpriced-cost"}),
    case("a message that bundles answers counts as these answers",
         simulated(messages=[tau2_message("assistant", None, 3, *CALLED), BUNDLE]), answered=["b", "a"],
         answers=[("of b", False), ("of a", True)], codes={"naive-timestamps"}),
    case("arguments written as text are read",
         simulated(messages=[tau2_message("assistant", None, 3, AS_TEXT)]), calls=[("buy", {"seat": 3})]),
    *(case(f"a time {desc}", simulated(start_time=time), began=want) for desc, time, want in TIMES),
    case("no time at all is made up and named", simulated(None, trial=3, **TIMELESS),
         began="2000-01-04T00:00:00+00:00", counts={"synthetic-timestamps": 1}),
    case("duplicate tasks and runs are named", TWICE, count=1,
         counts={"duplicate-task": 1, "duplicate-run": 1}),
]  # fmt: skip


@each(CASES)
def test_results_are_read(tmp_path: Path, case: Row) -> None:
    case.holds("tau2-bench", tmp_path)


def test_zero_cost_throughout_is_an_unpriced_model(tmp_path: Path) -> None:
    free = [tau2_message("assistant", "Hello.", 1) | {"cost": 0.0}]
    simulations = [tau2_simulation(None, trial=t, agent_cost=0.0, messages=free) for t in range(2)]
    conversion, runs = read(tmp_path, "tau2-bench", tau2_document(simulations=simulations))
    assert [run.finished.cost for run in runs if run.finished] == [None, None]
    assert codes(conversion)["unpriced-cost"] == 1


def check(match: Any, action: dict[str, Any] = ACTION) -> dict[str, Any]:
    return {"action": action, "action_match": match}


WITHOUT = {"verdict-without-sub-goal"}
CHECKS: list[tuple[str, list[dict[str, Any]] | None, list[bool | None], set[str]]] = [
    ("none recorded", None, [], {"missing-verdicts"}),
    ("an empty list", [], [], {"missing-verdicts"}),
    ("one that the rule contradicts", [check(False)], [False], {"verdict-contradicts-rule"}),
    ("as text", [check("True")], [True], {"flag-as-text"}),
    ("null", [check(None)], [None], set()),
    ("nonsense", [check("perhaps")], [None], {"unreadable-flag"}),
    ("of other actions", [check(False, {"name": "sell"})] * 2 + [check(True)], [True], WITHOUT),
    ("without an id", [check(True, {"name": ACTION["name"]})], [True], set()),
    ("twice", [check(True)] * 2, [True], WITHOUT),
    ("by its place", [check(True, {"name": "buy", "action_id": None})], [True], set()),
]


@pytest.mark.parametrize(("desc", "checks", "want", "named"), CHECKS, ids=[one[0] for one in CHECKS])
def test_recorded_checks(tmp_path: Path, desc: str, checks: Any, want: list[Any], named: set[str]) -> None:
    run, found = one_run(tmp_path, reward_info={"reward": 1.0, "action_checks": checks})
    assert [verdict.passed for verdict in run.of(Verdict)] == want
    assert found == named


def test_a_task_that_is_not_in_the_file_is_planned_by_its_checks(tmp_path: Path) -> None:
    conversion, (run,) = read(tmp_path, "tau2-bench", tau2_document(tasks=[]))
    assert codes(conversion)["plan-from-verdicts"] == 1
    (graph,) = load_graphs(tmp_path / "out" / "graphs").graphs
    assert score_run(run, graph).completed == 1


def test_runs_may_stand_before_the_tasks_they_are_of(tmp_path: Path) -> None:
    document = tau2_document()
    turned = dict(reversed(document.items()))
    a, (one,) = converted("tau2-bench", tmp_path / "a", put(tmp_path / "a.json", document))
    b, (two,) = converted("tau2-bench", tmp_path / "b", put(tmp_path / "b.json", turned))
    assert one.events == two.events
    assert a.graphs[0].read_bytes() == b.graphs[0].read_bytes()


@pytest.mark.parametrize(
    ("compared", "met"), [(None, False), ([], True), (["seat"], False), (["note"], True)]
)
def test_compare_args_restrict_what_is_compared(tmp_path: Path, compared: Any, met: bool) -> None:
    document = tau2_document(simulations=[tau2_simulation(None)])
    action = {**ACTION, "compare_args": compared, "arguments": {"seat": 9}}
    document["tasks"][0]["evaluation_criteria"]["actions"] = [action]
    _, (run,) = read(tmp_path, "tau2-bench", document)
    (graph,) = load_graphs(tmp_path / "out" / "graphs").graphs
    assert (score_run(run, graph).completed == 1) is met


NO_PLANS = [({"actions": []}, "nothing-expected"), (None, "no-expected-actions-recorded")]


@pytest.mark.parametrize(("criteria", "code"), NO_PLANS)
def test_nothing_expected_is_unscored_but_no_criteria_is_no_graph(tmp_path, criteria, code) -> None:
    document = tau2_document(simulations=[tau2_simulation(None)])
    document["tasks"][0]["evaluation_criteria"] = criteria
    conversion, (run,) = read(tmp_path, "tau2-bench", document)
    assert code in codes(conversion)
    graph, _ = load_graphs(tmp_path / "out" / "graphs").for_task(run.task_id, run.started.graph)
    assert isinstance(graph, Unscored) or isinstance(score_run(run, graph).completion, Unscored)


MODELS = [
    ("gpt-4.1", "llm_agent", "gpt-4.1"),
    ("openai/gpt-4.1", None, "gpt-4.1"),
    ("gpt-4.1-2025-04-14", "llm_agent", "gpt-4.1-2025-04-14"),
    ("ft:gpt-4.1-2025-04-14:org:suffix:BzrY", "llm_agent", "ft-gpt-4.1-BzrY"),
    ("ft:gpt-4.1-2025-04-14:org:suffix:Other", "llm_agent", "ft-gpt-4.1-Other"),
    ("gpt-4.1", "llm_agent_gt", "gpt-4.1 (llm_agent_gt)"),
    (None, "human", "human"),
    (None, None, None),
]


@pytest.mark.parametrize(("model", "implementation", "want"), MODELS)
def test_agents_have_short_names_that_tell_them_apart(model, implementation, want) -> None:
    assert agent_name(model, implementation) == want


def test_an_agent_that_is_not_recorded_is_named_and_can_be_said(tmp_path: Path) -> None:
    source = put(tmp_path / "results.json", tau2_document(info={}))
    unknown = {"unknown-agent"}
    case("not", None, agent="results", found=unknown).of("tau2-bench", tmp_path / "a", source)
    case("said", None, agent="Ann", missing=unknown).of("tau2-bench", tmp_path / "b", source, agent="Ann")


def test_two_spellings_of_an_agent_are_named(tmp_path: Path) -> None:
    sources = []
    for model in ("gpt-9", "GPT-9"):
        info = {**tau2_document()["info"], "agent_info": {"llm": model}}
        sources.append(put(tmp_path / f"{model}.json", tau2_document(info=info)))
    conversion, runs = converted("tau2-bench", tmp_path / "out", *sources)
    assert {run.agent for run in runs} == {"gpt-9", "GPT-9"}
    assert codes(conversion)["agent-spelling"] == 1


WHOLE = json.dumps(tau2_document())
TWO = json.dumps(tau2_document(simulations=[tau2_simulation(ACTION), tau2_simulation(ACTION, trial=1)]))
BROKEN = WHOLE.replace('"simulations": [', '"simulations": [{"task_id": nope}, ')
FAULTY = [
    ("no object", "[1, 2]", "not-this-format", 0),
    ("no simulations", '{"info": {}, "tasks": []}', "no-simulations", 0),
    ("null simulations", '{"simulations": null}', "no-simulations", 0),
    ("simulations that are none", '{"simulations": [1, {}, null]}', "not-this-format", 0),
    ("nothing", "  ", "empty-file", 0),
    ("cut short", WHOLE[:-40], "truncated-file", 0),
    ("cut short in the second run", TWO[:-9], "truncated-file", 1),
    ("a broken run", BROKEN, "unreadable-record", 1),
]


@each([case(desc, text, found={code}, count=count) for desc, text, code, count in FAULTY])
def test_faulty_files_give_what_they_hold(tmp_path: Path, case: Row) -> None:
    case.holds("tau2-bench", tmp_path)


def test_a_lone_simulation_is_a_run(tmp_path: Path) -> None:
    conversion, runs = read(tmp_path, "tau2-bench", tau2_simulation(ACTION), "gpt-9_airline.json")
    assert fact(conversion, runs, "task", None) == "tau2-bench-airline-7"
    assert all(field.path for field in conversion.losses[0].fields)
