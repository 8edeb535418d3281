"""The Criteria page shows whether judges agree with people, and the sub-goals on which they disagree."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_graph, a_run
from sessions import said, session, show_tab
from streamlit.testing.v1 import AppTest

from untaken.judging import measure_judges, save_passports
from untaken.ledger import MadeWith, Run
from untaken.ledger.events import Verdict
from untaken.plans import GraphSet
from untaken.workspace import Workspace

GRAPH = b"""schema: untaken.plan/1
id: g
tasks: ["*"]
sub_goals: [{id: s, check: {verdict: true}}]
"""


def plain(app: AppTest) -> str:
    return said(app).replace("\\", "").replace("\u2060", "")


def workspace(folder: Path, *, judged: bool) -> None:
    store = Workspace(folder)
    for i in range(4):
        run = a_run(f"r{i}", agent="x", task=f"t{i}").finish().verdict("s", True, "human:ann")
        if judged:
            run.verdict("s", i != 2, "judge:m")
        store.add(f"{i}.jsonl", run.ledger())


def test_agreement_is_shown_with_its_n_and_its_kappa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace(tmp_path, judged=True)
    app = show_tab(session(tmp_path, monkeypatch, "criteria"), "criteria_tabs", "Judges and people")
    assert "Do judges agree with people?" in said(app)
    assert "Of 4 sub-goals that both judged, 3 have the same verdict (75%, " in said(app)
    assert "Cohen's κ 0.00 (" in said(app)
    assert "Gwet's AC1" in said(app)
    assert "These labels cannot show whether judge:m is reliable" in plain(app)
    assert "judge:m is uncalibrated: it has no passport" in plain(app)
    app.button(key="measure_judges").click().run()
    assert "judge:m is uncalibrated: 4 labels of people; 10 are needed" in plain(app)
    assert "4 labels of 4" in plain(app)
    assert "1 sub-goal where they disagree" in said(app)


def test_a_judge_whose_model_changed_is_stale_where_nobody_labelled_its_new_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(folder: Path, tasks: range, model: str, *, labels: bool) -> list[Run]:
        with_model = MadeWith(model=model, prompt="1" * 64, sub_goal="0" * 64, settings="tools")
        made = []
        with Workspace(folder) as store:
            for i in tasks:
                run = a_run(f"r{i}", agent="x", task=f"t{i}", graph="g").finish()
                if labels:
                    run.verdict("s", i % 2 == 0, "human:ann")
                run.add(Verdict, sub_goal="s", passed=i % 2 == 0, by="judge:m", made_with=with_model)
                store.add(f"{i}.jsonl", run.ledger())
                made.append(run.run())
        return made

    graphs = GraphSet.of([a_graph({"id": "s", "check": {"verdict": {}}}, graph_id="g")])
    measured = measure_judges(
        judged(tmp_path / "old", range(36), "m-1", labels=True), graphs, date="2026-01-02"
    )
    judged(tmp_path / "new", range(40, 44), "m-2", labels=False)
    save_passports(measured, tmp_path / "new" / "judge-passports.json")
    opened = session(tmp_path / "new", monkeypatch, "criteria")
    app = show_tab(opened, "criteria_tabs", "Judges and people")
    words = "judge:m is stale: its model changed since it was measured. `untaken gate` leaves 4 verdicts out."
    assert words in plain(app)
    assert not [one for one in app.button if one.key == "measure_judges"]


def test_without_judges_there_is_no_such_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace(tmp_path, judged=False)
    app = session(tmp_path, monkeypatch, "criteria")
    assert "Do judges agree" not in said(app)


def test_a_judge_that_agrees_too_little_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Workspace(tmp_path)
    for i in range(12):
        run = a_run(f"r{i}", agent="x", task=f"t{i}").finish().verdict("s", i % 2 == 0, "human:ann")
        store.add(f"{i}.jsonl", run.verdict("s", i % 2 > 0, "judge:m").ledger())
    app = show_tab(session(tmp_path, monkeypatch, "criteria"), "criteria_tabs", "Judges and people")
    assert "Unreliable, κ's 95% interval is below 0.4: judge" in said(app)
    words = "m (κ −1.00, n = 12). To leave these verdicts out of rates, set the least κ in the sidebar to 0.4"
    assert words in said(app)  # once, not for its sub-goal again


def test_a_least_kappa_leaves_unreliable_judges_out_on_every_page_and_is_in_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eleven runs have people's labels, one has only the judge's: without the judge it is unscored."""
    with Workspace(tmp_path) as store:
        store.add("g.plan.yaml", GRAPH)
        for i in range(12):
            run = a_run(f"r{i}", agent="x", task=f"t{i}").finish()
            if i:
                run.verdict("s", i % 2 == 0, "human:ann")
            store.add(f"{i}.jsonl", run.verdict("s", i % 2 > 0, "judge:m").ledger())
    app = session(tmp_path, monkeypatch, "overview")
    assert "verdicts counted: all" in plain(app)
    app.number_input(key="rules_min_kappa").set_value(0.4).run()
    assert not app.exception
    assert "left out, κ with people below 0.4: judge:m" in plain(app)
    assert app.query_params["min_kappa"] in ("0.4", ["0.4"])
    theirs = session(tmp_path, monkeypatch, "overview")
    theirs.query_params["min_kappa"] = "0.4"
    theirs.run()
    assert "below 0.4: judge:m" in plain(theirs)
    theirs.query_params["min_kappa"] = "nonsense"
    theirs.run()
    assert not theirs.exception
