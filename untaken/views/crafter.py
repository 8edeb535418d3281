"""Crafter: scores, episodes, ablations and planning records, as documents and as tables (§7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from untaken import limits
from untaken.errors import Finding, Score, Unscored, UntakenError, Where
from untaken.ledger import JsonFault, parse_json
from untaken.simulator import (
    FULL,
    PUBLISHED,
    Ablation,
    AblationArm,
    ArmDifference,
    Episode,
    MethodScore,
    Mistakes,
    PlannedStep,
    PlanningRecord,
    Setup,
    Term,
    Watched,
    Watching,
    WhatIfNot,
    WinSummary,
    found_mistakes,
    remarks,
    succeeded,
    success_rule,
    summarise_wins,
)
from untaken.traces import clip
from untaken.views.documents import Count, Keys, Part, measured
from untaken.views.frame import Columns, RowWith, count, figure, frame, text, truth, why

if TYPE_CHECKING:
    import pandas as pd


CRAFTER_SCORE_DOCUMENT: Final = Keys.given(
    schema="untaken.crafter-score/1", budget_steps=Count, methods=[MethodScore], findings=[Finding]
)
"""Methods by score, with every seed behind it."""
_SETUP: Final = Keys(Setup, "* options win", options={str: float | str})
"""Everything that decides an episode besides its seed."""
_EPISODE: Final = Keys(
    Episode,
    "* run_id success unlocked kept",
    run_id=str,
    success=succeeded,
    unlocked={str: Count},
    kept={str: Count},
)
_ARM: Final = Keys(AblationArm, "* published published_sd", published=float, published_sd=float)
"""An arm beside the published figures."""
CRAFTER_RUN_DOCUMENT: Final = Keys.given(
    schema="untaken.crafter-run/1",
    setup=_SETUP,
    success=str,
    summary=AblationArm,
    episodes=[_EPISODE],
    ledgers=[str],
)
"""Episodes of one setup, what they reached, and where they are recorded."""
CRAFTER_ABLATION_DOCUMENT: Final = Keys(
    Ablation,
    "setup seeds causes_matter arms differences remarks unanswered",
    schema="untaken.crafter-ablation/1",
    setup=_SETUP,
    arms=[_ARM],
    remarks=[str],
    unanswered=Count | UnsetType,
)
"""The four arms in the same worlds, beside the published figures."""
_STEP: Final = Keys(
    Watched, "* found.* found.terms", spread=measured("found.spread", "one draw has no spread")
)
"""A step of an episode, its action beside what else could have been done."""
CRAFTER_WIN_DOCUMENT: Final = Keys.given(
    schema="untaken.crafter-win/1", settings=Watching, summary=WinSummary, mistakes=Mistakes, steps=[_STEP]
)
"""An episode seen by What-If-Not."""


def crafter_run_document(
    setup: Setup, arm: AblationArm, episodes: Sequence[Episode], *, ledgers: Sequence[Path] = ()
) -> Part:
    """The document of `episodes` of one setup."""
    return CRAFTER_RUN_DOCUMENT(
        setup=setup,
        success=success_rule(setup.task),
        summary=arm,
        episodes=[_EPISODE(one, run_id=setup.run_id(one.seed)) for one in episodes],
        ledgers=[str(path) for path in ledgers],
    )


def crafter_ablation_document(found: Ablation) -> Part:
    """The document of an ablation."""
    return CRAFTER_ABLATION_DOCUMENT(
        found,
        arms=[
            _ARM(arm, published=mean, published_sd=sd)
            for arm, (mean, sd) in ((arm, PUBLISHED[arm.name]) for arm in found.arms)
        ],
        remarks=remarks(found),
        unanswered=UNSET if found.unanswered is None else found.unanswered,
    )


def crafter_win_document(settings: Watching, steps: Sequence[Watched]) -> Part:
    """The document of an episode."""
    return CRAFTER_WIN_DOCUMENT(
        settings=settings,
        summary=summarise_wins([step.found for step in steps]),
        mistakes=found_mistakes(steps),
        steps=steps,
    )


def read_ablation(path: str | Path) -> Ablation:
    """What `crafter_ablation_document` wrote, so that it can be shown without the simulator.

    Raises:
        UntakenError: ``ablation-missing``, ``ablation-invalid``.
    """
    file = Path(path)
    where = Where(file=str(file))
    hint = "`untaken crafter run --ablation --json` writes one."
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UntakenError("ablation-missing", "no such file", where=where, hint=hint) from error
    try:
        if len(data) > limits.PLANNING_BYTES:
            raise ValueError("it is too large")
        return msgspec.convert(_with_reasons(parse_json(data)), Ablation)
    except (JsonFault, ValueError) as error:  # msgspec's own error is a ValueError
        raise UntakenError(
            "ablation-invalid", f"no ablation: {clip(error)}", where=where, hint=hint
        ) from error


def _with_reasons(value: Any) -> Any:
    """A document in which unscored values carry their reason."""
    if isinstance(value, list):
        return [_with_reasons(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: {"reason": value[f"{name}_reason"]} if f"{name}_reason" in value else _with_reasons(item)
        for name, item in value.items()
    }


_NOT_ASKED: Final = Unscored("the action was not evaluated")


class PlanningSummary(Struct, frozen=True, kw_only=True):
    """What was asked over a whole run.

    Attributes:
        steps: steps done; `wins` is over those that were evaluated.
        asked_again: steps at which the policy was asked again; at `changed` of them it then did something
            else.
        decisions: steps with a causal representation.
    """

    steps: int
    wins: WinSummary
    asked_again: int
    changed: int
    decisions: int


_Step = RowWith[PlannedStep, int]
"""A step with its number, from 1."""
_Arm = RowWith[AblationArm, ArmDifference | None]
"""An arm of an ablation, with the comparison of the full arm to it."""


def _win(step: _Step) -> Score:
    return step.row.asked.win if step.row.asked else _NOT_ASKED


def _against(intervention: str) -> Callable[[_Step], Score]:
    """σ(r − r̃ψ) of one intervention, or why it has no term."""

    def value(step: _Step) -> Score:
        asked = step.row.asked
        if asked is None:
            return _NOT_ASKED
        terms = (term.value for term in asked.terms if term.intervention == intervention)
        return next(terms, Unscored(asked.left_out.get(intervention, "it was not tried")))

    return value


PLANNED_STEPS: Final[Columns[_Step]] = {
    "step": count("its number, from 1", "beside"),
    "action": text("what was done", "row.action"),
    "answered": text("the first answer, which was evaluated", "row.asked?.action"),
    "win": figure("WIN of the first answer, 0 to 1; 0.5 is a tie", _win, "%.3f"),
    "verdict": text("better, worse, tie or unscored", "row.asked?.verdict"),
    "asked_again": truth("whether the policy was asked again", "row.asked?.revise"),
    "wait": figure("σ(r − r̃) against doing nothing", _against("wait"), "%.3f"),
    "opposite": figure("σ(r − r̃) against the opposite action", _against("opposite"), "%.3f"),
    "random": figure("σ(r − r̃) against a random action", _against("random"), "%.3f"),
    "aim": text("the achievement that was pursued", "row.aim"),
    "begun": text("the skill that started", "row.begun"),
    "unlocked": text(
        "achievements reached for the first time", lambda row: " · ".join(row.row.unlocked) or None
    ),
    "reward": figure("the environment's own reward for the action", "row.reward"),
    "unanswered": text(
        "why a language model gave no usable answer, so that it waited",
        lambda row: " · ".join(filter(None, (row.row.unanswered, row.row.unanswered_again))) or None,
    ),
    "win_reason": why("win", _win),
    "wait_reason": why("wait", _against("wait")),
    "opposite_reason": why("opposite", _against("opposite")),
    "random_reason": why("random", _against("random")),
}

TERMS: Final[Columns[Term]] = {
    "intervention": text("ψ: how the other action was found", "intervention", title="alternative"),
    "other": text("ã: the other action", "action", title="its action"),
    "reward": figure("r̃: its reward f_R, mean over draws", "reward", "%.3f"),
    "value": figure(
        "σ(r − r̃), mean over draws; above 0.5 the action done has the higher reward",
        "value",
        "%.3f",
        title="part of WIN",
    ),
}


def _published(place: int) -> Callable[[_Arm], float]:
    return lambda one: PUBLISHED[one.row.name][place]


def _published_less(one: _Arm) -> float | None:
    return None if one.beside is None else PUBLISHED[FULL][0] - PUBLISHED[one.row.name][0]


ABLATION: Final[Columns[_Arm]] = {
    "arm": text("the arm", "row.name"),
    "worlds": count("worlds played", "row.episodes"),
    "score": figure("Crafter score over these, in percent", "row.score"),
    "score_low": figure("its 95% bootstrap interval over worlds", "row.score_low"),
    "score_high": figure("upper end", "row.score_high"),
    "achievements": figure("mean number reached in a world", "row.achievements"),
    "successes": count("worlds with success", "row.successes"),
    "asked_again": figure("share of steps at which the policy was asked again", "row.asked_again"),
    "difference": figure("score of the full arm less this one's, same worlds", "beside?.score"),
    "low": figure("its 95% bootstrap interval over worlds", "beside?.score_low"),
    "high": figure("upper end", "beside?.score_high"),
    "more_achievements": figure("mean difference in achievements, same worlds", "beside?.achievements"),
    "more_low": figure("its 95% bootstrap interval over worlds", "beside?.low"),
    "more_high": figure("upper end", "beside?.high"),
    "more_p_holm": figure("sign-flip p of more achievements, over all arms", "beside?.p_holm"),
    "success_difference": figure(
        "success rate of the full arm less this one's, same worlds", "beside?.success"
    ),
    "success_low": figure("its 95% adjusted Wald interval", "beside?.success_low"),
    "success_high": figure("upper end", "beside?.success_high"),
    "published": figure("published score, in percent: not comparable in level", _published(0)),
    "published_sd": figure("its standard deviation over 5 seeds", _published(1)),
    "published_difference": figure("published full arm less this one", _published_less),
}


def planning_summary(record: PlanningRecord) -> PlanningSummary:
    """What was asked over a whole run."""
    asked = [(step, step.asked) for step in record.steps if step.asked is not None]
    return PlanningSummary(
        steps=len(record.steps),
        wins=summarise_wins([found for _, found in asked]),
        asked_again=sum(found.revise for _, found in asked),
        changed=sum(
            # without an answer it only waited
            found.revise and step.action != found.action and not step.unanswered_again
            for step, found in asked
        ),
        decisions=sum(step.causes is not None for step in record.steps),
    )


def planned_steps_table(record: PlanningRecord) -> pd.DataFrame:
    """One row per step of a record of planning (columns: `PLANNED_STEPS`)."""
    return frame(PLANNED_STEPS, (RowWith(step, n) for n, step in enumerate(record.steps, start=1)))


def terms_table(found: WhatIfNot) -> pd.DataFrame:
    """One row per term of a What-If-Not reward (columns: `TERMS`)."""
    return frame(TERMS, found.terms)


def ablation_table(found: Ablation) -> pd.DataFrame:
    """One row per arm of an ablation, beside the published figures (columns: `ABLATION`)."""
    known = {difference.without: difference for difference in found.differences}
    return frame(ABLATION, (RowWith(arm, known.get(arm.name)) for arm in found.arms))
