"""Who&When: what each entry becomes, whom the orchestrator could have chosen, and where the label points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import (
    codes,
    converted,
    generated_record,
    hand_crafted_record,
    magentic_ledger,
    magentic_plan,
    magentic_turn,
    put,
)
from hypothesis import given
from hypothesis import strategies as st
from reading import Case, case, each

from untaken import limits
from untaken.analysis.failure_modes.root_causes import root_cause_agreement
from untaken.errors import Unscored
from untaken.ledger import Message, Observation, Plan, Run, SkillSelection, Verdict
from untaken.scoring import score_outcome
from untaken.traces import Conversion, sniff


def read(tmp_path: Path, content: Any, **options: Any) -> tuple[Conversion, list[Run]]:
    return converted("who-and-when", tmp_path / "out", put(tmp_path / "in" / "7.json", content), **options)


def one(tmp_path: Path, content: Any, **options: Any) -> Run:
    (run,) = read(tmp_path, content, **options)[1]
    return run


def orchestrated(*history: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A record of which only the history matters."""
    return hand_crafted_record(history=list(history), mistake_step="0", **changed)


def said(run: Run) -> list[tuple[str, Any]]:
    return [
        (event.role if isinstance(event, Message) else "terminal", event.content)
        for event in run.events
        if isinstance(event, Message | Observation)
    ]


def context(*, loop: bool | None, progress: bool | None, last: str) -> dict[str, Any]:
    satisfied = None if loop is None else False
    flags = {"is_request_satisfied": satisfied, "is_in_loop": loop, "is_progress_being_made": progress}
    return {**flags, "last_speaker": last}


def test_a_team_of_thousands_fills_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DECISIONS_CHARS", 1_000)
    chosen = [{"role": f"Orchestrator (-> Agent{n:02})", "content": "Go."} for n in range(60)]
    run = one(tmp_path, orchestrated(*chosen))
    listed = sum(len(name) for each in run.of(SkillSelection) for name in each.alternatives)
    assert 0 < listed <= 1_000
    assert len([each for each in run.of(Message) if "->" in each.role]) == 60


PLANS = [
    ("other steps", magentic_plan("New plan", "b"), 1),
    ("other facts alone", magentic_plan("New plan", "a", facts="It sinks."), 1),
    ("the same again", magentic_plan("New plan", "a"), 0),
]


@pytest.mark.parametrize(("desc", "plan", "want"), PLANS)
def test_a_new_plan_is_a_replan_where_steps_or_facts_differ(tmp_path, desc, plan, want) -> None:
    run = one(tmp_path, orchestrated(magentic_plan("Initial plan", "a"), plan))
    score = score_outcome(run, Unscored("no plan graph"))
    assert score.replans == want
    plans = run.of(Plan)
    assert [event.reason for event in plans] == ["initial plan", "new plan"]
    assert plans[0].sub_goals == ["a", "Fact sheet: It floats."]


def test_the_label_is_a_verdict_that_points_at_the_step(tmp_path: Path) -> None:
    record = hand_crafted_record()
    run = one(tmp_path, record)
    (verdict,) = run.of(Verdict)
    assert (verdict.sub_goal, verdict.passed) == ("work of WebSurfer", False)
    assert verdict.by == "human:who-and-when"
    assert verdict.reason == record["mistake_reason"]
    (evidence,) = verdict.evidence or []
    event = run.events[evidence.seq]
    assert isinstance(event, Message)
    assert event.content == record["history"][7]["content"]
    assert evidence.quote in event.content
    assert verdict.seq > run.finished.seq
    assert (run.started.metadata or {})["mistake_step"] == "7"


def label(desc: str, changed: dict[str, Any], evidence: int, *found: str, who: str = "WebSurfer") -> Case:
    """A record with this label, its verdict, and what is found of it."""
    named = {"label-out-of-range", "agent-spelling", "label-differs-from-speaker", "flag-contradicts-label"}
    want = {"blamed": [(f"work of {who}", evidence)], "found": {*found}, "missing": named - {*found}}
    return case(f"a label with {desc}", hand_crafted_record(**changed), **want)


BEYOND = "label-out-of-range"
TURN = magentic_turn("WebSurfer", "a")
BROKEN = {"role": "Orchestrator (thought)", "content": 'Updated Ledger:\n{"is_in_loop": {"answer": tr'}
FOLLOWED = magentic_ledger("WebSurfer", loop=True)
FOLLOWED["content"] += "\nsome.py:216: UserWarning: {mismatch}"
UNLABELLED = hand_crafted_record(mistake_step=None, mistake_agent=None)
CASES = [
    label("a number", {"mistake_step": 7}, 1),
    label("a number as text", {"mistake_step": "7"}, 1, "number-as-string"),
    label("a step past the end", {"mistake_step": "99"}, 0, BEYOND),
    label("a step below zero", {"mistake_step": -1}, 0, BEYOND),
    label("a step between two", {"mistake_step": 1.5}, 0, BEYOND),
    label("a word for a step", {"mistake_step": "late"}, 0, BEYOND),
    label("a list for a step", {"mistake_step": [7]}, 0, BEYOND),
    label("no step", {"mistake_step": None}, 0, BEYOND),
    label("no agent", {"mistake_agent": None}, 1, who="the team"),
    label("another spelling than the history's", {"mistake_agent": "WEBSURFER"}, 1, "agent-spelling"),
    label("another speaker", {"mistake_agent": "FileSurfer"}, 1, "label-differs-from-speaker",
          who="FileSurfer"),
    label("somebody unheard of", {"mistake_agent": "Nobody"}, 1, "label-differs-from-speaker", who="Nobody"),
    label("a run that succeeded", {"is_correct": True}, 1, "flag-contradicts-label"),
    case("without a label there is no verdict", UNLABELLED, blamed=[], success=None, found={"missing-label"}),
    case("success is as said", hand_crafted_record(is_correct="true"), success=True, cost=None),
    case("a failure is as said", hand_crafted_record(is_correct=False), success=False, cost=None),
    case("a labelled run failed", hand_crafted_record(), success=False, cost=None),
    case("a labelled run that was corrected failed", hand_crafted_record(is_corrected=True), success=False),
    case("the task is the question whatever the set",
         [hand_crafted_record(question_ID="q-9"), generated_record(question_ID="q-9")],
         tasks=["who-and-when-q-9"] * 2),
    case("a list of records gives a run each",
         [hand_crafted_record(), 3, {"question": "?"}, generated_record()],
         runs=["who-and-when/hand-crafted/7", "who-and-when/algorithm-generated/7/3"],
         counts={"not-this-format": 2}),
    case("without a plan the alternatives are whom the run turns to",
         orchestrated(*TURN, *magentic_turn("Coder", "b")), alternatives=[["Coder"], ["WebSurfer"]]),
    case("a broken ledger leaves its flags unknown and the next one counts again",
         orchestrated(*TURN, BROKEN, *TURN[1:], *TURN), counts={"unreadable-progress": 1},
         contexts=[context(loop=False, progress=True, last="human"),
                   context(loop=None, progress=None, last="WebSurfer"),
                   context(loop=False, progress=True, last="WebSurfer")]),
    case("what follows a ledger in its text does no harm", orchestrated(FOLLOWED, *TURN[1:]),
         contexts=[context(loop=True, progress=True, last="human")], missing={"unreadable-progress"}),
    case("flags written as text are read",
         orchestrated(*magentic_turn("WebSurfer", "a", loop="True", progress="false")),
         contexts=[context(loop=True, progress=False, last="human")], counts={"flag-as-text": 1}),
    case("a choice that the ledger did not name is noticed",
         orchestrated(magentic_ledger("FileSurfer"), *TURN[1:]), counts={"choice-differs-from-ledger": 1}),
    case("a terminal that ran code gives a call and its observation", generated_record(),
         calls=[("Computer_terminal", {"code": "count()\n"})], ok=[False, None], answered=["call-1", None]),
]  # fmt: skip


@each(CASES)
def test_a_record_is_read_whatever_is_wrong_with_it_or_its_label(tmp_path: Path, case: Case) -> None:
    case.holds("who-and-when", tmp_path, "7.json")


def test_a_question_without_an_id_is_recognised_by_its_words(tmp_path: Path) -> None:
    changes: list[dict[str, Any]] = [{}, {"level": 1}, {"question": "?"}, {"question": None}]
    told = [
        one(tmp_path / str(n), hand_crafted_record(question_ID=None, **changed)).task_id
        for n, changed in enumerate(changes)
    ]
    assert told[0] == told[1]
    assert len(set(told)) == 3
    assert told[3] == "who-and-when-7"


THOUGHTS = [
    "Updated Ledger:",
    "Updated Ledger: [1]",
    'Updated Ledger: {"next_speaker": "\\ud800"}',
    "Updated Ledger: " + '{"a":' * 5000,
    "Initial plan:",
    "New plan: following team:\n" + "x: y\n" * 9,
]
STRANGE: list[Any] = [
    [],
    [3, None, ["x"], True],
    [{}],
    [{"role": None, "content": None}],
    [{"role": 5, "content": {"text": "x"}}],
    [{"role": "Orchestrator (-> )", "content": "x"}],
    [{"role": "Orchestrator (-> " + "W" * 2000 + ")", "content": "x"}],
    *([{"role": "Orchestrator (thought)", "content": thought}] for thought in THOUGHTS),
    [{"role": "Computer_terminal", "content": ["exitcode: 1"]}],
    [{"role": "Computer_terminal", "content": "exitcode: 99999999999999999999999"}],
]


@pytest.mark.parametrize("history", STRANGE, ids=range(len(STRANGE)))
def test_no_history_is_too_strange(tmp_path: Path, history: list[Any]) -> None:
    run = one(tmp_path, hand_crafted_record(history=history))
    assert len(said(run)) == len(history)


ROLE = st.sampled_from(["human", "Orchestrator (thought)", "Orchestrator (-> A)", "A", "Computer_terminal"])
TOLD = st.sampled_from(["New plan:\n- a", "exitcode: 0", "Updated Ledger:\n{}"])
ENTRY = st.fixed_dictionaries({"role": ROLE}, optional={"content": st.none() | st.text(max_size=20) | TOLD})


@given(st.lists(ENTRY, max_size=8), st.none() | st.integers(-2, 9) | st.text(max_size=3))
def test_every_history_becomes_one_run_that_holds_it(tmp_path_factory, history, step) -> None:
    run = one(tmp_path_factory.mktemp("any"), hand_crafted_record(history=history, mistake_step=step))
    assert len(said(run)) == len(history)
    verdicts = run.of(Verdict)
    assert all(evidence.seq < len(run.events) for verdict in verdicts for evidence in verdict.evidence or [])


SNIFFED = [
    ("labels first", generated_record(), "who-and-when"),
    ("history first, cut before the labels", hand_crafted_record(), "who-and-when"),
    ("a list", [hand_crafted_record()], "who-and-when"),
    ("a history alone", hand_crafted_record()["history"], "who-and-when"),
    ("another history", {"history": [{"role": "user", "content": "hi"}]}, "openai-messages"),
    ("labels without a history", {"mistake_agent": "x"}, None),
]


@pytest.mark.parametrize(("desc", "content", "want"), SNIFFED)
def test_records_are_recognised_by_their_beginning(desc: str, content: Any, want: str | None) -> None:
    assert sniff("x.json", json.dumps(content).encode()[:600]) == want


def second_label(**changed: Any) -> dict[str, Any]:
    """AgentRx' label of `hand_crafted_record`: its steps count from 1, and it spells agents its own way."""
    failures = [
        {"failure_id": 1, "step_number": 5, "step_reason": "wrong page", "failed_agent": "Websurfer"},
        {"failure_id": 2, "step_number": 8, "step_reason": "in a loop", "failed_agent": "Websurfer"},
    ]
    root = {"failure_id": 2, "reason_for_root_cause": "no way back"}
    return {"trajectory_id": "q-1", "failures": failures, "root_cause": root} | changed


def test_a_second_label_of_a_run_is_joined_and_the_two_people_are_compared(tmp_path: Path) -> None:
    chat = generated_record(question_ID="q-1")  # another run of the same question has no such steps
    files = {"1.json": hand_crafted_record(), "2.json": chat, "labels.json": [second_label()]}
    sources = [put(tmp_path / "in" / name, content) for name, content in files.items()]
    for format in (None, "who-and-when"):
        conversion, runs = converted(format, tmp_path / str(format), *sources)
        (found,) = root_cause_agreement(runs)
        assert (found.a, found.b) == ("human:agentrx", "human:who-and-when")
        assert (found.runs, found.same_step, found.same_sub_goal) == (1, 1, 1)
        assert not codes(conversion).keys() & {"label-without-run", "label-out-of-range"}


UNFIT = [
    (second_label(trajectory_id="q-9"), "label-without-run"),
    (second_label(failures=[{"failure_id": 2, "step_number": 99}]), "label-out-of-range"),
]


@pytest.mark.parametrize(("label", "want"), UNFIT, ids=["of another run", "past the end"])
def test_a_second_label_that_fits_no_run_or_no_step_is_named(tmp_path, label, want) -> None:
    labels = put(tmp_path / "labels.json", [label])
    record = put(tmp_path / "1.json", hand_crafted_record())
    conversion, runs = converted("who-and-when", tmp_path / "out", record, labels)
    assert want in codes(conversion)
    assert root_cause_agreement(runs) == ()


def test_label_files_of_other_agents_are_not_of_this_format() -> None:
    for agent, want in (("FileSurfer", "who-and-when"), ("Assistant", "agentrx")):
        failure = {"failure_id": 1, "step_number": 3, "failed_agent": agent}
        assert sniff("labels.json", json.dumps([second_label(failures=[failure])]).encode()) == want


def test_a_history_alone_is_a_run_of_the_question_that_a_label_names_like_the_file(tmp_path: Path) -> None:
    record = hand_crafted_record()
    labels = put(tmp_path / "in" / "labels.json", [second_label()])
    for name, labelled in (("q-1", True), ("q-2", False)):
        history = put(tmp_path / "in" / f"{name}.json", record["history"])
        conversion, (run,) = converted(None, tmp_path / name, history, labels)
        whole = one(tmp_path / f"whole-{name}", record)
        assert said(run) == said(whole)
        assert len(run.of(SkillSelection)) == len(whole.of(SkillSelection))
        assert (run.started.metadata or {})["input"] == record["history"][0]["content"]
        assert (run.success is False, len(run.of(Verdict)) == 1) == (labelled, labelled)
        assert (run.task_id == "who-and-when-q-1") is labelled
        assert ("missing-label" in codes(conversion)) is not labelled
