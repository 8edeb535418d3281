"""AgentEval's recorded quantifier runs: means, gaps and deviations, as computed elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from untaken.errors import Unscored
from untaken.judging.criteria import (
    QuantifierRun,
    across_runs,
    criterion_means,
    join_runs,
    read_quantifier_runs,
    verify_criteria,
)
from untaken.ledger import Run


@pytest.fixture(scope="module")
def wanted(reference: dict[str, Any]) -> dict[str, Any]:
    return reference["agenteval"]


@pytest.fixture(scope="module")
def passes(real_data: Path) -> tuple[QuantifierRun, ...]:
    return read_quantifier_runs(real_data / "agenteval")


def test_every_recorded_run_is_read(passes: tuple[QuantifierRun, ...], wanted: dict[str, Any]) -> None:
    assert {run.name: len(run.items) for run in passes} == {
        k: v["problems"] for k, v in wanted["runs"].items()
    }
    levels = {c.name: len(c.accepted_values) for run in passes for c in run.criteria}
    assert levels == wanted["criteria"]


@pytest.mark.parametrize("name", ["run1", "run2", "run3", "run4"])
def test_means_by_outcome_and_what_was_said_otherwise(name, passes, wanted) -> None:
    run, want = next(run for run in passes if run.name == name), wanted["runs"][name]
    means = criterion_means(run)
    assert sum(item.success is True for item in run.items) == want["actual_success"]
    assert {
        m.name: {
            "success": m.success_mean,
            "success_n": m.success_n,
            "failed": m.failed_mean,
            "failed_n": m.failed_n,
            "gap": m.gap,
        }
        for m in means
    } == {k: pytest.approx(v) for k, v in want["mean_level_index"].items()}
    other = Counter({f"{m.name} = {said}": n for m in means for said, n in m.out_of_vocabulary.items()})
    assert dict(other) == want["out_of_vocabulary"]
    assert list(run.unparseable) == want["unparseable_replies"]


def test_gaps_and_deviations_over_the_four_runs(passes, wanted) -> None:
    assert {
        a.name: {
            "mean_of_run_gaps": a.mean_of_run_gaps,
            "mean_within_problem_pstdev": a.mean_within_problem_sd,
            "problems_with_two_or_more_values": a.problems,
            "runs": a.runs,
            "runs_where_success_mean_exceeds_failed": a.runs_ordered_rightly,
        }
        for a in across_runs(passes)
    } == {k: pytest.approx(v) for k, v in wanted["across_runs"].items()}


def test_the_verifier_keeps_what_tells_right_from_wrong_and_says_why_not(passes, wanted) -> None:
    found = verify_criteria(passes)
    checks = {check.name: check for check in found.criteria}
    assert set(found.kept) == {"Calculation Correctness", "Code Correctness"}
    interpretation = checks["Problem Interpretation"]
    assert interpretation.stability.stable
    assert interpretation.discrimination.discriminates is False
    assert interpretation.reason.startswith("rejected: stable (mean CV 0.012")
    assert "does not discriminate (a success scores above a failure in 53% of pairs" in interpretation.reason
    assert checks["Mathematical Methodology"].redundant_with == "Calculation Correctness"
    for name, check in checks.items():
        across = wanted["across_runs"][name]
        assert check.stability.sd == pytest.approx(across["mean_within_problem_pstdev"])
        assert check.stability.subjects == across["problems_with_two_or_more_values"]


def test_without_disturbed_replies_the_drop_test_is_not_done(passes: tuple[QuantifierRun, ...]) -> None:
    for check in verify_criteria(passes).criteria:
        assert isinstance(check.discrimination.drop, Unscored)
        assert check.discrimination.drop.reason.startswith("not done")
        assert check.keep or check.redundant_with or "disturbed runs: not done" in check.reason


def test_the_logs_become_runs_with_their_outcomes_rounds_and_seconds(converted, wanted) -> None:
    whole = converted("agenteval", "agenteval/model-logs")
    by_category: dict[str, list[Run]] = {}
    for run in whole.runs:
        by_category.setdefault(run.task_id.split("/")[0], []).append(run)
    assert {
        name: {
            "runs": len(runs),
            "is_correct": sum(run.success is True for run in runs),
            "mean_round": fmean(_metric(run, "round") for run in runs),
            "mean_time_s": fmean(_metric(run, "time") for run in runs),
        }
        for name, runs in by_category.items()
    } == {
        name: pytest.approx({key: want[key] for key in ("runs", "is_correct", "mean_round", "mean_time_s")})
        for name, want in wanted["logs"].items()
    }
    assert all(field.dropped == 0 for loss in whole.conversion.losses for field in loss.fields)


def test_recorded_replies_join_the_runs_they_speak_of(passes, converted) -> None:
    runs = {run.digest: run for run in converted("agenteval", "agenteval/model-logs").runs}
    joined = join_runs(passes, list(runs.values()))
    items = [item for one in joined for item in one.items]
    assert {item.task_id.split("/")[0] for item in items} == {"prealgebra"}
    assert all(item.success == runs[item.subject].success for item in items)
    assert verify_criteria(joined).kept == verify_criteria(passes).kept


def _metric(run: Run, name: str) -> float:
    return run.finished.metrics[name]
