"""What becomes of tau2-bench results, whole or faulty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import at, codes, converted, put, tau2_call, tau2_document, tau2_message, tau2_simulation

from untaken.errors import Unscored
from untaken.ledger import Observation, Run, Verdict
from untaken.plans import load_graphs
from untaken.scoring import score_run
from untaken.traces.tau2_runs import agent_name

ACTION = tau2_document()["tasks"][0]["evaluation_criteria"]["actions"][0]


def one_run(tmp_path: Path, **changed: Any) -> tuple[Run, set[str]]:
    """The run of a document whose simulation differs in some ways."""
    document = tau2_document(simulations=[tau2_simulation(ACTION, **changed)])
    conversion, runs = converted("tau2-bench", tmp_path / "out", put(tmp_path / "results.json", document))
    (run,) = runs
    return run, set(codes(conversion)) - {"naive-timestamps"}


def test_a_simulation_becomes_a_run(tmp_path: Path) -> None:
    run, found = one_run(tmp_path)
    assert not found
    assert (run.run_id, run.agent, run.started.model) == ("tau2-bench/gpt-9/ferry/7/0", "gpt-9", "gpt-9")
    assert (run.task_id, run.started.graph) == ("tau2-bench-ferry-7", "tau2-bench-ferry-7")
    assert (run.success, run.finished.steps, run.finished.cost) == (True, 2, 0.5)
    assert run.finished.metrics == {
        "reward": 1.0,
        "user_cost": 0.1,
        "duration": 8.0,
        "db_match": True,
        "input_tokens": 20.0,
        "output_tokens": 4.0,
        "user_input_tokens": 20.0,
        "user_output_tokens": 4.0,
    }
    assert [(c.tool, c.requestor) for c in run.actions] == [("buy", None), ("check_phone", "user")]
    assert [s.selected for s in run.selections] == ["buy"]
    assert [e.ok for e in run.events if isinstance(e, Observation)] == [True, True]


def test_recorded_times_are_taken_as_utc(tmp_path: Path) -> None:
    run, _ = one_run(tmp_path)
    assert run.started.ts.isoformat() == "2025-08-01T10:00:01+00:00"
    assert run.events[-1].ts.isoformat() == "2025-08-01T10:00:09+00:00"
    assert run.started.metadata["timestamps"] == "recorded"


def test_arguments_count_on_the_calls_own_keys(tmp_path: Path) -> None:
    run, found = one_run(tmp_path)
    (graph,) = load_graphs(tmp_path / "out" / "graphs").graphs
    score = score_run(run, graph)
    assert score.completed == 1, "the call left `note` out, and is not blamed for it"
    assert "verdict-contradicts-rule" not in found


def test_a_recorded_check_is_a_verdict_by_test(tmp_path: Path) -> None:
    run, _ = one_run(tmp_path)
    (verdict,) = [e for e in run.events if isinstance(e, Verdict)]
    assert (verdict.sub_goal, verdict.passed, verdict.by) == ("a0_buy", True, "test")


OUTCOMES = [
    {"desc": "success", "want": (True, None, None)},
    {"desc": "failure", "changed": {"reward_info": {"reward": 0.0}}, "want": (False, None, None)},
    {
        "desc": "an infrastructure error is no failure",
        "changed": {"termination_reason": "infrastructure_error", "reward_info": {"reward": 0.0}},
        "want": (None, "infrastructure_error", None),
        "code": "infrastructure-error",
    },
    {
        "desc": "no reward info",
        "changed": {"reward_info": None},
        "want": (None, None, None),
        "code": "missing-reward-info",
    },
    {
        "desc": "too many steps are a failure by a limit",
        "changed": {"termination_reason": "max_steps", "reward_info": {"reward": 0.0}},
        "want": (False, None, "max_steps"),
    },
    {
        "desc": "too many errors are a failure by an error",
        "changed": {"termination_reason": "too_many_errors", "reward_info": {"reward": 0.0}},
        "want": (False, "too_many_errors", None),
    },
]


@pytest.mark.parametrize("case", OUTCOMES, ids=lambda case: case["desc"])
def test_outcomes(tmp_path: Path, case: dict[str, Any]) -> None:
    run, found = one_run(tmp_path, **case.get("changed", {}))
    assert (run.finished.success, run.finished.error, run.finished.limit) == case["want"]
    assert case.get("code") in {*found, None}


def test_zero_cost_throughout_is_an_unpriced_model(tmp_path: Path) -> None:
    free = [tau2_message("assistant", "Hello.", 1) | {"cost": 0.0}]
    simulations = [tau2_simulation(None, trial=t, agent_cost=0.0, messages=free) for t in range(2)]
    source = put(tmp_path / "r.json", tau2_document(simulations=simulations))
    conversion, runs = converted("tau2-bench", tmp_path / "out", source)
    assert [run.finished.cost for run in runs if run.finished] == [None, None]
    assert codes(conversion)["unpriced-cost"] == 1


def test_zero_cost_of_one_run_among_priced_ones_is_kept(tmp_path: Path) -> None:
    simulations = [tau2_simulation(ACTION, trial=0, agent_cost=0.0), tau2_simulation(ACTION, trial=1)]
    source = put(tmp_path / "r.json", tau2_document(simulations=simulations))
    conversion, runs = converted("tau2-bench", tmp_path / "out", source)
    assert [run.finished.cost for run in runs if run.finished] == [0.0, 0.5]
    assert "unpriced-cost" not in codes(conversion)


CHECKS: list[dict[str, Any]] = [
    {"desc": "none recorded", "checks": None, "want": [], "code": "missing-verdicts"},
    {"desc": "an empty list", "checks": [], "want": [], "code": "missing-verdicts"},
    {
        "desc": "one that the rule contradicts",
        "checks": [{"action": ACTION, "action_match": False}],
        "want": [False],
        "code": "verdict-contradicts-rule",
    },
    {
        "desc": "as text",
        "checks": [{"action": ACTION, "action_match": "True"}],
        "want": [True],
        "code": "flag-as-text",
    },
    {"desc": "null", "checks": [{"action": ACTION, "action_match": None}], "want": [None]},
    {
        "desc": "nonsense",
        "checks": [{"action": ACTION, "action_match": "perhaps"}],
        "want": [None],
        "code": "unreadable-flag",
    },
    {
        "desc": "of another action",
        "checks": [
            {"action": {"name": "sell"}, "action_match": True},
            {"action": ACTION, "action_match": True},
        ],
        "want": [True],
        "code": "verdict-without-sub-goal",
    },
    {
        "desc": "twice",
        "checks": [{"action": ACTION, "action_match": True}] * 2,
        "want": [True],
        "code": "verdict-without-sub-goal",
    },
]


@pytest.mark.parametrize("case", CHECKS, ids=lambda case: case["desc"])
def test_recorded_checks(tmp_path: Path, case: dict[str, Any]) -> None:
    run, found = one_run(tmp_path, reward_info={"reward": 1.0, "action_checks": case["checks"]})
    assert [e.passed for e in run.events if isinstance(e, Verdict)] == case["want"]
    assert found == ({case["code"]} if "code" in case else set())


def test_a_task_that_is_not_in_the_file_is_planned_by_its_checks(tmp_path: Path) -> None:
    source = put(tmp_path / "r.json", tau2_document(tasks=[]))
    conversion, (run,) = converted("tau2-bench", tmp_path / "out", source)
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


def test_compare_args_restrict_what_is_compared(tmp_path: Path) -> None:
    for compared, met in ((None, False), ([], True), (["seat"], False), (["note"], True)):
        action = {**ACTION, "compare_args": compared, "arguments": {"seat": 9}}
        document = tau2_document(simulations=[tau2_simulation(None)])
        document["tasks"][0]["evaluation_criteria"]["actions"] = [action]
        out = tmp_path / f"out{compared}"
        _, (run,) = converted("tau2-bench", out, put(tmp_path / f"{compared}.json", document))
        (graph,) = load_graphs(out / "graphs").graphs
        assert (score_run(run, graph).completed == 1) is met, compared


def test_nothing_expected_is_unscored_but_no_criteria_is_no_graph(tmp_path: Path) -> None:
    for criteria, code in (({"actions": []}, "nothing-expected"), (None, "no-expected-actions-recorded")):
        document = tau2_document(simulations=[tau2_simulation(None)])
        document["tasks"][0]["evaluation_criteria"] = criteria
        out = tmp_path / code
        conversion, (run,) = converted("tau2-bench", out, put(tmp_path / f"{code}.json", document))
        assert code in codes(conversion)
        graph, _ = load_graphs(out / "graphs").for_task(run.task_id, run.started.graph)
        assert isinstance(graph, Unscored) or isinstance(score_run(run, graph).completion, Unscored)


def test_a_message_that_bundles_answers_counts_as_these_answers(tmp_path: Path) -> None:
    calls = (tau2_call("buy", {"seat": 3}, "assistant", "a"), tau2_call("look", {}, "assistant", "b"))
    bundle = {
        "role": "tool",
        "tool_messages": [
            {"role": "tool", "id": "b", "content": "of b", "error": True},
            {"role": "tool", "id": "a", "content": "of a", "error": False},
        ],
        "timestamp": at(4),
    }
    run, found = one_run(tmp_path, messages=[tau2_message("assistant", None, 3, *calls), bundle])
    answers = {e.call_id: (e.content, e.ok) for e in run.events if isinstance(e, Observation)}
    assert answers == {"a": ("of a", True), "b": ("of b", False)}
    assert not found


def test_arguments_written_as_text_are_read(tmp_path: Path) -> None:
    call = tau2_call("buy", '{"seat": 3}', "assistant", "a")
    run, _ = one_run(tmp_path, messages=[tau2_message("assistant", None, 3, call)])
    assert run.actions[0].arguments == {"seat": 3}


TIMES = [
    ("with a zone", "2025-08-01T12:00:01+02:00", "2025-08-01T10:00:01+00:00"),
    ("no start: the first message", None, "2025-08-01T10:00:01+00:00"),
    ("nonsense: the first message", "noon", "2025-08-01T10:00:01+00:00"),
    ("a start after the messages", at(30), "2025-08-01T10:00:30+00:00"),
]


@pytest.mark.parametrize(("desc", "start_time", "want"), TIMES)
def test_times(tmp_path: Path, desc: str, start_time: Any, want: Any) -> None:
    run, _ = one_run(tmp_path, start_time=start_time)
    stamps = [event.ts for event in run.events]
    assert stamps == sorted(stamps)
    assert stamps[0].isoformat() == want


def test_no_time_at_all_is_made_up_and_named(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "content": "Hello."}]
    simulation = tau2_simulation(None, trial=3, start_time=None, end_time=None, messages=messages)
    source = put(tmp_path / "r.json", tau2_document(simulations=[simulation]))
    conversion, (run,) = converted("tau2-bench", tmp_path / "out", source)
    assert codes(conversion)["synthetic-timestamps"] == 1
    assert run.started.ts.isoformat() == "2000-01-04T00:00:00+00:00"


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
def test_agents_have_short_names_that_tell_them_apart(
    model: str | None, implementation: str | None, want: str | None
) -> None:
    assert agent_name(model, implementation) == want


def test_an_agent_that_is_not_recorded_is_named_and_can_be_said(tmp_path: Path) -> None:
    source = put(tmp_path / "results.json", tau2_document(info={}))
    conversion, (run,) = converted("tau2-bench", tmp_path / "a", source)
    assert (run.agent, codes(conversion)["unknown-agent"]) == ("results", 1)
    conversion, (run,) = converted("tau2-bench", tmp_path / "b", source, agent="Ann")
    assert (run.agent, codes(conversion)["unknown-agent"]) == ("Ann", 0)


def test_two_spellings_of_an_agent_are_named(tmp_path: Path) -> None:
    sources = []
    for model in ("gpt-9", "GPT-9"):
        info = {**tau2_document()["info"], "agent_info": {"llm": model}}
        sources.append(put(tmp_path / f"{model}.json", tau2_document(info=info)))
    conversion, runs = converted("tau2-bench", tmp_path / "out", *sources)
    assert {run.agent for run in runs} == {"gpt-9", "GPT-9"}
    assert codes(conversion)["agent-spelling"] == 1


FAULTY = [
    ("no object", "[1, 2]", "not-this-format", 0),
    ("no simulations", '{"info": {}, "tasks": []}', "no-simulations", 0),
    ("null simulations", '{"simulations": null}', "no-simulations", 0),
    ("simulations that are none", '{"simulations": [1, {}, null]}', "not-this-format", 0),
    ("nothing", "  ", "empty-file", 0),
    ("cut short", json.dumps(tau2_document())[:-40], "truncated-file", 0),
    (
        "cut short in the second run",
        json.dumps(tau2_document(simulations=[tau2_simulation(ACTION), tau2_simulation(ACTION, trial=1)]))[
            :-9
        ],
        "truncated-file",
        1,
    ),
    (
        "a broken run",
        json.dumps(tau2_document()).replace('"simulations": [', '"simulations": [{"task_id": nope}, '),
        "unreadable-record",
        1,
    ),
]


@pytest.mark.parametrize(("desc", "text", "code", "count"), FAULTY)
def test_faulty_files_give_what_they_hold(
    tmp_path: Path, desc: str, text: Any, code: str, count: Any
) -> None:
    source = put(tmp_path / "results.json", text)
    conversion, runs = converted("tau2-bench", tmp_path / "out", source)
    assert len(runs) == count
    assert code in codes(conversion)


def test_a_lone_simulation_is_a_run(tmp_path: Path) -> None:
    source = put(tmp_path / "gpt-9_airline.json", tau2_simulation(ACTION))
    conversion, (run,) = converted("tau2-bench", tmp_path / "out", source)
    assert run.task_id == "tau2-bench-airline-7"
    assert all(field.path for field in conversion.losses[0].fields)


def test_duplicate_tasks_and_runs_are_named(tmp_path: Path) -> None:
    document = tau2_document()
    document["tasks"] *= 2
    document["simulations"] *= 2
    conversion, runs = converted("tau2-bench", tmp_path / "out", put(tmp_path / "r.json", document))
    found = codes(conversion)
    assert (len(runs), found["duplicate-task"], found["duplicate-run"]) == (1, 1, 1)
