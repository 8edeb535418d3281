"""The scope, compared agents and rules in force: the same on screen, in the address and in exports."""

from __future__ import annotations

import json
from pathlib import Path

import desk
import pytest
from sessions import go_to, said, session
from streamlit.testing.v1 import AppTest

from untaken.answers import EXPORTED, dump
from untaken.corpus import part_of
from untaken.html import html_report
from untaken.store import Workspace

Patch = pytest.MonkeyPatch
CHOSEN = {"agents": ["other"], "missing": ["drop"]}


def two_benchmarks(folder: Path) -> Path:
    with Workspace(folder) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        for run in (desk.careful(1), desk.lucky(1), desk.stray()):
            store.add(f"{run.run_id}.jsonl", run.ledger())
    return folder


def address(app: AppTest) -> dict[str, list[str]]:
    """The part of the address that is about the scope."""
    asked = {name: app.query_params.get(name) for name in ("agents", "missing", "verdicts")}
    return {name: one if isinstance(one, list) else [one] for name, one in asked.items() if one}


def test_another_person_sees_the_numbers_of_the_address(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(two_benchmarks(tmp_path), monkeypatch)
    assert address(app) == {}
    app.selectbox(key="group").select("other").run()
    app.radio(key="rules_missing").set_value("drop").run()
    assert address(app) == CHOSEN
    assert address(go_to(app, "rankings")) == CHOSEN  # a click in the navigation clears an address

    theirs = session(tmp_path, monkeypatch)
    for name, values in CHOSEN.items():
        theirs.query_params[name] = values
    theirs.run()
    assert "1 run · 1 agent" in said(theirs)
    assert "without a verdict are left out" in said(theirs)
    assert address(theirs) == CHOSEN


def test_a_choice_made_on_the_page_outweighs_the_address(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(two_benchmarks(tmp_path), monkeypatch)
    for name, values in CHOSEN.items():
        app.query_params[name] = values
    app.run()
    app.radio(key="rules_missing").set_value("fail").run()
    assert address(app) == {"agents": ["other"]}
    app.selectbox(key="group").select_index(0).run()
    assert address(app) == {}


@pytest.mark.parametrize(
    "asked", [{"agents": "nobody's"}, {"missing": "invent"}, {"verdicts": "human:nobody"}]
)
def test_an_address_that_names_what_is_not_here_leaves_the_usual_scope(
    tmp_path: Path, monkeypatch: Patch, asked: dict[str, str]
) -> None:
    app = session(two_benchmarks(tmp_path), monkeypatch)
    usual = said(app)
    for name, value in asked.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    assert said(app) == usual
    assert address(app) == {}


def test_the_data_page_says_what_its_exports_are_about(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(two_benchmarks(tmp_path), monkeypatch, "data")
    assert (
        "Every export has the scope of the pages: 2 runs · 1 more run, of agents that share no task"
        in said(app)
    )


def test_an_export_of_a_part_says_how_many_runs_it_leaves_out() -> None:
    whole = desk.corpus()
    part = part_of(whole, [digest for digest, run in whole.runs.items() if run.agent != "stray"], resamples=0)
    out = len(whole.runs) - len(part.runs)
    words = f"{out} of {len(whole.runs)} runs are left out, of agents that share no task with those compared"
    assert words in html_report(part)
    assert words not in html_report(whole)
    for make in EXPORTED.values():
        of_part, of_whole = (json.loads(dump(make(corpus, (), ()))) for corpus in (part, whole))
        assert "runs-left-out" in [one["code"] for one in of_part["findings"]]
        assert "runs-left-out" not in [one["code"] for one in of_whole["findings"]]


def test_lists_that_the_choice_of_agents_does_not_narrow_say_so(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(two_benchmarks(tmp_path), monkeypatch, "review")
    assert "Runs of all agents are listed, also the 1 run of agents that are not compared" in said(app)
    assert "runs of all agents" in said(go_to(app, "run"))
