"""What the first screen of a run answers: asked, expected, got, why; then its plan beside its transcript."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.compare import choice
from components.review import panel as review_panel
from components.review import second_reading, writing
from components.run import events, evidence, note_panel, plan_changes, plan_side, verdicts
from components.run.evidence import named, pick
from components.shared import after_saves, roles, state, text
from components.shared.panels import panel
from components.transcript.view import transcript
from untaken.analysis import triage
from untaken.errors import Score, Unscored, number
from untaken.ledger import Verdict
from untaken.numbers import counted, money, percent
from untaken.scoring import RunScore, not_withdrawn
from untaken.views import PLAN, STAR, RunReport, decision_kinds, run_brief
from untaken.workspace import Review


@panel
def draw(report: RunReport, review: Review) -> None:
    """Draw it; a part of the page of a run, and of the queue of runs to review."""
    writing.show_messages()
    _integrity(report)
    second_reading.notice(report.run.digest)
    with st.container(key="run-body", gap="small"):
        _brief(report)
        verdicts.warning(report)
        _why(report, review)
        with st.container(key="plan-and-transcript"):
            left, right = st.columns([2, 3], gap="small")
            with left, st.container(gap="xsmall", key="plan-side"):
                plan_side.beside_transcript(report)
            with right, st.container(gap="xsmall"):
                evidence.draw(report)
                _transcript(report)


@panel
def _transcript(report: RunReport) -> None:
    """The run as a conversation; a sub-goal in its margin is selected by a click."""
    reader = second_reading.reader_of(report.run)
    transcript(
        after_saves.corpus_with(report.run.digest, reader),
        report.run.digest,
        key="transcript",
        on_goal=pick,
        on_whole=events.open_event,
    )
    events.opened_event(report)


@panel
def _integrity(report: RunReport) -> None:
    """Say loudly when the record cannot be trusted, quietly when it is not anchored."""
    verdict = report.integrity
    if verdict.broken:
        place = f" (line {verdict.line})" if verdict.line else ""
        st.error(
            f"**This ledger is {verdict.verdict}{place}.** Do not draw conclusions from it. Counterfactual "
            "evaluation is aborted (DTL-STRAT-006).",
            icon=":material/link_off:",
        )
        st.text(text.one_line(verdict.reason, 400))
    elif verdict.verdict != "INTACT":
        st.caption(f":material/link: {verdict.verdict}: {text.label(verdict.reason, 300)}")


DIAGNOSIS_WORDS: Final = {
    "clean": "Nothing went wrong",
    "inside": "Attempted but not completed: look at tool calls and reasoning",
    "skipping": "Never attempted: look at planning",
    "violation": "A critical step was skipped",
    "not_detecting_errors": "Failures occurred and nothing changed",
    "unscored": "No diagnosis",
}


@panel
def _why(report: RunReport, review: Review) -> None:
    """Why it went so: on the left of a card what happened, on its right what the reviewer writes about it."""
    with st.container(border=True, key="why"):
        left, right = st.columns([11, 9], gap="medium")
        with left, st.container(gap="xxsmall", key="cause"):
            _cause(report)
            _others(report)
            if PLAN in state.derived(decision_kinds, of_all=True):
                plan_changes.headline(state.corpus(), report.run.digest)
            with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="next-steps"):
                about = report.cause.sub_goal
                if about and about != state.selected("sub_goal"):
                    st.button(
                        "Show evidence",
                        key="show-cause",
                        type="tertiary",
                        shortcut="E",
                        on_click=pick,
                        args=(about,),
                    )
                choice.link(report.run)
        with right, st.container(gap="xsmall", key="review"):
            note_panel.of_run(report)
            if roles.may("reviewer"):
                review_panel.status(review)


def _cause(report: RunReport) -> None:
    score = report.score
    if report.integrity.broken:
        st.markdown("**The ledger is broken: nothing is concluded from this run.**")
        return
    if isinstance(score, Unscored):
        st.markdown("**This run has no sub-goal score.**")
        st.text(text.sentence(text.one_line(score.reason, 400)))
        unmet = [one for one in not_withdrawn(report.run.of(Verdict)) if one.passed is False]
        for verdict in unmet[:VERDICTS]:  # what a person or a test says is all that is known of why
            why = f": {verdict.reason}" if verdict.reason else ""
            st.text(text.one_line(f"✗ {verdict.sub_goal}, by {verdict.by}{why}", 400))
        return
    fine = score.diagnosis == "clean"
    lucky = report.contradiction is not None and report.contradiction.kind == "lucky"
    mark = "check_circle" if fine else "casino" if lucky else "troubleshoot"
    about = report.cause.sub_goal
    st.markdown(f":material/{mark}: **{text.label(report.cause.headline, 200)}**")
    if report.cause.detail:
        st.text(text.sentence(text.one_line(named(report, report.cause.detail), 500)))
    reason = text.sentence(text.label(named(report, score.diagnosis_reason), 400))
    other = bool(about) and f"'{about}'" not in score.diagnosis_advice
    alone = fine or other or score.diagnosis_advice  # the advice says what to look at
    # Where one sub-goal alone is undone, its count says no more than the headline.
    repeats = alone and score.diagnosis in ("inside", "skipping") and score.required - score.completed == 1
    if score.diagnosis_reason != report.cause.detail and not repeats:
        st.caption(reason if alone else f"{DIAGNOSIS_WORDS[score.diagnosis]}: {reason}")
    if score.diagnosis_advice and not other:  # it is for the failure that the headline names
        what, _, why = score.diagnosis_advice.partition(": ")
        headline = why.startswith(f"'{about}' was ")
        st.text(text.one_line(f"{what}." if headline else named(report, score.diagnosis_advice), 600))


def _others(report: RunReport) -> None:
    """How many runs fail first where this one does: whether it is worth more than this run."""
    if len(state.corpus().runs) > after_saves.MOST_COUNTED:
        return
    found = state.derived(triage, of_all=state.lists_all()).failing_like(report.run.digest)
    if found is not None and found[1]:
        goal, others = found
        place = "here" if goal == report.cause.sub_goal else f"at {named(report, repr(goal))}"
        fail = "fails" if others == 1 else "fail"
        st.caption(
            text.label(f"{counted(others, 'other run')} {fail} {place} first, whatever the cause", 140)
        )


VERDICTS: Final = 3
LINES: Final = {"Asked": 3, "Expected": 2, "Got": 2}
"""Longer answers are cut by the style sheet, with a way to the whole of them."""
LINE_CHARS: Final = 85
MOST_CHARS: Final = 10_000
OUTCOMES: Final = {True: "✓ succeeded", False: "✗ failed"}


@panel
def _brief(report: RunReport) -> None:
    """Who ran what and how it ended, then what was asked, expected and got."""
    found = run_brief(report.run, report.graph)
    # Without a graph, nothing is said.
    plan = f"Plan: {found.plan}" if found.plan else "The plan graph has no sub-goals." * bool(report.graph)
    expected = [found.target and f"Recorded answer: {found.target}", plan]
    got = "\n".join(filter(None, [found.got, found.ended]))
    with st.container(border=True, gap="xxsmall", key="brief"):
        with st.container(horizontal=True, gap="medium", key="facts"):
            for words in _facts(report):
                st.text(words, width="content")
        _answer("Asked", found.asked or "The record holds no task text.")
        _answer("Expected", "\n".join(filter(None, expected)) or "No plan graph, and no recorded answer.")
        _answer("Got", got or "The record holds no message and no call of the agent.")


def _facts(report: RunReport) -> list[str]:
    run, score, end = report.run, report.score, report.run.finished
    repeat = run.started.task_repeat
    where = text.one_line(run.task_id, 60) + ("" if repeat is None else f" (repeat {repeat})")
    outcome = "? no outcome" if isinstance(run.success, Unscored) else OUTCOMES[run.success]
    found = [f"{text.one_line(text.agent(run.agent), 60)} on {where}", outcome]
    if isinstance(score, RunScore):
        found.append(_share(score.completed, score.required, score.completion, "completed"))
        if score.critical:
            critical = score.critical_completed, score.critical, score.critical_completion
            found.append(f"{STAR} {_share(*critical, 'critical')}")
        if score.plans and score.replans:
            found.append(counted(score.replans, "replan"))
    if end is not None and end.steps is not None:
        found.append(counted(end.steps, "step"))
    if end is not None and end.cost is not None:
        found.append(money(end.cost, text.one_line(end.cost_unit, 12)))
    return [*found, f"record {report.integrity.verdict.lower()}"]


def _share(count: int, total: int, rate: Score, what: str) -> str:
    value = number(rate)
    return f"{what}: unscored" if value is None else f"{count} of {total} ({percent(value)}) {what}"


def _answer(name: str, words: str) -> None:
    shown = "\n".join(
        text.one_line(text.without_marks(line), MOST_CHARS)
        for line in words[:MOST_CHARS].splitlines()
        if line.strip()
    )
    key, most = name.lower(), LINES[name] * LINE_CHARS
    with st.container(horizontal=True, gap="small", key=f"answer-{key}"):
        st.text(name, width=76)
        with st.container(key=f"words-{key}", width="stretch"):
            st.text(shown[: 4 * most])
        if len(shown) > most or shown.count("\n") >= LINES[name]:
            with st.popover("More", key=f"more-{key}", type="tertiary"):
                st.text(shown)
