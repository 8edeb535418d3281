"""Issues: a mode and a rule that finds it, and whether it came back."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import a_read_run, days_after, read, scores_of
from builders import EPOCH, a_graph, a_run

from untaken.analysis.failure_modes import Taxonomy
from untaken.analysis.failure_modes.facts import FACTS, rule_holds, run_facts
from untaken.analysis.failure_modes.issue_file import (
    adding,
    change_issues,
    issues_yaml,
    kept_issues,
    parse_issues,
    setting,
)
from untaken.analysis.failure_modes.issue_model import Issue, IssueChange, IssueList, IssueRule, IssueStatus
from untaken.analysis.failure_modes.issues import TrackedIssue, asks_for_statements, track_issues
from untaken.errors import Unscored, UntakenError, number
from untaken.ledger import Run

OPENED = IssueChange(status="open", by="human:ann", at=EPOCH)


def an_issue(
    expr: str = "", *, text: str = "", mode: str = "", fixed: int | None = None, name: str = "i"
) -> Issue:
    history = [OPENED]
    if fixed is not None:
        history.append(IssueChange(status="fixed", by="human:ann", at=days_after(fixed)))
    return Issue(id=name, title="An issue", mode=mode, rule=IssueRule(expr=expr, text=text), history=history)


def tracked(issue: Issue, *runs: Run) -> TrackedIssue:
    (found,) = track_issues([issue], runs, scores_of(runs), Taxonomy())
    return found


GRAPH = a_graph("find", {"id": "pay", "critical": True, "deps": ["find"]}, "close")
RULES = [
    # desc, expression, text glob, whether it holds
    ("a sub-goal's status", 'state.status.close == "skipped"', "", True),
    ("a failed tool", '"charge" in state.failed_tools && state.failed_tools.charge >= 2', "", True),
    ("a tool that did not fail", '"search" in state.failed_tools', "", False),
    ("the kind of an error", 'state.errors.exists(e, e.contains("card # declined"))', "", True),
    ("a mode that people assigned", '"loop" in state.modes', "", True),
    ("the outcome", "!state.success && state.finished", "", True),
    ("the version", 'state.version == "1.4"', "", True),
    ("the metadata", 'state.metadata.region == "eu"', "", True),
    ("a statement", 'state.statements.exists(s, s.startsWith("unplanned"))', "", True),
    ("what an answer says", "", "*card * declined*", True),
    ("what the agent says", "", "Sorry*", True),
    ("what a call asks", "", "charge *4711*", True),
    ("text that nobody wrote", "", "*refund*", False),
    ("a glob that must fit a whole text", "", "card", False),
    ("both parts", "!state.success", "*declined*", True),
    ("text without the expression", "state.success", "*declined*", False),
    ("a field that is not there", "state.cost_of_error > 1", "", None),
    ("a sub-goal that is not there", 'state.status.refund == "skipped"', "", None),
]


@pytest.mark.parametrize(("desc", "expr", "text", "want"), RULES, ids=[row[0] for row in RULES])
def test_a_rule_asks_for_the_facts_of_a_run(desc: str, expr: str, text: str, want: bool | None) -> None:
    built = a_run("r1", metadata={"version": "1.4", "region": "eu"}).call("search", "find", ok=True)
    for number_ in (4711, 4712):
        built.call("charge", "pay", card=number_).observe(
            f"Card {number_} declined", ok=False, call_id=f"c{number_ - 4709}"
        )
    run = built.say("Sorry, I cannot pay.").finish(success=False).run()
    (score,) = scores_of([run], GRAPH).values()
    said = rule_holds(
        IssueRule(expr=expr, text=text), run, score, modes=["loop"], statements=["unplanned(charge)"]
    )
    assert (None if isinstance(said, Unscored) else said) is want, desc


def test_the_names_of_facts_are_those_that_rules_are_offered() -> None:
    run = a_run("r1", model="m", metadata={"version": "1"}).plan("find").call("look", ok=True).finish().run()
    (score,) = scores_of([run], GRAPH).values()
    assert set(run_facts(run, score)) == set(FACTS)


def test_statements_are_asked_for_where_any_rule_reads_them() -> None:
    plain, reads = an_issue("!state.success"), an_issue("state.statements.size() > 0")
    assert [asks_for_statements(some) for some in ([], [plain], [plain, reads])] == [False, False, True]


def test_a_run_without_a_clock_never_reopens_an_issue_and_is_in_the_rate_of_all_runs_alone() -> None:
    undated = a_read_run("r1", "loop", day=-26 * 365)  # where importers put traces without times
    found = tracked(an_issue(mode="loop", fixed=-27 * 365), undated)
    assert (found.state, found.undated, found.first_seen) == ("fixed", 1, None)
    dated = [a_read_run("r2", "loop", task="a", day=1), a_read_run("r3", task="b", day=5, note=True)]
    found = tracked(an_issue(mode="loop", fixed=3), undated, *dated)
    rates = [rate and (rate.matches, rate.runs) for rate in (found.overall, found.before, found.after)]
    assert rates == [(2, 3), (1, 1), (0, 1)]


def test_rates_before_and_after_the_fix_have_intervals_that_say_how_sure_it_is() -> None:
    runs = [a_read_run(f"r{n}", *["loop"] * (n < 5), task=f"t{n}", day=n, note=True) for n in range(20)]
    found = tracked(an_issue(mode="loop", fixed=9), *runs)
    assert (found.before.matches, found.before.runs) == (5, 10)
    assert (found.after.matches, found.after.runs, found.after.rate) == (0, 10, 0.0)
    assert 0.2 < number(found.after.high) < 0.35


def test_rates_by_version_come_in_the_order_in_which_versions_were_first_seen() -> None:
    runs = [
        a_read_run("r1", "loop", day=5, task="a", metadata={"version": "1.10"}),
        a_read_run("r2", "loop", day=1, task="b", metadata={"version": "1.9"}),
        a_read_run("r3", day=6, task="c", note=True, metadata={"version": "1.10"}),
    ]
    found = tracked(an_issue(mode="loop"), *runs)
    assert [(v.name, v.matches, v.runs) for v in found.versions] == [("1.9", 1, 1), ("1.10", 1, 2)]


def test_a_rule_is_held_against_what_people_assigned() -> None:
    runs = [
        a_read_run("agreed", "loop", ok=False, task="a"),
        a_read_run("missed", "loop", ok=True, task="b"),
        a_read_run("extra", ok=False, task="c", note=True),
        a_read_run("unread", ok=False, task="d"),
        a_read_run("unscored", "loop", ok=None, task="e"),
    ]
    found = tracked(an_issue("!state.success", mode="loop"), *runs)
    assert (found.agreed, found.missed, found.extra) == (1, 1, 1)


def test_a_broken_run_is_in_no_issue() -> None:
    broken = read(a_run("r1").finish(success=False), "loop")
    broken = Run(events=broken.events, integrity=a_run("r1").finish().run("TRUNCATED").integrity)
    found = tracked(an_issue(mode="loop"), broken)
    assert (found.overall.runs, found.matches) == (0, ())
    assert isinstance(found.overall.rate, Unscored)


def test_an_issue_file_reads_back_as_it_was_written() -> None:
    issues = IssueList(issues=[an_issue("state.success", text="*x: [y]*", mode="loop", fixed=3)])
    assert str(issues.issues[0].rule) == "state.success and text '*x: [y]*'"
    assert parse_issues(issues_yaml(issues)) == issues
    assert issues_yaml(parse_issues(issues_yaml(issues))) == issues_yaml(issues)


ISSUE = "{id: i, title: T, rule: {%s}, history: [{status: open, by: ann, at: 2026-01-01T00:00:00Z}]}"
FAULTS = [
    ("Python instead of CEL", ISSUE % "expr: state.a and state.b", "rule of issue 'i'"),
    ("another name than state", ISSUE % "expr: run.success", "the name 'run'"),
    ("a fact that there is not", ISSUE % "expr: state.sucess", "there is no fact 'sucess'"),
    (
        "no fact at all",
        ISSUE % "expr: 1 < 2",
        "'1 < 2' names no fact of a run [issues-invalid]\n  → Facts: state.agent,",
    ),
    ("neither mode nor rule", ISSUE % "", "neither a mode nor a rule"),
    ("two of one id", f"{ISSUE % 'text: x'}, {ISSUE % 'text: y'}", "two issues have the id 'i'"),
    ("a field of another file", "{id: i, name: T}", "unknown field `name`"),
    ("a time without a zone", ISSUE.replace("00Z", "00") % "text: x", "timezone"),
]


@pytest.mark.parametrize(("desc", "issues", "want"), FAULTS, ids=[row[0] for row in FAULTS])
def test_a_fault_of_an_issue_file_is_named(desc: str, issues: str, want: str) -> None:
    with pytest.raises(UntakenError) as error:
        parse_issues(f"schema: untaken.issues/1\nissues: [{issues}]\n")
    assert error.value.code == "issues-invalid", desc
    assert want in str(error.value)


def test_a_workspace_keeps_its_issues_and_every_change_of_status(tmp_path: Path) -> None:
    file = tmp_path / "issues.yaml"
    assert kept_issues(tmp_path).issues == []
    change_issues(file, adding(an_issue(mode="loop")))
    statuses: list[IssueStatus] = ["fixed", "open", "fixed"]
    for day, status in enumerate(statuses, start=1):
        change_issues(file, setting("i", status, by="human:bob", at=days_after(day)))
    (issue,) = kept_issues(tmp_path).issues
    assert [change.status for change in issue.history] == ["open", *statuses]
    assert issue.fixed_at == days_after(3)


def test_a_change_that_is_refused_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "issues.yaml"
    change_issues(file, adding(an_issue(mode="loop")))
    before = file.read_bytes()
    with pytest.raises(UntakenError, match="there is no issue"):
        change_issues(file, setting("gone", "fixed", by="ann", at=EPOCH))
    with pytest.raises(UntakenError, match="two issues"):
        change_issues(file, adding(an_issue(mode="other")))
    assert file.read_bytes() == before
