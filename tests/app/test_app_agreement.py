"""The Criteria page shows whether judges agree with people, and the sub-goals on which they disagree."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_graph, a_run
from sessions import plain, said, session, show_tab

from untaken.judging import measure_judges, save_passports
from untaken.ledger import MadeWith, Run
from untaken.ledger.events import Verdict
from untaken.plans import GraphSet
from untaken.workspace import Workspace


def workspace(folder: Path, *, judged: bool) -> None:
    store = Workspace(folder)
    for i in range(4):
        run = a_run(f"r{i}", agent="x", task=f"t{i}").finish().verdict("s", True, "human:ann")
        if judged:
            run.verdict("s", i != 2, "judge:m")
        store.add(f"{i}.jsonl", run.ledger())


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
