"""Who&When: entries, choices, ledgers, replans and labels, as counted elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from statistics import fmean
from typing import Any

import pytest
from real_records import Converted

from untaken.errors import Unscored
from untaken.ledger import Message, Observation, Plan, Run, State, Verdict, context_hash
from untaken.scoring import RunScore, score_agents, score_outcome

FLAGS = ("is_request_satisfied", "is_in_loop", "is_progress_being_made")
TERMINAL = "Computer_terminal"


@pytest.fixture(scope="module")
def whole(converted: Callable[[str, str], Converted]) -> Converted:
    return converted("who-and-when", "who_and_when")


@pytest.fixture(scope="module")
def crafted(whole: Converted) -> dict[str, Run]:
    """The runs of the set with an orchestrator, by the number of their file."""
    return of_agent(whole, "hand-crafted")


@pytest.fixture(scope="module")
def generated(whole: Converted) -> dict[str, Run]:
    return of_agent(whole, "algorithm-generated")


@pytest.fixture(scope="module")
def wanted(reference: dict[str, Any]) -> dict[str, Any]:
    return reference["who_and_when"]["Hand-Crafted"]


@pytest.fixture(scope="module")
def wanted_generated(reference: dict[str, Any]) -> dict[str, Any]:
    return reference["who_and_when"]["Algorithm-Generated"]


def of_agent(whole: Converted, agent: str) -> dict[str, Run]:
    return {run.run_id.rsplit("/", 1)[-1]: run for run in whole.runs if run.agent == agent}


def entries(run: Run) -> list[Message | Observation]:
    return [event for event in run.events if isinstance(event, Message | Observation)]


def thoughts(run: Run, beginning: str) -> int:
    return sum(str(event.content).startswith(beginning) for event in entries(run))


def score(run: Run) -> RunScore:
    return score_outcome(run, Unscored("no plan graph"))


def labelled_step(run: Run) -> int:
    """Where among the entries the verdict's evidence points."""
    (verdict,) = [event for event in run.events if isinstance(event, Verdict)]
    (evidence,) = verdict.evidence or []
    return [event.seq for event in entries(run)].index(evidence.seq)


def test_runs_and_entries_are_all_there(crafted, generated, wanted, wanted_generated) -> None:
    for runs, want in ((crafted, wanted), (generated, wanted_generated)):
        assert len(runs) == want["runs"]
        assert sum(len(entries(run)) for run in runs.values()) == want["events"]


def test_every_value_but_the_technical_roles_is_kept(whole, wanted_generated) -> None:
    dropped: Counter[str] = Counter()
    for loss in whole.conversion.losses:
        dropped.update({field.path: field.dropped for field in loss.fields if field.dropped})
    assert dropped == {"history[].role": wanted_generated["events"]}


def test_each_run_has_its_choices_ledgers_replans_and_label(crafted, wanted) -> None:
    found = {
        number: {
            "events": len(entries(run)),
            "decision_points": len(run.selections),
            "ledger_updates": len(run.of(State)),
            "mistake_step": labelled_step(run),
            "replans": score(run).replans,
        }
        for number, run in crafted.items()
    }
    assert found == wanted["per_run"]


def test_choices_are_those_of_the_orchestrator(crafted: dict[str, Run], wanted: dict[str, Any]) -> None:
    selected = Counter(s.selected for run in crafted.values() for s in run.selections)
    assert dict(selected) == wanted["selected"]
    assert selected.total() == wanted["decision_points"]


def test_alternatives_are_the_rest_of_the_team(crafted: dict[str, Run], wanted: dict[str, Any]) -> None:
    for run in crafted.values():
        for selection in run.selections:
            assert {selection.selected, *selection.alternatives} == set(wanted["selected"])
            assert selection.selected not in selection.alternatives


def test_ledgers_and_their_flags_are_as_many(crafted: dict[str, Run], wanted: dict[str, Any]) -> None:
    states = [event.state for run in crafted.values() for event in run.of(State)]
    assert len(states) == wanted["ledger_updates"]
    for flag in FLAGS:
        told = Counter(state[flag] for state in states)
        assert told[True] == wanted[f"{flag}=True"]
        assert told[False] == wanted[f"{flag}=False"]
        assert told[None] == len(wanted["unparseable_ledgers"])


def test_the_broken_ledger_is_named(whole: Converted, wanted: dict[str, Any]) -> None:
    found = [f for f in whole.conversion.findings if f.code == "unreadable-progress"]
    ((number, entry),) = wanted["unparseable_ledgers"]
    assert [f.where.run for f in found] == [f"who-and-when/hand-crafted/{number}"]
    assert f"entry {entry} " in found[0].message


def test_choices_follow_the_ledger_before_them(whole, crafted, wanted) -> None:
    agree = unread = 0
    for run in crafted.values():
        for selection in run.selections:
            state = [event.state for event in run.of(State) if event.seq < selection.seq][-1]
            agree += state["next_speaker"] == selection.selected
            unread += state["next_speaker"] is None
            assert selection.context_hash == context_hash(selection.context)
            assert [selection.context[flag] for flag in FLAGS] == [state[flag] for flag in FLAGS]
    assert agree == wanted["decision_matches_last_ledger"]
    assert unread == wanted["decision_without_parsed_ledger"]
    assert not [f for f in whole.conversion.findings if f.code == "choice-differs-from-ledger"]


def test_plans_and_replans_are_as_many(crafted: dict[str, Run], wanted: dict[str, Any]) -> None:
    plans = [event.reason for run in crafted.values() for event in run.of(Plan)]
    assert plans.count("initial plan") == wanted["initial_plans"]
    assert plans.count("new plan") == wanted["new_plans"]
    scores = [score(run) for run in crafted.values()]
    assert sum(one.replans for one in scores) == wanted["replanning_events"]
    assert sum(one.replans > 0 for one in scores) == wanted["runs_with_a_replan"]
    (agent,) = score_agents(scores)
    assert agent.replanning_events_per_trace == wanted["replanning_events"] / wanted["runs"]


def test_how_runs_ended_is_kept(crafted: dict[str, Run], wanted: dict[str, Any]) -> None:
    ends = [
        str(event.content)
        for run in crafted.values()
        for event in run.of(Message)
        if event.role == "Orchestrator (termination condition)"
    ]
    for beginning, n in wanted["termination_condition"].items():
        assert sum(text.startswith(beginning) for text in ends) == n
    assert len(ends) == sum(wanted["termination_condition"].values())
    limits = Counter((run.finished.limit or "")[:6] for run in crafted.values() if run.finished)
    assert limits["Max ro"] == wanted["termination_condition"]["Max rounds"]
    assert limits["Max ti"] == wanted["termination_condition"]["Max time"]
    assert limits["Replan"] == wanted["replan_counter_exceeded"]
    assert sum(thoughts(run, "Request satisfied.") for run in crafted.values()) == wanted["request_satisfied"]


def test_blamed_agents_are_kept_as_spelled_and_two_spellings_are_named(whole, crafted, wanted) -> None:
    blamed = Counter((run.started.metadata or {})["mistake_agent"] for run in crafted.values())
    assert dict(blamed) == wanted["mistake_agent"]
    judged = Counter(event.sub_goal for run in crafted.values() for event in run.of(Verdict))
    assert judged["work of WebSurfer"] == blamed["WebSurfer"] + blamed["Websurfer"]
    spelled = [f for f in whole.conversion.findings if f.code == "agent-spelling"]
    assert len(spelled) == wanted["mistake_agent"]["Websurfer"]


def test_labels_stand_where_people_put_them(crafted: dict[str, Run], wanted: dict[str, Any]) -> None:
    positions = [labelled_step(run) / len(entries(run)) for run in crafted.values()]
    assert fmean(positions) == pytest.approx(wanted["mean_relative_mistake_position"], abs=1e-12)


def test_labels_on_another_speaker_are_named(whole, crafted, generated, wanted, wanted_generated) -> None:
    named = {f.where.run for f in whole.conversion.findings if f.code == "label-differs-from-speaker"}
    expected = set()
    for runs, want in ((crafted, wanted), (generated, wanted_generated)):
        for number, step, role, blamed in want["label_agent_not_speaker_at_mistake_step"]:
            run = runs[str(number)]
            expected.add(run.run_id)
            event = entries(run)[step]
            assert labelled_step(run) == step
            assert (event.role if isinstance(event, Message) else TERMINAL) == role
            assert (run.started.metadata or {})["mistake_agent"] == blamed
    assert named == expected


def test_steps_written_as_text_are_read_and_named(whole: Converted) -> None:
    named = [f for f in whole.conversion.findings if f.code == "number-as-string"]
    assert len(named) == len(whole.runs)


def test_all_runs_failed(whole: Converted, wanted_generated: dict[str, Any]) -> None:
    assert [run.success for run in whole.runs] == [False] * len(whole.runs)
    assert wanted_generated["is_correct_true"] == 0


def test_group_chats_have_their_speakers_and_terminals(generated, wanted_generated) -> None:
    speakers = [
        [event.role if isinstance(event, Message) else TERMINAL for event in entries(run)]
        for run in generated.values()
    ]
    terminal = [event for run in generated.values() for event in run.of(Observation)]
    assert len(terminal) == wanted_generated["computer_terminal_events"]
    assert len({name for run in speakers for name in run}) == wanted_generated["distinct_speakers"]
    changes = sum(a != b for run in speakers for a, b in pairwise(run))
    assert changes == wanted_generated["speaker_changes"]
    assert not any(run.selections for run in generated.values())


def test_failed_executions_are_failed_observations_and_what_quotes_them_is_a_message(
    generated: dict[str, Run], wanted_generated: dict[str, Any]
) -> None:
    told = [e for run in generated.values() for e in entries(run) if "execution failed" in str(e.content)]
    assert len(told) == wanted_generated["exec_failed_observations"]
    failed = [e for run in generated.values() for e in run.of(Observation) if e.ok is False]
    assert failed == [event for event in told if isinstance(event, Observation)]
    assert sum(score(run).transient_failures for run in generated.values()) == len(failed)


def test_each_execution_is_the_call_of_the_code_before_it(generated: dict[str, Run]) -> None:
    for run in generated.values():
        ran = [event for event in run.of(Observation) if event.ok is not None]
        assert [call.call_id for call in run.actions] == [event.call_id for event in ran]
        assert all(call.arguments.get("code") for call in run.actions)


def test_no_plan_graph_is_made_up(whole: Converted) -> None:
    assert whole.conversion.graphs == ()
    assert {run.started.graph for run in whole.runs} == {None}
