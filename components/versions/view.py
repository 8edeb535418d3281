"""What changed between two versions on its page: sub-goals, outcome, costs, pairs to read."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import cards, options, sharing, state, tables, text
from components.shared.panels import panel
from untaken.analysis import FIELDS, Corpus, Field, VersionComparison, most_paired, triage, versions_of
from untaken.errors import Unscored, UntakenError
from untaken.numbers import counted, interval, p_value, points
from untaken.scoring import RunScore
from untaken.views import (
    STAR,
    cause_of,
    causes_of_versions,
    cost_unit_of,
    discordant_pairs_table,
    dump,
    suspect_words,
    version_changes,
    version_changes_table,
    version_costs_table,
    version_headline,
    versions_document,
    versions_packet,
)

FIELD_WORDS: Final[dict[Field, str]] = {
    "version": "Version",
    "prompt_version": "Prompt version",
    "model": "Model",
    "agent": "Agent",
}
MOST_PAIRS: Final = 4
SHOWN: Final = ["title", "called", "a", "b", "difference", "95%", "p_holm", "kind"]
"""Columns of the sub-goals on the page, where counts stand in words; the download has all figures."""


@panel
def choose(corpus: Corpus) -> VersionComparison | None:
    """The pickers of field and versions, and the comparison; ``None`` where there is nothing to compare."""
    values = {field: versions_of(corpus.runs.values(), field) for field in FIELDS}
    offered = [field for field in FIELDS if len(values[field]) > 1]
    if not offered:
        st.info(
            "All runs are of one version. Runs name theirs in RUN_STARTED: `version`, `prompt_version`, "
            "`model`. Add runs of another version on the Data page."
        )
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        paired = {field: most_paired(corpus.runs.values(), field) for field in offered}
        # A field whose values share no task cannot be compared.
        usual_field = next((field for field in offered if paired[field]), offered[0])
        by: Field = options.one("versions_by", offered) or usual_field  # type: ignore[assignment]
        cards.picker(
            "Compare by",
            {field: FIELD_WORDS[field] for field in offered},
            by,
            lambda field: options.keep("versions_by", [field]),
            key="versions_by_picker",
        )
        names = list(values[by])
        # Without a common task, the two that ran last.
        usual = paired[by] or (names[-2], names[-1])
        first = options.one("first", names) or usual[0]
        second = options.one("second", names) or usual[1]
        for name, chosen, title in (("first", first, "From"), ("second", second, "To")):
            _pick(name, chosen, title, values[by])
    if first == second:
        st.info("Choose two different versions.")
        return None
    try:
        return state.derived(version_changes, first, second, by, of_all=True)
    except UntakenError as error:
        words = (
            f"{error.message[0].upper()}{error.message[1:]}. Run the same tasks with both, or compare others."
        )
        st.info(text.label(words, 400))
        return None


def _pick(name: str, chosen: str, title: str, values: dict[str, int]) -> None:
    cards.picker(
        title,
        {value: f"{text.short(value, 60)} ({counted(count, 'run')})" for value, count in values.items()},
        chosen,
        lambda value: options.keep(name, [value]),
        key=f"versions_{name}_picker",
    )


@panel
def summary(found: VersionComparison) -> None:
    """The answer in words, and its three numbers."""
    st.markdown(f"**{text.label(version_headline(found), 600)}**")
    if suspect := suspect_words(found):
        st.caption(text.label(suspect, 400))
    outcome = found.outcome
    rate = f"{outcome.a_succeeded} of {outcome.a_runs} → {outcome.b_succeeded} of {outcome.b_runs}"
    rate = rate if outcome.a_runs or outcome.b_runs else "no run records an outcome"
    shown = "–" if outcome.difference is None else f"{points(outcome.difference, 0)} points"
    spread = ""
    if outcome.low is not None and outcome.high is not None:
        spread = f" ({interval(outcome.low, outcome.high, points, 0)}), {p_value(outcome.p, 'p')}"
    cards.number_cards(
        ("Success", shown, f"{rate}{spread}"),
        (
            "Sub-goals that changed",
            f"{len(found.called)} of {len(found.sub_goals)}",
            "among runs that reached them",
        ),
        (
            "Pairs where only one succeeded",
            f"{len(found.discordant)}",
            f"{found.a_only} only {text.label(found.a, 40)}, {found.b_only} only {text.label(found.b, 40)}",
        ),
    )
    more = f"; {found.left_out} more in tasks of one version only" if found.left_out else ""
    copies = f"; {counted(found.copies, 'copy')} left out" if found.copies else ""
    st.caption(
        f"Paired within {counted(found.tasks, 'task')} by agent{more}{copies}. An association, not a cause."
    )


@panel
def sub_goals(found: VersionComparison) -> None:
    """Every sub-goal, the least p first; what failed runs of the worse version have in common."""
    if not found.sub_goals:
        st.info("These runs have no plan graph: outcome and costs are compared.")
        return
    st.subheader("Sub-goals among runs that reached them", anchor=False)
    causes = causes_of_versions(state.derived(triage, of_all=True), state.corpus().runs, found)
    for one in found.called:
        cause = cause_of(one, causes)
        if cause:
            star = f" {STAR}" if one.critical else ""
            st.markdown(f"- **{text.label(one.title)}**{star}: {text.label(cause, 300)}")
    whole = version_changes_table(found)
    shown = whole.assign(
        **{
            "title": [f"{one.title}{f' {STAR}' if one.critical else ''}" for one in found.sub_goals],
            "a": [f"{one.a_completed} of {one.a_reached}" for one in found.sub_goals],
            "b": [f"{one.b_completed} of {one.b_reached}" for one in found.sub_goals],
            "95%": [interval(one.low, one.high, points, 0, unknown="") for one in found.sub_goals],
        }
    )
    tables.table(
        shown[SHOWN],
        key="version-changes",
        name="Sub-goals by version",
        whole=lambda: whole,
        columns={"title": "sub-goal", "difference": "points", "kind": "how missed", "a": "from", "b": "to"},
    )


@panel
def costs(found: VersionComparison) -> None:
    """Retries, cost, tokens and steps."""
    if found.costs:
        st.subheader("Retries and cost per run", anchor=False)
        whole = version_costs_table(found)
        unit = state.derived(cost_unit_of, of_all=True).upper()
        measures = {"cost": f"cost, {unit}" if unit else "cost"}
        tables.table(
            whole.replace({"measure": measures}),
            key="version-costs",
            name="Costs by version",
            whole=lambda: whole,
            columns={"p": None},
        )


@panel
def pairs(found: VersionComparison, corpus: Corpus) -> None:
    """Pairs of runs of which one succeeded, each with its two runs."""
    if not found.discordant:
        return
    st.subheader("Pairs to read", anchor=False)
    st.caption(
        "One pair per task, of which one run succeeded. Missed: the first sub-goal of the plan that only "
        "this run completed."
    )
    with st.container(key="version-pairs"):
        columns = st.columns(2)
    # from behind: the first of a task stays
    first_of = {one.task_id: one for one in reversed(found.discordant)}
    shown = [one for one in found.discordant if first_of[one.task_id] is one]
    for at, one in enumerate(shown[:MOST_PAIRS]):
        won, lost = (one.second, one.first) if one.second_succeeded else (one.first, one.second)
        with columns[at % 2].container(border=True):
            missed = one.sub_goal and _title(corpus.scores[won], one.sub_goal)
            what = f" · missed **{text.label(missed)}**" if missed else ""
            winner, loser = (found.b, found.a) if one.second_succeeded else (found.a, found.b)
            st.markdown(f"{text.label(one.task_id)} · only {text.label(winner, 40)} succeeded{what}")
            if one.reason:
                st.caption(text.label(text.sentence(one.reason), 300))
            with st.container(horizontal=True):
                for sign, version, run in (("✗", loser, lost), ("✓", winner, won)):
                    repeat = text.repeat(corpus.runs[run].started.task_repeat)
                    state.run_link(f"{sign} {text.label(version, 60)}{repeat}", run)
                sharing.packet(versions_packet, [one], f"pair-{at}")
    tables.folded_table(
        "All pairs", lambda: discordant_pairs_table(found), key="discordant-pairs", name="Discordant pairs"
    )


def _title(score: RunScore | Unscored, sub_goal: str) -> str:
    nodes = () if isinstance(score, Unscored) else score.results
    return next((node.title for node in nodes if node.sub_goal == sub_goal and node.title), sub_goal)


@panel
def document(found: VersionComparison) -> None:
    """The document, with its pairs."""
    runs, findings = state.corpus().runs, state.findings()
    causes = causes_of_versions(state.derived(triage, of_all=True), runs, found)
    tables.download(
        lambda: dump(
            versions_document(found, runs, causes=causes, discordant=True, findings=findings)
        ).encode(),
        label="Versions (JSON)",
        file="versions.json",
        key="versions-json",
    )
