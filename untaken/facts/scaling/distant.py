"""A run read elsewhere or before: decisions and outcome are here, the rest is read when asked for."""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol, TypeVar, cast, get_args

import msgspec

from untaken.caching import cached_property
from untaken.errors import Finding, Unscored
from untaken.facts.scaling.places import Place, at_hand
from untaken.ledger import (
    GENESIS,
    SPANS,
    TEXTS_TO_JUDGES,
    AnyEvent,
    Event,
    Integrity,
    Message,
    Observation,
    Plan,
    Run,
    RunLines,
    RunStarted,
    SkillSelection,
    State,
    ToolCall,
    ledger_changed,
    read_ledger,
)
from untaken.limits import MIB
from untaken.plans import GraphSet
from untaken.scoring import FEATURES, MissingRule, RunScore, encoded_features

E = TypeVar("E", bound=Event)
V = TypeVar("V")
DETAIL: Final = frozenset({Message, Observation, Plan, State, ToolCall})
"""Events that stay in the ledger: by far the most of its bytes."""
KINDS: Final[Mapping[type, int]] = {kind: place for place, kind in enumerate(get_args(AnyEvent))}
FILES_OPEN: Final = 2
"""Ledgers whose runs are held, once their detail was asked for, where lines cannot be found by place."""
HELD_BYTES: Final = 8 * MIB
"""Lines of runs that are held whole; decoded they take about twice as much."""
EVENT_BYTES: Final = 400
"""About so long is the line of an event."""
TEXTS: Final = "agent", "task_id", "model", "graph_id", "diagnosis_reason", "diagnosis_advice"
"""Of scores: those of many runs are the same."""

_decoders = [msgspec.json.Decoder(tuple[kind, ...]) for kind in KINDS]  # type: ignore[valid-type]


class ScoreRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The score of a run under one rule, as it was computed elsewhere or before.

    Attributes:
        score: against its plan graph; ``None`` for the reason in `why`.
        findings: what was noticed on the way.
        outcome: what an unbroken run without a score counts by.
    """

    missing: MissingRule
    score: RunScore | None = None
    why: str = ""
    findings: tuple[Finding, ...] = ()
    outcome: RunScore | None = None


def score_in(record: ScoreRecord) -> RunScore | Unscored:
    """The score, or why there is none."""
    return Unscored(record.why) if record.score is None else record.score


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What is sent or kept of a run.

    Attributes:
        events: those that are no `DETAIL`, by their place in `KINDS`; of each kind a JSON array: it keeps the
            time zones as written.
        own: number of the run's own events; `tools` the names of those it called.
        appended_here: as of `Run`.
        texts_to_judges: as of `TEXTS_TO_JUDGES`; ``None`` where nobody has looked.
        features: as `encoded_features` gives them; empty where nobody has looked.
        spans: where its lines are, as in `RunLines`, in this machine's byte order; empty where they cannot be
            found by place.
    """

    events: dict[int, bytes]
    integrity: Integrity
    source: str
    digest: str
    own: int
    tools: frozenset[str]
    appended_here: frozenset[int] = frozenset()
    texts_to_judges: tuple[tuple[int, str], ...] | None = None
    features: bytes = b""
    spans: bytes = b""

    @classmethod
    def of(cls, run: Run, spans: array[int] | None = None) -> RunRecord:
        """The record of a run."""
        kept = run.kept if isinstance(run, DistantRun) else _by_kind(run.events)
        return cls(
            events={
                kind: events if isinstance(events, bytes) else msgspec.json.encode(events)
                for kind, events in kept.items()
            },
            integrity=run.integrity,
            source=run.source,
            digest=run.digest,
            own=run.own,
            tools=run.tools,
            appended_here=run.appended_here,
            texts_to_judges=run.__dict__.get(TEXTS_TO_JUDGES),
            features=encoded_features(run) if run.__dict__.get(FEATURES) else b"",
            spans=spans.tobytes() if spans else b"",
        )

    def lines(self, path: Path) -> RunLines | None:
        """Where its lines are in a file; ``None`` where they cannot be found by place."""
        spans = array(SPANS)
        spans.frombytes(self.spans)
        return RunLines(path, spans) if spans else None


def _by_kind(events: Iterable[AnyEvent]) -> dict[int, bytes | tuple[AnyEvent, ...]]:
    """The events that are no `DETAIL`, as of `RunRecord.events`."""
    found: dict[int, Any] = defaultdict(list)
    for event in events:
        if type(event) not in DETAIL:
            found[KINDS[type(event)]].append(event)
    return {kind: tuple(some) for kind, some in found.items()}


class RunSource:
    """Where a run is read again, when somebody asks for its detail.

    Attributes:
        integrity, name, digest, appended_here: as of `Run`, which calls the name `source`.
    """

    __slots__ = ("_held", "_ledger", "appended_here", "digest", "integrity", "name")

    def __init__(self, about: RunRecord | Run, ledger: RunLines | Ledger | None) -> None:
        """The source of a run; without a ledger, its detail cannot be asked for."""
        self.integrity, self.name, self.digest = about.integrity, about.source, about.digest
        self.appended_here = about.appended_here
        self._ledger = ledger
        self._held: Run | None = None

    def __call__(self) -> Run:
        """The run as it was read before, from the ledger as it is now; it stays at hand for a while.

        Raises:
            UntakenError: ``ledger-changed`` where the ledger no longer holds this very run; more may have
                been appended.
        """
        held = self._held
        if held is None:
            ledger, head, events = self._ledger, self.integrity.head, None
            if isinstance(ledger, RunLines):
                events = ledger.events(self.integrity.run_id, head) if head else None
            elif ledger is not None:
                events = ledger(self)
            if events is None:
                raise ledger_changed(self.name, self.integrity.run_id)
            # With the verdict of the first reading: the lines up to that head are verified to be the same.
            held = Run(
                events=events,
                integrity=self.integrity,
                source=self.name,
                appended_here=self.appended_here,
            )
            self.hold(held)
        return held

    def hold(self, run: Run) -> None:
        """Keep the run at hand, until too many others were asked for."""
        self._held = run
        lines = self._ledger
        AT_HAND.add(self, lines.size if isinstance(lines, RunLines) else EVENT_BYTES * len(run.events))

    @property
    def spans(self) -> array[int] | None:
        """Where its lines are, as in `RunLines`; ``None`` where they cannot be found by place."""
        return self._ledger.spans if isinstance(self._ledger, RunLines) else None

    def let_go(self) -> None:
        """The run is read again when it is asked for."""
        self._held = None


Ledger = Callable[[RunSource], tuple[AnyEvent, ...] | None]
"""The events of a run up to its head, as its ledger is now; ``None`` where it no longer holds this run."""


class KeptLedger(Protocol):
    """The ledger that runs were read from elsewhere or before, as its table keeps it."""

    @property
    def scoring(self) -> tuple[GraphSet | None, tuple[str, ...]]:
        """The plan graphs and the rule for verdicts that the scores hold under."""

    @property
    def same(self) -> Same:
        """What its runs share with others."""

    def source(self, place: int) -> RunSource:
        """Where the run at a place in the table is read again."""

    def scored(self, place: int) -> ScoreRecord | None:
        """The score of the run at a place in the table; ``None`` where nobody has asked for it."""


class DistantRun(Run):
    """A run as `Run`, whose `events` are read from its ledger when somebody asks for a detail.

    What is kept of a run is made of its record when somebody asks: a page about one run needs nothing of the
    others.
    """

    about: RunRecord
    ledger: KeptLedger
    place: int

    def __init__(self, about: RunRecord, ledger: KeptLedger, place: int) -> None:
        """A run of a ledger's table.

        Args:
            about: what is known of it.
            ledger: that it is of.
            place: which run of it.
        """
        self.__dict__.update(
            integrity=about.integrity, digest=about.digest, about=about, ledger=ledger, place=place
        )
        if about.texts_to_judges is not None:
            self.__dict__[TEXTS_TO_JUDGES] = about.texts_to_judges
        if about.features:
            self.__dict__[FEATURES] = about.features

    @classmethod
    def lighter(
        cls,
        run: Run,
        at: RunSource,
        scored: ScoreRecord | None,
        *,
        scoring: tuple[GraphSet | None, tuple[str, ...]],
        same: Same,
    ) -> DistantRun:
        """What stays of a whole run: its detail is read again.

        Args:
            run: it.
            at: where.
            scored: its score.
            scoring: what that holds under.
            same: what it shares with other runs.
        """
        made = cls.__new__(cls)
        made.__dict__.update(
            integrity=run.integrity,
            source=run.source,
            appended_here=run.appended_here,
            digest=run.digest,
            own=run.own,
            tools=same.value(run.tools),
            at=at,
            scoring=scoring,
            scored=scored and same.record(scored),
            _same=same,
            kept=_by_kind(map(same.event, run.events)),
        )
        for name in (TEXTS_TO_JUDGES, FEATURES):
            if name in run.__dict__:
                made.__dict__[name] = run.__dict__[name]
        return made

    @cached_property
    def source(self) -> str:
        """As in `Run`."""
        return self.about.source

    @cached_property
    def appended_here(self) -> frozenset[int]:
        """As in `Run`."""
        return self.about.appended_here

    @cached_property
    def own(self) -> int:
        """As in `Run`."""
        return self.about.own

    @cached_property
    def tools(self) -> frozenset[str]:
        """As in `Run`."""
        return self._same.value(self.about.tools)

    @cached_property
    def kept(self) -> dict[int, Any]:
        """By place in `KINDS`, the events that are no `DETAIL`; encoded, where nobody has asked for them."""
        return self.about.events

    @cached_property
    def at(self) -> RunSource:
        """Where it is read again."""
        return self.ledger.source(self.place)

    @cached_property
    def scoring(self) -> tuple[GraphSet | None, tuple[str, ...]]:
        """The plan graphs and the rule for verdicts that `scored` holds under."""
        return self.ledger.scoring

    @cached_property
    def scored(self) -> ScoreRecord | None:
        """Its score; ``None`` where nobody has asked for it."""
        return self.ledger.scored(self.place)

    @cached_property
    def _same(self) -> Same:
        return self.ledger.same

    def __repr__(self) -> str:
        return f"<DistantRun {self.run_id!r} of {self.source}>"

    @cached_property
    def started(self) -> RunStarted:
        """As in `Run`."""
        return self.of(RunStarted)[0]

    def of(self, kind: type[E]) -> Sequence[E]:
        """As in `Run`."""
        if kind in DETAIL:
            return self.whole.of(kind)
        events = self.kept.get(KINDS[kind], ())
        if isinstance(events, bytes):
            found = _decoders[KINDS[kind]].decode(events)
            events = self.kept[KINDS[kind]] = tuple(map(self._same.event, found))
        return cast("Sequence[E]", events)

    @property
    def answers(self) -> Mapping[int, Observation]:
        """As in `Run`."""
        return self.whole.answers

    def __getattr__(self, name: str) -> Any:
        # `events` is no attribute of its own here, so that asking for it comes to this.
        if name != "events":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.whole.events

    @property
    def spans(self) -> array[int] | None:
        """Where its lines are, as of its source."""
        return self.at.spans

    @property
    def whole(self) -> Run:
        """The run as its source gives it."""
        return self.at()


class RunsAtHand:
    """The runs that were read or asked for last, whole, up to some bytes of lines."""

    def __init__(self, most: int) -> None:
        self._most, self._size, self._lock = most, 0, Lock()
        self._runs: deque[tuple[RunSource, int]] = deque()

    def allow(self, most: int) -> None:
        """So many bytes of lines from now on."""
        self._most = most

    def add(self, run: RunSource, size: int) -> None:
        """One more; it stays at least until the next."""
        with self._lock:
            self._runs.append((run, size))
            self._size += size
            while self._size > self._most and len(self._runs) > 1:
                oldest, freed = self._runs.popleft()
                oldest.let_go()
                self._size -= freed


AT_HAND: Final = RunsAtHand(HELD_BYTES)


class Same:
    """What many runs have in common, held once."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}
        self._situations: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def value(self, value: V) -> V:
        """This value, or the equal one that was here before."""
        return cast(V, self._values.setdefault(value, value))

    def record(self, record: ScoreRecord) -> ScoreRecord:
        """An equal record whose results are those of every run that ended so: they are counted together."""
        score = record.score
        if score is None:
            return record
        score = msgspec.structs.replace(
            score,
            results=self.value(score.results),
            completed_at=self.value(score.completed_at),
            mapped=tuple(map(self.value, score.mapped)),
            **{name: self.value(getattr(score, name)) for name in TEXTS},
        )
        return msgspec.structs.replace(record, score=score)

    def event(self, event: Any) -> Any:
        """An equal event, with names that others share."""
        if isinstance(event, SkillSelection):
            names = event.selected, event.context_hash, event.context_layers, event.alternatives
            key = *names[:3], *event.alternatives
            selected, context, layers, alternatives = self._situations.setdefault(key, names)
            return SkillSelection(
                run_id=self.value(event.run_id),
                seq=event.seq,
                ts=event.ts,
                prev=event.prev,
                selected=selected,
                alternatives=alternatives,
                context_hash=context,
                context=event.context,
                propensities=event.propensities,
                context_layers=layers,
            )
        if isinstance(event, RunStarted):
            agent, task_id = self.value(event.agent), self.value(event.task_id)
            # The first `prev` is always the same text: held once for all runs.
            return msgspec.structs.replace(event, agent=agent, task_id=task_id, prev=GENESIS)
        return event


def events_among(runs: Mapping[str, Run], run: RunSource) -> tuple[AnyEvent, ...] | None:
    """The events of a run up to its head among the runs of its ledger as it is now, by digest."""
    found, head = runs.get(run.digest), run.integrity.head
    if found and head and len(found.events) > head.events and not run.integrity.broken:
        # The line after the head names it.
        return found.events[: head.events] if found.events[head.events].prev == head.sha256 else None
    return found.events if found else None


def events_in(place: Place, run: RunSource) -> tuple[AnyEvent, ...] | None:
    """The events of a run that was read from this ledger."""
    return events_among(_runs_at(place, run.name), run)


@lru_cache(maxsize=FILES_OPEN)
def _runs_at(place: Place, name: str) -> dict[str, Run]:
    """The runs of a ledger, by digest; of the ledgers asked for last they are held."""
    with at_hand(place) as file:
        return {run.digest: run for run in read_ledger(file, strict=False, name=name)[0]}
