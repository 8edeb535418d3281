"""Pieces of the Memory page: what is chosen there, and the weak signals that wait.

The choices live in the address while the page is shown, and in the session while another one is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pandas as pd
import streamlit as st

from components import figures
from components.shared import evaluating, roles, state, tables, text
from components.shared.choice_words import in_words
from components.shared.panels import panel
from untaken.counterfactual import Flag, PolicyMemory, Signal, Snapshot, context_words, fold_in
from untaken.errors import UntakenError
from untaken.numbers import counted, interval, percent
from untaken.views import SignalReview, contexts_by_evidence, estimates_table, unequal_words

ADDRESS: Final = ("skill", "context", "as_of")
"""What the page's address holds (untrusted)."""
NOW: Final = "now"
MOST_MOMENTS: Final = 400
FLAGS: Final[dict[Flag, str]] = {
    "none": "",
    "against": "⚠ pushes against",
    "no_effect": "＝ no effect",
    "no_outcome": "？ no outcome",
}
DIRECTIONS: Final = {"negative": "▼ against the skill", "positive": "▲ for the skill"}
NAME: Final = st.column_config.TextColumn(width=170)
WIDE: Final = st.column_config.TextColumn(width=250)
IN_FULL: Final = (
    *(
        "n_runs",
        "success_low",
        "success_high",
        "cost_low",
        "cost_high",
        "steps_low",
        "steps_high",
        "context_hash",
    ),
    *("avg_cost_reason", "cost_low_reason", "avg_steps_reason", "steps_low_reason"),
)
"""Columns of the records that the download alone has."""
ASKED: Final = "memory_asked"
DONE: Final = "memory_done"


def choose(
    name: str,
    words: str,
    options: Sequence[str],
    *,
    shown: Callable[[str], str] = str,
    draw: Callable[..., Any] = st.selectbox,
    usual: str | None = None,
) -> str:
    """One of the options, as the address asks, else as chosen before, else `usual`, which no address has."""
    key, kept, first = f"memory_{name}", f"selected_{name}", usual or options[0]
    asked = st.query_params.get(name)
    if asked is not None and asked != st.session_state.get(kept):
        st.session_state[key] = asked  # a link was followed
    elif key not in st.session_state:
        st.session_state[key] = st.session_state.get(kept)  # another page was shown meanwhile
    if st.session_state[key] not in options:
        st.session_state[key] = first
    value = str(draw(words, options, key=key, format_func=shown))
    st.session_state[kept] = value
    state.write_address(name, [] if value == usual else [value])
    return value


def choose_context(records: pd.DataFrame, names: Mapping[str, str]) -> str:
    """The context whose skills are compared; first, the one that has most to compare."""
    return choose(
        "context",
        "Context",
        contexts_by_evidence(records, names),
        shown=lambda key: text.one_line(context_words(names[key], key), 120),
    )


@panel
def complete_link(records: pd.DataFrame) -> None:
    """A link that names a skill alone means the context of which most is known of it."""
    skill = st.query_params.get("skill")
    if skill is None or "context" in st.query_params:
        return
    known = records[records["skill"] == skill].sort_values("n", ascending=False, kind="stable")
    if len(known):
        st.query_params["context"] = str(known["context_hash"].iloc[0])


@panel
def as_of(memory: PolicyMemory) -> datetime | None:
    """The moment whose snapshot is shown; ``None`` for now."""
    every = memory.moments
    step = max(1, -(-len(every) // MOST_MOMENTS))  # a slider has no room for thousands of moments
    offered = {moment.isoformat(): moment for moment in every[::step]}
    if (linked := _moment(st.query_params.get("as_of"))) is not None:
        offered[st.query_params["as_of"]] = linked  # under its own spelling, so that the link stays as it is
    ordered = sorted(offered, key=lambda name: offered[name])
    chosen = choose(
        "as_of",
        "As of",
        [*ordered, NOW],
        shown=lambda name: name if name == NOW else f"{offered[name]:%Y-%m-%d %H:%M} UTC",
        draw=st.select_slider,
        usual=NOW,
    )
    return offered.get(chosen)


def _moment(asked: str | None) -> datetime | None:
    """The moment an address asks for; ``None`` where it is none."""
    try:
        named = datetime.fromisoformat(asked or "")
        return named.astimezone(UTC) if named.tzinfo else None  # without a zone it would be the server's
    except (ValueError, OverflowError):
        return None


@panel
def skills(here: pd.DataFrame, snapshot: Snapshot, context: str) -> None:
    """The skills of a context compared; folded where nothing tells one from another, which is said."""
    if words := len(here) and unequal_words(here):
        st.info(text.label(words, 600))
        tables.folded(
            "Figures of this context",
            lambda: _side_by_side(here, snapshot, context),
            key="few",
            opened="skill" in st.query_params,
        )
    else:
        _side_by_side(here, snapshot, context)


def _side_by_side(here: pd.DataFrame, snapshot: Snapshot, context: str) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        rates(here, snapshot.digest, context)
    if len(here):
        with right:
            course(here, snapshot, context)


@panel
def rates(here: pd.DataFrame, digest: str, context: str) -> None:
    """The success rate of each skill in the chosen context; `digest` of the snapshot."""
    tables.figure(
        lambda: figures.skill_rates(here, dark=state.is_dark()),
        key="rates",
        name="Success rate by skill in this context",
        of=(digest, context),
        about="95% intervals; repeats within a run, and its copies, count once. An association, not a cause.",
        table=lambda: here,
    )


@panel
def course(here: pd.DataFrame, snapshot: Snapshot, context: str) -> None:
    """How the estimate of one skill developed."""
    skills = here["skill"].tolist()
    skill = choose("skill", "Skill", skills, shown=lambda name: text.one_line(name, 80))
    found = estimates_table(snapshot, skill, context)
    tables.figure(
        lambda: figures.estimates_over_time(found, dark=state.is_dark()),
        key="course",
        name="How its estimate developed",
        of=(snapshot.digest, context, skill),
        table=lambda: found,
    )


@panel
def every_record(records: pd.DataFrame, snapshot: Snapshot) -> None:
    """All records of a snapshot as a table, what rests on most runs first."""
    unit = f" Costs in {text.label(snapshot.cost_unit.upper(), 40)}." if snapshot.cost_unit else ""
    st.caption(
        "Most evidence first. Effective runs: repeats within a run count as one run, as do copies of a run. "
        f"Intervals of cost and steps are in the download.{unit}"
    )
    shown = in_words(records.sort_values(["n_effective", "n"], ascending=False, kind="stable"))
    ends = zip(shown["success_low"], shown["success_high"], strict=True)
    shown.insert(shown.columns.get_loc("success_low"), "95%", [interval(*two, percent) for two in ends])
    weak = {} if shown["weak_weight"].any() else {"weak_weight": None}
    tables.table(
        shown,
        key="records",
        name="Records of policy memory",
        height=360,
        most=300,
        whole=lambda: in_words(records),
        columns={"skill": NAME, "context": WIDE, "success_rate": "success"} | weak | dict.fromkeys(IN_FULL),
    )


@panel
def applied(found: pd.DataFrame) -> None:
    """The weak signals that were applied."""
    st.caption("Each was applied once. Each weighs 0.25, up to half of the outcomes in total.")
    tables.table(
        in_words(found),
        key="applied",
        name="Applied weak signals",
        height=260,
        most=2_000,
        columns={"context": WIDE, "context_hash": None},
    )


@panel
def signals(review: SignalReview) -> None:
    """The signals that wait with what each does, and the buttons that apply them."""
    if not review.effects:
        st.info("No pending signals: no alternative scores higher, or all signals are applied.")
        return
    _advice(review)
    shown = in_words(review.table)
    tables.table(
        shown.assign(flag=shown["flag"].map(FLAGS), direction=shown["direction"].map(DIRECTIONS)),
        key="signals",
        name="Pending weak signals",
        height=300,
        most=500,
        columns={"before_reason": None, "context": WIDE, "context_hash": None, "key": None},
    )
    st.caption(
        "Before and after: the estimate of the current memory without and with this signal. After all: with "
        "every signal."
    )
    with st.container(horizontal=True):
        _button(f"Apply the {len(review.advised):,} advised", review.advised, "advised", primary=True)
        against = len(review.against)
        also = f", {against:,} of them against their direction" if against else ""
        _button(f"Apply all {len(review.effects):,}{also}", review.signals, "all")
    _confirm(review)


def _advice(review: SignalReview) -> None:
    """What to apply, what to leave and why, and what the largest push against its direction would do."""
    words = (
        f"**Apply {len(review.advised):,} of {counted(len(review.effects), 'signal')}.** These are supported "
        "and move their estimate in the intended direction."
    )
    if review.against:
        first = review.against[0]
        words += (
            f" **Leave {len(review.against):,}**: they would move their estimate the wrong way. A signal "
            "sets 0.7 for the skill taken and 0.6 for its alternative, so it lowers a higher estimate "
            f"and raises a lower one. The largest: {text.label(first.flag_reason, 160)} "
            f"({text.label(first.signal.skill, 60)})."
        )
    for flag, why in (("no_effect", "have no effect"), ("no_outcome", "have no outcome to change")):
        if many := review.flags.get(flag):
            words += f" {many:,} {why}."
    st.markdown(words)


def _button(words: str, chosen: Sequence[Signal], what: str, *, primary: bool = False) -> None:
    kind = "primary" if primary else "secondary"
    if st.button(words, key=f"memory_apply_{what}", disabled=not chosen, type=kind):
        st.session_state[ASKED] = what


def _confirm(review: SignalReview) -> None:
    """Asks once more: what is folded in stays."""
    what = st.session_state.get(ASKED)
    if what is None:
        return
    chosen = review.signals if what == "all" else review.advised
    against = len(review.against) if what == "all" else 0  # none of those advised is
    with st.container(border=True):
        st.markdown(f"**Apply {counted(len(chosen), 'weak signal')} to the memory of these agents?**")
        st.caption(
            f"{against:,} of them move against their stated direction. They apply from now on: earlier "
            "snapshots and evaluations of runs that started earlier do not change. You cannot undo this."
        )
        with st.container(horizontal=True):
            agreed = st.button("Apply signals", type="primary", key="memory_apply_yes")
            left = st.button("Cancel", key="memory_apply_no")
    if agreed or left:
        del st.session_state[ASKED]
        if agreed:
            st.session_state[DONE] = _fold(chosen)
        st.rerun()


def _fold(chosen: Sequence[Signal]) -> str:
    try:
        roles.need("owner")
        done = fold_in(evaluating.policy(state.workspace()), chosen)
    except UntakenError as error:
        return f"✗ Nothing was applied: {error.message}. {error.hint}"
    before = len(chosen) - len(done.observations)  # somebody else may have applied some meanwhile
    known = f"; {before:,} were already applied" if before else ""
    return f"✓ {counted(len(done.observations), 'weak signal')} applied{known}."
