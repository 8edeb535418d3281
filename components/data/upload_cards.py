"""What became of each upload, as cards that can be read on every screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.shared import state, tables, text
from untaken.errors import first_few
from untaken.numbers import counted
from untaken.views import ARCHIVE, HeldRun, Upload, runs_by_id, runs_in_words, uploads, uploads_table

MOST: Final = 20
"""Cards; the table holds all uploads."""
MOST_REASONS: Final = 10
WORDS: Final = 320
"""Characters of a sentence about losses and findings."""
SHORT_NAME: Final = 120


def cards(shown: Sequence[Upload], *, sides: Sequence[str]) -> None:
    """A card for files of one kind that fared alike; `sides` are files without runs, such as a licence."""
    advice: set[str] = set()
    held = state.derived(runs_by_id, of_all=True) if any(one.run_ids for one in shown) else {}
    for number, one in enumerate(shown[:MOST]):
        with st.container(border=True, gap="xsmall", key=f"upload-card-{number}"):
            _card(one, advice, [run for name in one.run_ids for run in held.get(name, ())])
            _details(one, number)
    if len(shown) > MOST:
        st.caption(f"{len(shown) - MOST:,} more are in the table.")
    if sides:
        named = first_few([text.label(name, 60) for name in sides], MOST_REASONS)
        st.caption(f"Left out, because they hold no runs: {named}.")


def _card(one: Upload, advice: set[str], runs: Sequence[HeldRun]) -> None:
    known = len(runs) == one.runs > 0  # all of them are found: then they are counted by outcome
    held = [] if known else [(one.runs, "run"), (one.graphs, "plan graph")]
    held += [(len(one.members), "file")] if one.row.kind == ARCHIVE else []
    counts = [runs_in_words(runs)] if known else []
    counts += [counted(number, words) for number, words in held if number]
    st.text(f"{one.mark} {text.one_line(one.row.name, SHORT_NAME)}")
    counts += [f"integrity: {one.integrity}"] if one.integrity else []
    st.caption(text.label(" · ".join([one.kind, one.status, *counts]), WORDS))
    if one.reasons:
        _reasons(one, advice)
    elif one.findings:
        _advise(one.next_step, advice)


def _advise(hint: str, advice: set[str]) -> None:
    if hint and hint not in advice:
        st.text(f"Next step: {text.one_line(hint, WORDS)}")
        advice.add(hint)


def _details(one: Upload, number: int) -> None:
    """What was kept and left out, what was noticed, and the members of an archive or the files of a card."""
    findings = bool(one.findings) and not one.reasons
    if not (one.loss or findings or one.members):
        return
    words = f"Details of {counted(len(one.members), 'file')}" if one.members else "Details"
    part = st.expander(words, key=f"members-{number}-open", on_change="rerun")
    with part:
        if one.loss:
            st.text(text.one_line(one.loss_words, 2 * WORDS))
        if findings:
            st.text(f"Findings: {text.one_line(one.kinds_of_findings, WORDS)}")
        if one.members and part.open:  # there may be thousands: a table only where it is seen
            table = uploads_table(uploads(one.members))
            tables.table(table, key=f"taken-{number}", name="Members", height=240)


def _reasons(one: Upload, advice: set[str]) -> None:
    """What is wrong with an upload, and what to do; `advice` is what was said before and is not repeated."""
    for finding in one.reasons[:MOST_REASONS]:
        where = finding.where.file or one.row.name
        place = f"{where}, line {finding.where.line}" if finding.where.line else where
        sentence = f"{one.mark} {text.one_line(place, 80)}: {text.one_line(finding.message, 300)}."
        hint = finding.hint or ""
        st.text(sentence if hint in advice else f"{sentence} {text.one_line(hint, 500)}")
        advice.add(hint)
    if len(one.reasons) > MOST_REASONS:
        st.caption(f"{len(one.reasons) - MOST_REASONS:,} more reasons are in the table.")
