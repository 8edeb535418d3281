"""The report says what of the plan is in doubt, and what changed between versions."""

from __future__ import annotations

import pytest
from builders import a_graph, a_run

from untaken import html_report
from untaken.analysis.corpus import Corpus, evaluate_corpus

HOSTILE = "<b onclick=x>Pay</b>"


def corpus(expected: int, *, skipped: bool = False) -> Corpus:
    """Runs of two versions that pay 67; the second may skip that."""
    runs = []
    for n in range(24):
        second = n % 2 == 1
        run = a_run(f"r{n}", task=f"t{n // 4}", version=HOSTILE if second else "1")
        run.call("look", ok=True, n=n)
        if not (skipped and second):
            run.call("pay", ok=True, amount=67, n=n)
        runs.append(run.finish(not (skipped and second)).run())
    check = {"tool_call": {"name": "pay", "arguments": {"amount": expected}}}
    graph = a_graph({"id": "pay", "title": HOSTILE, "check": check})
    return evaluate_corpus(runs, graph, resamples=20)


@pytest.mark.parametrize("full", [True, False])
def test_a_doubtful_sub_goal_is_in_the_report_with_the_edit_that_runs_suggest(full: bool) -> None:
    page = html_report(corpus(78), full=full)
    assert "Is the plan right?" in page
    assert "amount 67 instead of 78" in page
    assert "<b onclick" not in page


def test_a_sound_plan_takes_no_room_in_the_report() -> None:
    assert "Is the plan right?" not in html_report(corpus(67))


def test_what_changed_between_versions_is_in_the_report() -> None:
    page = html_report(corpus(67, skipped=True))
    assert "What changed between versions" in page
    assert "more often skipped" in page
    assert "<b onclick" not in page
