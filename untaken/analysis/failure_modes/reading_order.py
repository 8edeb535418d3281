"""Which run to read next: the one that teaches most, or a random draw (§9)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from untaken.analysis.failure_modes.shapes import Shape
from untaken.judging import verdict_agreement
from untaken.ledger import Run
from untaken.numbers import counted

Why = Literal["unseen shape", "judge and people disagree", "another of a shape"]


class ToRead(Struct, frozen=True, kw_only=True):
    """A run to read.

    Attributes:
        run: its content digest.
        shape: how it went; `alike`: number of unread runs of the same shape, itself included.
        disagreements: sub-goals on which a judge and people differ.
    """

    run: str
    why: Why
    shape: Shape
    alike: int
    disagreements: tuple[str, ...]

    @property
    def words(self) -> str:
        """Why this run, in words."""
        if self.why == "unseen shape":
            others = f"; {counted(self.alike - 1, 'other')} like it" if self.alike > 1 else ""
            return f"no run like it was read{others}"
        if self.why == "judge and people disagree":
            return f"judge and people disagree on {counted(len(self.disagreements), 'sub-goal')}"
        return "like a run that was read or comes before it"


def reading_order(
    unread: Sequence[str],
    shapes: Mapping[str, Shape],
    *,
    read: Collection[str] = (),
    disagreements: Mapping[str, Sequence[str]] | None = None,
) -> tuple[ToRead, ...]:
    """The unread runs, those that teach most first.

    One run of each shape that no read run has, the most frequent shape first; then runs with sub-goals on
    which a judge and people disagree, those with most first; then the rest. Inside each, as given.
    """
    known = {shapes[run] for run in read}
    frequent = Counter(shapes[run] for run in unread)
    disagreed = disagreements or {}
    found: list[ToRead] = []
    for run in unread:
        shape, nodes = shapes[run], tuple(disagreed.get(run, ()))
        why: Why = "judge and people disagree" if nodes else "another of a shape"
        if shape not in known:
            known.add(shape)  # the next of this shape teaches less
            why = "unseen shape"
        found.append(ToRead(run=run, why=why, shape=shape, alike=frequent[shape], disagreements=nodes))
    return tuple(sorted(found, key=_place))


def _place(one: ToRead) -> tuple[int, int]:
    if one.why == "unseen shape":
        return 0, -one.alike
    return (1, -len(one.disagreements)) if one.disagreements else (2, 0)


def judge_disagreements(runs: Iterable[Run]) -> dict[str, tuple[str, ...]]:
    """The sub-goals of each run on which judges and people differ, by digest; runs without are left out."""
    found: dict[str, list[str]] = defaultdict(list)
    for pair in verdict_agreement(runs).disagreements:
        found[pair.digest].append(pair.sub_goal)
    return {run: tuple(nodes) for run, nodes in found.items()}


def random_order(runs: Iterable[str], *, seed: str = "") -> tuple[str, ...]:
    """The runs in an order that has nothing to do with what is in them: by the hash of seed and digest.

    Every run that is added later takes its own random place, so the first n are a random draw of all runs
    whenever one looks.
    """
    return tuple(sorted(runs, key=lambda run: sha256(f"{seed} {run}".encode()).hexdigest()))


class RandomDraw(Struct, frozen=True, kw_only=True):
    """How far a random draw was read.

    Attributes:
        read: digests of the first runs of the draw, all of which were read: an unbiased sample.
        following: the next run to read; ``None`` where every run was read.
        outside: runs that were read but are not in `read`: chosen, so rates over them may be biased.
    """

    read: tuple[str, ...]
    following: str | None
    outside: int


def random_draw(runs: Iterable[str], read: Collection[str], *, seed: str = "") -> RandomDraw:
    """How far people have read along `random_order`."""
    order = random_order(runs, seed=seed)
    # Only an unbroken beginning of the order is a random sample.
    first = next((at for at, run in enumerate(order) if run not in read), len(order))
    return RandomDraw(
        read=order[:first],
        following=order[first] if first < len(order) else None,
        outside=sum(run in read for run in order[first:]),
    )
