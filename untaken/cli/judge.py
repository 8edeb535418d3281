"""``untaken judge``: a language model's verdicts on sub-goals."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct

from untaken.cli.appending import DraftsOf, append_drafts, refuse_compressed
from untaken.cli.asking import model_of, takes_model
from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.inputs import paths_of, read_graphs, read_ledgers
from untaken.errors import Finding, Unscored
from untaken.facts import Ledgers, Place
from untaken.judging import (
    UNSCORED_WORDS,
    JudgedMapping,
    ModelAccess,
    NodeVerdict,
    Progress,
    findings_of,
    judge_mapping,
    judge_run,
    mapping_events,
    verdict_events,
)
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import GraphSet, PlanGraph
from untaken.views import JUDGE_DOCUMENT


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "judge", judge)
    parser.takes_ledgers(few="*")
    parser.takes_many("--graphs", "PATH", "plan graph, or folder of plan graphs; or its URL", required=True)
    takes_model(parser)
    parser.takes_many("--sub-goals", "ID", "ask only about these")
    parser.takes_one("--as", "NAME", "sign as judge:NAME, e.g. to compare two rubrics", dest="signed")
    parser.takes_flag("--no-tools", "send excerpts only")
    parser.takes_flag("--accept-claims", "accept a pass based only on the agent's own words")
    parser.takes_flag("--map", "ask which sub-goals unmapped actions belong to, instead of verdicts")
    parser.takes_flag("--append", "append the verdicts to the ledgers, once only")


def judge(args: argparse.Namespace, console: Console) -> int:
    """Prints verdicts; 1 where a ledger is broken or a graph invalid."""
    ledgers = read_ledgers(paths_of(args), console)
    graphs = read_graphs(args.graphs)
    if args.append:
        # Before a model is asked: its answers cost money and could not be kept in the ledger.
        refuse_compressed(ledgers)
    work, work_findings = _work(ledgers, graphs, args.sub_goals)
    with model_of(args, console) as model:
        judged = _mapped(work, model, console) if args.map else _judged(work, model, args, console)
        findings = [*ledgers.findings, *graphs.findings, *work_findings, *judged.findings]
        if args.append:
            findings += append_drafts(ledgers, judged.drafts, console, code="verdicts-not-appended")
        # Runs of one task repeat the findings of its graph.
        distinct = tuple(dict.fromkeys(findings))
        console.document(JUDGE_DOCUMENT(judged, model=model.name, findings=distinct))
    return 1 if ledgers.broken or graphs.invalid else 0


Work = tuple[Place, Run, PlanGraph]


class JudgeSummary(Struct, frozen=True, kw_only=True):
    """The results of a judge for the runs."""

    verdicts: Sequence[NodeVerdict] = ()
    mappings: Sequence[JudgedMapping] = ()
    drafts: Sequence[tuple[Place, Run, DraftsOf]]  # what to append, to which run of which file
    findings: Sequence[Finding]


def _work(ledgers: Ledgers, graphs: GraphSet, sub_goals: Sequence[str]) -> tuple[list[Work], list[Finding]]:
    """The unbroken runs that have a plan graph with something to ask about."""
    work: list[Work] = []
    findings: list[Finding] = []
    for file, run in ledgers.runs:
        if run.integrity.broken:
            continue
        graph, graph_findings = graphs.for_task(run.task_id, run.started.graph)
        findings += graph_findings
        if not isinstance(graph, Unscored):
            work.append((file, run, graph))
    known = {node.id for _, _, graph in work for node in graph.sub_goals}
    if unknown := [name for name in sub_goals if name not in known]:
        raise UsageError("sub-goal-unknown", f"no plan graph of these runs has a sub-goal {unknown[0]!r}")
    return work, findings


def _judged(
    work: Sequence[Work], model: ModelAccess, args: argparse.Namespace, console: Console
) -> JudgeSummary:
    reports = []
    for at, (_, run, graph) in enumerate(work, start=1):
        ids = {node.id for node in graph.sub_goals}
        asked = [name for name in args.sub_goals if name in ids] if args.sub_goals else None
        report = judge_run(
            run,
            graph,
            model,
            sub_goals=asked,
            tools=False if args.no_tools else None,  # without a word, as the model can
            accept_claims=args.accept_claims,
            progress=_progress(console, f"run {at} of {len(work)}: asking {model.name}"),
        )
        reports.append(report)
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    _print(verdicts, console)
    return JudgeSummary(
        verdicts=verdicts,
        drafts=[
            (file, run, partial(verdict_events, report=report, signed=args.signed))
            for (file, run, _), report in zip(work, reports, strict=True)
        ],
        findings=[*(finding for report in reports for finding in report.findings), *_unanswered(verdicts)],
    )


def _mapped(work: Sequence[Work], model: ModelAccess, console: Console) -> JudgeSummary:
    found = [
        judge_mapping(
            run, graph, model, progress=_progress(console, f"run {at} of {len(work)}: asking {model.name}")
        )
        for at, (_, run, graph) in enumerate(work, start=1)
    ]
    rows = [(one.run_id, action.seq, action.sub_goal) for one in found for action in one.actions]
    console.table(("run", "action", "sub-goal"), rows)
    asked, lost = sum(one.asked for one in found), sum(one.unanswered for one in found)
    console.say()
    console.say(f"{counted(asked, 'unmapped action')}: {len(rows)} mapped by {plain(model.name)}")
    unanswered = Finding(
        code="questions-unanswered",
        message=f"{counted(lost, 'action')} of {asked} without a valid answer",
        hint="Answers are kept: the next run asks only the missing ones.",
    )
    return JudgeSummary(
        mappings=found,
        drafts=[
            (file, run, partial(mapping_events, mapping=one))
            for (file, run, _), one in zip(work, found, strict=True)
        ],
        findings=[*(f for _, run, _ in work for f in findings_of(run)), *([unanswered] if lost else [])],
    )


def _progress(console: Console, what: str) -> Progress:
    def report(done: int, total: int, _what: str) -> None:
        console.progress(done, total, what)

    return report


def _unanswered(verdicts: Sequence[NodeVerdict]) -> Iterator[Finding]:
    unanswered = Counter(v.reason for v in verdicts if v.unscored_reason == "no_answer")
    for why, count in unanswered.items():
        yield Finding(
            code="questions-unanswered",
            message=f"{counted(count, 'question')} of {len(verdicts)} without an answer: {why}",
            hint="Answers are kept: the next run asks only the missing ones.",
        )


def _print(verdicts: Sequence[NodeVerdict], console: Console) -> None:
    wording = {True: "met", False: "not met", None: "unscored"}
    console.columns(
        verdicts,
        "run=run_id, sub-goal=sub_goal",
        (
            "verdict",
            lambda verdict: wording[verdict.passed] + (", unanchored" if verdict.unanchored else ""),
        ),
        ("events", lambda verdict: ", ".join(str(cited.seq) for cited in verdict.evidence) or NOTHING),
        "why=reason",
    )
    counts = Counter(wording[verdict.passed] for verdict in verdicts)
    totals = ", ".join(f"{counts[word]} {word}" for word in wording.values() if counts[word])
    console.say()
    console.say(f"{counted(len(verdicts), 'question')}{': ' + totals if totals else ''}")
    for why, words in UNSCORED_WORDS.items():
        if count := sum(verdict.unscored_reason == why for verdict in verdicts):
            console.say(f"  {count} {why}: {words}")
