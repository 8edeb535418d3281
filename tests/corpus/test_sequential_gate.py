"""The gate in sequence: pass, fail or keep going, each with its reason and its number of tasks or pairs."""

from __future__ import annotations

import dataclasses
import json
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import desk
import jsonschema
import msgspec
import pytest
from builders import EPOCH, a_run, a_score

from untaken.analysis.gate import parse_requirement
from untaken.analysis.sequential import TimeLimit, check_in_sequence, compare_in_sequence
from untaken.cli import main
from untaken.errors import Unscored, UntakenError
from untaken.ledger import Run
from untaken.scoring import RunScore
from untaken.views import json_schema


def recorded(agent: str, *completed: int, minute: int = 0) -> list[tuple[Run, RunScore]]:
    """One run per task, a minute apart; so many of four sub-goals completed."""
    return [at(minute + n, a_score(agent, f"t{n}", done)) for n, done in enumerate(completed)]


def at(minute: int, score: RunScore, *, takes: int | None = 0) -> tuple[Run, RunScore]:
    """A run that starts at this minute and takes so many; ``None``: it is in flight."""
    built = a_run(f"{score.agent}/{score.task_id}/{minute}", agent=score.agent, task=score.task_id)
    run = built.run() if takes is None else built.finish().run()
    events = tuple(
        msgspec.structs.replace(event, ts=EPOCH + timedelta(minutes=minute + (takes or 0) * (n > 0)))
        for n, event in enumerate(run.events)
    )
    run = dataclasses.replace(run, events=events)
    return run, msgspec.structs.replace(score, digest=run.digest, run_id=run.run_id)


def compared(rows: list[tuple[Run, RunScore]], **more: Any) -> Any:
    return compare_in_sequence([run for run, _ in rows], [score for _, score in rows], "old", **more)


def held(rows: list[tuple[Run, RunScore]], text: str, **more: Any) -> Any:
    (check,) = check_in_sequence(
        [run for run, _ in rows], [score for _, score in rows], [parse_requirement(text)], **more
    )
    return check


@pytest.mark.parametrize(
    ("desc", "new", "old", "want"),
    [
        ("far worse", [1] * 20, [4] * 20, "fail"),
        ("the same", [3] * 60, [3] * 60, "pass"),
        ("the same, few pairs", [3] * 4, [3] * 4, "keep_going"),
        ("better", [4] * 20, [1] * 20, "pass"),
        ("no pair", [], [3], "unscored"),
    ],
)
def test_a_new_agent_passes_fails_or_needs_more_runs(desc, new, old, want) -> None:
    rows = recorded("old", *old) + (recorded("new", *new) or [at(0, a_score("new", "elsewhere", 1))])
    (check,) = compared(rows)
    assert check.verdict == want, (desc, check)
    assert (check.decided_at is None) == (want in ("keep_going", "unscored"))


@pytest.mark.parametrize(
    ("new", "old", "value"),
    [([3] * 60, [3] * 60, 0.0), ([4, 1, 2, 3] * 3, [1, 4, 1, 4] * 3, -0.0), ([4] * 9, [1, 2, 0] * 3, 0.75)],
)
def test_two_agents_the_other_way_round_differ_by_as_much(new, old, value) -> None:
    (one,) = compared(recorded("new", *new) + recorded("old", *old))
    (other,) = compared(recorded("new", *old) + recorded("old", *new))
    assert (one.value, other.value) == pytest.approx((value, -value))
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-6)
    assert -1 <= one.low <= one.value <= one.high <= 1
    assert (one.n, one.unfinished, one.left_out) == (len(new), 0, 0)


def test_the_same_repeat_is_compared_and_what_is_unscored_or_has_no_partner_is_left_out_and_counted() -> None:
    rows = [at(n, a_score("old", "t", 4)) for n in range(3)]
    rows += [at(n, a_score("new", "t", 2)) for n in range(5)]
    (check,) = compared(rows)
    assert (check.n, check.left_out, check.value) == (3, 2, -0.5)
    rows[0] = (rows[0][0], msgspec.structs.replace(rows[0][1], completion=Unscored("no evidence")))
    (check,) = compared(rows)
    assert (check.n, check.left_out) == (2, 3)
    rows = [at(n, a_score(agent, "t", done)) for n in range(20) for agent, done in (("old", 4), ("new", 0))]
    (check,) = compared(rows)  # a repeat may be a new pair
    assert (check.n, check.verdict) == (20, "fail")


@pytest.mark.parametrize(
    ("text", "done", "want"),
    [
        ("completion>=1", 4, "more tasks can fail it, and none can show a mean of 1"),
        ("completion<=0", 0, "more tasks can fail it, and none can show a mean of 0"),
        ("completion>=0.9", 4, "add more"),
    ],
)
def test_more_tasks_are_asked_for_only_where_they_can_pass_it(text: str, done: int, want: str) -> None:
    check = held(recorded("new", *[done] * 9), text)
    assert (check.verdict, check.reason) == ("keep_going", f"not decided after 9 tasks: {want}")


@pytest.mark.parametrize("agents", [(), ("old",)])
def test_a_baseline_alone_passes_nothing(agents: tuple[str, ...]) -> None:
    with pytest.raises(UntakenError, match="no agent to compare with old") as caught:
        compared(recorded("old", 4, 4), agents=agents)
    assert caught.value.code == "nothing-to-check"


@pytest.mark.parametrize(
    ("text", "completed", "want"),
    [
        ("completion>=0.5", [4] * 12, "pass"),
        ("completion>=0.5", [0] * 12, "fail"),
        ("completion<=0.5", [0] * 12, "pass"),
        ("completion<=0.5", [4] * 12, "fail"),
        ("completion>=0.5", [1, 3] * 6, "keep_going"),
        ("success_rate>=0.5", [4] * 12, "unscored"),
    ],
)
def test_a_requirement_is_met_or_not_once_that_is_shown(text: str, completed: list[int], want: str) -> None:
    check = held(recorded("a", *completed), text)
    assert check.verdict == want
    if want != "unscored":
        assert check.low <= check.value <= check.high


def test_of_a_task_the_first_run_counts_and_its_repeats_are_named() -> None:
    rows = [at(n, a_score("a", "t", 0 if n else 4)) for n in range(50)]
    check = held(rows, "completion>=0.5")
    assert (check.n, check.verdict, check.value) == (1, "keep_going", 1.0)
    assert check.repeats == tuple(run.run_id for run, _ in rows[1:])


@pytest.mark.parametrize("metric", ["success_rate", "completion", "critical_completion", "coverage"])
@pytest.mark.parametrize(
    ("desc", "op", "done", "in_flight", "want"),
    [
        ("successes that are enough alone", ">=", True, 2, "pass"),
        ("slow failures pass nobody", ">=", True, 12, "keep_going"),
        ("failures that are enough alone", ">=", False, 2, "fail"),
        ("slow successes fail nobody", ">=", False, 12, "keep_going"),
        ("the other way round", "<=", True, 12, "keep_going"),
        ("the other way round, enough alone", "<=", True, 2, "fail"),
    ],
)
def test_what_is_in_flight_counts_against_each_verdict_alike_for_every_metric(
    desc: str, op: str, done: bool, in_flight: int, want: str, metric: str
) -> None:
    score = msgspec.structs.replace(
        a_score("a", "t", 4 * done, success=done, critical=2), coverage=float(done)
    )
    rows = [
        at(n, msgspec.structs.replace(score, task_id=f"t{n}"), takes=None if n < in_flight else 0)
        for n in range(in_flight + 12)
    ]
    check = held(rows, f"{metric}{op}0.5")
    assert check.verdict == want, desc
    assert (check.n, check.unfinished, check.value) == (in_flight + 12, in_flight, float(done))
    assert f", {in_flight} of them in flight" in check.reason


def test_a_pair_is_looked_at_when_its_later_run_began() -> None:
    rows = recorded("old", *[3] * 40)
    rows += [at(200 - n, a_score("new", f"t{n}", 1 if n >= 20 else 4)) for n in range(40)]
    (check,) = compared(rows)
    assert check.verdict == "fail"


@pytest.mark.parametrize(
    ("desc", "takes", "now", "want"),
    [
        ("in time", 10, 60, (1.0, 0, "pass")),
        ("after the limit, failed for ever", 11, 60, (0.0, 0, "fail")),
        ("in flight after the limit", None, 60, (0.0, 0, "fail")),
        ("in flight before the limit", None, 10, (None, 12, "keep_going")),
    ],
)
def test_what_does_not_finish_within_the_time_limit_has_failed(desc, takes, now, want) -> None:
    rows = [at(0, a_score("a", f"t{n}", 4), takes=takes) for n in range(12)]
    within = TimeLimit(limit=timedelta(minutes=10), now=EPOCH + timedelta(minutes=now))
    check = held(rows, "completion>=0.5", within=within)
    value = None if isinstance(check.value, Unscored) else check.value
    assert (value, check.unfinished, check.verdict) == want, desc
    assert check.time_limit == 600
    assert held(rows, "completion>=0.5").verdict == ("pass" if takes else "keep_going")


@pytest.mark.parametrize(
    ("more", "code"),
    [({"agents": ["nobody"]}, "agent-unknown"), ({"metric": "violations_per_run"}, "requirement-invalid")],
)
def test_what_cannot_be_compared_is_refused(more: dict[str, Any], code: str) -> None:
    with pytest.raises(UntakenError) as error:
        compared(recorded("old", 4) + recorded("new", 4), **more)
    assert error.value.code == code


@pytest.mark.parametrize(
    ("desc", "options", "code", "verdicts"),
    [
        ("too few runs decide nothing", ["--agent", "careful"], 3, {"keep_going"}),
        ("unscored is not a pass", [], 1, {"keep_going", "unscored"}),
    ],
)
def test_the_exit_code_says_whether_more_runs_would_help(
    desc: str,
    options: list[str],
    code: int,
    verdicts: set[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = str(desk.write_folder(tmp_path))
    words = ["gate", folder, "--graphs", folder, "--sequential", "--require", "completion>=0.5", "--json"]
    assert main([*words, *options]) == code, desc
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema("gate"))
    assert document["met"] is False
    assert document["checks"] == []
    assert {check["verdict"] for check in document["sequential"]} == verdicts


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], "requirement-invalid"),
        (["--baseline", "a"], "requirement-invalid"),
        (["--time-limit", "5m", "--require", "completion>=0.5"], "requirement-invalid"),
        (["--sequential", "--time-limit", "5x", "--require", "completion>=0.5"], "--time-limit"),
        (["--sequential", "--time-limit", "0", "--require", "completion>=0.5"], "--time-limit"),
    ],
)
def test_a_gate_that_requires_nothing_or_cannot_is_refused(options, code, tmp_path, capsys) -> None:
    words = ["gate", str(tmp_path), "--graphs", str(tmp_path), *options]
    with suppress(SystemExit):
        assert main(words) == 2
    assert code in capsys.readouterr().err


def test_what_a_look_leaves_out_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "ledgers"
    folder.mkdir()
    for n, run in enumerate((a_run("r0", task="t").finish(), a_run("r1", task="t").finish(), a_run("r2"))):
        (folder / f"{n}.jsonl").write_bytes(run.ledger())
    graph = {"schema": "untaken.plan/1", "id": "g", "tasks": ["*"], "sub_goals": [{"id": "a"}]}
    (tmp_path / "g.plan.json").write_bytes(msgspec.json.encode(graph))
    words = ["gate", str(folder), "--graphs", str(tmp_path), "--sequential", "--require", "success_rate>=0.5"]
    assert main(words) == 3
    said = capsys.readouterr().out
    assert "1 repeat of a task left out: r1" in said
    assert "1 of them in flight" in said
