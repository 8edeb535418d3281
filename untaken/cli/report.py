"""``untaken report``: one HTML file for people who do not code."""

from __future__ import annotations

import argparse
from hashlib import sha256
from pathlib import Path

from untaken.analysis import Taxonomy, load_taxonomy
from untaken.cli.console import Console, plain
from untaken.cli.grammar import Verbs, verb
from untaken.cli.score import evaluated_paths
from untaken.ledger import replace
from untaken.numbers import counted
from untaken.views import REPORT_DOCUMENT, corpus_digest, html_report, rates_with_labels


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "report", report)
    parser.takes_graphs()
    parser.takes_compared()
    parser.add_argument(
        "-o", "--out", "--html", dest="html", metavar="FILE", help="the file to write", required=True
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--focus", action="store_true", help="a three-minute read (default)")
    length.add_argument("--full", action="store_true", help="every agent, failing run, sub-goal and choice")
    parser.takes_one("--title", "TEXT", "the heading", default="")
    # Never the date of today by itself: the same runs give the same bytes.
    parser.takes_one("--date", "TEXT", "date to print, as given; default: none", default="")
    parser.takes_flag("--notes", "also failure modes and notes that people wrote, with their names")
    parser.takes_one("--taxonomy", "FILE", "names of failure modes; implies --notes")
    parser.takes_labels()
    parser.takes_memory()
    parser.takes_weights()


def report(args: argparse.Namespace, console: Console) -> int:
    """Writes the report; 1 where a ledger is broken or a plan graph invalid: the report says so, too."""
    scored, corpus = evaluated_paths(args, console)
    labels = rates_with_labels(corpus) if args.labels else None
    notes = _taxonomy(args)
    page = html_report(
        corpus,
        full=args.full,
        title=args.title,
        date=args.date,
        labels=labels,
        unread=len(scored.ledgers.unread),
        notes=notes,
    ).encode()
    replace(Path(args.html), page, sync=False)
    length = "full" if args.full else "focused"
    console.say(plain(f"{counted(len(corpus.runs), 'run')} → {args.html} ({length})"))
    console.document(
        REPORT_DOCUMENT(
            file=args.html,
            bytes=len(page),
            sha256=sha256(page).hexdigest(),
            full=args.full,
            runs=len(corpus.runs),
            digest=corpus_digest(corpus),
            findings=tuple(dict.fromkeys((*scored.findings, *(labels.findings if labels else ())))),
        )
    )
    return 1 if scored.broken else 0


def _taxonomy(args: argparse.Namespace) -> Taxonomy | None:
    """The names of failure modes, where the report should hold what people wrote."""
    if args.taxonomy:
        return load_taxonomy(args.taxonomy)
    return Taxonomy() if args.notes else None
