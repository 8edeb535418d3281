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
    choice: np.ndarray,
    *,
    known: int,
    digests: Sequence[str],
    agents: Sequence[str],
    tasks: Sequence[str],
) -> pd.DataFrame:
    """As `untaken.views.choices_reviewed.ChoiceReview.paths`, whose attributes the arguments are."""
    # −1 is pandas' code for a missing category.
    listed = np.where(choice < len(made), choice, -1)
    # Numbers behind those listed are of choices that nothing supports, those with a history first.
    weak, none = map(SUPPORTS.index, ("weak", "none"))
    supports = np.array([*(SUPPORTS.index(one.support) for one in made), *[weak] * known, none])
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
            # Those of two memories may have one digest.
            "choice": pd.Categorical([one.digest for one in made]).take(listed, allow_fill=True),
            "choice_number": choice,
            "choice_support": pd.Categorical.from_codes(
                supports[np.minimum(choice, supports.size - 1)], list(SUPPORTS)
            ),
        }
    )


def _skills(found: PathColumns, *, taken: bool) -> pd.Categorical:
    names, places = found.skills(taken=taken)
    return pd.Categorical.from_codes(places, names)


def _figures(column: np.ndarray) -> pd.arrays.FloatingArray:
    return pd.arrays.FloatingArray(column, np.isnan(column))
