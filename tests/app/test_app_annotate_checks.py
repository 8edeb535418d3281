"""The Annotate page: patterns in expected calls and rules, tools that change something, weights."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from annotate_sessions import field, newest, node, opened, pressed, save, view
from sessions import plain, said, table

from components.annotate import panel
from untaken.plans import AnswerSpec, Rule

Patch = pytest.MonkeyPatch


def test_the_calls_that_a_pattern_fits_show_beside_it(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    assert "8 of 12 calls of this tool match, in 8 runs. 4 more match, but their result does not." in said(
        app
    )
    pattern = '{"name": "search", "arguments": {"order": {"regex": "^1[0-9]$"}}}'
    field(app, "sub_goal_call").set_value(pattern).run()
    assert not app.exception
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
    pressed(app, "Discard")
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
    pressed(app, app.button(key="annotate_tools_take").label)
    assert sorted(app.multiselect(key="annotate_mutates").value) == sorted(wanted)
    app.multiselect(key="annotate_mutates").set_value([]).run()
    assert app.multiselect(key="annotate_mutates").value == []
    tasks = app.multiselect(key="annotate_tasks")
    assert tasks.value == list(app.session_state["annotate_desk"].graph.tasks)
    tasks.set_value(["nobody-ran-*"]).run()
    assert not app.exception
    assert app.session_state["annotate_desk"].graph.tasks == ["nobody-ran-*"]
    assert "there is nothing to propose" in said(app)


def test_weight_condition_number_of_calls_evidence_and_need_of_an_action_are_fields(
    folder: Path, monkeypatch: Patch
) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_when_").set_value("state.x ==").run()
    assert "cannot be read" in said(app)
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
