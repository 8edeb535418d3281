"""Who said what of a sub-goal, with the words it rests on; what to know before trusting a judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

import streamlit as st

from components.review import signing, writing
from components.run.events import event_link
from components.run.note_panel import reason_field
from components.shared import after_saves, drafts, judges, reviewer, roles, state, text
from components.shared.panels import panel
from untaken.ledger import Run, Verdict
from untaken.scoring import NodeScore, not_withdrawn
from untaken.views import RunReport, VerdictView, decided_by_check, reviewers_differ, verdict_views

UNANCHORED: Final = "No rule or check says which results a quote must be from. The gate does not count this."
JUDGES: Final = "judges"
MOST_VERDICTS: Final = 20
MOST_WARNINGS: Final = 5
SECONDS_BETWEEN_LOOKS: Final = 2.0
ANSWERS: Final = {True: ("✓ met", "blue"), False: ("✗ not met", "orange"), None: ("? could not tell", "gray")}
STATUS_WORDS: Final = {
    "decides": "decides",
    "outranked": "does not decide",
    "no opinion": "no opinion",
    "replaced": "replaced by a later verdict",
    "withdrawn": "withdrawn",
    "not counted": "left out by the current rules",
}


@panel
def warning(report: RunReport) -> None:
    """Say where the record may hold a prompt injection."""
    _wait_for_search(report.run)
    if not report.injections:
        return
    with st.container(border=True, gap="xsmall", key="injections"):
        st.markdown(":material/record_voice_over: **Possible prompt injection in this run.**")
        st.caption("Passes by a judge do not count for this run. Check the text.")
        for finding in report.injections[:MOST_WARNINGS]:
            st.text(text.one_line(finding.message, 240))
        if len(report.injections) > MOST_WARNINGS:
            st.caption(f"and {len(report.injections) - MOST_WARNINGS} more under Findings")


def _wait_for_search(run: Run) -> None:
    """Draw the page again by itself once possible prompt injections were looked for in the run."""
    if after_saves.is_searched(run):
        return

    @st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
    def look() -> None:
        if state.in_frame():  # asked just above
            return
        with state.frame():
            found = after_saves.is_searched(run)
        if found:
            st.rerun()

    with st.container(key="until-searched", height=1, border=False):
        look()


def verdicts_on(report: RunReport, node: NodeScore) -> None:
    """Each verdict on a sub-goal, the highest authority first."""
    given = verdict_views(report.run, node, state.rules().globs)
    if not given:
        return
    with st.expander(f"Verdicts ({len(given)})", expanded=True):
        above = "Its own check decides. No verdict overrides it. " if decided_by_check(node) else ""
        st.caption(f"{above}Precedence: its check, recorded checks, reviewers, judges.")
        for authority, some in groupby(given[:MOST_VERDICTS], key=lambda view: view.authority):
            st.markdown(f"**{authority.capitalize()}**")
            for view in some:
                _verdict(report, node, view)
        if len(given) > MOST_VERDICTS:
            st.caption(f"and {len(given) - MOST_VERDICTS} more in the events")
        _settling(report, node, given)


def _settling(report: RunReport, node: NodeScore, given: Sequence[VerdictView]) -> None:
    """Where reviewers differ, a way to settle it here; both of their verdicts stay."""
    if report.integrity.broken or not reviewers_differ(given) or not roles.may("reviewer"):
        return
    store = state.workspace()

    def settle(passed: bool) -> Callable[[str], None]:
        return lambda author: writing.settle(store, report.run, node.sub_goal, passed, author=author)

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="settling"):
        st.markdown("**Reviewers disagree.** Settle it; their verdicts stay.", width="stretch")
        for passed, words in ((True, "Settle: met"), (False, "Settle: not met")):
            st.button(words, key=f"settle-{passed}", on_click=signing.save, args=(settle(passed),))


def _verdict(report: RunReport, node: NodeScore, view: VerdictView) -> None:
    words, colour = ANSWERS[view.passed]
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(words, color=colour)  # type: ignore[arg-type]
        st.badge(STATUS_WORDS[view.standing], color="violet" if view.standing == "decides" else "gray")
        if view.unanchored:
            st.badge("unanchored", color="orange", help=UNANCHORED)
        if view.authority == JUDGES:
            judges.mark(view.by, report.run.started.graph or "", node.sub_goal)
        if view.settles:
            st.badge("settles a disagreement", color="violet")
        if view.blind:
            st.badge("read blind", color="gray", help="Its author had not seen what others wrote.")
        if view.imported:
            st.badge("imported", color="gray")
        st.text(text.one_line(view.by, 80))
    if view.reason:
        st.text(text.one_line(view.reason, 600))
    for number, cited in enumerate(view.quotes):
        if cited.quote:
            st.code(text.one_line(cited.quote, 400), language=None, wrap_lines=True)
        if not cited.found:
            st.caption("✗ Quote not found in the cited event.")
        event_link(report, cited.seq, key=f"quote-{view.seq}-{number}")


MARKS: Final[tuple[tuple[str, bool | None, str, str], ...]] = (
    ("✓ Met", True, "Y", "met"),
    ("✗ Not met", False, "X", "not-met"),
    ("? Cannot tell", None, "T", "unsure"),
)
"""Of each mark: label, what is recorded, key, the widget's name. On Review, digits set a status."""
REASON_CHARS: Final = 2_000


def marking(report: RunReport, node: NodeScore) -> None:
    """The three buttons and a field for why; what the reviewer said before is marked."""
    if report.integrity.broken:
        st.caption("You cannot add a verdict: the ledger is broken.")
        return
    if not roles.may("reviewer"):
        return
    with st.container(key="marking", gap="xsmall"):
        author, store = reviewer.author() or "", state.workspace()
        given = not_withdrawn(report.run.of(Verdict))
        # the last one of each counts
        passed_by = {v.by: v.passed for v in given if v.sub_goal == node.sub_goal}
        if decided_by_check(node):
            st.caption(
                "This sub-goal is decided by its check. Your verdict is recorded but does not "
                "change the score."
            )
        why = reason_field(report.run, node.sub_goal)

        def verdict(passed: bool | None) -> Callable[[str], None]:
            return lambda author: writing.save_verdict(
                store, report.run, node.sub_goal, passed, author=author, why=why
            )

        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            for words, passed, key, name in MARKS:
                # `None` is a verdict, too: cannot tell.
                mine = author in passed_by and passed_by[author] is passed
                st.button(
                    words,
                    key=f"mark-{name}-{why.key}",
                    shortcut=key,
                    type="primary" if mine else "secondary",
                    on_click=signing.save,
                    args=(verdict(passed),),
                )
            if author in passed_by:
                st.button(
                    "Withdraw",
                    icon=":material/undo:",
                    key=f"withdraw-{why.key}",
                    shortcut="W",
                    type="tertiary",
                    help="Withdraws your verdict. The history keeps it.",
                    on_click=writing.withdraw_verdict,
                    args=(store, report.run, node.sub_goal),
                    kwargs={"author": author},
                )
        drafts.text_input(
            "Why",
            why,
            max_chars=REASON_CHARS,
            placeholder="Why? What you saw (optional)",
            label_visibility="collapsed",
        )
        signing.signer("verdict")
