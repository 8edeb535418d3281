"""Which sub-goal of a run failed first, and how much it holds up."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from builders import a_graph, a_run

from untaken.fix_first.blame import frontier, shape_of
from untaken.subgoals import RunScore, score_run


def goal(name: str, *deps: str, **fields: Any) -> dict[str, Any]:
    """A sub-goal that a person judges."""
    return {"id": name, "deps": list(deps), "check": {"verdict": True}} | fields


def star(name: str, *deps: str, **fields: Any) -> dict[str, Any]:
    return goal(name, *deps, critical=True, **fields)


def group(name: str, options: list[str], *deps: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "deps": list(deps), "any_of": options} | fields


def judged(graph: Any, verdicts: str) -> RunScore:
    """A run of which ``a+`` was met, ``b-`` was not, and nobody said anything of the others.

    ``b~``: not met, and something was tried.
    """
    run = a_run().call("look round")
    for word in verdicts.split():
        if word[-1] == "~":
            run.call("try", word[:-1])
        run.verdict(word[:-1], word[-1] == "+")
    return score_run(run.finish().run(), graph)


class Case(NamedTuple):
    desc: str
    goals: list[dict[str, Any]]
    verdicts: str
    want: dict[str, float]


CHAIN = [star("a"), star("b", "a"), star("c", "b")]
CASES = [
    Case("nothing failed", CHAIN, "a+ b+ c+", {}),
    Case("the first of a chain takes the blame for all of it", CHAIN, "a- b- c-", {"a": 1.0}),
    Case("what was completed before it is not lost", CHAIN, "a+ b- c-", {"b": 2 / 3}),
    Case("completed behind a failure: not held up by it", CHAIN, "a- b+ c+", {"a": 1 / 3}),
    Case(
        "behind a completed one, it failed on its own account", CHAIN, "a- b+ c-", {"a": 2 / 3, "c": 1 / 3}
    ),
    Case("unscored is not failed", CHAIN, "a+ c+", {}),
    Case("behind an unscored one that nothing holds up, it failed first", CHAIN, "a+ c-", {"c": 1 / 3}),
    Case("behind an unscored one that is held up, it is held up too", CHAIN, "a- c-", {"a": 2 / 3}),
    Case(
        "a non-critical one is listed for the critical ones behind it",
        [goal("a"), star("b", "a"), star("c")],
        "a- b- c+",
        {"a": 1 / 2},
    ),
    Case(
        "a non-critical one that holds up nothing critical gains nothing",
        [star("a"), goal("b", "a")],
        "a+ b-",
        {"b": 0.0},
    ),
    Case(
        "without critical ones all required ones count",
        [goal("a"), goal("b", "a"), goal("c"), goal("d")],
        "a- b- c- d+",
        {"a": 2 / 4, "c": 1 / 4},
    ),
    Case("two causes of one failure are both named", [star("a"), star("b"), star("c", "a", "b")], "a- b- c-",
         {"a": 2 / 3, "b": 2 / 3}),
    Case(
        "the option that was tried is to blame for its group",
        [goal("x"), goal("y"), group("g", ["x", "y"], critical=True), star("z", "g")],
        "x~ y- z-",
        {"x": 1.0},
    ),
    Case(
        "a group of which no option was tried failed by itself",
        [goal("x"), goal("y"), group("g", ["x", "y"], critical=True), star("z", "g")],
        "x- y- z-",
        {"g": 1.0},
    ),
    Case(
        "a group whose every option is held up is held up",
        [goal("a"), goal("x", "a"), goal("y", "a"), group("g", ["x", "y"], critical=True)],
        "a- x- y-",
        {"a": 1.0},
    ),
    Case(
        "an option that was not used holds nobody up",
        [goal("x"), goal("y"), group("g", ["x", "y"]), star("z", "x")],
        "y+ x- z-",
        {"z": 1.0},
    ),
    Case(
        "an option that needs its own group does not make a circle",
        [star("x", "g"), group("g", ["x"], critical=True)],
        "x~",
        {"g": 1.0},
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.desc)
def test_blame_goes_to_what_failed_first(case: Case) -> None:
    options = {option for node in case.goals for option in node.get("any_of", ())}
    rules = [{**n, "rules": [{"tool": f"use-{n['id']}"}]} if n["id"] in options else n for n in case.goals]
    graph = a_graph(*rules)
    found = frontier(judged(graph, case.verdicts), shape_of(graph))
    assert {first.node.sub_goal: pytest.approx(first.much) for first in found} == case.want
