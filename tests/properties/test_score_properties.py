"""What must hold of any score; and on tagged, fully checked runs, that it is the published rule's."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from builders import RunBuilder, a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st
from programs import sent

from untaken.errors import Unscored
from untaken.plans import PlanGraph, ancestors
from untaken.scoring import NodeResult, NodeScore, RunScore, recounted, score_agents, score_run
from untaken.scoring.attempts import Attempt
from untaken.scoring.checks import NodeDecision
from untaken.scoring.compiled import compiled_graph
from untaken.scoring.progress import recovered
from untaken.scoring.run_score import counted_nodes
from untaken.scoring.trace import Trace

IDS = ("a", "b", "c", "d", "e")


# --- the published rule, in its own terms: attempted = tagged, completed = attempted and its check passes ---


@dataclass
class Published:
    attempted: set[str]
    completed: set[str]
    skipped_critical: set[str]
    replans: int


def published_score(steps: list[dict], passes: dict[str, bool], critical: set[str]) -> Published:
    attempted, completed, last_plan, replans = set(), set(), [], 0
    for step in steps:
        plan = step.get("plan", [])
        if last_plan and plan and plan != last_plan:
            replans += 1
        last_plan = plan or last_plan
        name = step.get("sub_goal")
        if name in passes:
            attempted.add(name)
            if passes[name]:
                completed.add(name)
    return Published(attempted, completed, critical - attempted, replans)


def published_report(runs: list[Published], sub_goals: int) -> dict[str, float]:
    n = len(runs)
    return {
        "coverage": sum(len(r.attempted) for r in runs) / (n * sub_goals),
        "completion": sum(len(r.completed) for r in runs) / (n * sub_goals),
        "skipped": sum(1 for r in runs if r.skipped_critical) / n,
        "replans": sum(r.replans for r in runs) / n,
    }


@st.composite
def tagged_steps(draw: st.DrawFn) -> list[dict]:
    step = st.fixed_dictionaries(
        {"sub_goal": st.sampled_from([*IDS, None])},
        optional={"plan": st.lists(st.sampled_from(IDS), max_size=3)},
    )
    # one tagged action, so that attempts are known, and one plan, so that replans are
    return [{"sub_goal": draw(st.sampled_from(IDS)), "plan": ["a"]}, *draw(st.lists(step, max_size=12))]


def recorded(steps: list[dict], passes: dict[str, bool]) -> RunBuilder:
    run = a_run()
    for step in steps:
        if "plan" in step:
            run.plan(*step["plan"])
        run.call("act", step["sub_goal"])
    return run.finish(final_state=passes)


@given(
    st.lists(
        st.tuples(tagged_steps(), st.fixed_dictionaries(dict.fromkeys(IDS, st.booleans()))),
        min_size=1,
        max_size=4,
    ),
    st.sets(st.sampled_from(IDS), min_size=1),
)
def test_on_tagged_fully_checked_runs_the_numbers_are_those_of_the_published_code(runs, critical) -> None:
    graph = a_graph(*({"id": i, "critical": i in critical, "check": {"expr": f"state.{i}"}} for i in IDS))
    published = [published_score(steps, passes, critical) for steps, passes in runs]
    scores = [score_run(recorded(steps, passes).run(), graph) for steps, passes in runs]
    for ours, theirs in zip(scores, published, strict=True):
        assert {n.sub_goal for n in ours.nodes if n.attempted} == theirs.attempted
        assert {n.sub_goal for n in ours.nodes if n.completed} == theirs.completed
        skipped = {n.sub_goal for n in ours.nodes if n.critical and n.status == "skipped"}
        assert skipped == theirs.skipped_critical
        assert ours.replans == theirs.replans
    (agent,) = score_agents(scores)
    want = published_report(published, len(IDS))
    assert agent.coverage == pytest.approx(want["coverage"])
    assert agent.completion == pytest.approx(want["completion"])
    assert agent.critical_path_skipped_rate == pytest.approx(want["skipped"])
    assert agent.replanning_events_per_trace == pytest.approx(want["replans"])


# --- any run, any graph ---


@st.composite
def graphs(draw: st.DrawFn) -> PlanGraph:
    sub_goals = []
    for i, name in enumerate(IDS):
        checks = [
            None,
            {"expr": f"state.{name}"},
            {"expr": f"state.{name}", "on": "step"},
            {"tool_call": {"name": name, "arguments": {"q": 1}}},
            {"verdict": True},
            {"outcome": True},
        ]
        any_of = draw(st.lists(st.sampled_from(IDS[i + 1 :]), unique=True, max_size=2)) if i < 2 else []
        sub_goal = {
            "id": name,
            "deps": draw(st.lists(st.sampled_from(IDS[:i]), unique=True, max_size=3)) if i else [],
            "critical": draw(st.booleans()),
            "rules": [{"tool": name}] if draw(st.booleans()) else [],
            "any_of": any_of,
        }
        check = draw(st.sampled_from(checks))
        sub_goals.append(sub_goal if any_of or check is None else sub_goal | {"check": check})
    return a_graph(*sub_goals)


@st.composite
def runs(draw: st.DrawFn) -> RunBuilder:
    run = a_run()
    name = st.sampled_from(IDS)
    for _ in range(draw(st.integers(0, 10))):
        match draw(st.sampled_from(["call", "tagged", "state", "plan", "verdict", "say"])):
            case "call":
                run.call(draw(name), ok=draw(st.sampled_from([None, True, False])), q=draw(st.integers(1, 2)))
            case "tagged":
                run.call("other", draw(name))
            case "state":
                run.state(**{draw(name): draw(st.sampled_from([True, False, None, 3]))})
            case "plan":
                run.plan(*draw(st.lists(name, max_size=2)))
            case "verdict":
                by = draw(st.sampled_from(["human:a", "human:b", "judge:m", "test"]))
                run.verdict(draw(name), draw(st.sampled_from([True, False, None])), by)
            case "say":
                run.say("hello")
    return run.finish(success=draw(st.sampled_from([True, False, None]))) if draw(st.booleans()) else run


EITHER_RULE = st.sampled_from(["fail", "drop"])
CHOICES = st.sampled_from([(), ("test",), ("human:*",), ("test", "judge:*")])


@given(runs(), graphs(), EITHER_RULE, CHOICES)
def test_a_score_is_consistent_in_itself(run: RunBuilder, graph: PlanGraph, missing, verdicts) -> None:
    score = score_run(run.run(), graph, missing=missing, verdicts=verdicts)
    assert score == score_run(run.run(), graph, missing=missing, verdicts=verdicts)
    assert [node.sub_goal for node in score.nodes] == [node.id for node in graph.sub_goals]
    assert score.completed_with_deps_all <= score.completed_with_deps <= score.completed <= score.required
    assert score.critical_completed <= score.critical <= score.required
    assert score.required + sum(n.status == "not_required" for n in score.nodes) <= len(score.nodes)
    for value in (score.coverage, score.completion, score.critical_completion, score.recovered):
        assert isinstance(value, Unscored) or 0 <= value <= 1
    check_nodes(score, run)


@given(runs(), graphs(), EITHER_RULE, CHOICES)
def test_what_is_counted_is_what_the_detail_says(run, graph, missing, verdicts) -> None:
    score = score_run(run.run(), graph, missing=missing, verdicts=verdicts)
    assert score.results == tuple(as_result(node) for node in score.nodes)
    assert score.counted == tuple(map(as_result, counted_nodes(score.nodes, missing)))


@given(runs(), graphs(), EITHER_RULE, CHOICES)
def test_what_was_recovered_follows_from_the_moments_of_the_detail(run, graph, missing, verdicts) -> None:
    score = score_run(run.run(), graph, missing=missing, verdicts=verdicts)
    tried = {node.sub_goal: Attempt(made=node.attempted, events=node.events) for node in score.nodes}
    decided = {
        node.sub_goal: NodeDecision(completed=node.completed, by="", reason="", at=node.completed_at)
        for node in score.nodes
    }
    assert score.recovered == recovered(compiled_graph(graph), Trace(run.run()), tried, decided)


def as_result(node: NodeScore) -> NodeResult:
    return NodeResult(**{name: getattr(node, name) for name in NodeResult.__struct_fields__})


@given(runs(), graphs())
def test_a_score_sent_to_another_process_is_the_same(run: RunBuilder, graph: PlanGraph) -> None:
    score = score_run(run.run(), graph)
    assert sent(score) == score


def check_nodes(score: RunScore, run: RunBuilder) -> None:
    for node in score.nodes:
        assert node.reason
        assert (node.completed is None) == (node.status == "unscored") or node.status == "not_required"
        assert (node.status == "completed") <= (node.completed is True)
        assert (node.status == "skipped") <= (node.attempted is False)
        assert bool(node.events) <= (node.attempted is True)
        assert node.completed_at is None or node.completed
        assert {*node.events, *node.evidence} <= set(range(len(run.events)))
        by_action = node.decided_by in ("expr", "tool_call")
        assert not (node.completed and by_action) or node.attempted


@given(runs(), graphs(), EITHER_RULE)
def test_the_progress_curve_never_falls_and_never_exceeds_what_was_completed(run, graph, missing) -> None:
    score = score_run(run.run(), graph, missing=missing)
    counts = [count for _, count in score.progress]
    assert counts == sorted(counts)
    assert not counts or counts[-1] <= score.completed
    assert [seq for seq, _ in score.progress] == sorted({seq for seq, _ in score.progress})


@given(runs(), graphs())
def test_a_critical_violation_is_a_reached_sub_goal_with_a_missing_critical_ancestor(run, graph) -> None:
    score = score_run(run.run(), graph)
    before = ancestors(graph)
    want = {
        (node.sub_goal, dep.sub_goal)
        for node in score.nodes
        for dep in score.nodes
        if dep.sub_goal in before[node.sub_goal]
        and node.status != "not_required"
        and (node.attempted or node.completed)
        and dep.critical
        and dep.completed is False
        and dep.status != "not_required"
    }
    found = [(v.sub_goal, v.dependency) for v in score.violations if v.kind == "critical"]
    assert set(found) == want
    assert len(found) == len(want)


@given(runs(), graphs())
def test_dropping_leaves_out_exactly_the_unscored(run: RunBuilder, graph: PlanGraph) -> None:
    fail, drop = (score_run(run.run(), graph, missing=rule) for rule in ("fail", "drop"))
    assert fail.nodes == drop.nodes
    assert (recounted(fail, "drop"), recounted(drop, "fail")) == (drop, fail)
    assert fail.required - drop.required == fail.unscored == drop.unscored
    assert fail.completed == drop.completed


@given(st.lists(st.tuples(runs(), graphs()), max_size=4))
def test_an_agents_counts_are_the_sums_of_its_runs(pairs) -> None:
    scores = [score_run(run.run(), graph) for run, graph in pairs]
    for agent in score_agents(scores):
        assert agent.runs == len(scores)
        assert agent.completed == sum(score.completed for score in scores if score.required)
        assert agent.unscored == sum(score.unscored for score in scores)
        if not isinstance(agent.completion, Unscored):
            assert agent.completion == agent.completed / agent.sub_goals
            assert min(score.completed / score.required for score in scores) <= agent.completion
