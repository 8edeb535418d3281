"""What became of each upload, as cards that can be read on every screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.shared import tables, text
from untaken.present.numbers import counted
from untaken.views.uploads import Upload, uploads, uploads_table

MOST: Final = 20
"""Above this many uploads a table shows all of them, and cards those with faults."""
MOST_REASONS: Final = 10
WORDS: Final = 320
"""Characters of a sentence about losses and findings."""


def cards(found: Sequence[Upload]) -> None:
    """A card for each upload with what it held, what was lost and what to do; of many, for faulty ones."""
    advice: set[str] = set()
    sides = [name for one in found for name in one.sides]
    found = [one for one in found if one.row.name not in sides]
    shown = [one for one in found if len(found) <= MOST or one.mark != "✓"]
    for number, one in enumerate(found):
        if one in shown[:MOST]:
            with st.container(border=True, gap="xsmall", key=f"upload-card-{number}"):
                _card(one, advice)
                if one.members:
                    _inside(one, number)
        elif one.members:
            _inside(one, number)
    if len(shown) > MOST:
        st.caption(f"{len(shown) - MOST:,} more with findings are in the table.")
    if sides:
        named = ", ".join(text.label(name, 60) for name in sides[:MOST_REASONS])
        more = f" and {len(sides) - MOST_REASONS:,} more" if len(sides) > MOST_REASONS else ""
        st.caption(f"Left out, because they hold no runs: {named}{more}.")


def _card(one: Upload, advice: set[str]) -> None:
    held = [(one.runs, "run"), (one.graphs, "plan graph"), (len(one.members), "file")]
    counts = [counted(number, words) for number, words in held if number]
    st.text(f"{one.mark} {text.one_line(one.row.name, 120)}")
    st.caption(
        text.label(" · ".join([one.row.kind or "not recognised", one.status, *counts, *_integrity(one)]))
    )
    if one.loss:
        st.text(text.one_line(one.loss_words, WORDS))
    if one.reasons:
        _reasons(one, advice)
    elif one.findings:
        findings = " · ".join(dict.fromkeys(found.message for found in one.findings))
        st.text(f"Findings: {text.one_line(findings, WORDS)}")
        _advise(one.next_step, advice)


def _integrity(one: Upload) -> list[str]:
    return [f"integrity: {one.integrity}"] if one.integrity else []


def _advise(hint: str, advice: set[str]) -> None:
    if hint and hint not in advice:
        st.text(f"Next step: {text.one_line(hint, WORDS)}")
        advice.add(hint)


def _inside(archive: Upload, number: int) -> None:
    """The members of an archive."""

    def members() -> None:
        table = uploads_table(uploads(archive.members))
        tables.table(table, key=f"taken-{number}", name="Members", height=240)

    words = f"Inside {text.label(archive.row.name, 60)}: {len(archive.members):,}"
    tables.folded(words, members, key=f"members-{number}")


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
