"""Choices over many runs: what is gathered, compared, adjusted for being many, and in which order."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from builders import a_run
from histories import past, seen
from msgspec.structs import replace

from untaken.counterfactual import (
    Choice,
    Choices,
    PathColumns,
    Scale,
    Weights,
    choices,
    choices_gathered,
    evaluate_run,
)
from untaken.counterfactual.advantage import compare
from untaken.counterfactual.evaluate import evaluate_runs
from untaken.counterfactual.levels import context_words
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.errors import Unscored
from untaken.ledger import Run, SkillSelection


def arm(skill: str, won: int, lost: int, context: str = "ctx") -> list[Observed]:
    return [
        seen(f"{skill}{i}", skill, success=float(i < won), cost=0.01 * i, steps=1 + i % 3, context=context)
        for i in range(won + lost)
    ]


def made(runs: Sequence[Run], log: Sequence[Observed]) -> Choices:
    memory = PolicyMemory(log)
    by_digest = {run.digest: run for run in runs}
    return choices(
        {digest: evaluate_run(run, memory) for digest, run in by_digest.items()}, by_digest, memory
    )


def found(runs: Sequence[Run], log: Sequence[Observed]) -> dict[tuple[str, str], Choice]:
    return {(choice.selected, choice.alternative): choice for choice in made(runs, log)}


def test_a_choice_gathers_every_point_that_made_it() -> None:
    runs = [past(f"r{i}", "a|b", "a|b|c", day=9 + i, success=i > 0) for i in range(3)]
    choice = found(runs, [*arm("a", 2, 8), *arm("b", 9, 1)])["a", "b"]
    assert choice.points == tuple((run.digest, seq) for run in runs for seq in (1, 2))
    assert (choice.agents, choice.tasks) == (("agent",), ("task",))
    assert (choice.n_selected, choice.n_alternative) == (10, 10)
    assert len(choice.deltas) == 6 == choice.may_be_better + choice.was_better + choice.equivalent
    assert choice.mean_delta == pytest.approx(sum(choice.deltas) / 6)
    assert choice.max_delta == max(choice.deltas) > min(choice.deltas)


def test_both_histories_are_those_of_all_that_is_known_and_of_no_single_run() -> None:
    early = past("a0", "a|b", "a|b", day=-5)  # began before anything was known, and is in the memory itself
    log = [*arm("a", 2, 8), *arm("b", 9, 1)]
    choice = found([early], log)["a", "b"]
    assert (choice.unknown, choice.deltas) == (2, ())
    assert choice.mean_delta == Unscored("the alternative had no history when any of the runs began")
    snapshot = PolicyMemory(log).snapshot()
    scale = Scale(spans=snapshot.spans(), weights=Weights())
    first, second = snapshot.record("b", "ctx"), snapshot.record("a", "ctx")
    assert first is not None
    assert second is not None
    trust = compare(first, second, scale, 0.1)
    assert (choice.advantage, choice.low, choice.high) == (trust.advantage, trust.low, trust.high)
    assert choice.support == "supported"
    assert (choice.taken, choice.other) == (second, first)


def test_an_alternative_without_history_is_a_choice_of_support_none() -> None:
    choice = found([past("r", "a|z", "a|b", day=9)], [*arm("a", 5, 5), *arm("b", 5, 5)])["a", "z"]
    assert (choice.support, choice.unknown, choice.other, choice.n_alternative) == ("none", 1, None, 0)
    assert choice.advantage == choice.low == Unscored("no run chose this alternative in this context")


def test_contexts_are_kept_apart_and_made_readable() -> None:
    run = a_run("r")
    for context in ({"step": 2, "at": "gate"}, "in words", None):
        run.add(
            SkillSelection,
            selected="a",
            alternatives=["b"],
            context_hash=f"hash of {context}",
            context=context,
        )
    known = made([run.finish(True).run()], [*arm("a", 1, 1), *arm("b", 1, 1)])
    assert {choice.context_hash: choice.context for choice in known} == {
        "hash of {'step': 2, 'at': 'gate'}": '{"at":"gate","step":2}',
        "hash of in words": "in words",
        "hash of None": None,
    }
    assert len({choice.digest for choice in known}) == 3


ORDER = [
    ("more points weigh as much as more advantage", ("bad", "often"), ("bad", "seldom")),
    ("a supported one before one that is not", ("bad", "seldom"), ("bad", "few")),
    ("an advantage before a disadvantage", ("bad", "few"), ("often", "bad")),
    ("a disadvantage before none at all", ("often", "bad"), ("bad", "never")),
]


def many() -> tuple[list[Run], list[Observed]]:
    log = [*arm("bad", 1, 19), *arm("often", 18, 2), *arm("seldom", 18, 2), *arm("few", 2, 0)]
    runs = [past(f"r{i}", "bad|often", "bad|often|few", day=9 + i) for i in range(3)]
    return [*runs, past("s", "bad|seldom|never", "often|bad", day=20)], log


@pytest.mark.parametrize(("desc", "first", "second"), ORDER, ids=[case[0] for case in ORDER])
def test_what_weighs_most_comes_first(desc, first, second) -> None:
    order = list(found(*many()))
    assert order.index(first) < order.index(second)


@pytest.mark.parametrize("most", [0, 3, 1_000])
def test_of_many_choices_those_that_no_agent_made_both_ways_in_one_task_are_made_when_asked_for(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, log = many()
    runs = [*runs, *(past(f"r{i}", "bad|apart", f"a|{'xyz'[i % 3]}", day=9) for i in range(5))]
    log += [replace(one, task_id="another task", agent="another") for one in arm("apart", 2, 1)]
    whole = tuple(made(runs, log))
    monkeypatch.setattr(choices_gathered, "LISTED", most)
    lazy = made(runs, log)
    assert lazy[:] == whole == tuple(lazy[at] for at in range(len(whole)))
    took: dict[tuple[str, str], set[object]] = {}
    for one in log:
        took.setdefault((one.skill, one.context_hash), set()).add((one.task_id, one.agent))
    alike = [
        took.get((c.selected, c.context_hash), set()) & took.get((c.alternative, c.context_hash), set())
        for c in whole
    ]
    listed = tuple(c for n, (c, both) in enumerate(zip(whole, alike, strict=True)) if n < most or both)
    assert lazy.listed == listed
    assert (lazy.known > 0) == (most == 0)
    assert lazy.known == sum(c.other is not None for c in whole) - sum(c.other is not None for c in listed)
    paths = PathColumns.joined(evaluate_runs(runs, PolicyMemory(log)).columns())
    named = [paths.kinds[kind][:2] for kind in paths.kind]
    by_number: dict[int, set[tuple[str, str]]] = {}
    for number, name in zip(lazy.of_paths.tolist(), named, strict=True):
        by_number.setdefault(number, set()).add(name)
    assert {
        number: {(c.selected, c.alternative)} for number, c in enumerate(listed)
    }.items() <= by_number.items()
    assert sorted(by_number) == list(range(len(whole)))


def test_a_pair_met_both_ways_is_one_test_of_the_family() -> None:
    log = [*arm("a", 2, 8), *arm("b", 9, 1), *arm("c", 5, 5)]
    both = found([past("r", "a|b|z", "b|a|c", day=9)], log)
    assert {choice.q_family for choice in both.values()} == {2}
    assert both["a", "b"].q == both["b", "a"].q
    alone = found([past("r", "a|b", "a|b", day=9)], log)["a", "b"]
    assert alone.q_family == 1
    assert both["a", "b"].q == pytest.approx(min(2 * alone.q, max(alone.q, both["b", "c"].q)))


def test_what_p_alone_supports_among_many_choices_is_weak_and_says_why() -> None:
    log = [*arm("a", 7, 13), *arm("b", 15, 5)]
    run = past("r", "a|b", "a|b", day=9)
    alone = found([run], log)["a", "b"]
    assert alone.support == "supported"
    rest = [(f"x{n}", f"y{n}") for n in range(20)]
    others = [o for pair in rest for skill in pair for o in arm(skill, 6, 6)]
    runs = [run, *(past(f"r{n}", f"x{n}|y{n}", f"x{n}|y{n}", day=9) for n in range(20))]
    among = found(runs, [*log, *others])["a", "b"]
    assert among.support == "weak"
    assert among.support_reason.startswith("needs about ")
    assert "over 21 choices" in among.support_reason


def null_world(seed: int, contexts: int = 200, runs: int = 10) -> tuple[Choice, ...]:
    """So many choices between two skills that are equal in truth."""
    rng = random.Random(seed)
    log = [
        seen(
            f"{skill}{c}.{i}",
            skill,
            success=float(rng.random() < 0.5),
            cost=rng.uniform(0.5, 1.5),
            steps=rng.randint(2, 9),
            context=f"c{c}",
        )
        for c in range(contexts)
        for skill in ("a", "b")
        for i in range(runs)
    ]
    chosen = [past(f"r{c}", f"a|b@c{c}", f"a|b@c{c}", day=9) for c in range(contexts)]
    return made(chosen, log)


def test_of_two_hundred_equal_pairs_hardly_one_is_a_choice_to_fix() -> None:
    worlds = [null_world(seed) for seed in range(3)]
    assert all(190 <= choice.q_family <= 200 for world in worlds for choice in world)  # nothing varies in few
    # One world in ten expected.
    assert sum(any(choice.succeeds > 0 for choice in world) for world in worlds) <= 1


def test_support_says_whether_the_alternative_is_better_or_worse() -> None:
    choice = found([past("r", "bad|good", "good|bad", day=9)], [*arm("bad", 1, 19), *arm("good", 18, 2)])
    assert {key: (one.support, one.direction, one.side) for key, one in choice.items()} == {
        ("bad", "good"): ("supported", "better", "ahead"),
        ("good", "bad"): ("supported", "worse", "behind"),
    }
    weak = found([past("r", "a|b", "a|b", day=9)], [*arm("a", 2, 2), *arm("b", 2, 2)])["a", "b"]
    assert (weak.support, weak.direction, weak.side) == ("weak", None, "weak")


CONTEXTS = [
    (None, "context c0ffee00"),
    ("plain words", "plain words"),
    ('{"step":"order","n":2}', "step order · n 2"),
    ('{"done":{"look":2,"ask":1},"left":{},"task":"t"}', "task t · done look 2, ask 1 · left nothing"),
    ('{"late":true,"lost":false,"rich":null}', "late · not lost · rich ?"),
    ("{}", "empty context"),
    ("[1,2]", "[1,2]"),
    ("[" * 5_000, "[" * 5_000),
    ('{"cut', '{"cut'),
]


@pytest.mark.parametrize(("context", "want"), CONTEXTS)
def test_a_context_is_shown_in_words(context: str | None, want: str) -> None:
    assert context_words(context, "c0ffee00c0ffee") == want
