"""What to fix first, on the Overview: two figures, and the runs behind the item that is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components import figures
from components.figures.triage import gain_words
from components.shared import options, state, tables, text
from components.shared.panels import panel
from untaken.answers import triage_table
from untaken.answers.first_page import RunBehind, runs_behind, runs_behind_items, shown_items
from untaken.counterfactual import SMALL_Q
from untaken.errors import Unscored
from untaken.fix_first import ITEMS_SHOWN, FailurePattern, FixFirst, Kind, Triage
from untaken.present.contexts import context_words
from untaken.present.numbers import counted
from untaken.present.statuses import STAR

HEADINGS: Final[dict[Kind, str]] = {
    "sub_goal": "◆ **Sub-goals** that fail first: the most completion that a fix could gain",
    "decision": "⇄ **Decisions** where another skill succeeded more often, by association",
}
NONE: Final[dict[Kind, str]] = {
    "sub_goal": "◆ Sub-goals: no failed sub-goal blocks one that counts",
    "decision": (
        "⇄ Decisions by the history of skills: no alternative is supported to succeed more often "
        f"(q ≤ {SMALL_Q:g})"
    ),
}
NAMES: Final[dict[Kind, str]] = {"sub_goal": "Sub-goals to fix first", "decision": "Decisions to fix first"}
COLUMNS: Final = 3
ITEM: Final = "fix_first_item"
AGENT: Final = "fix_first_agent"
GROUPED: Final = "fix_first_patterns"


@panel
def draw(found: Mapping[str | None, Triage]) -> None:
    """The fix-first list of all runs, or of one agent's.

    Args:
        found: the list by agent; that of everybody under ``None``.
    """
    heading, side = st.columns([3, 1], vertical_alignment="bottom")
    heading.subheader("What to fix first", anchor=False)
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
    if not seen.items:
        st.info(f"Nothing to fix: {text.label(seen.reason, 240)}.")
        return
    by_pattern = _by_pattern(seen)
    shown = {item.digest: item for kind in HEADINGS for item in _listed(seen, kind, by_pattern)[:ITEMS_SHOWN]}
    if st.session_state.get(ITEM) not in shown:
        st.session_state[ITEM] = next(iter(shown))
    st.caption(
        "Expected gain = how often it happens × how much it costs there, averaged over all runs. A "
        "sub-goal counts where it fails first, with everything that depends on it. The two gains have "
        "different units: do not compare them."
    )
    _figures(seen, by_pattern)
    for conflict in seen.conflicts:
        st.warning(f"Conflicting advice: {text.label(conflict.words, 500)}.", icon=":material/sync_problem:")
    _chosen(shown, found)


def _by_pattern(seen: Triage) -> bool:
    """Whether sub-goals that fail alike in several tasks are taken together."""
    if not seen.patterns:
        return False
    many = len(seen.of_kind("sub_goal"))
    views = {"pattern": "Patterns over tasks", "sub_goal": f"Each of {many:,} sub-goals"}
    usual = "pattern" if seen.by_pattern else "sub_goal"
    st.session_state[GROUPED] = options.one("fix_by", views) or usual
    chosen = st.segmented_control(
        "Group by",
        list(views),
        format_func=views.__getitem__,
        required=True,
        key=GROUPED,
        on_change=options.changed,
        args=("fix_by", GROUPED),
        label_visibility="collapsed",
        help="Every task has its own plan graph: sub-goals that fail alike are one pattern.",
    )
    return chosen == "pattern"


def _listed(seen: Triage, kind: Kind, by_pattern: bool) -> Sequence[FixFirst]:
    return seen.patterns if by_pattern and kind == "sub_goal" else seen.of_kind(kind)


def _figures(seen: Triage, by_pattern: bool) -> None:
    kinds = [kind for kind in HEADINGS if seen.of_kind(kind)]
    places = st.columns(len(kinds), gap="large")
    for place, kind in zip(places, kinds, strict=True):
        with place:
            items = _listed(seen, kind, by_pattern)
            more = f" · the first {ITEMS_SHOWN} of {len(items):,}" if len(items) > ITEMS_SHOWN else ""
            st.caption(f"{HEADINGS[kind]} · {_over(seen, kind)}{more}")
            drawn = figures.fix_first_bars(items, marked=st.session_state[ITEM], dark=state.is_dark())
            tables.figure(drawn, key=f"fix-{kind}", name=NAMES[kind], on_pick=_pick)
    with places[0]:
        tables.download(
            lambda: tables.csv(triage_table(seen)),
            label="What to fix first (CSV)",
            file="What-to-fix-first.csv",
            mime="text/csv",
            key="fix-first",
        )
    for kind in HEADINGS:
        if kind not in kinds:
            st.caption(f"{NONE[kind]} · {_over(seen, kind)}")


def _over(seen: Triage, kind: Kind) -> str:
    if kind == "sub_goal":
        left = f" ({seen.unscored:,} more unscored)" if seen.unscored else ""
        return f"{counted(seen.scored, 'scored run')}{left}"
    left = f" ({seen.not_evaluated:,} more not evaluated)" if seen.not_evaluated else ""
    return f"{counted(seen.evaluated, 'evaluated run')}{left}"


def _pick(digest: str) -> None:
    st.session_state[ITEM] = digest


def _chosen(shown: Mapping[str, FixFirst], found: Mapping[str | None, Triage]) -> None:
    with st.container(border=True, key="fix_first"):
        digest = st.selectbox(
            "Look at the runs of",
            options=list(shown),
            format_func=lambda name: _name(shown[name]),
            key=ITEM,
            help="Or click a bar.",
        )
        item = shown[digest]
        st.caption(f"{text.label(item.reason, 400)}.{_unknown(item)}{_also(item)}")
        agents = " · ".join(f"{text.label(agent, 40)} {n:,}" for agent, n in list(item.agents.items())[:8])
        st.caption(f"{counted(len(item.runs), 'run')}, largest effect first: {agents}")
        _links(_behind(item, found))
        if item.kind == "decision":
            st.page_link(
                "pages/decisions.py",
                label="Open in Decisions",
                query_params={"choice": item.digest} | state.scope(),
            )


def _behind(item: FixFirst, found: Mapping[str | None, Triage]) -> Sequence[RunBehind]:
    """The runs behind an item: those of all agents together are kept, those of one are looked at now."""
    if item in shown_items(found[None]):
        return state.derived(runs_behind_items, lambda: found)[item.digest]
    return runs_behind(state.compared(), item)


def _links(behind: Sequence[RunBehind]) -> None:
    for start in range(0, len(behind), COLUMNS):
        for place, run in zip(st.columns(COLUMNS), behind[start : start + COLUMNS], strict=False):
            with place:
                _link(run)


def _name(item: FixFirst) -> str:
    gain = gain_words(item, item.gain)
    if item.kind == "sub_goal":
        star = f"{STAR} " if item.critical else ""
        if isinstance(item, FailurePattern):
            return f"◆ {star}{text.one_line(item.title, 80)} · {item.tasks} tasks · {gain} {item.unit}"
        return f"◆ sub-goal · {star}{text.one_line(item.title, 60)} · {gain} {item.unit}"
    skills = f"{text.one_line(item.selected, 30)} → {text.one_line(item.alternative, 30)}"
    context = text.one_line(context_words(item.context, item.context_hash or ""), 60)
    return f"⇄ decision · {skills} · {context} · {gain} {item.unit}"


def _unknown(item: FixFirst) -> str:
    return f" In {counted(item.unknown, 'run')} it is unscored." if item.unknown else ""


def _also(item: FixFirst) -> str:
    named = ", ".join(text.label(skill, 40) for skill in item.also)
    return f" Other alternatives that succeeded more often: {named}." if named else ""


def _link(run: RunBehind) -> None:
    repeat = "" if run.task_repeat is None else f" · repeat {run.task_repeat}"
    if run.sub_goal is not None:
        target, words = {"sub_goal": run.sub_goal}, f"{text.label(run.reason, 160)} · {_outcome(run)}"
    else:
        target, words = {"decision": str(run.seq)}, f"event {run.seq} · {_outcome(run)}"
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
