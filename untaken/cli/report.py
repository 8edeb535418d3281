"""``untaken report``: one HTML file for people who do not code."""

from __future__ import annotations

import argparse
from hashlib import sha256
from pathlib import Path

from untaken.answers import rates_with_labels
from untaken.answers.workspace import ReportDocument
from untaken.cli.console import Console, plain
from untaken.cli.grammar import Verbs, takes_graphs, verb
from untaken.cli.score import read_to_score
from untaken.corpus import evaluate_corpus
from untaken.html import html_report
from untaken.html.small_print import corpus_digest
from untaken.ledger.disk import replace
from untaken.memory import PolicyMemory
from untaken.present.numbers import counted


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "report", report)
    takes_graphs(parser)
    parser.add_argument("--html", required=True, metavar="FILE", help="the file to write")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--focus", action="store_true", help="a three-minute read (default)")
    length.add_argument("--full", action="store_true", help="every agent, failing run, sub-goal and choice")
    parser.add_argument("--title", default="", metavar="TEXT", help="the heading")
    parser.add_argument("--date", default="", metavar="TEXT", help="date to print, as given; default: none")
    parser.add_argument(
        "--labels",
        action="store_true",
        help="also rates from people's labels and a judge, where people labelled only some of what it judged",
    )
    parser.add_argument("--memory", metavar="FILE", help="policy memory; by default built from these ledgers")


def report(args: argparse.Namespace, console: Console) -> int:
    """Writes the report; 1 where a ledger is broken or a plan graph invalid: the report says so, too."""
    ledgers, graphs = read_to_score(args, console)
    memory = PolicyMemory.load(Path(args.memory)) if args.memory else None
    corpus = evaluate_corpus(
        (run for _, run in ledgers.runs),
        graphs,
        memory=memory,
        missing=args.missing,
        verdicts=args.verdicts,
        progress=console.progress,
        cluster=args.cluster,
    )
    labels = rates_with_labels(corpus) if args.labels else None
    page = html_report(corpus, full=args.full, title=args.title, date=args.date, labels=labels).encode()
    replace(Path(args.html), page, sync=False)
    length = "full" if args.full else "focused"
    console.say(plain(f"{counted(len(corpus.runs), 'run')} → {args.html} ({length})"))
    findings = tuple(
        dict.fromkeys((*ledgers.findings, *corpus.findings, *(labels.findings if labels else ())))
    )
    console.findings(findings)
    console.document(
        ReportDocument(
            file=args.html,
            bytes=len(page),
            sha256=sha256(page).hexdigest(),
            full=args.full,
            runs=len(corpus.runs),
            digest=corpus_digest(corpus),
            findings=findings,
        )
    )
    return 1 if ledgers.broken or any(f.severity == "error" for f in graphs.findings) else 0
