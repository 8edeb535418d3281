"""The runs of a corpus as fix first counts them: what each left uncompleted, and what ended it (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from untaken import stats
from untaken.analysis.corpus import Corpus
from untaken.analysis.fix_first.subjects import Key, Subject, subjects_of
from untaken.errors import Unscored
from untaken.ledger import InfrastructureKind, Run, infrastructure_of
from untaken.plans import PlanGraph
from untaken.scoring import NodeResult, RunScore, Undone, Way, attempts_at, counted_nodes, undone_in_order

HARMLESS_SUCCESSES: Final = 5
"""With fewer successes nothing is harmless."""
HARMLESS_RUNS: Final = 3
HARMLESS_SHARE: Final = 0.1
ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True)
class Failure:
    """A sub-goal that a run left uncompleted; `subject` is what it is across graphs."""

    subject: Subject
    undone: Undone


class Miss(NamedTuple):
    """A critical sub-goal that a run did not complete, `times` over.

    `known`: some evidence says so; `first`: and it is the first critical one that the run left uncompleted.
    """

    way: Way
    times: int
    known: bool
    first: bool


@dataclass
class FailureTally:
    """What is known of some runs, by digest.

    Attributes:
        runs: unbroken runs; `tasks`: the task of each.
        failed, succeeded: by their outcome, infrastructure and unscored ones too.
        infrastructure: what ended a run that did not succeed, where that was not the agent.
        unscored: failed runs of which no sub-goal is known to be completed or not, or not all of them.
        undone: the failures of each run that is counted, in the order of its log.
        required, passed: runs that require a subject, and that completed it.
        ways: runs that leave a subject uncompleted, by subject and way (``stopped`` is ``never attempted``).
        missed: critical sub-goals not known to be completed, over all scored runs, by subject and run;
            `critical`: how many there are in all.
        requiring: scored runs that require a subject and were not ended by their infrastructure.
    """

    corpus: Corpus
    subjects: Mapping[Key, Subject]
    runs: dict[str, Run] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    failed: dict[str, None] = field(default_factory=dict)  # sets, in the order of the runs
    succeeded: dict[str, None] = field(default_factory=dict)
    infrastructure: dict[str, InfrastructureKind] = field(default_factory=dict)
    unscored: dict[str, None] = field(default_factory=dict)
    undone: dict[str, tuple[Failure, ...]] = field(default_factory=dict)
    required: dict[Subject, list[str]] = field(default_factory=dict)
    passed: dict[Subject, list[str]] = field(default_factory=dict)
    ways: dict[tuple[Subject, Way], dict[str, None]] = field(default_factory=dict)
    missed: dict[Subject, dict[str, Miss]] = field(default_factory=dict)
    critical: int = 0
    requiring: Counter[Subject] = field(default_factory=Counter)
    _harmless: dict[tuple[Subject, Way], bool] = field(default_factory=dict)

    @property
    def counted(self) -> list[str]:
        """Failed runs that count at a sub-goal, or at none that was left uncompleted."""
        return [d for d in self.failed if d not in self.infrastructure and d not in self.unscored]

    def harmless(self, failure: Failure) -> bool:
        """Whether it says nothing about the agent: its check holds, or it is not critical and successful
        runs leave it uncompleted as often.
        """
        if failure.undone.way == "check holds":
            return True
        if failure.subject.critical:
            return False
        key = failure.subject, one_of_two(failure.undone.way)
        if key not in self._harmless:
            self._harmless[key] = self._as_often(*key)
        return self._harmless[key]

    def _as_often(self, subject: Subject, way: Way) -> bool:
        """Whether successful runs leave a subject uncompleted in this way as often as failed ones."""
        done_so = self.ways.get((subject, way), {})
        required = self.required.get(subject, ())
        successes, among = self.successes(required), self.successes(done_so)
        if successes < HARMLESS_SUCCESSES or among < HARMLESS_RUNS or among <= HARMLESS_SHARE * successes:
            return False
        return stats.more_often_p(len(done_so) - among, self.failures(required), among, successes) > ALPHA

    def successes(self, digests: Iterable[str]) -> int:
        """How many of some runs succeeded."""
        return sum(map(self.succeeded.__contains__, digests))

    def failures(self, digests: Iterable[str]) -> int:
        """How many of some runs failed."""
        return sum(map(self.failed.__contains__, digests))

    @cached_property
    def decided(self) -> stats.TaskSample:
        """The runs with an outcome, by task."""
        return self.by_task((*self.failed, *self.succeeded))

    def by_task(self, digests: Iterable[str]) -> stats.TaskSample:
        """Some of the runs, by task."""
        some = tuple(digests)
        return stats.TaskSample(dict(zip(some, map(self.tasks.__getitem__, some), strict=True)))

    def graph(self, score: RunScore) -> PlanGraph:
        """The plan graph that a run was scored against."""
        graph = self.corpus.graphs.get(score.graph_id)
        assert graph is not None  # noqa: S101 (a score has the graph it was made with)
        return graph

    def attempts(self, digest: str, subject: Subject) -> tuple[int, ...]:
        """`seq` of a run's attempts at a subject, in order."""
        score = self.corpus.scores[digest]
        if isinstance(score, Unscored):
            return ()
        names = [name for graph, name in subject.members if graph == score.graph_id]
        return attempts_at(score, self.graph(score), names)


def one_of_two(way: Way) -> Way:
    """The way as it is compared between runs: attempted or not, whatever came after it."""
    return "never attempted" if way == "stopped" else way


def tally_of(corpus: Corpus, digests: Iterable[str]) -> FailureTally:
    """Counts runs; broken ledgers count nowhere."""
    found = FailureTally(corpus=corpus, subjects=subjects_of(corpus.graphs.graphs))
    for digest in digests:
        run = corpus.runs[digest]
        if not run.integrity.broken:
            _add(found, digest, run)
    return found


def _add(found: FailureTally, digest: str, run: Run) -> None:
    found.runs[digest], found.tasks[digest] = run, run.task_id
    success = run.success
    if success is False:
        found.failed[digest] = None
    elif success is True:
        found.succeeded[digest] = None
    if kind := infrastructure_of(run):
        found.infrastructure[digest] = kind
    score = found.corpus.scores[digest]
    if isinstance(score, Unscored):
        if success is False and not kind:
            found.unscored[digest] = None
        return
    failures = _failures(found, score, run)
    _add_missed(found, digest, score, failures)
    if kind:  # it missed sub-goals, but did not fail because of them
        return
    for subject in {found.subjects[score.graph_id, node.sub_goal] for node in score.counted}:
        found.requiring[subject] += 1
    if isinstance(success, Unscored):
        return
    # Perhaps nothing is known to be undone only because little is known at all.
    # `fail` leaves none out
    unknown = any(node.completed is None for node in counted_nodes(score.results, "fail"))
    if not failures and unknown and not success:
        found.unscored[digest] = None
        return
    found.undone[digest] = failures
    _add_subjects(found, digest, score, failures)


def _failures(found: FailureTally, score: RunScore, run: Run) -> tuple[Failure, ...]:
    graph = found.graph(score)
    return tuple(
        Failure(found.subjects[graph.id, one.node.sub_goal], one)
        for one in undone_in_order(score, graph, run)
    )


def _add_subjects(found: FailureTally, digest: str, score: RunScore, failures: tuple[Failure, ...]) -> None:
    left = dict.fromkeys(failure.subject for failure in failures)
    known = [node.sub_goal for node in score.counted if node.completed is not None]
    for subject in dict.fromkeys([*(found.subjects[score.graph_id, name] for name in known), *left]):
        found.required.setdefault(subject, []).append(digest)
        if subject not in left:
            found.passed.setdefault(subject, []).append(digest)
    for failure in failures:
        key = failure.subject, one_of_two(failure.undone.way)
        found.ways.setdefault(key, {})[digest] = None


def _add_missed(found: FailureTally, digest: str, score: RunScore, failures: tuple[Failure, ...]) -> None:
    nodes = [node for node in score.counted if node.critical]
    found.critical += len(nodes)
    missing: dict[Subject, list[NodeResult]] = {}
    for node in nodes:
        if node.completed is not True:
            missing.setdefault(found.subjects[score.graph_id, node.sub_goal], []).append(node)
    first = next((failure.subject for failure in failures if failure.subject.critical), None)
    for subject, some in missing.items():
        names = {node.sub_goal for node in some}
        known = [one.undone for one in failures if one.undone.node.sub_goal in names]
        way = known[0].way if known else "attempts unknown"
        miss = Miss(way, len(some), bool(known), subject is first)
        found.missed.setdefault(subject, {})[digest] = miss
