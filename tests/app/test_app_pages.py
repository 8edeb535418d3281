"""Every page, driven as a session drives it: what it says, what its controls change, what it lets through."""

from __future__ import annotations

import json
import re
from pathlib import Path

import desk
import pandas as pd
import pytest
from builders import a_run
from foreign_files import tau_record
from sessions import SAMPLES, go_to, said, sent, session, show_tab, table
from streamlit.testing.v1 import AppTest

from untaken.workspace import Workspace
from untaken.workspace.intake import take_in

Patch = pytest.MonkeyPatch
QUESTIONS = {
    "overview": "Where does the outcome mislead us, and what should we fix first?",
    "run": "What happened in this run?",
    "review": "Which runs are still unexplained?",
    "compare": "Where do these runs diverge?",
    "failure_modes": "What goes wrong, how often, and does it harm?",
    "decisions": "Which choices cost us, over all runs?",
    "rankings": "Do outcome and sub-goal rankings agree?",
    "annotate": "What should have happened?",
    "audit": "Is the plan itself right?",
    "versions": "What changed between two versions?",
    "memory": "What does past experience show?",
    "criteria": "Is it good beyond success?",
    "what_if_not": "Was the action causally better?",
    "data": "What is in this workspace, and can you trust it?",
}
TITLES = {page: page.replace("_", " ").capitalize() for page in QUESTIONS} | {
    "what_if_not": "What-If-Not",
    "review": "Queue",
}
HOSTILE = (
    "<img src=x onerror=alert(1)> ![i](http://e.example) [l](javascript:alert(1)) :red[r] $x^2$ **b** `c` "
    ":material/home: <script>alert(1)</script> # h"
)
MARKDOWN = re.compile(r"(?<!\\)(<img|<script|!\[|\[l\]|\*\*b|\$x|`c|`code|\]\()|:red|:material/home")
FIGURE = re.compile(r"<(img|script|a )|\$x")
"""Text of the hostile files with markdown or plotly markup: it is escaped."""
PLAIN = {
    *("Text.body", "Code.code_text", "Selectbox.options", "Selectbox.raw_value", "MultiSelect.options"),
    "MultiSelect.raw_values",
    *("BidiComponent.json", "BidiComponent.js_content"),  # our own drawing: textContent, labels on a canvas
    *("Button.id", "Block.id"),
}
"""What is shown letter by letter (tables too, but their text travels as Arrow)."""


def test_every_page_of_the_app_is_tested_here() -> None:
    assert {file.stem for file in (SAMPLES.parent / "pages").glob("*.py")} == QUESTIONS.keys()


def test_only_the_chosen_authors_verdicts_count(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        for number, by in enumerate(("human:*", "human:bob")):
            run = a_run(f"r{number}", agent="a", task=f"refund-{number}").call("search")
            store.add(f"{number}.jsonl", run.verdict("polite", True, by=by).finish().ledger())
    app = show_tab(session(tmp_path, monkeypatch, "rankings"), "rankings_tabs", "Standings")
    assert int(table(app, "Agents")["unscored"].iloc[0]) == 0
    app.multiselect(key="rules_verdicts").select("human:*").run()
    assert int(table(app, "Agents")["unscored"].iloc[0]) == 1  # a name, not a pattern
    assert "verdicts counted:\u2060 human" in said(app)


def keep(folder: Path, files: dict[str, bytes]) -> None:
    """As an upload does, without a process of its own."""
    with Workspace(folder) as store:
        take_in(store, list(files.items()))


def upload(app: AppTest, files: dict[str, bytes]) -> AppTest:
    """Choose all files in the uploader, then press the button."""
    chosen = [(name, content, "application/octet-stream") for name, content in files.items()]
    app.file_uploader[0].set_value(chosen).run()
    label = "Add 1 file" if len(files) == 1 else f"Add {len(files)} files"
    next(button for button in app.button if button.label == label).click().run()
    return show_tab(app, "taken-open", True)  # the table of them, too


def test_a_run_of_which_nothing_is_expected_has_no_empty_frame(tmp_path: Path, monkeypatch: Patch) -> None:
    record = tau_record()
    record["info"]["task"]["actions"] = []
    keep(tmp_path, {"gpt-4o-ferry.json": json.dumps([record]).encode()})
    app = session(tmp_path, monkeypatch, "run")
    assert "has no sub-goals" in said(app)
    assert "sub_goal_picker" not in {box.key for box in app.selectbox}


def hostile_files() -> dict[str, bytes]:
    """Names, ids, titles and texts that try to be something else, in files of every kind."""
    first = {"id": HOSTILE, "title": f"{HOSTILE}1", "description": HOSTILE, "critical": True}
    second = {"id": f"b{HOSTILE}", "title": f"{HOSTILE}2", "deps": [HOSTILE]}
    goals = [
        first | {"check": {"verdict": True}},
        second | {"check": {"tool_call": {"name": HOSTILE}}},
    ]
    graph = {"schema": "untaken.plan/1", "id": HOSTILE, "title": HOSTILE, "tasks": ["ticket-*"]}

    def run(number: int, success: bool) -> bytes:
        name = f"{number}{HOSTILE}"
        made = a_run(name, agent=name, task=f"ticket-{HOSTILE}", model=HOSTILE)
        made.select(HOSTILE, f"b{HOSTILE}", context=HOSTILE).call(HOSTILE, ok=False)
        made.select(f"b{HOSTILE}", HOSTILE, context=HOSTILE).call(f"z{HOSTILE}").say(HOSTILE)
        made.verdict(HOSTILE, not success, by=f"human:{HOSTILE}", reason=HOSTILE)
        return made.finish(success, error=HOSTILE, cost_unit=HOSTILE).ledger()

    return {
        "hostile-text.jsonl": (SAMPLES / "tampered/hostile-text.jsonl").read_bytes(),
        "refund-desk.plan.yaml": (SAMPLES / "graphs/refund-desk.plan.yaml").read_bytes(),
        f"{HOSTILE}.plan.json": json.dumps({**graph, "sub_goals": goals}).encode(),
        f"{HOSTILE}.jsonl": run(1, True) + run(2, False),
        f"broken {HOSTILE}.jsonl": run(3, True).replace(b'"seq":4', b'"seq":5'),
        HOSTILE: b"junk",
    }


def acted_upon(app: AppTest) -> set[tuple[str, str]]:
    """Hostile words that stand where something would read more than words in them."""
    return {
        (place, words)
        for place, words in sent(app)
        if place not in PLAIN and (FIGURE if place == "PlotlyChart.spec" else MARKDOWN).search(words)
    }


def test_hostile_words_are_words_on_every_page(tmp_path: Path, monkeypatch: Patch) -> None:
    app = upload(session(tmp_path, monkeypatch, "data"), hostile_files())
    assert len(table(app, "Uploads")) == len(hostile_files())
    shown: set[str] = set()
    for page in QUESTIONS:
        go_to(app, page)
        assert kinds_of_words(app) <= {"text"}, page
        for at in range(len(app.selectbox(key="group").options)):
            app.selectbox(key="group").select_index(at).run()
            assert acted_upon(app) == set()
            shown |= {place for place, words in sent(app) if "onerror" in words}
    assert shown >= {"Markdown.body", "PageLink.label", "PlotlyChart.spec", "Selectbox.options"}


def test_hostile_words_are_words_in_every_run_and_sub_goal(tmp_path: Path, monkeypatch: Patch) -> None:
    keep(tmp_path, hostile_files())
    app = session(tmp_path, monkeypatch, "run")
    for run in range(len(app.selectbox(key="run_picker").options)):
        app.selectbox(key="run_picker").select_index(run).run()
        assert acted_upon(app) == set()
        for goal in range(min(2, len(app.selectbox(key="sub_goal_picker").options))):
            app.selectbox(key="sub_goal_picker").select_index(goal).run()
            assert acted_upon(app) == set()


def kinds_of_words(app: AppTest) -> set[str]:
    """As what the tables show their texts: as links, pictures, or plain text."""
    found = [(table.value, json.loads(table.proto.columns)) for table in app.dataframe]
    return {
        settings.get(str(name), {}).get("type_config", {}).get("type", "text")
        for value, settings in found
        for name in value
        if pd.api.types.is_string_dtype(value[name])
    }
