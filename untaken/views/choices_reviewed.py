"""What the page of decisions shows: choices, and every path not taken as a table for filters and figures.

The table is made from columns, and can be kept (`untaken.views.stored_answers`): objects and words are only
made of the paths that are shown first, and of those that somebody looks at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from untaken.analysis import Corpus
from untaken.counterfactual import COPIES, Choice, PathColumns, Point, Points, Record, Sums
from untaken.errors import Score
from untaken.views.decisions import DECISIONS, decisions_table
from untaken.views.frame import frame_of

if TYPE_CHECKING:
    import pandas as pd

FEW: Final = 1_000
"""Paths that are made one by one; of more, all are made."""
PLAN, SKILLS = "plan", "skills"
"""The kinds of decisions."""


class KeptRecord(msgspec.Struct, frozen=True, array_like=True):
    """A `Record`; its sums are whole numbers of any size, as text."""

    skill: str
    context_hash: str
    n: int
    success_rate: Score
    avg_cost: Score
    avg_steps: Score
    weak_weight: float
    n_runs: int
    runs: tuple[str, ...]
    sums: tuple[str, ...]
    oldest: datetime
    newest: datetime

    @classmethod
    def of(cls, record: Record | None) -> KeptRecord | None:
        """What is kept of a record."""
        if record is None:
            return None
        values = {field.name: getattr(record, field.name) for field in fields(record)}
        return cls(**values | {"sums": tuple(map(str, record.sums))})

    def record(self) -> Record:
        """The record."""
        return Record(**msgspec.structs.asdict(self) | {"sums": Sums._make(map(int, self.sums))})


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceReview:
    """What the page of decisions shows.

    Attributes:
        columns: every path not taken, by its run's place in `digests`, `agents` and `tasks`.
        made: the choices that are listed (`Choices.listed`), without their histories; `histories`: of each
            those of the selected skill and of the alternative.
        known, choice: as `Choices.known` and `Choices.of_paths`.
        cost_unit: what the costs in the histories are counted in; ``None`` where none is known.
        refused: why runs were not evaluated, each with their number.
        copies: what was noticed of runs that are copies of others.
        top: the cells of `decisions_table` for the paths with the largest deltas.
    """

    columns: PathColumns
    digests: tuple[str, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    made: tuple[Choice, ...]
    known: int
    choice: np.ndarray
    histories: tuple[tuple[KeptRecord | None, KeptRecord | None], ...]
    cost_unit: str | None
    refused: dict[str, int]
    copies: tuple[str, ...]
    top: dict[str, list[Any]]

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The choices that are listed, what weighs most first."""
        return tuple(
            msgspec.structs.replace(
                choice,
                points=Points(self.digests, choice.points.run, choice.points.seq),
                taken=taken and taken.record(),
                other=other and other.record(),
            )
            for choice, (taken, other) in zip(self.made, self.histories, strict=True)
        )

    @cached_property
    def paths(self) -> pd.DataFrame:
        """Of each row of `decisions_table`, in its order, what pages filter, count and draw.

        And the `choice` that it is an instance of, missing where that is not listed, its `choice_number` and
        its `choice_support`. Texts are categories.
        """
        from untaken.views.paths_frame import paths_frame  # noqa: PLC0415 (slow: it loads pandas)

        runs = {"digests": self.digests, "agents": self.agents, "tasks": self.tasks}
        return paths_frame(self.columns, self.made, self.choice, known=self.known, **runs)

    def among(self, paths: pd.DataFrame) -> tuple[Choice, ...]:
        """The choices that some of the paths are instances of, in order."""
        kept = set(paths["choice"].unique())
        return tuple(choice for choice in self.choices if choice.digest in kept)

    def find(self, digest: str | None) -> Choice | None:
        """The choice with this short digest, if there is one (untrusted: it may come from an address)."""
        return next((choice for choice in self.choices if choice.digest == digest), None)

    def points(self, skill: str, context_hash: str) -> tuple[Point, ...]:
        """Every decision point that took the skill in the context, whatever it left; by agent and task."""
        kinds = [selected == skill and context_hash in layers for selected, _, layers in self.columns.kinds]
        rows = np.flatnonzero(np.array(kinds, dtype=np.bool_)[self.columns.kind])
        runs, events = self.columns.run[rows].tolist(), self.columns.seq[rows].tolist()
        found = sorted(
            {(self.agents[run], self.tasks[run], run, at) for run, at in zip(runs, events, strict=True)}
        )
        return tuple(Point(self.digests[run], at) for _, _, run, at in found)

    def table(self, paths: pd.DataFrame, corpus: Callable[[], Corpus]) -> pd.DataFrame:
        """Some of the paths with every column of `decisions_table`, and their choice.

        Args:
            paths: rows of `paths`.
            corpus: what was reviewed; asked for unless `paths` are those with the largest deltas.
        """
        if self.top and paths.index.equals(self._top.index):  # their cells are kept, so no corpus is needed
            rows = frame_of(DECISIONS, {name: list(self.top[name]) for name in DECISIONS})
        elif len(paths) <= FEW:
            rows = decisions_table(corpus(), paths)
        else:
            rows = decisions_table(corpus()).iloc[paths.index]  # its index holds places in the whole table
        return rows.assign(
            choice=paths["choice"].astype("string").array,
            choice_support=paths["choice_support"].astype("string").array,
        )

    @cached_property
    def _top(self) -> pd.DataFrame:
        return by_delta(self.paths).head(FEW)


def by_delta(paths: pd.DataFrame) -> pd.DataFrame:
    """The paths with the largest deltas first."""
    return paths.sort_values("delta", ascending=False, na_position="last", kind="stable")


def decision_kinds(corpus: Corpus) -> tuple[str, ...]:
    """What kinds of decisions there are to look at, what is looked at first in front; none without a run."""
    declared = any(graph.mutates for graph in corpus.graphs.graphs)
    plan = (PLAN,) if declared and corpus.plans.runs else ()
    return (*plan, SKILLS) if corpus.runs else ()


def choice_review(corpus: Corpus) -> ChoiceReview:
    """The choices of a corpus, and the paths not taken that they are made of."""
    made, evaluations = corpus.choices.listed, corpus.evaluations
    memories = [memory for memory, _ in corpus.by_memory()]
    units = {memory.snapshot().cost_unit for memory in memories}
    refused = [evaluations[digest] for digest in evaluations if evaluations.status(digest) != "evaluated"]
    runs = [corpus.runs[digest] for digest in evaluations]
    digests = tuple(evaluations)
    found = ChoiceReview(
        columns=PathColumns.joined(evaluations.columns()),
        digests=digests,
        agents=tuple([run.agent for run in runs]),
        tasks=tuple([run.task_id for run in runs]),
        made=tuple(
            msgspec.structs.replace(c, taken=None, other=None, points=c.points.numbered(digests))
            for c in made
        ),
        known=corpus.choices.known,
        choice=corpus.choices.of_paths,
        histories=tuple((KeptRecord.of(choice.taken), KeptRecord.of(choice.other)) for choice in made),
        cost_unit=units.pop() if len(units) == 1 else None,
        refused=dict(Counter(one.code or one.reason for one in refused)),
        copies=tuple(f.message for memory in memories for f in memory.findings if f.code == COPIES.code),
        top={},  # filled in below, once there is a table to find it with
    )
    rows = decisions_table(corpus, found._top)
    # As objects with None for NA: an answer that is kept cannot hold pandas' NA.
    cells = {name: rows[name].astype(object).where(rows[name].notna(), None).tolist() for name in rows}
    return replace(found, top=cells)
