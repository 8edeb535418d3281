"""Decisions evaluated by the workers of a cluster: each holds what is known, and gets some of the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from untaken.counterfactual import THRESHOLD, Evaluations, RunEvaluation, Weights, evaluate_runs
from untaken.counterfactual.evaluate import ScoredDecisions, refusal_of
from untaken.ledger import Run, SkillSelection
from untaken.memory import Memories, Snapshot, by_memory
from untaken.memory.model import Observed
from untaken.scaling.chunks import chunks
from untaken.scaling.distant import DistantRun, RunRecord, RunSource
from untaken.scaling.held import held
from untaken.scaling.packing import pack, unpack
from untaken.scaling.pool import Cluster

if TYPE_CHECKING:
    from untaken.memory.history import History


CHUNKS_PER_WORKER: Final = 2
"""Few: what is known of a choice is laid out again for every chunk that compares it."""
Place = str | int | tuple[str, int]
"""What a worker leaves out: a run by its digest, a history by its number, a decision by run and number."""


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """One policy memory, as it is sent."""

    log: tuple[Observed, ...]
    cost_unit: str | None


class _Shared(msgspec.Struct, frozen=True, kw_only=True):
    """What every worker holds: the policy memories, each decoded when its first run comes, and the rules."""

    memories: tuple[bytes, ...]
    weights: Weights
    threshold: float


class _Held:
    """`_Shared`, decoded as far as it was needed."""

    def __init__(self, shared: bytes) -> None:
        self.rules = msgspec.msgpack.decode(shared, type=_Shared)
        self.snapshots: dict[int, Snapshot] = {}

    def snapshot(self, number: int) -> Snapshot:
        from untaken.memory.history import History  # noqa: PLC0415 (slow: it loads NumPy)

        if number not in self.snapshots:
            # JSON, as in the file of a memory: it keeps moments as they were written.
            known = msgspec.json.decode(self.rules.memories[number], type=_Known)
            history = History(known.log)
            self.snapshots[number] = Snapshot(
                history=history, as_of=None, cost_unit=known.cost_unit, observations=len(known.log)
            )
        return self.snapshots[number]


def evaluate_at(
    cluster: Cluster | None,
    runs: Mapping[str, Run],
    memories: Memories,
    *,
    weights: Weights = Weights(),  # noqa: B008 - frozen
    threshold: float = THRESHOLD,
) -> Evaluations:
    """`untaken.counterfactual.evaluate_runs`, by the workers of a cluster."""
    if cluster is None:
        return evaluate_runs(runs.values(), memories, weights=weights, threshold=threshold)
    snapshots: list[Snapshot] = []
    asked: list[tuple[int, str]] = []
    for memory, digests in by_memory(memories, [d for d, run in runs.items() if refusal_of(run) is None]):
        asked += [(len(snapshots), digest) for digest in digests]
        snapshots.append(memory.snapshot())
    known = [_Known(log=each.history.log, cost_unit=each.cost_unit) for each in snapshots]
    shared = _Shared(memories=tuple(map(msgspec.json.encode, known)), weights=weights, threshold=threshold)
    sizes = [len(runs[digest].selections) for _, digest in asked]
    parts = list(chunks(asked, sizes, workers=cluster.workers, each=CHUNKS_PER_WORKER))
    sent = [msgspec.msgpack.encode([(n, RunRecord.of(runs[digest])) for n, digest in part]) for part in parts]
    answers = list(cluster.map(evaluate_part, sent, msgspec.msgpack.encode(shared)))
    return DistantEvaluations(runs, [each.history for each in snapshots], parts, answers)


class DistantEvaluations(Evaluations):
    """Evaluations that others have made: those of a chunk are unpacked when one of them is looked at."""

    def __init__(
        self,
        runs: Mapping[str, Run],
        histories: list[History],
        parts: list[list[tuple[int, str]]],
        answers: list[bytes],
    ) -> None:
        """Evaluations of `runs` in `answers`, those of one chunk in each."""
        self._runs = runs
        self._made: dict[str, RunEvaluation] = {}
        self._everyone, self._histories = runs, histories
        self._part = {digest: number for number, part in enumerate(parts) for _, digest in part}
        self._packed = answers
        self._open: dict[int, dict[str, Evaluations]] = {}

    def _scored_run(self, digest: str) -> ScoredDecisions | None:
        number = self._part.get(digest)
        if number is None:
            return None
        if number not in self._open:
            self._open[number] = unpack(self._packed[number], inside=self._inside)
        return self._open[number][digest]._scored_run(digest)

    def _inside(self, place: Place) -> Run | History | SkillSelection:
        if isinstance(place, tuple):
            return self._everyone[place[0]].selections[place[1]]
        return self._everyone[place] if isinstance(place, str) else self._histories[place]


def evaluate_part(shared: bytes, chunk: bytes) -> bytes:
    """What a worker does then: it evaluates the decisions of some runs.

    Args:
        shared: `_Shared`, as MessagePack.
        chunk: (number of its memory, `RunRecord`) for each run, as MessagePack.
    """
    kept = held(shared, _Held)
    by_number: dict[int, list[Run]] = {}
    for number, record in msgspec.msgpack.decode(chunk, type=list[tuple[int, RunRecord]]):
        by_number.setdefault(number, []).append(DistantRun(record, RunSource(record, None)))
    made: dict[str, Evaluations] = {}
    for number, runs in by_number.items():
        evaluated = evaluate_runs(
            runs, kept.snapshot(number), weights=kept.rules.weights, threshold=kept.rules.threshold
        )
        made |= dict.fromkeys(evaluated, evaluated)
    here: dict[int, Place] = {id(known.history): number for number, known in kept.snapshots.items()}
    for run in (run for runs in by_number.values() for run in runs):
        here[id(run)] = run.digest
        here |= {id(each): (run.digest, number) for number, each in enumerate(run.selections)}
    return pack(made, outside=lambda value: here.get(id(value)))
