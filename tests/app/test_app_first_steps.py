"""The first five minutes: a server that opens, samples, a tour, and the first plan graph."""

from __future__ import annotations

import json
import re
from http.client import HTTPConnection
from pathlib import Path
from runpy import run_path
from urllib.parse import quote

import desk
import pytest
import streamlit as st
from builders import a_run
from programs import run_python
from served_page import served_app
from sessions import filled, go_to, plain, press, said, session, show_tab
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from test_app_pages import QUESTIONS, TITLES
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from components.annotate.session import CURRENT
from components.shared import frame, starting
from components.shared.cards import COMPUTED
from components.shared.first_steps import RECORDED, TOUR
from components.shared.starting import NEEDED, start_page
from untaken import read_ledger
from untaken.analysis.failure_modes.root_causes import FIRST_FAILED_RECORD
from untaken.counterfactual.support import ALPHA, Q_MAX
from untaken.plans import PlanGraph
from untaken.traces import formats
from untaken.views.review import ORDER
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch


def test_an_empty_workspace_is_filled_with_the_samples_by_one_click(tmp_path, monkeypatch) -> None:
    app = session(tmp_path, monkeypatch)
    listed = said(app)
    assert [one.name for one in formats() if one.name.replace("-", "\\-") not in listed] == []
    press(app, "add_samples")
    assert "432 runs · 6 agents" in said(app)


def test_the_code_that_records_an_agent_writes_a_ledger_that_is_read(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(RECORDED, "utf-8")
    run_path("agent.py")
    (run,) = read_ledger(tmp_path / "runs.jsonl")
    assert (run.agent, run.task_id, run.success) == ("my-agent", "refund-1", True)


def test_the_tour_has_seven_steps_and_is_over_when_dismissed(folder: Path, monkeypatch: Patch) -> None:
    app = session(folder, monkeypatch)
    for step, (title, page, words) in enumerate(TOUR, 1):
        app.button(key="tour_start" if step == 1 else "tour_next").click().run()
        assert app.title[0].value == title
        assert words in said(app)
        if step == 2:
            go_to(app, "memory")  # it goes along to pages that are looked at meanwhile
        assert f"{step} of {len(TOUR)} · {title}" in said(app)
        go_to(app, page)  # an AppTest does not see that the script went there
    press(app, "tour_skip")
    for page in ("data", "overview"):
        assert f"of {len(TOUR)} ·" not in said(go_to(app, page))
        assert not [button for button in app.button if str(button.key).startswith("tour")]


@pytest.mark.parametrize(
    ("page", "rule"),
    [
        *((TITLES[page], "") for page in QUESTIONS),
        *((page, f"{FIRST_FAILED_RECORD}.") for page in ("Run", "Queue")),  # how often people agree
        ("Overview", "each failed run once, where it fails first"),
        ("Queue", f"{', '.join(ORDER[:-2])} and {ORDER[-2]} runs, in this order"),
        ("Failure modes", "the failed runs read that show the mode"),
        ("Decisions", f"p ≤ {ALPHA:.2f}, q ≤ {Q_MAX:.2f} and at least"),
    ],
)
def test_every_page_says_how_its_numbers_are_computed_and_the_rule_that_is_in_force(page, rule) -> None:
    assert rule in COMPUTED[page]


def remembered(kept: str, monkeypatch: Patch) -> None:
    """A browser that sends this in the app's cookie."""
    monkeypatch.setattr(ContextProxy, "cookies", {frame.cookie(): kept})


def test_a_remembered_name_and_dismissed_tour_are_there_when_a_page_is_first_drawn(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    remembered(quote(json.dumps({"name": "Ada *L*\n", "tour": True})), monkeypatch)
    (tmp_path / "run.jsonl").write_bytes(desk.failing(1).ledger())
    app = session(tmp_path, monkeypatch)
    assert not [button for button in app.button if str(button.key).startswith("tour")]
    assert r"Signed as Ada \*L\*" in said(session(tmp_path, monkeypatch, "review"))


@pytest.mark.parametrize(
    "kept",
    ["", "null", "7", "[]", "{", "%", "[" * 99_999, '{"name": 7, "tour": "x"}', '{"name": "", "other": 1}'],
)
def test_what_a_browser_keeps_may_be_anything(kept: str, tmp_path: Path, monkeypatch: Patch) -> None:
    remembered(kept, monkeypatch)
    app = session(tmp_path, monkeypatch)
    assert not app.error


FIRST_NUMBERS = """
import ast, os, sys, tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    os.environ.update(UNTAKEN_WORKSPACE=folder, UNTAKEN_DEMO="1", UNTAKEN_TEMPORARY=folder, UNTAKEN_STORE="")
    from components.shared import frame, state
    steps = []
    state.open_ahead(steps.append)
    page = ast.parse(Path("pages/overview.py").read_text("utf-8"))
    page.body = [one for one in page.body if isinstance(one, (ast.Import, ast.ImportFrom))]
    exec(compile(page, "pages/overview.py", "exec"))
    print(steps[-1], "pandas" in sys.modules)
"""


def test_the_first_numbers_of_the_demonstration_do_not_wait_for_pandas() -> None:
    assert run_python(FIRST_NUMBERS).stdout.splitlines()[-1] == "Ranking agents False"


WAITING = """
from components.shared import starting
starting.wait()
"""


@pytest.fixture
def opened_ahead(tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.setenv("UNTAKEN_WORKSPACE", str(tmp_path))
    starting.begin().join()
    return tmp_path


def test_the_workspace_is_open_once_the_thread_has_ended(opened_ahead: Path) -> None:
    assert (opened_ahead / "untaken.sqlite3").exists()


def test_nobody_waits_for_a_workspace_that_is_open(opened_ahead: Path, monkeypatch: Patch) -> None:
    assert session(opened_ahead, monkeypatch).title[0].value == "Overview"


def test_a_page_without_a_server_that_opens_ahead_does_not_wait() -> None:
    assert not AppTest.from_string(WAITING).run().exception


def test_the_start_page_loads_ahead_what_shows_the_first_numbers_and_nothing_long() -> None:
    page = start_page()
    scripts = json.loads(re.findall(r"script of (\[.*?\])", page)[0])
    assert [script.split("/")[-1].split(".")[0] for script in scripts] == list(NEEDED)
    files = [Path(st.__file__).parent / "static" / script for script in scripts]
    assert all(file.stat().st_size < 500_000 for file in files)
    assert "BACKEND_BASE_URL" in page


def opens(address: str, origin: str | None) -> bool:
    try:
        with connect(
            f"ws://{address}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            origin=origin,  # type: ignore[arg-type]
        ):
            return True
    except (WebSocketException, OSError):
        return False


def test_a_socket_is_for_pages_of_this_address_alone_and_metrics_are_for_nobody(tmp_path: Path) -> None:
    with served_app(tmp_path / "w", port=8961, log=tmp_path / "log.txt") as (_, address):
        port = address.rpartition(":")[2]
        origins = {
            f"http://{address}": True,
            "http://127.0.0.1:1": False,
            "http://127.0.0.1": False,
            "http://127.0.0.1.example.org": False,
            f"http://example.org:{port}": False,
            "null": False,
            None: False,
        }
        assert {origin: opens(address, origin) for origin in origins} == origins
        asked = HTTPConnection(address, timeout=20)
        for path in ("/_stcore/metrics", "/_stcore/health"):
            asked.request("GET", path)
            answer = asked.getresponse()
            answer.read()
            assert (answer.status == 200) is path.endswith("health")
        asked.close()


def signed(app: AppTest) -> AppTest:
    app.text_input(key="reviewer_field").set_value("Ann").run()
    return app


def saved(folder: Path) -> dict[str, PlanGraph]:
    with Workspace(folder) as store:
        ids = [file.graph_id for file in store.graphs() if file.graph_id]
        newest = {name: store.newest_version(name) for name in ids}
        return {name: store.graph_version(name, v.version) for name, v in newest.items() if v}


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    with Workspace(tmp_path) as store:
        desk.add_to(store, graph=None)
    return tmp_path


def drafting(folder: Path, monkeypatch: Patch, page: str = "overview") -> AppTest:
    app = session(folder, monkeypatch, page)
    app = press(app, "first_graph")
    return signed(go_to(app, "annotate"))


@pytest.mark.parametrize("page", ["overview", "run"])
def test_a_draft_is_accepted_with_one_click_and_scores_the_runs(imported, monkeypatch, page) -> None:
    app = drafting(imported, monkeypatch, page)
    assert "From **8 successful runs**" in said(app)
    meant = [run for run in desk.runs() if "refund-" in run.task_id and not run.integrity.broken]
    tasks = len({run.task_id for run in meant})
    assert f"it scores **{len(meant)} runs** of **{tasks} tasks**. 1 run would still have" in said(app)
    app = press(app, "suggest_accept")
    graph = saved(imported)["suggested"]
    assert graph.tasks == ["refund-*"]
    assert {node.id for node in graph.sub_goals} >= {"search", "pay"}
    assert graph.metadata.get("draft") is None
    app = go_to(app, "overview")
    assert not [one for one in app.button if one.key == "first_graph"]


@pytest.mark.parametrize(
    ("how", "told"), [("suggest_take", "unsaved changes"), ("suggest_leave", "No plan graph yet")]
)
def test_a_draft_can_be_edited_first_or_left(how: str, told: str, imported: Path, monkeypatch: Patch) -> None:
    assert told in said(press(drafting(imported, monkeypatch), how))
    assert saved(imported) == {}


@pytest.mark.parametrize("page", ["overview", "run"])
def test_where_every_run_failed_a_plan_is_written_for_a_task(tmp_path, monkeypatch, page) -> None:
    run = a_run("lost", agent="lost", task="swap-[1]").call("look", ok=True).finish(False)
    app = session(filled(tmp_path, run), monkeypatch, page)
    if page == "overview":
        assert app.button(key="first_graph").label == "Write a plan graph"
        assert "and none of these did" in said(app)
        app = go_to(press(app, "first_graph"), "annotate")
        assert "None of these does." in said(app)
        assert "Accept the draft" not in said(app)
    else:
        assert not [one for one in app.button if one.key == "first_graph"]  # it could not draft anything
    app = signed(go_to(press(app, "write_plan"), "annotate"))
    assert "New plan. Add what should have happened." in said(app).replace("\\", "")
    app = press(app, "annotate_save")
    (graph,) = saved(tmp_path).values()
    assert (graph.id, graph.tasks) == ("swap-[1]", ["swap-[[]1]"])
    assert len([one for one in app.button if one.key == "write_plan"]) == 0


def test_beside_another_graph_the_draft_applies_to_its_own_tasks_and_those_that_are_added(
    imported: Path, monkeypatch: Patch
) -> None:
    run = a_run("new", agent="careful", task="swap-*").call("look", ok=True).finish(True)
    app = drafting(filled(imported, run, plan=desk.GRAPH), monkeypatch)
    app.selectbox(key="suggest_tasks").set_value(2).run()  # all tasks
    applies = next(one for one in app.multiselect if one.label == "Applies to tasks")
    assert applies.value == ["other", "swap-[*]"]
    applies.set_value(["other"]).run()
    app = press(app, "suggest_accept")
    assert saved(imported)["suggested"].tasks == ["other"]
    assert not app.error


def test_a_plan_of_one_run_is_edited_before_it_is_saved(tmp_path: Path, monkeypatch: Patch) -> None:
    run = a_run("r", task="fix").plan("Read the code", "Fix it").call("bash").finish(None)
    app = drafting(filled(tmp_path, run), monkeypatch)
    assert app.button(key="suggest_accept").disabled
    press(press(app, "suggest_take"), "annotate_save")
    assert saved(tmp_path)["suggested"].tasks == ["fix"]
    assert [node.id for node in saved(tmp_path)["suggested"].sub_goals] == ["Read the code", "Fix it"]


def test_a_draft_has_the_name_by_which_its_runs_call_their_plan(tmp_path: Path, monkeypatch: Patch) -> None:
    run = a_run("r", task="fix", graph="repairs").plan("Read the code", "Fix it").call("bash").finish(True)
    app = signed(session(filled(tmp_path, run), monkeypatch, "annotate"))
    app = press(app, "suggest_take")
    assert "No run in this workspace is scored" not in said(app)
    press(app, "annotate_save")
    assert list(saved(tmp_path)) == ["repairs"]


def test_a_read_is_in_the_draft_only_if_it_is_ticked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [a_run(f"r{n}").call("find", ok=True, order="A1") for n in range(3)]
    filled(tmp_path, *(run.call("pay", ok=True, amount=67).finish() for run in runs))
    app = session(tmp_path, monkeypatch, "annotate")
    show_tab(app, "suggest_source", "calls")
    assert "pay" in said(app)
    (read,) = [box for box in app.checkbox if box.label.startswith("find")]
    assert read.value is False
    press(app, "suggest_take")
    (node,) = app.session_state[CURRENT].graph.sub_goals
    assert node.check.tool_call.arguments == {"amount": 67}


def test_runs_that_name_a_plan_that_is_not_here_are_said_to_and_get_it_under_its_id(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    """No other plan is used for them, so a draft with another id scores none."""
    with Workspace(tmp_path) as store:
        for at in range(6):
            run = a_run(f"r{at}", agent="ada", task="swap-1", graph="swap").call("look", ok=True)
            store.add(f"{at}.jsonl", run.call("pay", ok=True).finish(at > 0).ledger())
    app = session(tmp_path, monkeypatch, "run")
    assert "plan graph swap is not here" in plain(app)
    app = signed(go_to(app, "annotate"))
    assert "it scores **6 runs** of **1 task**" in said(app)  # under the id that all of them name
    app = signed(go_to(press(go_to(app, "run"), "write_plan"), "annotate"))
    press(app, "annotate_save")
    (graph,) = saved(tmp_path).values()
    assert (graph.id, graph.tasks) == ("swap", ["swap-1"])


def test_a_plan_for_tasks_whose_runs_name_others_says_why_it_scores_none(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    with Workspace(tmp_path) as store:
        store.add(
            "own.plan.yaml", b"schema: untaken.plan/1\nid: own\ntasks: ['swap-*']\nsub_goals: [{id: look}]\n"
        )
        for at in range(2):
            run = a_run(f"r{at}", agent="ada", task=f"swap-{at}", graph=f"plan-{at}").call("look", ok=True)
            store.add(f"{at}.jsonl", run.finish(True).ledger())
    app = signed(session(tmp_path, monkeypatch, "annotate", graph="own"))
    next(one for one in app.text_input if one.label == "Title").set_value("Look").run()
    assert "2 runs of its tasks name another plan graph: 'plan-0', 'plan-1'." in plain(app)
