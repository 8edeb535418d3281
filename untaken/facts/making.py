"""Facts made while ledgers are read: each run's rows, while the run is whole; then it is let go.

A run may be judged, or go on, anywhere in its ledger, and runs come in the order in which they begin. So the
rows of a ledger's runs wait until all of that ledger is read. Of each run a few words stay, for what is said
about all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from untaken.errors import Finding
from untaken.facts.parts import FactWriter, replacing_folder, writing_database
from untaken.facts.rows import RunWithScore
from untaken.facts.tables import Parts, facts_of
from untaken.garbage import seldom_collected
from untaken.ledger import Run, Verdict
from untaken.scaling.chunks import chunks
from untaken.scaling.decoded_once import decoded_once
from untaken.scaling.distant import ScoreRecord
from untaken.scaling.packing import pack, unpack
from untaken.scaling.places import Place, size_of
from untaken.scaling.pool import Cluster
from untaken.scaling.reading import Progress, ScoredRun, Scoring, read_scored, twice
from untaken.subgoals import graph_doubts
from untaken.subgoals.graph_doubts import RunEnd
from untaken.subgoals.verdicts import unmatched_globs

NOBODY: Final = frozenset[str]()
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Parts).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFacts:
    """What was written.

    Attributes:
        files: the manifest and the parts, below the folder.
        runs: how many; `results`: rows of that table.
        findings: on ledgers, plan graphs and scores, in the order in which `read_ledgers` and
            `untaken.corpus.score_runs` give them, each once.
        broken: as of `untaken.scaling.reading.Ledgers`.
    """

    files: tuple[str, ...]
    runs: int
    results: int
    findings: tuple[Finding, ...]
    broken: int


class Passed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What stays of a run for a while.

    Attributes:
        end: for doubts about its plan graph, where it was scored.
        authors: of its verdicts, where only some count.
    """

    digest: str
    run_id: str
    findings: tuple[Finding, ...]
    end: RunEnd
    authors: frozenset[str]

    @classmethod
    def of(cls, run: Run, record: ScoreRecord, *, chosen: bool) -> Passed:
        """Of a run and its score; `chosen`: whether only some verdicts count."""
        score = record.score
        return cls(
            digest=run.digest,
            run_id=run.run_id,
            findings=record.findings,
            end=RunEnd(
                tools=run.tools,
                graph_id="" if score is None else score.graph_id,
                results=() if score is None else score.results,
                success=run.success,
            ),
            authors=frozenset([verdict.by for verdict in run.of(Verdict)]) if chosen else NOBODY,
        )


Ledger = tuple[Iterable[tuple[Passed, bytes]], list[Finding]]
"""The runs of one ledger with their rows, none for a broken one; and what was noticed."""


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
        scoring: what the runs are scored against, under the first of its rules.
        cluster: who reads, scores and makes rows; this process when not given.
        progress: called with (ledgers read, ledgers, what is being done).

    Raises:
        UntakenError: as `replacing_folder`; as `errors.disk_trouble`.
    """
    found, of_runs = list(others), dict[Finding, None]()
    seen, authors, ends = set[str](), set[str](), list[RunEnd]()
    alike: dict[tuple[object, ...], RunEnd] = {}
    files = _here(places, scoring) if cluster is None else _sent(cluster, places, scoring)
    with replacing_folder(folder) as fresh, writing_database() as database, closing(files):
        writer = FactWriter(fresh, database)
        for done, (place, (runs, findings)) in enumerate(zip(places, files, strict=True), start=1):
            found += findings
            for passed, made in runs:
                if passed.digest in seen:
                    found.append(twice(place, passed.run_id))
                    continue
                seen.add(passed.digest)
                authors |= passed.authors
                of_runs |= dict.fromkeys(passed.findings)
                end = passed.end
                key = end.tools, end.graph_id, id(end.results), end.success
                ends.append(alike.setdefault(key, end))
                if made:
                    writer.take(_decode(made))
            if progress:
                progress(done, len(places), "reading ledgers")
        unmatched = unmatched_globs(scoring.verdicts, authors)
        doubts = graph_doubts(scoring.graphs.graphs, zip(ends, ends, strict=True))
        all_found = (*found, *scoring.graphs.findings, *unmatched, *of_runs, *(one.finding for one in doubts))
        everything = tuple(dict.fromkeys(all_found))
        writer.finish(everything, missing=scoring.missing[0], verdicts=scoring.verdicts)
    return MadeFacts(
        files=writer.files,
        runs=writer.runs,
        results=writer.results,
        findings=everything,
        broken=sum(finding.severity == "error" for finding in found),
    )


def _here(places: Sequence[Place], scoring: Scoring) -> Generator[Ledger]:
    """Ledgers read in this process."""
    for place in places:
        yield _ledger(place, scoring)


def _sent(cluster: Cluster, places: Sequence[Place], scoring: Scoring) -> Generator[Ledger]:
    """Ledgers read by workers, who send the rows."""
    parts = list(chunks(places, [size_of(place) for place in places], workers=cluster.workers))
    for answer in cluster.map(facts_part, [pack(part) for part in parts], pack(scoring)):
        yield from unpack(answer)


def facts_part(shared: bytes, chunk: bytes) -> bytes:
    """What a worker does: it reads, verifies and scores ledgers, and sends the rows of their runs.

    Args:
        shared: a `Scoring`, packed.
        chunk: the places of the ledgers, packed.

    Returns:
        The `Ledger` of each, packed.
    """
    scoring = decoded_once(shared, unpack)
    return pack([_ledger(place, scoring) for place in unpack(chunk)])


def _ledger(place: Place, scoring: Scoring) -> Ledger:
    def passed(some: Sequence[ScoredRun]) -> list[tuple[Passed, bytes]]:
        whole = [_whole(run, records[0], scoring) for run, _, records in some if not run.integrity.broken]
        made = map(_encode, facts_of(whole))
        return [
            (
                Passed.of(run, records[0], chosen=bool(scoring.verdicts)),
                b"" if run.integrity.broken else next(made),
            )
            for run, _, records in some
        ]

    return read_scored(place, scoring, passed)


def _whole(run: Run, record: ScoreRecord, scoring: Scoring) -> RunWithScore:
    plan, _ = scoring.graphs.for_task(run.task_id, run.started.graph)
    return RunWithScore(run=run, score=record.value, plan=plan, verdicts=scoring.verdicts)
