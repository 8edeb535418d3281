"""The What-If-Not page: a run of a simulator step by step, without the simulator."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest
from sessions import SAMPLES, metrics, said, session, show_tab
from streamlit.testing.v1 import AppTest

from untaken.ledger import heads_path, read_ledger
from untaken.simulator.record import PlannedStep, read_planning, write_planning
from untaken.views import planning_summary
from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

Patch = pytest.MonkeyPatch
TABS = "what_if_not_tabs"
AGENT = "noisy+sce+win"
NAME = f"{AGENT}.crafter-collect_iron-seed1"
PLANNED = SAMPLES / "crafter" / "planning"
LEDGER = SAMPLES / "crafter" / "ledgers" / f"{AGENT}.jsonl.gz"
RECORD = read_planning(PLANNED / f"{NAME}.planning.json.zst")
DIGESTS = {run.run_id: run.digest for run in read_ledger(LEDGER)}


def workspace(folder: Path, *records: str) -> Path:
    """A workspace with the agent's runs, and the records uploaded as people do."""
    files = [*PLANNED.glob(f"{AGENT}.*"), *PLANNED.glob("noisy.*")]
    given = [(f.name, f) for f in files if f.name.removesuffix(".planning.json.zst") in records]
    with Workspace(folder) as store:
        taken = take_in(store, [(LEDGER.name, LEDGER), (heads_path(LEDGER).name, heads_path(LEDGER)), *given])
    assert {one.kind for one in taken} == {"ledger", "heads", *(["planning"] if given else [])}
    return folder


def opened(folder: Path, monkeypatch: Patch, **address: str) -> AppTest:
    return session(folder, monkeypatch, "what_if_not", **address)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("planned"), NAME, f"{AGENT}.crafter-open-seed1")


def step_of(app: AppTest) -> int:
    return int(app.slider(key="what_if_not_step").value)


def test_a_run_without_evaluations_says_how_to_get_them(tmp_path: Path, monkeypatch: Patch) -> None:
    plain = SAMPLES / "crafter" / "ledgers" / "noisy.jsonl.gz"
    record = PLANNED / "noisy.crafter-open-seed2.planning.json.zst"
    with Workspace(tmp_path) as store:
        take_in(store, [(plain.name, plain), (record.name, record)])
    app = opened(tmp_path, monkeypatch)
    assert "crafter run --win" in said(app)
    assert metrics(app)["Ties"] == "unscored"
    assert "crafter run --sce" in said(show_tab(app, TABS, "What influenced the task"))


def with_record(folder: Path, *steps: PlannedStep) -> Path:
    """A workspace with the agent's runs, and the record with these steps instead of its own."""
    write_planning(msgspec.structs.replace(RECORD, steps=steps), folder / "r.planning.json.zst")
    with Workspace(workspace(folder / "store")) as store:
        take_in(store, [("r.planning.json.zst", folder / "r.planning.json.zst")])
    return folder / "store"


def test_where_a_model_gave_no_answer_the_page_says_so_and_why(tmp_path: Path, monkeypatch: Patch) -> None:
    place = next(n for n, step in enumerate(RECORD.steps) if step.asked and step.asked.revise)
    silent = {"action": "noop", "unanswered": "no *reply*", "unanswered_again": "no <b>second</b>"}
    steps = list(RECORD.steps)
    steps[place] = msgspec.structs.replace(steps[place], **silent)
    store = with_record(tmp_path, *steps)
    app = opened(store, monkeypatch, run=DIGESTS[NAME], step=str(place + 1))
    assert "No usable answer of the model, so it waited: no \\*reply\\*" in said(app)
    assert "asked again and gave no usable answer, so it waited: no" in said(app)
    assert "<b>" not in said(app)
    assert metrics(app)["Revised"] == str(planning_summary(RECORD).changed - 1)


def test_a_policy_without_skills_is_not_asked_to_wait_for_a_decision(tmp_path, monkeypatch) -> None:
    store = with_record(
        tmp_path, *(msgspec.structs.replace(step, begun=None, causes=None) for step in RECORD.steps)
    )
    words = said(show_tab(opened(store, monkeypatch, run=DIGESTS[NAME]), TABS, "What influenced the task"))
    assert "this policy has no skills" in words
    assert "No decision yet" not in words


def test_a_workspace_without_records_says_what_to_do_and_shows_no_figures_of_the_samples(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    app = opened(workspace(tmp_path), monkeypatch)
    assert "No run in this workspace has a planning record" in said(app)
    assert not app.get("plotly_chart")


def test_records_beside_the_ledgers_are_found_and_a_broken_one_is_named_and_costs_only_itself(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    for file in (LEDGER, heads_path(LEDGER), PLANNED / f"{NAME}.planning.json.zst"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "broken.planning.json.zst").write_bytes(b"{")
    app = opened(tmp_path, monkeypatch)
    assert metrics(app)["Steps"] == str(len(RECORD.steps))
    assert any("broken" in warning.value for warning in app.warning)


def test_it_needs_no_simulator_and_every_figure_has_its_heading_as_its_title(folder, monkeypatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "crafter"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "crafter", None)
    app = opened(folder, monkeypatch, step="40")
    assert step_of(app) == 40
    titles = [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in app.get("plotly_chart")]
    assert titles == [heading.value for heading in app.subheader]
    figures = {
        "This step": "State at step 40",
        "What influenced the task": "What influenced the task at step ",
        "Ablation": "What each part of the method adds",
        "Model of actions and states": "Structural causal model",
    }
    for tab, name in figures.items():
        show_tab(app, TABS, tab)
        assert any(heading.value.startswith(name) for heading in app.subheader)


def test_a_record_uploaded_twice_is_kept_once_and_what_is_none_is_refused(tmp_path: Path) -> None:
    file = PLANNED / f"{NAME}.planning.json.zst"
    with Workspace(tmp_path) as store:
        data = b'{"schema":"untaken.planning/1","run_id":"x","steps":[]}'
        (taken,) = take_in(store, [("x.planning.json", data)])
        assert (taken.kind, taken.new) == ("planning", False)
        assert [found.code for found in taken.findings] == ["planning-invalid"]
        assert store.sources("planning") == []
        assert [take_in(store, [(file.name, file)])[0].new for _ in range(2)] == [True, False]
        assert len(store.sources("planning")) == 1
