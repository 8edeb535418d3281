"""The policy memory itself: a log that only grows, and its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from untaken.counterfactual.memory.lines import locked
from untaken.counterfactual.memory.observing import collect
from untaken.counterfactual.memory.record import Observed, all_checked, read_log, write_log
from untaken.counterfactual.memory.snapshot import Snapshot
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import Run

if TYPE_CHECKING:
    from untaken.counterfactual.memory.history import History


class PolicyMemory:
    """An append-only log of observations; snapshots are folds of it up to a moment.

    Attributes:
        findings: what `build` left out, and why.
    """

    def __init__(self, log: Iterable[Observed] = (), *, findings: tuple[Finding, ...] = ()) -> None:
        """A memory holding `log`, in the order given.

        Raises:
            UntakenError: as `extend`.
        """
        self.findings = findings
        self._by_key: dict[str, Observed] = {}
        self._cost_unit: str | None = None
        self._history: History | None = None
        self._source: Path | None = None
        self.extend(log)

    @classmethod
    def build(
        cls, runs: Iterable[Run], *, applied: Iterable[Observed] = (), identity: Sequence[str] = ()
    ) -> Self:
        """One outcome per decision point of each finished, unbroken run with a known success.

        The same runs give the same bytes in any order. What is left out is counted in `findings`.
        `identity` names metadata of runs that can change their agents.
        """
        observations, findings = collect(runs, identity=identity)
        memory = cls(findings=findings)
        # Made of typed events under keys of their own, in one unit: they need no check.
        memory._by_key = {observed.key: observed for observed in observations}
        memory._cost_unit = next((o.cost_unit for o in observations if o.cost is not None), None)
        memory.extend(applied)
        return memory

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a memory file strictly.

        Raises:
            UntakenError: ``memory-missing``, ``memory-too-large``, ``memory-malformed``, ``memory-invalid``,
                ``memory-conflict``, ``memory-cost-unit``; with file and line.
        """
        memory = cls()
        for observed, where in read_log(Path(path)):
            memory._admit(observed, memory._by_key, where)  # the reader has checked it
        memory._source = Path(path).resolve()
        return memory

    def save(self, path: str | PathLike[str]) -> None:
        """Write the log, in its order, as canonical lines; the file is replaced in one step, under its lock.

        Saved back where it was loaded from or saved before, it loses nothing that another process saved there
        since: those observations come first, then what is new here.

        Raises:
            UntakenError: ``memory-locked``; ``memory-conflict`` or ``memory-cost-unit`` where what another
                process saved contradicts what is new here (nothing is written); as `load`.
        """
        target = Path(path)
        with locked(target):
            if target.resolve() == self._source and target.exists():
                known = type(self).load(target)
                known.extend(self.log)
                self._by_key, self._cost_unit, self._history = known._by_key, known._cost_unit, None
            write_log(target, self._by_key.values())
            self._source = target.resolve()

    @property
    def log(self) -> tuple[Observed, ...]:
        """All observations, in the order they were appended."""
        return tuple(self._by_key.values())

    @property
    def moments(self) -> tuple[datetime, ...]:
        """Every moment at which something became known, in order."""
        return tuple(sorted({observed.ts for observed in self._by_key.values()}))

    def get(self, key: str) -> Observed | None:
        """The observation under a key."""
        return self._by_key.get(key)

    def append(self, observed: Observed) -> bool:
        """Add one observation; false where the very same one is there already.

        Raises:
            UntakenError: as `extend`.
        """
        return self.extend([observed]) == 1

    def extend(self, observations: Iterable[Observed]) -> int:
        """Add observations, all or none; an observation that is there already (key and payload) is no-op.

        Returns:
            How many were new.

        Raises:
            UntakenError: ``memory-conflict`` for a key known with another payload, ``memory-cost-unit`` for a
                cost in another unit than the log's, ``memory-invalid`` for figures out of range.
        """
        unit, new = self._cost_unit, dict[str, Observed]()  # all or none: the unit goes back, too
        try:
            for some in all_checked(observations):
                self._admit_all(some, new)
        except BaseException:  # interruptions, too: the unit of what was not taken in must not stay
            self._cost_unit = unit
            raise
        self._by_key.update(new)
        if new:
            self._history = None
        return len(new)

    def snapshot(self, as_of: datetime | None = None) -> Snapshot:
        """What was known at `as_of`, that very moment included; everything for ``None``."""
        if self._history is None:
            from untaken.counterfactual.memory.history import History  # noqa: PLC0415 (slow: it loads NumPy)

            self._history = History(self._by_key.values())
        return Snapshot(
            history=self._history,
            as_of=as_of,
            cost_unit=self._cost_unit,
            observations=self._history.cut(as_of),
        )

    def __len__(self) -> int:
        return len(self._by_key)

    def __reduce__(self) -> tuple[Any, ...]:
        """Workers get the log and fold it themselves; the indexes are many times its size."""
        return _restored, (type(self), self.log, self.findings)

    def _admit_all(self, some: list[Observed], into: dict[str, Observed]) -> None:
        """`_admit` each; those that have all new keys, and costs in the log's unit, at once."""
        fresh = {observed.key: observed for observed in some}
        units = {observed.cost_unit for observed in some if observed.cost is not None}
        known = fresh.keys() & self._by_key.keys() or fresh.keys() & into.keys()
        if len(fresh) == len(some) and units <= {self._cost_unit} and not known:
            into |= fresh
            return
        for observed in some:
            self._admit(observed, into, None)

    def _admit(self, observed: Observed, into: dict[str, Observed], where: Where | None) -> None:
        """Put a checked observation into `into`, unless it is known."""
        known = self._by_key.get(observed.key) or into.get(observed.key)
        if known is not None and known.without_trail != observed.without_trail:
            raise UntakenError(
                "memory-conflict",
                f"the key {observed.key!r} is known with another payload",
                where=where or Where(run=observed.run_id),
                hint="two different runs may share one run id; rebuild the memory from the ledgers",
            )
        if observed.cost is not None:
            self._cost_unit = self._cost_unit or observed.cost_unit
            if observed.cost_unit != self._cost_unit:
                raise UntakenError(
                    "memory-cost-unit",
                    f"a cost in {observed.cost_unit!r} among costs in {self._cost_unit!r}",
                    where=where or Where(run=observed.run_id),
                    hint="costs in different units cannot be compared; keep one memory per unit",
                )
        if known is None:
            into[observed.key] = observed


Memories = Mapping[str, PolicyMemory]
"""The memory that each run is compared with, by the run's content digest."""


def by_memory(memories: Memories, digests: Iterable[str]) -> list[tuple[PolicyMemory, list[str]]]:
    """Each memory once with those of the runs that are compared with it, in the order in which they come."""
    found: dict[int, tuple[PolicyMemory, list[str]]] = {}
    for digest in digests:
        memory = memories[digest]
        found.setdefault(id(memory), (memory, []))[1].append(digest)
    return list(found.values())


def _restored(
    kind: type[PolicyMemory], log: tuple[Observed, ...], findings: tuple[Finding, ...]
) -> PolicyMemory:
    return kind(log, findings=findings)
