"""Facts made while ledgers are read: each run's rows, while the run is whole; then it is let go.

A run may be judged, or go on, anywhere in its ledger, and runs come in the order in which they begin. So the
rows of a ledger's runs wait until all of that ledger is read. Of each run a few words stay, for what is said
about all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from untaken.errors import Finding, UntakenError
from untaken.facts.parts import FactWriter, replacing_folder, writing_database
from untaken.facts.rows import RunWithScore
from untaken.facts.scaling.distant import ScoreRecord, score_in
from untaken.facts.scaling.ledger_record import Scoring
from untaken.facts.scaling.places import Place, size_of
from untaken.facts.scaling.pool import Cluster, chunks
from untaken.facts.scaling.reading import Progress, ScoredRun, read_scored, twice
from untaken.facts.tables import Parts, facts_of
from untaken.garbage import seldom_collected
from untaken.ledger import Run, Verdict
from untaken.numbers import counted
from untaken.scoring import RunEnd, graph_doubts, unmatched_globs

NOBODY: Final = frozenset[str]()
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Parts).decode


class MadeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was written.

    Attributes:
        files: the manifest and the parts, below the folder.
        runs: how many; `results`: rows of that table.
        findings: on ledgers, plan graphs and scores, in the order in which `read_ledgers` and
            `untaken.analysis.corpus.score_runs` give them, each once.
        broken: as of `untaken.facts.scaling.reading.Ledgers`.
    """

    files: tuple[str, ...]
    runs: int
    results: int
    findings: tuple[Finding, ...]
    broken: int


class RunRows(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What stays of a run until it is written.

    Attributes:
        events: in its ledger, those about it included.
        end: for doubts about its plan graph, where it was scored.
        authors: of its verdicts, where only some count.
        rows: packed; none for a broken run.
    """

    digest: str
    run_id: str
    events: int
    findings: tuple[Finding, ...]
    end: RunEnd
    authors: frozenset[str]
    rows: bytes


def rows_of(some: Sequence[ScoredRun], scoring: Scoring) -> list[RunRows]:
    """What stays of some runs."""
    whole = [_whole(run, record, scoring) for run, _, record in some if not run.integrity.broken]
    made = map(_encode, facts_of(whole))
    return [
        # Rows were made of sound runs alone, in their order.
        _rows(run, record, b"" if run.integrity.broken else next(made), chosen=bool(scoring.verdicts))
        for run, _, record in some
    ]


def unpacked(rows: bytes) -> Parts:
    """The rows of a run, for a `FactWriter`."""
    return _decode(rows)


def _whole(run: Run, record: ScoreRecord, scoring: Scoring) -> RunWithScore:
    plan, _ = scoring.graphs.for_task(run.task_id, run.started.graph)
    return RunWithScore(run=run, score=score_in(record), plan=plan, verdicts=scoring.verdicts)


def _rows(run: Run, record: ScoreRecord, rows: bytes, *, chosen: bool) -> RunRows:
    score = record.score
    return RunRows(
        digest=run.digest,
        run_id=run.run_id,
        events=len(run.events),
        findings=record.findings,
        end=RunEnd(
            tools=run.tools,
            graph_id="" if score is None else score.graph_id,
            results=() if score is None else score.results,
            success=run.success,
        ),
        authors=frozenset([verdict.by for verdict in run.of(Verdict)]) if chosen else NOBODY,
        rows=rows,
    )


Ledger = tuple[Iterable[RunRows], list[Finding]]
"""The runs of one ledger; and what was noticed."""


class AllRuns:
    """What is noticed about all runs, from what stays of each.

    Attributes:
        found: on their ledgers, so far.
    """

    def __init__(self, others: Iterable[Finding] = ()) -> None:
        self.found = list(others)
        self._of_runs = dict[Finding, None]()
        self._authors = set[str]()
        self._ends = list[RunEnd]()
        self._alike: dict[tuple[object, ...], RunEnd] = {}

    def take(self, findings: Iterable[Finding], end: RunEnd, authors: Iterable[str] = ()) -> None:
        """One more run."""
        self._of_runs |= dict.fromkeys(findings)
        self._authors.update(authors)
        key = end.tools, end.graph_id, id(end.results), end.success  # runs that end alike share their results
        self._ends.append(self._alike.setdefault(key, end))

    def findings(self, scoring: Scoring) -> tuple[Finding, ...]:
        """On ledgers, plan graphs and scores, each once."""
        unmatched = unmatched_globs(scoring.verdicts, self._authors)
        # Each of the ends serves as the run and as its score.
        doubts = graph_doubts(scoring.graphs.graphs, zip(self._ends, self._ends, strict=True))
        others = *self._of_runs, *(doubt.finding for doubt in doubts)
        return tuple(dict.fromkeys((*self.found, *scoring.graphs.findings, *unmatched, *others)))


@seldom_collected()
def write_facts(
    folder: Path,
    places: Sequence[Place],
    others: Iterable[Finding],
    *,
    scoring: Scoring,
    cluster: Cluster | None = None,
    progress: Progress | None = None,
) -> MadeFacts:
    """Writes the facts of every sound run into a folder: each chain once, in the order of reading.

    Args:
        folder: made, or replaced once everything is written.
        places: ledgers, as `find_ledgers` finds them.
        others: what was noticed in finding them.
        scoring: what the runs are scored against.
        cluster: who reads, scores and makes rows; this process when not given.
        progress: called with (ledgers read, ledgers, what is being done).

    Raises:
        UntakenError: as `replacing_folder`, `refuse_nothing` and `errors.disk_trouble`.
    """
    everything, seen = AllRuns(others), set[str]()
    here = (_ledger(place, scoring) for place in places)
    files = here if cluster is None else _sent(cluster, places, scoring)
    # Closed in any case: else workers outlive a full disk.
    with replacing_folder(folder) as fresh, writing_database() as database, closing(files):
        writer = FactWriter(fresh, database)
        for done, (place, (runs, findings)) in enumerate(zip(places, files, strict=True), start=1):
            everything.found += findings
            for run in runs:
                if run.digest in seen:
                    everything.found.append(twice(place, run.run_id))
                    continue
                seen.add(run.digest)
                everything.take(run.findings, run.end, run.authors)
                if run.rows:  # a broken run has findings alone
                    writer.take(unpacked(run.rows))
            if progress:
                progress(done, len(places), "reading ledgers")
        all_found = everything.findings(scoring)
        refuse_nothing(writer.runs, all_found)
        writer.finish(all_found, missing=scoring.missing, verdicts=scoring.verdicts)
    return MadeFacts(
        files=writer.files,
        runs=writer.runs,
        results=writer.results,
        findings=all_found,
        broken=sum(finding.severity == "error" for finding in everything.found),
    )


def refuse_nothing(runs: int, findings: Iterable[Finding]) -> None:
    """Nothing is written where no run is left for what is wrong with all of them.

    Raises:
        UntakenError: ``nothing-to-write``, with the first fault.
    """
    faults = [finding for finding in findings if finding.severity == "error"]
    if faults and not runs:
        first, more = faults[0], f" ({counted(len(faults), 'fault')})" * (len(faults) > 1)
        message = f"nothing could be written: {first.message}{more}"
        raise UntakenError("nothing-to-write", message, where=first.where, hint=first.hint)


def _sent(cluster: Cluster, places: Sequence[Place], scoring: Scoring) -> Generator[Ledger]:
    """Ledgers read by workers, who send the rows."""
    parts = list(chunks(places, [size_of(place) for place in places], workers=cluster.workers))
    for ledgers in cluster.map(facts_part, parts, scoring):
        yield from ledgers


def facts_part(scoring: Scoring, places: Sequence[Place]) -> list[Ledger]:
    """What a worker does: it reads, verifies and scores ledgers, and sends the rows of their runs."""
    return [_ledger(place, scoring) for place in places]


def _ledger(place: Place, scoring: Scoring) -> Ledger:
    return read_scored(place, scoring, lambda some: rows_of(some, scoring))
