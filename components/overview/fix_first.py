"""What to fix first, on the Overview: the list, what is listed apart, and the runs behind an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components import figures
from components.shared import options, state, tables, text
from components.shared.panels import panel
from untaken.answers import triage_table
from untaken.answers.first_page import RunBehind, runs_behind, runs_behind_items
from untaken.errors import Unscored, number
from untaken.fix_first import ITEMS_SHOWN, FixItem, Triage
from untaken.fix_first.findings import ORDERS, Order
from untaken.present.numbers import counted, interval, percent, points
from untaken.present.statuses import STAR

COLUMNS: Final = 3
NAMED: Final = 6
ITEM: Final = "fix_first_item"
AGENT: Final = "fix_first_agent"
ORDER: Final = "fix_first_order"
NAME: Final = "What to fix first"


@panel
def draw(found: Mapping[str | None, Triage]) -> None:
    """The fix-first list of all runs, or of one agent's.

    Args:
        found: the list by agent; that of everybody under ``None``.
    """
    heading, side = st.columns([3, 1], vertical_alignment="bottom")
    heading.subheader(NAME, anchor=False)
    agents = [agent for agent in found if agent is not None]
    with side:
        st.session_state[AGENT] = options.one("fix_agent", agents)
        agent = st.selectbox(
            "In the runs of",
            options=agents,
            index=None,
            format_func=lambda name: text.one_line(name, 60),
            key=AGENT,
            on_change=options.changed,
            args=("fix_agent", AGENT),
            placeholder="every agent",
        )
    seen = found[agent if agent in found else None]
    st.markdown(f"{text.label(seen.headline, 300)}.")
    if seen.items:
        _list(seen, found)
    _apart(seen)


def _list(seen: Triage, found: Mapping[str | None, Triage]) -> None:
    by = _order()
    items = seen.ordered(by)
    shown = {item.digest: item for item in items[:ITEMS_SHOWN]}
    if st.session_state.get(ITEM) not in shown:
        st.session_state[ITEM] = next(iter(shown))
    drawn = figures.fix_first_bars(items, by=by, marked=st.session_state[ITEM], dark=state.is_dark())
    tables.figure(drawn, key="fix", name=NAME, on_pick=_pick)
    more = len(items) - len(shown)
    left = f" {more:,} more in the table." if more > 0 else ""
    st.caption(
        "A failed run counts once: where it fails first by its log, leaving out what successful runs leave "
        f"undone as often. ✓ recommended · {STAR} critical.{left}"
    )
    tables.download(
        lambda: tables.csv(triage_table(seen)),
        label="What to fix first (CSV)",
        file="What-to-fix-first.csv",
        mime="text/csv",
        key="fix-first",
    )
    _chosen(shown, found)


def _order() -> Order:
    st.session_state[ORDER] = options.one("fix_by", ORDERS) or next(iter(ORDERS))
    chosen: Order = st.segmented_control(
        "Order by",
        list(ORDERS),
        format_func=ORDERS.__getitem__,
        required=True,
        key=ORDER,
        on_change=options.changed,
        args=("fix_by", ORDER),
        label_visibility="collapsed",
    )
    return chosen


def _apart(seen: Triage) -> None:
    """What no item counts, each by name and with a run to open."""
    for group in seen.infrastructure:
        unknown = f", {group.no_outcome:,} without an outcome" if group.no_outcome else ""
        loops = "; they may be looping" if group.kind == "step_limit" else ""
        failed = counted(group.failed_runs, "failed run")
        _line(f"Ended by {group.kind.replace('_', ' ')}: {failed}{unknown}{loops}.", group.runs[0])
    if seen.unscored_failed_runs:
        many = counted(len(seen.unscored_failed_runs), "failed run")
        _line(f"Not scored: {many}.", seen.unscored_failed_runs[0])
        st.page_link("pages/annotate.py", label="Draft a plan", query_params=state.scope())
    for one in [one for one in seen.left_out if one.doubt][:NAMED]:
        st.caption(f"Not counted as a failure: {text.label(one.doubt_words, 300)}")
    if others := [one for one in seen.left_out if not one.doubt]:
        named = ", ".join(f"{text.label(one.title, 60)} ({one.failed_runs:,})" for one in others[:NAMED])
        more = f" and {len(others) - NAMED:,} more" if len(others) > NAMED else ""
        st.caption(f"Also not completed in failed runs, after something else failed: {named}{more}.")


def _line(words: str, digest: str) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(words)
        st.page_link(state.RUN_PAGE, label="Read one", query_params={"run": digest} | state.scope())


def _pick(digest: str) -> None:
    st.session_state[ITEM] = digest


def _chosen(shown: Mapping[str, FixItem], found: Mapping[str | None, Triage]) -> None:
    with st.container(border=True, key="fix_first"):
        digest = st.selectbox(
            "Look at the runs of",
            options=list(shown),
            format_func=lambda name: _name(shown[name]),
            key=ITEM,
            help="Or click a bar.",
        )
        item = shown[digest]
        step = "" if item.cause is not None else f"{text.label(item.title, 120)}: "
        st.caption(f"{step}{text.label(item.reason, 400)}.")
        st.caption("  \n".join(_figures(item)))
        agents = " · ".join(f"{text.label(agent, 40)} {n:,}" for agent, n in list(item.agents.items())[:8])
        st.caption(f"{counted(len(item.runs), 'run')}, each agent in turn: {agents}")
        _links(_behind(item, found))


def _figures(item: FixItem) -> list[str]:
    """What is known of an item, in numbers."""
    lines = []
    if item.failed_runs and not isinstance(item.share, Unscored):
        lines.append(f"Fails first in {counted(item.failed_runs, 'failed run')} ({percent(item.share)}).")
    gain, low, high = number(item.gain), number(item.low), number(item.high)
    if item.failed_runs and gain is not None and low is not None and high is not None:
        span = interval(100 * low, 100 * high, digits=1)
        lines.append(
            f"Gain in success: {points(gain, sign=False)} points ({span}), if these runs succeed as often as "
            f"those that passed here ({item.passed_successes:,} of {item.passed:,})."
        )
    elif item.failed_runs and isinstance(item.gain, Unscored):
        lines.append(f"Gain unknown: {item.gain.reason}.")
    if item.critical and item.missed:
        lines.append(
            f"Critical, not completed in {counted(item.missed, 'run')}, {item.missed_successes:,} of them "
            f"successful: {percent(item.critical_gain, 1)} of critical completion."
        )
    if item.why:
        lines.append(f"{'Recommended' if item.recommended else 'Not recommended'}: {item.why}.")
    return lines


def _behind(item: FixItem, found: Mapping[str | None, Triage]) -> Sequence[RunBehind]:
    """The runs behind an item: those of all agents together are kept, those of one are looked at now."""
    if item in found[None].items[:ITEMS_SHOWN]:
        return state.derived(runs_behind_items, lambda: found)[item.digest]
    return runs_behind(state.compared(), item)


def _links(behind: Sequence[RunBehind]) -> None:
    for start in range(0, len(behind), COLUMNS):
        for place, run in zip(st.columns(COLUMNS), behind[start : start + COLUMNS], strict=False):
            with place:
                _link(run)


def _name(item: FixItem) -> str:
    marks = "✓ " * item.recommended + f"{STAR} " * item.critical
    return f"{marks}{text.one_line(item.title, 60)} · {text.one_line(item.reason, 100)}"


def _link(run: RunBehind) -> None:
    repeat = "" if run.task_repeat is None else f" · repeat {run.task_repeat}"
    target = {} if run.sub_goal is None else {"sub_goal": run.sub_goal}
    if run.sub_goal is not None:
        words = f"{text.label(run.reason, 160)} · {_outcome(run)}"
    else:
        words = _outcome(run) if run.seq is None else f"event {run.seq} · {_outcome(run)}"
    with st.container(border=True, gap="xsmall", height="stretch"):
        st.page_link(
            state.RUN_PAGE,
            label=f"{text.label(run.agent, 40)} on {text.label(run.task_id, 50)}{repeat}",
            query_params={"run": run.digest} | target | state.scope(),
        )
        st.caption(words)


def _outcome(run: RunBehind) -> str:
    if isinstance(run.success, Unscored):
        return "… no outcome recorded"
    return "✓ succeeded" if run.success else "✗ failed"
