"""What the page of decisions shows: choices, and every path not taken as a table for filters and figures.

The table is made from columns: objects and words are only made of the paths that somebody looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, get_args

import numpy as np
import pandas as pd

from untaken.analysis.corpus import Corpus
from untaken.counterfactual import Choice, LoggedChoice, OffPolicyContrast, Point, contrast
from untaken.counterfactual.path_columns import VERDICTS, PathColumns
from untaken.counterfactual.run_evaluation import Support
from untaken.views.choices import corpus_logged
from untaken.views.decisions import decisions_table

FEW: Final = 1_000
"""Paths that are made one by one; of more, all are made."""
SUPPORTS: Final[tuple[Support, ...]] = get_args(Support)


@dataclass(frozen=True, kw_only=True)
class ChoiceReview:
    """What the page of decisions shows.

    Attributes:
        choices: what weighs most first.
        paths: of each row of `decisions_table`, in its order, what pages filter, count and draw; the
            `choice` that it is an instance of, and that one's `choice_support`.
        cost_unit: what the costs in the histories are counted in; ``None`` where none is known.
    """

    choices: tuple[Choice, ...]
    paths: pd.DataFrame
    cost_unit: str | None
    _corpus: Corpus = field(compare=False, repr=False)

    def among(self, paths: pd.DataFrame) -> tuple[Choice, ...]:
        """The choices that some of the paths are instances of, in order."""
        kept = set(paths["choice"].unique())
        return tuple(choice for choice in self.choices if choice.digest in kept)

    def find(self, digest: str | None) -> Choice | None:
        """The choice with this short digest, if there is one (untrusted: it may come from an address)."""
        return next((choice for choice in self.choices if choice.digest == digest), None)

    def points(self, skill: str, context_hash: str) -> tuple[Point, ...]:
        """Every decision point that took the skill in the context, whatever it left."""
        took = (c.points for c in self.choices if (c.selected, c.context_hash) == (skill, context_hash))
        return tuple(dict.fromkeys(point for points in took for point in points))

    def table(self, paths: pd.DataFrame) -> pd.DataFrame:
        """Some of the paths with every column of `decisions_table`, and their choice."""
        rows = (
            decisions_table(self._corpus, paths)
            if len(paths) <= FEW
            else decisions_table(self._corpus).iloc[paths.index]
        )
        return rows.assign(
            choice=paths["choice"].astype("string").array,
            choice_support=paths["choice_support"].astype("string").array,
        )

    @cached_property
    def _logged(self) -> tuple[LoggedChoice, ...]:
        return corpus_logged(self._corpus)

    def odds(self, choice: Choice) -> OffPolicyContrast:
        """The estimate from logged probabilities; unscored if none were logged."""
        skill, other = choice.selected, choice.alternative
        return contrast(self._logged, choice.context_hash, selected=skill, alternative=other)


def choice_review(corpus: Corpus) -> ChoiceReview:
    """The choices of a corpus, and the paths not taken that they are made of."""
    units = {memory.snapshot().cost_unit for memory, _ in corpus.by_memory()}
    return ChoiceReview(
        choices=corpus.choices,
        paths=_paths(corpus),
        cost_unit=units.pop() if len(units) == 1 else None,
        _corpus=corpus,
    )


def _paths(corpus: Corpus) -> pd.DataFrame:
    """As `ChoiceReview.paths`; texts are categories."""
    found = PathColumns.joined(corpus.evaluations.columns())
    choice = _choice_of(corpus, found)
    runs = [corpus.runs[digest] for digest in corpus.evaluations]
    digests = pd.Categorical([one.digest for one in corpus.choices])
    supports = np.array([SUPPORTS.index(one.support) for one in corpus.choices], dtype=np.int8)
    return pd.DataFrame(
        {
            "digest": pd.Categorical.from_codes(found.run, [run.digest for run in runs]),
            "agent": _of_runs([run.agent for run in runs], found.run),
            "task_id": _of_runs([run.task_id for run in runs], found.run),
            "decision_point": pd.array(found.seq, dtype="Int64"),
            "selected": _skills(found, taken=True),
            "alternative": _skills(found, taken=False),
            "delta": _figures(found.delta),
            "verdict": pd.Categorical.from_codes(found.verdict, list(VERDICTS)),
            "advantage": _figures(found.advantage),
            "support": pd.Categorical.from_codes(_supports(found), list(SUPPORTS)),
            "choice": digests[choice],
            "choice_support": pd.Categorical.from_codes(supports[choice], list(SUPPORTS)),
        }
    )


def _of_runs(names: Sequence[str], run: np.ndarray) -> pd.Categorical:
    return pd.Categorical(names)[run]


def _skills(found: PathColumns, *, taken: bool) -> pd.Categorical:
    names, places = found.skills(taken=taken)
    return pd.Categorical.from_codes(places, names)


def _figures(column: np.ndarray) -> pd.arrays.FloatingArray:
    return pd.arrays.FloatingArray(column, np.isnan(column))


def _supports(found: PathColumns) -> np.ndarray:
    none, weak, supported = map(SUPPORTS.index, ("none", "weak", "supported"))
    return np.where(found.known, np.where(found.direction != 0, supported, weak), none)


def _choice_of(corpus: Corpus, found: PathColumns) -> np.ndarray:
    """Of each path the place of its choice: the points of all choices are the paths, in another order."""
    made = corpus.choices
    if not made:
        return np.zeros(0, dtype=np.int64)
    names, alternative = found.skills(taken=False)
    each = [len(choice.points) for choice in made]
    taken = np.repeat([names.index(choice.alternative) for choice in made], each)
    run, seq = (
        np.concatenate([np.frombuffer(column, dtype=np.int64) for column in columns])
        for columns in ([choice.points.run for choice in made], [choice.points.seq for choice in made])
    )
    choice = np.empty(len(run), dtype=np.int64)
    choice[np.lexsort((alternative, found.seq, found.run))] = np.repeat(np.arange(len(each)), each)[
        np.lexsort((taken, seq, run))
    ]
    return choice
