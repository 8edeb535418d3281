"""Plan changes on the pages: what a run changed, who went another way, and what is supported."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from sessions import open_tab, said, sent, session, show_tab
from test_app_pages import HOSTILE, acted_upon, metrics, table

from components.shared.text import label
from untaken.analysis.failure_modes.root_causes import DECISIVE_RECORD
from untaken.ledger import Run
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
GRAPH = """schema: untaken.plan/1
id: desk
tasks: ["ticket-*"]
mutates: ["write_*", "*img*"]
sub_goals:
  - {id: refund, check: {tool_call: {name: write_refund}}}
"""


def a_desk(folder: Path, *, graph: str = GRAPH, tasks: int = 5, wrong: str = "write_other") -> dict[str, Run]:
    """In each task, two trials refund and succeed, two make another change and fail."""
    runs = {}
    with Workspace(folder) as store:
        store.add("desk.plan.yaml", graph.encode())
        for task in range(tasks):
            for trial in range(4):
                did = "write_refund" if trial % 2 else wrong
                about = {"task_repeat": trial, "metadata": {"seed": trial}}  # no run is a copy of another
                built = a_run(f"{task}-{trial}", agent="clerk", task=f"ticket-{task}", **about)
                built.call(did).finish(did == "write_refund")
                runs[f"{task}-{trial}"] = built.run()
                store.add(f"{task}-{trial}.jsonl", built.ledger())
    return runs


def run_page(folder: Path, monkeypatch: Patch, run: Run):
    app = session(folder, monkeypatch, "run")
    app.query_params["run"] = run.digest
    return open_tab(app, "Plan changes")


def links(app) -> list[str]:
    return [words for place, words in sent(app) if place == "PageLink.label"]


def test_a_failed_run_says_which_way_went_better_and_who_took_it(tmp_path: Path, monkeypatch: Patch) -> None:
    runs = a_desk(tmp_path)
    app = run_page(tmp_path, monkeypatch, runs["0-0"])
    words = said(app)
    assert "One planned change was left; this run called write_other (not in the plan)." in words
    assert "runs that made a planned change succeeded 10 of 10; those that made an unplanned" in words
    assert "Supported, q = " in words
    assert "Explains the verdict." in words
    changes = table(app, "Plan changes")
    assert list(changes["did"]) == [
        "call write_other (not in the plan)",
        "stop with planned changes left",
    ]
    assert links(app).count("side by side") == 2
    assert {"✓ clerk · repeat 1", "✓ clerk · repeat 3"} <= set(links(app))
    assert label(f"{DECISIVE_RECORD}.", 900) in words


def test_side_by_side_opens_the_two_runs_on_compare(tmp_path: Path, monkeypatch: Patch) -> None:
    runs = a_desk(tmp_path)
    app = run_page(tmp_path, monkeypatch, runs["0-0"])
    queries = [words for place, words in sent(app) if place == "PageLink.query_string"]
    beside = next(query for query in queries if "reference" in query)
    assert runs["0-0"].digest in beside
    compare = session(tmp_path, monkeypatch, "compare")
    compare.query_params["task"] = "ticket-0"
    compare.query_params["runs"] = f"{runs['0-0'].digest},{runs['0-1'].digest}"
    compare.query_params["reference"] = runs["0-1"].digest
    compare.run()
    assert not compare.exception
    assert set(compare.multiselect(key="compare_runs_picker").value) == {
        runs["0-0"].digest,
        runs["0-1"].digest,
    }


def test_a_successful_run_is_not_said_to_have_a_better_way(tmp_path: Path, monkeypatch: Patch) -> None:
    app = run_page(tmp_path, monkeypatch, a_desk(tmp_path)["0-1"])
    assert "took an option that succeeded more often" not in said(app)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"graph": GRAPH.replace('mutates: ["write_*", "*img*"]\n', "")}, "tools that change state"),
        ({"tasks": 1}, "Too few trials to show a difference"),
    ],
)
def test_without_support_the_page_says_why(
    change: dict[str, object], why: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    runs = a_desk(tmp_path, **change)
    app = run_page(tmp_path, monkeypatch, runs["0-0"])
    assert why in said(app).replace("\\", "")
    assert "took an option that succeeded more often" not in said(app)


def test_names_of_tools_stay_words(tmp_path: Path, monkeypatch: Patch) -> None:
    app = run_page(tmp_path, monkeypatch, a_desk(tmp_path, wrong=HOSTILE)["0-0"])
    assert acted_upon(app) == set()
    assert "took an option that succeeded more often" in said(app)


def test_the_address_names_a_plan_change(tmp_path: Path, monkeypatch: Patch) -> None:
    runs = a_desk(tmp_path)
    app = session(tmp_path, monkeypatch, "run")
    app.query_params["run"] = runs["0-0"].digest
    app.query_params["change"] = str(runs["0-0"].actions[0].seq)
    app.run()
    assert not app.exception
    assert app.selectbox(key="plan_change").value == str(runs["0-0"].actions[0].seq)


def test_decisions_show_statements_with_their_placebo_and_the_runs_behind(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    a_desk(tmp_path)
    app = session(tmp_path, monkeypatch, "decisions")
    shown = metrics(app)
    assert shown["Supported"] == "100%"
    assert shown["Supported by chance alone"].endswith("%")
    statements = table(app, "Statements")
    assert statements["option"][0] == "make a planned change"
    assert list(statements.loc[0, ["succeeded", "theirs"]]) == ["10 of 10", "0 of 10"]
    assert statements["support"][0] == "✓ supported; restates the plan's check"
    assert len(statements) > 1
    assert all(why.startswith("– ") and len(why) > 9 for why in statements["support"][1:])
    assert "10 failed runs took the other option" in said(app)
    assert "✗ clerk on ticket\\-0 · repeat 0" in links(app)
    shown = metrics(show_tab(app, "forecasts-open", True))
    assert shown["Gain over the mean of all runs"].startswith("+")


def test_the_histories_of_skills_are_one_switch_away_and_in_the_address(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    a_desk(tmp_path)
    app = session(tmp_path, monkeypatch, "decisions")
    app.segmented_control(key="decisions_view").set_value("skills").run()
    assert not app.exception
    assert "there are no paths to compare" in said(app)
    assert app.query_params["view"] in ("skills", ["skills"])


def test_where_nothing_is_supported_the_page_says_how_much_data_it_takes(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    a_desk(tmp_path, tasks=1)
    words = said(session(tmp_path, monkeypatch, "decisions")).replace("\\", "")
    assert "Nothing is supported. Here 4 runs repeat a task with the same agent, in 1 task." in words
    assert "59% of cases with 25 tasks of 4 trials" in words
    assert "About 196 more such runs are needed." in words
    assert "No check of the forecasts: 0 runs of 0 tasks have an outcome" in words.replace("\u2060", "")
