"""``untaken review``: the queue of failing runs of a workspace, its progress, and how far reviewers agree."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from untaken.analysis import Corpus, evaluate_corpus, kept_taxonomy, remembered, runs_left_out
from untaken.cli.console import Console, plain
from untaken.cli.grammar import UsageError, Verbs, rules_in_words, verb
from untaken.cli.inputs import compared_part, open_workspace
from untaken.cli.score import leave_out_distrusted_of
from untaken.errors import Unscored
from untaken.judging import ReviewerPair, Reviewers, reviewer_pairs
from untaken.ledger import Run
from untaken.views import (
    FIELDS,
    META,
    Case,
    ReviewerDisagreement,
    chosen_cases,
    corpus_reviewers,
    disagreement_queue,
    failing_cases,
    fix_first_reasons,
    most_informative_cases,
    progress_of,
    review_document,
    with_reviews,
)
from untaken.workspace import STATUSES, ReviewConflict, read_settings

if TYPE_CHECKING:
    from untaken.workspace import Workspace

TOP = 20
ORDERS = ("severity", "teaches")


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "review", review)
    parser.takes_one("--workspace", "FOLDER", "the folder of untaken app", required=True)
    fields = f"{', '.join(FIELDS)}, or {META}KEY"
    parser.takes_each("--where", "FIELD=VALUE", f"filter runs; repeatable. FIELD: {fields}")
    parser.takes_one("--runs", "ID", "only these: run ids or digests", nargs="+", default=[])
    parser.add_argument("--set", choices=STATUSES, metavar="STATUS", help=f"one of: {', '.join(STATUSES)}")
    parser.takes_one("--assign", "NAME", "assign to this person; empty to unassign")
    parser.takes_one("--by", "NAME", "your name; required with --set and --assign")
    parser.add_argument(
        "--order",
        choices=ORDERS,
        default="severity",
        help="most severe first (default), or those first that teach most",
    )
    parser.takes_flag("--all-read", "with --order teaches: every run was read, as for untaken modes pivot")
    parser.takes_compared()
    parser.takes_rules()
    parser.takes_top(TOP)


def review(args: argparse.Namespace, console: Console) -> int:
    """Prints the queue and its progress; 1 where a ledger is broken, or somebody else changed a review."""
    if (args.set is not None or args.assign is not None) and not args.by:
        raise UsageError(
            "review-invalid", "--set and --assign need --by NAME", hint="The name signs the change."
        )
    filters = _filters(args.where)
    with open_workspace(args, console.progress) as workspace:
        runs, findings = workspace.read_runs()
        corpus = _evaluated(workspace, runs, args, console)
        found = corpus_reviewers(corpus)
        everything = failing_cases(corpus, found)
        shown = _asked(with_reviews(everything, workspace.reviews.every()), filters, args.runs)
        refused = _change(workspace, shown, args)
        kept = {case.item.digest for case in shown}
        reviews = workspace.reviews.every()
        # The runs chosen before the change: their new status may no longer fit the filters.
        shown = tuple(case for case in with_reviews(everything, reviews) if case.item.digest in kept)
        if args.order == "teaches":
            taxonomy = kept_taxonomy(workspace.path)
            shown = most_informative_cases(corpus, taxonomy, reviews, shown, all_read=args.all_read)
    queue = disagreement_queue(corpus, found)
    _print(shown, found, queue, args.top or None, console)
    console.say(rules_in_words(args.missing, args.verdicts))
    for one in refused:
        console.warn(f"not set: {plain(one.now.updated_by)} changed {plain(one.now.run_id)} in the meantime")
    found_here = (*findings, *runs_left_out(corpus))
    reasons = fix_first_reasons(corpus) if console.json else {}  # slow, and in the document only
    console.document(review_document(shown, found, queue, reasons=reasons, findings=found_here))
    return 1 if refused or any(run.integrity.broken for run in runs) else 0


def _evaluated(
    workspace: Workspace, runs: Sequence[Run], args: argparse.Namespace, console: Console
) -> Corpus:
    leave_out_distrusted_of(runs, args, console)
    corpus = evaluate_corpus(
        runs,
        workspace.graph_set(),
        memory=remembered(runs, workspace.path),
        identity=read_settings(workspace.path).identity,
        missing=args.missing,
        verdicts=args.verdicts,
        progress=console.progress,
    )
    return corpus if args.compared is None else compared_part(corpus, args.compared)


def _filters(where: Sequence[str]) -> dict[str, list[str]]:
    filters: dict[str, list[str]] = defaultdict(list)
    for one in where:
        field, given, value = one.partition("=")
        if not given or (field not in FIELDS and not field.startswith(META)):
            known = f"{', '.join(FIELDS)}, {META}KEY"
            raise UsageError("review-invalid", f"--where {one!r}", hint=f"FIELD=VALUE; fields: {known}.")
        filters[field].append(value)
    return filters


def _asked(cases: Sequence[Case], filters: dict[str, list[str]], runs: Sequence[str]) -> tuple[Case, ...]:
    shown, wanted = chosen_cases(cases, filters), set(runs)
    return tuple(case for case in shown if not wanted or {case.item.run_id, case.item.digest} & wanted)


def _change(workspace: Workspace, shown: Sequence[Case], args: argparse.Namespace) -> list[ReviewConflict]:
    if args.set is None and args.assign is None:
        return []
    answers = workspace.reviews.change(
        [case.review for case in shown], author=f"human:{args.by}", status=args.set, assignee=args.assign
    )
    return [answer for answer in answers if isinstance(answer, ReviewConflict)]


def _print(
    shown: Sequence[Case],
    found: Reviewers,
    queue: Sequence[ReviewerDisagreement],
    top: int | None,
    console: Console,
) -> None:
    console.columns(
        shown[:top],
        "status=review.status, kind=item.kind, agent=item.agent, task=item.task_id",
        "assignee=review.assignee, tags=review.tags, notes, run=item.run_id, why",
    )
    _more(len(shown), top, "runs", console)
    progress = progress_of(shown)
    counts = ", ".join(f"{n} {status}" for status, n in progress.statuses.items())
    console.say()
    console.say(f"{progress.reviewed} of {progress.total} reviewed ({counts})")
    if found.overall.reviewers:
        console.say()
        print_reliability(found, console, top)
        _print_pairs([pair for pair in reviewer_pairs(found) if pair.n], console, top)
    if queue:
        console.say()
        console.columns(
            queue[:top],
            "run=judged.run_id, sub-goal=judged.sub_goal",
            "critical, met=judged.met, not met=judged.not_met, cannot tell=judged.unsure",
        )
        _more(len(queue), top, "sub-goals where reviewers disagree", console)
        console.say()


def print_reliability(found: Reviewers, console: Console, top: int | None = TOP) -> None:
    """How far reviewers agree: Krippendorff's α over all, and by sub-goal with the least first."""
    rows = [one for one in (found.overall, *found.sub_goals) if one.items]
    console.columns(
        rows[:top],
        ("", lambda one: f"{one.graph} {one.name}".strip() or "all"),
        "items, one opinion=agreed, alpha, 95%=low…high, runs, cannot tell=unsure",
    )
    _more(len(rows), top, "sub-goals", console)
    names = ", ".join(plain(name) for name in found.overall.reviewers)
    console.say(
        f"Krippendorff's alpha of {names or 'nobody'}; “cannot tell” counts as missing; "
        f"intervals take {found.overall.cluster}s together (jackknife)"
    )


def _print_pairs(pairs: Sequence[ReviewerPair], console: Console, top: int | None) -> None:
    """Share and Cohen's κ of every two reviewers who judged something in common."""
    if not pairs:
        return
    console.say()
    console.columns(
        pairs[:top],
        ("two by two", lambda pair: f"{pair.a}, {pair.b}"),
        "n, agree=agreed, share=agreement, 95%=low…high, kappa, 95%=kappa_low…kappa_high",
        "only first=only_a, only second=only_b",
    )
    _more(len(pairs), top, "pairs of reviewers", console)
    reasons = dict.fromkeys(pair.kappa.reason for pair in pairs if isinstance(pair.kappa, Unscored))
    for reason in reasons:
        console.say(f"no kappa: {reason}")


def _more(count: int, top: int | None, what: str, console: Console) -> None:
    if top is not None and count > top:
        console.say(f"… and {count - top} more {what}; --top 0 lists them all")
