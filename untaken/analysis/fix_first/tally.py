"""The runs of a corpus as fix first counts them: what each left uncompleted, and what ended it (§5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from untaken import stats
from untaken.analysis.corpus import Corpus
from untaken.analysis.fix_first.subjects import Key, Subject, subjects_of
from untaken.errors import Unscored
from untaken.ledger import InfrastructureKind, Run, infrastructure_of
from untaken.plans import PlanGraph, SubGoal
from untaken.scoring import NodeResult, RunScore, Undone, Way, counted_nodes, never_set, undone_in_order

HARMLESS_SUCCESSES: Final = 5
"""With fewer successes nothing is harmless."""
HARMLESS_RUNS: Final = 3
HARMLESS_SHARE: Final = 0.1
ALPHA: Final = 0.05


class Failure(NamedTuple):
    """A sub-goal that a run left uncompleted; `subject` is what it is across graphs."""

    subject: Subject
    goal: SubGoal
    undone: Undone

    @property
    def compared(self) -> tuple[Subject, Way]:
        """What is compared between runs: attempted or not, whatever came after it."""
        return self.subject, one_of_two(self.undone.way)


class Miss(NamedTuple):
    """A critical sub-goal that a run did not complete, `times` over.

    `known`: some evidence says so; `first`: and it is the first critical one that the run left uncompleted;
    `goal`: the first member of the subject that is not completed.
    """

    way: Way
    times: int
    known: bool
    first: bool
    goal: str


class Ending(NamedTuple):
    """What runs have in common that share their results and the actions that were mapped.

    Attributes:
        score: of one of them; `failures`: in the order of the log.
        requiring, passed: subjects; `compared`: those known to be completed or not (``None``), and the ways
            in which they were left.
        missed: critical sub-goals not known to be completed.
        unclear: nothing is known to be undone, but not all is known.
        answers: whether what failed goes by the answers to the actions, too, which runs do not share.
    """

    score: RunScore
    failures: tuple[Failure, ...]
    requiring: tuple[Subject, ...]
    passed: tuple[Subject, ...]
    compared: tuple[tuple[Subject, Way | None], ...]
    missed: Mapping[Subject, Miss]
    unclear: bool
    answers: bool


@dataclass
class FailureTally:
    """What is known of some runs, by digest.

    Attributes:
        tasks: of unbroken runs.
        failed, succeeded: by their outcome, infrastructure and unscored ones too.
        infrastructure: what ended a run that did not succeed, where that was not the agent.
        unscored: failed runs of which no sub-goal is known to be completed or not, or not all of them.
        placed: how each run ended that is counted.
        times: how many runs are alike in what is compared, by success; `passed`: those that completed it.
        missed: critical sub-goals not known to be completed, over all scored runs, by subject and run;
            `critical`: how many there are in all.
        requiring: scored runs that require a subject and were not ended by their infrastructure.
    """

    corpus: Corpus
    subjects: Mapping[Key, Subject]
    tasks: dict[str, str] = field(default_factory=dict)
    failed: dict[str, None] = field(default_factory=dict)  # sets, in the order of the runs
    succeeded: dict[str, None] = field(default_factory=dict)
    infrastructure: dict[str, InfrastructureKind] = field(default_factory=dict)
    unscored: dict[str, None] = field(default_factory=dict)
    placed: dict[str, Ending] = field(default_factory=dict)
    times: dict[bool, Counter[tuple[Subject, Way | None]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    passed: dict[Subject, list[str]] = field(default_factory=dict)
    missed: dict[Subject, dict[str, Miss]] = field(default_factory=dict)
    critical: int = 0
    requiring: Counter[Subject] = field(default_factory=Counter)
    alike: dict[tuple[object, ...], Ending] = field(default_factory=dict)
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
        key = failure.compared
        if key not in self._harmless:
            self._harmless[key] = self._as_often(*key)
        return self._harmless[key]

    def _as_often(self, subject: Subject, way: Way) -> bool:
        """Whether successful runs leave a subject uncompleted in this way as often as failed ones."""
        (done, among), (failures, successes) = self.often(subject, way), self.often(subject)
        if successes < HARMLESS_SUCCESSES or among < HARMLESS_RUNS or among <= HARMLESS_SHARE * successes:
            return False
        return stats.more_often_p(done, failures, among, successes) > ALPHA

    def often(self, subject: Subject, way: Way | None = None) -> tuple[int, int]:
        """How many failed runs and successes require a subject, or leave it uncompleted in this way."""
        key = subject, way and one_of_two(way)
        return self.times[False][key], self.times[True][key]

    @cached_property
    def decided(self) -> stats.TaskSample:
        """The runs with an outcome, by task."""
        return self.by_task((*self.failed, *self.succeeded))

    def by_task(self, digests: Iterable[str]) -> stats.TaskSample:
        """Some of the runs, by task."""
        return stats.TaskSample({digest: self.tasks[digest] for digest in digests})

    def graph(self, score: RunScore) -> PlanGraph:
        """The plan graph that a run was scored against."""
        graph = self.corpus.graphs.get(score.graph_id)
        assert graph is not None  # noqa: S101 (a score has the graph it was made with)
        return graph


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
    found.tasks[digest] = run.task_id
    success, kind, score = run.success, infrastructure_of(run), found.corpus.scores[digest]
    if not isinstance(success, Unscored):
        (found.succeeded if success else found.failed)[digest] = None
    if kind:
        found.infrastructure[digest] = kind
    if isinstance(score, Unscored):
        if success is False and not kind:
            found.unscored[digest] = None
        return
    alike = score.graph_id, id(score.results), score.mapped
    ending = found.alike.get(alike)
    if ending is None or ending.answers:
        ending = found.alike[alike] = _ending(found, score, run)
    found.critical += score.critical
    for subject, miss in ending.missed.items():
        found.missed.setdefault(subject, {})[digest] = miss
    if kind:  # it missed sub-goals, but did not fail because of them
        return
    for subject in ending.requiring:
        found.requiring[subject] += 1
    if isinstance(success, Unscored):
        return
    if ending.unclear and not success:
        found.unscored[digest] = None
        return
    found.placed[digest] = ending
    times = found.times[success]
    for key in ending.compared:
        times[key] += 1
    for subject in ending.passed:
        found.passed.setdefault(subject, []).append(digest)


def _ending(found: FailureTally, score: RunScore, run: Run) -> Ending:
    graph, nodes = found.graph(score), defaultdict[Subject, list[NodeResult]](list)
    goals = {goal.id: (found.subjects[graph.id, goal.id], goal) for goal in graph.sub_goals}
    undone = undone_in_order(score, graph, run)
    failures = tuple([Failure(*goals[one.node.sub_goal], one) for one in undone])
    for node in score.counted:
        nodes[goals[node.sub_goal][0]].append(node)
    left = {failure.subject for failure in failures}
    passed = [one for one in nodes if one not in left and any(n.completed is not None for n in nodes[one])]
    first = next((one.subject for one in failures if one.subject.critical), None)
    missed = {}
    for subject, some in nodes.items():
        missing = [node for node in some if node.completed is not True]
        if names := [node.sub_goal for node in missing if node.critical]:
            way = next((one.undone.way for one in failures if one.goal.id in names), None)
            known, goal = way is not None, missing[0].sub_goal
            missed[subject] = Miss(way or "attempts unknown", len(names), known, subject is first, goal)
    return Ending(
        score=score,
        failures=failures,
        requiring=tuple(nodes),
        passed=tuple(passed),
        compared=(*((one, None) for one in (*passed, *left)), *{failure.compared for failure in failures}),
        missed=missed,
        # Perhaps nothing is known to be undone only because little is known at all.
        # `fail` leaves none out
        unclear=not failures and any(n.completed is None for n in counted_nodes(score.results, "fail")),
        answers=bool(never_set(score, graph)),
    )
