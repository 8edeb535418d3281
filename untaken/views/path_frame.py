"""Every path not taken as a table for filters, counts and figures: from columns, no object is made of any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

import numpy as np
import pandas as pd

from untaken.corpus import Corpus
from untaken.counterfactual import THRESHOLD
from untaken.counterfactual.path_columns import PathColumns
from untaken.counterfactual.run_evaluation import DeltaVerdict, Support

VERDICTS: Final[tuple[DeltaVerdict, ...]] = get_args(DeltaVerdict)
SUPPORTS: Final[tuple[Support, ...]] = get_args(Support)


def path_frame(corpus: Corpus) -> pd.DataFrame:
    """The rows of `untaken.views.decisions.decisions_table`, in its order, and the choice of each.

    Columns: digest, agent, task_id, decision_point, selected, alternative, delta, verdict, advantage,
    support; `choice`, its short digest, and `choice_support`. Texts are categories.
    """
    found = corpus.evaluations.columns()
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
            "selected": pd.Categorical(found.selected),
            "alternative": pd.Categorical(found.alternative),
            "delta": _figures(found.delta),
            "verdict": pd.Categorical.from_codes(_verdicts(found), list(VERDICTS)),
            "advantage": _figures(found.advantage),
            "support": pd.Categorical.from_codes(_supports(found), list(SUPPORTS)),
            "choice": digests[choice],
            "choice_support": pd.Categorical.from_codes(supports[choice], list(SUPPORTS)),
        }
    )


def _of_runs(names: Sequence[str], run: np.ndarray) -> pd.Categorical:
    return pd.Categorical(names)[run]


def _figures(column: np.ndarray) -> pd.arrays.FloatingArray:
    return pd.arrays.FloatingArray(column, np.isnan(column))


def _verdicts(found: PathColumns) -> np.ndarray:
    """`untaken.counterfactual.paths.verdict_of`, over a column."""
    names: list[DeltaVerdict] = ["alternative_may_be_better", "actual_was_better", "unknown"]
    better, worse, unknown = map(VERDICTS.index, names)
    where = [found.delta > THRESHOLD, found.delta < -THRESHOLD, np.isnan(found.delta)]
    return np.select(where, [better, worse, unknown], VERDICTS.index("equivalent"))


def _supports(found: PathColumns) -> np.ndarray:
    none, weak, supported = map(SUPPORTS.index, ("none", "weak", "supported"))
    return np.where(found.known, np.where(found.direction != 0, supported, weak), none)


def _choice_of(corpus: Corpus, found: PathColumns) -> np.ndarray:
    """Of each path the place of its choice: the points of all choices are the paths, in another order."""
    place = {digest: number for number, digest in enumerate(corpus.evaluations)}
    codes, names = pd.factorize(found.alternative)
    code = {name: number for number, name in enumerate(names)}
    each = [len(choice.points) for choice in corpus.choices]
    points = [point for choice in corpus.choices for point in choice.points]
    run, seq = (
        np.fromiter(column, np.int64, len(points))
        for column in ((place[point.run] for point in points), (point.decision_point for point in points))
    )
    taken = np.repeat([code[choice.alternative] for choice in corpus.choices], each)
    choice = np.empty(len(points), dtype=np.int64)
    choice[np.lexsort((codes, found.seq, found.run))] = np.repeat(np.arange(len(each)), each)[
        np.lexsort((taken, seq, run))
    ]
    return choice
