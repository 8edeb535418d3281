"""Judges that agree too little with people are marked, and left out of rates where that is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import RunBuilder, a_run

from untaken.cli import main
from untaken.judging import distrusted, judge_differences, judge_trust
from untaken.ledger import Run


def judged(task: int, **judges: dict[str, bool]) -> RunBuilder:
    """Sub-goals a and b, each met every second time by people's word, and what each judge says of them."""
    run = a_run(f"r{task}", agent="x", task=f"t{task}", graph="g").finish()
    for goal in ("a", "b"):
        met = task % 2 == 0
        run.verdict(goal, met, "human:ann")
        for judge, wrong in judges.items():
            run.verdict(goal, met != wrong.get(goal, False), f"judge:{judge}")
    return run


def runs(n: int = 60) -> list[Run]:
    """`good` is right; `half` is right on a and always says met on b; `bad` is mostly wrong."""
    return [
        judged(task, good={}, half={"b": task % 2 == 1}, bad={"a": task % 3 > 0, "b": task % 3 > 0}).run()
        for task in range(n)
    ]


def test_confusion_and_kappa_of_each_judge_overall_and_by_sub_goal() -> None:
    found = {(one.judge, one.name): one for one in judge_trust(runs())}
    half = found["judge:half", "b"]
    assert (half.both_met, half.only_a, half.only_b, half.both_not) == (30, 0, 30, 0)
    assert half.kappa == 0
    assert found["judge:good", ""].kappa == 1
    assert {key: one.trust for key, one in found.items()} == {
        ("judge:bad", ""): "unreliable",
        ("judge:bad", "a"): "unreliable",
        ("judge:bad", "b"): "unreliable",
        ("judge:good", ""): "reliable",
        ("judge:good", "a"): "reliable",
        ("judge:good", "b"): "reliable",
        ("judge:half", ""): "cannot_tell",
        ("judge:half", "a"): "reliable",
        ("judge:half", "b"): "unreliable",
    }


def test_what_is_unreliable_is_left_out_as_a_whole_or_on_one_sub_goal() -> None:
    assert distrusted(judge_trust(runs())) == ("!judge:bad", "!judge:half#g/b")


@pytest.mark.parametrize(
    ("desc", "right", "met", "want"),
    [
        ("right on 39 of 40, and nearly all is met", lambda t: t != 7, lambda t: True, "cannot_tell"),
        ("right on 39 of 40, and one is not met", lambda t: t != 7, lambda t: t != 7, "cannot_tell"),
        ("right on all, half is met", lambda t: True, lambda t: t % 2 > 0, "reliable"),
        ("right on 3 of 4, half is met", lambda t: t % 4 > 0, lambda t: t % 8 < 4, "cannot_tell"),
        ("right on half, half is met", lambda t: t % 4 < 2, lambda t: t % 2 > 0, "unreliable"),
    ],
)
def test_a_judge_is_called_by_the_interval_of_kappa_and_else_not(desc, right, met, want) -> None:
    built = []
    for task in range(40):
        run = a_run(f"r{task}", task=f"t{task}", graph="g").finish().verdict("a", met(task), "human:ann")
        built.append(run.verdict("a", met(task) == right(task), "judge:m").run())
    (whole, _) = judge_trust(built)
    assert whole.trust == want, (desc, whole)
    if want == "cannot_tell" and whole.agreement == 0.975:
        assert whole.kappa == 0
        assert whole.ac1_low > 0.8
        assert whole.prevalence > 0.95


def test_verdicts_left_out_as_unreliable_are_unscored_in_a_gate_and_never_failed(tmp_path, capsys) -> None:
    words, values = ["gate", *desk(tmp_path), "--require", "completion>=0.9", "--json"], []
    words.append("--allow-uncalibrated")
    for least in ([], ["--min-kappa", "0.9"]):
        main([*words, *least])
        (check,) = json.loads(capsys.readouterr().out)["checks"]
        values.append(check["value"])
    # a and b have people's word, half of it met; c has the judge's alone, which is left out: not 1 in 3
    assert values == pytest.approx([2 / 3, 1 / 2])


def test_two_judges_are_compared_on_the_labels_that_both_have() -> None:
    found = {(one.first, one.second): one for one in judge_differences(runs(12))}
    one = found["judge:good", "judge:half"]
    assert (one.n, one.first_agrees, one.second_agrees, one.clusters) == (24, 24, 18, 12)
    assert one.difference == pytest.approx(0.25)
    assert one.low > 0
    assert one.p == pytest.approx(2 / 2**6)


@pytest.mark.parametrize(("told", "want"), [({}, 0.0), ({"a": False, "b": False}, 1.0)])
def test_judges_as_far_apart_in_all_of_a_few_tasks_may_be_nearer_in_others(told, want) -> None:
    some = []
    for task in range(3):
        run = a_run(f"r{task}", task=f"t{task}", graph="g").finish()
        for goal in "ab":
            run.verdict(goal, True, "human:ann").verdict(goal, True, "judge:m")
            run.verdict(goal, told.get(goal, True), "judge:n")
        some.append(run.run())
    (one,) = judge_differences(some)
    assert one.difference == want
    assert one.low < min(want, 0.2)
    assert max(0.1, want) <= one.high


def desk(folder: Path) -> list[str]:
    (folder / "ledgers").mkdir()
    for task in range(60):
        built = judged(task, half={"b": task % 2 == 1})
        built.verdict("c", True, "judge:half")
        (folder / "ledgers" / f"{task}.jsonl").write_bytes(built.ledger())
    text = "schema: untaken.plan/1\nid: g\nversion: 1\ntasks: ['t*']\nsub_goals:\n"
    text += "".join(f"  - {{id: {goal}, check: {{verdict: {{}}}}, evidence: message}}\n" for goal in "abc")
    (folder / "g.plan.yaml").write_text(text, encoding="utf-8")
    return [str(folder / "ledgers"), "--graphs", str(folder / "g.plan.yaml")]
