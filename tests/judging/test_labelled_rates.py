"""Rates from a few labels and a judge, over recorded verdicts (docs/concepts.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from builders import EPOCH, RunBuilder, a_run

from untaken.cli import main
from untaken.errors import Unscored, UntakenError
from untaken.judging import LabelledRate, LabelledRates, labelled_rates
from untaken.ledger import Run
from untaken.ledger.events import Verdict

GOALS = ("look", "check", "refund")


def judged(agent: str, task: int, *, met: int = 2, labels: int = 3, judge: bool = True) -> RunBuilder:
    """A run that met so many of three sub-goals; the judge says so of all, people of the first ones."""
    run = a_run(f"{agent}-{task}", agent=agent, task=f"t{task}", graph="desk").finish()
    for place, goal in enumerate(GOALS):
        passed = place < met
        if judge:
            run.add(Verdict, sub_goal=goal, passed=passed, by="judge:m")
        if place < labels:
            run.add(Verdict, sub_goal=goal, passed=passed, by="human:ada")
    return run


def desk_runs() -> list[Run]:
    """32 tasks of two agents: every second one has labels; one agent meets more."""
    return [
        judged(agent, task, met=(task + good) % 4, labels=3 * (task % 2)).run()
        for agent, good in (("a", 0), ("b", 1))
        for task in range(32)
    ]


def rate(found: LabelledRates, part: str, name: str = "", other: str = "") -> LabelledRate:
    (one,) = (r for r in found.rates if (r.part, r.name, r.other) == (part, name, other))
    return one


def test_the_judge_fills_in_what_people_did_not_label() -> None:
    found = labelled_rates(desk_runs())
    assert (found.overall.labels, found.overall.items, found.cluster) == (96, 192, "task")
    assert found.adds
    for name in ("a", "b"):
        one = rate(found, "agent", name)
        assert isinstance(one.low, float)
        assert isinstance(one.people_low, float)
        assert one.value == pytest.approx(one.judge, abs=0.03)
        assert one.worth > 1


def test_a_label_on_what_the_judge_was_not_asked_is_counted_and_not_used() -> None:
    runs = [*desk_runs(), judged("a", 99, judge=False).run()]
    found = labelled_rates(runs)
    assert (found.outside, found.overall.items) == (3, 192)


def test_who_could_not_tell_gives_no_label() -> None:
    run = judged("a", 1, labels=0).add(Verdict, sub_goal="look", passed=None, by="human:ada").run()
    found = labelled_rates([run])
    assert (found.overall.labels, found.overall.items, found.outside) == (0, 3, 0)
    assert isinstance(found.overall.value, Unscored)
    assert not found.adds
    assert labelled_rates([run, judged("a", 2, labels=1).run()]).adds  # one label is enough


def spread(random: np.random.Generator, *, runs: int = 60) -> list[RunBuilder]:
    """Runs of two agents, two a task, in a random order of start; nothing is labelled yet."""
    found = []
    for start, at in enumerate(random.permutation(runs)):
        met = int(random.integers(0, 4))
        run = a_run(f"r{at}", agent="ab"[at % 2], task=f"t{at // 2}", graph="desk")
        run.events[0] = msgspec.structs.replace(run.events[0], ts=EPOCH + timedelta(minutes=start))
        run.finish(success=bool(random.random() < (met + 0.5) / 4))
        for place, goal in enumerate(GOALS):
            run.add(Verdict, sub_goal=goal, passed=place < met, by="judge:m")
        found.append(run)
    return found


def label(run: RunBuilder, goals: Sequence[str] = GOALS) -> None:
    for goal in goals:
        run.add(Verdict, sub_goal=goal, passed=goal == "look", by="human:ada")


def judge_failed(run: RunBuilder) -> list[str]:
    return [
        event.sub_goal
        for event in run.events
        if isinstance(event, Verdict) and event.by == "judge:m" and not event.passed
    ]


LEANING: dict[str, tuple[Callable[[int, RunBuilder], Sequence[str]], str]] = {
    "what the judge fails": (lambda _, run: judge_failed(run), "the judge calls 0% of them met"),
    "failing runs": (lambda _, run: () if run.run().finished.success else GOALS, "0% of their runs"),  # type: ignore[union-attr]
    "the first runs": (lambda at, _: GOALS if at < 20 else (), "started earlier"),
    "one agent": (lambda at, run: GOALS if run.run().agent == "a" and at % 3 else (), "of 'a'"),
}


@pytest.mark.parametrize("name", sorted(LEANING))
def test_labels_that_are_no_random_draw_are_warned_of_with_what_they_lean_to(name: str) -> None:
    choose, words = LEANING[name]
    runs = spread(np.random.default_rng(4))
    for at, run in enumerate(runs):
        label(run, choose(at, run))
    (finding,) = labelled_rates([run.run() for run in runs]).findings
    assert finding.code == "labels-not-random"
    assert words in finding.message


def test_a_random_draw_and_labels_on_everything_are_not_warned_of() -> None:
    some, everything = (spread(np.random.default_rng(4)) for _ in range(2))
    for run in some[::3]:
        label(run)
    for run in everything:
        label(run)
    for runs in (some, everything):
        assert labelled_rates([run.run() for run in runs]).findings == ()


def test_what_cannot_be_checked_is_a_warning_and_no_silence() -> None:
    runs = spread(np.random.default_rng(4))
    for run in runs[:3]:
        label(run)
    (finding,) = labelled_rates([run.run() for run in runs]).findings
    assert finding.code == "labels-draw-unknown"
    assert "cannot be checked" in finding.message


def test_odds_put_right_a_draw_that_prefers_failures() -> None:
    random, runs, odds = np.random.default_rng(0), [], {}
    for task in range(300):
        met = 3 if task % 3 else 0
        chance = 0.1 if met else 0.9
        runs.append(judged("a", task, met=met, labels=3 * bool(random.random() < chance)).run())
        odds["a-" + str(task), ""] = chance
    plain, weighted = labelled_rates(runs).overall, labelled_rates(runs, odds=odds).overall
    assert float(plain.people) < 0.4  # type: ignore[arg-type]
    assert weighted.people == pytest.approx(2 / 3, abs=0.08)


@pytest.mark.parametrize(("odds", "code"), [({}, "odds-missing"), ({("a-1", ""): 1.5}, "odds-invalid")])
def test_odds_must_be_there_for_each_label_and_be_a_probability(odds: Any, code: str) -> None:
    with pytest.raises(UntakenError, match=code):
        labelled_rates([judged("a", 1).run()], odds=odds)


def ledgers(folder: Path) -> Path:
    for task in range(16):
        built = judged("a", task, met=task % 4, labels=3 * (task % 2))
        (folder / f"{built.run_id}.jsonl").write_bytes(built.ledger())
    return folder


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("run_id,odds\na-1,half\n", "odds-invalid"),
        ("run,odds\na-1,0.5\n", "odds-invalid"),
        (None, "path-not-found"),
    ],
)
def test_a_file_of_odds_that_cannot_be_read_is_refused(text, code, tmp_path, capsys) -> None:
    path = tmp_path / "odds.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    (tmp_path / "ledgers").mkdir()
    assert main(["agree", str(ledgers(tmp_path / "ledgers")), "--odds", str(path)]) == 2
    assert code in capsys.readouterr().err
