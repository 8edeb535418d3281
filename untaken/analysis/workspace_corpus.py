"""The runs of a workspace, read and evaluated once, and again only as far as something changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from untaken.analysis.background_reading import BackgroundReading, Texts
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.memories import POLICY, remembered
from untaken.counterfactual import ABORTED, applied_digest
from untaken.errors import Finding, UntakenError
from untaken.facts import Lightening, Reopened, keep_contents, keep_table, reopen
from untaken.garbage import seldom_collected
from untaken.judging import findings_of, texts_to_judges
from untaken.ledger import TEXTS_TO_JUDGES, Run, unread_runs
from untaken.limits import KIB
from untaken.plans import GraphSet
from untaken.scoring import MissingRule
from untaken.workspace import FileReading, StoredFile, Workspace, joined, read_settings, settings_digest

_READ_AHEAD: Final = 50
"""Ledgers that are read before somebody else may read."""
_SEARCHED_AT_ONCE_BYTES: Final = 64 * KIB
"""Of ledgers that are searched in place: it takes less than starting a process."""


class ReadRuns(NamedTuple):
    """What `WorkspaceCorpus.read` gives.

    `state` is the digest of all that it follows from (`LedgerState`), for what is kept of it; ``None``
    where nothing is kept: while something is added, and in a workspace that nobody opens again.
    """

    runs: list[Run]
    findings: list[Finding]
    state: str | None


class WorkspaceCorpus:
    """The last reading and evaluation of a workspace, so that a verdict only recomputes what it affects.

    The first reading opens ledgers from their tables where nothing has changed, and makes tables of the
    others (`untaken.facts.scaling.reopening`). What pages list of a run is held; the rest is read when asked
    for.

    Args:
        keeps: whether it does; not for a workspace that nobody opens again.
    """

    def __init__(self, *, keeps: bool = True) -> None:
        self._keeps = keeps
        self._opened: Reopened | None = None
        self._files: Mapping[str, FileReading] = {}
        self._graphs: GraphSet | None = None
        self._learnt = ""
        self._state: str | None = None
        self._corpus: Corpus | None = None
        self._looking: BackgroundReading | None = None
        self._reading, self._starting = Lock(), Lock()

    @property
    def stale(self) -> int:
        """Ledgers that were read again, although they had a table: it was of an earlier state."""
        return self._opened.stale if self._opened else 0

    @seldom_collected()
    def read(self, store: Workspace, position: int | None = None) -> ReadRuns:
        """Every run of the workspace, each chain once, and what was noticed.

        Args:
            store: the workspace.
            position: of the last ledger that counts, as for `Workspace.ledgers`.
        """
        with self._reading:  # who comes second finds what the first has read
            if (opened := self._open(store)) and position is None:
                files, state = self._files, opened.state
            else:
                # Asked before the files are read and again after: a change in between shows.
                rows = store.ledger_state.rows() if self._keeps and position is None else None
                light = Lightening(store, self._current_graphs(store), few=True)
                files = store.read_files(known=self._files, make=light, position=position)
                self._files = files if position is None else {**self._files, **files}
                state = store.ledger_state.of(files, rows)
            if state is not None:
                self._state = state
        return ReadRuns(*joined(files.values()), state)

    @property
    def is_read(self) -> bool:
        """Whether runs were read."""
        return self._opened is not None

    def state(self, store: Workspace) -> str | None:
        """The `ReadRuns.state` that `read` would give now, for which ledgers are hashed and no run is read.

        ``None`` where nothing is kept.
        """
        return store.ledger_state.now() if self._keeps else None

    @seldom_collected()
    def read_ahead(self, store: Workspace) -> None:
        """Reads what was added by now, a few ledgers at a time: who asks for others need not wait."""
        with self._reading:
            self._open(store)
        new = [file for file in store.ledgers() if file.digest not in self._files]
        light = Lightening(store, self._current_graphs(store))
        for at in range(0, len(new), _READ_AHEAD):
            some = new[at : at + _READ_AHEAD]
            with self._reading, store.one_connection():
                read = dict(zip((file.digest for file in some), store.read_some(some, light), strict=True))
                self._files = {**self._files, **read}

    def _open(self, store: Workspace) -> Reopened | None:
        """What was read; ``None`` where something was read before."""
        if self._opened is not None:
            return None
        self._opened = reopen(store, keeps=self._keeps)
        self._files, self._graphs = self._opened.files, self._opened.graphs
        return self._opened

    @seldom_collected()
    def evaluate(
        self,
        store: Workspace,
        found: ReadRuns,
        *,
        missing: MissingRule = "fail",
        verdicts: tuple[str, ...] = (),
    ) -> Corpus:
        """The corpus of what `read` gave, under some rules; runs that cannot be used go to the audit log."""
        runs, findings, _ = found
        settings = read_settings(store.path)
        learnt, known = applied_digest(store.path / POLICY) + settings_digest(store.path), self._corpus
        # What memories and deltas rest on; verdicts and notes are no part of a run's digest.
        if known and (self._learnt != learnt or known.runs.keys() != {run.digest for run in runs}):
            known = None
        whole = evaluate_corpus(
            runs,
            self._current_graphs(store),
            memory=known.memories if known else remembered(runs, store.path),
            evaluations=known.evaluations if known else None,
            # Scores do not depend on memories: they can always be taken over.
            known=self._corpus,
            missing=missing,
            verdicts=verdicts,
            weights=settings.weights,
            identity=settings.identity,
        )
        self._learnt, self._corpus = learnt, whole
        for evaluation in whole.aborted:
            store.audit(ABORTED, evaluation.reason, evaluation.run_id)
        for fault in unread_runs(runs, findings):
            store.audit(ABORTED, f"the run is unreadable: {fault.message}", fault.where.run)
        return whole

    def keep_contents(self, store: Workspace) -> None:
        """Keeps what the ledgers hold, for who opens the workspace next."""
        if self._state is not None:
            keep_contents(store, self._files, self._state)
            self._state = None

    def _keep_found(self, folder: Path, found: Mapping[str, Texts]) -> None:
        """Keeps what a process has found in the tables of the ledgers that it has read."""
        for digest, file in self._files.items():
            runs = [run for run in file.runs if run.digest in found]
            for run in runs:
                run.__dict__[TEXTS_TO_JUDGES] = found[run.digest]
            if runs and self._keeps and self._graphs:
                keep_table(folder, digest, file, self._graphs)

    def _current_graphs(self, store: Workspace) -> GraphSet:
        """The plan graphs; the very ones that runs were scored against, while they are the same."""
        now = store.graph_set()
        if now != self._graphs:
            self._graphs = now
        return self._graphs or now

    def injections(self, store: Workspace, corpus: Corpus) -> tuple[tuple[Finding, ...], int]:
        """The possible prompt injections in the runs of a corpus that `evaluate` gave.

        In many runs they take long to find, and are kept: a process of its own looks for them, once in each
        run, and says what it has found when somebody asks again.

        Returns:
            Those found so far, and the number of runs that are still to be looked at.
        """
        self.search(store, corpus)
        runs = corpus.runs.values()
        seen = [run for run in runs if not run.integrity.broken and not _unseen(run)]
        return tuple(found for run in seen for found in findings_of(run)), sum(map(_unseen, runs))

    def search(self, store: Workspace, corpus: Corpus) -> None:
        """Takes what a process has found by now; has one look where none has looked."""
        if not any(map(_unseen, corpus.runs.values())):
            return
        with self._starting:
            looking = self._looking
            at_work = looking is not None and looking.at_work  # asked before: what it found last counts
            for run in filter(_unseen, corpus.runs.values()):
                if looking and (texts := looking.found.get(run.digest)) is not None:
                    run.__dict__[TEXTS_TO_JUDGES] = texts
            left = {digest for digest, file in self._files.items() if any(map(_unseen, file.runs))}
            if at_work or not left:
                return
            if _little([file for file in store.ledgers() if file.digest in left]):
                with suppress(UntakenError, OSError):  # a file that is gone is said by who reads the events
                    for run in filter(_unseen, corpus.runs.values()):
                        texts_to_judges(run)
            else:
                self._looking = BackgroundReading(
                    store.path, sorted(left), partial(self._keep_found, store.path)
                )


def _little(ledgers: Iterable[StoredFile]) -> bool:
    """A compressed ledger may be long."""
    return (
        sum(file.bytes if file.name.endswith(".jsonl") else inf for file in ledgers)
        <= _SEARCHED_AT_ONCE_BYTES
    )


def _unseen(run: Run) -> bool:
    return TEXTS_TO_JUDGES not in run.__dict__ and not run.integrity.broken
