"""The head of the page of one run. Words from the ledger are shown as text, code and tables only."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.run.events import event_link
from components.shared import state, text
from components.shared.panels import panel
from untaken.answers import RunReport, UnhandledFailure
from untaken.errors import Score, Unscored, number
from untaken.present.numbers import counted, money, percent
from untaken.present.statuses import STAR
from untaken.subgoals import RunScore

TITLE_CHARS: Final = 70
DIAGNOSIS_WORDS: Final = {
    "clean": "Nothing went wrong",
    "inside": "Attempted but not completed: look at tool calls and reasoning",
    "skipping": "Never attempted: look at planning",
    "violation": "A critical step was skipped",
    "not_detecting_errors": "Failures occurred and nothing changed",
    "unscored": "No diagnosis",
}


def named(report: RunReport, words: str) -> str:
    """A sentence about sub-goals with their titles in place of their ids. Untrusted, like the titles."""
    titles = {node.sub_goal: text.one_line(node.title or node.sub_goal, TITLE_CHARS) for node in report.nodes}
    return "'".join(titles.get(part, part) for part in words.split("'"))


@panel
def integrity_banner(report: RunReport) -> None:
    """Say loudly when the record cannot be trusted, quietly when it is not anchored."""
    verdict = report.integrity
    if verdict.broken:
        place = f" (line {verdict.line})" if verdict.line else ""
        st.error(
            f"**This ledger is {verdict.verdict}{place}.** Do not draw conclusions from it. Counterfactual "
            "evaluation is aborted"
            " (DTL-STRAT-006).",
            icon=":material/link_off:",
        )
        st.text(text.one_line(verdict.reason, 400))
    elif verdict.verdict != "INTACT":
        st.caption(f":material/link: {verdict.verdict}: {text.label(verdict.reason, 300)}")


@panel
def facts(report: RunReport) -> None:
    """Who, what, how it ended, and how much of the plan was met, with the rule in force."""
    run, score, end = report.run, report.score, report.run.finished
    repeat = run.started.task_repeat
    found: list[tuple[str, str | None]] = [
        ("Agent", text.one_line(run.agent, 60)),
        ("Task", text.one_line(run.task_id, 60) + ("" if repeat is None else f" (repeat {repeat})")),
        ("Outcome", _outcome(run.success)),
    ]
    if isinstance(score, RunScore):
        found.append(("Completed", _share(score.completed, score.required, score.completion)))
        if score.critical:
            critical = _share(score.critical_completed, score.critical, score.critical_completion)
            found.append((f"{STAR} Critical", critical))
        found.append(("Replans", str(score.replans) if score.plans else None))
    if end is not None:
        cost = None if end.cost is None else money(end.cost, text.one_line(end.cost_unit, 12))
        found += [("Steps", None if end.steps is None else f"{end.steps:,}"), ("Cost", cost)]
    found.append(("Ledger", report.integrity.verdict))
    shown = [(name, value) for name, value in found if value is not None]
    if missing := [name.lower() for name, value in found if value is None]:
        shown.append(("Not recorded", ", ".join(missing)))
    with st.container(horizontal=True, gap="medium", key="facts"):
        for name, value in shown:
            st.text(f"{name}\n{value}", width="content")
    _diagnosis(report)


def _outcome(success: bool | Unscored) -> str:
    if isinstance(success, Unscored):
        return "? not recorded"
    return "✓ success" if success else "✗ failure"


def _share(count: int, total: int, rate: Score) -> str:
    value = number(rate)
    return "unscored" if value is None else f"{count} of {total} ({percent(value)})"


def _diagnosis(report: RunReport) -> None:
    score = report.score
    if report.integrity.broken:
        return
    if isinstance(score, Unscored):
        st.warning("This run has no sub-goal score.", icon=":material/help:")
        st.text(text.one_line(score.reason, 400))
        return
    fine = score.diagnosis == "clean"
    with st.container(border=True, gap="xsmall"):
        lucky = report.contradiction is not None and report.contradiction.kind == "lucky"
        mark = "check_circle" if fine else "casino" if lucky else "troubleshoot"
        st.markdown(f":material/{mark}: **{text.label(report.cause.headline, 200)}**")
        if report.cause.detail:
            st.text(text.one_line(named(report, report.cause.detail), 500))
        reason = text.label(named(report, score.diagnosis_reason), 400)
        about = report.cause.sub_goal
        other = bool(about) and f"'{about}'" not in score.diagnosis_advice
        alone = fine or other or score.diagnosis_advice  # the advice says what to look at
        st.caption(reason if alone else f"{DIAGNOSIS_WORDS[score.diagnosis]}: {reason}")
        if score.diagnosis_advice and not other:  # it is for the failure that the headline names
            st.text(text.one_line(named(report, score.diagnosis_advice), 600))
        missing = f" {score.unscored} of the sub-goals are unscored." if score.unscored else ""
        st.caption(f"{text.label(state.rules().in_words(), 300)}.{missing}")


MOST: Final = 5
NEXT_WORDS: Final = {
    "tried again": "then the same call again",
    "tried otherwise": "then the same tool with other arguments",
    "went on": "then went on with another tool",
    "spoke": "then only sent messages",
    "ended": "then the run ended",
}


@panel
def unhandled_failures(report: RunReport) -> None:
    """The failures behind the diagnosis, each with a link to its event."""
    found = report.unhandled
    if not found:
        return
    with st.expander(f"Failures without a new plan ({len(found)})", key="unnoticed"):
        for failure in found[:MOST]:
            _failure(report, failure)
        if len(found) > MOST:
            st.caption(f"and {counted(len(found) - MOST, 'more failure')}, marked ✗ in the events below")


def _failure(report: RunReport, failure: UnhandledFailure) -> None:
    what = "transient failure" if failure.transient else "failure"
    tool = f" of {text.one_line(failure.tool, 40)}" if failure.tool else ""
    following = f" ({text.one_line(failure.next_tool, 40)})" if failure.next == "went on" else ""
    st.text(f"✗ {what}{tool}: {text.one_line(failure.text, 120)} – {NEXT_WORDS[failure.next]}{following}")
    event_link(report, failure.seq, key=f"failed-{failure.seq}")
