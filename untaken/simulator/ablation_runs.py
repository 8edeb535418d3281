"""Algorithm 1 without its parts, in the same worlds: what each part adds (§7; source 003, table 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import Score
from untaken.numbers import counted
from untaken.simulator.crafter.playing import Setup
from untaken.simulator.loop import WinSettings

FULL: Final = "full"
ARMS: Final[Mapping[str, tuple[bool, bool]]] = {
    FULL: (True, True),
    "w/o SCE": (False, True),
    "w/o WIN": (True, False),
    "w/o both": (False, False),
}
"""Whether each arm has SCE, and whether it has WIN."""
PUBLISHED: Final[Mapping[str, tuple[float, float]]] = {
    FULL: (20.4, 0.72),
    "w/o SCE": (16.44, 0.08),
    "w/o WIN": (17.82, 0.13),
    "w/o both": (15.6, 1.66),
}
"""Score in percent, mean ± standard deviation over 5 seeds, at 1 M steps (source 003, table 2)."""


class AblationArm(Struct, frozen=True, kw_only=True):
    """What one arm reached.

    Attributes:
        episodes: worlds played.
        score: Crafter score over these, in percent; with a 95% jackknife interval over worlds.
        achievements: mean number reached in a world.
        successes: worlds with success, as a recorded run has it (`succeeded`).
        asked_again: share of steps at which What-If-Not had the policy asked again.
        revised: share of steps at which it then did something else.
        success_percent: share of worlds that reached each achievement.
    """

    name: str
    episodes: int
    score: float
    score_low: Score
    score_high: Score
    achievements: float
    successes: int
    mean_steps: float
    asked_again: float
    revised: float
    success_percent: Mapping[str, float]


class ArmDifference(Struct, frozen=True, kw_only=True):
    """The full arm minus another one, in the same worlds.

    Attributes:
        worlds: pairs.
        same: worlds in which both did the same in the same number of steps.
        achievements: mean difference in achievements, with a 95% cluster bootstrap interval over worlds.
        p: two-sided sign-flip p of it; `p_holm` adjusted for all differences shown.
        success: difference of the success rates (`succeeded`), with its adjusted Wald interval; `success_p`
            is McNemar's exact p.
        score: difference of the Crafter scores, with its jackknife interval over worlds.
    """

    without: str
    worlds: int
    same: int
    achievements: float
    low: Score
    high: Score
    p: Score
    p_holm: Score
    success: float
    success_low: float
    success_high: float
    success_p: float
    score: float
    score_low: Score
    score_high: Score


class Ablation(Struct, frozen=True, kw_only=True):
    """All arms in the same worlds.

    Attributes:
        setup: of the full arm.
        causes_matter: whether the causal representation made any difference anywhere: a policy that does
            not read it does the same without it, and scripts read it towards a task only.
        unanswered: questions to a language model without a usable answer, in all arms; ``None`` where none is
            asked.
    """

    setup: Setup
    seeds: tuple[int, ...]
    arms: tuple[AblationArm, ...]
    differences: tuple[ArmDifference, ...]
    causes_matter: bool
    unanswered: int | None = None


def arms_of(setup: Setup) -> dict[str, Setup]:
    """The four arms of a setup; What-If-Not is set as in `setup`, or by default."""
    win = setup.win or WinSettings()
    return {
        name: replace(setup, sce=sce, win=win if evaluated else None)
        for name, (sce, evaluated) in ARMS.items()
    }


def remarks(found: Ablation) -> tuple[str, ...]:
    """What has to be read with the figures: above all what is not comparable with the published ones."""
    setup = found.setup
    win = setup.win or WinSettings()
    where = "at 0.5 and below" if win.at == "<=" else "below 0.5"
    options = ", ".join(f"{name} {value}" for name, value in sorted(setup.options.items()))
    player = f"{setup.policy} ({options})" if options else setup.policy
    notes = []
    if not found.causes_matter:
        notes.append(
            "The causal representation changed nothing in any world: scripts read it towards a task only."
        )
    if found.unanswered:
        notes.append(
            f"{counted(found.unanswered, 'question')} to the model had no usable answer; "
            "the policy waited there."
        )
    if setup.task:
        notes.append(
            "Episodes end where the task is reached: success is the figure to read; achievements and score "
            "say what was reached on the way."
        )
    return (
        f"Here: {player}, {setup.task or 'open play'}, at most {setup.steps:,} steps in each of "
        f"{len(found.seeds)} worlds, reward {win.reward}, asked again {where}. "
        "Intervals: over worlds.",
        *notes,
        "Not comparable in level: the published agent is a language model of 72 billion parameters, scored "
        "over 1 M steps, mean ± sd over 5 seeds, with an unpublished reward and prompts; a script knows "
        "the rules of the game, and its score covers all worlds. Only the sign of a difference "
        "between arms means the same.",
    )
