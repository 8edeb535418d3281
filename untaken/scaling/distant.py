"""A run read elsewhere or before: decisions and outcome are here, the rest is read when asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar, cast

import msgspec

from untaken.errors import Finding, Unscored, UntakenError, Where
from untaken.ledger import (
    AnyEvent,
    Event,
    Integrity,
    Message,
    Observation,
    Plan,
    Run,
    RunStarted,
    State,
    ToolCall,
    read_ledger,
)
from untaken.ledger.model import TEXTS_TO_JUDGES
from untaken.plans import GraphSet
from untaken.scaling.places import Place, at_hand
from untaken.subgoals import MissingRule, RunScore

E = TypeVar("E", bound=Event)
DETAIL: Final = frozenset({Message, Observation, Plan, State, ToolCall})
"""Events that stay in the ledger: by far the most of its bytes."""
FILES_OPEN: Final = 2
"""Ledgers whose runs are held, once their detail was asked for."""

_events = msgspec.json.Decoder(tuple[AnyEvent, ...])


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

    @property
    def value(self) -> RunScore | Unscored:
        """The score, or why there is none."""
        return Unscored(self.why) if self.score is None else self.score


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent or kept of a run.

    Attributes:
        events: those that are no `DETAIL`, as a JSON array: it keeps the time zones as written.
        own: number of the run's own events; `tools` the names of those it called.
        appended_here: as of `Run`.
        texts_to_judges: as of `TEXTS_TO_JUDGES`; ``None`` where nobody has looked.
        scored: under each rule that was asked for.
    """

    events: bytes
    integrity: Integrity
    source: str
    digest: str
    own: int
    tools: frozenset[str]
    appended_here: frozenset[int] = frozenset()
    texts_to_judges: tuple[tuple[int, str], ...] | None = None
    scored: tuple[ScoreRecord, ...] = ()

    @classmethod
    def of(cls, run: Run, scored: Iterable[ScoreRecord] = ()) -> RunRecord:
        """The record of a run."""
        kept = run.kept if isinstance(run, DistantRun) else [e for e in run.events if type(e) not in DETAIL]
        return cls(
            events=msgspec.json.encode(kept),
            integrity=run.integrity,
            source=run.source,
            digest=run.digest,
            own=run.own,
            tools=run.tools,
            appended_here=run.appended_here,
            texts_to_judges=run.__dict__.get(TEXTS_TO_JUDGES),
            scored=tuple(scored),
        )


Ledger = Callable[[], Mapping[str, Run]]
"""The runs of a ledger as it is now, by digest."""


class DistantRun(Run):
    """A run as `Run`, whose `events` are read from its ledger when somebody asks for a detail.

    Attributes:
        kept: the events that are no `DETAIL`.
        graphs, verdicts: what `scored` holds under.
        scored: scores by the rule for missing verdicts.
    """

    kept: tuple[AnyEvent, ...]
    graphs: GraphSet | None
    verdicts: tuple[str, ...]
    scored: Mapping[MissingRule, ScoreRecord]

    def __init__(
        self,
        record: RunRecord,
        ledger: Ledger | None,
        *,
        graphs: GraphSet | None = None,
        verdicts: tuple[str, ...] = (),
    ) -> None:
        """A run of a ledger; without one, its detail cannot be asked for."""
        self.__dict__.update(
            integrity=record.integrity,
            source=record.source,
            appended_here=record.appended_here,
            kept=_events.decode(record.events),
            digest=record.digest,
            own=record.own,
            tools=record.tools,
            graphs=graphs,
            verdicts=verdicts,
            scored={each.missing: each for each in record.scored},
            _ledger=ledger,
        )
        if record.texts_to_judges is not None:
            self.__dict__[TEXTS_TO_JUDGES] = record.texts_to_judges

    def __repr__(self) -> str:
        return f"<DistantRun {self.run_id!r} of {self.source}>"

    @cached_property
    def started(self) -> RunStarted:
        """As in `Run`."""
        return cast(RunStarted, self.kept[0])

    def of(self, kind: type[E]) -> Sequence[E]:
        """As in `Run`."""
        return super().of(kind) if kind in DETAIL else cast(Sequence[E], self._kept_by_kind.get(kind, ()))

    @cached_property
    def _kept_by_kind(self) -> dict[type[Event], list[AnyEvent]]:
        found: dict[type[Event], list[AnyEvent]] = defaultdict(list)
        for event in self.kept:
            found[type(event)].append(event)
        return dict(found)

    def __getattr__(self, name: str) -> Any:
        if name != "events":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._read()

    def _read(self) -> tuple[AnyEvent, ...]:
        """The events that were read before, from the ledger as it is now; more may have been appended.

        Raises:
            UntakenError: ``ledger-changed`` where it no longer holds this very run.
        """
        ledger: Ledger | None = self.__dict__["_ledger"]
        run, head = ledger().get(self.digest) if ledger else None, self.integrity.head
        if run and head and len(run.events) > head.events and not self.integrity.broken:
            same = run.events[head.events].prev == head.sha256
            run = replace(run, events=run.events[: head.events]) if same else None
        if run is None:
            raise UntakenError(
                "ledger-changed",
                "the ledger no longer holds this run as it was read before",
                where=Where(file=self.source, run=self.run_id),
                hint="Evaluate the ledgers again, while nobody writes to them.",
            )
        return run.events


@lru_cache(maxsize=FILES_OPEN)
def runs_at(place: Place, name: str) -> dict[str, Run]:
    """The runs of a ledger, by digest; of the ledgers asked for last they are held."""
    with at_hand(place) as file:
        return {run.digest: run for run in read_ledger(file, strict=False, name=name)[0]}
