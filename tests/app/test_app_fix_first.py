"""What to fix first, on the Overview: the list, the item chosen, and the way to its runs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import desk
import pytest
from builders import RunBuilder, a_run
from sessions import said, sent, session
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.fix_first import FixItem, triage
from untaken.views.advising import advised
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


def a_desk(folder: Path) -> Path:
    with Workspace(folder) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        store.add("runs.jsonl", b"".join(run.ledger() for run in builders()))
    return folder


def builders() -> list[RunBuilder]:
    """The desk's, and runs that asked by fax and mostly failed, or by number and mostly succeeded."""
    runs = desk.builders()[:-1]
    for skill, wins in (("by_fax", 2), ("by_number", 18)):
        for n in range(20):
            run = a_run(f"{skill}-{n}", agent="lucky", task="refund-1", metadata={"seed": n})
            run.select(skill, *({"by_fax", "by_number"} - {skill}), context="ask")
            runs.append(run.select("stop", "go", context="end").finish(n < wins, cost=0.3, steps=2))
    return runs


def picker(app: AppTest, name: str) -> Selectbox:
    return next(box for box in app.selectbox if box.label == name)


def links(app: AppTest, to: str) -> list[dict[str, str]]:
    """Where the page's links lead that name a sub-goal, or a decision: their query parameters."""
    found = [dict(parse_qsl(element.proto.query_string)) for element in app.get("page_link")]
    return [asked for asked in found if to in asked]


def corpus() -> Corpus:
    return evaluate_corpus([run.run("UNANCHORED") for run in builders()], desk.graphs(), resamples=0)


def expected(agent: str | None = None) -> tuple[FixItem, ...]:
    """What the engine says of the same runs, without the app."""
    return triage(corpus(), agents=[agent] if agent else []).items


def test_the_overview_opens_with_the_first_item_and_links_to_its_runs(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    app = session(a_desk(tmp_path), monkeypatch)
    first = expected()[0]
    assert picker(app, "Look at the runs of").value == first.digest
    assert links(app, "sub_goal")[:3] == [
        {"run": run, "sub_goal": goal} for run, goal in list(zip(first.runs, first.goals, strict=True))[:3]
    ]
    assert f"Fails first in {first.failed_runs} failed runs" in said(app)
    assert any("Not scored: 20 failed runs" in words for _, words in sent(app))


def test_a_choice_links_to_its_runs_at_that_decision_and_to_the_choice(
    tmp_path: Path, monkeypatch: Patch
) -> None:
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
