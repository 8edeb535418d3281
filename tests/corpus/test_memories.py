"""One policy memory for each set of agents that can be compared: an unrelated benchmark changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Barrier, Thread

import desk
import pytest
from builders import a_run
from histories import on_day
from hypothesis import given
from hypothesis import strategies as st

from untaken.analysis.corpus import Corpus, evaluate_corpus, part_of
from untaken.analysis.memories import POLICY, memories_of, remembered
from untaken.caching import Once
from untaken.counterfactual import Weights, choices
from untaken.counterfactual.memory import PolicyMemory, fold_in
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.plans import GraphSet
from untaken.views import counterfactual_document, dump
from untaken.views.memory import signals_waiting

Drawn = Sequence[tuple[str, bool, float]]


def runs_of(agent: str, drawn: Drawn, *, started: int = 0, graph: str | None = None) -> list[Run]:
    """Runs of one agent, day after day, in the very same contexts as any other agent's."""
    made = []
    for i, (skill, won, cost) in enumerate(drawn):
        run = a_run(f"{agent}-{i}", agent=agent, task=f"task of {agent}", graph=graph)
        run.select(skill, "a", "b", context="here").select("go", "stop", context="{}")
        made.append(on_day(run.finish(won, cost=cost, steps=i).run(), started + i))
    return made


def corpus_of(runs: Sequence[Run]) -> Corpus:
    return evaluate_corpus(runs, GraphSet.of(()), resamples=0)


def told(corpus: Corpus, runs: Sequence[Run]) -> str:
    """Everything that a document says of these runs' decisions."""
    evaluations = [corpus.evaluations[run.digest] for run in runs]
    return dump(counterfactual_document(evaluations, weights=Weights(), threshold=0.1))


DRAWN = st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.floats(0, 1000)), min_size=1, max_size=8)


@given(ours=DRAWN, theirs=DRAWN, begun=st.integers(-5, 5))
def test_an_unrelated_benchmark_changes_nothing(ours: Drawn, theirs: Drawn, begun: int) -> None:
    mine, others = runs_of("mine", ours), runs_of("other", theirs, started=begun)
    alone, together = corpus_of(mine), corpus_of([*others, *mine])
    assert told(together, mine) == told(alone, mine)
    digests = frozenset(alone.runs)
    made = choices(alone.evaluations, alone.runs, alone.memories)
    among = choices(together.evaluations, together.runs, together.memories)
    assert [c for c in among if c.points[0].run in digests] == list(made)
    part = part_of(together, digests)
    assert part.memory.snapshot().digest == alone.memory.snapshot().digest
    assert {s for s in signals_waiting(together) if s.run_id.startswith("mine")} == set(
        signals_waiting(alone)
    )


def test_agents_that_share_a_task_share_a_memory_and_with_several_none_counts_for_all() -> None:
    runs = [run.run() for run in desk.builders()]
    memories = memories_of(runs)
    assert memories.keys() == {run.digest for run in runs}
    compared = {id(memories[run.digest]) for run in runs if run.agent != "stray"}
    (stray,) = (memories[run.digest] for run in runs if run.agent == "stray")
    assert len(compared) == 1
    assert len(stray) == 0
    mine, others = (
        runs_of("mine", [("a", True, 1.0), ("b", False, 2.0)]),
        runs_of("other", [("b", True, 1.0)]),
    )
    assert corpus_of(mine).memory.log == PolicyMemory.build(mine).log
    assert len(corpus_of([]).memory) == 0
    corpus = corpus_of([*mine, *others])
    with pytest.raises(UntakenError) as caught:
        _ = corpus.memory
    assert caught.value.code == "memory-several"
    assert len(corpus.by_memory()) == 2
    memory = PolicyMemory.build([*mine, *others])  # one that is given serves every set
    assert evaluate_corpus([*mine, *others], GraphSet.of(()), memory=memory, resamples=0).memory is memory


def test_an_applied_signal_belongs_to_the_memory_of_its_run(tmp_path: Path) -> None:
    drawn = [("b", True, 1.0)] * 4 + [("a", False, 9.0)]
    mine, others, gone = (runs_of(agent, drawn) for agent in ("mine", "other", "gone"))
    signals = [s for runs in (mine, others, gone) for s in signals_waiting(corpus_of(runs))]
    fold_in(tmp_path / POLICY, signals)
    memories = remembered([*mine, *others], tmp_path)
    for run in (mine[0], others[0]):
        weak = {o.run_id for o in memories[run.digest].log if o.kind == "weak"}
        assert weak == {f"{run.agent}-4", "gone-4"}
    again = evaluate_corpus([*mine, *others], GraphSet.of(()), memory=memories, resamples=0)
    assert signals_waiting(again) == ()
    only = remembered(mine, tmp_path)[mine[0].digest]  # one set alone: all that was applied, as ever
    assert sum(o.kind == "weak" for o in only.log) == len(signals)


def test_agents_of_one_plan_graph_share_a_history_though_no_task_comes_twice() -> None:
    first, second, other = (
        runs_of(agent, [("a", True, 1.0)], graph=graph)
        for agent, graph in (("v1", "desk"), ("v2", "desk"), ("else", "garden"))
    )
    memories = memories_of([*first, *other, *second])
    assert memories[first[0].digest] is memories[second[0].digest]
    assert memories[first[0].digest] is not memories[other[0].digest]


def test_of_many_who_ask_at_the_same_time_one_works_it_out_and_all_get_the_same() -> None:
    together, made, got = Barrier(8), list[object](), list[object]()

    def make() -> object:
        made.append(object())
        return made[-1]

    once = Once(make)

    def ask() -> None:
        together.wait(10)
        got.append(once())

    assert not once.known
    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert once.known
    assert len(made) == 1
    assert got == made * 8


def test_what_could_not_be_worked_out_is_tried_again() -> None:
    tries = iter([ZeroDivisionError, None])

    def make() -> int:
        if error := next(tries):
            raise error
        return 5

    once = Once(make)
    with pytest.raises(ZeroDivisionError):
        once()
    assert not once.known
    assert once() == 5
