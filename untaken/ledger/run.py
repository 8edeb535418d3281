"""What reading a ledger gives: runs, their heads, and how far the file can be trusted."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from operator import attrgetter
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from untaken import limits
from untaken.caching import cached_property
from untaken.errors import Unscored, UntakenError, Where
from untaken.ledger.events import (
    ABOUT_RUN,
    AnyEvent,
    Event,
    Observation,
    RunFinished,
    RunStarted,
    Sha256,
    SkillSelection,
    ToolCall,
    event_type,
    readable,
)

IntegrityVerdict = Literal["INTACT", "UNANCHORED", "TRUNCATED", "ALTERED", "MALFORMED"]
BROKEN: frozenset[IntegrityVerdict] = frozenset({"TRUNCATED", "ALTERED", "MALFORMED"})
E = TypeVar("E", bound=Event)
CLOCKS_FROM: Final = datetime(2001, 1, 1, tzinfo=UTC)
"""Importers write earlier times where a trace has none; no agent ran then."""
VERSION_KEYS: Final = ("version", "agent_version")
"""Keys of RUN_STARTED.metadata that name the agent's version; the first one there counts."""
TEXTS_TO_JUDGES: Final = "texts_to_judges"
"""Where a run keeps what `untaken.judging` has found in its texts: (seq, quote) of each."""


class Head(Struct, frozen=True, kw_only=True):
    """The end of a run's hash chain: how many events, and the SHA-256 of the last line."""

    events: Annotated[int, Meta(ge=1, le=limits.EVENTS_PER_RUN)]
    sha256: Sha256


class Draft(Struct, frozen=True):
    """An event still without a place in a chain: a writer gives it `run_id`, `seq`, `prev` and maybe `ts`."""

    event: type[Event]
    fields: Mapping[str, Any]
    ts: datetime | None = None


class Integrity(Struct, frozen=True, kw_only=True):
    """The integrity verdict of one run (§1).

    Attributes:
        run_id: the run; empty for a fault of the file that no single run can be charged with.
        verdict: exactly one of the five.
        reason: the verdict in words, with what it does not prove.
        line: 1-based number of the first bad line of the file, if any.
        column: 1-based column in it, where known.
        head: the chain's end as read from the file (``None`` for a run with no readable event).
    """

    run_id: str
    verdict: IntegrityVerdict
    reason: str
    line: int | None = None
    column: int | None = None
    head: Head | None = None

    @property
    def broken(self) -> bool:
        """True where nothing may be concluded from the run (TRUNCATED, ALTERED, MALFORMED)."""
        return self.verdict in BROKEN


# No slots: a cached property keeps its value in the object's `__dict__`.
@dataclass(frozen=True, kw_only=True)
class Run:
    """One run as read: its events in order and the verdict on their integrity.

    Attributes:
        events: all readable events, post-run events included, ordered by `seq`.
        integrity: how far the record can be trusted.
        source: name of the file it was read from, for messages.
        appended_here: `seq` of the events that the workspace it is read from appended itself.
    """

    events: tuple[AnyEvent, ...]
    integrity: Integrity
    source: str = ""
    appended_here: frozenset[int] = frozenset()

    def refuse_broken(self) -> None:
        """Nothing is concluded from a broken run.

        Raises:
            UntakenError: ``run-broken``.
        """
        found = self.integrity
        if found.broken:
            raise UntakenError(
                "run-broken",
                f"the run is {found.verdict}: it cannot be used ({found.reason})",
                where=Where(file=self.source or None, line=found.line, run=self.run_id),
                hint="Restore the original ledger, or leave the run out.",
            )

    @property
    def spans(self) -> array[int] | None:
        """Where its lines are in its ledger, as in `RunLines`; ``None`` where that is not known."""
        return None

    @property
    def run_id(self) -> str:
        """The id the ledger gives this run (untrusted text)."""
        return self.integrity.run_id

    @cached_property
    def started(self) -> RunStarted:
        """The first event; readers return no run without it."""
        first = self.events[0]
        if not isinstance(first, RunStarted):
            raise TypeError("a Run begins with RUN_STARTED")
        return first

    def of(self, kind: type[E]) -> Sequence[E]:
        """The events of one kind, in order; all kinds are sorted out in one pass over the run."""
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[type[Event], list[Any]]:
        found: dict[type[Event], list[Any]] = defaultdict(list)
        for event in self.events:
            found[type(event)].append(event)
        return dict(found)

    @cached_property
    def finished(self) -> RunFinished | None:
        """The outcome, or ``None`` for a run that never finished."""
        return next(iter(self.of(RunFinished)), None)

    def imported(self, event: Event) -> bool:
        """Whether an event was imported with a file, whose author may have signed with any name."""
        return event.seq not in self.appended_here

    @property
    def actions(self) -> Sequence[ToolCall]:
        """The tool calls, in order."""
        return self.of(ToolCall)

    @cached_property
    def tools(self) -> frozenset[str]:
        """Names of the tools that were called."""
        return frozenset([call.tool for call in self.actions])

    @cached_property
    def answers(self) -> Mapping[int, Observation]:
        """The last recorded answer to each tool call, by the call's `seq`; calls without one are left out."""
        during = self.of(Observation)
        if self.finished is not None and during and during[-1].seq > self.finished.seq:
            during = [answer for answer in during if answer.seq < self.finished.seq]
        return {call.seq: answer for answer, call in paired(self.actions, during) if call is not None}

    @cached_property
    def selections(self) -> tuple[SkillSelection, ...]:
        """The decision points before RUN_FINISHED, in order."""
        end = self.finished.seq if self.finished else float("inf")
        return tuple([event for event in self.of(SkillSelection) if event.seq < end])

    @cached_property
    def digest(self) -> str:
        """Content digest: SHA-256 of the run's own last line, which chains over all before it. Id for links.

        What was written about the run later (verdicts, notes, insights) does not change it.
        """
        last = self.integrity.head.sha256 if self.integrity.head else ""
        if not self.integrity.broken:  # the line after the run's own last one names that line's hash
            return self.events[self.own].prev if self.own < len(self.events) else last
        # Read up to its fault, its last line may be one of the undamaged run, whose digest it must not have.
        mark = f"{last} {self.integrity.verdict} {self.integrity.line} {self.source}"
        return sha256(mark.encode()).hexdigest()

    @cached_property
    def trail(self) -> str:
        """A digest of what it did: equal for copies of one run, whatever their ids and times (`trail_of`)."""
        return trail_of(self.events[: self.own])

    @cached_property
    def own(self) -> int:
        """How many events are the run's own: those up to RUN_FINISHED, or before what others wrote last."""
        if self.finished is not None:
            return self.finished.seq + 1
        written = reversed(self.events)
        return next((event.seq + 1 for event in written if not isinstance(event, ABOUT_RUN)), 0)

    @property
    def agent(self) -> str:
        """Who ran."""
        return self.started.agent

    @property
    def version(self) -> str | None:
        """The version of the agent: as RUN_STARTED records it, else under a name of `VERSION_KEYS`."""
        return self._recorded(self.started.version, VERSION_KEYS)

    @property
    def prompt_version(self) -> str | None:
        """The version of its prompt: as RUN_STARTED records it, else as its metadata does."""
        return self._recorded(self.started.prompt_version, ("prompt_version",))

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """Who ran, with what is recorded of what can change an agent: name, model, version, prompt version.

        Empty where one is not recorded.
        """
        return self.agent, self.started.model or "", self.version or "", self.prompt_version or ""

    def named(self, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """What its metadata has under some names, each with its value, where it has any."""
        found = ((name, readable((self.started.metadata or {}).get(name))) for name in names)
        return tuple((name, value) for name, value in found if value is not None)

    @property
    def started_at(self) -> datetime | None:
        """When it began; ``None`` where its trace carried no clock and an importer made one up."""
        return self.started.ts if self.started.ts >= CLOCKS_FROM else None

    def _recorded(self, field: object, keys: Sequence[str]) -> str | None:
        metadata = self.started.metadata or {}
        return next((named for each in (field, *map(metadata.get, keys)) if (named := readable(each))), None)

    @property
    def task_id(self) -> str:
        """What was to be done."""
        return self.started.task_id

    @property
    def success(self) -> bool | Unscored:
        """The outcome bit, unscored where it was not recorded."""
        if self.finished is None:
            return Unscored("the run did not finish")
        if self.finished.success is None:
            return Unscored("RUN_FINISHED records no success")
        return self.finished.success


def trails_of_copies(runs: Iterable[Run]) -> dict[str, str]:
    """The trail of every run that may have a copy among these, by digest; others need none.

    Runs of one task and identity with one trail are copies: a run that was logged again, or a deterministic
    agent that did the same again. They say no more than one of them.
    """
    # A trail hashes every event. Runs that differ in one of these cheap things need none.
    alike: dict[tuple[object, ...], dict[str, Run]] = defaultdict(dict)
    for run in runs:
        end = run.finished
        outcome = (end.success, end.cost, end.steps, end.error) if end else ()
        chosen = tuple([(event.selected, event.context_hash) for event in run.selections])
        alike[run.task_id, run.identity, run.own, outcome, chosen, run.tools][run.digest] = run
    several = (some for some in alike.values() if len(some) > 1)
    return {digest: run.trail for some in several for digest, run in some.items()}


def copies_of(runs: Iterable[Run]) -> dict[str, str]:
    """The runs that are copies of an earlier one of these, each with that one, by digest."""
    by_digest = {run.digest: run for run in runs}
    first: dict[tuple[str, ...], str] = {}
    found = {}
    for digest, trail in trails_of_copies(by_digest.values()).items():
        run = by_digest[digest]
        original = first.setdefault((run.task_id, *run.identity, trail), digest)
        if original != digest:
            found[digest] = original
    return found


def paired(
    calls: Sequence[ToolCall], observations: Iterable[Observation]
) -> Iterator[tuple[Observation, ToolCall | None]]:
    """Each observation with the call it answers: the latest one of its `call_id`, without an id the call
    before it; ``None`` where there is no such call.
    """
    coming = iter(calls)
    call = next(coming, None)
    made: ToolCall | None = None
    by_id: dict[str, ToolCall] = {}
    for event in observations:
        while call is not None and call.seq <= event.seq:  # equal: added to a copy of a run, after its call
            made = by_id[call.call_id] = call
            call = next(coming, None)
        yield event, made if event.call_id is None else by_id.get(event.call_id)


_TIMES: Final = ("time", "duration", "latency", "seconds", "_ms")
"""Parts of the names of metrics that measure time."""
_ENVELOPE: Final = len(Event.__struct_fields__)
_OF_REVIEW: Final = frozenset({"settles", "blind", "made_with"})
"""Fields that say how somebody reviewed. Kept memories hold trails without them: with them, a copy of a run
that a memory has already learned from would count again."""
_NOT_PLAIN: Final = frozenset({RunStarted, RunFinished})
_encode = msgspec.json.Encoder().encode
_DIGITS: Final = 20
"""Enough to tell a billion runs apart."""


def trail_of(events: Iterable[Event]) -> str:
    """A digest of all events say but run id, call ids, repeat number, seq, prev, times and `_OF_REVIEW`."""
    return sha256(_encode(list(_contents(events)))).hexdigest()[:_DIGITS]


def _contents(events: Iterable[Event]) -> Iterator[tuple[Any, ...]]:
    calls: dict[str | None, int] = {}
    for event in events:
        kind = type(event)
        name, fields = _READERS[kind]
        if kind is ToolCall:
            calls[event.call_id] = len(calls)  # type: ignore[attr-defined]
            yield name, *fields(event)
        elif kind is Observation:
            yield name, calls.get(event.call_id), *fields(event)  # type: ignore[attr-defined]
        else:
            yield name, *fields(_plain(event) if kind in _NOT_PLAIN else event)


class _Readers(dict[type[Event], tuple[str, Callable[[Event], tuple[Any, ...]]]]):
    """By class of events, its name and what takes from one all that is said of what was done."""

    def __missing__(self, kind: type[Event]) -> tuple[str, Callable[[Event], tuple[Any, ...]]]:
        # `call_id` comes first in both, and is replaced by the number of the call.
        fields = kind.__struct_fields__[_ENVELOPE + issubclass(kind, ToolCall | Observation) :]
        names = tuple([name for name in fields if name not in _OF_REVIEW])
        one_by_one = attrgetter(*names) if len(names) > 1 else partial(_fields, names)
        self[kind] = event_type(kind), one_by_one
        return self[kind]


_READERS: Final = _Readers()


def _fields(names: tuple[str, ...], event: Event) -> tuple[Any, ...]:
    return tuple([getattr(event, name) for name in names])


def _plain(event: Event) -> Event:
    """Without which repeat of the task it is, or how long it took."""
    if isinstance(event, RunStarted):
        return msgspec.structs.replace(event, task_repeat=None)
    if isinstance(event, RunFinished) and event.metrics:
        timed = {name for name in event.metrics if any(part in name.lower() for part in _TIMES)}
        kept = {name: value for name, value in event.metrics.items() if name not in timed}
        return msgspec.structs.replace(event, metrics=kept)
    return event
