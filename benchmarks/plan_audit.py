"""Planted defects in sound plans: whether the plan audit finds them, and leaves sound sub-goals alone.

The desks are those of `planted`: made up, with agents that are executed, each with one to three causes of
failure, steps in any order that dependencies allow, a harmless step in 25 to 75% of runs, and 3% of outcomes
flipped. Each desk has one sound plan, with checks on the state or on calls and their arguments. Into a copy
of it one defect is planted at a time:

* ``constant``, ``tautology``, ``only there``, ``any call``: checks that say nothing, the last two only that
  something is there, or that a tool was called;
* ``tool``, ``field``: a misspelt tool, a misspelt field of the state;
* ``argument``: a value that is wrong;
* ``needless``: the harmless step, as a critical one;
* ``reversed``: an edge the other way round, where steps go in the order of the plan;
* ``extra edge``: an edge between two steps that need not wait for each other.

A defect is found where its sub-goal or edge is doubtful or blind; a needless sub-goal also where it is
contested. Rivals: sub-goals that fewest successes complete; random ones.

    python benchmarks/plan_audit.py [plans] [first seed]
    python benchmarks/plan_audit.py corrections FOLDER

The second form takes a folder of public records with `tau2_bench` and `tau2_corrections`, and says how well
the doubt about a task goes with a later correction of its plan.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from planted import Desk, Step, executed, made_up

from untaken import convert
from untaken.analysis.auditing import PlanAudit, audit_plans
from untaken.analysis.corpus import score_runs
from untaken.ledger import Run, read_ledger
from untaken.plans import GraphSet, PlanGraph, load_graphs, matches_glob, parse_graph
from untaken.scoring import RunScore

SIZES: Final = (6, 12, 30, 100)
"""Runs of a plan."""
Document = dict[str, Any]


def sound_plan(desk: Desk, rng: random.Random) -> Document:
    """The plan of a desk; the harmless step is no part of it."""
    goals = []
    for step in desk.steps:
        if step.harmless:
            continue
        skilled = any(cause.step == step.name and cause.kind == "skill" for cause in desk.causes)
        by_state = skilled or rng.random() < 0.5
        goals.append(
            {
                "id": step.name,
                "deps": [dep for dep in step.deps if not desk.step(dep).harmless],
                "critical": step.critical,
                "rules": [{"tool": step.name}],
                "check": {"expr": f"state.{step.name}.ok == true"}
                if by_state
                else {"tool_call": {"name": step.name, "arguments": {"unit": "kg"}}},
            }
        )
    mutates = [step.name for step in desk.steps]
    return {"schema": "untaken.plan/1", "id": "desk", "tasks": ["t*"], "mutates": mutates, "sub_goals": goals}


def defects(plan: Document, desk: Desk, rng: random.Random) -> Iterator[tuple[str, str, str, Document]]:
    """Copies of a plan with one defect each: its kind, its sub-goal, of an edge the dependency, the copy."""
    at = rng.randrange(len(plan["sub_goals"]))
    name = plan["sub_goals"][at]["id"]
    spelled = name[:-2] + name[-1] + name[-2] if name[-1] != name[-2] else name + "e"
    checks: dict[str, Document] = {
        "constant": {"expr": rng.choice(("true", "1 == 1", "'a' != 'b'"))},
        "tautology": {"expr": f"state.{name}.ok == state.{name}.ok"},
        "only there": {"expr": f"has(state.{name})"},
        "any call": {"tool_call": {"name": name, "arguments": {}}},
        "tool": {"tool_call": {"name": spelled, "arguments": {"unit": "kg"}}},
        "field": {"expr": f"state.{spelled}.ok == true"},
        "argument": {"tool_call": {"name": name, "arguments": {"unit": "lb"}}},
    }
    for kind, check in checks.items():
        made = deepcopy(plan)
        made["sub_goals"][at]["check"] = check
        if kind == "tool":
            made["sub_goals"][at]["rules"] = []
        yield kind, name, "", made
    harmless = next((step.name for step in desk.steps if step.harmless), None)
    if harmless:
        made = deepcopy(plan)
        check = {"expr": f"state.{harmless}.ok == true"}
        node = {"id": harmless, "critical": True, "rules": [{"tool": harmless}], "check": check}
        made["sub_goals"].append(node)
        yield "needless", harmless, "", made
    yield from _edges(plan, rng)


def _edges(plan: Document, rng: random.Random) -> Iterator[tuple[str, str, str, Document]]:
    edges = [(goal["id"], dep) for goal in plan["sub_goals"] for dep in goal["deps"]]
    by_id = {goal["id"]: place for place, goal in enumerate(plan["sub_goals"])}
    if edges:
        name, dep = rng.choice(edges)
        made = deepcopy(plan)
        made["sub_goals"][by_id[name]]["deps"].remove(dep)
        made["sub_goals"][by_id[dep]]["deps"] = [name]  # its own would make a circle
        for goal in made["sub_goals"]:
            if goal["id"] == name:
                goal["deps"] = []
        yield "reversed", dep, name, made
    before = _ancestors(plan)
    free = [
        (a["id"], b["id"])
        for a in plan["sub_goals"]
        for b in plan["sub_goals"]
        if a["id"] != b["id"] and a["id"] not in before[b["id"]] and b["id"] not in before[a["id"]]
    ]
    if free:
        name, dep = rng.choice(free)
        made = deepcopy(plan)
        made["sub_goals"][by_id[name]]["deps"].append(dep)
        yield "extra edge", name, dep, made


def _ancestors(plan: Document) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for goal in plan["sub_goals"]:  # a desk's steps come after what they need
        found[goal["id"]] = set(goal["deps"]).union(*(found[dep] for dep in goal["deps"]))
    return found


def audited(document: Document, runs: Sequence[Run]) -> PlanAudit:
    """The audit of a plan against runs."""
    graph = parse_graph(json.dumps(document).encode(), name="desk.plan.json")
    return audit_of(GraphSet.of([graph]), runs)


def audit_of(graphs: GraphSet, runs: Sequence[Run]) -> PlanAudit:
    """The same of several plans."""
    scores, _ = score_runs(runs, graphs)
    known = [(run, scores[run.digest]) for run in runs]
    return audit_plans(graphs.graphs, [(run, score) for run, score in known if isinstance(score, RunScore)])


def verdict_of(found: PlanAudit, kind: str, name: str, dependency: str) -> str:
    """What an audit says of the place of a defect."""
    if kind in ("reversed", "extra edge"):
        return next(e.verdict for e in found.edges if (e.sub_goal, e.dependency) == (name, dependency))
    return next(node.verdict for node in found.nodes if node.sub_goal == name)


def desk_of(seed: int) -> tuple[Desk, random.Random]:
    """A desk; its critical steps are never skipped without harm."""
    rng = random.Random(seed)
    desk = made_up(rng, hard=True, family=True, causes=rng.randint(1, 3))
    if all(step.deps == () for step in desk.steps):
        desk = replace(desk, steps=(*desk.steps[:-1], Step(name="x", deps=(), critical=False)))
    return desk, rng


def planted(plans: int, first: int) -> None:
    """Prints how often each kind of defect is found, by the number of runs."""
    found: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    sound: defaultdict[int, Counter[str]] = defaultdict(Counter)
    edges: defaultdict[int, Counter[str]] = defaultdict(Counter)
    seconds = runs_audited = 0.0
    for seed in range(first, first + plans):
        desk, rng = desk_of(seed)
        with TemporaryDirectory() as folder:
            every, _ = executed(desk, rng, Path(folder), runs=125)
        rng.shuffle(every)
        plan = sound_plan(desk, rng)
        kinds = list(defects(plan, desk, rng))
        for size in SIZES:
            runs = every[:size]
            began = time.process_time()
            whole = audited(plan, runs)
            seconds += time.process_time() - began
            runs_audited += len(runs)
            sound[size].update(node.verdict for node in whole.nodes)
            edges[size].update(edge.verdict for edge in whole.edges)
            for kind, name, dependency, made in kinds:
                found[kind, size][verdict_of(audited(made, runs), kind, name, dependency)] += 1
    rate = 100 * seconds / runs_audited
    print(f"{plans} plans, seeds {first} to {first + plans - 1}; {rate:.2f} CPU s / 100 runs")
    for kind in dict.fromkeys(kind for kind, _ in found):
        cells = [f"{size:>3}: {_share(found[kind, size], kind)}" for size in SIZES]
        print(f"{kind:>12}  " + "  ".join(cells))
    for what, counts in (("sound nodes", sound), ("sound edges", edges)):
        for size in SIZES:
            wrong = counts[size]["doubtful"] + counts[size]["blind"]
            total = counts[size].total()
            print(f"{what} flagged at {size}: {wrong} of {total} ({wrong / total:.3f})  {dict(counts[size])}")


def _share(verdicts: Counter[str], kind: str) -> str:
    right = verdicts["doubtful"] + verdicts["blind"] + (verdicts["contested"] if kind == "needless" else 0)
    return f"{right / verdicts.total():.2f} of {verdicts.total()}"


def corrections(folder: Path) -> None:
    """Prints how the doubt about a task's plan goes with its later correction."""
    known = json.loads((folder / "tau2_corrections" / "airline.json").read_text())
    later = {one["task"]: one for one in known["corrected"]}
    with TemporaryDirectory() as out:
        convert(None, [folder / "tau2_bench"], out)
        graphs = load_graphs(Path(out) / "graphs")
        runs = [r for path in sorted(Path(out).rglob("*.jsonl")) for r in read_ledger(path, strict=False)[0]]
        found = audit_of(graphs, [run for run in runs if "airline" in run.task_id])
    tasks = [(task.task_id.rsplit("-", 1)[-1], task) for task in found.tasks]
    truth = [name in later for name, _ in tasks]
    rng = random.Random(1)
    plans = {graph.id: graph for graph in graphs.graphs}
    rivals = {
        "doubt": [task.doubt for _, task in tasks],
        "lowest pass rate": [1 - task.passed for _, task in tasks],
        "plan without a write": [float(not _writes(plans[task.graph])) for _, task in tasks],
        "random": [rng.random() for _ in tasks],
    }
    print(f"{len(tasks)} tasks of {len({t.graph for _, t in tasks})} plans, {sum(truth)} corrected later")
    for name, values in rivals.items():
        value, low, high = auc(values, truth, rng)
        print(f"  {name:<22} AUC {value:.2f} ({low:.2f} to {high:.2f})")
    for name, task in tasks:
        if name in later:
            proposed = [(write.tool, dict(write.arguments)) for write in task.proposed or ()]
            after = [
                (call["name"], call["arguments"])
                for call in later[name]["actions_after"]
                if any(call["name"].startswith(verb) for verb in ("book", "cancel", "update", "send"))
            ]
            same = sorted(map(repr, proposed)) == sorted(map(repr, after))
            print(f"  task {name}: doubt {task.doubt:.2f}; proposed edit is the correction: {same}")


def _writes(plan: PlanGraph) -> bool:
    calls = [node.check.tool_call.name for node in plan.sub_goals if node.check and node.check.tool_call]
    return any(matches_glob(glob, call) for call in calls for glob in plan.mutates)


def auc(values: Sequence[float], truth: Sequence[bool], rng: random.Random) -> tuple[float, float, float]:
    """Area under the curve with the 95% interval of 2,000 resamples of tasks."""

    def area(places: Sequence[int]) -> float | None:
        yes = [values[at] for at in places if truth[at]]
        no = [values[at] for at in places if not truth[at]]
        if not yes or not no:
            return None
        return sum((a > b) + (a == b) / 2 for a in yes for b in no) / (len(yes) * len(no))

    everything = list(range(len(values)))
    draws = (area(rng.choices(everything, k=len(values))) for _ in range(2000))
    spread = sorted(one for one in draws if one is not None)
    value = area(everything)
    assert value is not None
    return value, spread[len(spread) // 40], spread[-len(spread) // 40]


if __name__ == "__main__":
    if sys.argv[1:2] == ["corrections"]:
        corrections(Path(sys.argv[2]))
    else:
        numbers = [int(each) for each in sys.argv[1:]] + [100, 1][len(sys.argv) - 1 :]
        planted(*numbers)
