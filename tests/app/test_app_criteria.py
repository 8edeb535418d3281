"""The Criteria page: replies are uploaded, people decide, models propose, judges go stale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import desk
import pytest
from builders import a_run
from sessions import field, plain, press, said, sent, session, show_tab, table
from streamlit.testing.v1 import AppTest
from test_app_pages import HOSTILE, acted_upon

from untaken.judging import editing
from untaken.judging.criteria import kept_criteria, kept_runs, ledger_criteria, propose
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
TABS = "criteria_tabs"
CLARITY = [{"name": "Clarity", "description": "How clear.", "accepted_values": ["bad", "fair", "good"]}]


def opened(folder: Path, monkeypatch: Patch, **address: str) -> AppTest:
    monkeypatch.delenv("UNTAKEN_MODEL", raising=False)
    return session(folder, monkeypatch, "criteria", **address)


def bring(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.file_uploader[0].set_value([(name, data, "application/json") for name, data in files]).run()
    press(app, "criteria_add")
    return app


def replies(levels: dict[str, tuple[bool, str] | str]) -> bytes:
    """Recorded replies: of each run whether it succeeded, which is so unless given, and its clarity."""
    told = {name: (True, one) if isinstance(one, str) else one for name, one in levels.items()}
    return json.dumps(
        {
            name: {"actual_success": success, "estimated_performance": json.dumps({"Clarity": value})}
            for name, (success, value) in told.items()
        }
    ).encode()


CRITERIA = json.dumps(CLARITY).encode()
PASSES = [
    ("run1.criteria.txt", CRITERIA),
    ("run1.evaluated_problems.json", replies({"a": "good", "b": "good", "c": (False, "bad")})),
    ("run2.criteria.txt", CRITERIA),
    ("run2.evaluated_problems.json", replies({"a": "good", "b": "n/a", "c": (False, "fair")})),
]


COMPARED = str(len(desk.builders()) - 1)
"""Runs of the agents compared: the stray one shares no task with them."""


def test_a_criterion_is_written_reworded_and_put_in_order(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch)
    field(app, "write_name").set_value("Care")
    field(app, "write_values").set_value("much\nnone")
    press(app, "Add")
    assert editing.find(kept_criteria(folder), "Care").accepted_values == ["much", "none"]

    app = opened(folder, monkeypatch, criterion="Care")
    assert "No run has a value yet" in said(app)
    field(app, "edit_values").set_value("none\nmuch")
    field(app, "edit_name").set_value("Carefulness")
    press(app, "Save")
    changed = editing.find(kept_criteria(folder), "Carefulness")
    assert changed.accepted_values == ["none", "much"]
    assert app.selectbox(key="criterion_picker").value == "Carefulness"


def test_what_was_typed_on_one_criterion_waits_there(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, criterion="Plan order")
    app.text_input(key="reviewer_field").set_value("ann").run()
    field(app, "criterion_why").set_value("habit, not need").run()
    app.selectbox(key="criterion_picker").set_value("Termination").run()
    assert field(app, "criterion_why").value == ""
    again = opened(folder, monkeypatch, criterion="Plan order")
    again.text_input(key="reviewer_field").set_value("ann").run()
    assert field(again, "criterion_why").value == "habit, not need"


def test_recorded_replies_are_uploaded_shown_and_removed(folder: Path, monkeypatch: Patch) -> None:
    app = bring(opened(folder, monkeypatch), *PASSES, ("bad.criteria.json", b"{"))
    assert [run.name for run in kept_runs(folder)] == ["run1", "run2"]
    added = next(frame.value for frame in app.dataframe if frame.proto.alt == "Criteria files added")
    assert added["severity"].tolist() == ["note"] * 4 + ["error"]
    assert "of 1 criteria to keep" in said(app)
    assert "3 runs · " in said(app)
    assert "recorded replies, asked 2 times" in said(app)
    assert "do not name agents" in said(show_tab(app, TABS, "Two agents"))
    show_tab(app, TABS, "This criterion")

    press(app, "criteria_forget")
    assert kept_runs(folder) == ()
    assert f"{COMPARED} runs · " in said(app)
    assert "Clarity" in [c.name for c in kept_criteria(folder).criteria]


def test_values_are_compared_with_peoples_and_marked_under_the_least_kappa_of_the_sidebar(
    folder: Path, monkeypatch: Patch
) -> None:
    people = {f"p{n}": "good" if n % 2 else "bad" for n in range(600)}
    other = {"good": "bad", "bad": "good"}
    machine = people | {f"p{n}": other[people[f"p{n}"]] for n in range(150)}  # κ is 0.5
    app = bring(
        opened(folder, monkeypatch),
        *(("run1.criteria.txt", CRITERIA), ("run1.evaluated_problems.json", replies(machine))),
        *(("people.criteria.txt", CRITERIA), ("people.evaluated_problems.json", replies(people))),
    )
    assert "recorded replies, asked 1 time" in said(app)  # people are no pass
    show_tab(app, TABS, "People")

    def compared(app: AppTest) -> list[Any]:
        shown = table(app, "Criteria against people")
        return [shown[name].tolist() for name in ("criterion", "pass", "n", "kappa", "trust")]

    assert compared(app) == [["Clarity"], ["run1"], [600], [pytest.approx(0.5)], ["reliable"]]
    app.number_input(key="rules_min_kappa").set_value(0.6).run()
    assert compared(app)[-1] == ["unreliable"]
    assert "Unreliable: Clarity" in plain(app)


def test_an_empty_workspace_takes_recorded_replies_too(tmp_path: Path, monkeypatch: Patch) -> None:
    app = opened(tmp_path, monkeypatch)
    assert "No runs yet" in said(app)
    app = bring(app, *PASSES)
    assert "3 runs · " in said(app)
    assert "No runs yet" not in said(app)


def test_damaged_files_are_said_and_cost_only_themselves(folder: Path, monkeypatch: Patch) -> None:
    bring(opened(folder, monkeypatch), *PASSES)
    (folder / "proposed.json").write_bytes(b"[]")
    for errors, name in ((2, "quantified/run1.evaluated_problems.json"), (3, "criteria.json")):
        (folder / name).write_bytes(b"nonsense")
        app = opened(folder, monkeypatch)
        assert len(app.error) == errors
        assert f"{COMPARED} runs · " in said(app)


def test_a_model_proposes_from_the_page_and_nothing_is_accepted_by_itself(folder, monkeypatch) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from untaken.judging.asking import ModelAccess, ReplyStore

    def speak(_messages: list[Any], info: AgentInfo) -> ModelResponse:
        tone = {"name": "Tone", "description": "Manners.", "accepted_values": ["rude", "kind"]}
        words = json.dumps({"criteria": [tone]})
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, words)])

    name = "http://127.0.0.1:9/v1#nobody"  # nobody is there: the page reads what was recorded
    with ModelAccess(FunctionModel(speak, model_name=name), ReplyStore(folder / "replies")) as model:
        propose("Answer refunds.", model=model, seeds=range(2))
    app = opened(folder, monkeypatch)
    monkeypatch.setenv("UNTAKEN_MODEL", name)
    app.run()
    field(app, "propose_task").set_value("Answer refunds.")
    app.number_input(key="propose_seeds").set_value(2)
    app.checkbox(key="propose_runs").set_value(False)
    press(app, "Propose")
    told = said(app).replace("\\", "")
    assert "1 criterion proposed, 1 new here" in told
    assert "2 answers from the reply store" in told
    assert editing.find(kept_criteria(folder), "Tone").status == "proposed"
    assert "Does asking more often find new criteria?" in said(show_tab(app, TABS, "More seeds"))


def test_a_model_that_does_not_answer_is_said(folder: Path, monkeypatch: Patch) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")
    app = opened(folder, monkeypatch)
    monkeypatch.setenv("UNTAKEN_MODEL", "nonsense")
    app.run()
    press(app, "Propose")
    assert "Describe in one sentence" in said(app)
    field(app, "propose_task").set_value("Answer refunds.")
    press(app, "Propose")
    assert len(app.error) == 1
    assert kept_criteria(folder).criteria == ledger_criteria().criteria


def test_hostile_words_in_criteria_are_words(folder: Path, monkeypatch: Patch) -> None:
    named = {
        "name": HOSTILE,
        "description": HOSTILE,
        "accepted_values": [HOSTILE, "fine"],
        "merged": [HOSTILE],
    }
    said_of = {"actual_success": True, "estimated_performance": json.dumps({HOSTILE: HOSTILE})}
    files = [
        ("r.criteria.json", json.dumps([named]).encode()),
        ("r.evaluated_problems.json", json.dumps({HOSTILE: said_of}).encode()),
        (f"{HOSTILE}.criteria.json", b"nonsense"),
    ]
    app = bring(opened(folder, monkeypatch), *files)
    app.selectbox(key="criterion_picker").set_value(HOSTILE).run()
    app.text_input(key="reviewer_field").set_value(HOSTILE).run()
    field(app, "criterion_why").set_value(HOSTILE).run()
    press(app, "criterion_reject")
    assert editing.find(kept_criteria(folder), HOSTILE).status == "rejected"
    fields = {
        "TextInput.default",
        "TextArea.default",
        "TextInput.value",
    }  # what is typed over is shown letter by letter
    assert {place for place, _ in acted_upon(app)} <= fields
    places = {place for place, words in sent(app) if "onerror" in words}
    assert places >= {"Markdown.body", "PlotlyChart.spec", "Selectbox.options"}


def test_a_reason_that_several_criteria_have_is_said_once_below_them(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with Workspace(tmp_path) as store:
        for at in range(3):
            run = a_run(f"r{at}", agent="ada", task=f"t{at}").call("look", ok=True)
            store.add(f"{at}.jsonl", run.finish(False).ledger())
    app = opened(tmp_path, monkeypatch)
    undecided = [one.label for one in app.button if one.label.startswith("? undecided")]
    reasons = [one.value for one in app.caption if "no successful run has a value" in one.value]
    reasons.remove(next(one for one in reasons if reasons.count(one) > 1))  # of the criterion looked at
    assert len(undecided) > len(reasons) == len(set(reasons)) > 0
