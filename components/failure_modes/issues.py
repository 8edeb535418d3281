"""Issues: which are open, fixed or reopened, how often by version; adding one, and calling it fixed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import streamlit as st

from components.review import panel as review_panel
from components.shared import reviewer, roles, state, tables, text
from components.shared.panels import panel
from untaken.analysis import (
    FACTS,
    ISSUES,
    Corpus,
    Issue,
    IssueChange,
    IssueEdit,
    IssueRule,
    IssueStatus,
    TrackedIssue,
    adding,
    change_issues,
    kept_issues,
    kept_taxonomy,
    setting,
)
from untaken.errors import UntakenError
from untaken.numbers import counted
from untaken.views import corpus_issues, issue_rates_table, issue_runs_table, issues_table
from untaken.visible import free_id

STATES: Final = {"open": "○ open", "fixed": "✔ fixed", "reopened": "⚠ reopened"}
"""A mark for each word, so that colour is never the only sign."""
MOST_RUNS: Final = 500
DAY: Final = st.column_config.DateColumn(format="YYYY-MM-DD")
MESSAGE: Final = "issue_said"
HIDDEN: Final = ("id", "rate_reason", "low", "high", "mode", "rule")


@panel
def draw(corpus: Corpus) -> None:
    """The list, the chosen issue, and the form for a new one."""
    if message := st.session_state.pop(MESSAGE, None):
        st.error(text.label(message, 400))
    with st.container(width=320):
        reviewer.ask_reviewer()
    folder = state.workspace().path
    issues = kept_issues(folder).issues
    if issues:
        found = corpus_issues(corpus, issues, kept_taxonomy(folder))
        _listed(corpus, found)
    else:
        st.info(
            "No issues yet. Add one for a failure mode that must not come back: it reopens as soon as a "
            "later run matches, and `untaken gate --issues` fails.",
            icon=":material/flag:",
        )
    _form(folder_is_new=not issues)  # the first one: there is nothing else to look at


def _listed(corpus: Corpus, found: Sequence[TrackedIssue]) -> None:
    frame = issues_table(found)
    frame["state"] = [STATES[one.state] for one in found]
    row = tables.table(
        frame,
        key="issues",
        name="Issues",
        selectable=True,
        columns={"first_seen": DAY, "last_seen": DAY} | dict.fromkeys(HIDDEN),
    )
    if row is not None:
        state.select(view="issues", issue=found[row].issue.id)
    chosen = next((one for one in found if one.issue.id == state.selected("issue")), None)
    if chosen is None:
        st.caption("Select an issue to see its rates, its runs and its history.")
        return
    _detail(corpus, chosen)


def _detail(corpus: Corpus, one: TrackedIssue) -> None:
    issue = one.issue
    with st.container(border=True):
        st.markdown(f"**{text.label(issue.title, 200)}** · {STATES[one.state]}")
        if issue.ruled:
            st.code(str(issue.rule), language=None, wrap_lines=True)
        if one.state == "reopened":
            again = counted(len(one.reopened_by), "run")
            st.warning(f"Back in {again} that began after the fix.", icon=":material/warning:")
        if one.agreed or one.missed or one.extra:
            st.caption(
                f"Rule against people, runs that were read: {one.agreed:,} match and have the mode, "
                f"{one.missed:,} have it and do not match, {one.extra:,} match without it."
            )
        if one.unknown:
            unknown = counted(one.unknown, "run")
            st.caption(f"The rule could not be checked on {unknown}: {text.label(one.unknown_reason, 160)}.")
        if one.undated:
            undated = counted(one.undated, "matching run")
            st.caption(f"{undated} without timestamps: these cannot reopen the issue.")
        _buttons(one)
        hidden = {"rate_reason": None}
        tables.table(issue_rates_table(one), key="issue-rates", name="Issue rates", columns=hidden)
        _runs(corpus, one)
        with st.expander("History"):
            for change in reversed(issue.history):
                note = f": {text.label(change.note, 200)}" if change.note else ""
                st.caption(f"{change.at:%Y-%m-%d %H:%M} · {text.label(change.by)} · {change.status}{note}")
    review_panel.link_to_this()


def _runs(corpus: Corpus, one: TrackedIssue) -> None:
    st.caption(f"{counted(len(one.matches), 'run')} with it, newest first. Select a row to open the run.")
    frame = issue_runs_table(one, corpus)
    height = tables.height_of(max(len(frame), 1), most=320)
    tables.runs_table(frame, key="issue-runs", name="Runs with the issue", most=MOST_RUNS, height=height)


def _buttons(one: TrackedIssue) -> None:
    author = reviewer.author()
    # What a click does, not what the issue is.
    status: IssueStatus = "open" if one.state == "fixed" else "fixed"
    words = "Open again" if status == "open" else "Mark as fixed"
    st.button(
        words,
        key=f"issue-{status}-{one.issue.id}",
        disabled=author is None,
        help="Enter your name first." if author is None else "Runs that begin from now on can reopen it.",
        # the moment of the click
        on_click=lambda: _save(setting(one.issue.id, status, by=author or "", at=_now())),
    )


def _form(*, folder_is_new: bool) -> None:
    taxonomy = kept_taxonomy(state.workspace().path)
    names = {mode.id: mode.name for mode in taxonomy.active}
    with st.expander("New issue", expanded=folder_is_new, icon=":material/add:"), st.form("issue-form"):
        title = st.text_input("Title", key="issue-title", max_chars=200)
        mode = st.selectbox(
            "Failure mode",
            ["", *names],
            format_func=lambda one: text.one_line(names[one], 80) if one else "none",
            key="issue-mode",
        )
        expr = st.text_area(
            "Rule: expression",
            key="issue-expr",
            placeholder='state.status.pay == "skipped" && "charge" in state.failed_tools',
            help="True for runs that have the issue. Facts, each as state.NAME: " + ", ".join(FACTS) + ".",
        )
        glob = st.text_input(
            "Rule: text",
            key="issue-text",
            placeholder="*card was declined*",
            help="A glob over what was said, called and answered. With an expression, both must hold.",
        )
        st.caption("Without a rule, a run has the issue if its failure mode was assigned to the run.")
        author = reviewer.author()
        sent = st.form_submit_button(
            "Add issue", disabled=author is None, help="Enter your name first." if author is None else None
        )
    if sent and author:
        opened = IssueChange(status="open", by=author, at=_now())
        rule = IssueRule(expr=expr.strip(), text=glob.strip())
        issue = Issue(id=_free_id(title), title=title.strip(), mode=mode, rule=rule, history=[opened])
        _save(adding(issue))
        st.rerun()


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _free_id(title: str) -> str:
    """A readable id that no issue has."""
    known = {issue.id for issue in kept_issues(state.workspace().path).issues}
    stem = "-".join(re.findall(r"\w+", title.lower()))[:60] or "issue"
    return free_id(stem, known)


def _save(edit: IssueEdit) -> None:
    try:
        roles.need("reviewer")
        change_issues(state.workspace().path / ISSUES, edit)
    except UntakenError as error:
        st.session_state[MESSAGE] = f"{error.message}. {error.hint}"
