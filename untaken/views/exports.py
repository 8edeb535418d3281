"""The JSON documents of a corpus: what a page exports is, byte for byte, what the verb prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from untaken.analysis import OF_THE_RANKING, Corpus, pooled_reversals, runs_left_out
from untaken.counterfactual import THRESHOLD, abort_unread
from untaken.errors import Finding
from untaken.views.counterfactuals import counterfactual_document
from untaken.views.documents import Part
from untaken.views.rankings import missing_rule, rank_document
from untaken.views.scores import score_document

Unread = Sequence[Finding]
"""What is wrong with each run of which not even the start can be read."""
NOT_COMPARED: Final = "agents-not-compared"


def exported_scores(corpus: Corpus, reading: Iterable[Finding], unread: Unread) -> Part:  # noqa: ARG001
    """``untaken score --runs --json``; `reading`: what was noticed while the ledgers were read."""
    return score_document(
        corpus.agents,
        corpus.scores,
        run_ids={digest: run.run_id for digest, run in corpus.runs.items()},
        missing=corpus.missing,
        verdicts=corpus.verdicts,
        runs=True,
        findings=(*_scoring(corpus, reading), *pooled_reversals(corpus.agents, corpus.ranking)),
    )


def exported_rankings(corpus: Corpus, reading: Iterable[Finding], unread: Unread) -> Part:  # noqa: ARG001
    """``untaken rank --json``; arguments as for `exported_scores`."""
    left_out = [finding for finding in corpus.findings if finding.code == NOT_COMPARED]
    findings = (*left_out, *_scoring(corpus, reading))
    return rank_document(corpus.ranking, rule=missing_rule(corpus), findings=findings)


def exported_counterfactuals(corpus: Corpus, reading: Iterable[Finding], unread: Unread) -> Part:
    """``untaken counterfactual --json``, with ``--graphs`` and ``--card`` where there are plan graphs.

    `unread` runs are in it as aborted evaluations.
    """
    aborted = [abort_unread(str(fault.where.run), fault.message, fault.where) for fault in unread]
    plan: Part | None = None
    findings = (*reading, *runs_left_out(corpus))
    if corpus.graphs.graphs:
        from untaken.views.plan_decisions import exported_plan  # noqa: PLC0415 (slow: it loads SciPy)

        plan, findings = exported_plan(corpus.plans), _scoring(corpus, reading)
    return counterfactual_document(
        [*corpus.evaluations.values(), *aborted],
        weights=corpus.weights,
        threshold=THRESHOLD,
        plan=plan,
        findings=(*findings, *_remembering(corpus)),
    )


EXPORTED: Final[Mapping[str, Callable[[Corpus, Iterable[Finding], Unread], Part]]] = {
    "score": exported_scores,
    "rank": exported_rankings,
    "counterfactual": exported_counterfactuals,
}
"""Every document that a page exports, by the verb that prints it."""


def _scoring(corpus: Corpus, reading: Iterable[Finding]) -> tuple[Finding, ...]:
    """What was noticed while reading and scoring."""
    others = {*_remembering(corpus), *(f for f in corpus.findings if f.code in OF_THE_RANKING)}
    return tuple(dict.fromkeys((*reading, *(f for f in corpus.findings if f not in others))))


def _remembering(corpus: Corpus) -> tuple[Finding, ...]:
    """What was noticed while the policy memories were built."""
    return tuple(finding for memory, _ in corpus.by_memory() for finding in memory.findings)
