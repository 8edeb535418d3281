# One case a line, however long, reads best.
# ruff: noqa: E501
"""What an alternative costs in critical sub-goals: counted inside tasks that have both, else over all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from builders import a_graph, a_run, ready
from scipy.stats import fisher_exact

from untaken.counterfactual.critical import CriticalCost, critical_costs
from untaken.errors import Unscored
from untaken.scoring import RunScore, score_run

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
CASES = [
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


@pytest.mark.parametrize(("desc", "alternative", "selected", "want"), CASES, ids=[case[0] for case in CASES])
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
