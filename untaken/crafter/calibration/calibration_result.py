"""What a calibration gives: every pair of estimate and truth, and how well they agree (§2c)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from untaken import limits
from untaken.counterfactual import THRESHOLD, Support
from untaken.errors import UntakenError, Where
from untaken.formats.losses import clip

SCHEMA: Final = "untaken.calibration/1"
Estimator = Literal["delta", "advantage", "pooled", "ceiling"]
"""What is compared with the truth; `ceiling`: one half of the draws, with the other half."""


class CalibrationPair(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """An alternative: the estimate from ledgers, and its results in clones.

    Attributes:
        map: of the held-out run; `run` and `index` of the decision in it.
        level: of `levels` layers, the one that the advantage is from; ``None`` without one.
        n: outcomes behind the alternative's history; `n_selected`: the selected skill's.
        delta, advantage, pooled: estimates, with the ends of their intervals where they have one.
        true_delta: mean score of the alternative's draws − the run's own score.
        true_advantage: the same − mean score of the selected skill's draws.
        error: standard error of the true advantage, from the differences draw by draw.
        half, other_half: the true advantage from every other draw alone.
    """

    map: int
    run: str
    index: int
    selected: str
    alternative: str
    support: Support
    level: int | None
    levels: int
    n: int
    n_selected: int
    delta: float | None
    advantage: float | None
    low: float | None
    high: float | None
    pooled: float | None
    pooled_low: float | None
    pooled_high: float | None
    true_delta: float
    true_advantage: float
    error: float
    half: float
    other_half: float


class Figure(Struct, frozen=True, kw_only=True):
    """A measure with its 95% interval, which resamples held-out maps; ``None`` if there is none.

    Attributes:
        n: pairs that it is over.
    """

    n: int
    value: float | None
    low: float | None
    high: float | None


class Measure(Struct, frozen=True, kw_only=True):
    """How well one estimate agrees with its truth, over a part of the pairs.

    Attributes:
        part: ``all``, ``supported``, ``weak``, ``level 3``, or ``interval``: those where the estimate's own
            interval leaves 0 out.
        pairs, maps: pairs with this estimate, and the held-out maps they are from.
        three_way: share in which both give the same of the three verdicts.
        sign: share with the same sign, of the pairs with an estimate beyond the threshold.
        spearman, rmse: rank correlation; root of the mean squared difference.
        coverage: share of the estimate's own 95% intervals that hold the measured truth.
    """

    estimator: Estimator
    part: str
    pairs: int
    maps: int
    three_way: Figure
    sign: Figure
    spearman: Figure
    rmse: Figure
    coverage: Figure


class Bin(Struct, frozen=True, kw_only=True):
    """Pairs with estimates about alike: their means, with the 95% interval of the mean truth over maps."""

    estimator: Estimator
    part: str
    pairs: int
    maps: int
    estimate: float
    truth: float
    low: float | None
    high: float | None


class Settings(Struct, frozen=True, kw_only=True):
    """What was played; names as in `untaken crafter calibrate`.

    Attributes:
        success_train, success_held_out: share of runs that succeeded.
        decisions: held-out decisions with known truth.
        not_begun: paths of them that could not start there, and are in no pair.
        unknown: alternatives without a history at any level, which are in no pair either.
    """

    policy: str
    options: dict[str, float]
    task: str | None
    steps: int
    train: int
    held_out: int
    points: int
    draws: int
    seed: int
    success_train: float
    success_held_out: float
    decisions: int
    not_begun: int
    unknown: int


class Calibration(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Everything that is known of how far estimates from ledgers can be trusted in one setup."""

    settings: Settings
    measures: tuple[Measure, ...]
    curve: tuple[Bin, ...]
    pairs: tuple[CalibrationPair, ...]
    threshold: float = THRESHOLD

    def measure(self, estimator: Estimator, part: str = "all") -> Measure | None:
        """The measure of an estimator over a part; ``None`` where no pair is in it."""
        return next((m for m in self.measures if (m.estimator, m.part) == (estimator, part)), None)


def calibration_document(calibration: Calibration) -> dict[str, Any]:
    """``untaken.calibration/1``."""
    document: dict[str, Any] = msgspec.to_builtins(calibration)
    return document


def write_calibration(path: str | Path, calibration: Calibration) -> None:
    """Writes the document without white space: pairs are many."""
    Path(path).write_bytes(msgspec.json.encode(calibration) + b"\n")


def read_calibration(path: str | Path) -> Calibration:
    """A calibration that was written, so that it can be shown without the simulator.

    Raises:
        UntakenError: ``calibration-missing``, ``calibration-invalid``.
    """
    file, hint = Path(path), "`untaken crafter calibrate -o FILE` writes one."
    where = Where(file=str(file))
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UntakenError("calibration-missing", "no such file", where=where, hint=hint) from error
    try:
        if len(data) > limits.PLANNING_BYTES:
            raise ValueError("it is too large")
        return msgspec.json.decode(data, type=Calibration)
    except ValueError as error:
        raise UntakenError(
            "calibration-invalid", f"no calibration: {clip(error)}", where=where, hint=hint
        ) from error
