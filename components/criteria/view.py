"""What the Criteria page shows: whose values, which criteria deserve trust, one in full, two agents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from components import figures
from components.criteria import editing
from components.shared import cards, options, state, tables, text
from components.shared.panels import panel
from untaken.answers import (
    CriteriaReview,
    against_people,
    attacks_table,
    criteria_list,
    criteria_people_table,
    ledger_review,
    outcome_means_table,
    recorded_review,
    side_table,
    values_table,
    verification_table,
)
from untaken.criteria import (
    ATTACK_WORDS,
    CriteriaSet,
    Criterion,
    CriterionCheck,
    UniqueCount,
    agents_of,
    compare_agents,
    kept_answers,
    kept_criteria,
    kept_digest,
    ledger_criteria,
    unique_by_seeds,
)
from untaken.errors import Unscored, UntakenError, reason
from untaken.judging import FEWEST_PAIRS, LEAST_KAPPA
from untaken.present.numbers import counted, interval, percent

SOURCES: Final = {"recorded": "Recorded replies", "ledger": "Computed from the ledgers"}
MOST_CARDS: Final = 12
SIGNS: Final = {True: "✓", False: "✗", None: "?"}
TWO: Final = st.column_config.NumberColumn(format="%.2f")
LONG: Final = st.column_config.TextColumn(width="large")
MEANS: Final = ("mean", "low", "high")
SIDE_NUMBERS: Final = (
    *("first", "first_low", "first_high", "second", "second_low", "second_high"),
    *("difference", "low", "high"),
)


def folder() -> Path:
    """The workspace's folder."""
    return state.workspace().path


def criteria() -> CriteriaSet:
    """Criteria in this workspace; where their file was damaged, that is said, and there are none."""
    try:
        return kept_criteria(folder())
    except UntakenError as error:
        st.error(text.label(str(error), 400))
        return CriteriaSet(id="workspace", criteria=[])


def reviews() -> dict[str, CriteriaReview]:
    """Values by source: uploaded ones first, then those from ledgers."""
    found: dict[str, CriteriaReview] = {}
    try:
        recorded = _recorded(str(folder()), kept_digest(folder()))
    except UntakenError as error:
        st.error(text.label(str(error), 400))
        recorded = None
    if recorded is not None:
        found["recorded"] = recorded
    if state.compared().runs:
        found["ledger"] = state.derived(ledger_review)
    return found


@st.cache_resource(ttl=3600, max_entries=4, show_spinner="Reading recorded replies …")
def _recorded(workspace: str, digest: str) -> CriteriaReview | None:  # noqa: ARG001 (cache key)
    return recorded_review(Path(workspace))


def unique_counts() -> tuple[UniqueCount, ...]:
    """The number of different criteria in the last proposal made here."""
    try:
        return _unique(str(folder()), kept_digest(folder()))
    except UntakenError as error:
        st.error(text.label(str(error), 400))
        return ()


@st.cache_resource(ttl=3600, max_entries=4, show_spinner="Comparing proposals …")
def _unique(workspace: str, digest: str) -> tuple[UniqueCount, ...]:  # noqa: ARG001 (cache key)
    return unique_by_seeds(kept_answers(Path(workspace)))


def _of_values() -> tuple[str, str]:
    """What values are shown: a figure of the same ones is made once."""
    return str(st.session_state.get("criteria_source")), kept_digest(folder())


def source(found: Mapping[str, CriteriaReview]) -> CriteriaReview:
    """The source of the values shown; people choose where there are several."""
    first = next(iter(found))
    if len(found) > 1:
        st.session_state["criteria_source"] = options.one("values", found) or first
        chosen = st.segmented_control(
            "Values",
            list(found),
            format_func=SOURCES.__getitem__,
            key="criteria_source",
            on_change=options.changed,
            args=("values", "criteria_source"),
        )
        return found[str(chosen or first)]
    return found[first]


@panel
def summary(review: CriteriaReview) -> None:
    """Four numbers: how many deserve trust, over how many runs and passes, and what has no value."""
    verified = review.verification
    again = "computed the same way every time" if review.deterministic else "over the same runs"
    missing = (
        f"{review.unscored:,} unscored (no evidence) · {review.strange:,} with a value that is not "
        "accepted · "
        f"{counted(review.unread, 'reply')} unreadable".replace("replys", "replies")
    )
    numbers = (
        (
            "Criteria to keep",
            f"{len(verified.kept)} of {len(verified.criteria)}",
            "stable, separates good from bad, and not redundant",
        ),
        ("Runs", f"{verified.subjects:,}", f"values: {SOURCES[review.source].lower()}"),
        ("Passes", f"{verified.passes:,}", again),
        ("Values", f"{review.values:,}", missing),
    )
    cards.number_cards(*numbers)


@panel
def means(review: CriteriaReview) -> None:
    """Success and failure by each criterion, and how the runs are spread."""
    st.subheader("Do successful runs score higher?", anchor=False)
    st.caption(
        "Mean level of each criterion: 0% is the worst accepted value, 100% the best. 95% intervals "
        "over tasks (Student's t); repeats of a task count once. Association: runs differ in other ways "
        "too."
    )
    dark = state.is_dark()
    mean, spread = st.tabs(["Means", "Distributions"])
    with mean:
        drawn = partial(figures.criteria_means, review.means, dark=dark)
        tables.figure(drawn, key="means", name="Criteria by outcome", of=_of_values())
    with spread:
        drawn = partial(figures.criteria_distributions, review.passes, dark=dark)
        tables.figure(drawn, key="spread", name="Distributions of criteria", of=_of_values())

    def as_table() -> None:
        tables.table(
            outcome_means_table(review.passes),
            key="means-table",
            name="Criteria by outcome",
            columns=dict.fromkeys(MEANS, TWO),
            height=320,
        )
        tables.download(
            lambda: tables.csv(values_table(review.passes)),
            label="Every value of every run (CSV)",
            file="criteria-values.csv",
            mime="text/csv",
            key="values",
        )

    tables.folded("As a table", as_table, key="means")


@panel
def attacks(review: CriteriaReview) -> None:
    """How each criterion scores runs that were made worse on purpose."""
    st.subheader("Do disturbed runs score lower?", anchor=False)
    dark = state.is_dark()
    if not review.disturbed:
        st.info(
            "Not run, so not passed: there are no replies on disturbed runs. Add them with `untaken "
            "criteria verify --disturbed`."
        )
        return
    st.caption(
        "Share of runs that score lower when disturbed. Ties count half, so 50% means no difference. "
        "✓ lower · ↑ higher (95%, corrected for all disturbances)."
    )
    tables.figure(
        partial(figures.attack_matrix, review.verification, dark=dark),
        key="matrix",
        name="Criteria against disturbed runs",
        of=_of_values(),
    )
    names = sorted(review.disturbed, key=lambda name: not review.disturbed[name])  # those with values first
    st.session_state["criteria_attack"] = options.one("disturbance", names) or names[0]
    attack = st.selectbox(
        "Disturbance",
        names,
        key="criteria_attack",
        format_func=_attack_words,
        on_change=options.changed,
        args=("disturbance", "criteria_attack"),
    )
    drawn = partial(figures.original_vs_disturbed, review.disturbed[attack], dark=dark)
    tables.figure(drawn, key="disturbed", name="As recorded and disturbed", of=(attack, *_of_values()))
    tables.folded_table(
        "As a table",
        lambda: attacks_table(review.verification),
        key="attacks-table",
        name="Criteria against disturbed runs",
        columns=dict.fromkeys(("win_rate", "low", "high"), tables.PERCENT)
        | {"p": tables.P_VALUE, "drop": TWO},
        height=320,
    )


def _attack_words(name: str) -> str:
    return ATTACK_WORDS.get(name, name).capitalize()


@panel
def stability(review: CriteriaReview) -> None:
    """How far another pass gives the same values."""
    st.subheader("Does asking again give the same values?", anchor=False)
    if review.deterministic:
        st.info(
            "These values are computed from the ledgers, so a second pass gives the same values. Add "
            "recorded replies of a model, two or more passes over the same runs, to measure stability."
        )
        return
    st.caption(
        "Change in the mean coefficient of variation, summed over the criteria, with each added pass. Near "
        "0, more passes change nothing. The coefficient depends on where the scale starts, so the verifier "
        "table also shows the sd and Krippendorff's α."
    )
    drawn = figures.pass_change(review.steps, dark=state.is_dark())
    tables.figure(drawn, key="steps", name="Change with each pass")


@panel
def people(review: CriteriaReview) -> None:
    """How far the values agree with people's, criterion by criterion; nothing where people gave none."""
    found = against_people(review, folder())
    if not found:
        return
    least = state.rules().least_kappa
    least = LEAST_KAPPA if least is None else least
    shown = criteria_people_table(found, least=least)
    st.subheader("Do the values agree with people's?", anchor=False)
    st.caption(
        f"Cohen's κ by criterion, with 95% intervals clustered by task. Unreliable: κ below {least:g}, the "
        f"least κ in the sidebar, over {FEWEST_PAIRS} runs or more."
    )
    bad = shown[shown["trust"] == "unreliable"]
    if not bad.empty:
        names = ", ".join(text.label(name, 60) for name in dict.fromkeys(bad["criterion"]))
        st.warning(f"Unreliable: {names}.")
    numbers = ("kappa", "kappa_low", "kappa_high", "agreement", "low", "high")
    tables.table(
        shown, key="criteria-people", name="Criteria against people", columns=dict.fromkeys(numbers, TWO)
    )


def chosen(review: CriteriaReview, known: CriteriaSet) -> str:
    """The criterion to look at: as the address asks, else the first of the verifier's."""
    names = list(
        dict.fromkeys([*(c.name for c in review.verification.criteria), *(c.name for c in known.criteria)])
    )
    asked = state.selected("criterion")
    shown = asked if asked in names else names[0]
    words = {name: text.one_line(name, 80) for name in names}
    cards.picker("Criterion", words, shown, lambda name: state.select(criterion=name), key="criterion_picker")
    return shown


@panel
def verdicts(review: CriteriaReview, known: CriteriaSet) -> None:
    """Each criterion with the verifier's decision and its reasons, next to the decision of a person."""
    st.subheader("Which criteria can you trust?", anchor=False)
    status = {criterion.name: criterion.status for criterion in known.criteria}
    ordered = sorted(review.verification.criteria, key=lambda check: not check.keep)
    for start in range(0, min(len(ordered), MOST_CARDS), 2):
        for column, check in zip(st.columns(2), ordered[start : start + 2], strict=False):
            with column:
                _verdict(check, status.get(check.name))
    if len(ordered) > MOST_CARDS:
        st.caption(f"{len(ordered) - MOST_CARDS} more in the table.")
    two = ("cv", "sd", "sd_share", "alpha", "gap", "superiority", "low", "high", "correlation")
    tables.folded_table(
        "As a table",
        lambda: verification_table(review.verification),
        key="verification",
        name="What the verifier found",
        columns=dict.fromkeys(two, TWO) | {"p": tables.P_VALUE, "reason": LONG},
        height=320,
    )


def _verdict(check: CriterionCheck, status: str | None) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        mark = "✓ keep" if check.keep else "✗ reject"
        person = f" · {editing.STATUS[status]} by a person" if status and status != "accepted" else ""
        st.button(
            f"{mark} · **{text.label(check.name, 60)}**{person}",
            key=f"verdict-{editing.short(check.name)}",
            type="tertiary",
            on_click=lambda: state.select(criterion=check.name),
        )
        st.caption("  \n".join(text.label(line, 300) for line in _grounds(check)))


def _grounds(check: CriterionCheck) -> list[str]:
    """The deciding reasons in a few lines; the full reason is shown with the criterion."""
    discrimination = check.discrimination
    apart = discrimination.separation
    lines = [] if check.redundant_with is None else [f"✗ redundant with {check.redundant_with}"]
    lines.append(f"{SIGNS[check.stability.stable]} stable: {check.stability.note}")
    if isinstance(apart.superiority, Unscored) or isinstance(apart.low, Unscored):
        lines.append(f"? success vs. failure: {reason(apart.superiority)}")
    else:
        known = True if apart.separates else False if apart.reversed else None
        lines.append(
            f"{SIGNS[known]} a success scores above a failure in {percent(apart.superiority)} of pairs "
            f"(95% {interval(apart.low, apart.high, percent)}, "
            f"{apart.success_n} and {apart.failed_n} tasks)"
        )
    lower = [ATTACK_WORDS.get(test.attack, test.attack) for test in discrimination.attacks if test.detected]
    higher = [ATTACK_WORDS.get(test.attack, test.attack) for test in discrimination.attacks if test.rewarded]
    if lower:
        lines.append(f"✓ lower for disturbed runs: {', '.join(lower)}")
    elif discrimination.attacks:
        lines.append("✗ not lower for any disturbed runs")
    else:
        lines.append("? disturbed runs: none")
    if higher:
        lines.append(f"✗ higher for disturbed runs: {', '.join(higher)}")
    return lines


@panel
def agents(review: CriteriaReview) -> None:
    """Two agents by each criterion, over the tasks that both ran."""
    st.subheader("Two agents side by side", anchor=False)
    offered = agents_of(review.passes)
    if len(offered) < 2:
        if review.source == "recorded":
            st.info("Recorded replies do not name agents, so there are no two agents to compare.")
        return
    left, right = st.columns(2)
    first = left.selectbox("First agent", offered, key="criteria_first", format_func=_short)
    others = [agent for agent in offered if agent != first]
    second = right.selectbox("Second agent", others, key="criteria_second", format_func=_short)
    found = compare_agents(review.passes, first, second)
    drawn = partial(figures.agents_by_criterion, found, first, second, dark=state.is_dark())
    tables.figure(drawn, key="side", name="Two agents by criterion", of=(first, second, *_of_values()))
    st.caption(
        "Over tasks that both agents ran, repeats averaged per task first. 95% intervals (Student's t). "
        "≠: the interval of the paired difference excludes 0. ≈: it includes 0."
    )
    tables.folded_table(
        "As a table",
        lambda: side_table(found),
        key="side-table",
        name="Two agents by criterion",
        columns=dict.fromkeys(SIDE_NUMBERS, TWO),
    )


def _short(name: str) -> str:
    return text.one_line(name, 60)


@panel
def listing(known: CriteriaSet, *, empty: bool) -> None:
    """All criteria of the workspace, rejected ones too, as a table and as a file."""
    if empty and known.criteria == ledger_criteria().criteria:
        return
    st.subheader("Criteria in this workspace", anchor=False)
    shown = criteria_list(known)
    shown["status"] = shown["status"].map(editing.STATUS)
    tables.table(shown, key="criteria-list", name="Criteria in this workspace", height=320)
    editing.take_along(known)


@panel
def one(review: CriteriaReview, known: CriteriaSet) -> None:
    """One criterion in full: what it is, what the verifier says, and what a person decides."""
    st.subheader("One criterion", anchor=False)
    name = chosen(review, known)
    criterion = next((c for c in known.criteria if c.name == name), None)
    check = next((c for c in review.verification.criteria if c.name == name), None)
    values, decided = st.columns([3, 2], gap="large")
    with values:
        _described(criterion or next(c for run in review.passes for c in run.criteria if c.name == name))
        if check is None:
            st.info("No run has a value yet: not quantified.")
        else:
            st.markdown("**Verifier: keep**" if check.keep else "**Verifier: reject**")
            st.caption(text.label(check.reason.split(": ", maxsplit=1)[-1], 1_000))
    with decided, st.container(border=True):
        if criterion is None:
            st.caption("Quantified here, but not in this workspace. Add its criteria file.")
        else:
            st.markdown(f"**{editing.STATUS[criterion.status]}**")
            editing.decide(criterion)
            editing.reword(criterion)
            editing.history(criterion)


def _described(criterion: Criterion) -> None:
    st.markdown(f"**{text.label(criterion.name, 100)}**")
    if criterion.description:
        st.text(text.one_line(criterion.description, 400))
    st.caption("Worst to best: " + " < ".join(text.label(value, 60) for value in criterion.accepted_values))
    if criterion.merged:
        st.caption(f"Also covers {text.label(', '.join(criterion.merged), 300)}.")
