"""The Annotate page: edit, see what would change, save; versions, conflicts, drafts, mapping, discovery."""

from __future__ import annotations

import json
from pathlib import Path

import desk
import msgspec
import pytest
from sessions import field, go_to, plain, press, said, sent, session, table
from streamlit.testing.v1 import AppTest
from test_app_pages import HOSTILE, acted_upon

from components.annotate import panel
from untaken.plans import AnswerSpec, GraphFormat, PlanGraph, Rule, SubGoal, export_graph, parse_graph
from untaken.workspace import Workspace

Patch = pytest.MonkeyPatch
TYPED_IN = {"TextInput.value", "TextArea.value", "Dataframe.columns"}
"""What a field holds, and what a cell offers, is words to every browser."""


def opened(folder: Path, monkeypatch: Patch, name: str = "Ann", **address: str) -> AppTest:
    return session(folder, monkeypatch, "annotate", who=name, **address)


def signed(app: AppTest, name: str) -> AppTest:
    app.text_input(key="reviewer_field").set_value(name).run()
    return app


def view(app: AppTest, name: str) -> AppTest:
    app.button_group(key="annotate_view").set_value(name).run()
    return app


def save(app: AppTest, message: str) -> AppTest:
    field(app, "annotate_message").set_value(message)
    return press(app, "Save as ")


def address(app: AppTest, name: str) -> str:
    """What the address says of `name`."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def newest(folder: Path, graph: str = "desk") -> PlanGraph:
    with Workspace(folder) as store:
        version = store.newest_version(graph)
        return store.graph_version(graph, version.version)


def node(graph: PlanGraph, name: str) -> SubGoal:
    return next(one for one in graph.sub_goals if one.id == name)


def test_an_edit_shows_what_would_change_and_is_saved_as_the_next_version(folder, monkeypatch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="policy")
    assert "no unsaved changes" in said(app)
    field(app, "sub_goal_expr").set_value("state.read == false").run()
    assert "**4 of 12 runs** would change a sub-goal's status" in said(app)
    assert "careful** completion 100% → 75% (4 runs)" in said(app)
    assert (
        node(newest(folder), "policy").check == node(parse_graph(desk.GRAPH, name="x.yaml"), "policy").check
    )
    save(app, "Reading is not enough")
    assert "Saved as version 2" in said(app)
    assert "no unsaved changes" in said(app)
    graph = newest(folder)
    assert (graph.version, node(graph, "policy").check.expr) == (2, "state.read == false")  # type: ignore[union-attr]
    with Workspace(folder) as store:
        assert [(v.version, v.author, v.message) for v in store.graph_history("desk")] == [
            (1, "upload", ""),
            (2, "human:Ann", "Reading is not enough"),
        ]
    view(app, "Versions and export")
    assert any("What differs" in one.label for one in app.get("download_button"))
    assert "Check policy · check" in said(app)


def test_the_address_names_the_graph_shown_so_that_a_copied_link_opens_it_for_others(
    folder: Path, monkeypatch: Patch
) -> None:
    shown = address(opened(folder, monkeypatch, name=""), "graph")
    assert shown == "desk"
    other = folder / "where another graph comes first"
    with Workspace(other) as store:
        store.add("a.plan.yaml", b"schema: untaken.plan/1\nid: a\ntasks: [x]\nsub_goals: [{id: first}]\n")
        store.add("desk.plan.yaml", desk.GRAPH)
        assert opened(other, monkeypatch, name="").selectbox(key="annotate_graph").value == "a"
        store.add("desk.jsonl", desk.failing(1).ledger() + desk.failing(2).ledger())
    assert opened(other, monkeypatch, name="").selectbox(key="annotate_graph").value == "desk"
    colleague = opened(other, monkeypatch, name="", graph=shown, sub_goal="policy")
    assert colleague.selectbox(key="annotate_graph").value == "desk"
    assert colleague.selectbox(key="annotate_sub_goal").value == "policy"
    assert (address(colleague, "graph"), address(colleague, "sub_goal")) == ("desk", "policy")
    app = go_to(opened(other, monkeypatch, graph="a"), "run")  # a run looked at leaves the graph on the desk
    run = address(press(app, "Next"), "run")
    app = go_to(app, "annotate")
    assert app.selectbox(key="annotate_graph").value == "a"
    assert (address(app, "graph"), address(app, "run")) == ("a", run)


def test_edits_are_undone_and_redone_and_what_is_refused_stays_on_its_graph_to_be_corrected(
    folder: Path, monkeypatch: Patch
) -> None:
    with Workspace(folder) as store:
        store.add("b.plan.yaml", desk.GRAPH.replace(b"id: desk", b"id: other").replace(b"refund-*", b"x-*"))
    app = opened(folder, monkeypatch, graph="desk", sub_goal="policy")
    field(app, "sub_goal_critical").uncheck().run()
    assert "no unsaved changes" not in said(app)
    press(app, "annotate_undo")
    assert field(app, "sub_goal_critical").value is True
    assert "no unsaved changes" in said(app)
    press(app, "annotate_redo")
    assert field(app, "sub_goal_critical").value is False
    press(app, "annotate_undo")
    field(app, "sub_goal_expr").set_value("state.read ==").run()
    assert "Refused" in said(app)
    assert field(app, "sub_goal_expr").value == "state.read =="
    app.selectbox(key="annotate_graph").set_value("other").run()
    app.selectbox(key="annotate_sub_goal").set_value("policy").run()
    assert field(app, "sub_goal_expr").value != "state.read =="
    app.selectbox(key="annotate_graph").set_value("desk").run()
    app.selectbox(key="annotate_sub_goal").set_value("policy").run()
    field(app, "sub_goal_expr").set_value("state.read == false").run()
    assert "Refused" not in said(app)
    assert "no unsaved changes" not in said(app)
    app.selectbox(key="annotate_sub_goal").set_value("order").run()
    field(app, "sub_goal_deps").set_value(["refund"]).run()
    assert "order → refund → policy → order" in plain(app)
    field(app, "sub_goal_deps").set_value([]).run()
    assert "Refused" not in said(app)


def test_a_message_waits_for_its_graph_while_the_graph_is_edited(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_title").set_value("First").run()
    field(app, "annotate_message").set_value("why it is so").run()
    field(app, "sub_goal_title").set_value("Second").run()
    assert field(app, "annotate_message").value == "why it is so"
    press(app, "Save as Ann")
    with Workspace(folder) as store:
        assert store.graph_history("desk")[-1].message == "why it is so"
    field(app, "sub_goal_title").set_value("Third").run()
    assert field(app, "annotate_message").value == ""


def test_the_second_to_save_is_asked_and_overwrites_nothing(folder: Path, monkeypatch: Patch) -> None:
    ann = opened(folder, monkeypatch, "Ann", graph="desk", sub_goal="policy")
    bob = opened(folder, monkeypatch, "Bob", graph="desk", sub_goal="order")
    field(bob, "sub_goal_title").set_value("Find the order").run()
    field(ann, "sub_goal_title").set_value("Read the policy").run()
    save(bob, "A better title")
    save(ann, "Mine")
    assert "Your edits are not saved" in said(ann)
    assert "human" in said(ann)
    assert "Bob" in said(ann)
    assert node(newest(folder), "policy").title == "Check policy"
    press(ann, "Merge with version 2")
    save(ann, "Both")
    graph = newest(folder)
    assert (graph.version, node(graph, "order").title, node(graph, "policy").title) == (
        3,
        "Find the order",
        "Read the policy",
    )


def test_what_was_not_saved_is_there_again_in_the_next_session(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, "Ann", graph="desk", sub_goal="order")
    field(app, "sub_goal_title").set_value("Half done").run()
    other = opened(folder, monkeypatch, "Bob", graph="desk", sub_goal="order")
    assert field(other, "sub_goal_title").value == "Look up order"
    again = session(folder, monkeypatch, "data")
    again.session_state["reviewer_name"] = "Ann"
    again.query_params["graph"] = "desk"
    again.query_params["sub_goal"] = "order"
    go_to(again, "annotate")
    assert "is open again" in said(again)
    assert field(again, "sub_goal_title").value == "Half done"
    again.button(key="annotate_undo").click().run()
    assert field(again, "sub_goal_title").value == "Look up order"


def test_a_link_to_a_draft_waits_for_the_name_of_its_author(folder: Path, monkeypatch: Patch) -> None:
    with Workspace(folder) as store:
        store.keep_draft(
            "mine", author="human:Ann", content=desk.GRAPH.replace(b"desk", b"mine").decode(), based_on=None
        )
    app = opened(folder, monkeypatch, name="", graph="mine", sub_goal="order")
    assert "If it is your draft, enter your name." in app.warning[0].value
    assert not app.button_group  # no other graph is open instead
    signed(app, "Ann")
    assert app.selectbox(key="annotate_graph").value == "mine"
    assert app.query_params["graph"] in ("mine", ["mine"])
    assert app.selectbox(key="annotate_sub_goal").value == "order"
    kind = next(one for one in app.selectbox if one.label == "Success check")
    kind.set_value("tool_call").run()
    kind = next(one for one in app.selectbox if one.label == "Success check")
    assert kind.value == "tool_call", "the first choice after a name counts"
    assert "is open again" in plain(app)


def test_work_that_nobody_signed_can_be_taken_up_or_signed_later(folder: Path, monkeypatch: Patch) -> None:
    def nameless() -> AppTest:
        app = opened(folder, monkeypatch, "", graph="desk", sub_goal="order")
        field(app, "sub_goal_title").set_value("Nameless").run()
        assert "Enter your name" in said(app)
        return app

    nameless()
    other = opened(folder, monkeypatch, "Bob", graph="desk", sub_goal="order")
    press(other, "Open draft")
    assert field(other, "sub_goal_title").value == "Nameless"
    signed(nameless(), "Ann")
    with Workspace(folder) as store:
        assert {draft.author for draft in store.drafts()} == {"human:Ann", "human:Bob"}


def test_one_click_makes_a_rule_of_what_served_nothing(tmp_path: Path, monkeypatch: Patch) -> None:
    with Workspace(tmp_path) as store:
        desk.add_to(store, graph=desk.GRAPH.replace(b"{tool: pay}", b"{tool: transfer}"))
        graph = store.graph_version("desk", 1)
        goals = [one for one in graph.sub_goals if one.id != "refund"]
        graph = PlanGraph(
            id="desk", tasks=graph.tasks, sub_goals=[*goals, SubGoal(id="pay_back", deps=["policy"])]
        )
        store.save_graph(graph, author="human:x", message="", based_on=1)
    app = view(opened(tmp_path, monkeypatch, graph="desk"), "Mapping")
    assert "8 actions in 8 runs" in said(app)
    assert field(app, "goal_0").value == "pay_back"
    press(app, "Create rule")
    assert "Every action is mapped to a sub-goal" in said(app)
    assert "actions without a sub-goal: 8 → 0" in plain(app)


@pytest.mark.parametrize("kind", ["yaml", "mermaid", "csv"])
def test_a_graph_that_is_pasted_over_another_keeps_its_checks_unless_asked_otherwise(
    folder: Path, monkeypatch: Patch, kind: GraphFormat
) -> None:
    before = newest(folder)
    for fill in (True, False) if kind == "mermaid" else (True,):
        app = opened(folder, monkeypatch, graph="desk")
        app.selectbox(key="annotate_format").select(kind).run()
        app.text_area(key="annotate_pasted_0").set_value(export_graph(before, kind)).run()
        press(app, "Read")
        if not fill:
            app.checkbox(key="annotate_fill").uncheck().run()
        press(app, "Open it")
        assert ("It is identical to the open graph" in plain(app)) is (fill and kind != "csv")


def test_a_new_graph_begins_with_a_sub_goal_and_scores_runs_once_it_is_saved(folder, monkeypatch) -> None:
    app = opened(folder, monkeypatch, graph="desk")
    next(one for one in app.text_input if one.label == "Graph id").set_value("dance")
    next(one for one in app.text_input if one.label == "Tasks it covers").set_value("other")
    next(one for one in app.text_input if one.label == "First sub-goal").set_value("step")
    press(app, "Begin")
    assert "1 run would be scored with it for the first time" in plain(app)
    assert app.query_params["graph"] == "dance"


def test_hostile_words_of_a_graph_are_words_everywhere(tmp_path: Path, monkeypatch: Patch) -> None:
    name = HOSTILE[:500]
    first = {"id": name, "title": HOSTILE, "description": HOSTILE, "rules": [{"tool": HOSTILE[:400]}]}
    second = {"id": "b", "deps": [name], "check": {"tool_call": {"name": name}}}
    graph = {"id": name, "title": HOSTILE, "tasks": ["*"], "sub_goals": [first, second]}
    with Workspace(tmp_path) as store:
        assert store.add("g.plan.json", json.dumps(graph).encode()).kind == "graph"
        desk.add_to(store, graph=None)
    app = opened(tmp_path, monkeypatch, HOSTILE[:90])
    field(app, "sub_goal_critical").check().run()
    for shown in ("Preview", "Table", "Mapping", "Suggest", "Versions and export"):
        view(app, shown)
        assert {place for place, _ in acted_upon(app)} <= TYPED_IN
    places = {place for place, words in sent(app) if "onerror" in words}
    assert places >= {"Selectbox.options", "PlotlyChart.spec"}


def test_the_calls_that_a_pattern_fits_show_beside_it(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    assert "8 of 12 calls of this tool match, in 8 runs. 4 more match, but their result does not." in said(
        app
    )
    pattern = '{"name": "search", "arguments": {"order": {"regex": "^1[0-9]$"}}}'
    field(app, "sub_goal_call").set_value(pattern).run()
    assert "4 of 12 calls of this tool match, in 4 runs." in said(app)
    save(app, "Only orders with two figures")
    check = node(newest(folder), "order").check
    assert check.tool_call.arguments == {"order": {"regex": "^1[0-9]$"}}


def test_words_that_were_refused_stay_and_block_saving_until_they_are_corrected_or_discarded(
    folder: Path, monkeypatch: Patch
) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_call").set_value('{"name": "search", "arguments": {"order": {"regex": "("}}}').run()
    assert "argument 'order'" in plain(app)
    field(app, "sub_goal_call").set_value('{"name": "search",').run()
    field(app, "sub_goal_title").set_value("Find the order").run()
    assert field(app, "sub_goal_call").value == '{"name": "search",'
    assert "Refused: the expected call" in plain(app)
    assert "Correct or discard what was refused first, on ‹order›." in plain(app)
    assert not [one for one in app.button if one.label.startswith("Save as ")]
    field(app, "sub_goal_call").set_value('{"name": "search"}').run()
    save(app, "Corrected")
    assert node(newest(folder), "order").title == "Find the order"
    field(app, "sub_goal_call").set_value("{").run()
    field(app, "sub_goal_id").set_value("find").run()
    assert field(app, "sub_goal_call").value == "{"  # it follows a renamed sub-goal
    press(app, "Discard")
    assert "Refused" not in said(app)
    save(app, "Another id")
    assert node(newest(folder), "find").check is not None


def test_an_expected_call_is_the_name_of_a_tool_or_chosen_among_those_that_runs_called(
    folder: Path, monkeypatch: Patch
) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_call").set_value("search").run()
    save(app, "Any search will do")
    check = node(newest(folder), "order").check
    assert (check.tool_call.name, check.tool_call.arguments) == ("search", {})
    app.selectbox(key="annotate_sub_goal").set_value("policy").run()
    field(app, "sub_goal_kind_of_check").set_value("tool_call").run()
    tools = field(app, "sub_goal_tool")
    assert {"search", "read"} <= set(tools.options)
    tools.set_value("read").run()
    assert "calls of this tool match" in said(app)
    assert field(app, "sub_goal_call").value == '{"name":"read"}'
    assert field(app, "sub_goal_kind_of_check").value == "tool_call"


def test_the_table_of_rules_keeps_what_a_rule_says_of_arguments_and_answers() -> None:
    rule = Rule(
        tool="Bash", arguments={"command": {"glob": "pytest*"}}, answer=AnswerSpec(ok=True, contains="x")
    )
    row = panel.rule_row(rule)
    assert msgspec.convert(panel.rule_of(row), Rule) == rule


def test_proposed_tools_are_declared_by_a_click_and_tasks_decide_whose_plan_it_is(
    folder: Path, monkeypatch: Patch
) -> None:
    app = view(opened(folder, monkeypatch, graph="desk"), "Tasks and tools")
    assert app.multiselect(key="annotate_mutates").value == []
    proposed = table(app, "Tools of this graph")
    wanted = list(proposed["tool"][proposed["proposed"] == "changes something"])
    assert wanted
    press(app, app.button(key="annotate_tools_take").label)
    assert sorted(app.multiselect(key="annotate_mutates").value) == sorted(wanted)
    app.multiselect(key="annotate_mutates").set_value([]).run()
    assert app.multiselect(key="annotate_mutates").value == []
    tasks = app.multiselect(key="annotate_tasks")
    assert tasks.value == list(app.session_state["annotate_desk"].graph.tasks)
    tasks.set_value(["nobody-ran-*"]).run()
    assert app.session_state["annotate_desk"].graph.tasks == ["nobody-ran-*"]
    assert "there is nothing to propose" in said(app)


def test_weight_condition_number_of_calls_evidence_and_need_of_an_action_are_fields(
    folder: Path, monkeypatch: Patch
) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_when_").set_value("state.x ==").run()
    assert "the expression ends too early" in said(app)
    field(app, "sub_goal_when_").set_value("1 == 2").run()
    assert "would change a sub-goal's status" in said(app)
    field(app, "sub_goal_when_at").set_value("step").run()
    weight = next(field for field in app.number_input if field.label.startswith("Weight"))
    weight.set_value(3.0).run()
    field(app, "sub_goal_times").set_value(2).run()
    field(app, "sub_goal_evidence").set_value("message").run()
    save(app, "Twice, at times")
    saved = node(newest(folder), "order")
    assert (saved.when, saved.when_at, saved.weight) == ("1 == 2", "step", 3.0)
    assert (saved.times, saved.evidence) == (2, "message")
    field(app, "sub_goal_kind_of_check").set_value("outcome").run()
    field(app, "sub_goal_needs_action").set_value(False).run()
    save(app, "By its outcome")
    assert node(newest(folder), "order").needs_action is False
