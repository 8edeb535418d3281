"""Scope, rules, options and search: the same on screen, in the address and in exports."""

from __future__ import annotations

import json
from pathlib import Path

import desk
import pytest
from builders import a_run
from sessions import filled, go_to, said, session, show_tab
from streamlit.testing.v1 import AppTest

from components.shared import searching, text
from components.shared.navigation import PAGES
from components.shared.searching import MOST, everything_with, pages_with, runs_with, sub_goals_with
from components.shared.state import SCOPE
from untaken.analysis.corpus import evaluate_corpus, part_of
from untaken.analysis.ranking import remarks
from untaken.cli.inputs import compared_part
from untaken.views import EXPORTED, dump
from untaken.views import searching as texts
from untaken.views.html import html_report
from untaken.views.searching import texts_with
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
CHOSEN = {"with_task": ["other"], "missing": ["drop"]}
USUAL = {"with_task": ["refund-1"]}


def two_benchmarks(folder: Path) -> Path:
    return filled(folder, desk.careful(1), desk.lucky(1), desk.stray(), plan=desk.GRAPH)


def address(app: AppTest) -> dict[str, list[str]]:
    """The part of the address that is about the scope."""
    asked = {name: app.query_params.get(name) for name in SCOPE}
    return {name: one if isinstance(one, list) else [one] for name, one in asked.items() if one}


def warnings(app: AppTest) -> list[str]:
    """What the page says of a link that means other numbers; no sidebar, which a phone does not show."""
    return [one.value for one in app.main.warning if "The link " in one.value]


def test_a_choice_made_on_the_page_outweighs_the_address(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(two_benchmarks(tmp_path), monkeypatch, **CHOSEN)
    app.radio(key="rules_missing").set_value("fail").run()
    assert address(app) == {"with_task": ["other"]}
    app.selectbox(key="group").select_index(0).run()
    assert address(app) == USUAL


def test_a_set_of_agents_is_found_by_the_link_when_a_run_of_an_earlier_task_was_added(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    early = a_run("early", agent="stray", task="before all").finish(True)
    app = session(filled(two_benchmarks(tmp_path), early), monkeypatch, agents="other")
    assert "2 runs · 1 agent · 2 tasks" in said(app)
    assert address(app) == {"with_task": ["before all"]}
    assert warnings(app) == []


def test_an_export_of_a_part_says_how_many_runs_it_leaves_out() -> None:
    whole = desk.corpus()
    part = part_of(whole, [digest for digest, run in whole.runs.items() if run.agent != "stray"])
    out = len(whole.runs) - len(part.runs)
    words = f"{out} of {len(whole.runs)} runs are left out, of agents that share no task with those compared"
    assert words in html_report(part)
    assert words not in html_report(whole)
    for make in EXPORTED.values():
        of_part, of_whole = (json.loads(dump(make(corpus, (), ()))) for corpus in (part, whole))
        assert "runs-left-out" in [one["code"] for one in of_part["findings"]]
        assert "runs-left-out" not in [one["code"] for one in of_whole["findings"]]


def test_the_search_finds_runs_of_the_agents_compared() -> None:
    corpus = desk.corpus()
    part = compared_part(corpus, "refund-1")
    assert [label for _, label, _ in searching.runs_with(part, ["stray"])] == []
    assert len(searching.runs_with(corpus, ["stray"])) == 1


def test_the_rule_can_be_switched_back_where_the_address_names_it(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(two_benchmarks(tmp_path), monkeypatch, "rankings", missing="drop")
    show_tab(app, "rankings_tabs", "Missing verdicts")
    assert app.toggle(key="rule_switch").value
    app.toggle(key="rule_switch").set_value(False).run()
    assert not app.toggle(key="rule_switch").value
    assert address(app) == USUAL


def test_every_other_set_of_agents_is_one_click_away(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(two_benchmarks(tmp_path), monkeypatch)
    for page in ("overview", "rankings", "criteria"):
        go_to(app, page)
        app.selectbox(key="group").select_index(0).run()
        sizes = [int(words.split(" run")[0].split()[-1]) for words in app.selectbox(key="group").options]
        assert sizes == sorted(sizes, reverse=True)
        before = app.selectbox(key="group").value
        app.button(key="other-set-0").click().run()
        assert app.selectbox(key="group").value != before


def test_where_there_is_one_set_of_agents_no_other_is_offered(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(filled(tmp_path, a_run("a").call("look").finish()), monkeypatch)
    assert "1 run" in said(app)
    assert "common tasks are compared" not in said(app)


ALIKE = {
    "one agent": [a_run(f"r{n}", agent="one", task="refund-1").finish(n > 0) for n in range(2)],
    "one run": [desk.failing(1)],
    "all succeeded": [desk.careful(1), desk.lucky(1)],
    "all failed": [desk.failing(1), desk.failing(2)],
    "no outcome": [a_run(name, agent=name, task="refund-1").finish(None) for name in ("one", "two")],
}


@pytest.mark.parametrize("desc", ALIKE)
def test_of_runs_that_cannot_be_ranked_the_overview_says_what_rank_says(desc, tmp_path, monkeypatch) -> None:
    app = session(filled(tmp_path, *ALIKE[desc], plan=desk.GRAPH), monkeypatch)
    corpus = evaluate_corpus([run.run() for run in ALIKE[desc]], desk.graphs())
    assert (sentences := remarks(corpus.ranking))
    shown = {line for one in app.info for line in one.value.split("  \n")}
    assert {text.label(sentence, 400) for sentence in sentences} <= shown


GRAPH = """schema: untaken.plan/1
id: desk{n}
tasks: [t{n}]
sub_goals:
- {{id: look, title: Look it up, check: {{tool_call: {{name: look}}}}}}
- {{id: pay, title: Pay back, deps: [look], check: {{tool_call: {{name: pay}}}}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents that never pay, over eight tasks, each with a plan graph of its own."""
    at = tmp_path_factory.mktemp("options")
    with Workspace(at) as store:
        for n in range(8):
            store.add(f"{n}.plan.yaml", GRAPH.format(n=n).encode())
            for agent in ("ann", "bob"):
                run = a_run(f"{agent}{n}", agent=agent, task=f"t{n}")
                run.select("a", "b", context="c").select("b", "a", context="c").call("look")
                store.add(f"{agent}{n}.jsonl", run.finish(success=agent == "ann").ledger())
    return at


def held(app: AppTest, name: str) -> list[str]:
    value = app.query_params.get(name, [])
    return value if isinstance(value, list) else [value]


def test_the_plan_graph_whose_sub_goals_are_shown_is_in_the_address(folder: Path, monkeypatch: Patch) -> None:
    app = show_tab(session(folder, monkeypatch, "rankings"), "rankings_tabs", "Sub-goals")
    app.selectbox(key="missed_graph").select("desk3").run()
    assert held(app, "missed") == ["desk3"]


@pytest.mark.parametrize(
    ("page", "key", "tab"), [("run", "run_tabs", "Events"), ("rankings", "rankings_tabs", "Standings")]
)
def test_the_open_tab_is_in_the_address(folder, monkeypatch, page, key, tab) -> None:
    app = show_tab(session(folder, monkeypatch, page), key, tab)
    assert held(app, "tab") == [tab]
    theirs = session(folder, monkeypatch, "data")
    theirs.query_params["tab"] = tab
    theirs = go_to(theirs, page)
    assert theirs.session_state[key] == tab
    show_tab(theirs, key, {"run": "Reviews", "rankings": "Who is ahead?"}[page])
    assert held(theirs, "tab") == []


@pytest.mark.parametrize(
    ("words", "agents"),
    [
        (["careful"], {"careful"}),
        (["refund-2", "lucky"], {"lucky"}),
        (["REFUND-2".casefold()], {"careful", "lucky", "failing"}),
        (["nobody"], set()),
        (["careful", "lucky"], set()),
    ],
)
def test_a_run_is_found_by_all_words_of_its_agent_task_and_id(words: list[str], agents: set[str]) -> None:
    corpus = desk.corpus()
    found = runs_with(corpus, words)
    assert {corpus.runs[address["run"]].agent for _, _, address in found} == agents
    assert len(found) <= MOST


def test_a_sub_goal_is_found_by_its_title_and_leads_to_its_graph() -> None:
    corpus = desk.corpus()
    graph = corpus.graphs.graphs[0]
    for node in graph.sub_goals:
        (first, *_) = sub_goals_with(corpus, (node.title or node.id).casefold().split())
        assert first[2]["graph"] == graph.id
    assert sub_goals_with(corpus, ["no such words"]) == []


def test_without_words_every_page_is_offered_and_with_words_those_of_that_title() -> None:
    assert [label for _, label, _ in pages_with([])] == [f"Page · {title}" for _, title in PAGES]
    assert [page for page, _, _ in pages_with(["fail", "mode"])] == ["pages/failure_modes.py"]
    assert everything_with(desk.corpus(), []) == (pages_with([]), True)


def test_a_run_is_found_by_what_was_said_or_called_in_it() -> None:
    corpus = desk.corpus()
    hits, whole = texts_with(corpus.runs.values(), ["dance"], most=5)
    assert ([corpus.runs[hit.digest].run_id for hit in hits], whole) == (["stray"], True)
    found, _ = everything_with(corpus, ["dance"])
    assert [address for _, label, address in found if label.startswith("Text")] == [{"run": hits[0].digest}]
    assert texts_with(corpus.runs.values(), ["dance", "never said"], most=5) == ([], True)


def test_a_search_of_texts_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = desk.corpus().runs.values()
    hits, whole = texts_with(runs, ["search"], most=2)
    assert (len(hits), whole) == (2, False)
    monkeypatch.setattr(texts, "CHARS_LOOKED_AT", 10)
    assert texts_with(runs, ["dance"], most=5) == ([], False)
