"""Statements of plan decisions against the rule of the documentation, written out with fractions (§2d).

At most three tasks, so that every comparison is one within task and agent.
"""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from statements_by_hand import check_statements

from untaken.counterfactual.plan import Option, PlanDecision, PlanPath, PlanState
from untaken.counterfactual.plan.statements import contrasts, statements

GOALS = ("book", "pay")
Walk = list[tuple[frozenset[str], bool, str]]


def a_walk(rng: Random) -> Walk:
    """What a run did, each with the goals met and whether anything unplanned was changed before."""
    met: frozenset[str] = frozenset()
    strayed, walk = False, []
    while True:
        did = rng.choice(["stop", "stray", *(goal for goal in GOALS if goal not in met)])
        walk.append((met, strayed, did))
        if did == "stop":
            return walk
        met, strayed = met | {did} & set(GOALS), strayed or did == "stray"


def as_path(n: int, task: str, agent: str, walk: Walk, ok: bool) -> PlanPath:
    decisions = []
    for seq, (met, strayed, did) in enumerate(walk):
        left = len(GOALS) - len(met)
        option = (
            Option("stop_open" if left else "stop_done")
            if did == "stop"
            else Option("unplanned", "write")
            if did == "stray"
            else Option("advance", did)
        )
        decisions.append(
            PlanDecision(seq, PlanState(made=tuple(sorted(met)), unplanned=strayed), left, option)
        )
    return PlanPath(
        digest=str(n),
        run_id=f"r{n}",
        task_id=task,
        agent=agent,
        graph_id="desk",
        domain=("write",),
        success=ok,
        decisions=tuple(decisions),
        as_planned=ok,
    )


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(2, 9), st.sampled_from([0.0, 0.5, 0.9]))
@example(0, 1, 5, 0.0)  # a least p of exactly 1/20
def test_statements_and_their_q_are_those_of_the_rule_in_fractions(seed, tasks, trials, effect) -> None:
    rng, paths = Random(seed), []
    for n in range(tasks * 2 * trials):
        walk = a_walk(rng)
        chance = 0.5 + effect / 2 * (1 if walk[0][2] in GOALS else -1)
        names = f"t{n % tasks}", f"a{n // tasks % 2}"
        paths.append(as_path(n, *names, walk, rng.random() < chance))
    success = np.array([path.success is True for path in paths], dtype=float)
    check_statements(paths, statements(contrasts(paths), paths, success))
