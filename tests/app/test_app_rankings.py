"""Rankings and what to fix first: the sentence, the figures, the item chosen, and the way to its runs."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from urllib.parse import parse_qsl

import desk
import pytest
from builders import RunBuilder, a_run
from sessions import filled, go_to, said, sent, session, show_tab
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from components import figures
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.fix_first import FixItem, triage
from untaken.views.advising import advised

Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Careful does all, lucky succeeds without the policy, diligent does all and fails, failing fails.

    Nobody judged the manners of failing.
    """
    runs = [*desk.builders()[:-1], *(diligent(f"refund-{task}", n) for task in (1, 2) for n in (1, 2))]
    return filled(tmp_path_factory.mktemp("ranked"), *runs, plan=desk.GRAPH)


def diligent(task: str, n: int) -> RunBuilder:
    run = desk.a_run(f"diligent-{task}-{n}", agent="diligent", task=task, task_repeat=n)
    run.call("search", ok=True).call("read", ok=True).state(read=True).call("pay", ok=True)
    return run.verdict("polite", True).finish(False)


def test_tabs_that_would_be_empty_are_not_offered_and_every_figure_has_its_name_as_its_title(
    folder: Path, monkeypatch: Patch
) -> None:
    app = session(folder, monkeypatch, "rankings")
    offered = [tab.label for tab in app.tabs]
    assert offered[0] == "Who is ahead?"
    assert not {"Workflow or agent?", "Labels and judge"} & set(offered)
    titles = [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in app.get("plotly_chart")]
    assert titles[0] == "Ranks by outcome and by sub-goals"
    assert all(titles)


def test_one_agent_alone_has_no_comparison(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(filled(tmp_path, desk.careful(1), plan=desk.GRAPH), monkeypatch, "rankings")
    assert not app.selectbox
    assert [chart.proto.alt for chart in app.get("plotly_chart")] == ["Sub-goals by agent"]
    assert "so there is nothing to rank" in said(app)
    assert app.tabs[0].label == "Sub-goals"


def test_without_a_plan_graph_no_figure_is_empty(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(filled(tmp_path, *desk.builders()), monkeypatch)
    for page in ("overview", "rankings"):
        drawn = [json.loads(chart.proto.spec) for chart in go_to(app, page).get("plotly_chart")]
        assert [figure for figure in drawn if not figure["data"]] == []
        headings = {title.value for title in app.subheader}
        assert not headings & {
            "Where ranks differ",
            "Ranks by outcome and by sub-goals",
            "Sub-goals by agent",
        }
        assert "Agreement" not in [tab.label for tab in app.tabs]


def test_a_figure_is_made_again_only_when_what_it_shows_changes(folder, tmp_path, monkeypatch) -> None:
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


@pytest.mark.parametrize("labelled", [0, 16])
def test_without_labels_or_with_all_of_them_the_page_says_what_is_needed(
    labelled: int, tmp_path: Path, monkeypatch: Patch
) -> None:
    """The judge is wrong on every eighth task, people labelled the first ones."""
    runs = []
    for (agent, bar), i in product((("x", 3), ("y", 6)), range(16)):
        met = i % 8 >= bar
        runs.append(a_run(f"{agent}{i}", agent=agent, task=f"t{i}").finish(met))
        runs[-1].verdict("s", met != (i % 8 == 0), "judge:m")
        if i < labelled:
            runs[-1].verdict("s", met, "human:ann")
    app = session(filled(tmp_path, *runs), monkeypatch, "rankings")
    show_tab(app, "rankings_tabs", "Labels and judge")
    assert f"A judge decided 32 sub-goals, and people labelled {2 * labelled} of them" in said(app)
    assert "labels_on" not in app.session_state


def a_desk(folder: Path) -> Path:
    return filled(folder, *desk.with_faxes(), plan=desk.GRAPH)


def picker(app: AppTest, name: str) -> Selectbox:
    return next(box for box in app.selectbox if box.label == name)


def links(app: AppTest, to: str) -> list[dict[str, str]]:
    """Where the page's links lead that name a sub-goal, or a decision: their query parameters."""
    found = [dict(parse_qsl(element.proto.query_string)) for element in app.get("page_link")]
    return [asked for asked in found if to in asked]


def corpus() -> Corpus:
    return evaluate_corpus([run.run("UNANCHORED") for run in desk.with_faxes()], desk.graphs(), resamples=0)


def expected(agent: str | None = None) -> tuple[FixItem, ...]:
    """What the engine says of the same runs, without the app."""
    return triage(corpus(), agents=[agent] if agent else []).items


def test_the_overview_opens_with_the_first_item_and_links_to_its_runs(tmp_path, monkeypatch) -> None:
    app = session(a_desk(tmp_path), monkeypatch)
    first = expected()[0]
    assert picker(app, "Look at the runs of").value == first.digest
    assert links(app, "sub_goal")[:3] == [
        {"run": run, "sub_goal": goal} for run, goal in list(zip(first.runs, first.goals, strict=True))[:3]
    ]
    assert f"Fails first in {first.failed_runs} failed runs" in said(app)
    assert any("Not scored: 20 failed runs" in words for _, words in sent(app))


def test_a_choice_links_to_its_runs_at_that_decision_and_to_the_choice(tmp_path, monkeypatch) -> None:
    app = session(a_desk(tmp_path), monkeypatch, "decisions", view="change")
    first = advised(corpus()).choices[0]
    assert links(app, "decision")[:3] == [
        {"run": run, "decision": str(point)} for run, point in first.runs[:3]
    ]
    assert links(app, "choice")[0] == {"choice": first.digest}


def test_the_list_of_one_agent_is_its_own(tmp_path: Path, monkeypatch: Patch) -> None:
    app = session(a_desk(tmp_path), monkeypatch)
    picker(app, "In the runs of").set_value("failing").run()
    items = expected("failing")
    assert {asked["run"] for asked in links(app, "sub_goal")} <= {run for item in items for run in item.runs}
    assert "4 failed runs of 4; no run succeeded" in said(app).replace("\\", "")
