"""The parts of the What-If-Not page about one run: pictures, WIN by step, one step, causal graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import streamlit as st

from components import figures
from components.figures.frames import FEW, FRAMES, VERDICTS
from components.shared import cards, options, state, tables, text
from components.shared.panels import panel
from components.what_if_not.choice import choose_step, latest_causes, measured, pick
from untaken.numbers import counted, decimal, percent, significant
from untaken.simulator import PlannedStep, PlanningRecord, WhatIfNot, planning_model, policy_named, remarks
from untaken.views import PlanningSummary, ablation_table, planned_steps_table, terms_table

REWARDS: Final = {
    "env": "the environment's own reward. Most actions get the same reward, so most steps are "
    "uninformative ties.",
    "shaped": "the number of steps that an action saves toward the task",
}
"""What the reward is, by name; any other is called by its name alone."""
VERDICT_WORDS: Final = {
    "better": "Better than the alternatives tried.",
    "worse": "Worse than the alternatives tried.",
    "tie": "A tie: the simulator shows no difference from the alternatives. That is not bad.",
    "unscored": "No WIN: there was no alternative to try.",
}
MODEL_STEPS: Final = 2
BY_WIDTH: Final = (
    "<style>@media (max-width: 640px) {.st-key-strip-of-many {display: none}} "
    "@media (min-width: 640.1px) {.st-key-strip-of-few {display: none}}</style>"
)
"""A small screen has room for a few pictures, with the chosen step among them."""


@panel
def summary(planned: PlanningSummary, settings: dict[str, Any]) -> None:
    """Four numbers, each with what it rests on."""
    wins = planned.wins
    scored = f"of {counted(wins.steps - wins.unscored, 'action')} with a WIN"
    win = settings.get("win")
    where = (  # settings are read from a file, and may be anything
        {"<": "below 0.5", "<=": "at 0.5 and below"}.get(win.get("at"), "") if isinstance(win, dict) else ""
    )
    numbers = (
        (
            "Steps",
            f"{planned.steps:,}",
            f"{wins.steps:,} evaluated, {wins.unscored:,} without a WIN · "
            f"{counted(planned.decisions, 'decision point')}",
        ),
        ("Ties", percent(wins.tie_share), f"{scored}: {wins.ties:,} at exactly 0.5, neither good nor bad"),
        (
            "At 0.5 or below",
            percent(wins.at_most_half),
            f"{scored}: {wins.worse:,} worse and the {wins.ties:,} ties",
        ),
        (
            "Revised",
            f"{planned.changed:,}",
            f"of {counted(planned.asked_again, 'step')} asked again{f' ({where})' if where else ''}",
        ),
    )
    cards.number_cards(*numbers)


# In this order: a fragment that is drawn again by itself is outside the frame of the page.
@st.fragment
@state.frame()
@panel
def step_by_step(record: PlanningRecord, run: str, read: str) -> None:
    """Everything about one step, in a fragment: a click in it redraws nothing else.

    `run` is the digest of the run; `read` changes with the file of the record.
    """
    dark = state.is_dark()
    step = choose_step(record, run)
    of = (run, read, str(step))

    def picked(other: str) -> None:
        pick(run, other)

    st.html(BY_WIDTH)
    for many, key, frames in (("many", "strip", FRAMES), ("few", "strip-few", FEW)):
        with st.container(key=f"strip-of-{many}"):
            drawn = partial(figures.frame_strip, record, step, frames=frames, dark=dark)
            tables.figure(drawn, key=key, name="Steps as pictures", on_pick=picked, of=of)
    tables.figure(
        partial(figures.win_figure, record, step=step, dark=dark),
        key="win",
        name="Which steps were better than their alternatives?",
        on_pick=picked,
        of=of,
    )
    more: dict[str, Callable[[], object]] = {
        "This step": lambda: _step(record, step, of, dark=dark),
        "What influenced the task": lambda: _causes(record, step, dark=dark),
        "Every step": lambda: every_step(record),
        "Ablation": lambda: ablations(dark=dark),
        "Model of actions and states": lambda: models(dark=dark),
    }
    options.tabs("what_if_not_tabs", more)


def _step(record: PlanningRecord, step: int, of: tuple[str, ...], *, dark: bool) -> None:
    now = record.steps[step - 1]
    seen, asked = st.columns(2, gap="medium")
    with seen, st.container(key="picture"):
        tables.figure(
            partial(figures.frame_figure, now, dark=dark),
            key="frame",
            name=f"State at step {step}",
            alt=f"What the policy saw at step {step}",
            of=of,
        )
    with asked:
        _what_was_done(now)


def _what_was_done(step: PlannedStep) -> None:
    done = _plain(step.action)
    words = [f"Did **{done}**"]
    words += [f"◆ started the skill {_plain(step.begun)}"] if step.begun else []
    words += [f"aimed at {_plain(step.aim)}"] if step.aim else []
    words += [f"★ reached {_plain(name)}" for name in step.unlocked]
    st.markdown(" · ".join(words))
    if step.unanswered:
        st.warning(f"No usable answer of the model, so it waited: {text.label(step.unanswered, 200)}")
    if step.asked is None:
        st.info("This action was not evaluated by What-If-Not.")
        return
    found = step.asked
    sign = VERDICTS[found.verdict][0]
    value = decimal(found.win, 3)
    st.markdown(f"**{sign} WIN {value}** for {_plain(found.action)}. {VERDICT_WORDS[found.verdict]}")
    if found.revise:
        after = "gave the same answer" if found.action == step.action else f"then chose {done}"
        if step.unanswered_again:
            after = f"gave no usable answer, so it waited: {text.label(step.unanswered_again, 200)}"
        st.markdown(f"↺ The policy was asked again and {after}.")
    tables.table(terms_table(found), key="terms", name="Terms of this WIN")
    st.caption(_evaluated_how(found))


def _evaluated_how(found: WhatIfNot) -> str:
    named = REWARDS.get(found.rewarded_by)
    words = f"{_plain(found.action).capitalize()} has the reward {significant(found.reward, 3)}"
    words += f": {named}" if named else f" ({text.label(found.rewarded_by)})"
    words += f". Task: {_plain(found.task)}" if found.task else ". Open play"
    spread = "" if found.spread is None else f", sd of WIN over them {decimal(found.spread, 3)}"
    numbers = "the world's own random numbers" if found.noise == "same" else "random numbers of their own"
    words += f". Clones drew {numbers}; {counted(found.draws, 'draw')}{spread}."
    left = [f"{_plain(name)}: {text.label(why, 120)}" for name, why in found.left_out.items()]
    return words + (f" Without a term: {'; '.join(left)}." if left else "")


def _causes(record: PlanningRecord, step: int, *, dark: bool) -> None:
    at = latest_causes(record, step)
    causes = record.steps[at - 1].causes if at else None
    if at is None or causes is None:
        st.info(_no_causes(record))
        return
    when = "this decision" if at == step else f"the decision at step {at:,}, the latest before this one"
    tables.figure(
        figures.state_causality_figure(causes, dark=dark),
        key="causes",
        name=f"What influenced the task at step {at}",
        about=f"The state given to the policy at {when}: {text.label(causes.summary, 120)}, "
        f"by {text.label(causes.by, 120)}.",
    )


def _no_causes(record: PlanningRecord) -> str:
    if record.settings.get("sce") is None:
        return "No causal graph up to this step. Record one per decision with `untaken crafter run --sce`."
    if not any(step.begun for step in record.steps):
        return "No causal graph: they are recorded when a skill begins, and this policy has no skills."
    return "No decision yet. The first decision has a causal graph."


@panel
def models(*, dark: bool) -> None:
    """The structural causal models, and one of them after an intervention."""
    model = planning_model(policy_named("random"), steps=MODEL_STEPS)
    before, after = st.columns(2, gap="medium")
    with before:
        tables.figure(
            figures.scm_figure(model, dark=dark),
            key="scm",
            name="Structural causal model",
            about="The first two steps. Each variable depends on its parents; u holds all randomness.",
        )
    with after:
        tables.figure(
            figures.scm_figure(model.do(a_0="noop"), dark=dark),
            key="scm-do",
            name="After setting the first action to noop",
            about="What-If-Not sets an action to another one and observes the effect.",
        )


@panel
def every_step(record: PlanningRecord) -> None:
    """All steps as a table."""
    tables.table(
        planned_steps_table(record), key="every-step", name="Steps of the run", height=320, most=2_000
    )


def _plain(name: str | None) -> str:
    return text.label((name or "").replace("_", " "))


@panel
def ablations(*, dark: bool) -> None:
    """What the ablations say, beside the published figures."""
    found = measured()
    if not found:
        return
    name = st.segmented_control(
        "Measured in", list(found), default=next(iter(found)), required=True, key="ablation"
    )
    shown = found[str(name)]
    ends = "Runs with a task end when they reach it, so compare success rates." if shown.setup.task else ""
    tables.figure(
        partial(figures.ablation_figure, shown, dark=dark),
        key="ablation-figure",
        name="What each part of the method adds",
        of=(str(name),),
        about="Counterfactual planning with parts removed, measured on the sample runs; all variants in "
        f"the same worlds. {ends}",
        table=lambda: ablation_table(shown),
    )
    for remark in remarks(shown):
        st.caption(text.label(remark, 600))
