"""Runs scored, put in another form and let go: what is held does not grow with what is made of them.

A run may be judged, or go on, anywhere in its ledger, and runs come in the order in which they begin. So what
is made of a ledger's runs waits in a temporary file until all of that ledger is read. Of each run a few words
stay, for what is said about all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Final

import msgspec

from untaken.errors import Finding, Unscored
from untaken.garbage import seldom_collected
from untaken.ledger import Run, Verdict
from untaken.limits import MIB
from untaken.scaling.chunks import chunks
from untaken.scaling.decoded_once import decoded_once
from untaken.scaling.distant import RunSource, ScoreRecord
from untaken.scaling.packing import pack, unpack
from untaken.scaling.places import Place, size_of
from untaken.scaling.pool import Cluster
from untaken.scaling.reading import Progress, Scoring, read_scored, twice
from untaken.subgoals import RunScore, graph_doubts
from untaken.subgoals.graph_doubts import RunEnd
from untaken.subgoals.verdicts import unmatched_globs

Make = Callable[[Run, RunScore | Unscored], bytes]
"""What is made of a sound run and its score, while the run is at hand; workers import it."""
IN_MEMORY: Final = 8 * MIB
"""What waits in memory; more waits on the disk."""
NOBODY: Final = frozenset[str]()


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What is known once all ledgers were streamed.

    Attributes:
        findings: on ledgers, plan graphs and scores, in the order in which `read_ledgers` and
            `untaken.corpus.score_runs` give them, each once.
        broken: as of `untaken.scaling.reading.Ledgers`.
    """

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
    broken: bool
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
            broken=run.integrity.broken,
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
"""The runs of one ledger with what was made of them, and what was noticed."""


@seldom_collected()
def stream_runs(
    places: Sequence[Place],
    others: Iterable[Finding],
    *,
    scoring: Scoring,
    make: Make,
    take: Callable[[bytes], None],
    cluster: Cluster | None = None,
    progress: Progress | None = None,
) -> Streamed:
    """Calls `take` with what `make` gives of each sound run: each chain once, in the order of reading.

    Args:
        places: ledgers, as `find_ledgers` finds them.
        others: what was noticed in finding them.
        scoring: what the runs are scored against, under the first of its rules.
        make: as `Make`; called again for a run that turns out to go on.
        take: gets what was made of one run after the other.
        cluster: who reads, scores and makes; this process when not given.
        progress: called with (ledgers read, ledgers, what is being done).
    """
    found, of_runs = list(others), dict[Finding, None]()
    seen, authors, ends = set[str](), set[str](), list[RunEnd]()
    alike: dict[tuple[object, ...], RunEnd] = {}
    files = _here(places, scoring, make) if cluster is None else _sent(cluster, places, scoring, make)
    with closing(files):
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
                if not passed.broken:
                    take(made)
            if progress:
                progress(done, len(places), "reading ledgers")
    unmatched = unmatched_globs(scoring.verdicts, authors)
    doubts = graph_doubts(scoring.graphs.graphs, zip(ends, ends, strict=True))
    everything = *found, *scoring.graphs.findings, *unmatched, *of_runs, *(doubt.finding for doubt in doubts)
    broken = sum(finding.severity == "error" for finding in found)
    return Streamed(findings=tuple(dict.fromkeys(everything)), broken=broken)


def _here(places: Sequence[Place], scoring: Scoring, make: Make) -> Generator[Ledger]:
    """Ledgers read in this process; what is made waits in a file until it is wanted."""
    with SpooledTemporaryFile(max_size=IN_MEMORY) as waiting:

        def passed(run: Run, _: RunSource, scored: tuple[ScoreRecord, ...]) -> tuple[Passed, int, int]:
            begin = waiting.tell()
            waiting.write(_made(run, scored[0], make))
            return Passed.of(run, scored[0], chosen=bool(scoring.verdicts)), begin, waiting.tell()

        def content(begin: int, end: int) -> bytes:
            waiting.seek(begin)
            return waiting.read(end - begin)

        for place in places:
            runs, findings = read_scored(place, scoring, passed)
            yield ((one, content(begin, end)) for one, begin, end in runs), findings
            waiting.seek(0)
            waiting.truncate()


def _sent(cluster: Cluster, places: Sequence[Place], scoring: Scoring, make: Make) -> Generator[Ledger]:
    """Ledgers read by workers, who send what they made."""
    parts = list(chunks(places, [size_of(place) for place in places], workers=cluster.workers))
    for answer in cluster.map(stream_part, [pack(part) for part in parts], pack((scoring, make))):
        yield from unpack(answer)


def stream_part(shared: bytes, chunk: bytes) -> bytes:
    """What a worker does: it reads, verifies and scores ledgers, and sends what is made of their runs.

    Args:
        shared: a `Scoring` and a `Make`, packed.
        chunk: the places of the ledgers, packed.

    Returns:
        The `Ledger` of each, packed.
    """
    scoring, make = decoded_once(shared, unpack)

    def passed(run: Run, _: RunSource, scored: tuple[ScoreRecord, ...]) -> tuple[Passed, bytes]:
        return Passed.of(run, scored[0], chosen=bool(scoring.verdicts)), _made(run, scored[0], make)

    return pack([read_scored(place, scoring, passed) for place in unpack(chunk)])


def _made(run: Run, record: ScoreRecord, make: Make) -> bytes:
    return b"" if run.integrity.broken else make(run, record.value)
