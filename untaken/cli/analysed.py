"""The runs that error analysis is about: those of a workspace, or of ledgers named on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from msgspec import Struct

from untaken.analysis import (
    Corpus,
    Graphs,
    Taxonomy,
    evaluate_corpus,
    kept_taxonomy,
    load_taxonomy,
    runs_left_out,
)
from untaken.cli.console import Console
from untaken.cli.grammar import Parser
from untaken.cli.inputs import compared_part, open_workspace, paths_of, read_graphs, read_ledgers
from untaken.cli.score import leave_out_distrusted_of
from untaken.counterfactual import PolicyMemory
from untaken.errors import Finding
from untaken.ledger import Run
from untaken.workspace import Review


class Analysed(Struct, frozen=True, kw_only=True):
    """Runs, evaluated, with the names of failure modes and where reviews are; `broken` where a ledger is."""

    corpus: Corpus
    taxonomy: Taxonomy
    reviews: Mapping[str, Review]
    findings: tuple[Finding, ...]
    broken: bool


def takes_runs(parser: Parser) -> None:
    """``--workspace``, or ``PATH…`` with ``--graphs`` and ``--taxonomy``; scope and rules."""
    parser.takes_ledgers(few="*")
    parser.takes_one("--workspace", "FOLDER", "the folder of untaken app, instead of PATH")
    parser.takes_many("--graphs", "PATH", "plan graphs, with PATH")
    parser.takes_one("--taxonomy", "FILE", "names of failure modes, with PATH")
    parser.takes_compared()
    parser.takes_rules()


def read_analysed(args: argparse.Namespace, console: Console) -> Analysed:
    """Reads and evaluates what the command line names.

    Raises:
        UsageError: ``source-not-found`` for a workspace that is not there; as `read_ledgers`.
    """
    if args.workspace is None:
        ledgers = read_ledgers(paths_of(args), console)
        runs, findings, broken = ledgers.every_run, ledgers.findings, ledgers.broken > 0
        graphs: Graphs = read_graphs(args.graphs) if args.graphs else []
        taxonomy = load_taxonomy(args.taxonomy) if args.taxonomy else Taxonomy()
        corpus = _evaluated(args, runs, graphs, console)
        about = (*findings, *runs_left_out(corpus))
        return Analysed(corpus=corpus, taxonomy=taxonomy, reviews={}, findings=about, broken=broken)
    with open_workspace(args, console.progress) as store:
        runs, unread = store.read_runs()
        corpus = _evaluated(args, runs, store.graph_set(), console)
        return Analysed(
            corpus=corpus,
            taxonomy=kept_taxonomy(store.path),
            reviews=store.reviews.every(),
            findings=(*unread, *runs_left_out(corpus)),
            broken=any(run.integrity.broken for run in runs),
        )


def _evaluated(args: argparse.Namespace, runs: Sequence[Run], graphs: Graphs, console: Console) -> Corpus:
    """Builds no policy memory: failure modes do not need one."""
    leave_out_distrusted_of(runs, args, console)
    corpus = evaluate_corpus(
        runs,
        graphs,
        memory=PolicyMemory.build([]),
        missing=args.missing,
        verdicts=args.verdicts,
        progress=console.progress,
    )
    return corpus if args.compared is None else compared_part(corpus, args.compared)
