"""What becomes of DevAI's instances, judgments and trajectories, whole or faulty."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from foreign_files import codes, converted, devai_human, devai_sheet, devai_step, put
from reading import Case, case, each
from trace_records import put_record

from untaken.ledger import Run, Verdict
from untaken.plans import PlanGraph, edges, load_graphs
from untaken.scoring import score_run

TASK = "01_Boat.json"
HUMAN = f"judgment/Crew/human_as_a_judge/{TASK}"
JUDGE = f"judgment/Crew/agent_as_a_judge/gray_box/{TASK}"
PLAN = f"devai/instances/{TASK}"
STEPS = f"trajectories/Crew/{TASK}"
ALL = devai_human(True, True, True)


def imported(tmp_path: Path, **files: Any) -> tuple[list[Run], PlanGraph, set[str]]:
    """Runs, the one graph, and the findings of a folder of files."""
    paths = {"human": HUMAN, "judge": JUDGE, "plan": PLAN, "steps": STEPS}
    for role, content in files.items():
        put(tmp_path / "in" / paths[role], content)
    conversion, runs = converted("devai", tmp_path / "out", tmp_path / "in")
    (graph,) = load_graphs(tmp_path / "out" / "graphs").graphs
    return runs, graph, set(codes(conversion)) - {"synthetic-timestamps"}


def verdicts(run: Run) -> dict[tuple[str, str], bool | None]:
    return {(e.by, e.sub_goal): e.passed for e in run.events if isinstance(e, Verdict)}


@pytest.mark.parametrize("kind", ["human", "judge"])
def test_one_kind_of_sheet_is_enough(tmp_path: Path, kind: str) -> None:
    sheet = devai_human(True, True, True) if kind == "human" else devai_sheet(True, True, True)
    (run,), graph, found = imported(tmp_path, **{kind: sheet})
    assert found == {"plan-from-verdicts"}
    assert run.finished.success is (True if kind == "human" else None)
    assert score_run(run, graph).completed == 3


def requirement(number: int | str | None = 0, *prerequisites: Any, criteria: str = "x") -> dict[str, Any]:
    about = {"requirement_id": number, "prerequisites": list(prerequisites), "criteria": criteria}
    return {**about, "category": None, "satisfied": None}


JOINED = [("R0", "R1")]
PLANS: list[tuple[str, list[dict[str, Any]], list[tuple[str, str]], set[str]]] = [
    ("a requirement that lists itself", [requirement(0, 0)], [], {"self-prerequisite"}),
    ("a prerequisite that is none", [requirement(0, 7, None)], [], {"unknown-prerequisite"}),
    ("requirements that wait for each other", [requirement(0, 1), requirement(1, 0)], [("R1", "R0")],
     {"prerequisite-cycle"}),
    ("a requirement that occurs twice", [requirement(), requirement(criteria="other")], [],
     {"duplicate-requirement"}),
    ("a requirement without an id", [requirement(None), requirement(None, "0")], JOINED,
     {"missing-requirement-id"}),
    ("ids as text", [requirement("0"), requirement(1, "0")], JOINED, set()),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "requirements", "want", "codes"), PLANS, ids=[plan[0] for plan in PLANS])
def test_faulty_plans_are_repaired_and_named(tmp_path, desc, requirements, want, codes) -> None:
    _, graph, found = imported(tmp_path, plan=devai_sheet(requirements=requirements))
    assert edges(graph) == want
    assert found - {"no-runs"} == codes


def four(*verdicts: bool) -> dict[str, Any]:
    """A sheet with a fourth requirement, which the plan does not hold."""
    sheet = devai_sheet(*verdicts, True)
    sheet["requirements"][3]["prerequisites"] = []
    return sheet


def worded(**changed: Any) -> dict[str, Any]:
    sheet = devai_sheet(True, True, True)
    sheet["requirements"][1].update(changed)
    return sheet


CONTRADICTED = devai_human(True, False, True, satisfied_all_requirements=True)
SHEETS: list[tuple[str, dict[str, Any], str]] = [
    ("a verdict without a sub-goal", {"judge": four(True, True, True)}, "verdict-without-sub-goal"),
    ("a missing verdict", {"judge": devai_sheet(True, True)}, "missing-verdicts"),
    ("a verdict that is null", {"judge": devai_sheet(True, None, True)}, "missing-verdicts"),
    ("criteria worded differently", {"judge": worded(criteria="Something else.")}, "criteria-differ"),
    ("other prerequisites", {"judge": worded(prerequisites=[])}, "prerequisites-differ"),
    ("verdicts as text", {"judge": devai_sheet(True, "false", "True")}, "flag-as-text"),
    ("another name inside", {"judge": devai_sheet(True, True, True, name="01_Bo")}, "record-name-differs"),
    ("a flag that contradicts the verdicts", {"human": CONTRADICTED}, "flag-contradicts-verdicts"),
]


@pytest.mark.parametrize(("desc", "sheets", "code"), SHEETS, ids=[sheet[0] for sheet in SHEETS])
def test_sheets_that_do_not_fit_their_plan_are_joined_by_id_and_named(tmp_path, desc, sheets, code) -> None:
    (run,), _, found = imported(tmp_path, plan=devai_sheet(), **sheets)
    assert found == {code}
    assert {sub_goal for _, sub_goal in verdicts(run)} <= {"R0", "R1", "R2"}
    reasons = [event.reason for event in run.of(Verdict)]
    assert ("criteria as judged: Something else." in reasons) is (code == "criteria-differ")


def test_a_verdict_that_cannot_be_read_is_unknown_not_false(tmp_path: Path) -> None:
    (run,), _, found = imported(tmp_path, plan=devai_sheet(), judge=devai_sheet(True, "perhaps", True))
    assert verdicts(run)["judge:agent_as_a_judge/gray_box", "R1"] is None
    assert found == {"unreadable-flag", "missing-verdicts"}


STEP_LIST = [
    devai_step(0, "Running command: ls", "a b"),
    devai_step(1, None, None),
    devai_step(2, "think hard", None),
    devai_step(3, {"kind": "x"}, {"out": 1}),
]


STEP_FAULTS = [
    ("no usage", {"step_usage": None, "accumulated_usage": None}, None, 1),
    ("no agent", {"agent": None}, 0.25, 1),
    ("negative time", {"accumulated_usage": {"accumulated_time": -5}}, 0.25, 1),
    ("endless time", {"accumulated_usage": {"accumulated_time": 1e300}}, 0.25, 1),
]


@pytest.mark.parametrize(("desc", "changed", "cost", "made"), STEP_FAULTS)
def test_faulty_steps_keep_their_run(tmp_path: Path, desc: str, changed: Any, cost: Any, made: Any) -> None:
    steps = [devai_step(0, "Running command: ls", "a", **changed)]
    (run,), _, _ = imported(tmp_path, plan=devai_sheet(), steps=steps)
    assert (run.finished.cost, run.finished.steps) == (cost, made)
    assert [e.ts for e in run.events] == sorted(e.ts for e in run.events)


def test_loose_files_are_recognised_by_their_content(tmp_path: Path) -> None:
    human = put(tmp_path / "a" / TASK, ALL)
    judge = put(tmp_path / "b" / TASK, devai_sheet(True, False, True))
    plan = put(tmp_path / "c" / TASK, devai_sheet())
    steps = put(tmp_path / "d" / TASK, STEP_LIST)
    conversion, (run,) = converted("devai", tmp_path / "out", human, judge, plan, steps)
    found = codes(conversion)
    assert run.agent == "unknown-agent"
    assert {by for by, _ in verdicts(run)} == {"human:consensus", "judge:unrecorded"}
    assert (found["unknown-agent"], found["unknown-judge"], len(run.actions)) == (3, 1, 3)
    _, (named,) = converted("devai", tmp_path / "named", human, judge, plan, steps, agent="Crew")
    assert named.agent == "Crew"


BEGINNINGS = ["in", "in/judgment", "in/judgment/Crew", "in/judgment/Crew/human_as_a_judge", f"in/{HUMAN}"]


@pytest.mark.parametrize("begin", BEGINNINGS)
def test_folders_are_read_wherever_the_import_begins(tmp_path: Path, begin: str) -> None:
    put(tmp_path / "in" / HUMAN, ALL)
    _, (run,) = converted("devai", tmp_path / "out", tmp_path / begin)
    assert (run.agent, run.task_id) == ("Crew", "01_Boat")


def test_an_archive_keeps_its_folders(tmp_path: Path) -> None:
    for name, content in ((HUMAN, ALL), (PLAN, devai_sheet())):
        put(tmp_path / "in" / name, content)
    with zipfile.ZipFile(tmp_path / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((tmp_path / "in").rglob("*.json")):
            archive.write(path, path.relative_to(tmp_path / "in").as_posix())
    _, (zipped,) = converted("devai", tmp_path / "a", tmp_path / "all.zip")
    _, (plain,) = converted("devai", tmp_path / "b", tmp_path / "in")
    assert zipped.events == plain.events


def judged(judge: str, **human: Any) -> dict[str, Any]:
    return {f"judgment/Crew/{judge}/{TASK}": devai_human(True, True, True, **human)}


JUDGES = {
    "agent_as_a_judge/black_box": "judge:agent_as_a_judge/black_box",
    "llm_as_a_judge/gray_box": "judge:llm_as_a_judge/gray_box",
    "human_as_a_judge": "human:consensus",
    "human_as_a_judge/ann": "human:ann",
}
WHOLE = {HUMAN: ALL, PLAN: devai_sheet(), STEPS: STEP_LIST}
PEOPLE = judged("human_as_a_judge/ann") | judged("human_as_a_judge/bob", executed=False)
LAYOUTS = [
    *(case(f"a trajectory of {empty}", {STEPS: empty, HUMAN: ALL}, steps=None, found={code})
      for empty, code in (([], "missing-trajectory"), (None, "not-this-format"), ([None], "not-this-format"),
                          ({}, "not-this-format"))),
    case("a trajectory gives actions, cost and time", WHOLE, steps=4, cost=1.0, model="gpt-9",
         calls=[("Running command", {"input": "ls"}), ("action", {"input": "think hard"}),
                ("action", {"kind": "x"})],
         seen=["a b", {"out": 1}], roles=["user", *["assistant"] * 4], some_metrics={"total_time": 8.0}),
    case("people who disagree on the outcome leave it unknown", PEOPLE, success=None,
         counts={"reviewers-disagree": 1}),
    case("the same file nested twice is read once",
         WHOLE | {f"copy/{name}": content for name, content in WHOLE.items()}, run="devai/Crew/01_Boat",
         counts={"duplicate-file": 3}),
    case("a second run of a task is kept apart",
         {f"first/{HUMAN}": ALL, f"second/{HUMAN}": devai_human(False, False, False)},
         runs=["devai/Crew/01_Boat", "devai/Crew/01_Boat~2"], counts={"duplicate-run": 1}),
    case("two plans of one task are named",
         {f"first/{PLAN}": devai_sheet(), f"second/{PLAN}": devai_sheet(requirements=[requirement()])},
         runs=[], counts={"graph-differs": 1}),
    case("other files beside are left and named", {PLAN: devai_sheet(), "devai/x.json": {"generic": "…"}},
         runs=[], codes={"not-this-format", "nothing-added", "no-runs"}),
]  # fmt: skip


@each(LAYOUTS)
def test_a_folder_is_read(tmp_path: Path, case: Case) -> None:
    case.holds_in_folder("devai", tmp_path)


def test_judges_are_named_by_their_folders(tmp_path: Path) -> None:
    files = {name: content for judge in JUDGES for name, content in judged(judge).items()}
    _, (run,) = converted("devai", tmp_path / "out", put_record(tmp_path / "in", files))
    assert {by for by, _ in verdicts(run)} == set(JUDGES.values())


def test_a_list_of_instances_is_read_by_the_names_inside(tmp_path: Path) -> None:
    sheets = [devai_sheet(name=f"{n:02}_Boat") for n in range(3)]
    converted("devai", tmp_path / "out", put(tmp_path / "instances" / "all.json", sheets))
    graphs = load_graphs(tmp_path / "out" / "graphs").graphs
    assert sorted(graph.id for graph in graphs) == ["devai-00_Boat", "devai-01_Boat", "devai-02_Boat"]


WORDS = ["load the data", "train the model", "finetune it", "save it"]


class Sheet(NamedTuple):
    desc: str
    rows: list[tuple[str, bool]]
    want: list[bool | None]
    codes: set[str]


LOAD, TRAIN, TUNE, SAVE = WORDS
WITHOUT = "verdict-without-sub-goal"
JOINS = [
    Sheet("the same rows", [(text, text == SAVE) for text in WORDS], [False, False, False, True], set()),
    Sheet("case and white space", [("Load  the data", True), *((t, False) for t in WORDS[1:])],
          [True, False, False, False], {"criteria-differ"}),
    Sheet("one row more, in the middle",
          [(LOAD, False), (TRAIN, False), ("an extra row", True), (TUNE, False), (SAVE, True)],
          [False, False, False, True], {"joined-by-text", WITHOUT}),
    Sheet("one row less, in the middle", [(LOAD, True), (TUNE, True), (SAVE, False)],
          [True, None, True, False], {"joined-by-text", "missing-verdicts"}),
    Sheet("another order", [(text, text == SAVE) for text in reversed(WORDS)], [False, False, False, True],
          {"joined-by-text"}),
    Sheet("one row worded otherwise",
          [(LOAD, True), ("fit the model", True), (TUNE, False), (SAVE, False)],
          [True, True, False, False], {"criteria-differ"}),
    Sheet("one row more and another worded otherwise",
          [(LOAD, True), ("an extra row", True), ("fit the model", True), (TUNE, False), (SAVE, False)],
          [True, None, False, False], {"joined-by-text", "verdict-not-joined", "missing-verdicts", WITHOUT}),
    Sheet("a row more at the end, all the same before", [*((t, True) for t in WORDS), ("an extra row", True)],
          [True] * 4, {WITHOUT}),
    Sheet("a row more, every text another", [(f"other {n}", True) for n in range(5)], [None] * 4,
          {"verdict-not-joined", "missing-verdicts", WITHOUT}),
    Sheet("texts left out", [("", True)] * 4, [True] * 4, {"criteria-differ"}),
]  # fmt: skip
ABOUT = {code for sheet in JOINS for code in sheet.codes}


def record(rows: list[tuple[str, bool | None]]) -> dict[str, object]:
    requirements = [
        {"requirement_id": n, "prerequisites": [], "criteria": text, "satisfied": passed}
        for n, (text, passed) in enumerate(rows)
    ]
    return {"name": "01_Boat", "requirements": requirements}


@pytest.mark.parametrize("case", JOINS, ids=lambda case: case.desc)
def test_a_verdict_reaches_the_requirement_it_judges(case: Sheet, tmp_path: Path) -> None:
    """By id and text; what cannot be joined is unscored and named."""
    plan = record([(text, None) for text in WORDS])
    (run,), _, found = imported(tmp_path, plan=plan, human=record([*case.rows]))
    judged = {sub_goal: passed for (_, sub_goal), passed in verdicts(run).items()}
    assert judged == {f"R{n}": passed for n, passed in enumerate(case.want) if passed is not None}
    assert found & ABOUT == case.codes
