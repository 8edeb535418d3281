"""The Compare page, driven as a session drives it: task, runs, reference, sub-goal, and their address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import desk
import pytest
from builders import a_run
from sessions import said, sent, session, show_tab
from streamlit.testing.v1 import AppTest
from test_app_pages import HOSTILE, acted_upon, table

from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The desk's runs, for tests that only look."""
    at = tmp_path_factory.mktemp("compared")
    world = desk.write_folder(at / "world")
    for room in ("graphs", "ledgers"):
        Workspace.open_folder(world / room, at=at / "at").close()
    return at / "at"


@pytest.fixture
def app(folder: Path, monkeypatch: Patch) -> AppTest:
    return session(folder, monkeypatch, "compare")


def chosen(app: AppTest, key: str) -> str:
    """The selected option of a picker, in words."""
    picker = app.selectbox(key=key)
    return str(picker.options[picker.index or 0])


def follow(app: AppTest, **address: str) -> AppTest:
    """The page as a link with this address opens it."""
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def links(app: AppTest) -> list[str]:
    return [words for place, words in sent(app) if place == "PageLink.label"]


def matrix(app: AppTest) -> Any:
    return table(show_tab(app, "compare_tabs", "Table"), "Matrix of runs")


def digests(app: AppTest) -> list[str]:
    return list(app.multiselect(key="compare_runs_picker").value)


def test_a_task_whose_runs_differ_at_a_sub_goal_comes_first(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        for number in range(1, 5):  # more runs, of which two failed, and no sub-goal tells them apart
            run = a_run(f"same-{number}", agent=("careful", "lucky")[number % 2], task="refund-0").say(
                "Hello", "user"
            )
            store.add(f"same-{number}.jsonl", run.finish(number > 2).ledger())
        for run in (desk.careful(1), desk.lucky(1)):
            store.add(f"{run.run_id}.jsonl", run.ledger())
    app = session(tmp_path, monkeypatch, "compare")
    assert chosen(app, "compare_task_picker").startswith("refund-1 · 2 runs")


def test_a_task_with_most_to_compare_is_shown_with_all_its_runs(app: AppTest) -> None:
    assert chosen(app, "compare_task_picker") == "refund-1 · 6 runs, 4 ✓ 2 ✗"
    assert chosen(app, "compare_reference_picker") == "✓ careful #10"
    assert len(digests(app)) == 6
    assert "5 runs compared with **✓ careful" in said(app)
    assert "First differences: 2 at **Look up order**, 2 at **Check policy**" in said(app)
    assert "1 run does not differ at any sub-goal" in said(app)
    cells = matrix(app)
    assert list(cells["sub_goal"].unique()) == ["order", "policy", "refund", "polite"]
    assert set(cells["agent"]) == {"careful", "lucky", "failing"}


def test_the_first_sub_goal_at_which_runs_part_is_open_and_another_can_be_chosen(app: AppTest) -> None:
    assert chosen(app, "compare_row_picker") == "≠ Look up order"
    assert any("≠ order: 17" in block.value for block in app.code)  # the others looked it up without a number
    app.selectbox(key="compare_row_picker").select("policy").run()
    assert not app.exception
    assert app.query_params["sub_goal"] == "policy"


def test_runs_of_which_the_same_is_known_share_a_card(app: AppTest) -> None:
    app.selectbox(key="compare_row_picker").select("policy").run()
    offered = links(app)
    assert [name.partition(" ")[2].partition(" ")[0] for name in offered if "reference" not in name] == [
        *("lucky", "lucky"),
        *("failing", "failing"),
    ]
    assert said(app).count("**– skipped**") == 2


def test_runs_chosen_stand_in_the_address_and_the_address_leads_back(app: AppTest) -> None:
    kept = digests(app)[:2]
    app.multiselect(key="compare_runs_picker").set_value(kept).run()
    assert not app.exception
    assert app.query_params["runs"] == ",".join(kept)
    assert digests(app) == kept
    assert "2 of 6 runs of this task" in said(app)
    app.multiselect(key="compare_runs_picker").set_value([]).run()
    assert "runs" not in app.query_params
    assert len(digests(app)) == 6


def test_a_link_opens_task_runs_reference_and_sub_goal(folder: Path, monkeypatch: Patch) -> None:
    runs = {run.run_id: run.digest for run in desk.runs()}
    two = [runs["failing-20"], runs["lucky-20"]]
    app = session(folder, monkeypatch, "compare")
    follow(app, task="refund-2", runs=",".join(two), reference=two[0], sub_goal="refund")
    assert chosen(app, "compare_task_picker").startswith("refund-2")
    assert set(digests(app)) == set(two)
    assert chosen(app, "compare_reference_picker") == "✗ failing #20"
    assert chosen(app, "compare_row_picker") == "≠ Refund"
    assert any("reference" in words and "failing" in words for words in links(app))


def test_another_task_forgets_the_runs_of_the_last_one(app: AppTest) -> None:
    app.multiselect(key="compare_runs_picker").set_value(digests(app)[:2]).run()
    app.selectbox(key="compare_task_picker").select("refund-2").run()
    assert not app.exception
    assert len(digests(app)) == 6
    assert "runs" not in app.query_params


ADDRESSES = [
    ({"task": "no such task"}, "names a task with fewer than two runs here"),
    ({"task": "refund-1", "runs": "f" * 64}, "1 run from the link not found"),
    ({"task": "refund-1", "runs": "<script>,x,"}, "2 runs from the link not found"),
    ({"task": "refund-1", "reference": "nobody", "sub_goal": "nothing"}, "6 of 6 runs"),
    ({"task": "refund-1", "runs": "../../x", "reference": "%00"}, "not found"),
]


@pytest.mark.parametrize(("address", "words"), ADDRESSES)
def test_an_address_that_names_something_unknown_is_reported_and_the_page_still_works(
    app: AppTest, address: dict[str, str], words: str
) -> None:
    follow(app, **address)
    assert words in said(app)
    assert len(matrix(app)) > 0


def test_one_run_alone_cannot_be_compared(app: AppTest) -> None:
    app.multiselect(key="compare_runs_picker").set_value(digests(app)[:1]).run()
    assert not app.exception
    assert "comparing needs two unbroken runs" in said(app)


def test_what_goes_with_success_is_reported_with_counts_on_both_sides(app: AppTest) -> None:
    show_tab(app, "compare_tabs", "Linked to success")
    assert "**Look up order**, completed in 4 of 4 successes and in 0 of 2 failures" in said(app)
    assert "Association, not causation" in said(app)
    assert table(app, "Linked to success")["done_in_successes"].iloc[0] == 4


def test_without_a_graph_runs_are_aligned_by_tool_and_it_is_said(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        for name, tool in (("a", "walk"), ("b", "swim")):
            run = a_run(name, agent=name, task="cross").call("look", ok=True).call(tool, ok=True)
            store.add(f"{name}.jsonl", run.finish(name == "a").ledger())
    app = session(tmp_path, monkeypatch, "compare")
    assert "Aligned by tool only: 2 of 2 runs have no sub" in said(app)
    assert list(matrix(app)["sub_goal"].unique()) == ["look", "walk", "swim"]


def test_a_task_run_once_has_nothing_to_compare(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        store.add("a.jsonl", a_run("a").call("look").finish().ledger())
    assert "nothing to compare" in said(session(tmp_path, monkeypatch, "compare"))


def test_hostile_words_stay_words(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        for name, ok in (("a", True), ("b", False)):
            run = a_run(f"{name}{HOSTILE}", agent=f"{name}{HOSTILE}", task=HOSTILE)
            run.select(f"{name}{HOSTILE}", "x", context=HOSTILE)
            run.call(HOSTILE, ok=ok, **{HOSTILE: f"{name}{HOSTILE}"}).call(f"{name}{HOSTILE}")
            store.add(f"{name}.jsonl", run.say(HOSTILE).observe(HOSTILE).finish(ok).ledger())
    app = session(tmp_path, monkeypatch, "compare")
    assert acted_upon(app) == set()
    assert any("onerror" in words for place, words in sent(app) if place == "Code.code_text")
