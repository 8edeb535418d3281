"""The reviewer's loop: the queue on the left, the run on the right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.failure_modes import view
from components.review import panel, queue, second_reading, signing
from components.run import first_screen
from components.shared import after_saves, cards, listed_runs, options, state, text
from components.shared.panels import panel as part
from untaken.views import META, Case, chosen_cases, fields_of, most_informative_first, with_reviews


@after_saves.alone
def draw() -> None:
    """Draw it."""
    _queue_and_run()
    signing.ask()


@part
def _queue_and_run() -> None:
    reviews = state.workspace().reviews.every()
    cases = with_reviews(queue.cases(of_all=state.lists_all()), reviews)
    linked = queue.linked()
    if not cases and linked is None:
        words = f"No runs{listed_runs.of_whom()} to review. Nothing to explain."
        st.success(words, icon=":material/check_circle:")
        return
    left, right = st.columns([1, 2], gap="medium")
    with left, st.container(key="review-left", gap="small"):
        offered = fields_of(cases)
        filters = remember(offered)
        with st.container(horizontal=True, gap="small", key="queue-choice"):
            listed_runs.switch()
            fold = _fold(filters)
        with fold:
            cases = _ordered(cases)
            _draw_filters(offered, filters)
        shown = chosen_cases(cases, filters)
        queue.progress(shown, cases)
        # A linked run that is not in the queue is shown all the same.
        case = None if linked in {one.item.digest for one in cases} else linked
        found = queue.chosen(shown, cases) if case is None else None
        digest = found.item.digest if found else case
        if not shown:
            st.info("No run to review matches these filters.")
        if digest is not None:
            queue.keys(shown, cases, digest)
        queue.queue(shown, digest)
        with st.container(horizontal=True):
            queue.bulk(shown)
            queue.export(shown)
    if digest is not None:
        with right, st.container(key="review-case", gap="small"):
            _run(digest)


@part
def _run(digest: str) -> None:
    """The first screen of the run, and what else there is on its review."""
    report = second_reading.report_on(digest)
    if not state.is_listed(digest):
        listed_runs.not_compared(report.run.agent)
    first_screen.draw(report, panel.review_of(report.run))
    with st.expander("Assignee, tags and history", key="review-people", on_change="rerun") as people:
        if people.open:
            panel.of_run(report.run)
    state.run_link("Open the Run page for events, progress and findings", digest)


ORDERS: Final = {"severity": "Most severe first", "teaches": "Most informative first"}
ADDRESS: Final = "order"


def _ordered(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases in the order asked for, below the control that asks."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = cards.picker(
            "Order",
            ORDERS,
            options.one(ADDRESS, ORDERS) or "severity",
            # The usual one needs no address.
            lambda name: options.keep(ADDRESS, [] if name == "severity" else [name]),
            key="review_order",
            draw=st.segmented_control,
            required=True,
            help="One unread run of each way to fail, then runs where a judge and people disagree.",
        )
        drawn = st.button(
            "Random run",
            key="review-random",
            icon=":material/casino:",
            help="The next run of the random draw, successful ones included, for unbiased labels.",
        )
        second_reading.draw_one()
    if drawn and (following := view.analysis().draw.following):
        state.select(run=following)
    if order != "teaches":
        return tuple(cases)
    return most_informative_first(view.analysis(), cases)


FILTERS: Final = "review_filters"
FIRST: Final = ("status", "assignee", "tag", "agent", "task", "kind")
"""Fields that come first; the others follow where there is something to choose between."""
PLAIN: Final = re.compile(r"(?=.{1,40}$)[A-Za-z0-9]+([_ ][A-Za-z0-9]+)*")
"""Keys without anything to escape: a screen reader would read the backslash aloud."""


def remember(offered: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The filters of the address, or those of the session where a navigation click cleared them."""
    asked = {field: st.query_params.get_all(field) for field in offered if field in st.query_params}
    filters = asked or st.session_state.get(FILTERS, {})
    _choose({field: values for field, values in filters.items() if field in offered})
    return dict(st.session_state[FILTERS])


def _fold(filters: Mapping[str, Sequence[str]]) -> DeltaGenerator:
    """What the order and the filters are drawn in; it says how many filters are in force."""
    used = sum(bool(values) for values in filters.values())
    words = f"Order and filters ({used} active)" if used else "Order and filters"
    return st.popover(words, icon=":material/filter_list:")


@part
def _draw_filters(offered: Mapping[str, Sequence[str]], filters: Mapping[str, Sequence[str]]) -> None:
    """One widget a field."""
    first = [field for field in FIRST if field in offered]
    # A further field only where it has anything to choose between.
    useful = [f for f, some in offered.items() if f not in FIRST and (len(some) > 1 or filters.get(f))]
    recorded = [field for field in useful if field.startswith(META)]
    for field in (*first, *(field for field in useful if field not in recorded)):
        _widget(field, offered[field], filters.get(field, ()))
    if recorded:
        st.caption("Metadata of the runs (from RUN\\_STARTED):")
    for field in recorded:
        _widget(field, offered[field], filters.get(field, ()))
    if any(filters.values()):
        st.button("Clear all filters", key="filters-clear", type="tertiary", on_click=_choose, args=({},))


def _widget(field: str, values: Sequence[str], chosen: Sequence[str]) -> None:
    key = f"filter-{field.encode().hex()[:60]}"  # a metadata key may hold anything
    st.session_state[key] = list(chosen)
    st.multiselect(
        _words(field),
        options=list(dict.fromkeys([*values, *chosen])),  # what no longer occurs can still be taken out
        format_func=lambda value: text.one_line(value, 60),
        key=key,
        placeholder="All",
        on_change=lambda: _changed(field, key),
    )


def _words(field: str) -> str:
    if not field.startswith(META):
        return field.capitalize()
    key = field.removeprefix(META)
    return key if PLAIN.fullmatch(key) else text.label(key, 40)


def _changed(field: str, key: str) -> None:
    _choose({**st.session_state.get(FILTERS, {}), field: list(st.session_state[key])})


def _choose(filters: Mapping[str, Sequence[str]]) -> None:
    chosen = {field: list(values) for field, values in filters.items() if values}
    for field in {**st.session_state.get(FILTERS, {}), **chosen}:  # those that are gone leave the address
        state.write_address(field, chosen.get(field, ()))
    st.session_state[FILTERS] = chosen
