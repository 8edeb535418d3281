"""What may be advised: by success alone, never at a critical cost; and what is only cheaper, apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from builders import a_graph, a_run
from histories import on_day

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.fix_first import Advice, advice, statement_parts
from untaken.analysis.fix_first.advice import BETWEEN_AGENTS
from untaken.ledger import Run
from untaken.plans import GraphSet

GRAPH = a_graph(
    {"id": "policy", "title": "Check policy", "critical": True, "rules": [{"tool": "policy"}],
     "check": {"tool_call": {"name": "policy"}}},
    {"id": "pay", "title": "Pay", "rules": [{"tool": "pay"}], "check": {"tool_call": {"name": "pay"}}}
)  # fmt: skip


class Arm(NamedTuple):
    """Runs that took one skill: of how many, how many succeed, how many check the policy, what they cost."""

    runs: int
    succeed: int
    check: int
    cost: float
    steps: int = 4


def runs_of(arms: dict[str, Arm], *, tasks: int = 1) -> list[Run]:
    """The arms' runs, taken in turns, each with the choice made twice."""
    found = []
    for skill, arm in arms.items():
        other = next(name for name in arms if name != skill)
        for i in range(arm.runs):
            run = a_run(f"{skill}-{i}", metadata={"seed": i}, task=f"task-{i % tasks}").select(skill, other)
            run.select(skill, other, context="later")
            if (i * 7) % arm.runs < arm.check:
                run.call("policy")
            run.call("pay").finish(
                (i * 3) % arm.runs < arm.succeed, cost=arm.cost + 0.001 * (i % 3), steps=arm.steps + i % 2
            )
            found.append(on_day(run.run(), i))
    return found


def corpus_of(runs: Sequence[Run]) -> Corpus:
    return evaluate_corpus(runs, GraphSet.of([GRAPH]), resamples=0)


def advised(**arms: Arm) -> Advice:
    return advice(corpus_of(runs_of(arms)))


class Case(NamedTuple):
    desc: str
    slow: Arm
    quick: Arm
    choices: list[bool]
    """Whether each alternative that succeeded more often is recommended."""
    cheaper: int = 0
    skipping: int = 0


CASES = [
    Case("more success at no cost", Arm(40, 12, 40, 0.3), Arm(40, 36, 40, 0.3), [True]),
    Case("more success, the critical step skipped", Arm(40, 12, 40, 0.3), Arm(40, 36, 8, 0.3), [False]),
    Case("two cents less, same success", Arm(40, 28, 40, 0.3), Arm(40, 28, 40, 0.28), [], cheaper=1),
    Case("two cents less by skipping the step", Arm(40, 28, 40, 0.3), Arm(40, 28, 8, 0.28), [], skipping=1),
    Case("fewer steps, same success", Arm(40, 28, 40, 0.3, 9), Arm(40, 28, 40, 0.3, 4), [], cheaper=1),
    Case("cheaper, and less success", Arm(40, 36, 40, 0.3), Arm(40, 12, 40, 0.1), [True]),
    Case("dearer, and more success", Arm(40, 12, 40, 0.1), Arm(40, 36, 40, 0.9), [True]),
    Case("three runs a side", Arm(3, 0, 3, 0.3), Arm(3, 3, 3, 0.3), []),
    Case("nothing differs", Arm(40, 28, 40, 0.3), Arm(40, 28, 40, 0.3), [])
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.desc)
def test_advice_goes_by_success_and_costs_no_critical_sub_goal(case: Case) -> None:
    found = advised(slow=case.slow, quick=case.quick)
    contexts = 2  # each run chose in two
    assert [one.recommended for one in found.choices] == [
        each for each in case.choices for _ in range(contexts)
    ]
    assert len(found.cheaper) == contexts * case.cheaper
    assert found.skipping == contexts * case.skipping


def test_a_critical_sub_goal_that_is_skipped_is_said_first_and_is_the_reason() -> None:
    found = advised(slow=Arm(10, 1, 10, 0.3), quick=Arm(10, 9, 2, 0.3))
    one = found.choices[0]
    assert one.cautions == one.reason == "skips ★ Check policy in 8 of 10 runs (the other: 0 of 10)"
    assert not found.recommended
    assert (one.often.share, one.gain) == pytest.approx((10 / 20, 10 / 20 * 8 / 10))
    assert 0.1 < one.gain_low < one.gain < one.gain_high


def test_what_is_saved_is_given_a_run_and_in_total() -> None:
    found = advised(slow=Arm(40, 28, 40, 0.3), quick=Arm(40, 28, 40, 0.28))
    one = found.cheaper[0]
    assert one.cost.per_run == pytest.approx(0.02)
    assert one.cost.low < 0.02 < one.cost.high
    assert one.cost.total == pytest.approx(40 * 0.02)
    assert one.choice.called == "same success, cheaper"
    # Beside it: by how much the success may still differ.
    assert one.choice.parts.saving_words.endswith("success inside task and agent −21 to +21 points (95%)")
    assert one.choice.parts.words == "success 28 of 40 against 28 of 40 · cost $0.02 less · steps the same"


def equal_success(seed: int, runs: int = 30) -> Corpus:
    """Runs of one agent in six tasks: both habits succeed in 70%; the quick one costs two cents less."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(2 * runs):
        quick = bool(rng.random() < 0.5)
        one, other = ("quick", "careful") if quick else ("careful", "quick")
        run = (
            a_run(f"r{i}", task=f"task-{rng.integers(6)}")
            .select(one, other)
            .select(one, other, context="later")
        )
        if not quick or rng.random() < 0.2:
            run.call("policy")
        run.call("pay").finish(
            bool(rng.random() < 0.7), cost=0.3 - 0.02 * quick + rng.normal(0, 0.004), steps=6 - quick
        )
        found.append(on_day(run.run(), i))
    return corpus_of(found)


def test_skipping_a_critical_check_for_two_cents_is_recommended_in_none_of_thirty_corpora() -> None:
    found = [advice(equal_success(seed)) for seed in range(30)]
    assert sum(any(c.choice and c.choice.alternative == "quick" for c in a.recommended) for a in found) == 0
    assert all(one.choice.alternative != "quick" for a in found for one in a.cheaper)
    assert sum(a.skipping > 0 for a in found) >= 15  # that it is cheaper is counted


PLAN = a_graph(
    {"id": "refund", "check": {"tool_call": {"name": "refund"}}}, mutates=["refund", "other"], tasks=["t*"]
)


def statements(price: float | None, agents: int = 1) -> Corpus:
    """Each task four times: a refund succeeds in 4 steps, the other change fails in 6, 0.02 dearer."""
    runs = []
    for task in range(4 * agents):
        for trial in range(4):
            right = (trial + task) % 4 > 1
            agent = f"agent-{trial % agents}"
            run = a_run(f"r{task}{trial}", task=f"t{task}", agent=agent, metadata={"seed": trial})
            cost = None if price is None else price + 0.02 * (not right)
            run.call("refund" if right else "other", ok=True)
            runs.append(run.finish(right, steps=4 if right else 6, cost=cost, cost_unit="usd").run())
    return evaluate_corpus(runs, GraphSet.of([PLAN]), resamples=0)


@pytest.mark.parametrize(
    ("price", "cost"), [(0.10, "cost $0.02 less"), (None, "cost not recorded")], ids=["priced", "unpriced"]
)
def test_a_statement_about_plan_changes_says_what_its_options_differ_in_in_units(price, cost) -> None:
    corpus = statements(price)
    one, *_ = (choice for choice in advice(corpus).choices if choice.kind == "plan")
    assert one.parts == statement_parts(corpus, one.statement)
    assert one.parts.within_words == f"success 100 points more · {cost} · 2 steps fewer"


@pytest.mark.parametrize(("agents", "reason"), [(1, ""), (4, BETWEEN_AGENTS)])
def test_what_is_compared_between_agents_alone_is_advised_and_never_recommended(agents, reason) -> None:
    one, *_ = (choice for choice in advice(statements(0.1, agents)).choices if choice.kind == "plan")
    assert (one.reason, one.recommended) == (reason, not reason)
