"""``untaken issues``: which issues are open, fixed or reopened, and how often they occur."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from untaken.analysis import (
    ISSUES,
    Issue,
    IssueChange,
    IssueList,
    IssueRule,
    TrackedIssue,
    adding,
    change_issues,
    load_issues,
    setting,
)
from untaken.cli.analysed import read_analysed, takes_runs
from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.inputs import moment, open_workspace
from untaken.errors import first_few
from untaken.numbers import counted
from untaken.views import ISSUES_DOCUMENT, corpus_issues, issue_entry


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "issues", issues)
    takes_runs(parser)
    parser.takes_one("--file", "FILE", f"issues, with PATH; by default {ISSUES}")
    parser.takes_one("--add", "ID", "add an issue; needs --title, and --mode or a rule")
    parser.takes_one("--title", "TEXT", "of the issue added", default="")
    parser.takes_one("--mode", "ID", "its failure mode", default="")
    parser.takes_one("--expr", "CEL", "its rule, e.g. 'state.status.pay == \"skipped\"'", default="")
    parser.takes_one("--text", "GLOB", "its rule, e.g. '*declined*'", default="")
    parser.takes_one("--fix", "ID", "call an issue fixed")
    parser.takes_one("--reopen", "ID", "call an issue open again")
    parser.takes_one("--at", "TIME", "since when, e.g. 2026-01-31T12:00:00Z; by default now")
    parser.takes_one("--by", "NAME", "your name; required to change anything")


def issues(args: argparse.Namespace, console: Console) -> int:
    """Prints every issue; 1 where one is reopened, or a ledger is broken."""
    file = Path(args.file or ISSUES)
    if args.workspace is not None:
        with open_workspace(args) as store:
            file = store.path / ISSUES
    _change(args, file)
    # A workspace may have none yet; a file that was named has to be there.
    known = load_issues(file) if args.workspace is None or file.exists() else IssueList()
    given = read_analysed(args, console)
    found = corpus_issues(given.corpus, known.issues, given.taxonomy)
    run_ids = {digest: run.run_id for digest, run in given.corpus.runs.items()}
    print_issues(found, run_ids, console)
    console.document(
        ISSUES_DOCUMENT(issues=[issue_entry(one, run_ids) for one in found], findings=given.findings)
    )
    return 1 if given.broken or any(one.state == "reopened" for one in found) else 0


def _change(args: argparse.Namespace, file: Path) -> None:
    if not (args.add or args.fix or args.reopen):
        return
    if not args.by:
        raise UsageError(
            "issues-invalid",
            "--add, --fix and --reopen need --by NAME",
            hint="The name signs the change.",
        )
    # Seconds are enough in a file that people read.
    by, at = f"human:{args.by}", moment(args.at) or datetime.now(UTC).replace(microsecond=0)
    if args.add:
        issue = Issue(
            id=args.add,
            title=args.title or args.add,
            mode=args.mode,
            rule=IssueRule(expr=args.expr, text=args.text),
            history=[IssueChange(status="open", by=by, at=at)],
        )
        change_issues(file, adding(issue))
    if args.fix:
        change_issues(file, setting(args.fix, "fixed", by=by, at=at))
    if args.reopen:
        change_issues(file, setting(args.reopen, "open", by=by, at=at))


def print_issues(found: Sequence[TrackedIssue], run_ids: dict[str, str], console: Console) -> None:
    """Each issue with its rates, and the runs that reopened one."""
    console.columns(
        found,
        "issue=issue.id, state, runs=overall.matches/overall.runs",
        "rate=overall.rate, 95%=overall.low…overall.high",
        ("since fix", lambda one: f"{one.after.matches}/{one.after.runs}" if one.after else NOTHING),
        "first seen=first_seen:%Y-%m-%d, last seen=last_seen:%Y-%m-%d, title=issue.title",
    )
    console.say()
    for one in found:
        if one.state == "reopened":
            again = first_few([run_ids[run] for run in one.reopened_by], 3)
            console.say(plain(f"{one.issue.id} is back in {again}"))
        if one.unknown:
            runs = counted(one.unknown, "run")
            console.say(plain(f"{one.issue.id}: not known of {runs}: {one.unknown_reason}"))
    states = [one.state for one in found]
    console.say(
        f"{counted(len(found), 'issue')}: {states.count('open')} open, {states.count('fixed')} fixed, "
        f"{states.count('reopened')} reopened"
    )
