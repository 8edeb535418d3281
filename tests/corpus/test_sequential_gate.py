"""The gate in sequence: pass, fail or keep going, each with its reason and its number of tasks or pairs."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import desk
import jsonschema
import msgspec
import pytest
from builders import EPOCH, a_run, a_score

from untaken.answers import json_schema
from untaken.cli import main
from untaken.errors import Unscored, UntakenError
from untaken.gate import parse_requirement
from untaken.ledger import Run
from untaken.sequential import check_in_sequence, compare_in_sequence
from untaken.subgoals import RunScore


def recorded(agent: str, *completed: int, minute: int = 0) -> list[tuple[Run, RunScore]]:
    """One run per task, a minute apart; so many of four sub-goals completed."""
    return [at(minute + n, a_score(agent, f"t{n}", done)) for n, done in enumerate(completed)]


def at(minute: int, score: RunScore) -> tuple[Run, RunScore]:
    run = (
        a_run(f"{score.agent}/{score.task_id}/{minute}", agent=score.agent, task=score.task_id).finish().run()
    )
    started = msgspec.structs.replace(run.started, ts=EPOCH + timedelta(minutes=minute))
    run = dataclasses.replace(run, events=(started, *run.events[1:]))
    return run, msgspec.structs.replace(score, digest=run.digest, run_id=run.run_id)


def compared(rows: list[tuple[Run, RunScore]], **more: Any) -> Any:
    return compare_in_sequence([run for run, _ in rows], [score for _, score in rows], "old", **more)


def held(rows: list[tuple[Run, RunScore]], text: str) -> Any:
    (check,) = check_in_sequence(
        [run for run, _ in rows], [score for _, score in rows], [parse_requirement(text)]
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
def test_a_new_agent_passes_fails_or_needs_more_runs(
    desc: str, new: list[int], old: list[int], want: str
) -> None:
    rows = recorded("old", *old) + (recorded("new", *new) or [at(0, a_score("new", "elsewhere", 1))])
    (check,) = compared(rows)
    assert check.verdict == want, (desc, check)
    assert (check.decided_at is None) == (want in ("keep_going", "unscored"))


def test_a_verdict_once_reached_stays_whatever_comes_later() -> None:
    (early,) = compared(recorded("old", *[4] * 12) + recorded("new", *[0] * 12))
    (late,) = compared(recorded("old", *[4] * 12, *[0] * 40) + recorded("new", *[0] * 12, *[4] * 40))
    assert early.verdict == late.verdict == "fail"
    assert early.decided_at == late.decided_at


def test_runs_are_taken_in_the_order_of_their_time_and_not_of_the_file() -> None:
    rows = recorded("old", *[2] * 30) + recorded("new", *[0] * 10, *[2] * 20)
    assert compared(rows[::-1]) == compared(rows)


def test_the_same_repeat_of_a_task_is_compared_and_what_has_no_partner_is_counted() -> None:
    rows = [at(n, a_score("old", "t", 4)) for n in range(3)]
    rows += [at(n, a_score("new", "t", 2)) for n in range(5)]
    (check,) = compared(rows)
    assert (check.n, check.left_out, check.value) == (3, 2, -0.5)


def test_what_is_unscored_is_left_out_and_counted() -> None:
    rows = recorded("old", 4, 4) + recorded("new", 4, 4)
    rows[3] = (rows[3][0], msgspec.structs.replace(rows[3][1], completion=Unscored("no evidence")))
    (check,) = compared(rows)
    assert (check.n, check.left_out) == (1, 1)


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


def test_repeats_of_a_task_count_once() -> None:
    check = held([at(n, a_score("a", "t", 4)) for n in range(50)], "completion>=0.5")
    assert (check.n, check.verdict) == (1, "keep_going")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"agents": ["nobody"]}, "agent-unknown"),
        ({"metric": "violations_per_run"}, "requirement-invalid"),
    ],
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


@pytest.mark.parametrize("options", [[], ["--baseline"]])
def test_a_gate_that_requires_nothing_is_refused(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["gate", str(tmp_path), "--graphs", str(tmp_path), *(["--baseline", "a"] if options else [])]
    assert main(words) == 2
    assert "requirement-invalid" in capsys.readouterr().err
