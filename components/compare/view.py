"""Pieces of the Compare page: where runs of a task diverge, and what each did at one sub-goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components import figures
from components.compare.choice import run_name
from components.figures.compare import CELLS, MOST_ROWS, PARTS, look_of
from components.shared import cards, state, tables, text
from components.shared.panels import panel
from components.transcript import view
from untaken.analysis import AlignedRow, Corpus, Divergence, SideBySide, Step, steps_of
from untaken.errors import number
from untaken.ledger import Run
from untaken.numbers import counted, p_value
from untaken.views import STAR

COLUMNS: Final = 3
MOST_COLUMNS: Final = 6
MOST_STEPS: Final = 12
MOST_CHARS: Final = 400
MOST_PLACES: Final = 4
CHOSEN_KEY: Final = "compare_beside"
TABS: Final = "compare_tabs"
STEPS: Final = "Steps"


@panel
def alignment(found: SideBySide) -> None:
    """The content of the rows, the number of runs, and the rule."""
    if found.basis == "tool":
        st.info(
            f"Aligned by tool only: {text.label(found.basis_reason, 300)}. Rows are tools, in order of "
            "first call."
        )
    broken = f" · {counted(found.broken, 'broken run')} left out" if found.broken else ""
    st.caption(
        f"{len(found.runs)} of {counted(found.of_task, 'run')} of this task{broken}  \n"
        f"{text.label(state.rules().in_words(), 200)}"
    )


@panel
def first_divergence(found: SideBySide) -> None:
    """Where the runs first diverge from the reference, in a sentence."""
    held = f"**{text.label(run_name(found.run(found.reference)), 60)}**"
    # A title may end as a sentence does.
    first = [f"{n} at **{text.label(row.title.rstrip('.'), 80)}**" for row, n in found.first_rows]
    more = len(first) - MOST_PLACES
    places = ", ".join(
        [*first[:MOST_PLACES], *([f"and at {more} other {_what(found)}s"] if more > 0 else [])]
    )
    alike = sum(one.split("plan") is None for one in found.divergences)
    parts = f" First differences: {places}." if first else ""
    same = f" {counted(alike, 'run', 'do not')} differ at any {_what(found)} known in both." if alike else ""
    runs = counted(len(found.divergences), "run")
    st.markdown(f"{runs} compared with {held}, {found.reference_reason}.{parts}{same}")


def _what(found: SideBySide) -> str:
    return "sub-goal" if found.basis == "sub_goal" else "tool"


@panel
def matrix(found: SideBySide, marked: AlignedRow | None) -> None:
    """Every row in every run; a click opens the steps behind a cell."""
    drawn = figures.compare_matrix(found, marked=marked.key if marked else None, dark=state.is_dark())
    alt = f"{len(found.rows)} {_what(found)}s of {len(found.runs)} runs; the tab Table shows the same data"
    tables.figure(
        drawn,
        key="compare-matrix",
        name="Runs side by side",
        alt=alt,
        on_pick=lambda carried: _pick_cell(found, carried),
    )
    shown = {look_of(cell) for row in found.rows for cell in row.cells}
    words = " · ".join(f"{style.icon} {style.word}" for style in CELLS.values() if style in shown)
    more = f" The figure shows {MOST_ROWS} of {len(found.rows)} rows." if len(found.rows) > MOST_ROWS else ""
    st.caption(
        f"{words} · {STAR} critical · beside it the number of actions, ! where one failed · {PARTS} where a "
        f"run first differs from the reference · dashed line: above it no two runs are known to differ.{more}"
    )


def _pick_cell(found: SideBySide, carried: str) -> None:
    digest, _, place = carried.partition(" ")
    st.session_state[CHOSEN_KEY] = digest
    st.session_state[TABS] = STEPS  # the tab that shows what was clicked
    _pick_row(found.rows[int(place)].key)


def _pick_row(key: str | None) -> None:
    state.select(run=state.selected("run"), sub_goal=key)


@panel
def choose_row(found: SideBySide) -> AlignedRow | None:
    """The row to look into: as the address asks, else the first at which runs part."""
    asked = found.row(state.selected("sub_goal"))
    return asked or next((row for row in found.rows if row.parts), next(iter(found.rows), None))


@panel
def pick_row(found: SideBySide, row: AlignedRow) -> None:
    """The same choice by keyboard."""
    titles = {
        one.key: f"{f'{PARTS} ' * one.parts}{f'{STAR} ' * one.critical}{text.one_line(one.title, 90)}"
        for one in found.rows
    }
    cards.picker(
        "Sub-goal" if found.basis == "sub_goal" else "Tool",
        titles,
        row.key,
        _pick_row,
        key="compare_row_picker",
        help="Or click a cell of the matrix. ≠ marks rows where two of the runs differ.",
        filter_mode="contains",
    )


@panel
def steps(found: SideBySide, row: AlignedRow, runs: Mapping[str, Run]) -> None:
    """What each run did at the row, the reference first, then the run clicked, then those that differ."""
    acted = steps_of(row, runs)
    alike: dict[object, list[str]] = {}
    for digest in _ordered(found, row):
        cell = row.cell(digest)
        alone = acted[digest] or digest == found.reference
        alike.setdefault(digest if alone else (look_of(cell), cell.reason), []).append(digest)
    shown, picked = list(alike.values()), st.session_state.get(CHOSEN_KEY)
    usual = row.cell(found.reference).status
    apart = [some for some in shown[1:] if row.cell(some[0]).status != usual or picked in some]
    fewer = [shown[0], *(apart or shown[1:])][:MOST_COLUMNS]
    if len(fewer) < len(shown) and not st.toggle(f"All {len(found.runs)} runs", key="compare_all"):
        shown = fewer
    beside = min(COLUMNS, len(shown))
    for at in range(0, len(shown), beside):
        # The last row may be shorter.
        for place, digests in zip(st.columns(beside), shown[at : at + beside], strict=False):
            with place, st.container(border=True, gap="xsmall"):
                _column(found, row, digests, acted[digests[0]])


def _ordered(found: SideBySide, row: AlignedRow) -> list[str]:
    picked, usual = st.session_state.get(CHOSEN_KEY), row.cell(found.reference).status
    return sorted(
        (run.digest for run in found.runs),
        key=lambda d: (d != found.reference, d != picked, row.cell(d).status == usual),
    )


def _column(found: SideBySide, row: AlignedRow, digests: Sequence[str], actions: Sequence[Step]) -> None:
    """One run, or runs without an action of which the same is known."""
    cell = row.cell(digests[0])
    style = look_of(cell)
    goal = {"sub_goal": row.key} if found.basis == "sub_goal" else {}
    for digest in digests:
        held = " · reference" if digest == found.reference else ""
        state.run_link(f"{text.label(run_name(found.run(digest)), 60)}{held}", digest, **goal)
    st.markdown(f"**{style.icon} {style.word}**")
    if cell.reason:
        st.caption(text.label(text.sentence(cell.reason), 200))
    if not actions:
        return
    st.code("\n".join(_step_words(step) for step in actions[:MOST_STEPS]), language=None, wrap_lines=True)
    if len(actions) > MOST_STEPS:
        st.caption(f"The first {MOST_STEPS} of {len(actions):,} actions. The Run page shows them all.")


def _step_words(step: Step) -> str:
    """One action with its arguments and what came back, as plain text."""
    head = step.tool if step.tool else f"message: {_short(step.text)}"
    lines = [f"{step.seq}  {text.one_line(head, MOST_CHARS)}"]
    for argument in step.arguments:
        mark = PARTS if argument.differs else " "
        lines.append(f"  {mark} {text.one_line(argument.name, 60)}: {_short(argument.text)}")
    for answer in step.answers:
        ok = "✗ transient" if answer.transient else {True: "✓", False: "✗", None: "→"}[answer.ok]
        lines.append(f"  {ok} {answer.seq}  {_short(answer.text)}")
    return "\n".join(lines)


def _short(words: str) -> str:
    return text.one_line(words, MOST_CHARS)


@panel
def transcripts(corpus: Corpus, found: SideBySide) -> None:
    """The reference and one other run in full, step by step, aligned."""
    others = {run.digest: run for run in found.runs if run.digest != found.reference}
    if not others:
        return
    chosen = st.selectbox(
        "Beside the reference",
        list(others),
        format_func=lambda digest: text.one_line(run_name(others[digest]), 90),
        key="compare_transcript",
    )
    if chosen is not None:
        names = [f"{run_name(found.run(found.reference))} (reference)", run_name(others[chosen])]
        view.pair(corpus, found.reference, chosen, names, key="compare-transcripts")


@panel
def divergences(found: SideBySide) -> None:
    """Each run in a sentence or two: first by status, then by choice."""
    for place, half in zip(
        # Read row by row.
        st.columns(2, gap="large"),
        (found.divergences[::2], found.divergences[1::2]),
        strict=True,
    ):
        with place:
            for one in half:
                _divergence(found, one)


def _divergence(found: SideBySide, one: Divergence) -> None:
    run = found.run(one.digest)
    status = one.split("plan")
    goal = {"sub_goal": status.key} if status and status.key and found.basis == "sub_goal" else {}
    unknown = f", {one.unknown} not known or not required" if one.unknown else ""
    with st.container(border=True, gap="xsmall"):
        state.run_link(text.label(run_name(run), 60), one.digest, **goal)
        st.caption(f"Differs at {one.different} of {one.alike + one.different} {_what(found)}s{unknown}")
        kept = [split for split in one.splits if split.level in ("plan", "decision")] or one.splits[:1]
        for split in kept:
            st.text(text.one_line(split.words, 400))
        if not kept:
            st.text("No recorded status, choice or call differs.")


@panel
def outcomes(found: SideBySide) -> None:
    """Linked to success over all runs of the task, in words."""
    known = [split for split in found.outcome_splits if number(split.p) is not None]
    verb = "completed" if found.basis == "sub_goal" else "called"
    if not known:
        st.info("This needs both successful and failed runs.")
        return
    top = known[0]
    p = f"{p_value(top.p, 'p')}, {p_value(top.p_holm, 'Holm')} of {len(known)} {_what(found)}s"
    head = "" if top.clear else f"No {_what(found)} differs clearly from chance. The closest is "
    st.markdown(
        f"{head}**{text.label(top.title, 80)}**, {verb} in {top.done_in_successes} of {top.successes} "
        f"successes and in {top.done_in_failures} of {top.failures} failures ({p})."
    )
    st.caption(
        "Over all runs of the task, shown or not. Fisher's exact test treats runs as independent, but runs "
        "of one agent are alike: use p only to order the rows. Association, not causation."
    )
