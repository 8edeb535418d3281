"""Runs made worse: a new run in memory, the recorded one untouched, the same every time."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

import msgspec
import pytest
from builders import a_graph, a_run

from untaken.judging.criteria import ATTACKS, Attack, disturb, quantifier, quantify, quantify_disturbed
from untaken.ledger import Observation, Run, ToolCall, Verdict
from untaken.ledger.events import GENESIS
from untaken.plans import GraphSet

PLAN = a_graph(
    {"id": "look", "check": {"tool_call": {"name": "look"}}},
    {"id": "take", "deps": ["look"], "critical": True, "check": {"tool_call": {"name": "take"}}},
)
GRAPHS = GraphSet.of([PLAN])


def a_good_run(run_id: str = "good") -> Run:
    words = "First I look. Then I take it. It is done. Good bye."
    run = a_run(run_id).say("Take it. Please.", "user").say(words)
    run.call("look", "look", ok=True).call("take", "take", ok=True)
    return run.finish(success=True).verdict("take", True, evidence=(4,)).run()


NOTICED = {
    "inject_invalid_actions": {"Failed actions", "Step efficiency"},
    "insert_loops": {"Repeated actions", "Step efficiency"},
    "drop_sub_goals": {"Plan completion"},
    "shuffle": {"Plan order"},
    "delay_termination": {"Termination", "Repeated actions", "Step efficiency"},
    "flip_outcome": {"Outcome support"},
    "drop_sentences": set(),
}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_each_attack_lowers_the_criteria_matched_with_it(attack: Attack) -> None:
    run = a_good_run()
    (before,) = quantify([run], graphs=GRAPHS)
    (after,) = quantify_disturbed([run], graphs=GRAPHS, attacks=[attack])[attack.name]
    old, new = before.items[0].values, after.items[0].values
    lower = {n for n, v in new.items() if n in old and (v.level or 0) < (old[n].level or 0)}
    assert lower >= NOTICED[attack.name]
    assert after.items[0].subject == run.digest
    if attack.name == "drop_sentences":
        assert lower == set()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_disturbed_run_is_a_run_of_its_own_and_the_recorded_one_is_untouched(attack: Attack) -> None:
    run = a_good_run()
    kept = msgspec.json.encode(run.events)
    (one,) = disturb([run], GRAPHS, attack)
    assert msgspec.json.encode(run.events) == kept
    assert one.run.digest != run.digest
    assert (one.subject, one.run.integrity.verdict) == (run.digest, "UNANCHORED")
    assert attack.name in one.run.integrity.reason
    events = one.run.events
    assert [event.seq for event in events] == list(range(len(events)))
    assert events[0].prev == GENESIS
    assert all(b.prev == sha256(msgspec.json.encode(a)).hexdigest() for a, b in pairwise(events))
    assert disturb([run], GRAPHS, attack)[0].run == one.run


def test_evidence_points_at_the_event_it_pointed_at() -> None:
    loops = next(attack for attack in ATTACKS if attack.name == "insert_loops")
    (one,) = disturb([a_good_run()], GRAPHS, loops, share=1.0)
    (verdict,) = one.run.of(Verdict)
    assert verdict.evidence
    cited = one.run.events[verdict.evidence[0].seq]
    assert isinstance(cited, Observation)
    assert cited.call_id == "c1"


def test_what_is_added_comes_behind_the_answer_of_what_it_follows() -> None:
    loops = next(attack for attack in ATTACKS if attack.name == "insert_loops")
    (one,) = disturb([a_good_run()], GRAPHS, loops, share=1.0)
    assert [call.tool for call in one.run.of(ToolCall)] == ["look", "look", "take", "take"]
    ids = [event.call_id for event in one.run.events if isinstance(event, ToolCall | Observation)]
    assert ids[::2] == ids[1::2]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_where_there_is_nothing_to_disturb_there_is_no_disturbed_run(attack: Attack) -> None:
    assert disturb([a_run().run()], GRAPHS, attack) == ()
    assert disturb([broken()], GRAPHS, attack) == ()


def test_of_many_runs_some_are_disturbed_the_same_ones_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantifier, "MOST_DISTURBED", 5)
    runs = [a_good_run(f"run-{n}") for n in range(12)]
    one, other = (quantify_disturbed(some, graphs=GRAPHS) for some in (runs, runs[::-1]))
    for attack, (found,) in one.items():
        subjects = {item.subject for item in found.items}
        assert subjects == {item.subject for item in other[attack][0].items}
        assert len(subjects) == 5
    assert subjects == set(sorted(run.digest for run in runs)[:5])


def broken() -> Run:
    return a_run().say("One. Two.").call("look", "look", ok=True).finish().run("ALTERED")
