"""How far a criterion gives the same value again: spread over passes, and an agreement coefficient (§8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean, pstdev

from msgspec import Struct

from untaken import stats
from untaken.errors import Score, Unscored
from untaken.judging.criteria.criterion import QuantifierRun
from untaken.judging.criteria.means import levels_by_subject, mean_or, top_level


class Stability(Struct, frozen=True, kw_only=True):
    """One criterion over repeated passes; the level 0 is the worst value, so a mean near 0 is a bad one.

    Attributes:
        passes: that know the criterion; `subjects` have a value in two of them or more.
        deterministic: nothing but one way to compute it, so that repeating says nothing.
        cv: coefficient of variation (population sd ÷ mean) of each subject, the mean over those whose mean
            level is not near 0. It depends on where the scale starts: read it beside the next two.
        sd: the mean over subjects of the population sd, in levels.
        sd_share: the same as a share of the scale (from the worst to the best level).
        near_zero: subjects whose mean level is near 0; `near_zero_sd_share` is the mean over them.
        alpha: Krippendorff's α for ordinal data; 1 is perfect agreement, 0 what chance gives.
        stable: ``None`` where it was not measured; `note` says what decided.
    """

    passes: int
    subjects: int
    deterministic: bool
    cv: Score
    sd: Score
    sd_share: Score
    near_zero: int
    near_zero_sd_share: Score
    alpha: Score
    stable: bool | None
    note: str


class PassStep(Struct, frozen=True, kw_only=True):
    """What one more pass changes: `delta` sums, over the criteria, the change of the mean CV (fig. 6)."""

    passes: int
    delta: float
    criteria: int


def stability(
    passes: Sequence[QuantifierRun], name: str, *, cv: float, sd_share: float, near_zero: float
) -> Stability:
    """How stable a criterion is.

    Args:
        passes: over the same subjects.
        name: of the criterion.
        cv: most that the mean coefficient of variation may be.
        sd_share: most that the mean sd, as a share of the scale, may be where means are near 0.
        near_zero: mean level below which a subject is judged by its sd.
    """
    knowing = [run for run in passes if any(c.name == name for c in run.criteria)]
    top = top_level(knowing, name)
    repeated = {s: v for s, v in levels_by_subject(knowing, name).items() if len(v) > 1}
    low = [levels for levels in repeated.values() if fmean(levels) < near_zero]
    # Near a mean of 0 a coefficient of variation grows without bound, however small the spread.
    rest = [levels for levels in repeated.values() if fmean(levels) >= near_zero]
    deterministic = bool(knowing) and all(run.deterministic for run in knowing)
    none = Unscored("no subject has values in two passes")
    found = mean_or(
        [pstdev(v) / fmean(v) for v in rest], none if not repeated else Unscored("all means near 0")
    )
    near = mean_or([pstdev(v) / top for v in low], none if not repeated else Unscored("no mean is near 0"))
    spread = mean_or([pstdev(v) for v in repeated.values()], none)
    steady = (isinstance(found, Unscored) or found <= cv) and (isinstance(near, Unscored) or near <= sd_share)
    stable = True if deterministic else steady if repeated else None
    return Stability(
        passes=len(knowing),
        subjects=len(repeated),
        deterministic=deterministic,
        cv=found,
        sd=spread,
        sd_share=spread if isinstance(spread, Unscored) else spread / top,
        near_zero=len(low),
        near_zero_sd_share=near,
        alpha=stats.ordinal_alpha(list(levels_by_subject(knowing, name).values())),
        stable=stable,
        note=_note(deterministic, found, near, cv, sd_share, measured=bool(repeated)),
    )


def _note(
    deterministic: bool, found: Score, near: Score, cv: float, sd_share: float, *, measured: bool
) -> str:
    if deterministic:
        return "computed the same way every time"
    if not measured:
        return "not measured: it needs two passes over the same runs"
    parts = []
    if not isinstance(found, Unscored):
        parts.append(f"mean CV {found:.3f}, at most {cv:g} allowed")
    if not isinstance(near, Unscored):
        parts.append(f"where means are near 0, sd {near:.3f} of the scale, at most {sd_share:g} allowed")
    return "; ".join(parts)


def pass_steps(passes: Sequence[QuantifierRun], *, near_zero: float = 0.5) -> tuple[PassStep, ...]:
    """Sum over criteria of the absolute change of the mean CV from n − 1 passes to n, for each n ≥ 3.

    Args:
        passes: in the order in which they were made.
        near_zero: subjects with a smaller mean level are left out, as their CV says nothing.
    """
    names = dict.fromkeys(c.name for run in passes for c in run.criteria)
    courses = [
        [_cv(levels_by_subject(passes[:n], name), near_zero) for n in range(2, len(passes) + 1)]
        for name in names
    ]
    steps = []
    for n in range(3, len(passes) + 1):
        pairs = [(course[n - 3], course[n - 2]) for course in courses]  # a course begins at two passes
        changes = [abs(b - a) for a, b in pairs if a is not None and b is not None]
        steps.append(PassStep(passes=n, delta=fsum(changes), criteria=len(changes)))
    return tuple(steps)


def _cv(levels: Mapping[str, Sequence[int]], near_zero: float) -> float | None:
    found = [pstdev(v) / fmean(v) for v in levels.values() if len(v) > 1 and fmean(v) >= near_zero]
    return fmean(found) if found else None
