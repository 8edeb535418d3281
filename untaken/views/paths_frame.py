"""Every path not taken as a table for filters and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

import numpy as np
import pandas as pd

from untaken.counterfactual import VERDICTS, Choice, PathColumns, Support

SUPPORTS: Final[tuple[Support, ...]] = get_args(Support)


def paths_frame(
    found: PathColumns,
    made: Sequence[Choice],
    *,
    digests: Sequence[str],
    agents: Sequence[str],
    tasks: Sequence[str],
) -> pd.DataFrame:
    """As `untaken.views.choices_reviewed.ChoiceReview.paths`, whose attributes the arguments are."""
    choice = _choice_of(made, found)
    supports = np.array([SUPPORTS.index(one.support) for one in made], dtype=np.int8)
    return pd.DataFrame(
        {
            "digest": pd.Categorical.from_codes(found.run, digests),
            "agent": pd.Categorical(agents)[found.run],
            "task_id": pd.Categorical(tasks)[found.run],
            "decision_point": pd.array(found.seq, dtype="Int64"),
            "selected": _skills(found, taken=True),
            "alternative": _skills(found, taken=False),
            "delta": _figures(found.delta),
            "verdict": pd.Categorical.from_codes(found.verdict, list(VERDICTS)),
            "advantage": _figures(found.advantage),
            "support": pd.Categorical.from_codes(_supports(found), list(SUPPORTS)),
            "choice": pd.Categorical([one.digest for one in made])[choice],
            "choice_support": pd.Categorical.from_codes(supports[choice], list(SUPPORTS)),
        }
    )


def _skills(found: PathColumns, *, taken: bool) -> pd.Categorical:
    names, places = found.skills(taken=taken)
    return pd.Categorical.from_codes(places, names)


def _figures(column: np.ndarray) -> pd.arrays.FloatingArray:
    return pd.arrays.FloatingArray(column, np.isnan(column))


def _supports(found: PathColumns) -> np.ndarray:
    none, weak, supported = map(SUPPORTS.index, ("none", "weak", "supported"))
    return np.where(found.known, np.where(found.direction != 0, supported, weak), none)


def _choice_of(made: Sequence[Choice], found: PathColumns) -> np.ndarray:
    """Of each path the place of its choice: the points of all choices are the paths, in another order."""
    if not made:
        return np.zeros(0, dtype=np.int64)
    names, alternative = found.skills(taken=False)
    each = [len(choice.points) for choice in made]
    taken = np.repeat([names.index(choice.alternative) for choice in made], each)
    run, seq = (
        np.concatenate([np.frombuffer(column, dtype=np.int64) for column in columns])
        for columns in ([choice.points.run for choice in made], [choice.points.seq for choice in made])
    )
    # With both sorted by run, event and skill, the n-th of one is the n-th of the other.
    choice = np.empty(len(run), dtype=np.int64)
    choice[np.lexsort((alternative, found.seq, found.run))] = np.repeat(np.arange(len(each)), each)[
        np.lexsort((taken, seq, run))
    ]
    return choice
