"""Why failed runs fail where they do: tables of hand-made corpora, one cause each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.analysis.corpus import evaluate_corpus
from untaken.analysis.fix_first import triage
from untaken.analysis.workspace_corpus import WorkspaceCorpus
from untaken.plans import PlanGraph, export_graph
from untaken.scoring import FEATURES, score_run, take_features
from untaken.scoring.causes import Cause, cause_words, stated
from untaken.workspace import Workspace

Make = Callable[[RunBuilder, int], RunBuilder]
"""Adds what a run does, by its number."""


def some_runs(fails: Make, passes: Make, n: int, m: int) -> Iterator[RunBuilder]:
    for i in range(n):
        yield fails(a_run(f"f{i}", task=f"t{i % 4}"), i).finish(False)
    for i in range(m):
        yield passes(a_run(f"s{i}", task=f"t{i % 4}"), i).finish(True)


def corpus_causes(
    graph: PlanGraph, fails: Make, passes: Make, *, n: int = 9, m: int = 20
) -> tuple[Cause, ...]:
    runs = [one.run() for one in some_runs(fails, passes, n, m)]
    return triage(evaluate_corpus(runs, graph, resamples=0)).causes


PAY = a_graph(
    {"id": "order", "check": {"tool_call": {"name": "find"}}},
    {"id": "pay", "deps": ["order"], "rules": [{"tool": "pay"}], "check": {"expr": "state.paid == true"}},
    tasks=["t*"],
)
ASKED = a_graph(
    {"id": "pay", "check": {"tool_call": {"name": "pay", "arguments": {"currency": "CHF"}}}}, tasks=["t*"]
)
ACCOUNT = a_graph(
    {"id": "pay", "check": {"tool_call": {"name": "pay", "arguments": {"account": "CH-4711-88"}}}},
    tasks=["t*"],
)


def refused(run: RunBuilder, i: int, **arguments: Any) -> RunBuilder:
    run.call("find", ok=True, order=f"o-{i}").call("pay", order=f"o-{i}", **arguments)
    return run.observe(f"Error: settlement window closed for 'o-{i}' (code {i})", ok=False)


def paid(run: RunBuilder, i: int, **arguments: Any) -> RunBuilder:
    return (
        run.call("find", ok=True, order=f"o-{i}")
        .call("pay", ok=True, order=f"o-{i}", **arguments)
        .state(paid=True)
    )


CASES = [
    (
        "a tool's error, and the value that goes with it",
        PAY,
        lambda run, i: refused(run, i, currency="CHF"),
        lambda run, i: paid(run, i, currency="CHF" if i < 1 else "EUR"),
        ("tool_error", "pay", "settlement window closed for … (code … )", "currency", "CHF"),
    ),
    (
        "a tool's error without a value that goes with it",
        PAY,
        lambda run, i: refused(run, i, currency="EUR"),
        lambda run, i: paid(run, i, currency="EUR"),
        ("tool_error", "pay", "settlement window closed for … (code … )", "", ""),
    ),
    (
        "what the last attempts of runs that passed hold as well is no cause",
        PAY,
        lambda run, i: run.call("find", ok=True).call("pay", ok=True, currency="CHF"),
        lambda run, i: (
            run.call("find", ok=True)
            .call("pay", ok=True, currency="EUR")
            .call("pay", ok=True, currency="CHF")
            .state(paid=True)
        ),
        None,
    ),
    (
        "an error of a call that held a wrong value is a wrong value",
        ASKED,
        lambda run, i: refused(run, i, currency="USD"),
        lambda run, i: run.call("pay", ok=True, currency="CHF"),
        ("argument", "pay", "", "currency", "USD"),
    ),
    (
        "an error of a call that held what is expected is the tool's",
        ASKED,
        lambda run, i: run.call("pay", currency="CHF").observe("bank is closed", ok=False),
        lambda run, i: run.call("pay", ok=True, currency="CHF"),
        ("tool_error", "pay", "bank is closed", "", ""),
    ),
    (
        "different wrong values are one wrong argument",
        ASKED,
        lambda run, i: run.call("pay", ok=True, currency=f"X{i}"),
        lambda run, i: run.call("pay", ok=True, currency="CHF"),
        ("argument", "pay", "", "currency", ""),
    ),
    (
        "a value of an earlier call goes with stopping",
        PAY,
        lambda run, i: run.call("find", ok=True, region="north"),
        lambda run, i: run.call("find", ok=True, region="south").call("pay", ok=True).state(paid=True),
        ("argument", "find", "", "region", "north"),
    ),
    (
        "an unrecovered error of another tool goes with stopping",
        PAY,
        lambda run, i: run.call("find", ok=True).call("login").observe("locked", ok=False),
        lambda run, i: run.call("find", ok=True).call("login", ok=True).call("pay", ok=True).state(paid=True),
        ("tool_error", "login", "locked", "", ""),
    ),
    (
        "a recovered error is no cause",
        PAY,
        lambda run, i: (
            run.call("find", ok=True).call("login").observe("locked", ok=False).call("login", ok=True)
        ),
        lambda run, i: run.call("find", ok=True).call("login", ok=True).call("pay", ok=True).state(paid=True),
        None,
    ),
    (
        "a value that runs which passed have as often is no cause",
        PAY,
        lambda run, i: run.call("find", ok=True, region="north"),
        lambda run, i: run.call("find", ok=True, region="north").call("pay", ok=True).state(paid=True),
        None,
    ),
    (
        "what comes after the moment is no cause",
        a_graph(
            {"id": "check", "check": {"tool_call": {"name": "check"}}},
            {"id": "pay", "deps": ["check"], "check": {"tool_call": {"name": "pay"}}},
            tasks=["t*"],
        ),
        lambda run, i: run.call("pay", ok=True).call("mail", ok=True, text="sorry"),
        lambda run, i: run.call("check", ok=True).call("pay", ok=True).call("mail", ok=True, text="done"),
        None,
    ),
    (
        "a value that another run of the task was shown, and this one was not",
        ACCOUNT,
        lambda run, i: run.say("pay it", role="user").call("pay", ok=True, account=f"GUESS-{i}"),
        lambda run, i: (
            run.say("pay it", role="user")
            .call("look")
            .observe("the account is CH-4711-88", ok=True)
            .call("pay", ok=True, account="CH-4711-88")
        ),
        ("missing_information", "pay", "", "account", ""),
    ),
    (
        "a value that no run was shown may be in a prompt: it is a wrong one",
        ACCOUNT,
        lambda run, i: run.say("pay it", role="user").call("pay", ok=True, account="CH-0000-00"),
        lambda run, i: run.say("pay it", role="user").call("pay", ok=True, account="CH-4711-88"),
        ("argument", "pay", "", "account", "CH-0000-00"),
    ),
    (
        "a tool that was not called before",
        PAY,
        lambda run, i: run.call("find", ok=True).call("pay", ok=True).state(paid=False),
        lambda run, i: run.call("find", ok=True).call("rates", ok=True).call("pay", ok=True).state(paid=True),
        ("missing_information", "rates", "", "", ""),
    ),
    (
        "a run that stopped had no reason to call what comes later",
        PAY,
        lambda run, i: run.call("find", ok=True),
        lambda run, i: run.call("find", ok=True).call("rates", ok=True).call("pay", ok=True).state(paid=True),
        None,
    ),
    (
        "a skill in a context",
        PAY,
        lambda run, i: run.select("guess", "ask", context="gold").call("find", ok=True).call("pay", ok=True),
        lambda run, i: paid(run.select("guess" if i % 2 else "ask", context="tin"), i),
        ("skill", "guess", "", "context", "gold"),
    ),
]


@pytest.mark.parametrize(("desc", "graph", "fails", "passes", "want"), CASES, ids=[case[0] for case in CASES])
def test_what_failed_runs_have_in_common_is_named(desc, graph, fails, passes, want) -> None:
    found = [c for c in corpus_causes(graph, fails, passes) if c.kind != "skipped"]
    named = [(c.kind, c.tool, c.error, c.argument, c.value) for c in found]
    assert named == ([] if want is None else [want])
    assert all(c.elsewhere_k <= 1 for c in found if c.value), "of the 20 that passed"


@pytest.mark.database("sqlite")
@pytest.mark.parametrize(("desc", "graph", "fails", "passes", "want"), CASES, ids=[case[0] for case in CASES])
def test_no_run_is_read_again_but_for_an_expected_value_that_it_was_never_shown(
    desc, graph, fails, passes, want, tmp_path: Path
) -> None:
    with Workspace(tmp_path) as store:
        store.add("its.plan.yaml", export_graph(graph, "yaml").encode())
        for one in some_runs(fails, passes, 9, 20):
            store.add(f"{one.run_id}.jsonl", one.ledger())
        for _ in ("read", "opened from tables"):
            workspace = WorkspaceCorpus()
            corpus = workspace.evaluate(store, workspace.read(store))
            if graph is PAY:
                for file in store.ledgers():
                    file.path.rename(file.path.with_suffix(".away"))
            assert triage(corpus).causes == corpus_causes(graph, fails, passes)
            for away in tmp_path.rglob("*.away"):
                away.rename(away.with_suffix(".jsonl"))


def test_features_of_a_very_long_run_are_not_held_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run = refused(a_run("f"), 1).finish(False).run()
    for most, taken in ((len(run.events) - 1, False), (len(run.events), True)):
        monkeypatch.setattr(stated, "MOST_EVENTS", most)
        take_features(run, score_run(run, PAY), PAY)
        assert (FEATURES in vars(run)) is taken


@pytest.mark.parametrize(("same", "value"), [(8, "USD"), (7, "")])
def test_a_wrong_argument_is_named_with_its_value_where_eight_runs_of_ten_gave_it(same, value) -> None:
    (cause, *_) = corpus_causes(
        ASKED,
        lambda run, i: run.call("pay", ok=True, currency="USD" if i < same else f"X{i}"),
        lambda run, _: run.call("pay", ok=True, currency="CHF"),
        n=10,
    )
    assert (cause.argument, cause.value) == ("currency", value)


@pytest.mark.parametrize(
    ("runs", "tasks", "named"),
    [(3, 2, True), (2, 2, False), (4, 1, False)],
    ids=["3 of 2", "2 of 2", "4 of 1"],
)
def test_a_cause_needs_three_runs_of_two_tasks(runs: int, tasks: int, named: bool) -> None:
    made = [refused(a_run(f"f{i}", task=f"t{i % tasks}"), i).finish(False).run() for i in range(runs)]
    made += [paid(a_run(f"s{i}", task="t1"), i).finish(True).run() for i in range(9)]
    assert bool(triage(evaluate_corpus(made, PAY, resamples=0)).causes) is named


@pytest.mark.parametrize("value", ["", " = USD"])
def test_a_wrong_argument_is_said_with_its_value_where_it_has_one(value: str) -> None:
    wrong = corpus_causes(
        ASKED,
        lambda run, i: run.call("pay", ok=True, currency="USD" if value else f"X{i}"),
        lambda run, i: run.call("pay", ok=True, currency="CHF"),
    )
    assert [cause_words(one) for one in wrong] == [f"pay was called with a wrong currency{value} in 9 runs"]


def test_a_value_that_goes_with_an_error_is_counted_in_the_runs_that_have_it() -> None:
    (cause,) = corpus_causes(
        PAY,
        lambda run, i: refused(run, i, currency="CHF" if i < 7 else "EUR"),
        lambda run, i: paid(run, i, currency="CHF" if i < 1 else "EUR"),
    )
    assert (len(cause.runs), cause.k, cause.n, cause.elsewhere_k, cause.elsewhere_n) == (9, 7, 9, 1, 20)
    assert cause_words(cause).endswith("in 9 runs; currency = CHF in 7 of 9, 1 of 20 elsewhere (p < 0.001)")


def test_a_wrong_value_is_counted_in_the_runs_that_passed_with_it_by_whatever_attempt() -> None:
    (cause,) = corpus_causes(
        ASKED,
        lambda run, _: run.call("pay", ok=True, currency="USD"),
        lambda run, i: [
            run.call("pay", ok=True, currency=each)
            for each in (("USD", "CHF"), ("CHF", "USD"), ("CHF",))[min(i, 2)]
        ][-1],
    )
    assert (cause.value, cause.elsewhere_k, cause.elsewhere_n) == ("USD", 2, 20)


def test_what_goes_with_failing_in_the_runs_left_over_says_so() -> None:
    """Two values, each in half of the failed runs: the second is compared without the first one's runs."""
    causes = corpus_causes(
        PAY,
        lambda run, i: run.call("find", ok=True, region="north" if i % 2 else "west").call("pay", ok=True),
        lambda run, i: run.call("find", ok=True, region="south").call("pay", ok=True).state(paid=True),
        n=12,
    )
    said = [cause_words(one).split(" in ", 1)[1].partition(",")[0] for one in causes]
    assert said == ["6 of 12 runs that failed here", "6 of 6 runs that failed here with no other cause"]


def skilled_causes(*groups: tuple[str, str, str, int, int]) -> list[tuple[str, int, int, int, int]]:
    """The skills named as causes where runs of (skill, task, agent) failed and passed so often."""
    made = []
    for number, (skill, task, agent, fails, passes) in enumerate(groups):
        for i in range(fails + passes):
            run = a_run(f"{number}-{i}", task=f"{task}-{i % 2}", agent=agent).select(skill, "ask", "guess")
            done = paid(run, i) if i >= fails else run.call("find", ok=True).call("pay", ok=True)
            made.append(done.finish(i >= fails).run())
    causes = triage(evaluate_corpus(made, PAY, resamples=0)).causes
    return [(c.tool, c.k, c.n, c.elsewhere_k, c.elsewhere_n) for c in causes if c.kind == "skill"]


def test_a_skill_that_is_taken_for_the_harder_tasks_is_no_cause() -> None:
    hard, harder, easy = (("t1", "a"), ("t2", "a"), ("t3", "a"))
    assert not skilled_causes(
        ("guess", *hard, 18, 6),
        ("ask", *hard, 3, 1),
        ("guess", *harder, 18, 6),
        ("ask", *harder, 3, 1),
        ("guess", *easy, 1, 6),
        ("ask", *easy, 3, 18),
    )


def test_of_two_skills_the_other_one_is_no_cause_of_the_failures_left_over() -> None:
    """Failed runs without the first skill all took the other; so did the runs that passed without it."""
    skills = skilled_causes(
        *(("guess", f"t{i}", "a", 10, 6) for i in range(3)), *(("ask", f"t{i}", "a", 5, 15) for i in range(3))
    )
    assert skills == [("guess", 30, 45, 18, 63)]


def test_a_call_that_is_rare_in_the_harder_tasks_is_no_cause_where_it_is_left_out() -> None:
    made = []
    for i in range(120):
        hard, pays = i % 2 == 0, i % 12 in (1, 3, 5, 7, 9, 0)
        run = a_run(f"r{i}", task=f"t{i % 4}")
        if i // 12 % 4 < (1 if hard else 3):  # inside a task, asking changes nothing
            run.call("ask", ok=True)
        made.append(
            (paid(run, i) if pays else run.call("find", ok=True).call("pay", ok=True)).finish(pays).run()
        )
    assert not triage(evaluate_corpus(made, PAY, resamples=0)).causes


def test_runs_that_failed_before_are_not_among_those_that_passed() -> None:
    """Runs that guess leave the check out and pay as often: that the others ask is no cause of not paying."""
    graph = a_graph(
        {"id": "check", "critical": True, "check": {"tool_call": {"name": "check"}}},
        {"id": "pay", "deps": ["check"], "rules": [{"tool": "pay"}], "check": {"expr": "state.paid == true"}},
        tasks=["t*"],
    )
    made = []
    for i in range(48):
        guesses, pays = i % 2 == 0, i % 8 < 4
        run = a_run(f"r{i}", task=f"t{i // 12}").select("guess" if guesses else "ask", "ask", "guess")
        run = run if guesses and i % 16 else run.call("check", ok=True)
        run = run.call("pay", ok=True).state(paid=True) if pays else run.call("pay", ok=True)
        made.append(run.finish(pays).run())
    causes = triage(evaluate_corpus(made, graph, resamples=0)).causes
    assert [c.tool for c in causes if c.sub_goal == "pay" and c.kind == "skill"] == []


def test_a_skipped_step_that_is_recommended_is_a_cause_of_its_own() -> None:
    graph = a_graph(
        {"id": "check", "critical": True, "check": {"tool_call": {"name": "check"}}},
        {"id": "pay", "deps": ["check"], "check": {"tool_call": {"name": "pay"}}},
        tasks=["t*"],
    )
    (cause,) = corpus_causes(
        graph,
        lambda run, i: run.call("pay", ok=True),
        lambda run, i: run.call("check", ok=True).call("pay", ok=True),
    )
    assert (cause.kind, cause.sub_goal, len(cause.runs), cause.elsewhere_k, cause.elsewhere_n) == (
        "skipped",
        "check",
        9,
        0,
        20,
    )
