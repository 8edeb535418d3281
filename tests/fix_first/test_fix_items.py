"""What an item of the fix-first list says: in brief, what would be gained, and why it is recommended."""

from __future__ import annotations

from typing import Any

import pytest
from builders import a_graph, a_run
from chain import corpus_of, did

from untaken.analysis.fix_first import triage
from untaken.analysis.fix_first.gains import NO_SUCCESS, NOBODY_PASSED
from untaken.analysis.fix_first.subjects import subjects_of
from untaken.cli import main
from untaken.errors import Unscored


@pytest.mark.parametrize(
    ("errors", "want"),
    [
        (["disk full", "no route"], "act: “disk full” in 1 of 2 runs"),
        (["disk full", "no route", "bad key"], "attempted, not completed"),
    ],
)
def test_what_fewer_than_half_of_the_runs_state_does_not_stand_for_all(errors: list[str], want: str) -> None:
    runs = []
    for n, error in enumerate(errors):
        run = a_run(f"f{n}", task=f"t{n}").call("look").call("think")
        run.call("act").observe(ok=False, call_id="c3", content={"error": error})
        runs.append(run.finish(False))
    (item,) = triage(corpus_of(runs)).items
    assert item.brief == want


@pytest.mark.parametrize(
    ("runs", "gains"),
    [
        (["look think act +"] * 3 + ["look -", "look think -"], {"think": 1 / 5 * 3 / 4, "act": 1 / 5}),
        (["look +", "look -", "look think -"], {"think": 0.0, "act": NOBODY_PASSED}),
        (["look -", "look think -"], {"think": NO_SUCCESS, "act": NO_SUCCESS}),
    ],
    ids=["success of those that passed", "nobody who passed succeeded", "nobody succeeded"],
)
def test_what_would_be_gained_is_the_share_that_fails_times_the_success_of_those_that_pass(
    runs: list[str], gains: dict[str, Any]
) -> None:
    made = [did(f"r{n}", run[:-2], run.endswith("+"), task=f"t{n}") for n, run in enumerate(runs)]
    found = {item.sub_goal: item for item in triage(corpus_of(made)).items if item.failed_runs}
    assert {name: item.gain for name, item in found.items()} == pytest.approx(gains)
    for item in found.values():
        if isinstance(item.gain, Unscored):
            assert (item.low, item.high) == (item.gain, item.gain)
        else:
            assert 0 <= item.low <= item.gain < item.high < 1
            assert (item.low == 0) == (item.gain == 0)


@pytest.mark.parametrize(
    ("failing", "tasks", "successes", "why"),
    [
        (4, 2, ["look think act"] * 19 + ["think act"], "1 of 20 successes fail this way"),
        (4, 2, ["look think act"] * 18 + ["think act"], "more often in failed runs than in successes"),
        (3, 2, ["look think act"], "0 of 1 successes fails this way"),
        (4, 2, ["look think act", "think act", "think act"], "not clearly more often in failed runs: 67% of"),
        (4, 2, [], "not clearly more often in failed runs: no success to compare with"),
        (2, 2, ["look think act"], "fewer than 3 failed runs of 2 tasks"),
        (4, 1, ["look think act"], "fewer than 3 failed runs of 2 tasks"),
    ],
)
def test_what_to_fix_says_why_it_is_recommended_or_not(failing, tasks, successes, why) -> None:
    runs = [did(f"f{n}", "think act", False, task=f"t{n % tasks}") for n in range(failing)]
    runs += [did(f"s{n}", calls, True, task=f"t{n % tasks}") for n, calls in enumerate(successes)]
    (item,) = [one for one in triage(corpus_of(runs)).items if one.sub_goal == "look" and one.failed_runs]
    assert item.why.startswith(why)
    assert item.recommended == (not why.startswith(("fewer", "not clearly")))


def test_what_one_tool_or_one_title_means_in_several_graphs_is_one_subject() -> None:
    def asks(name: str, title: str, *, critical: bool = False) -> dict[str, Any]:
        return {"id": name, "title": title, "rules": [{"tool": "ask"}], "critical": critical}

    graphs = [
        a_graph(asks("a", "Ask Ann 17"), asks("b", "Ask again"), graph_id="g1"),
        a_graph(asks("x", "Ask Ann 18", critical=True), asks("y", "Ask again"), graph_id="g2"),
        a_graph(asks("s", "Ask whom"), graph_id="g3"),
    ]
    found = {one.members: (one.name, one.critical) for one in subjects_of(graphs).values()}
    assert found == {
        (("g1", "a"), ("g2", "x")): ("ask", True),  # two of one graph differ by their titles
        (("g1", "b"), ("g2", "y")): ("Ask again", False),
        (("g3", "s"),): ("Ask whom", False),
    }


GRAPH = b"""schema: untaken.plan/1
id: desk
tasks: ["t*"]
mutates: ["write_*"]
sub_goals:
  - {id: refund, critical: true, check: {tool_call: {name: write_refund}}}
"""


@pytest.mark.parametrize(
    ("success", "want"),
    [
        (True, "drafts a plan from runs that succeeded"),
        (False, "No run succeeded, so no plan can be drafted"),
    ],
)
def test_a_plan_is_drafted_only_from_runs_that_succeeded(success, want, tmp_path, capsys) -> None:
    runs = [a_run("failed").finish(False), a_run("other").finish(success)]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    main(["triage", str(tmp_path / "runs.jsonl")])
    assert want in capsys.readouterr().out


def test_where_runs_have_a_plan_and_did_nothing_no_draft_is_advised(tmp_path, capsys) -> None:
    (tmp_path / "desk.plan.yaml").write_bytes(GRAPH)
    runs = [a_run(name, task="t").finish(False) for name in "abc"]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(run.ledger() for run in runs))
    main(["triage", str(tmp_path / "runs.jsonl"), "--graphs", str(tmp_path / "desk.plan.yaml")])
    out = capsys.readouterr().out
    assert "record no action or verdict that it asks for" in out
    assert "no run records whether it was completed" in out
    assert "draft" not in out
