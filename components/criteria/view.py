"""What the Criteria page shows: whose values, which criteria deserve trust, one in full, two agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from components import figures
from components.criteria import editing
from components.shared import cards, options, state, tables, text
from components.shared.panels import panel
from untaken.errors import Unscored, UntakenError, reason
from untaken.judging import (
    ATTACK_WORDS,
    FEWEST_PAIRS,
    LEAST_KAPPA,
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
from untaken.numbers import counted, interval, percent
from untaken.views import (
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

SOURCES: Final = {"recorded": "Recorded replies", "ledger": "Computed from the ledgers"}
MOST_SHOWN: Final = 9
SIGNS: Final = {True: "✓", False: "✗", None: "?"}


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
    if state.compared().agents:
        with st.spinner("Scoring criteria …"):
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
        words = {name: SOURCES[name] for name in found}
        chosen = options.pick(
            "Values", "values", words, first, key="criteria_source", draw=st.segmented_control
        )
        return found[str(chosen or first)]
    return found[first]


def evidence(review: CriteriaReview) -> dict[str, Callable[[], object]]:
    """What the verdicts on the criteria rest on, one question a tab."""
    return {
        "Success and failure": lambda: means(review),
        "Disturbed runs": lambda: attacks(review),
        "Asked again": lambda: stability(review),
        "People": lambda: people(review),
        "Two agents": lambda: agents(review),
        "Every verdict": lambda: verdicts_table(review),
    }


@panel
def summary(review: CriteriaReview) -> None:
    """How many deserve trust, over how many runs and passes, and what has no value."""
    verified = review.verification
    again = "the same every time" if review.deterministic else f"asked {counted(verified.passes, 'time')}"
    missing = ", ".join(
        words
        for many, words in (
            (1, f"{review.unscored:,} unscored (no evidence)"),
            (review.strange, f"{review.strange:,} with a value that is not accepted"),
            (review.unread, f"{counted(review.unread, 'reply')} unreadable"),
        )
        if many
    )
    st.markdown(
        f"**{len(verified.kept):,} of {len(verified.criteria):,} criteria to keep**: "
        "stable, lower for failed or disturbed runs, and not redundant."
    )
    values = f"{counted(review.values, 'value')}{f', {missing}' if missing else ''}"
    st.caption(f"{counted(verified.subjects, 'run')} · {values} · {SOURCES[review.source].lower()}, {again}")


@panel
def trusted(review: CriteriaReview, known: CriteriaSet) -> None:
    """Success and failure by each criterion, beside the verifier's decision on each."""
    drawn, decided = st.columns([7, 5], gap="large")
    with drawn:
        tables.figure(
            partial(figures.criteria_means, review.means, dark=state.is_dark()),
            key="means",
            name="Do successful runs score higher?",
            of=_of_values(),
            about="Mean level of each criterion: 0% is the worst accepted value, 100% the best. 95% "
            "intervals over tasks; repeats of a task count once. An association, not a cause.",
            table=lambda: outcome_means_table(review.passes),
        )
    with decided:
        _verdicts(review, known)


@panel
def means(review: CriteriaReview) -> None:
    """How the runs are spread over the accepted values, and every value."""
    tables.figure(
        partial(figures.criteria_distributions, review.passes, dark=state.is_dark()),
        key="spread",
        name="Distributions of criteria",
        of=_of_values(),
        table=lambda: values_table(review.passes),
    )

    def as_table() -> None:
        tables.table(
            outcome_means_table(review.passes), key="means-table", name="Criteria by outcome", height=320
        )
        tables.download(
            lambda: tables.csv(values_table(review.passes)),
            label="Every value of every run (CSV)",
            file="criteria-values.csv",
            key="values",
        )

    tables.folded("As a table", as_table, key="means")


@panel
def attacks(review: CriteriaReview) -> None:
    """How each criterion scores runs that were made worse on purpose."""
    dark = state.is_dark()
    if not review.disturbed:
        st.info(
            "Not run, so not passed: there are no replies on disturbed runs. Add them with `untaken "
            "criteria verify --disturbed`."
        )
        return
    above, below = st.container(), st.container()
    with above:
        tables.figure(
            partial(figures.attack_matrix, review.verification, dark=dark),
            key="matrix",
            name="Do disturbed runs score lower?",
            of=_of_values(),
            about="Share of runs that score lower when disturbed. Ties count half, so 50% means no "
            f"difference. ✓ lower · ↑ higher (95%, corrected for all disturbances). {review.drawn}".rstrip(),
            table=lambda: attacks_table(review.verification),
        )
    names = sorted(review.disturbed, key=lambda name: not review.disturbed[name])  # those with values first
    attack = options.one("disturbance", names) or names[0]
    words = {name: str(ATTACK_WORDS.get(name, name)).capitalize() for name in names}
    with below:
        tables.figure(
            partial(figures.original_vs_disturbed, review.disturbed[attack], dark=dark),
            key="disturbed",
            name="As recorded and disturbed",
            of=(attack, *_of_values()),
            controls=lambda: options.pick("Disturbance", "disturbance", words, attack, key="criteria_attack"),
        )
    tables.folded_table(
        "As a table",
        lambda: attacks_table(review.verification),
        key="attacks-table",
        name="Criteria against disturbed runs",
        height=320,
    )


@panel
def stability(review: CriteriaReview) -> None:
    """How far another pass gives the same values."""
    if review.deterministic:
        st.info(
            "These values are computed from the ledgers, so a second pass gives the same values. Add "
            "recorded replies of a model, two or more passes over the same runs, to measure stability."
        )
        return
    tables.figure(
        figures.pass_change(review.steps, dark=state.is_dark()),
        key="steps",
        name="Does asking again give the same values?",
        about="Change in the mean coefficient of variation, summed over the criteria, with each added pass. "
        "Near 0, more passes change nothing. The coefficient depends on where the scale starts, so *Every "
        "verdict* also shows the sd and Krippendorff's α.",
    )


@panel
def people(review: CriteriaReview) -> None:
    """How far the values agree with people's, criterion by criterion; nothing where people gave none."""
    found = against_people(review, folder())
    if not found:
        st.info("No values from people yet. Upload people's values as a criteria file named `people`.")
        return
    least = state.rules().least_kappa
    least = LEAST_KAPPA if least is None else least
    shown = criteria_people_table(found, least=least)
    st.caption(
        "Cohen's κ by criterion, with 95% intervals clustered by task. Unreliable: the interval is below "
        f"{least:g}, the least κ in the sidebar, over {FEWEST_PAIRS} runs or more."
    )
    bad = shown[shown["trust"] == "unreliable"]
    if not bad.empty:
        names = ", ".join(text.label(name, 60) for name in dict.fromkeys(bad["criterion"]))
        st.warning(f"Unreliable: {names}.")
    tables.table(shown, key="criteria-people", name="Criteria against people")


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


def _verdicts(review: CriteriaReview, known: CriteriaSet) -> None:
    """The verifier's decision on each criterion with its first reason, and a person's; a click chooses it."""
    st.subheader("Which criteria can you trust?", anchor=False)
    status = {criterion.name: criterion.status for criterion in known.criteria}
    ordered = sorted(review.verification.criteria, key=lambda check: not check.keep)  # those to keep first
    alike: dict[tuple[str, str], list[str]] = {}  # a reason that several have is said once, below them
    for check in ordered[:MOST_SHOWN]:
        alike.setdefault((_verdict(check), _first_ground(check)), []).append(check.name)
    with st.container(border=True, gap=None, key="criteria-verdicts"):
        for (verdict, ground), names in alike.items():
            for name in names:
                person = status.get(name)
                by = f" · {editing.STATUS[person]} by a person" if person and person != "accepted" else ""
                st.button(
                    f"{verdict} · **{text.label(name, 60)}**{by}",
                    key=f"verdict-{editing.short(name)}",
                    type="tertiary",
                    on_click=lambda name=name: state.select(criterion=name),  # bound now: the loop goes on
                )
            st.caption(text.label(ground, 200))
    if len(ordered) > MOST_SHOWN:
        st.caption(f"{len(ordered) - MOST_SHOWN:,} more under *Every verdict*.")


def _verdict(check: CriterionCheck) -> str:
    """The verifier's decision; what could not be measured is neither kept nor rejected."""
    if check.keep:
        return "✓ keep"
    known = (check.stability.stable, check.discrimination.discriminates)
    return "? undecided" if None in known and False not in known else "✗ reject"


def _first_ground(check: CriterionCheck) -> str:
    """What speaks against a rejected criterion, else how well it tells success from failure, or why kept."""
    if _verdict(check).startswith("?"):
        return text.sentence(check.reason.split(": ", maxsplit=1)[-1])
    if against := [] if check.keep else [line for line in _grounds(check) if line.startswith("✗")]:
        return against[0]
    apart, attacks = check.discrimination.separation, check.discrimination.attacks
    if isinstance(apart.superiority, Unscored) or isinstance(apart.low, Unscored):
        shown = reason(apart.superiority)
    else:
        span = interval(apart.low, apart.high, percent)
        shown = f"success above failure in {percent(apart.superiority)} ({span})"
    if apart.separates:
        return text.sentence(shown)
    lower = sum(test.detected for test in attacks)
    return f"Lower in {lower} of {counted(len(attacks), 'disturbance')}; no clear link to success: {shown}"


@panel
def verdicts_table(review: CriteriaReview) -> None:
    """Everything that the verifier found about each criterion."""
    tables.table(
        verification_table(review.verification),
        key="verification",
        name="What the verifier found",
        columns={"reason": st.column_config.TextColumn(width="large")},
        height=420,
    )


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
            f"(95% {interval(apart.low, apart.high, percent)}, {apart.success_n} and {apart.failed_n} tasks)"
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
    offered = agents_of(review.passes)
    if len(offered) < 2:
        if review.source == "recorded":
            st.info("Recorded replies do not name agents, so there are no two agents to compare.")
        return
    left, right = st.columns(2)
    first = left.selectbox("First agent", offered, key="criteria_first", format_func=text.name)
    others = [agent for agent in offered if agent != first]
    second = right.selectbox("Second agent", others, key="criteria_second", format_func=text.name)
    found = compare_agents(review.passes, first, second)
    tables.figure(
        partial(figures.agents_by_criterion, found, first, second, dark=state.is_dark()),
        key="side",
        name="Two agents by criterion",
        of=(first, second, *_of_values()),
        about="Over tasks that both agents ran, repeats averaged per task first. 95% intervals. "
        "≠: the interval of the paired difference excludes 0. ≈: it includes 0.",
        table=lambda: side_table(found),
    )
    tables.folded_table(
        "As a table", lambda: side_table(found), key="side-table", name="Two agents by criterion"
    )


@panel
def listing(known: CriteriaSet, *, empty: bool) -> None:
    """All criteria of the workspace, rejected ones too, as a table and as a file."""
    # Nothing of one's own yet: those computed from ledgers are known.
    if empty and known.criteria == ledger_criteria().criteria:
        return
    shown = criteria_list(known)
    shown["status"] = shown["status"].map(editing.STATUS)
    tables.table(shown, key="criteria-list", name="Criteria in this workspace", height=320)
    editing.take_along(known)


@panel
def one(review: CriteriaReview, known: CriteriaSet) -> None:
    """One criterion in full: what it is, what the verifier says, and what a person decides."""
    name = chosen(review, known)
    criterion = next((c for c in known.criteria if c.name == name), None)
    check = next((c for c in review.verification.criteria if c.name == name), None)
    values, decided = st.columns([3, 2], gap="large")
    with values:
        _described(criterion or next(c for run in review.passes for c in run.criteria if c.name == name))
        if check is None:
            st.info("No run has a value yet: not quantified.")
        else:
            st.markdown(f"**Verifier: {_verdict(check).split(maxsplit=1)[1]}**")
            # The verdict before the colon is said above.
            st.caption(text.sentence(text.label(check.reason.split(": ", maxsplit=1)[-1], 1_000)))
    with decided:
        if criterion is None:
            st.caption("Quantified here, but not in this workspace. Add its criteria file.")
            return
        with st.popover(f"{editing.STATUS[criterion.status]}: change or see history"):
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
