"""The Rankings page: any two agents in a sentence, what drives it, and what the rule decides."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import desk
import pytest
from builders import RunBuilder
from sessions import said, session, show_tab

from components import figures
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Careful does all, lucky succeeds without the policy, diligent does all and fails, failing fails.

    Nobody judged the manners of failing.
    """
    runs = [*desk.builders()[:-1], *(diligent(f"refund-{task}", n) for task in (1, 2) for n in (1, 2))]
    at = tmp_path_factory.mktemp("ranked")
    with Workspace(at) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("runs.jsonl", b"".join(run.ledger() for run in runs))
    return at


def diligent(task: str, n: int) -> RunBuilder:
    run = desk.a_run(f"diligent-{task}-{n}", agent="diligent", task=task, task_repeat=n)
    run.call("search", ok=True).call("read", ok=True).state(read=True).call("pay", ok=True)
    return run.verdict("polite", True).finish(False)


def pairs(app) -> list[str]:
    return list(app.selectbox(key="pair_picker").options)


def test_a_pair_is_compared_in_a_sentence_with_what_it_rests_on(folder: Path, monkeypatch: Patch) -> None:
    app = session(folder, monkeypatch, "rankings")
    assert len(pairs(app)) == 6
    words = said(app)
    assert "ahead of" in words
    assert "95% interval" in words
    assert "tasks that both have a value on" in words
    assert "in fewer than four of five cases" in said(show_tab(app, "pair-figure-open", True))


def test_metric_and_pair_stand_in_the_address_and_lead_back(folder: Path, monkeypatch: Patch) -> None:
    app = session(folder, monkeypatch, "rankings")
    app.segmented_control(key="metric_picker").set_value("completion").run()
    app.selectbox(key="pair_picker").select_index(2).run()
    assert not app.exception
    asked = {name: app.query_params[name] for name in ("metric", "pair")}
    told = next(words.value for words in app.markdown if "ahead of" in words.value)
    again = session(folder, monkeypatch, "rankings")
    assert told not in said(again)
    for name, value in asked.items():
        again.query_params[name] = value
    again.run()
    assert told in said(again)
    assert again.segmented_control(key="metric_picker").value == "completion"


@pytest.mark.parametrize("asked", ["", "nothing", "<img src=x>", "../..", "0" * 16])
def test_an_address_that_names_no_pair_and_no_metric_shows_the_usual_ones(
    asked: str, folder: Path, monkeypatch: Patch
) -> None:
    app = session(folder, monkeypatch, "rankings")
    usual = said(app)
    app.query_params["metric"] = app.query_params["pair"] = asked
    app.run()
    assert not app.exception
    assert said(app) == usual


def test_the_runs_that_make_a_pair_change_places_are_linked(folder: Path, monkeypatch: Patch) -> None:
    app = show_tab(session(folder, monkeypatch, "rankings"), "rankings_tabs", "Where the outcome misleads")
    assert "is above" in said(app)
    assert [found.label for found in app.expander if "behind the change" in found.label]
    links = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
    odd = [words for words in links if "failed, 100% critical" in words or "succeeded, 0% critical" in words]
    assert {words.split(" ")[0] for words in odd} == {"lucky", "diligent"}
    assert all(links[words].startswith("run=") for words in odd)


def test_the_rule_is_a_switch_that_says_what_it_changes(folder: Path, monkeypatch: Patch) -> None:
    app = show_tab(session(folder, monkeypatch, "rankings"), "rankings_tabs", "Missing verdicts")
    assert "It changes the values or ranks of 1 agent;" in said(app)
    switch = app.toggle(key="rule_switch")
    assert switch.value is False
    switch.set_value(True).run()
    assert not app.exception
    assert "without a verdict are left out" in said(app)
    assert app.radio(key="rules_missing").value == "drop"
    assert "It changes the values or ranks of 1 agent;" in said(app)  # seen from the other side
    app.radio(key="rules_missing").set_value("fail").run()
    assert app.toggle(key="rule_switch").value is False


def test_tabs_that_would_be_empty_are_not_offered(folder: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    offered = [tab.label for tab in session(folder, monkeypatch, "rankings").tabs]
    assert offered[0] == "Who is ahead?"
    assert "Workflow or agent?" not in offered
    assert "Labels and judge" not in offered


def test_a_workflow_is_judged_against_an_agent(tmp_path: Path, monkeypatch: Patch) -> None:
    runs = [
        desk.a_run(f"{kind}{n}", agent=kind, task=f"refund-{n}", kind=kind).call(tool).finish(True)
        for kind, tool in (("workflow", "read"), ("agent", "pay"))
        for n in range(4)
    ]
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("runs.jsonl", b"".join(run.ledger() for run in runs))
    app = show_tab(session(tmp_path, monkeypatch, "rankings"), "rankings_tabs", "Workflow or agent?")
    words = said(app)
    assert "**workflow** (workflow) against **agent** (agent)" in words
    app.button(key="workflow-0").click().run()
    assert not app.exception
    assert app.query_params["metric"] in ("critical_completion", ["critical_completion"])
    assert "ahead of" in said(app)


def test_one_agent_alone_has_no_comparison(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("runs.jsonl", desk.careful(1).ledger())
    app = session(tmp_path, monkeypatch, "rankings")
    assert not app.selectbox
    assert [chart.proto.alt for chart in app.get("plotly_chart")] == ["Sub-goals by agent"]
    assert "so there is nothing to rank" in said(app)
    assert [tab.label for tab in app.tabs] == [
        "Sub-goals",
        "Missing verdicts",
        "Cost, tokens, steps",
        "Standings",
    ]


@pytest.mark.parametrize("page", ["overview", "rankings"])
def test_without_a_plan_graph_no_figure_is_empty(page: str, tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        store.add("runs.jsonl", b"".join(run.ledger() for run in desk.builders()))
    app = session(tmp_path, monkeypatch, page)
    drawn = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    assert [figure for figure in drawn if not figure["data"]] == []
    assert {
        "Where ranks differ",
        "Ranks by outcome and by sub-goals",
        "Sub-goals by agent",
    }.isdisjoint(title.value for title in app.subheader)
    assert "Agreement" not in [tab.label for tab in app.tabs]


def test_every_figure_has_its_name_as_its_title(folder: Path, monkeypatch: Patch) -> None:
    """So that a picture saved by the toolbar says what it shows."""
    app = session(folder, monkeypatch, "rankings")
    titles = [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in app.get("plotly_chart")]
    assert titles[0] == "Ranks by outcome and by sub-goals"
    assert all(titles)


def test_a_figure_is_made_again_only_when_what_it_shows_changes(
    folder: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    own = shutil.copytree(folder, tmp_path / "own")  # no other test has drawn it
    made: list[str] = []
    make = figures.rank_flow
    monkeypatch.setattr(figures, "rank_flow", lambda *a, **named: made.append("") or make(*a, **named))
    app = session(own, monkeypatch, "rankings")
    shown = app.get("plotly_chart")[0].proto.spec
    app.run()
    assert len(made) == 1
    assert app.get("plotly_chart")[0].proto.spec == shown
    app.radio(key="rules_missing").set_value("drop").run()
    assert len(made) == 2
