"""Ledgers read, verified and scored: in this process, or by the workers of a cluster."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, TypeVar

import msgspec
from msgspec.structs import replace

from untaken.errors import Finding, Unscored, UntakenError, Where
from untaken.facts.scaling.distant import (
    FILES_OPEN,
    DistantRun,
    Ledger,
    RunRecord,
    RunSource,
    Same,
    ScoreRecord,
    events_among,
    events_in,
    score_in,
)
from untaken.facts.scaling.ledger_record import (
    KeptScore,
    LedgerTable,
    Scoring,
    decode_ledger,
    encode_ledger,
    encode_score,
    encoded_score,
)
from untaken.facts.scaling.places import Place, at_hand, find_ledgers, name_of, size_of
from untaken.facts.scaling.pool import Cluster, chunks
from untaken.ledger import AnyEvent, Run, RunLines, Verdict, naming, read_ledger, read_runs_as, unread_runs
from untaken.plans import GraphSet, PlanGraph
from untaken.scoring import (
    AT_ONCE,
    MissingRule,
    RunScore,
    recounted,
    score_outcome,
    score_run,
    score_together,
    take_features,
)

if TYPE_CHECKING:  # a command that reads files needs no database
    from untaken.workspace import StoredFile, Workspace

Made = TypeVar("Made")
Progress = Callable[[int, int, str], None]
ScoredRun = tuple[Run, RunSource, ScoreRecord]
"""A whole run, where it can be read again, and its score."""
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Ledgers: files, folders, or URLs of either."""


class Ledgers(msgspec.Struct, frozen=True, kw_only=True):
    """What was read from paths.

    Attributes:
        runs: each chain once, with the file that holds it.
        unread: for each run of which not even the start can be read, what is wrong with it.
        broken: number of runs, and of faults outside any run, that mean a ledger is not to be trusted.
    """

    runs: tuple[tuple[Place, Run], ...]
    unread: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    broken: int

    @property
    def every_run(self) -> list[Run]:
        """The runs without their files."""
        return [run for _, run in self.runs]

    @property
    def sound_runs(self) -> list[Run]:
        """Those of them that are not broken."""
        return [run for run in self.every_run if not run.integrity.broken]

    @classmethod
    def none(cls) -> Ledgers:
        """Where no path was given, and none was needed."""
        return cls(runs=(), unread=(), findings=(), broken=0)


def read_ledgers(
    places: Sequence[Place],
    others: Iterable[Finding] = (),
    *,
    cluster: Cluster | None = None,
    scoring: Scoring | None = None,
    progress: Progress | None = None,
) -> Ledgers:
    """Reads every ledger leniently: what is broken is a finding, and the rest is still read.

    Args:
        places: ledgers, as `find_ledgers` finds them.
        others: what was noticed in finding them.
        cluster: who reads them; this process when not given.
        scoring: what the runs are scored against while they are at hand, one after the other; their detail is
            not kept then. Without it, this process keeps them whole.
        progress: called with (ledgers read, ledgers, what is being done).
    """
    findings = list(others)
    runs: dict[str, tuple[Place, Run]] = {}
    unread: list[Finding] = []
    if cluster is not None:
        files = _read_at(cluster, places, scoring)
    elif scoring is not None:
        under, same = (scoring.graphs, scoring.verdicts), Same()

        def lighter(some: Sequence[ScoredRun]) -> list[Run]:
            return [DistantRun.lighter(*one, scoring=under, same=same) for one in some]

        files = (read_scored(place, scoring, lighter) for place in places)
    else:
        files = map(read_leniently, places)
    for done, (place, (read, found)) in enumerate(zip(places, files, strict=True), start=1):
        findings.extend(found)
        unread.extend(unread_runs(read, found))
        for run in read:
            if run.digest in runs:
                findings.append(twice(place, run.run_id))
            runs.setdefault(run.digest, (place, run))
        if progress:
            progress(done, len(places), "reading ledgers")
    broken = sum(finding.severity == "error" for finding in findings)
    return Ledgers(runs=tuple(runs.values()), unread=tuple(unread), findings=tuple(findings), broken=broken)


def given_runs(
    source: Iterable[Run] | Paths, *, cluster: Cluster | None, scoring: Scoring, progress: Progress | None
) -> tuple[Iterable[Run], tuple[Finding, ...]]:
    """The runs given, or those of the paths given with what was noticed about their ledgers."""
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    paths = [each for each in given if not isinstance(each, Run)]
    if not paths:
        return [each for each in given if isinstance(each, Run)], ()
    ledgers = read_ledgers(*find_ledgers(paths), cluster=cluster, scoring=scoring, progress=progress)
    return ledgers.every_run, ledgers.findings


def read_leniently(place: Place) -> tuple[list[Run], list[Finding]]:
    """The runs of a ledger, and what was noticed."""
    try:
        with at_hand(place) as file:
            return read_ledger(file, strict=False, name=name_of(place))
    except UntakenError as error:  # its recorded heads cannot be read: nothing vouches for it
        return [], [_unread(error)]


def _unread(error: UntakenError) -> Finding:
    found = error.finding()
    where = replace(found.where, file=name_of(found.where.file)) if found.where.file else found.where
    return replace(found, where=where)


def read_scored(
    place: Place, scoring: Scoring, make: Callable[[Sequence[ScoredRun]], list[Made]]
) -> tuple[list[Made], list[Finding]]:
    """What is made of the runs of a ledger as `read_leniently` reads it, and of their scores, in batches."""

    def made(some: Sequence[tuple[Run, RunLines | Ledger]]) -> list[Made]:
        return made_of(some, scoring, make)

    if isinstance(place, Path):
        try:
            with naming(place):
                found = read_runs_as(place, made, at_once=AT_ONCE, name=name_of(place))
        except UntakenError as error:
            return [], [_unread(error)]
        if found is not None:
            return found
    runs, findings = read_leniently(place)
    return made([(run, partial(events_in, place)) for run in runs]), findings


def made_of(
    some: Sequence[tuple[Run, RunLines | Ledger]],
    scoring: Scoring,
    make: Callable[[Sequence[ScoredRun]], list[Made]],
) -> list[Made]:
    """What is made of some whole runs, of where each can be read again, and of its scores."""
    sources = [RunSource(run, ledger) for run, ledger in some]
    for (run, _), source in zip(some, sources, strict=True):
        source.hold(run)
    again = {run.digest: source for (run, _), source in zip(some, sources, strict=True)}
    known = {
        score.digest: score
        for score in scored_by_graph(
            [run for run, _ in some],
            scoring.graphs,
            missing=scoring.missing,
            verdicts=scoring.verdicts,
            again=again,
            detailed=scoring.detail,
        )
    }
    scored = [
        _scored(run, scoring, known.get(run.digest), at) for (run, _), at in zip(some, sources, strict=True)
    ]
    for (run, _), record in zip(some, scored, strict=True) if scoring.features else ():
        graph, _ = scoring.graphs.for_task(run.task_id, run.started.graph)
        if record.score is not None and isinstance(graph, PlanGraph):
            take_features(run, record.score, graph)
    return make([(run, at, one) for (run, _), at, one in zip(some, sources, scored, strict=True)])


def twice(place: Place, run_id: str) -> Finding:
    """The finding where a chain is in a ledger that was in another, or in this one, before."""
    return Finding(
        code="run-twice",
        message="this run was already read; it counts once",
        where=Where(file=name_of(place), run=run_id),
        severity="note",
    )


def scored_by_graph(
    runs: Iterable[Run],
    graphs: GraphSet,
    *,
    missing: MissingRule,
    verdicts: Sequence[str],
    again: Mapping[str, Callable[[], Run]] = MappingProxyType({}),
    detailed: bool = False,
) -> Iterator[RunScore]:
    """The scores of runs, those of one plan graph together; left out is who needs no score or gets none.

    `again`, by digest, gives each run that is let go; the other arguments are as for `score_together`.
    """
    waiting: dict[int, tuple[PlanGraph, list[Run]]] = {}
    for run in runs:
        if not isinstance(run, DistantRun) and not run.integrity.broken:
            graph, _ = graphs.for_task(run.task_id, run.started.graph)
            if isinstance(graph, PlanGraph):
                waiting.setdefault(id(graph), (graph, []))[1].append(run)  # graphs have no hash
    for graph, some in waiting.values():
        sources = [again[run.digest] for run in some] if again else ()
        yield from score_together(
            some, graph, missing=missing, verdicts=verdicts, again=sources, detailed=detailed
        )


def score_one(
    run: Run,
    graphs: GraphSet,
    *,
    missing: MissingRule,
    verdicts: Sequence[str],
    known: RunScore | Unscored | None = None,
    again: Callable[[], Run] | None = None,
) -> tuple[RunScore | Unscored, list[Finding]]:
    """The score of a run against the graph of its task, or why there is none; and what was noticed.

    What a worker has scored under these very rules is not scored again; nor is `known`, its score with these
    graphs and verdicts under either rule for missing ones. `again` is as for `score_run`.
    """
    if isinstance(run, DistantRun) and run.scoring[1] == tuple(verdicts) and _same_plan(run, graphs):
        before = run.scored
        if before and before.missing == missing:
            return score_in(before), list(before.findings)
        known = (before and before.score) or known  # under another rule: counted again below
    if run.integrity.broken:
        return Unscored(f"the ledger is {run.integrity.verdict}: {run.integrity.reason}"), []
    graph, findings = graphs.for_task(run.task_id, run.started.graph)
    if isinstance(graph, Unscored):
        return graph, findings
    score = known
    if not isinstance(score, RunScore):
        score = score_run(run, graph, missing=missing, verdicts=verdicts, again=again)
    elif score.missing != missing:
        score = recounted(score, missing)
    return score, [*findings, *score.findings]


def _same_plan(run: DistantRun, graphs: GraphSet) -> bool:
    """Whether its scores are of the plan graph that it has among these."""
    own, _ = run.scoring
    if own is None or own is graphs:
        return own is graphs
    place = run.task_id, run.started.graph
    # Another set of graphs may hold the very same one for this task.
    return own.for_task(*place) == graphs.for_task(*place)


def is_known(run: Run, scoring: Scoring) -> bool:
    """Whether a run was scored before, against these very graphs, and the same verdicts counted."""
    if not isinstance(run, DistantRun):
        return False
    graphs, verdicts = run.scoring
    return graphs is scoring.graphs and verdicts == scoring.verdicts


def are_scored_alike(before: Run, now: Run) -> bool:
    """Whether a run counts as it did, under any rule: only notes and modes were written since."""
    return before is now or (
        isinstance(before, DistantRun)
        and isinstance(now, DistantRun)
        # Encoded: comparing scores would work out their detail.
        and encoded_score(before) == encoded_score(now)
        and before.of(Verdict) == now.of(Verdict)
        and before.integrity.broken == now.integrity.broken
    )


def outcome_of(run: Run, why: Unscored, *, missing: MissingRule) -> RunScore:
    """What an unbroken run without a score counts by, as `untaken.scoring.score_outcome`."""
    before = run.scored if isinstance(run, DistantRun) else None
    if before and before.outcome is not None and before.why == why.reason:
        return replace(before.outcome, missing=missing)
    return score_outcome(run, why, missing=missing)


def _read_at(
    cluster: Cluster, places: Sequence[Place], scoring: Scoring | None
) -> Iterator[tuple[Sequence[Run], Sequence[Finding]]]:
    parts, same = list(chunks(places, [size_of(place) for place in places], workers=cluster.workers)), Same()
    for part, read in zip(parts, cluster.map(read_part, parts, scoring), strict=True):
        for place, content in zip(part, read, strict=True):
            record, path = decode_ledger(content), place if isinstance(place, Path) else None
            table = LedgerTable(record, path, partial(events_in, place), scoring, same)
            yield table.runs, record.findings


def read_part(scoring: Scoring | None, places: Sequence[Place]) -> list[bytes]:
    """What a worker does: it reads and verifies ledgers, and scores their runs.

    Args:
        scoring: what the runs are scored against; ``None`` to score nothing.
        places: of the ledgers.

    Returns:
        Of each ledger, what `encode_ledger` gives.
    """
    if scoring is None:
        read = map(read_leniently, places)
        return [encode_ledger([(RunRecord.of(run), None) for run in runs], found) for runs, found in read]

    def sent(some: Sequence[ScoredRun]) -> list[tuple[RunRecord, KeptScore | None]]:
        return [
            (RunRecord.of(run, at.spans), encode_score(scored, detail=scoring.detail))
            for run, at, scored in some
        ]

    return [encode_ledger(*read_scored(place, scoring, sent)) for place in places]


def _scored(run: Run, scoring: Scoring, known: RunScore | None, again: RunSource) -> ScoreRecord:
    """The score of a run; `known` and `again` as for `score_one`."""
    score, findings = score_one(
        run, scoring.graphs, missing=scoring.missing, verdicts=scoring.verdicts, known=known, again=again
    )
    if isinstance(score, RunScore):
        return ScoreRecord(missing=scoring.missing, score=score, findings=tuple(findings))
    outcome = None if run.integrity.broken else score_outcome(run, score, missing=scoring.missing)
    return ScoreRecord(missing=scoring.missing, why=score.reason, findings=tuple(findings), outcome=outcome)


class Lightening:
    """Makes of whole runs what a server holds: scored, with their detail left in the ledger.

    Args:
        store: the workspace.
        graphs: its plan graphs.
        few: a few runs are read again: who asks for the features of one reads it once more.
    """

    def __init__(self, store: Workspace, graphs: GraphSet, *, few: bool = False) -> None:
        self._store, self._same = store, Same()
        self._scoring = Scoring(graphs=graphs, features=not few)
        self._details: dict[str, LedgerDetail] = {}

    def __call__(self, file: StoredFile, some: Sequence[tuple[Run, RunLines | None]]) -> list[Run]:
        """As `untaken.workspace.readings.Make`."""
        under = self._scoring.graphs, self._scoring.verdicts

        def lighter(some: Sequence[ScoredRun]) -> list[Run]:
            return [DistantRun.lighter(*one, scoring=under, same=self._same) for one in some]

        return made_of([(run, lines or self._detail(file)) for run, lines in some], self._scoring, lighter)

    def _detail(self, file: StoredFile) -> LedgerDetail:
        return self._details.setdefault(file.digest, LedgerDetail(self._store, file))


class LedgerDetail:
    """The runs of a stored ledger whose lines cannot be found by place; those asked for last stay."""

    held: ClassVar[deque[LedgerDetail]] = deque()
    _lock: ClassVar[Lock] = Lock()  # one for all, as they share `held`

    def __init__(self, store: Workspace, file: StoredFile) -> None:
        self._store, self._file = store, file
        self._runs: dict[str, Run] | None = None

    def __call__(self, run: RunSource) -> tuple[AnyEvent, ...] | None:
        """As `Ledger`."""
        with self._lock:
            if self._runs is None:
                self._runs = {each.digest: each for each in next(self._store.read_some([self._file])).runs}
                self.held.append(self)
                if len(self.held) > FILES_OPEN:
                    self.held.popleft()._runs = None
            return events_among(self._runs, run)
