"""How far two people agree on what to blame: printed beside any automatic blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import blame, blame_rivals
from untaken.analysis.failure_modes.agreement import steps_of
from untaken.analysis.failure_modes.root_causes import (
    DECISIVE_RECORD,
    FIRST_FAILED_RECORD,
    NAMED_BY_PEOPLE,
    TWO_PEOPLE,
    ceiling_words,
    root_cause_agreement,
    root_causes,
)

DOCS = Path(__file__).parents[2] / "docs"


def test_two_people_name_the_same_step_in_a_quarter_of_the_runs(real_data, monkeypatch) -> None:
    monkeypatch.setattr(blame, "RECORDS", real_data)
    (found,) = root_cause_agreement(blame.twice_labelled())
    assert (found.runs, found.same_step, found.near_step, found.same_sub_goal) == (24, 6, 8, 14)
    assert found.kappa == pytest.approx(0.35, abs=0.005)
    assert "in 6 of 24 runs (25%, 95% 11% to 47%), at most one step apart in 8 (33%" in ceiling_words([found])


def test_the_orchestrators_own_plan_and_ledger_give_attempts_but_seldom_the_blamed_step(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "RECORDS", real_data)
    runs = blame.twice_labelled()
    seen = [blame.Orchestrated.of(run) for run in runs]
    assert (sum(one.items for one in seen), sum(len(one.attempts) for one in seen)) == (253, 351)
    for person, labelled, hits in (("human:who-and-when", 30, 2), ("human:agentrx", 24, 2)):
        causes = [
            (one, steps_of(run), root_causes(run).get(person)) for run, one in zip(runs, seen, strict=True)
        ]
        named = [(one, steps[cause.event]) for one, steps, cause in causes if cause]
        right = [one.guesses()["open sub-goal, first try"] == step for one, step in named]
        assert (len(right), sum(right)) == (labelled, hits)


def test_the_documentation_holds_every_rule_beside_chance_and_two_people(real_data, monkeypatch) -> None:
    monkeypatch.setattr(blame, "RECORDS", real_data)
    page = (DOCS / "findings-on-public-records.md").read_text(encoding="utf-8")
    sets = blame_rivals.labelled_sets()
    written = [name for name in sets if not name.endswith("from 0")]
    table = [row for name in written for row in blame_rivals.rows(sets[name]())]
    table.append(blame_rivals.ceiling_row(blame_rivals.two_people()))
    assert [row for row in table if row.replace("(-", "(−") not in page] == []
    assert len(table) == 6 + 4 + 4 + 3 + 1


def test_pages_and_documentation_promise_no_more_of_blame_than_was_measured(real_data, monkeypatch) -> None:
    monkeypatch.setattr(blame, "RECORDS", real_data)
    found = {
        one.name: one
        for one in blame_rivals.rules_of(blame_rivals.retail(real_data / "agentrx"))
        if not one.reach
    }
    decisive, first = found["decisive step"], found["first failed sub-goal"]
    for rule, words in ((decisive, DECISIVE_RECORD), (first, FIRST_FAILED_RECORD)):
        assert f"{rule.hits} of {rule.runs} " in words
        assert f"{rule.share:.0%}, 95% {rule.low:.0%} to {rule.high:.0%}; by chance" in words
        assert f"by chance {rule.chance / rule.runs:.0%})" in words
    assert found["first plan change"].hits == decisive.hits
    assert f"{decisive.hits} of {decisive.runs} " in NAMED_BY_PEOPLE
    people = blame_rivals.two_people()
    assert f"{people.same_step} of {people.runs} " in TWO_PEOPLE
    assert f"{people.same:.0%}, 95% {people.same_low:.0%} to {people.same_high:.0%}" in TWO_PEOPLE
    for name in ("concepts", "limitations"):
        page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert f"{decisive.share:.0%}, {decisive.low:.0%} to {decisive.high:.0%}" in page
        assert f"{people.same:.0%}, {people.same_low:.0%} to {people.same_high:.0%}" in page
