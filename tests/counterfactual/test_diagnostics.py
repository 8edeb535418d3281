"""Placebo, single runs that carry too much, and what an alternative costs in critical sub-goals."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from builders import a_graph, a_run, ready
from histories import past, seen
from scipy.stats import fisher_exact

from untaken.counterfactual import Weights, diagnose, evaluate_run, influence, placebo
from untaken.counterfactual.critical import CriticalCost, critical_costs
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.scoring import RunScore, score_run

SUCCESS_ONLY = Weights(success=1.0, cost=0.0, steps=0.0)


def corpus(runs: int = 60, *, better: float = 0.9, worse: float = 0.2, seed: int = 5) -> list[Run]:
    """Runs of two decisions; b is far better than a, c is chosen by nobody."""
    random = np.random.default_rng(seed)
    found = []
    for day in range(runs):
        skill, other = ("a", "b") if random.random() < 0.5 else ("b", "a")
        won = bool(random.random() < (better if skill == "b" else worse))
        choice, cost = f"{skill}|{other}|c", 1.0 + day % 3
        found.append(past(f"r{day:02}", choice, choice, day=day, success=won, cost=cost, steps=day % 5))
    return found


def test_a_placebo_finds_nothing_where_the_comparisons_themselves_find_much() -> None:
    runs = corpus()
    memory = PolicyMemory.build(runs)
    compared = [b for r in runs for d in evaluate_run(r, memory).decisions for b in d.branches]
    real = [b for b in compared if not isinstance(b.low, Unscored)]
    assert sum(b.support == "supported" for b in real) > 0.6 * len(real)
    found = placebo(runs, memory)
    assert found.advantage_low <= 0 <= found.advantage_high
    assert found.delta_low <= 0 <= found.delta_high
    assert found.supported_low <= 0.05
    assert found.comparisons > 9 * len(real)


def arm(skill: str, won: int, lost: int) -> list[Observed]:
    return [seen(f"{skill}{i}", skill, success=float(i < won), day=i) for i in range(won + lost)]


CASES = [
    ("nothing hangs on one run", arm("a", 2, 18) + arm("b", 18, 2), "supported", ()),
    ("three runs, of which each is needed", arm("a", 1, 19) + arm("b", 3, 0), "supported", ("b0", "b1", "b2")),
    ("what is not supported cannot be lost", arm("a", 5, 5) + arm("b", 5, 5), "weak", ())
]  # fmt: skip


@pytest.mark.parametrize(("desc", "log", "support", "lost"), CASES, ids=[case[0] for case in CASES])
def test_runs_without_which_support_is_lost_are_named(desc, log, support, lost) -> None:
    found = influence(PolicyMemory(log), "ctx", selected="a", alternative="b", weights=SUCCESS_ONLY)
    assert (found.support, found.lost_without) == (support, lost)
    assert found.runs == len(found.without) == len(log)


def test_leaving_a_run_out_is_the_comparison_of_a_memory_that_never_saw_it() -> None:
    log = [*arm("a", 3, 5), *arm("b", 5, 2), seen("odd", "b", success=0.0, cost=9.0, steps=7)]
    found = influence(PolicyMemory(log), "ctx", selected="a", alternative="b")
    for one in found.without:
        fresh = influence(
            PolicyMemory(o for o in log if o.run_id != one.run_id), "ctx", selected="a", alternative="b"
        )
        assert (one.advantage, one.low, one.high) == (fresh.advantage, fresh.low, fresh.high)
    assert found.moved_by == "odd"
    assert found.advantage_without == next(w.advantage for w in found.without if w.run_id == "odd")


def test_a_diagnosis_looks_at_each_supported_pair_once_in_the_better_direction() -> None:
    runs = corpus()
    memory = PolicyMemory.build(runs)
    found = diagnose(runs, memory, [evaluate_run(run, memory) for run in runs], rounds=2)
    assert [(one.selected, one.alternative) for one in found.influence] == [("a", "b")]
    assert found.influence[0].advantage > 0
    assert found.contrasts == ()


GRAPH = a_graph(
    ready("policy", critical=True, title="Check policy"),
    ready("pay", "policy"),
    ready("note", critical=True, title="Write a note"),
    ready("rest"),
)


def scored(name: str, did: str, task: str = "t") -> RunScore:
    """A run that did these steps, each by its first two letters; one with a ``!`` did not succeed."""
    run = a_run(name, task=task)
    for step in did.split():
        tool = next(node.id for node in GRAPH.sub_goals if node.id.startswith(step[:2]))
        run.call(tool).state(**{tool: not step.endswith("!")})
    return score_run(run.finish().run(), GRAPH)


def costs(alternative: Sequence[RunScore], selected: Sequence[RunScore]) -> list[CriticalCost]:
    scores = {run.digest: run for run in (*alternative, *selected)}
    both = ([run.digest for run in side] for side in (alternative, selected))
    return list(critical_costs({**scores, "none": Unscored("no plan")}, *([*side, "none"] for side in both)))


def side(prefix: str, runs: dict[str, int], task: str = "t") -> list[RunScore]:
    return [scored(f"{prefix}{task}{did}{n}", did, task) for did, many in runs.items() for n in range(many)]


POLICY = "Check policy"
COSTS = [
    ("skipped", {"no": 8, "po no": 2}, {"no": 1, "po no": 9}, [("skipped", POLICY, (8, 10), (1, 10))]),
    ("tried", {"po! no": 8, "po no": 2}, {"po no": 9}, [("not completed", POLICY, (8, 10), (0, 9))]),
    ("half skip", {"po! no": 4, "no": 4}, {"po no": 9}, [("not completed", POLICY, (8, 8), (0, 9))]),
    ("most skip", {"po! no": 4, "no": 5}, {"po no": 9}, [("skipped", POLICY, (9, 9), (0, 9))]),
    ("two of ten is one", {"no": 2, "po no": 8}, {"po no": 10}, [("skipped", POLICY, (2, 10), (0, 10))]),
    ("one of ten is none", {"no": 1, "po no": 9}, {"po no": 10}, []),
    ("better than the other", {"po no": 9}, {"no": 9}, []),
    ("the same", {"po no": 4, "no": 5}, {"po no": 4, "no": 5}, []),
    ("nobody took the other", {"no": 9}, {}, []),
    ("passed and violated, the larger difference first", {"pa no": 6, "po no": 3, "po": 1}, {"po no": 10, "pa no": 0}, [("skipped", POLICY, (6, 10), (0, 10)), ("violated", POLICY, (6, 10), (0, 10))]),
    ("two sub-goals, the larger difference first", {"no": 6, "po": 9}, {"po no": 15}, [("skipped", "Write a note", (9, 15), (0, 15)), ("skipped", POLICY, (6, 15), (0, 15))]),
    ("of equal differences, by title", {"re": 9}, {"po no": 9}, [("skipped", POLICY, (9, 9), (0, 9)), ("skipped", "Write a note", (9, 9), (0, 9))])
]  # fmt: skip


@pytest.mark.parametrize(("desc", "alternative", "selected", "want"), COSTS, ids=[case[0] for case in COSTS])
def test_a_cost_is_a_critical_sub_goal_that_the_alternative_misses_more_often(
    desc, alternative, selected, want
) -> None:
    found = costs(side("a", alternative), side("s", selected))
    assert [(one.kind, one.title, one.alternative, one.selected) for one in found] == want
    for one in found:
        (k1, n1), (k0, n0) = one.alternative, one.selected
        assert one.p == pytest.approx(fisher_exact([[k1, n1 - k1], [k0, n0 - k0]]).pvalue)


def test_tasks_that_have_one_option_alone_do_not_count_where_any_has_both() -> None:
    shared = side("a", {"no": 8}), side("s", {"po no": 8})
    alone = side("a", {"po no": 20}, "easy"), side("s", {"no": 20}, "hard")
    (one,) = costs([*shared[0], *alone[0]], [*shared[1], *alone[1]])
    assert (one.alternative, one.selected) == ((8, 8), (0, 8))
    (over_all,) = costs(side("a", {"no": 8}, "easy"), side("s", {"po no": 8}, "hard"))
    assert (over_all.alternative, over_all.selected) == ((8, 8), (0, 8))
