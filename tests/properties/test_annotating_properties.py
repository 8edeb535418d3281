"""What holds for every sequence of edits, and for every two people's edits of one graph."""

from __future__ import annotations

from itertools import pairwise

import desk
import msgspec
from builders import a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.analysis.corpus import score_runs
from untaken.analysis.previewing import preview, with_graph
from untaken.errors import UntakenError
from untaken.plans import GraphSet, PlanGraph, SubGoal, diff_graphs, export_graph, parse_graph, validate
from untaken.plans.editing import (
    Add,
    Connect,
    Delete,
    Disconnect,
    Edit,
    Move,
    Rename,
    Session,
    Set,
    SetGraph,
    apply,
    apply_all,
    edits_between,
    merge,
    read_edit,
)

IDS = ["a", "b", "c", "d", "e", "<b>", "e\u202ef"]
ids = st.sampled_from(IDS)
checks = st.sampled_from([None, "outcome", "verdict", {"expr": "state.x == 1"}, {"expr": "state."}, {}])
rules = st.lists(st.sampled_from([{"tool": "search"}, {"tool": "p*"}, {}]), max_size=2)
edits: st.SearchStrategy[Edit] = st.one_of(
    st.builds(
        Add,
        sub_goal=st.builds(SubGoal, id=ids, deps=st.lists(ids, max_size=2, unique=True)),
        at=st.none() | st.integers(-2, 9),
    ),
    st.builds(Rename, sub_goal=ids, id=ids),
    st.builds(Delete, sub_goal=ids),
    st.builds(Connect, dependency=ids, sub_goal=ids),
    st.builds(Connect, dependency=ids, sub_goal=ids),
    st.builds(Disconnect, dependency=ids, sub_goal=ids),
    st.builds(Move, sub_goal=ids, at=st.integers(-2, 9)),
    st.builds(Set, sub_goal=ids, field=st.just("title"), value=st.text(max_size=5)),
    st.builds(Set, sub_goal=ids, field=st.just("critical"), value=st.booleans()),
    st.builds(Set, sub_goal=ids, field=st.just("any_of"), value=st.lists(ids, max_size=2, unique=True)),
    st.builds(Set, sub_goal=ids, field=st.just("deps"), value=st.lists(ids, max_size=3, unique=True)),
    st.builds(Set, sub_goal=ids, field=st.just("check"), value=checks),
    st.builds(Set, sub_goal=ids, field=st.just("rules"), value=rules),
    st.builds(SetGraph, field=st.just("tasks"), value=st.lists(st.sampled_from(["t*", "u"]), max_size=2)),
    st.builds(SetGraph, field=st.just("title"), value=st.text(max_size=5)),
)
BASE = PlanGraph(
    id="g",
    sub_goals=[
        SubGoal(id="a"),
        SubGoal(id="b", deps=["a"]),
        SubGoal(id="c", deps=["a"]),
        SubGoal(id="d", deps=["b", "c"], any_of=["b"]),
    ],
)
steps = st.lists(edits, max_size=14)


def followed(graph: PlanGraph, wanted: list[Edit]) -> list[PlanGraph]:
    """Every graph on the way; what is refused is left out."""
    way = [graph]
    for edit in wanted:
        try:
            way.append(apply(way[-1], edit))
        except UntakenError:
            continue
    return way


def valid(graph: PlanGraph) -> bool:
    return not [found for found in validate(graph) if found.severity == "error"]


@given(steps)
def test_no_sequence_of_edits_leaves_a_graph_that_is_not_valid(wanted: list[Edit]) -> None:
    for graph in followed(BASE, wanted):
        assert valid(graph)
        assert parse_graph(export_graph(graph, "yaml"), name="g.plan.yaml") == graph


@given(edits)
def test_a_command_comes_back_from_its_json(edit: Edit) -> None:
    assert read_edit(msgspec.json.encode(edit)) == edit


@given(steps)
def test_undoing_every_step_gives_back_the_bytes_and_redoing_the_last_graph(wanted: list[Edit]) -> None:
    session = Session.of(BASE)
    for edit in wanted:
        try:
            session = session.edit(edit)
        except UntakenError:
            continue
    last, taken = session, [session]
    while taken[-1].done:
        taken.append(taken[-1].undo())
    assert export_graph(taken[-1].graph, "yaml") == export_graph(BASE, "yaml")
    for later, earlier in pairwise(taken):
        assert export_graph(earlier.redo().graph, "yaml") == export_graph(later.graph, "yaml")
    assert last.graph == taken[0].graph


@given(steps, steps)
def test_the_commands_between_two_graphs_lead_from_one_to_the_other(a: list[Edit], b: list[Edit]) -> None:
    old, new = followed(BASE, a)[-1], followed(BASE, b)[-1]
    after = apply_all(old, edits_between(old, new))
    assert diff_graphs(after, new).equal
    assert [node.id for node in after.sub_goals] == [node.id for node in new.sub_goals]


@given(steps)
def test_merging_with_who_did_nothing_gives_the_other(a: list[Edit]) -> None:
    mine = followed(BASE, a)[-1]
    for merged in (merge(BASE, mine, BASE), merge(BASE, BASE, mine), merge(BASE, mine, mine)):
        assert merged.conflicts == ()
        assert export_graph(merged.graph, "yaml") == export_graph(mine, "yaml")


@given(steps, steps, st.data())
def test_a_merge_is_valid_and_without_conflicts_the_same_from_both_sides(a, b, data) -> None:
    mine, theirs = followed(BASE, a)[-1], followed(BASE, b)[-1]
    merged, other = merge(BASE, mine, theirs), merge(BASE, theirs, mine)
    assert valid(merged.graph)
    assert bool(merged.conflicts) == bool(other.conflicts)
    if not merged.conflicts:
        assert export_graph(merged.graph, "yaml") == export_graph(other.graph, "yaml")
    choices = {c.place: data.draw(st.sampled_from(["mine", "theirs"])) for c in merged.conflicts}
    chosen = merge(BASE, mine, theirs, choices=choices)
    assert valid(chosen.graph)
    first = {conflict.place: conflict.taken for conflict in chosen.conflicts}
    assert {place: first.get(place, side) for place, side in choices.items()} == choices


RUNS = [
    *desk.runs(),
    a_run("odd", agent="odd", task="refund-3").call("p1").call("search", a=1).finish(True).run(),
]
DESK = desk.graphs()
names = st.sampled_from(["order", "policy", "refund", "polite", "new"])
desk_edits: st.SearchStrategy[Edit] = st.one_of(
    st.builds(Add, sub_goal=st.builds(SubGoal, id=names)),
    st.builds(Delete, sub_goal=names),
    st.builds(Rename, sub_goal=names, id=names),
    st.builds(Connect, dependency=names, sub_goal=names),
    st.builds(Set, sub_goal=names, field=st.just("critical"), value=st.booleans()),
    st.builds(Set, sub_goal=names, field=st.just("description"), value=st.text(max_size=3)),
    st.builds(Set, sub_goal=names, field=st.just("any_of"), value=st.lists(names, max_size=2, unique=True)),
    st.builds(Set, sub_goal=names, field=st.just("check"), value=checks),
    st.builds(Set, sub_goal=names, field=st.just("rules"), value=rules),
    st.builds(SetGraph, field=st.just("tasks"), value=st.sampled_from([["refund-1"], ["*"], []])),
)


@given(st.lists(desk_edits, max_size=6), st.sampled_from(["fail", "drop"]))
def test_a_preview_says_what_scoring_everything_again_says(wanted: list[Edit], missing: str) -> None:
    graph = DESK.get("desk")
    assert graph is not None
    edited = followed(graph, wanted)[-1]
    then: GraphSet = with_graph(DESK, edited)
    before, _ = score_runs(RUNS, DESK, missing=missing)  # type: ignore[arg-type]
    after, _ = score_runs(RUNS, then, missing=missing)  # type: ignore[arg-type]
    seen = preview(RUNS, DESK, edited, known=before, missing=missing, seconds=None)  # type: ignore[arg-type]
    want = {
        (run.digest, name): (old.get(name), new.get(name))
        for run in RUNS
        for old, new in [
            [{n.sub_goal: n.status for n in getattr(s[run.digest], "nodes", ())} for s in (before, after)]
        ]
        for name in {*old, *new}
        if old.get(name) != new.get(name)
    }
    assert {(c.digest, c.sub_goal): (c.before, c.after) for c in seen.changes} == want
    assert sum(seen.flows.values()) == len(want)
    for effect in seen.agents:
        whole = [s for s in after.values() if getattr(s, "agent", None) == effect.agent]
        assert (effect.after.completed if effect.after else 0) == sum(s.completed for s in whole)  # type: ignore[union-attr]
