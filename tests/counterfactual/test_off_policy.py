"""Estimates from logged odds: against the published formulas, and against a truth that plain means miss."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import msgspec
import numpy as np
import pytest
from builders import a_run
from histories import on_day
from msgspec import structs
from scipy import stats

from untaken.counterfactual.memory import PolicyMemory
from untaken.counterfactual.off_policy import LoggedChoice, OffPolicy, contrast, logged_choices, off_policy
from untaken.counterfactual.scoring import Outcome, Weights
from untaken.errors import Unscored, number
from untaken.ledger import Run, SkillSelection

SUCCESS_ONLY = Weights(success=1.0, cost=0.0, steps=0.0)


def choice(
    run: str, skill: str, success: float, odds: dict[str, float] | None, *, context: str = "ctx"
) -> LoggedChoice:
    outcome = Outcome(success=success, cost=0.5, steps=0.5)
    return LoggedChoice(run=run, unit=run, context_hash=context, skill=skill, odds=odds, outcome=outcome)


def simulated(runs: int, seed: int) -> list[LoggedChoice]:
    """Easy runs succeed more often, and mostly choose b; the context does not tell which are easy.

    Both skills are worth the same in truth: 0.5 · (0.8 + 0.2) = 0.5.
    """
    random = np.random.default_rng(seed)
    found = []
    for run in range(runs):
        easy = random.random() < 0.5
        odds = {"a": 0.2, "b": 0.8} if easy else {"a": 0.8, "b": 0.2}
        success = float(random.random() < (0.8 if easy else 0.2))
        for _ in range(random.integers(1, 3)):
            skill = "b" if random.random() < odds["b"] else "a"
            found.append(choice(f"r{run}", skill, success, odds))
    return found


class Reference(NamedTuple):
    """Straight from the published formulas, one array operation a line."""

    snips: float
    dr: float
    effective: float
    largest_share: float
    snips_pull: np.ndarray
    dr_pull: np.ndarray
    """How far each run pulls the estimate."""


def reach(pull: np.ndarray, effective: float) -> float:
    """Half an interval of 95%: by Student's t, as of a sum over so many runs."""
    return float(stats.t.ppf(0.975, effective - 1) * np.sqrt((pull**2).sum() * effective / (effective - 1)))


def least(won: float, n: float) -> float:
    """Half an interval by the variance of a success rate Beta(½ + s, ½ + f) of so many runs."""
    return float(stats.t.ppf(0.975, n - 1) * stats.beta(0.5 + won * n, 0.5 + (1 - won) * n).std())


def reference(choices: list[LoggedChoice], skill: str) -> Reference:
    runs = np.array([c.run for c in choices])
    y = np.array([c.outcome.success for c in choices])
    taken = np.array([c.skill == skill for c in choices])
    odds = np.array([(c.odds or {})[skill] for c in choices])
    w = taken / odds
    q = np.array([y[taken & (runs != run)].mean() for run in runs])
    each = np.unique(runs)
    by_run = np.array([w[runs == run].sum() for run in each])
    snips, brackets = (w * y).sum() / w.sum(), q + w * (y - q)
    return Reference(
        snips=float(snips),
        dr=float(brackets.mean()),
        effective=float(by_run.sum() ** 2 / (by_run**2).sum()),
        largest_share=float(by_run.max() / by_run.sum()),
        snips_pull=np.array([(w * (y - snips))[runs == run].sum() for run in each]) / w.sum(),
        dr_pull=np.array([(brackets - brackets.mean())[runs == run].sum() for run in each]) / len(y),
    )


@pytest.mark.parametrize("skill", ["a", "b"])
def test_estimates_are_those_of_the_published_formulas(skill: str) -> None:
    choices = simulated(60, seed=1)
    found, expected = off_policy(choices, SUCCESS_ONLY)["ctx", skill], reference(choices, skill)
    assert found.snips == pytest.approx(expected.snips)
    assert found.dr == pytest.approx(expected.dr)
    assert found.effective == pytest.approx(expected.effective)
    assert found.largest_share == pytest.approx(expected.largest_share)
    for value, low, high, pull in (
        (found.snips, found.snips_low, found.snips_high, expected.snips_pull),
        (found.dr, found.dr_low, found.dr_high, expected.dr_pull),
    ):
        far = max(reach(pull, expected.effective), least(expected.snips, expected.effective))
        assert (low, high) == pytest.approx((max(0, value - far), min(1, value + far)))
    assert found.offered == len(choices)
    assert found.n == sum(c.skill == skill for c in choices)


def test_a_contrast_is_the_difference_of_two_estimates_over_choices_that_offered_both() -> None:
    only_a = [choice(f"x{i}", "a", 1.0, {"a": 1.0, "b": 0.0}) for i in range(5)]
    choices = simulated(60, seed=2)
    found = contrast([*only_a, *choices], "ctx", selected="a", alternative="b", weights=SUCCESS_ONLY)
    first, second = reference(choices, "b"), reference(choices, "a")
    assert found.snips == pytest.approx(first.snips - second.snips)
    assert found.dr == pytest.approx(first.dr - second.dr)
    far = reach(first.dr_pull - second.dr_pull, min(first.effective, second.effective))
    assert (found.dr_low, found.dr_high) == pytest.approx((found.dr - far, found.dr + far))
    assert found.effective == pytest.approx(min(first.effective, second.effective))
    assert found.largest_share == pytest.approx(max(first.largest_share, second.largest_share))
    assert found.offered == len(choices)


def test_runs_that_all_succeeded_do_not_make_a_skill_certain() -> None:
    some = [choice(f"r{i}", "a", 1.0, {"a": 0.5, "b": 0.5}) for i in range(5)]
    found = off_policy(some, SUCCESS_ONLY)["ctx", "a"]
    for low, high in ((found.snips_low, found.snips_high), (found.dr_low, found.dr_high)):
        assert (low, high) == (pytest.approx(1 - least(1.0, 5)), 1.0)
    half = off_policy(some, Weights(success=0.5, cost=0.3, steps=0.2))["ctx", "a"]
    assert half.snips_low == pytest.approx(half.snips - least(1.0, 5) / 2)  # success is half of the score


def test_odds_undo_a_preference_that_plain_means_mistake_for_worth() -> None:
    plain, snips, dr, held = [], [], [], {"snips": 0, "dr": 0}
    for seed in range(150):
        choices = simulated(60, seed=seed)
        means = {s: np.mean([c.outcome.success for c in choices if c.skill == s]) for s in "ab"}
        found = contrast(choices, "ctx", selected="a", alternative="b", weights=SUCCESS_ONLY)
        plain.append(means["b"] - means["a"])
        snips.append(number(found.snips) or 0.0)
        dr.append(number(found.dr) or 0.0)
        for name in held:
            low, high = getattr(found, f"{name}_low"), getattr(found, f"{name}_high")
            held[name] += low <= 0 <= high
    assert np.mean(plain) > 0.3
    for estimates in (snips, dr):
        assert abs(np.mean(estimates)) < 3 * np.std(estimates) / len(estimates) ** 0.5
    assert min(held.values()) / 150 >= 0.95 - 3 * (0.95 * 0.05 / 150) ** 0.5


def test_choices_without_odds_are_left_out_and_counted() -> None:
    choices = [
        *(choice(f"r{i}", "a", float(i % 2), {"a": 0.5, "b": 0.5}) for i in range(6)),
        *(choice(f"s{i}", "a", 1.0, None) for i in range(4)),
        choice("t", "b", 1.0, None),
        choice("u", "c", 1.0, {"c": 1.0}),
    ]
    found = off_policy(choices, SUCCESS_ONLY)
    a = found["ctx", "a"]
    assert (a.n, a.offered, a.left_out, a.snips) == (6, 6, 4, 0.5)
    assert found["ctx", "b"].snips == Unscored("no run took the skill with logged probabilities")
    assert found["ctx", "b"].left_out == 1


def test_one_run_gives_an_estimate_without_interval_and_no_doubly_robust_one() -> None:
    found: OffPolicy = off_policy([choice("r", "a", 1.0, {"a": 0.5})], SUCCESS_ONLY)["ctx", "a"]
    assert found.snips == 1.0
    assert (
        found.snips_low
        == found.dr
        == Unscored("fewer than two runs took the skill with logged probabilities")
    )
    two = [choice(run, "a", 1.0, {"a": 0.5}) for run in ("r", "s")]
    assert off_policy(two, SUCCESS_ONLY)["ctx", "a"].dr == 1.0


def logging_run(run_id: str, day: float, skill: str, odds: dict[str, float] | None, **finish: object) -> Run:
    builder = a_run(run_id)
    builder.add(
        SkillSelection, selected=skill, alternatives=["a", "b"], context_hash="ctx", propensities=odds
    )
    return on_day(builder.finish(**finish).run(), day)  # type: ignore[arg-type]


def test_choices_come_from_the_runs_that_memory_takes_on_the_scale_of_the_whole_snapshot() -> None:
    runs = [
        logging_run("r0", 0, "a", {"a": 0.5, "b": 0.5}, success=True, cost=0.0, steps=2),
        logging_run("r1", 1, "b", {"a": 0.5, "b": 0.5}, success=False, cost=1.0, steps=6),
        logging_run("r2", 2, "a", None, success=True, cost=0.5, steps=4),
        logging_run("r3", 3, "a", {"a": 0.0, "b": 1.0}, success=True, cost=0.5, steps=4),
        logging_run("r4", 4, "a", {"a": 1e-300}, success=True, cost=0.5, steps=4),
        logging_run("r5", 5, "a", {"a": 0.5}, success=None, cost=0.5, steps=4),
    ]
    broken = replace(runs[0], integrity=structs.replace(runs[0].integrity, verdict="ALTERED"))
    found = logged_choices([*runs, runs[0], broken], PolicyMemory.build(runs).snapshot())
    assert [c.odds is not None for c in found] == [True, True, False, False, False]
    assert msgspec.structs.astuple(found[2].outcome) == (1.0, 0.5, 0.5)
    assert off_policy(found)["ctx", "a"].snips == 1.0
    assert off_policy(found)["ctx", "a"].left_out == 3


def test_a_figure_that_some_choice_lacks_is_left_out_of_the_whole_context() -> None:
    lacking = LoggedChoice(
        run="r",
        unit="r",
        context_hash="ctx",
        skill="a",
        odds={"a": 1.0},
        outcome=Outcome(success=1.0, cost=None, steps=0.0),
    )
    found = off_policy([lacking, choice("s", "a", 0.0, {"a": 1.0})])["ctx", "a"]
    # (0.5·1 + 0.2·1) / 0.7 and 0.2·0.5 / 0.7, in the mean.
    assert found.snips == pytest.approx((1 + 0.1 / 0.7) / 2)


@pytest.mark.parametrize(("runs", "said"), [(10, False), (9, True), (1, False)])
def test_intervals_from_fewer_than_ten_runs_worth_say_that_they_are_too_narrow(runs: int, said: bool) -> None:
    """A single run has none."""
    odds = {"a": 0.5, "b": 0.5}
    log = [choice(f"{skill}{i}", skill, float(i % 2), odds) for skill in "ab" for i in range(runs)]
    found = contrast(log, "ctx", selected="a", alternative="b")
    assert number(found.effective) == runs
    assert bool(found.caution) is said
