"""Policy memory as tables and documents: what it says, how it came to that, and weak signals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from untaken.counterfactual import (
    N_MIN,
    Applied,
    Difference,
    Effect,
    Flag,
    Interval,
    Observed,
    PolicyMemory,
    Record,
    Signal,
    Snapshot,
    ValueRange,
    coarse_contexts,
    collect_signals,
    cost_interval,
    preview,
    steps_interval,
    success_interval,
    waiting_signals,
)
from untaken.errors import Finding, Score, Unscored
from untaken.ledger import readable
from untaken.numbers import counted, percent
from untaken.views.documents import Count, Keys, Part
from untaken.views.frame import Columns, RowWith, count, figure, frame, moment, text, truth, why

if TYPE_CHECKING:
    import pandas as pd

    from untaken.analysis import Corpus


MEMORY_DOCUMENT: Final = Keys(
    Snapshot,
    "as_of digest observations runs cost_unit cost steps records findings",
    schema="untaken.memory/1",
    as_of=str | None,
    cost=ValueRange | Unscored,
    steps=ValueRange | Unscored,
    records=[Keys(Record, "*")],
)
"""The record of each skill in each context."""
QUEUE_DOCUMENT: Final = Keys.given(
    schema="untaken.memory-queue/1", queued=Count, applied=Count, waiting=[Signal], findings=[Finding]
)
"""The weak signals that wait.

`queued` are new in the queue, or in a newer form; `applied` are in the memory; `waiting` in the queue alone.
"""
PREVIEW_DOCUMENT: Final = Keys.given(
    schema="untaken.memory-preview/1", digest=str, effects=[Keys(Effect, "signal.* *")]
)
"""What each waiting signal would do to its estimate in the snapshot."""
_WEAK: Final = Keys(Observed, "key kind skill context_hash success cost steps weight run_id ts cost_unit")
APPLY_DOCUMENT: Final = Keys.given(
    schema="untaken.memory-apply/1", digest=str, applied=[_WEAK], waiting=[Signal]
)
"""What was folded in, and what still waits."""
VERIFY_MEMORY_DOCUMENT: Final = Keys.given(
    schema="untaken.memory-verify/1",
    same=bool,
    digest=str,
    observations=Count,
    differences=[Difference],
    findings=[Finding],
)
"""Whether a memory file is what it was made of."""


def memory_document(snapshot: Snapshot, *, findings: Sequence[Finding] = ()) -> Part:
    """The document of `snapshot`."""
    spans = snapshot.spans()
    return MEMORY_DOCUMENT(
        snapshot,
        as_of=snapshot.as_of.isoformat() if snapshot.as_of else None,
        cost=spans.cost or Unscored("no known run records cost"),
        steps=spans.steps or Unscored("no known run records steps"),
        records=list(snapshot.records()),
        findings=findings,
    )


def memory_apply_document(applied: Applied) -> Part:
    """The document of signals that were `applied`."""
    return APPLY_DOCUMENT(
        digest=applied.memory.snapshot().digest,
        applied=applied.observations,
        waiting=applied.waiting,
    )


Contexts = Mapping[str, str | None]
_NAMED: Final = 3


@dataclass(frozen=True, kw_only=True)
class RecordRow:
    """One record with its intervals."""

    record: Record
    context: str | None

    @cached_property
    def success(self) -> Interval:
        """Interval of the success rate."""
        return success_interval(self.record)

    @cached_property
    def cost(self) -> Interval:
        """Interval of the mean cost."""
        return cost_interval(self.record)

    @cached_property
    def steps(self) -> Interval:
        """Interval of the mean number of steps."""
        return steps_interval(self.record)


def _end(name: str, place: int) -> Callable[[RecordRow], object]:
    def value(row: RecordRow) -> Score:
        interval: Interval = getattr(row, name)
        return interval if isinstance(interval, Unscored) else interval[place]

    return value


RECORDS: Final[Columns[RecordRow]] = {
    "skill": text("what was selected", "record.skill"),
    "context": text("the context, readable", "context"),
    "n": count("outcomes observed", "record.n", title="outcomes"),
    "n_runs": count("different runs behind them", "record.n_runs", title="runs"),
    "n_effective": figure(
        "effective number of runs: repeats in a run are one, as are its copies",
        "record.spread.n",
        "significant",
        title="effective runs",
    ),
    "success_rate": figure("weighted mean of success", "record.success_rate", "percent"),
    "success_low": figure("lower end of its 95% interval", _end("success", 0), "percent"),
    "success_high": figure("upper end of its 95% interval", _end("success", 1), "percent"),
    "avg_cost": figure("mean cost of the outcomes that have one", "record.avg_cost", "significant"),
    "cost_low": figure("lower end of its 95% interval", _end("cost", 0), "%.4g"),
    "cost_high": figure("upper end of its 95% interval", _end("cost", 1), "%.4g"),
    "avg_steps": figure("mean number of steps", "record.avg_steps", "significant"),
    "steps_low": figure("lower end of its 95% interval", _end("steps", 0), "%.4g"),
    "steps_high": figure("upper end of its 95% interval", _end("steps", 1), "%.4g"),
    "weak_weight": figure("weight of the weak signals in the success rate", "record.weak_weight"),
    "context_hash": text("digest of the context", "record.context_hash"),
    "avg_cost_reason": why("avg_cost", "record.avg_cost"),
    "cost_low_reason": why("the interval of avg_cost", _end("cost", 0)),
    "avg_steps_reason": why("avg_steps", "record.avg_steps"),
    "steps_low_reason": why("the interval of avg_steps", _end("steps", 0)),
}


def _after(name: str) -> Callable[[RowWith[Observed, RecordRow | None]], object]:
    def value(estimate: RowWith[Observed, RecordRow | None]) -> object:
        # Before the first outcome there is no record.
        return None if estimate.beside is None else RECORDS[name].value(estimate.beside)

    return value


ESTIMATES: Final[Columns[RowWith[Observed, RecordRow | None]]] = {
    "ts": moment("from when on the observation is known", "row.ts"),
    "kind": text("outcome or weak", "row.kind"),
    "success": figure("success observed, or claimed by a weak signal", "row.success"),
    "run_id": text("the run it comes from", "row.run_id"),
    "n": count("outcomes known after it", _after("n")),
    "success_rate": figure("success rate after it", _after("success_rate")),
    "success_low": figure("lower end of its 95% interval", _after("success_low")),
    "success_high": figure("upper end of its 95% interval", _after("success_high")),
    "weak_weight": figure("weight of the weak signals in it", _after("weak_weight")),
}

SIGNALS: Final[Columns[RowWith[Effect, str | None]]] = {
    "skill": text("the skill it concerns", "row.signal.skill"),
    "direction": text("meant against the skill (negative) or for it", "row.signal.direction"),
    "flag": text("against, no_effect, no_outcome or none", "row.flag"),
    "advised": truth("supported, and not against its stated direction: applied by default", "row.advised"),
    "supported": truth("an insight behind it has a supported advantage above 0", "row.signal.supported"),
    "before": figure("success rate now", "row.before", "%.4f"),
    "after": figure("the same with this signal alone", "row.after", "%.4f"),
    "after_all": figure(
        "the same with all pending signals of the skill in the context", "row.after_all", "%.4f"
    ),
    "n": count("outcomes behind the estimate", "row.n"),
    "context": text("the context, readable", "beside"),
    "outcome": figure("success rate that it claims", "row.signal.outcome"),
    "weak_before": figure("weak weight now", "row.weak_before"),
    "weak_after": figure("weak weight with this signal alone", "row.weak_after"),
    "cap": figure("what the weak weight can never exceed", "row.cap"),
    "delta": figure("largest delta of the insights behind it", "row.signal.delta", "%+.3f"),
    "flag_reason": text("the flag in words", "row.flag_reason"),
    "run_id": text("the run it comes from", "row.signal.run_id"),
    "decision_point": count("seq of the SKILL_SELECTION event", "row.signal.decision_point"),
    "context_hash": text("digest of the context", "row.signal.context_hash"),
    "key": text("the signal's key", "row.signal.key"),
    "before_reason": why("before", "row.before"),
}

APPLIED: Final[Columns[RowWith[Observed, str | None]]] = {
    "ts": moment("from when on it is known", "row.ts"),
    "skill": text("the skill it concerns", "row.skill"),
    "context": text("the context, readable", "beside"),
    "success": figure("success rate that it claims", "row.success"),
    "run_id": text("the run it comes from", "row.run_id"),
    "context_hash": text("digest of the context", "row.context_hash"),
    "key": text("the signal's key", "row.key"),
}


class SignalReview(Struct, frozen=True, kw_only=True):
    """The weak signals that wait, with what they would do.

    Attributes:
        effects: of each signal, in the order of the keys.
        table: `signals_table` of them: the advised ones first, then by what they move.
        flags: how many have which flag.
    """

    effects: tuple[Effect, ...]
    table: pd.DataFrame
    flags: Mapping[Flag, int]

    @property
    def signals(self) -> tuple[Signal, ...]:
        """All signals that wait."""
        return tuple(effect.signal for effect in self.effects)

    @property
    def advised(self) -> tuple[Signal, ...]:
        """Those to apply: supported, and not against their stated direction."""
        return tuple(effect.signal for effect in self.effects if effect.advised)

    @property
    def supported(self) -> tuple[Signal, ...]:
        """Those of them that are supported."""
        return tuple(signal for signal in self.signals if signal.supported)

    @property
    def against(self) -> tuple[Effect, ...]:
        """Those that push their estimate against their stated direction, the largest move first."""
        return tuple(sorted((e for e in self.effects if e.flag == "against"), key=lambda e: -abs(e.move)))


def signal_review(corpus: Corpus, waiting: Sequence[Signal], contexts: Contexts) -> SignalReview:
    """What `signals_waiting` gives, previewed on the current memory; `contexts` as of `context_names`."""
    effects = preview(corpus.memory.snapshot(), waiting)
    first = sorted(effects, key=lambda e: (not e.advised, not e.signal.supported, -abs(e.move), e.signal.key))
    table = signals_table(first, contexts)
    return SignalReview(effects=effects, table=table, flags=Counter(effect.flag for effect in effects))


def context_names(corpus: Corpus) -> dict[str, str]:
    """The readable form of each context hash, as recorded with a choice; the most frequent first.

    For a coarser layer, what the contexts in it have in common. A context without a readable form is shown
    by its hash.
    """
    names: dict[str, str | None] = {}
    situations: Counter[tuple[str, ...]] = Counter()  # few: most choices are made in the same ones
    for run in corpus.runs.values():
        for selection in run.selections:
            situations[selection.layers] += 1
            if selection.context_hash not in names and selection.context is not None:
                names[selection.context_hash] = readable(selection.context)
    times: Counter[str] = Counter()
    for layers, many in situations.items():
        for layer in layers:
            times[layer] += many
    # A recorded name takes precedence over one that was derived.
    names = coarse_contexts(corpus.runs.values()) | names
    ordered = sorted(times, key=lambda key: (-times[key], key))
    return {key: names.get(key) or key for key in ordered}


def contexts_by_evidence(records: pd.DataFrame, contexts: Contexts) -> list[str]:
    """The contexts with most skills of three runs or more first, then those with most skills and runs."""
    # By the effective number: many outcomes of one run are no evidence.
    known = records.assign(enough=records["n_effective"] >= N_MIN).groupby("context_hash")
    known = known.agg(enough=("enough", "sum"), size=("enough", "size"), sum=("n_effective", "sum"))
    ordered = known.sort_values(["enough", "size", "sum"], ascending=False, kind="stable").index
    return [*(str(key) for key in ordered if key in contexts), *(c for c in contexts if c not in known.index)]


def records_table(snapshot: Snapshot, contexts: Contexts) -> pd.DataFrame:
    """One row per (skill, context) with an outcome, by skill and context (columns: `RECORDS`)."""
    records = snapshot.records()
    return frame(RECORDS, (RecordRow(record=r, context=contexts.get(r.context_hash)) for r in records))


def unequal_words(here: pd.DataFrame) -> str:
    """Why the records of a context tell no skill from another, and what they show; else empty."""
    shown = here.sort_values(["n", "skill"], ascending=[False, True]).head(_NAMED)
    each = "; ".join(
        f"{row.skill}: {percent(row.success_rate)} of {counted(row.n, 'outcome')}"
        for row in shown.itertuples()
    )
    if well_founded(here) < 2:
        return f"No two skills have {N_MIN} runs or more here, so none is better or worse. Success: {each}."
    if set(here["success_rate"]) in ({0.0}, {1.0}):
        ended = "succeeded" if here["success_rate"].iloc[0] else "failed"
        return f"All runs here {ended}, so success tells no skill from another. Success: {each}."
    return ""


def well_founded(records: pd.DataFrame) -> int:
    """How many records rest on `N_MIN` effective runs or more."""
    return int((records["n_effective"] >= N_MIN).sum())


def estimates_table(snapshot: Snapshot, skill: str, context_hash: str) -> pd.DataFrame:
    """One row per observation of the skill in the context, in the order known (columns: `ESTIMATES`)."""
    course = snapshot.course(skill, context_hash)
    return frame(
        ESTIMATES,
        (
            RowWith(seen, None if record is None else RecordRow(record=record, context=None))
            for seen, record in course
        ),
    )


def signals_table(effects: Iterable[Effect], contexts: Contexts) -> pd.DataFrame:
    """One row per waiting signal, in the order given (columns: `SIGNALS`)."""
    return frame(SIGNALS, (RowWith(e, contexts.get(e.signal.context_hash)) for e in effects))


def applied_table(memory: PolicyMemory, contexts: Contexts) -> pd.DataFrame:
    """One row per weak signal in the memory, in the order applied (columns: `APPLIED`)."""
    weak = (observed for observed in memory.log if observed.kind == "weak")
    return frame(APPLIED, (RowWith(o, contexts.get(o.context_hash)) for o in weak))


def signals_waiting(corpus: Corpus) -> tuple[Signal, ...]:
    """The weak signals of all evaluations that the memory of their run does not hold, by key."""
    made = {digest: corpus.evaluations.signals(digest) for digest in corpus.runs}
    chosen = frozenset(collect_signals(made.values()))  # of two runs under one id, the first's
    waiting = [
        signal
        for memory, digests in corpus.by_memory()
        for signal in waiting_signals(memory, collect_signals(made[d] for d in digests))
        if signal in chosen
    ]
    return tuple(sorted(waiting, key=lambda signal: signal.key))
