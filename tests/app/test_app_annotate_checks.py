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


def test_a_pattern_that_cannot_be_used_is_refused_with_its_key(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_call").set_value('{"name": "search", "arguments": {"order": {"regex": "("}}}').run()
    assert not app.exception
    assert "argument 'order'" in said(app).replace("\\", "")


def test_the_name_of_a_tool_is_an_expected_call(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_call").set_value("search").run()
    save(app, "Any search will do")
    check = node(newest(folder), "order").check
    assert (check.tool_call.name, check.tool_call.arguments) == ("search", {})


def test_an_expected_call_is_chosen_among_the_tools_that_runs_called(
    folder: Path, monkeypatch: Patch
) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="policy")
    field(app, "sub_goal_kind_of_check").set_value("tool_call").run()
    tools = field(app, "sub_goal_tool")
    assert {"search", "read"} <= set(tools.options)
    tools.set_value("read").run()
    assert "calls of this tool match" in said(app)
    assert field(app, "sub_goal_call").value == '{"name":"read"}'
    assert field(app, "sub_goal_kind_of_check").value == "tool_call"


def test_words_that_were_refused_stay_and_block_saving_until_they_are_corrected(
    folder: Path, monkeypatch: Patch
) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_call").set_value('{"name": "search",').run()
    field(app, "sub_goal_title").set_value("Find the order").run()
    assert field(app, "sub_goal_call").value == '{"name": "search",'
    assert "Refused: the expected call" in plain(app)
    assert "Correct or discard what was refused first, on ‹order›." in plain(app)
    assert not [one for one in app.button if one.label.startswith("Save as ")]
    field(app, "sub_goal_call").set_value('{"name": "search"}').run()
    save(app, "Corrected")
    assert node(newest(folder), "order").title == "Find the order"


def test_refused_words_follow_a_renamed_sub_goal_and_can_be_discarded(
    folder: Path, monkeypatch: Patch
) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_call").set_value("{").run()
    field(app, "sub_goal_id").set_value("find").run()
    assert field(app, "sub_goal_call").value == "{"
    pressed(app, "Discard")
    assert "Refused" not in said(app)
    save(app, "Another id")
    assert node(newest(folder), "find").check is not None


def test_the_table_of_rules_keeps_what_a_rule_says_of_arguments_and_answers() -> None:
    rule = Rule(
        tool="Bash", arguments={"command": {"glob": "pytest*"}}, answer=AnswerSpec(ok=True, contains="x")
    )
    row = panel.rule_row(rule)
    assert msgspec.convert(panel.rule_of(row), Rule) == rule


def test_proposed_tools_are_declared_only_by_a_click(folder: Path, monkeypatch: Patch) -> None:
    app = view(opened(folder, monkeypatch, graph="desk"), "Tasks and tools")
    assert app.multiselect(key="annotate_mutates").value == []
    proposed = table(app, "Tools of this graph")
    wanted = list(proposed["tool"][proposed["proposed"] == "changes something"])
    assert wanted
    app.button(key="annotate_tools_take").click().run()
    assert not app.exception
    assert sorted(app.multiselect(key="annotate_mutates").value) == sorted(wanted)
    app.multiselect(key="annotate_mutates").set_value([]).run()
    assert app.multiselect(key="annotate_mutates").value == []


def test_the_tasks_of_a_plan_are_a_field_and_decide_whose_plan_it_is(
    folder: Path, monkeypatch: Patch
) -> None:
    app = view(opened(folder, monkeypatch, graph="desk"), "Tasks and tools")
    tasks = app.multiselect(key="annotate_tasks")
    assert tasks.value == list(app.session_state["annotate_desk"].graph.tasks)
    tasks.set_value(["nobody-ran-*"]).run()
    assert not app.exception
    assert app.session_state["annotate_desk"].graph.tasks == ["nobody-ran-*"]
    assert "there is nothing to propose" in said(app)


def test_a_weight_is_a_field_of_the_sub_goal(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk")
    weight = next(field for field in app.number_input if field.label.startswith("Weight"))
    weight.set_value(3.0).run()
    assert not app.exception
    assert next(f for f in app.number_input if f.label.startswith("Weight")).value == 3.0
    assert app.session_state["annotate_desk"].graph.sub_goals[0].weight == 3.0


def test_a_condition_is_edited_with_its_effect(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_when_").set_value("1 == 2").run()
    assert "would change a sub-goal's status" in said(app)
    field(app, "sub_goal_when_at").set_value("step").run()
    save(app, "Never required")
    saved = node(newest(folder), "order")
    assert (saved.when, saved.when_at) == ("1 == 2", "step")


def test_a_condition_that_cannot_be_read_is_refused(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    field(app, "sub_goal_when_").set_value("state.x ==").run()
    assert "cannot be read" in said(app)


def test_calls_need_of_an_action_and_evidence_are_edited(folder: Path, monkeypatch: Patch) -> None:
    app = opened(folder, monkeypatch, graph="desk", sub_goal="order")
    next(one for one in app.number_input if str(one.key).startswith("sub_goal_times")).set_value(2).run()
    field(app, "sub_goal_evidence").set_value("message").run()
    save(app, "Twice")
    saved = node(newest(folder), "order")
    assert (saved.times, saved.evidence) == (2, "message")
    field(app, "sub_goal_kind_of_check").set_value("outcome").run()
    field(app, "sub_goal_needs_action").set_value(False).run()
    save(app, "By its outcome")
    assert node(newest(folder), "order").needs_action is False
