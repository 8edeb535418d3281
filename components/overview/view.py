"""The Overview: its three numbers, what to fix first with the runs behind an item, and what runs used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from components import figures
from components.rankings.words import metric_words
from components.shared import cards, options, sharing, state, tables, text
from components.shared.panels import panel
from untaken.analysis import ITEMS_SHOWN, ORDERS, FixItem, Order, Triage, triage
from untaken.errors import Score, Unscored, number
from untaken.numbers import counted, interval, percent, points, signed
from untaken.views import (
    MEASURES,
    STAR,
    AgentUsage,
    Overview,
    RunBehind,
    figure_words,
    fix_packet,
    runs_behind,
    runs_behind_items,
    triage_table,
    usage_table,
)

RUNS_SHOWN: Final = 3
ITEM: Final = "fix_first_item"
NAME: Final = "What to fix first"


@panel
def fix_first(found: Triage, *, below: Callable[[], None] | None = None) -> None:
    """The fix-first list of all runs, or of one agent's; `below` draws what is below the bars."""
    agents = state.agents()
    agent = options.one("fix_agent", agents)
    seen = found if agent is None else _of_agent(agent)
    bars, item = st.columns([7, 5], gap="large")
    with bars:
        shown = _list(seen, agents)
        _apart(seen)
        if below:
            below()
    if shown:
        with item:
            _chosen(shown, found)


def _of_agent(agent: str) -> Triage:
    return state.drawn(lambda: triage(state.compared(), agents=(agent,)), "fix first", agent)


def _list(seen: Triage, agents: Sequence[str]) -> Mapping[str, FixItem]:
    """Draw the bars, and whose runs are looked at; gives the items drawn, by digest."""
    if not seen.items:
        st.subheader(NAME, anchor=False)
        st.markdown(f"{text.label(seen.headline, 300)}.")
        if options.one("fix_agent", agents):  # else nobody gets back to the runs of every agent
            _agent(agents)
        return {}
    usual: Order = "failed" if seen.failed else "critical"
    asked = options.one("fix_by", ORDERS)
    by = next((order for order in ORDERS if order == asked), usual)
    items = seen.ordered(by)
    shown = {item.digest: item for item in items[:ITEMS_SHOWN]}
    if st.session_state.get(ITEM) not in shown:  # the items of another agent, or in another order
        st.session_state[ITEM] = next(iter(shown))
    more = len(items) - len(shown)
    tables.figure(
        figures.fix_first_bars(items, by=by, marked=st.session_state[ITEM], dark=state.is_dark()),
        key="fix",
        name=NAME,
        on_pick=_pick,
        about=f"{text.label(seen.headline, 300)}. A failed run counts once, where it fails first. "
        f"✓ recommended · {STAR} critical.{f' {more:,} more in the table (⤓).' if more > 0 else ''}",
        controls=lambda: _controls(agents, by),
        table=lambda: triage_table(seen),
    )
    return shown


def _controls(agents: Sequence[str], by: Order) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        options.pick(
            "Order by", "fix_by", ORDERS, by, key="fix_first_order", draw=st.segmented_control, required=True,
            label_visibility="collapsed",
        )  # fmt: skip
        _agent(agents)


def _agent(agents: Sequence[str]) -> None:
    words = {agent: text.name(agent) for agent in agents}
    options.pick(
        "In the runs of", "fix_agent", words, None, key="fix_first_agent", index=None, width=190,
        placeholder="Runs of every agent", label_visibility="collapsed",
    )  # fmt: skip


def _apart(seen: Triage) -> None:
    """What no item counts, each by name and with a run to open."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="fix-apart"):
        for group in seen.infrastructure:
            many = [counted(group.failed_runs, "failed run")] if group.failed_runs else []
            many += [f"{counted(group.no_outcome, 'run')} without an outcome"] if group.no_outcome else []
            loops = " (may be looping)" if group.kind == "step_limit" else ""
            words = f"Ended by {group.kind.replace('_', ' ')}: {', '.join(many)}{loops}"
            state.run_link(words, group.runs[0])
        if seen.unscored_failed_runs:
            unscored = counted(len(seen.unscored_failed_runs), "failed run")
            state.run_link(f"Not scored: {unscored}", seen.unscored_failed_runs[0])
            if seen.without_plan:
                st.page_link("pages/annotate.py", label="Draft a plan", query_params=state.scope())
        st.page_link(
            "pages/failure_modes.py", label="All causes", query_params={"view": "causes"} | state.scope()
        )
        st.page_link(
            "pages/decisions.py", label="Choices to change", query_params={"view": "change"} | state.scope()
        )
    if not seen.left_out:
        return
    doubtful = [one for one in seen.left_out if one.doubt]
    others = [one for one in seen.left_out if not one.doubt]
    with st.expander(f"Not counted above: {counted(len(seen.left_out), 'sub-goal')} of failed runs"):
        for one in doubtful:
            st.caption(text.label(one.doubt_words, 300))
        for one in others:
            st.caption(
                f"{text.label(one.title, 60)}: not completed in {counted(one.failed_runs, 'failed run')}, "
                "always after something else failed."
            )


def _pick(digest: str) -> None:
    st.session_state[ITEM] = digest


def _chosen(shown: Mapping[str, FixItem], found: Triage) -> None:
    with st.container(border=True, gap="small", key="fix_first"):
        digest = st.selectbox(
            "Look at the runs of",
            options=list(shown),
            format_func=lambda name: _name(shown[name]),
            key=ITEM,
            help="Or click a bar.",
        )
        item = shown[digest]
        words = item.reason if item.cause is not None else f"{item.title}: {item.reason}"
        st.markdown(f"{text.label(text.sentence(words), 500)}.")
        st.caption("  \n".join(_figures(item)))
        agents = " · ".join(f"{text.label(agent, 40)} {n:,}" for agent, n in list(item.agents.items())[:8])
        st.caption(f"{counted(len(item.runs), 'run')}: {agents}")
        _links(_behind(item, found)[:RUNS_SHOWN])
        sharing.packet(fix_packet, [item], "fix")


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
            f"successful: {points(item.critical_gain, sign=False)} points of critical completion."
        )
    if item.why:
        lines.append(f"{'Recommended' if item.recommended else 'Not recommended'}: {item.why}.")
    return lines


def _behind(item: FixItem, found: Triage) -> Sequence[RunBehind]:
    """The runs behind an item: those of all agents together are kept, those of one are looked at now."""
    if item in found.items[:ITEMS_SHOWN]:
        return state.derived(runs_behind_items, lambda: found)[item.digest]
    return runs_behind(state.compared(), item)


def _links(behind: Sequence[RunBehind]) -> None:
    """A link for each run, and why it is here, where the run before is not here for the same reason."""
    before = ""
    for run in behind:
        repeat = "" if run.task_repeat is None else f" · repeat {run.task_repeat}"
        at = {} if run.sub_goal is None else {"sub_goal": run.sub_goal}
        event = f" · event {run.seq}" if run.seq is not None and run.sub_goal is None else ""
        where = f"{text.label(run.agent, 40)} on {text.label(run.task_id, 50)}{repeat}{event}"
        state.run_link(f"{text.outcome(run.success)} {where}", run.digest, **at)
        if run.reason and run.reason != before:
            st.caption(text.label(text.sentence(run.reason), 140))
        before = run.reason


def _name(item: FixItem) -> str:
    marks = "✓ " * item.recommended + f"{STAR} " * item.critical
    return f"{marks}{text.one_line(item.title, 60)} · {text.one_line(item.reason, 100)}"


@panel
def numbers(seen: Overview) -> None:
    """How often it worked, how often that misleads, whether rankings agree; each with what it rests on."""
    more = (
        f" {counted(seen.succeeded.left_out, 'more run', 'have')} no recorded outcome."
        if seen.succeeded.left_out
        else ""
    )
    rate = percent(seen.succeeded.rate)
    pooled = f" ({rate}, pooled)" if rate != percent(seen.task_mean) else ""
    undecided = f" {seen.lucky.left_out} more cannot be decided." if seen.lucky.left_out else ""
    tau = seen.agreement.tau_b if seen.agreement else Unscored("no ranking by this metric")
    ranked = seen.pairs and not isinstance(tau, Unscored)
    found = [
        (
            "Success, mean over tasks",
            percent(seen.task_mean),
            f"95% interval {interval(seen.task_low, seen.task_high, percent)}. {seen.succeeded.count:,} of "
            f"{counted(seen.succeeded.n, 'run')} with a recorded outcome{pooled}.{more}"
            if seen.succeeded.n
            else "No run records an outcome.",
        ),
        (
            "Successes that missed a critical sub-goal",
            percent(seen.lucky.rate),
            f"{seen.lucky.count} of {counted(seen.lucky.n, 'successful run')} with a critical sub-goal."
            f"{undecided}"
            if seen.lucky.n
            else "No run succeeded."
            if not seen.succeeded.count
            else "No successful run has a critical sub-goal with a result. Mark critical ones in Annotate.",
        ),
        (
            "Pairs of agents whose ranks differ",
            f"{len(seen.discordant)} of {seen.pairs}" if ranked else "–",
            f"By success against {metric_words(seen.metric)}. {agreement_words(seen)}"
            if ranked
            else _no_ranking(tau)
            if seen.succeeded.n and seen.graphs
            else "No plan graph: agents are ranked by the outcome alone."
            if seen.succeeded.n
            else "No run records an outcome to rank by.",
        ),
    ]
    # With one agent, a remark says that there is nothing to rank.
    cards.number_cards(*found[: 2 if seen.agents == 1 else 3])


def _no_ranking(tau: Score) -> str:
    why = tau.reason if isinstance(tau, Unscored) else "only one agent is ranked"
    return f"{text.label(why[:1].upper() + why[1:], 160)}."


def agreement_words(seen: Overview) -> str:
    """How far the two rankings agree, and how many pairs differ beyond doubt."""
    if seen.agreement is None:
        return ""
    low, high = number(seen.agreement.low), number(seen.agreement.high)
    clear = sum(pair.clear for pair in seen.discordant)  # beyond doubt, by the intervals of their ranks
    surely = f" {clear:,} of them clearly." if clear else ""
    if seen.agreement.n < 3:  # two agents agree or not: nothing to estimate
        return surely.strip()
    span = f", 95% interval {interval(low, high, signed)}" if low is not None and high is not None else ""
    return f"{surely} Agreement (Kendall's τ-b) {signed(seen.agreement.tau_b)}{span}.".strip()


@panel
def usage(found: Sequence[AgentUsage]) -> None:
    """Outcome, cost, tokens and steps: a table by agent, and one by agent and task."""
    st.subheader("Outcome, cost, tokens and steps", anchor=False)
    st.caption("Means over tasks of each task's mean, with 95% intervals over tasks.")
    agents, tasks = ([one for one in found if (one.task_id is None) is whole] for whole in (True, False))
    _usage_table(agents, key="usage", name="Usage by agent")
    tables.folded(
        "By agent and task",
        lambda: _usage_table(tasks, key="usage-tasks", name="Usage by agent and task", height=320),
        key="usage-tasks",
    )


def _usage_table(found: Sequence[AgentUsage], *, key: str, name: str, **more: Any) -> None:
    """What was recorded, in words; the download has each number by itself."""
    whole = usage_table(found)
    shown = whole[["agent", "task_id", "runs", "tasks"]].assign(
        **{measure: [_usage(one, measure) for one in found] for measure in MEASURES}
    )
    tables.table(shown, key=key, name=name, whole=lambda: whole, **more)


def _usage(one: AgentUsage, measure: str) -> str:
    words = figure_words(one, measure, one.cost_unit or "")
    return f"{words[0]} ({words[1]})" if words else ""
