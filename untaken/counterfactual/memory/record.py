"""Policy memory: an append-only log of what happened, its file, and what a fold of it says (§3).

A line of the file (`*.memory.jsonl`) is canonical as `line_of` writes it. A person's script may format it
otherwise, but every line must be one well-formed observation with no unknown, missing or repeated field.

Repeated choices in one run share its one outcome, so that intervals count effective runs (`Spread.n`). Weak
records move an estimate and never narrow its interval: they were not observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from untaken import limits, stats
from untaken.counterfactual.memory.lines import encode, numbered, parse, replace_lines
from untaken.counterfactual.memory.sums import WEIGHTS, Spread, Sums
from untaken.errors import Score, Unscored, UntakenError, Where
from untaken.ledger import Instant, Layers, Name, check_layers

RUNS_NAMED: Final = 20
"""Most run ids that a record names; it counts all of them."""
Kind = Literal["outcome", "weak"]
Amount = Annotated[float, Meta(ge=0.0)]


class Observed(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """One line of the log: how a skill fared in a context, in one run.

    `kind` ``outcome`` is an observation, ``weak`` a speculation with a smaller `weight`. `key` makes an
    append idempotent. `cost` and `steps` are the run's own, ``None`` where it did not record them. `ts` is
    the moment from which the observation is known: the run's RUN_FINISHED. `context_layers` is set if the
    decision point had layers (never in a ``weak`` one, which only concerns the finest context).
    `task_id`, `agent`, `model`, `version` and `prompt_version` are the run's, as far as they are known, and
    `started` is when it began; a ``weak`` one has none of them, nor have files of earlier versions all.
    `named` is what the run's metadata has under the names that the workspace adds to its identity.
    `trail` is set if the run may have copies among those that the memory was built of (`Run.trail`).
    """

    key: Annotated[str, Meta(min_length=1, max_length=limits.MEMORY_KEY_CHARS)]
    kind: Kind
    skill: Name
    context_hash: Name
    success: Annotated[float, Meta(ge=0.0, le=1.0)]
    cost: Amount | None
    steps: Amount | None
    weight: Annotated[float, Meta(gt=0.0, le=1.0)]
    run_id: Name
    ts: Instant
    cost_unit: str = "usd"
    # UNSET is not written: lines of earlier versions, which lack a field, stay canonical.
    context_layers: Layers | UnsetType = UNSET
    task_id: Name | UnsetType = UNSET
    agent: Name | UnsetType = UNSET
    model: str | UnsetType = UNSET
    version: str | UnsetType = UNSET
    prompt_version: str | UnsetType = UNSET
    started: Instant | UnsetType = UNSET
    trail: str | UnsetType = UNSET
    named: tuple[tuple[Name, str], ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.context_layers is not UNSET:
            check_layers(self.context_hash, self.context_layers)

    @property
    def without_trail(self) -> Observed:
        """What it says by itself: a trail says that there are other runs, which may be later ones."""
        return self if self.trail is UNSET else replace(self, trail=UNSET)

    @property
    def unit(self) -> tuple[object, ...]:
        """What copies of its run have in common, and nobody else: they count as one run in tests (§2a)."""
        if self.trail is UNSET:
            return (self.run_id,)
        identity = self.agent, self.model, self.version, self.prompt_version, self.named
        return self.task_id, *identity, self.trail

    @property
    def layers(self) -> tuple[str, ...]:
        """Every context that it counts in, from fine to coarse."""
        return (self.context_hash,) if self.context_layers is UNSET else self.context_layers


@dataclass(frozen=True, kw_only=True)
class Record:
    """History of one (skill, context) in a snapshot.

    Attributes:
        n: number of ``outcome`` records (weak ones never count), at least 1.
        success_rate: weighted mean of success over both kinds; weak weight capped at half of `n`.
        avg_cost, avg_steps: means over outcome records that have the figure; unscored where none has.
        weak_weight: weight that the weak records have in `success_rate`, after the cap.
        n_runs: number of different runs behind the outcomes.
        sums: what all of this is computed from.
        oldest, newest: from when the first and the last of the outcomes were known.
        runs: their ids in log order, the latest `RUNS_NAMED` of them (naming all would make N evaluations
            O(N²)).
    """

    skill: str
    context_hash: str
    n: int
    success_rate: Score
    avg_cost: Score
    avg_steps: Score
    weak_weight: float
    n_runs: int
    runs: tuple[str, ...]
    sums: Sums = field(repr=False)
    oldest: datetime
    newest: datetime

    @cached_property
    def spread(self) -> Spread:
        """How far the outcomes scatter; computed when first asked for."""
        return self.sums.spread


class ValueRange(Struct, frozen=True, kw_only=True, gc=False):
    """Smallest and largest of a quantity over all runs in the snapshot, for normalising."""

    low: float
    high: float

    def normalise(self, value: float) -> float:
        """(value − low) / (high − low), clamped to [0, 1]; 0 where high = low (§2.3)."""
        if self.high <= self.low:
            return 0.0
        # A run is left out of the spans that it is scored by: its own figures can lie outside.
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


class Spans(Struct, frozen=True, kw_only=True, gc=False):
    """Span of cost and of steps; ``None`` where no run in the snapshot has the figure."""

    cost: ValueRange | None
    steps: ValueRange | None


_HINT: Final = "rebuild the memory from its ledgers with `untaken memory build`"
_AT_ONCE: Final = 4096
_decoder = msgspec.json.Decoder(Observed)
_encode_lines = msgspec.json.Encoder().encode_lines


def line_of(observed: Observed) -> bytes:
    """The observation as one canonical line, newline included."""
    return encode(observed) + b"\n"


def checked(observed: Observed, where: Where | None = None) -> Observed:
    """The observation as its own line reads back, in UTC: what is stored is what will be loaded.

    Raises:
        UntakenError: ``memory-invalid`` where a field is out of range, or does not survive being written
            (NaN).
    """
    try:
        stored = _decoder.decode(encode(observed))
    except (msgspec.MsgspecError, UnicodeError, TypeError) as error:
        raise _invalid(f"an observation cannot be stored: {error}", where) from error
    # NaN is written as null, which reads back as a cost that nobody recorded.
    if stored != observed:
        raise _invalid("an observation has a number that JSON cannot hold", where)
    return _in_form(stored, where)


def all_checked(observations: Iterable[Observed]) -> Iterator[list[Observed]]:
    """`checked` of each, in order; many at a time are written and read back at once.

    Those that read back as they are stay the objects that they are: they share their texts with their run.
    """
    coming = iter(observations)
    while some := list(islice(coming, _AT_ONCE)):
        yield from [some] if _in_form_already(some) else ([checked(one)] for one in some)


def _in_form_already(some: list[Observed]) -> bool:
    try:
        lines = _encode_lines(some)
        stored = _decoder.decode_lines(lines)
    except (msgspec.MsgspecError, UnicodeError, TypeError):  # each alone then: that names the one at fault
        return False
    # By identity: the same moment in another zone is equal, and is written otherwise.
    in_form = all(o.weight == WEIGHTS[o.kind] and o.ts.tzinfo is UTC for o in some)
    # 1 equals 1.0, and is written otherwise.
    return in_form and stored == some and _encode_lines(stored) == lines


def parse_line(line: bytes, where: Where) -> Observed:
    """The observation on one line.

    Raises:
        UntakenError: ``memory-malformed`` for bytes that are no observation, ``memory-invalid`` for wrong
            figures.
    """
    return _in_form(parse(line, _decoder, where, what="an observation", hint=_HINT), where)


def read_log(path: Path) -> Iterator[tuple[Observed, Where]]:
    """Every observation of a file with its place, in file order, in bounded memory.

    Raises:
        UntakenError: ``memory-missing``, ``memory-too-large``, ``memory-malformed``, ``memory-invalid``.
    """
    try:
        file = path.open("rb")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UntakenError(
            "memory-missing",
            "no policy memory found",
            where=Where(file=str(path)),
            hint="build one with `untaken memory build`",
        ) from error
    with file:
        for line, where in numbered(file, path.name):
            yield parse_line(line, where), where


def write_log(path: Path, log: Iterable[Observed]) -> None:
    """Replace the file by these observations, as canonical lines."""
    replace_lines(path, map(line_of, log))


def _in_form(observed: Observed, where: Where | None) -> Observed:
    if observed.weight != WEIGHTS[observed.kind]:
        raise _invalid(f"the weight of a {observed.kind} record is {WEIGHTS[observed.kind]}", where)
    if observed.ts.tzinfo is UTC:
        return observed
    try:
        return msgspec.structs.replace(observed, ts=observed.ts.astimezone(UTC))
    except OverflowError as error:
        raise _invalid("the time is outside the supported range in UTC", where) from error


def _invalid(message: str, where: Where | None) -> UntakenError:
    hint = "an observation has success 0..1, cost and steps ≥ 0 or null, and a moment with a time zone"
    return UntakenError("memory-invalid", message, where=where, hint=hint)


Interval = tuple[float, float] | Unscored
_ONE_RUN: Final = Unscored("one run has no spread")


def success_interval(record: Record) -> Interval:
    """Equal-tailed interval of the posterior Beta(½ + s, ½ + f) of the success rate.

    s + f is the effective number of runs and s / (s + f) the record's success rate.
    """
    rate = record.success_rate
    return rate if isinstance(rate, Unscored) else stats.beta_interval(rate, record.spread.n)


def cost_interval(record: Record) -> Interval:
    """Interval of the mean cost by Student's t over effective runs; unscored below two."""
    return _mean(record.avg_cost, record.spread.cost_sd, record.spread.n)


def steps_interval(record: Record) -> Interval:
    """Interval of the mean number of steps."""
    return _mean(record.avg_steps, record.spread.steps_sd, record.spread.n)


def _mean(value: Score, deviation: Score, runs: float) -> Interval:
    """Mean ± t · sd / √n, never below 0: costs and steps are not."""
    if isinstance(value, Unscored):
        return value
    if isinstance(deviation, Unscored) or runs <= 1:
        return _ONE_RUN
    return stats.around(value, deviation, runs, least=0.0)
