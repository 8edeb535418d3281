"""A judge's passport: measured on people's labels, bound to what made its verdicts, else stale (§12)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run
from msgspec.structs import replace

from untaken.cli import main
from untaken.errors import UntakenError
from untaken.judging import judge_standings, labelled_rates, load_passports, measure_judges, save_passports
from untaken.judging.passport import JudgePassport
from untaken.judging.questions import sub_goal_digest
from untaken.ledger import MadeWith, Run
from untaken.ledger.events import Verdict
from untaken.plans import GraphSet, PlanGraph, save_graph
from untaken.views import json_schema

PLAN = a_graph(
    {"id": "a", "check": {"verdict": {}}, "rules": [{"tool": "find"}]},
    {"id": "b", "check": {"verdict": {}}, "rules": [{"tool": "find"}]},
    graph_id="g",
)
GRAPHS = GraphSet.of([PLAN])
WITH = MadeWith(model="m", prompt="1" * 64, sub_goal="0" * 64, settings="tools")


def judged(task: int, *, labels: bool = True, plan: PlanGraph = PLAN, **made: Any) -> RunBuilder:
    """Two sub-goals, half of them met; the judge misses one of six that people call met."""
    run = a_run(f"r{task}", agent="x", task=f"t{task}", graph="g").call("find").finish(task % 3 > 0)
    for node in plan.sub_goals:
        met = task % 2 == 0
        if labels:
            run.verdict(node.id, met, "human:ann")
        made_with = replace(WITH, sub_goal=sub_goal_digest(node), **made)
        run.add(Verdict, sub_goal=node.id, passed=met and task % 12 != 0, by="judge:m", made_with=made_with)
    return run


def runs(n: int = 36, **how: Any) -> list[Run]:
    return [judged(task, **how).run() for task in range(n)]


def measured(n: int = 36, **how: Any) -> tuple[JudgePassport, ...]:
    return measure_judges(runs(n, **how), GRAPHS, date="2026-01-02")


def test_a_passport_holds_confusion_sensitivity_specificity_and_the_corrected_rate() -> None:
    (found,) = measured()
    assert (found.model, found.settings, found.date, found.draw) == ("m", "tools", "2026-01-02", "")
    assert (found.items, found.labels, found.tasks, found.agents) == (72, 72, 36, {"x": 72})
    whole = found.confusion
    assert (whole.both_met, whole.only_people, whole.only_judge, whole.both_not) == (30, 6, 0, 36)
    assert found.sensitivity.value == pytest.approx(30 / 36)
    assert found.sensitivity.low is not None
    assert 0.5 < found.sensitivity.low < 30 / 36
    assert found.specificity.value == 1
    assert (found.judge_rate, found.rate.value) == (pytest.approx(30 / 72), 0.5)
    assert [(one.sub_goal, one.confusion.only_people) for one in found.sub_goals] == [("a", 3), ("b", 3)]


def test_verdicts_of_another_model_in_the_same_runs_count_in_a_passport_of_their_own() -> None:
    both = []
    for task in range(36):
        run = judged(task)
        # The judge is asked about one of the two again, with another model that calls nothing met.
        run.add(Verdict, sub_goal="b", passed=False, by="judge:m", made_with=replace(WITH, model="n"))
        both.append(run.run())
    first, second = measure_judges(both, GRAPHS, date="2026-01-02")
    assert [(one.model, one.items, one.judge_rate) for one in (first, second)] == [
        ("m", 36, pytest.approx(15 / 36)),
        ("n", 36, 0.0),
    ]
    assert (first.rate.value, second.rate.value) == (0.5, 0.5)


def test_its_rate_is_that_of_the_labels_wherever_the_judge_could_not_tell_too() -> None:
    unsure = []
    for task in range(36):
        run = judged(task)
        if task % 4 == 0:  # asked again about one of the two, and at a loss where people call it met
            run.add(Verdict, sub_goal="b", passed=None, by="judge:m", made_with=WITH)
        unsure.append(run.run())
    (found,) = measure_judges(unsure, GRAPHS, date="2026-01-02")
    wanted = labelled_rates(unsure, ["human:*"], ["judge:m"]).overall
    assert (found.items, found.labels, wanted.items) == (72, 63, 72)
    assert (found.rate.value, found.rate.low, found.rate.high) == (wanted.value, wanted.low, wanted.high)
    assert found.rate.value == pytest.approx(0.5)  # without those items: .43


CHANGED = a_graph(
    {"id": "a", "check": {"verdict": {}}, "rules": [{"tool": "find"}], "description": "Reworded."},
    {"id": "b", "check": {"verdict": {}}, "rules": [{"tool": "find"}]},
    graph_id="g",
)


@pytest.mark.parametrize(
    ("desc", "passports", "now", "plan", "want"),
    [
        ("none", (), runs(), PLAN, [("", "uncalibrated", "it has no passport")]),
        ("as measured", measured(), runs(), PLAN, [("", "calibrated", "")]),
        (
            "new runs, no labels",
            measured(),
            runs(4, labels=False),
            PLAN,
            [("", "stale", "8 of its 72 labels")],
        ),
        ("few labels", measured(4), runs(), PLAN, [("", "uncalibrated", "8 labels of people;")]),
        ("model", measured(), runs(model="n"), PLAN, [("", "stale", "its model changed")]),
        ("prompt", measured(), runs(prompt="2" * 64), PLAN, [("", "stale", "its prompt changed")]),
        ("settings", measured(), runs(settings="x"), PLAN, [("", "stale", "its settings changed")]),
        (
            "the plan was reworded",
            measured(),
            runs(),
            CHANGED,
            [("a", "stale", "the sub-goal changed since the judge was asked"), ("b", "calibrated", "")],
        ),
        (
            "asked about the reworded plan",
            measured(),
            runs(plan=CHANGED),
            CHANGED,
            [("a", "stale", "the sub-goal changed since it was measured"), ("b", "calibrated", "")],
        ),
    ],
)
def test_a_judge_may_speak_only_as_it_was_measured(desc, passports, now, plan, want) -> None:
    found = judge_standings(now, GraphSet.of([plan]), passports)
    assert [(one.sub_goal, one.state) for one in found] == [one[:2] for one in want], desc
    assert all(one.reason.startswith(words) for one, (_, _, words) in zip(found, want, strict=True)), found


@pytest.fixture
def desk(tmp_path: Path) -> list[str]:
    """36 labelled runs in one folder, and 12 new ones without labels in another."""
    for folder, tasks in (("old", range(36)), ("new", range(36, 48))):
        (tmp_path / folder).mkdir()
        for task in tasks:
            built = judged(task, labels=folder == "old")
            (tmp_path / folder / f"{task}.jsonl").write_bytes(built.ledger())
    save_graph(PLAN, tmp_path / "g.plan.yaml")
    return [str(tmp_path / name) for name in ("old", "new", "g.plan.yaml")]


def test_a_gate_counts_a_judge_only_with_a_valid_passport(desk, tmp_path, capsys) -> None:
    old, new, plan = desk
    file = str(tmp_path / "passports.json")

    def gate(*options: str) -> tuple[str, list[str], int]:
        words = ["gate", new, "--graphs", plan, "--require", "completion>=0.1", "--json", *options]
        code = main(words)
        found = json.loads(capsys.readouterr().out)
        return found["checks"][0]["verdict"], [one["state"] for one in found["judges"]], code

    assert gate() == ("unscored", ["uncalibrated"], 1)
    assert gate("--allow-uncalibrated") == ("met", ["uncalibrated"], 0)
    assert main(["agree", old, "--graphs", plan, "--passport", file]) == 0
    assert "0.833 (" in capsys.readouterr().out
    assert gate("--passport", file) == ("met", ["calibrated"], 0)
    (Path(new) / "judge-passports.json").write_bytes(Path(file).read_bytes())
    assert gate() == ("met", ["calibrated"], 0)  # found beside the ledgers
    save_graph(CHANGED, Path(plan))
    assert gate("--passport", file) == ("met", ["stale", "calibrated"], 0)  # b alone counts
    document = json.loads(Path(file).read_text("utf-8"))
    assert set(document) == {"schema", "judges"}
    assert json_schema("passport")["title"] == "untaken passport"


def test_a_file_keeps_the_passports_of_other_judges(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    (one,) = measured()
    other = replace(one, judge="judge:z")
    save_passports([other], file)
    assert save_passports([one], file) == (one, other)
    assert load_passports(file) == (one, other)
    with pytest.raises(UntakenError, match="no passports"):
        load_passports(tmp_path / "none.json")
    file.write_text('{"schema": "untaken.passport/1"}', encoding="utf-8")
    with pytest.raises(UntakenError, match="no file of passports"):
        load_passports(file)
