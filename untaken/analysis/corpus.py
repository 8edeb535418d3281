"""Evaluates many runs at once: sub-goal scores, counterfactuals, rankings and what contradicts what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from untaken import counterfactual
from untaken.analysis import ranking
from untaken.analysis.memories import memories_of
from untaken.analysis.ranking import Contradiction, RankReport, RuleEffect, rule_effect
from untaken.analysis.ranking.groups import left_out
from untaken.caching import EachOnce, Once
from untaken.counterfactual import (
    Evaluations,
    Memories,
    PolicyMemory,
    RunEvaluation,
    Weights,
    by_memory,
    evaluate_runs,
    plan_evaluation,
    same_decisions,
)
from untaken.errors import Finding, Unscored, UntakenError
from untaken.facts import (
    ClusterPlace,
    Paths,
    Scoring,
    are_scored_alike,
    given_runs,
    is_known,
    open_cluster,
    outcome_of,
    score_one,
    scored_by_graph,
)
from untaken.garbage import seldom_collected
from untaken.ledger import Run
from untaken.plans import GraphSet, PlanGraph, load_graphs
from untaken.scoring import (
    AgentScore,
    GraphDoubt,
    MissingRule,
    RunScore,
    graph_doubts,
    unmatched_authors,
)

if TYPE_CHECKING:
    from untaken.analysis.ranking import PooledScores
    from untaken.counterfactual import Choices, PlanEvaluation

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what is being done)."""

OF_THE_RANKING: Final = ("agents-not-compared", "agents-not-paired")
"""Findings that go with the ranking they are about."""

Graphs = GraphSet | PlanGraph | Iterable[PlanGraph] | Iterable[str | Path] | str | Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Many runs, evaluated. Keys are run digests (`Run.digest`), in the order in which the runs were read.

    Attributes:
        scores: each run against its plan graph, or why there is no score.
        evaluations: the counterfactual evaluation of each run, against its memory as of the run's start.
        memories: the policy memory that each run is compared with: one for each set of agents that can be
            compared at all, so that one benchmark says nothing of another.
        missing, verdicts: the rules in force (§4).
        weights: of success, cost and steps, in every score.
        identity: names of metadata that can change an agent: only runs that share it are compared.
        counted: the same for two corpora whose runs count alike under any rule, whatever notes they hold.
    """

    runs: dict[str, Run]
    graphs: GraphSet
    scores: Mapping[str, RunScore | Unscored]
    evaluations: Evaluations
    memories: Memories
    missing: MissingRule
    verdicts: tuple[str, ...]
    weights: Weights
    identity: tuple[str, ...]
    _findings: Callable[[], tuple[Finding, ...]] = field(repr=False, compare=False)
    _left_out: Callable[[], tuple[Finding, ...]] = field(default=tuple, repr=False, compare=False)
    counted: str = field(default_factory=lambda: uuid4().hex, repr=False, compare=False)
    _resamples: int = field(default=10_000, repr=False, compare=False)
    _pooled: Callable[[], PooledScores] = field(repr=False, compare=False)
    _choices: Callable[[], Choices] = field(repr=False, compare=False)
    _plans: Callable[[], PlanEvaluation] = field(repr=False, compare=False)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed while the runs were read, scored, remembered and ranked."""
        return self._findings()

    def __repr__(self) -> str:
        scored = sum(not isinstance(score, Unscored) for score in self.scores.values())
        return (
            f"<Corpus: {len(self.runs)} runs, {scored} scored, {len(self.agents)} agents, "
            f"{len(self.graphs.graphs)} plan graphs, {len(self.findings)} findings>"
        )

    def _repr_html_(self) -> str:
        """The `repr` and a row for each agent, for notebooks; names are escaped."""
        heads = ("agent", "runs", "success", "coverage", "completion", "critical")
        rows = [
            (a.agent, a.runs, a.success_rate, a.coverage, a.completion, a.critical_completion)
            for a in self.agents
        ]
        body = "".join(
            f"<tr><td>{escape(agent)}</td><td>{runs}</td>"
            + "".join(f"<td>{value:.3f}</td>" for value in values)
            + "</tr>"
            for agent, runs, *values in rows
        )
        head = "".join(f"<th>{name}</th>" for name in heads)
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{body}</table>"

    @property
    def memory(self) -> PolicyMemory:
        """The policy memory of all the runs, where they have one in common.

        Raises:
            UntakenError: ``memory-several`` where they do not.
        """
        memories = [memory for memory, _ in self.by_memory()]
        if len(memories) > 1:
            raise UntakenError(
                "memory-several",
                f"these runs belong to {len(memories)} sets of agents, each with its own policy memory",
                hint="Use one set with `part_of`, or each run's memory from `memories`.",
            )
        return memories[0] if memories else PolicyMemory()

    def by_memory(self) -> list[tuple[PolicyMemory, list[str]]]:
        """Each policy memory once, with the runs that are compared with it, by digest."""
        return by_memory(self.memories, self.runs)

    @property
    def aborted(self) -> tuple[RunEvaluation, ...]:
        """Evaluations refused because the ledger is broken; for an audit log, never for the ledger itself."""
        made = self.evaluations
        return tuple(made[digest] for digest, run in self.runs.items() if run.integrity.broken)

    @property
    def choices(self) -> Choices:
        """Every choice of the runs, what weighs most first; gathered when they are first asked for."""
        return self._choices()

    @property
    def plans(self) -> PlanEvaluation:
        """The plan decisions of the runs (§2d), evaluated when they are first asked for.

        Of a part of a corpus: its own decisions, under the statements and the placebo of all runs.
        """
        return self._plans()

    @property
    def agents(self) -> tuple[AgentScore, ...]:
        """The runs pooled by agent; those without a score count by their outcome."""
        return self._pooled().agents

    @property
    def ranking(self) -> RankReport:
        """Agents by outcome and by each sub-goal metric, ranked when this is first asked for.

        Agents that ran none of the tasks of the others are set aside, and named in `findings`.
        """
        return self._pooled().ranking

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Runs whose outcome and sub-goals disagree, largest effect first."""
        return self._pooled().contradictions


@seldom_collected()
def score_runs(
    runs: Iterable[Run],
    graphs: Graphs,
    *,
    missing: MissingRule = "fail",
    verdicts: Sequence[str] = (),
    known: Corpus | None = None,
    progress: Progress | None = None,
) -> tuple[Mapping[str, RunScore | Unscored], tuple[Finding, ...]]:
    """Scores each run against the graph of its task.

    Args:
        runs: of one or many ledgers.
        graphs: the plan graphs, as `untaken.plans.load_graphs` gathers them, one by one, or the paths of
            files or folders of them.
        missing: how sub-goals without a verdict count.
        verdicts: globs over VERDICT.by; empty counts everybody's.
        known: evaluated before; what it says of a run that is still the same object, with the same graphs and
            verdicts, is taken over.
        progress: called now and then.

    Returns:
        By run digest, the score or why there is none (a broken ledger, no graph, two graphs); and what was
        noticed on the way.
    """
    everyone = list(runs)
    scoring = Scoring(graphs=_graph_set(graphs), missing=missing, verdicts=tuple(verdicts))
    scores = _scores(everyone, scoring, known=known, progress=progress)
    return scores, _scoring_findings(everyone, scores, scoring)


def _scores(
    everyone: Sequence[Run], scoring: Scoring, *, known: Corpus | None, progress: Progress | None
) -> Mapping[str, RunScore | Unscored]:
    # Opened from kept tables: each is scored again when somebody asks for it.
    if everyone and all(is_known(run, scoring) for run in everyone):
        runs = {run.digest: run for run in everyone}
        return EachOnce(runs, lambda digest: _score(runs[digest], scoring))
    rule, verdicts = scoring.missing, scoring.verdicts
    if known and (known.graphs, known.verdicts) != (scoring.graphs, verdicts):
        known = None
    # By identity: under one digest, a run that was read again may have other verdicts.
    same = (run.digest for run in everyone if known and known.runs.get(run.digest) is run)
    before = {digest: known.scores[digest] for digest in same} if known else {}
    rest = [run for run in everyone if run.digest not in before]
    for score in scored_by_graph(rest, scoring.graphs, missing=rule, verdicts=verdicts):
        before[score.digest] = score
        if len(before) < len(everyone):
            _report(progress, len(before), len(everyone), "scoring runs")
    # The rule changes how statuses are counted, and none of them: known scores are counted again from these.
    again = everyone if known is None or known.missing != rule else rest
    counted = {
        run.digest: score_one(
            run, scoring.graphs, missing=rule, verdicts=verdicts, known=before.get(run.digest)
        )[0]
        for run in again
    }
    _report(progress, len(everyone), len(everyone), "scoring runs")
    scores = before | counted
    return {run.digest: scores[run.digest] for run in everyone}


def _score(run: Run, rules: Scoring) -> RunScore | Unscored:
    return score_one(run, rules.graphs, missing=rules.missing, verdicts=rules.verdicts)[0]


def _scoring_findings(
    everyone: Sequence[Run], scores: Mapping[str, RunScore | Unscored], scoring: Scoring
) -> tuple[Finding, ...]:
    """What was noticed while runs were scored."""
    rule, verdicts = scoring.missing, scoring.verdicts
    found = list(unmatched_authors(verdicts, everyone))
    for run in everyone:
        known = scores[run.digest]
        found += score_one(run, scoring.graphs, missing=rule, verdicts=verdicts, known=known)[1]
    return (*found, *(doubt.finding for doubt in doubts_of(everyone, scores, scoring.graphs)))


def with_run(corpus: Corpus, run: Run) -> Corpus:
    """The corpus with one of its runs as it is now: that run is scored again, nothing else is made again.

    What is pooled over runs (agents, rankings, statements) stays as it was evaluated.
    """
    rules = Scoring(graphs=corpus.graphs, missing=corpus.missing, verdicts=corpus.verdicts)
    runs = {**corpus.runs, run.digest: run}

    def score(digest: str) -> RunScore | Unscored:
        return _score(run, rules) if digest == run.digest else corpus.scores[digest]

    return replace(corpus, runs=runs, scores=EachOnce(runs, score))


def runs_without_graph(corpus: Corpus) -> tuple[Run, ...]:
    """The unbroken runs that no plan graph covers: only their outcome is known."""

    def graphless(run: Run) -> bool:
        graph, findings = corpus.graphs.for_task(run.task_id, run.started.graph)
        return isinstance(graph, Unscored) and not findings  # findings: the wrong graph, or two

    return tuple(run for run in corpus.runs.values() if not run.integrity.broken and graphless(run))


def corpus_doubts(corpus: Corpus) -> tuple[GraphDoubt, ...]:
    """`doubts_of` the runs of a corpus."""
    return doubts_of(corpus.runs.values(), corpus.scores, corpus.graphs)


def doubts_of(
    runs: Iterable[Run], scores: Mapping[str, RunScore | Unscored], graphs: GraphSet
) -> tuple[GraphDoubt, ...]:
    """Where these runs contradict their plan graphs (§4)."""
    found = [(run, scores[run.digest]) for run in runs]
    unscored = frozenset[str]().union(*(run.tools for run, s in found if not isinstance(s, RunScore)))
    scored = ((run, s) for run, s in found if isinstance(s, RunScore))
    return graph_doubts(graphs.graphs, scored, tools=unscored)


def countable(
    runs: Iterable[Run], scores: Mapping[str, RunScore | Unscored], missing: MissingRule
) -> list[RunScore]:
    """What agents are pooled and ranked by: every score, and of unbroken runs without one the outcome."""
    found = ((run, scores[run.digest]) for run in runs if not run.integrity.broken)
    return [
        outcome_of(run, score, missing=missing) if isinstance(score, Unscored) else score
        for run, score in found
    ]


@seldom_collected()
def evaluate_corpus(
    runs: Iterable[Run] | Paths,
    graphs: Graphs,
    *,
    memory: PolicyMemory | Memories | None = None,
    evaluations: Evaluations | None = None,
    known: Corpus | None = None,
    missing: MissingRule = "fail",
    verdicts: Sequence[str] = (),
    weights: Weights | None = None,
    identity: Sequence[str] = (),
    progress: Progress | None = None,
    resamples: int = 10_000,
    cluster: ClusterPlace = None,
) -> Corpus:
    """Evaluates many runs; the time it takes grows with their number.

    Each run is compared with what was known when it started, its own outcome left out; so one memory serves
    all the runs of agents that can be compared.

    Args:
        runs: of one or many ledgers; a chain that is repeated counts once. Or paths of ledgers: files,
            folders or URLs that fsspec reads; what is wrong with a ledger is then in `findings`.
        graphs: the plan graphs, as for `score_runs`.
        memory: one policy memory for all, or that of each run by digest; `memories_of` the runs when not
            given.
        evaluations: existing ones with this memory, by run digest: no rule below changes them. All
            are computed again if one is missing.
        known: as for `score_runs`.
        missing: how sub-goals without a verdict count.
        verdicts: globs over VERDICT.by; empty counts everybody's.
        weights: of success, cost and steps in every score; 0.5, 0.3 and 0.2 by default.
        identity: names of RUN_STARTED metadata that can change an agent, beside its model and versions: only
            runs that share their values are compared.
        progress: called now and then with (done, total, what).
        resamples: of the bootstrap behind the ranking's intervals.
        cluster: who shares the work, as for `untaken.facts.open_cluster`: a number of processes, the
            address of a Dask scheduler, or its client. The result is the same.

    Raises:
        UntakenError: as `open_cluster`; of paths, as `untaken.facts.find_ledgers`.
    """
    graph_set, weighed = _graph_set(graphs), weights or Weights()
    with open_cluster(cluster) as workers:
        scoring = Scoring(graphs=graph_set, missing=missing, verdicts=tuple(verdicts))
        read, found = given_runs(runs, cluster=workers, scoring=scoring, progress=progress)
        by_digest = {run.digest: run for run in read}  # a run that two files hold is one
        scores = _scores(list(by_digest.values()), scoring, known=known, progress=progress)
        memories = _memories(by_digest, memory, identity)
        if evaluations is not None and evaluations.keys() >= by_digest.keys():
            evaluated = evaluations.among(by_digest)
        else:
            evaluated = evaluate_runs(by_digest.values(), memories, weights=weighed)
    alike = known is not None and (
        (known.memories is memories, known.graphs, known.weights, known.identity)
        == (True, graph_set, weighed, tuple(identity))
        and list(known.runs) == list(by_digest)
        and all(map(are_scored_alike, known.runs.values(), by_digest.values()))
    )
    pooled = Once(lambda: _pooled(by_digest.values(), scores, missing, resamples))

    def findings() -> tuple[Finding, ...]:
        scored = _scoring_findings(list(by_digest.values()), scores, scoring)
        remembering = _remembering(memories, by_digest)
        return tuple(dict.fromkeys((*found, *graph_set.findings, *scored, *remembering, *pooled().findings)))

    return Corpus(
        runs=by_digest,
        graphs=graph_set,
        scores=scores,
        evaluations=evaluated,
        memories=memories,
        missing=missing,
        verdicts=tuple(verdicts),
        weights=weighed,
        identity=tuple(identity),
        counted=known.counted if known and alike else uuid4().hex,
        _findings=Once(findings),
        _resamples=resamples,
        _pooled=pooled,
        # What history says of choices follows from these alone: a verdict or a rule changes none of it.
        _choices=known._choices
        if known
        and known.evaluations is evaluations
        and known.memories is memories
        and known.weights == weighed
        and known.runs.keys() == by_digest.keys()
        else Once(lambda: counterfactual.choices(evaluated, by_digest, memories, weights=weighed)),
        _plans=known._plans
        if known
        and known.graphs == graph_set
        and known.identity == tuple(identity)
        and same_decisions((known.runs, known.scores), (by_digest, scores))
        else Once(lambda: plan_evaluation(by_digest.values(), graph_set, scores, identity=identity)),
    )


def part_of(corpus: Corpus, digests: Collection[str]) -> Corpus:
    """Some runs of a corpus: scores and evaluations are kept, agents and rankings are computed again.

    Each memory stays whole: what the other runs taught is still known. So do statements about plan decisions.
    What was noticed about a memory goes with the runs that are compared with it.
    """
    runs = {digest: run for digest, run in corpus.runs.items() if digest in digests}
    pooled = Once(lambda: _pooled(runs.values(), corpus.scores, corpus.missing, corpus._resamples))
    others = Once(lambda: tuple(dict.fromkeys((*corpus._left_out(), *left_out(corpus.runs, runs)))))

    def findings() -> tuple[Finding, ...]:
        # Said of memories that none of these runs has.
        gone = {*_remembering(corpus.memories, corpus.runs)} - {*_remembering(corpus.memories, runs)}
        lasting = (f for f in corpus.findings if f.code not in OF_THE_RANKING and f not in gone)
        return tuple(dict.fromkeys((*lasting, *pooled().findings, *others())))

    evaluations = corpus.evaluations.among(runs)
    return replace(
        corpus,
        runs=runs,
        scores=EachOnce(runs, corpus.scores.__getitem__),  # lazily: some may not be made yet
        evaluations=evaluations,
        _findings=Once(findings),
        _left_out=others,
        _pooled=pooled,
        _choices=Once(
            lambda: counterfactual.choices(evaluations, runs, corpus.memories, weights=corpus.weights)
        ),
        _plans=Once(lambda: corpus.plans.among(runs)),  # by the evidence of all runs
    )


def runs_left_out(corpus: Corpus) -> tuple[Finding, ...]:
    """That a corpus is a part of one, and whose runs are not in it; nothing where it is whole."""
    return corpus._left_out()


def _remembering(memories: Memories, digests: Iterable[str]) -> Iterator[Finding]:
    """What the memories of some runs left out."""
    return (finding for memory, _ in by_memory(memories, digests) for finding in memory.findings)


def _memories(
    runs: Mapping[str, Run], given: PolicyMemory | Memories | None, identity: Sequence[str]
) -> Memories:
    if given is None:
        return memories_of(runs.values(), identity=identity)
    return dict.fromkeys(runs, given) if isinstance(given, PolicyMemory) else given


def _graph_set(graphs: Graphs) -> GraphSet:
    if isinstance(graphs, GraphSet):
        return graphs
    if isinstance(graphs, str | Path):
        return load_graphs(graphs)
    given = [graphs] if isinstance(graphs, PlanGraph) else list(graphs)
    paths = [each for each in given if not isinstance(each, PlanGraph)]
    return load_graphs(paths) if paths else GraphSet.of(each for each in given if isinstance(each, PlanGraph))


def other_rule(
    runs: Iterable[Run], graphs: Graphs, ranking: RankReport, *, verdicts: Sequence[str] = ()
) -> RuleEffect:
    """What a ranking owes to its rule for missing verdicts: what the other one changes."""
    if not any(score.unscored for score in ranking.runs):  # then both rules give the same ranking
        return RuleEffect(changes=(), flips=())
    everyone = list(runs)
    rule: MissingRule = "fail" if ranking.missing == "drop" else "drop"
    scores, _ = score_runs(everyone, graphs, missing=rule, verdicts=verdicts)
    other = _pooled(everyone, scores, rule, 0).ranking  # values and ranks are compared, no interval
    return rule_effect(other, ranking) if rule == "fail" else rule_effect(ranking, other)


def _pooled(
    runs: Collection[Run],
    scores: Mapping[str, RunScore | Unscored],
    missing: MissingRule,
    resamples: int,
) -> PooledScores:
    counted = countable(runs, scores, missing)
    return ranking.PooledScores.of(counted, missing=missing, resamples=resamples)


def _report(progress: Progress | None, done: int, total: int, what: str) -> None:
    """Reports progress at the end and every hundredth run: one call per run would cost more than the run."""
    if progress and (done % 100 == 0 or done == total):
        progress(done, total, what)
