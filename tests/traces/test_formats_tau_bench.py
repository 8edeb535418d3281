"""What becomes of tau-bench records, whole or faulty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put, tau_answer, tau_call, tau_record
from reading import Case, case, each

from untaken.errors import Unscored
from untaken.ledger import Message, Observation, Run
from untaken.plans import load_graphs, validate
from untaken.scoring import score_run
from untaken.traces import Conversion


def one_run(tmp_path: Path, **changed: Any) -> tuple[Run, set[str]]:
    conversion, (run,) = read(tmp_path, tau_record(**changed))
    return run, set(codes(conversion))


def read(tmp_path: Path, *records: Any) -> tuple[Conversion, list[Run]]:
    return converted("tau-bench", tmp_path / "out", put(tmp_path / "gpt-9-airline.json", list(records)))


def test_a_record_becomes_a_run(tmp_path: Path) -> None:
    run, found = one_run(tmp_path)
    assert found == {"synthetic-timestamps"}
    assert (run.run_id, run.agent) == ("tau-bench/gpt-9/airline/7/0", "gpt-9")
    assert run.task_id == "tau-bench-airline-7"
    assert run.started.graph == "tau-bench-airline-7"
    assert (run.success, run.finished.steps, run.finished.cost) == (True, 3, None)
    assert run.finished.metrics == {"reward": 1.0, "user_cost": 0.25, "r_actions": 1.0}
    calls = [("look", {"day": "monday"}), ("buy", {"seat": 3})]
    assert [(call.tool, call.arguments) for call in run.actions] == calls
    assert [said.content for said in run.of(Message)][-1] == "Bought."


def test_expected_actions_become_sub_goals_without_dependencies(tmp_path: Path) -> None:
    run, _ = one_run(tmp_path)
    (graph,) = load_graphs(tmp_path / "out" / "graphs").graphs
    assert [(node.id, node.deps, node.critical) for node in graph.sub_goals] == [("a0_buy", [], False)]
    assert graph.tasks == [run.task_id]
    assert [node.check.tool_call.answered for node in graph.sub_goals if node.check] == ["any"]
    score = score_run(run, graph)
    assert (score.completed, score.required, score.attempted) == (1, 1, 1)


REWARDS: list[tuple[str, Any, bool | None, set[str]]] = [
    ("whole", 1, True, set()),
    ("as text", "1.0", True, {"number-as-string"}),
    ("within a millionth", 1 - 1e-7, True, set()),
    ("just below", 1 - 1e-5, False, set()),
    ("nothing", 0.0, False, set()),
    ("null", None, None, {"missing-reward"}),
    ("words", "good", None, {"missing-reward"}),
    ("true", True, True, set()),
]
TRIALS: list[tuple[str, list[Any], list[int], str]] = [
    ("missing", [None, None], [0, 1], "missing-trial"),
    ("as text", ["3", "4"], [3, 4], "number-as-string"),
    ("negative", [-1, -1], [0, 1], "missing-trial"),
    ("beyond reason", [1e300, 10**40], [0, 1], "missing-trial"),
    ("large", [10**12, 5], [10**12, 5], "synthetic-timestamps"),
]
CRASHED = {"task_id": 7, "trial": 1, "reward": 0.0, "info": {"error": "boom"}, "traj": []}
GOOD, ANOTHER = json.dumps(tau_record()), json.dumps(tau_record(trial=1))
CUT_OFF = f'[{GOOD}, {{"task_id": 1, oops}}, 17, {{"task_id": {{}}}}, {ANOTHER}, {{"task_id"'
LONG = [tau_record(task_id="x" * 5000 + end, traj=[tau_call("y" * 5000, {})]) for end in "ab"]
Calls = list[tuple[str, dict[str, Any]]]
LOOK: tuple[str, dict[str, Any]] = ("look", {})
NAMELESS = {"role": "assistant", "tool_calls": [{"id": "c", "function": None}]}
AGAIN = [tau_call("look", {}), tau_answer("a"), tau_call("look", {}), tau_answer("b")]
NO_IDS = [one for tool in ("look", "buy") for one in (tau_call(tool, {}, None), tau_answer("a", None))]
CUT = [tau_call("buy", '{"seat": 3'), tau_answer("Error: what?")]
TRAJECTORIES: list[tuple[str, Any, Calls, str | None]] = [
    ("arguments that are no JSON are kept as text", CUT, [("buy", {"_unparsed": '{"seat": 3'})],
     "malformed-arguments"),
    ("arguments that are a list are kept as text", [tau_call("buy", "[3]")],
     [("buy", {"_unparsed": "[3]"})], "malformed-arguments"),
    ("no arguments are no arguments", [tau_call("look", "")], [LOOK], None),
    ("null arguments are no arguments", [tau_call("look", None)], [LOOK], None),
    ("a call without a name", [NAMELESS], [("(unnamed)", {})], "call-without-name"),
    ("an answer to nothing", [tau_answer("?")], [], "observation-without-call"),
    ("a null trajectory", None, [], "missing-trajectory"),
    ("messages that are no objects", [None, "hello", 3], [], None),
    ("an empty message", [{}, {"role": None, "content": ""}], [], None),
    ("one id for two calls", AGAIN, [LOOK, LOOK], "reused-call-id"),
    ("calls without ids", NO_IDS, [LOOK, ("buy", {})], None),
]  # fmt: skip
RUN, MADE_UP = "tau-bench/gpt-9/airline/7/0", "synthetic-timestamps"
CASES = [
    *(case(f"success is a reward of one: {desc}", [tau_record(reward=reward)], success=want, found=code)
      for desc, reward, want, code in REWARDS),
    *(case(f"trials {desc}", [tau_record(trial=trial) for trial in trials], all_repeat=want, found={code})
      for desc, trials, want, code in TRIALS),
    case("a crashed run takes the plan of another trial", [CRASHED, tau_record()],
         all_graph=["tau-bench-airline-7"] * 2, errors=["boom", None], all_success=[False, True]),
    case("a run without any plan names no graph", [tau_record(info=None)], graph=None,
         found={"no-expected-actions-recorded"}),
    case("the same record twice is one run and another is kept apart",
         [tau_record(), tau_record(), tau_record(reward=0.0)], runs=[RUN, f"{RUN}~2"],
         counts={"duplicate-run": 2}),
    *(case(desc, [tau_record(traj=traj)], calls=calls, codes={MADE_UP, code or MADE_UP})
      for desc, traj, calls, code in TRAJECTORIES),
    case("a name that is too long is cut and named", LONG, count=2, counts={"name-cut": 1}),
]  # fmt: skip


@each(CASES)
def test_records_are_read(tmp_path: Path, case: Case) -> None:
    case.holds("tau-bench", tmp_path, "gpt-9-airline.json")


def test_a_record_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    faults = {"unreadable-record": 1, "not-this-format": 2, "truncated-file": 1}
    cut = case("cut", CUT_OFF, all_repeat=[0, 1], counts=faults)
    cut.holds("tau-bench", tmp_path, "gpt-9-airline.json")


NAMES: list[tuple[str, str, str, set[str]]] = [
    ("gpt-4o-airline.json", "gpt-4o", "airline", set()),
    ("gpt-4o-airline.tasks00-24.json", "gpt-4o", "airline", set()),
    ("sonnet-35-new-retail.json", "sonnet-35-new", "retail", set()),
    ("Telecom_o9.json", "o9", "telecom", set()),
    ("tool-calling-gpt-4o-0.0_range_0-115_user-gpt-4o-llm_0612.json", "tool-calling-gpt-4o-0.0", "ferry",
     {"unknown-domain"}),
    ("results.json", "results", "ferry", {"unknown-agent"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "agent", "domain", "found"), NAMES)
def test_agent_and_domain_are_recognised_by_the_files_name_where_they_are_not_said(
    tmp_path: Path, name: str, agent: str, domain: str, found: set[str]
) -> None:
    task = f"tau-bench-{domain}-7"
    case(name, [tau_record()], agent=agent, task=task, found=found).holds("tau-bench", tmp_path, name)
    said = case(name, None, agent="Ann's agent", task=task, missing={"unknown-agent"})
    said.of("tau-bench", tmp_path / "said", tmp_path / "in" / name, agent="Ann's agent")


def test_a_task_that_changed_between_files_has_two_plans(tmp_path: Path) -> None:
    changed = tau_record()
    changed["info"]["task"]["actions"][0]["kwargs"] = {"seat": 4}
    a = put(tmp_path / "a" / "gpt-9-airline.json", [tau_record()])
    b = put(tmp_path / "b" / "gpt-10-airline.json", [changed])
    conversion, runs = converted("tau-bench", tmp_path / "out", a, b)
    graphs = load_graphs(tmp_path / "out" / "graphs")
    assert codes(conversion)["graph-differs"] == 1
    assert len({run.task_id for run in runs}) == 1
    for run in runs:
        graph, findings = graphs.for_task(run.task_id, run.started.graph)
        assert not isinstance(graph, Unscored)
        assert score_run(run, graph).completed == (run.agent == "gpt-9")
        assert not findings


def test_arguments_in_another_order_are_the_same_plan(tmp_path: Path) -> None:
    seats = [{"seat": 4, "cabin": "x"}, {"seat": 5, "cabin": "y"}]
    records = [tau_record(trial=0), tau_record(trial=1)]
    turned = [dict(reversed(seat.items())) for seat in seats]
    for record, kwargs in zip(records, (seats, turned), strict=True):
        record["info"]["task"]["actions"] = [{"name": "book", "kwargs": given} for given in kwargs]
    conversion, runs = read(tmp_path, *records)
    assert "graph-differs" not in codes(conversion)
    assert len({run.started.graph for run in runs}) == 1


ODD_TASKS = [
    "[mobile]a|b[PERSONA:Hard]", "*", "a/../../b", "x" * 5000, "\u202eevil", "\x00", "'; DROP", "ü\n#",
]  # fmt: skip


@pytest.mark.parametrize("task", ODD_TASKS)
def test_odd_task_ids_find_their_graph_and_no_other(tmp_path: Path, task: str) -> None:
    records = [tau_record(task_id=task), tau_record(task_id="other")]
    _, runs = read(tmp_path, *records)
    graphs = load_graphs(tmp_path / "out" / "graphs")
    assert not [finding for finding in graphs.findings if finding.severity == "error"]
    for run in runs:
        named, _ = graphs.for_task(run.task_id, run.started.graph)
        assert not isinstance(named, Unscored)
        matched, findings = graphs.for_task(run.task_id)
        assert findings or (isinstance(matched, Unscored) or matched.id == named.id)
    assert all(path.parent == tmp_path / "out" / "graphs" for path in (tmp_path / "out").rglob("*.plan.yaml"))


@pytest.mark.parametrize("argument", ["seat*", {"any": True}, {"glob": "*"}, [{"literal": 1}], 3])
def test_an_expected_action_is_met_by_exactly_its_arguments_whatever_was_answered(tmp_path, argument) -> None:
    """The benchmark knows no patterns, and does not look at answers."""
    record = tau_record()
    record["info"]["task"]["actions"] = [{"name": "buy", "kwargs": {"seat": argument}}]
    record["traj"] = [tau_call("buy", {"seat": argument}), tau_answer("Error: sold out")]
    _, (run,) = converted("tau-bench", tmp_path / "out", put(tmp_path / "a.json", [record]))
    (graph,) = load_graphs(tmp_path / "out" / "graphs").graphs
    assert run.of(Observation)[0].ok is False
    assert score_run(run, graph).completed == 1
    assert not [finding for finding in validate(graph) if finding.code != "graph-no-check"]
    record["traj"] = [tau_call("buy", {"seat": "seats"}), tau_answer("sold")]
    _, (missed,) = converted("tau-bench", tmp_path / "missed", put(tmp_path / "b.json", [record]))
    assert score_run(missed, graph).completed == 0


def test_a_record_that_another_file_has_under_another_agent_is_named(tmp_path: Path) -> None:
    files = [put(tmp_path / f"{name}-airline.json", [tau_record()]) for name in ("gpt-9", "gpt-8")]
    files[0].write_text(files[0].read_text() + "\n")  # no copy of the file
    conversion, runs = converted("tau-bench", tmp_path / "out", *files)
    assert len(runs) == 2
    (message,) = [finding.message for finding in conversion.findings if finding.code == "same-record"]
    assert "-airline.json; both count" in message
