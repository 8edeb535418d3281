"""The gate: requirements are read strictly, and without evidence nothing is met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import desk
import pytest
from builders import a_run, a_score
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from untaken.analysis.gate import GateCheck, check_requirements, gate_metrics, parse_requirement
from untaken.cli import main
from untaken.errors import Unscored, UntakenError
from untaken.scoring import RunScore


def held(text: str, scores: list[RunScore], on: Any = "point", **more: Any) -> list[GateCheck]:
    """Scores held to one requirement; their runs are built to match."""
    runs = [a_run(s.run_id, agent=s.agent, task=s.task_id).finish().run() for s in scores]
    named = [replace(s, digest=r.digest) for s, r in zip(scores, runs, strict=True)]
    requirement = parse_requirement(text, on=on)
    return list(check_requirements(runs, named, [requirement], on=on, resamples=200, **more))


def four_tasks(agent: str, *completed: int) -> list[RunScore]:
    """One run per task, so many of four sub-goals completed."""
    return [a_score(agent, f"t{n}", done, critical=1) for n, done in enumerate(completed)]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("critical_completion>=0.9", "critical_completion>=0.9"),
        ("  completion >  0.25 ", "completion>0.25"),
        ("violations_per_run<=2", "violations_per_run<=2"),
        ("success_rate<1", "success_rate<1"),
    ],
)
def test_a_requirement_is_a_metric_a_comparison_and_a_number(text: str, want: str) -> None:
    assert str(parse_requirement(text)) == want


UNREAD = [
    "critical_completion>=90",
    *("completion<=90", "completion>=90%"),
    *("completion=>0.9", "completion==0.9", "completion>=0.9 and success_rate>=0.9", "completion", ""),
    *("completion>=-0.1", "completion>=nan", "completion>=1e-1", "completion>=٠.٩"),
]
UNKNOWN = ["complition>=0.9", "Critical completion>=0.9", "Completion>=0.9"]


@pytest.mark.parametrize("text", [*UNREAD, *UNKNOWN])
def test_what_is_not_a_requirement_is_refused(text: str) -> None:
    with pytest.raises(UntakenError) as error:
        parse_requirement(text)
    assert error.value.code == ("metric-unknown" if text in UNKNOWN else "requirement-invalid")
    assert error.value.hint
    if text in UNKNOWN:
        assert all(metric in error.value.hint for metric in gate_metrics())


@given(st.text(max_size=60))
def test_any_text_is_a_requirement_or_a_named_error(text: str) -> None:
    try:
        read = parse_requirement(text)
    except UntakenError as error:
        code = error.code
    else:
        code = "read"
        assert parse_requirement(str(read)) == read
    assert code in ("read", "requirement-invalid", "metric-unknown")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("completion>=0.75", "met"),
        ("completion>0.75", "not_met"),
        ("completion<=0.75", "met"),
        ("completion<0.75", "not_met"),
        ("completion>=0.76", "not_met"),
        ("violations_per_run<=1", "met"),
        ("violations_per_run<1", "not_met"),
    ],
)
def test_a_value_exactly_at_the_bound_meets_only_what_allows_it(text: str, want: str) -> None:
    (check,) = held(text, four_tasks("a", 3, 3, 3, 3))
    assert check.verdict == want
    noisy = [a_score("a", f"t{n}", 1, 10) for n in range(7)]  # a sum that is not exact
    assert held("completion>=0.1", noisy)[0].verdict == "met"


@pytest.mark.parametrize(("text", "end"), [("completion>=0.5", "low"), ("completion<=0.5", "high")])
def test_on_the_interval_its_worse_end_is_compared(text: str, end: str) -> None:
    (check,) = held(text, four_tasks("a", 0, 1, 3, 4), on="interval")
    assert check.compared == getattr(check, end) != check.value
    assert check.verdict == "not_met"
    assert held(text, four_tasks("a", 0, 1, 3, 4))[0].verdict == "met"


@pytest.mark.parametrize(
    ("text", "on", "scores"),
    [
        ("success_rate>=0", "point", four_tasks("a", 4, 4)),
        ("success_rate<=1", "point", four_tasks("a", 4, 4)),
        ("critical_completion>=0", "point", [a_score("a", "t", 4)]),
        ("completion>=0", "interval", [a_score("a", "t", 4)]),
        ("replanning_events_per_trace<=9", "point", four_tasks("a", 4)),
    ],
)
def test_unscored_is_never_a_pass_and_says_why(text: str, on: Any, scores: list[RunScore]) -> None:
    (check,) = held(text, scores, on=on)
    assert check.verdict == "unscored"
    assert isinstance(check.compared, Unscored)
    assert check.compared.reason in check.reason


def test_each_agent_is_held_to_it_and_alone_keeps_the_value_it_has_among_the_others() -> None:
    scores = [*four_tasks("a", 4, 4), *four_tasks("b", 0, 1), a_score("c", "elsewhere", 1)]
    found = held("completion>=0.5", scores)
    verdicts = [(c.agent, c.verdict, c.n_tasks) for c in found]
    assert verdicts == [("a", "met", 2), ("b", "not_met", 2), ("c", "not_met", 1)]
    assert held("completion>=0.5", scores, agents=["b"]) == [c for c in found if c.agent == "b"]


@pytest.mark.parametrize(
    ("scores", "agents", "code"),
    [([], (), "nothing-to-check"), (four_tasks("a", 4), ("b",), "agent-unknown")],
)
def test_without_agents_to_check_nothing_passes(scores: list[RunScore], agents: Any, code: str) -> None:
    with pytest.raises(UntakenError) as error:
        held("completion>=0", scores, agents=agents)
    assert error.value.code == code


def test_what_is_not_met_names_the_sub_goals_and_the_runs_and_a_narrow_miss_can_be_seen() -> None:
    (check,) = held("critical_completion>=0.9", four_tasks("a", 4, 3, 1))
    assert [(m.sub_goal, m.missed, m.runs) for m in check.missed] == [("s3", 2, 3)]
    assert check.look_at == ("a/t1", "a/t2")
    (check,) = held("completion<0.5", four_tasks("a", 4, 3, 4))  # what is undone is no reason for too much
    assert (check.verdict, check.missed, check.look_at) == ("not_met", (), ())
    (check,) = held("completion>=0.917", four_tasks("a", 4, 3, 4))
    assert check.reason == "0.9167 is not at least 0.917, by 0.0003"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The desk's ledgers and graph, and an altered ledger."""
    folder = desk.write_folder(tmp_path_factory.mktemp("gate"))
    lines = desk.careful(1).ledger().splitlines(keepends=True)
    (folder / "altered.jsonl").write_bytes(b"".join([*lines[:2], *lines[3:]]))
    return folder


@pytest.mark.parametrize(
    ("words", "want", "says"),
    [
        ("{w}/ledgers --require critical_completion>=0.9 --agent careful", 0, ""),
        ("{w}/ledgers --require critical_completion>=0.9", 1, ""),
        ("--require coverage<=1 --agent careful --require completion>=0.9 {w}/ledgers", 0, ""),
        ("{w}/ledgers --require critical_completion>=0.9 --on interval --agent lucky", 1, ""),
        ("{w}/ledgers {w}/altered.jsonl --require coverage>=0 --agent careful", 1, "ledger-altered"),
        ("{w}/altered.jsonl --require coverage>=0", 2, "nothing-to-check"),
        ("{w}/ledgers --require coverage>=0 --agent nobody", 2, "agent-unknown"),
        ("{w}/ledgers --require nonsense>=0", 2, "metric-unknown"),
        ("{w}/ledgers --require coverage", 2, "requirement-invalid"),
        ("{w}/ledgers --require violations_per_run<1 --on interval", 2, "requirement-invalid"),
        ("{w}/ledgers", 2, "--require"),
    ],
)
def test_the_exit_code_says_whether_all_is_met(words, want, says, world, capsys) -> None:
    given_words = f"gate --graphs {world}/graphs --resamples 50 {words.format(w=world)}".split()
    assert main(given_words) == want
    assert says in capsys.readouterr().err
