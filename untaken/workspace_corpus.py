"""The runs of a workspace, read and evaluated once, and again only as far as something changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from untaken.answers.verdict_view import addressing_findings
from untaken.corpus import Corpus, evaluate_corpus
from untaken.counterfactual.evaluate import ABORTED
from untaken.errors import Finding
from untaken.ledger import Run, unread_runs
from untaken.ledger.model import TEXTS_TO_JUDGES
from untaken.memories import POLICY, remembered
from untaken.memory import applied_digest
from untaken.scaling.reopening import Reopened, keep, reopen
from untaken.store import Workspace
from untaken.store.readings import FileReading, joined
from untaken.subgoals import MissingRule


class WorkspaceCorpus:
    """The last reading and evaluation of a workspace, so that a verdict only recomputes what it affects.

    The first reading opens ledgers from their tables where nothing has changed, and the first evaluation
    keeps tables of the others (`untaken.scaling.reopening`).

    Args:
        keeps: whether it does; not for a workspace that nobody opens again.
    """

    def __init__(self, *, keeps: bool = True) -> None:
        self._keeps = keeps
        self._opened: Reopened | None = None
        self._files: Mapping[str, FileReading] = {}
        self._learnt = ""
        self._corpus: Corpus | None = None

    @property
    def stale(self) -> int:
        """Ledgers that were read again, although they had a table: it was of an earlier state."""
        return self._opened.stale if self._opened else 0

    def read(self, store: Workspace) -> tuple[list[Run], list[Finding]]:
        """Every run of the workspace, each chain once, and what was noticed."""
        if self._opened is None:
            self._opened = reopen(store)
            self._files = self._opened.files
        else:
            self._files = store.read_files(known=self._files)
        return joined(self._files.values())

    def evaluate(
        self,
        store: Workspace,
        found: tuple[list[Run], list[Finding]],
        *,
        missing: MissingRule = "fail",
        verdicts: tuple[str, ...] = (),
    ) -> Corpus:
        """The corpus of what `read` gave, under some rules; runs that cannot be used go to the audit log."""
        runs, findings = found
        learnt, graphs = _learnt(runs, store.path), store.graph_set()
        known = self._corpus if self._learnt == learnt else None
        opened = self._opened if self._opened and self._opened.graphs == graphs else None
        whole = evaluate_corpus(
            runs,
            opened.graphs if opened else graphs,  # the very ones that kept scores are of
            memory=known.memories if known else remembered(runs, store.path),
            evaluations=known.evaluations if known else None,
            known=self._corpus,
            missing=missing,
            verdicts=verdicts,
        )
        if self._keeps and opened and self._corpus is None and not verdicts:
            read = {digest: opened.files[digest] for digest in opened.unkept}
            keep(store, read, opened.graphs, whole.runs, whole.scores)
        self._learnt, self._corpus = learnt, whole
        for evaluation in whole.aborted:
            store.audit(evaluation.code or "", evaluation.reason, evaluation.run_id)
        for fault in unread_runs(runs, findings):
            store.audit(ABORTED, f"the run is unreadable: {fault.message}", fault.where.run)
        return whole

    def addressing(self, store: Workspace, corpus: Corpus) -> tuple[Finding, ...]:
        """`addressing_findings` of a corpus that `evaluate` gave; they take long to find, and are kept."""
        new = {digest: file for digest, file in self._files.items() if not _looked_at(file)}
        found = addressing_findings(corpus)
        if self._keeps and self._opened and corpus.graphs is self._opened.graphs and not corpus.verdicts:
            keep(store, new, corpus.graphs, corpus.runs, corpus.scores)
        return found


def _looked_at(file: FileReading) -> bool:
    return all(TEXTS_TO_JUDGES in run.__dict__ for run in file.runs if not run.integrity.broken)


def _learnt(runs: Iterable[Run], folder: Path) -> str:
    """What memories and deltas rest on; verdicts and notes are no part of a run's digest."""
    parts = [*sorted(run.digest for run in runs), applied_digest(folder / POLICY)]
    return sha256(" ".join(parts).encode()).hexdigest()
