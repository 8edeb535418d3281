"""Histories of the alternatives: choices with their advantages or deltas, and every path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd
import streamlit as st

from components import figures
from components.decisions import choice_view
from components.shared import cards, listeners, options, state, tables, text
from components.shared.choice_words import in_words
from components.shared.palette import DELTA_WORDS
from components.shared.panels import panel
from untaken.analysis import Corpus
from untaken.counterfactual import SMALL_Q, THRESHOLD, Choice, power_words
from untaken.numbers import counted
from untaken.views import (
    FEW,
    ChoiceReview,
    by_delta,
    choices_table,
    count_choices,
    table_of_choices,
)

FILTERS: Final = {
    "agent": "Agent",
    "task_id": "Task",
    "selected": "Skill taken",
    "alternative": "Skill not taken",
    "choice_support": "Support",
    "verdict": "Verdict of the delta",
}
COLUMNS: Final = [
    *("selected", "alternative", "delta", "verdict", "support", "n", "n_selected", "success_rate"),
    *("parts", "advantage", "low", "high", "context", "agent", "task_id", "decision_point"),
    *("avg_cost", "avg_steps", "support_reason", "choice", "run_id", "digest"),
]
OF_CHOICES: Final = (
    *("selected", "alternative", "context", "advantage", "low", "high", "q"),
    *("called", "parts", "n_selected", "n_alternative"),
)
"""Columns on the page; the download has more."""
IN_FULL: Final = (
    *("advantage", "low", "high", "avg_cost", "avg_steps", "support_reason"),
    *("choice", "run_id", "digest"),
)
"""Columns of the alternatives that the download alone has."""
WORDS: Final[Mapping[str, str]] = {str(verdict): words for verdict, words in DELTA_WORDS.items()}
MORE: Final = 10


@panel
def draw(review: ChoiceReview) -> None:
    """Counts, figure, the chosen choice, and both tables."""
    choice_view.evaluated_or_not(review)
    if review.paths.empty:
        st.info(
            "No run has two or more decision points with alternatives, so there are no paths to compare. "
            "Agents record them with `run.choose`: the skill taken, and what else was open."
        )
        return
    paths = _filtered(review.paths)
    choices = review.among(paths)
    chosen = review.find(state.selected("choice"))
    _counts(choices, paths)
    for copies in review.copies:
        st.caption(f"{text.label(copies, 300)}.")
    _figure(choices, paths, chosen)
    choice_view.picker(choices, chosen)
    if chosen:
        choice_view.detail(chosen, review, state.compared())
    picked = state.selected("choice") is not None  # not where other agents are compared
    listeners.into_view("choice", chosen.digest if chosen and picked else None)
    _every_choice(review, choices, paths)
    _every_path(review, paths, chosen)
    choice_view.placebo_on_request()
    choice_view.why_not(review)


def _counts(choices: Sequence[Choice], paths: pd.DataFrame) -> None:
    seen, met = count_choices(choices), (~paths[["digest", "decision_point"]].duplicated()).sum()
    points = f"{counted(int(met), 'decision point')}, {counted(len(paths), 'alternative')}"
    more, unknown = _only_counted(paths)
    made, unknown = seen.choices + more, seen.unknown + unknown
    small = f"supported, q ≤ {SMALL_Q:g}, of {seen.compared:,} tested"
    shown = (
        ("Choices", made, f"skill taken, skill not taken, context · {points}"),
        ("Succeeded more often", seen.more, f"{small} · {seen.less:,} less often"),
        ("Same success, cheaper or shorter", seen.cheaper, "a list of its own, no recommendation"),
        (
            "No clear difference",
            made - seen.more - seen.less - seen.cheaper,
            f"{unknown:,} of them without history",
        ),
    )
    cards.number_cards(*((title, f"{value:,}", words) for title, value, words in shown))
    if not seen.more:
        st.caption(power_words())


def _figure(choices: Sequence[Choice], paths: pd.DataFrame, chosen: Choice | None) -> None:
    measures = {name: name for name in ("Advantage", "Delta")}
    measure = options.one("measure", measures) or "Advantage"
    most = st.session_state.setdefault("decisions_rows", MORE)
    marked, dark = chosen.digest if chosen else None, state.is_dark()
    if measure == "Delta":
        drawn = figures.choice_deltas(choices, paths, most=most, marked=marked, dark=dark)
        name = "Deltas by choice"
    else:
        drawn = figures.choice_figure(choices, most=most, marked=marked, dark=dark)
        name = "Advantages by choice"
    tables.figure(
        drawn,
        key=f"choices-{measure}",
        name=name,
        on_pick=choice_view.pick,
        about="The advantage compares the histories of both skills, over every run in memory, without the "
        "filters. The delta compares the alternative's history with each run's own outcome, luck included: "
        f"two identical skills exceed ±{THRESHOLD:g} in 56% of cases at 5 runs each.",
        controls=lambda: options.pick(
            "Measure", "measure", measures, measure, key="measure", draw=st.segmented_control, required=True
        ),
    )
    if len(choices) > most:
        st.button(
            f"Show more: {most} of {len(choices):,} choices shown",
            on_click=lambda: st.session_state.update(decisions_rows=most + MORE),
            key="more_choices",
        )
    if measure == "Delta":
        drawn = figures.delta_distribution(paths, dark=dark)
        tables.figure(drawn, key="spread", name="Delta distribution")


def _only_counted(paths: pd.DataFrame) -> tuple[int, int]:
    """How many choices are not listed (`ChoiceReview.made`), and how many of these have no history."""
    left = paths[paths["choice"].isna()]
    numbers = left["choice_number"], left.loc[left["choice_support"] == "none", "choice_number"]
    return numbers[0].nunique(), numbers[1].nunique()


def _every_choice(review: ChoiceReview, choices: Sequence[Choice], paths: pd.DataFrame) -> None:
    def draw() -> None:
        first, (more, _) = table_of_choices(choices[:FEW]), _only_counted(paths)
        # Filters know the paths of choices that are not listed, not the choices themselves.
        unfiltered, evaluated = len(paths) == len(review.paths), state.later(_evaluated)
        if len(choices) + more > len(first):
            words = (
                "download the table to see all"
                if unfiltered or not more
                else "no agent took both skills of any other in one task"
            )
            st.caption(f"The first {len(first):,} of {len(choices) + more:,} choices; {words}.")
        tables.table(
            in_words(first),
            key="every",
            name="Choices",
            height=320,
            whole=lambda: choices_table(evaluated()) if unfiltered and more else table_of_choices(choices),
            columns=dict.fromkeys(set(first) - {*OF_CHOICES}),
        )

    tables.folded("Every choice", draw, key="every")


def _every_path(review: ChoiceReview, paths: pd.DataFrame, chosen: Choice | None) -> None:
    st.subheader("All alternatives", anchor=False)
    if chosen:
        st.session_state["only_chosen"] = options.one("every_path", [options.ON]) is None
        only = st.toggle(
            "Only for the choice above",
            key="only_chosen",
            on_change=lambda: options.keep(
                "every_path", [] if st.session_state["only_chosen"] else [options.ON]
            ),
        )
        paths = paths[paths["choice"] == chosen.digest] if only else paths
    unknown = paths["verdict"] == "unknown"
    known, without = paths[~unknown], paths[unknown]
    if len(known):
        st.caption("Support is as of each run's start. Choose a row to open the run at that decision.")
        _paths(review, known, key="paths")
    if len(without):
        words = f"{counted(len(without), 'alternative')} without a history when its run started"
        tables.folded(words, lambda: _paths(review, without, key="without"), key="without")


def _paths(review: ChoiceReview, paths: pd.DataFrame, *, key: str) -> None:
    ordered, evaluated = by_delta(paths), state.later(_evaluated)
    if len(ordered) > FEW:
        st.caption(f"The first {FEW:,} of {len(ordered):,} rows; download the table to see all.")
    first = ordered.head(FEW)
    shown = in_words(review.table(first, evaluated))[COLUMNS]
    row = tables.table(
        shown.assign(verdict=shown["verdict"].map(WORDS)),
        key=key,
        name="Alternatives",
        selectable=True,
        height=tables.height_of(len(shown), most=320),
        whole=lambda: review.table(ordered, evaluated)[COLUMNS],
        columns={
            "verdict": st.column_config.TextColumn(width=190)  # whole: it is the same few words in all rows
        }
        | dict.fromkeys(IN_FULL),
    )
    if row is not None:
        state.open_run(str(first["digest"].iloc[row]), decision=int(first["decision_point"].iloc[row]))


def _evaluated(corpus: Corpus) -> Corpus:
    # `state.later` takes a function of the corpus, and here the corpus itself is wanted.
    return corpus


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows whose values are among those chosen, one widget a column; nothing chosen keeps every row."""
    kept = frame
    offers = {name: sorted(frame[name].dropna().unique().tolist()) for name in FILTERS}
    asked = {name: options.asked(name, offered) for name, offered in offers.items()}
    used = sum(map(bool, asked.values()))
    label = f"Filters ({used} active)" if used else "Filters"
    box = st.expander(label, expanded=bool(used), icon=":material/filter_list:")
    for place, (name, words) in zip(box.columns(len(FILTERS)), FILTERS.items(), strict=True):
        offered, key = offers[name], f"decisions-{name}"
        shown = WORDS if name == "verdict" else {value: text.one_line(value, 60) for value in offered}
        # Before the widget is drawn, so that it shows what the address says.
        st.session_state[key] = asked[name]
        with place:
            chosen = st.multiselect(
                words,
                offered,
                format_func=shown.__getitem__,
                key=key,
                on_change=options.changed,
                args=(name, key),
                placeholder="All",
            )
        if chosen:
            kept = kept[kept[name].isin(chosen)]
    return kept
