"""The 22 achievements and what each needs, as a plan graph, from the package's own rules (§4, §7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from untaken.plans import Check, PlanGraph, Rule, SubGoal
from untaken.simulator.crafter.world import package_rules

GRAPH_ID: Final = "crafter"


def tech_tree() -> PlanGraph:
    """The plan graph of Crafter.

    A dependency is what the rules make impossible without: using or needing an item depends on the
    achievement that yields it, a thing that must be near on placing it, eating a plant on placing one. Each
    sub-goal is checked by the count in the run's recorded state (``state.achievements``). None is critical:
    the environment enforces every prerequisite, so there is no policy that a run could break.

    Actions map by rules, where a run does not tag them itself: ``make_…`` and ``place_…`` by their names,
    ``do`` by its argument ``facing`` (the material or creature in front), ``sleep`` to waking up.

    Raises:
        UntakenError: ``crafter-extra-missing``.
    """
    constants = package_rules()
    needs, done_by = _needs(constants), _done_by(constants)
    return PlanGraph(
        id=GRAPH_ID,
        title="Crafter: 22 achievements",
        tasks=[f"{GRAPH_ID}-*"],
        sub_goals=[
            SubGoal(
                id=name,
                title=name.replace("_", " ").capitalize(),
                deps=needs.get(name, []),
                check=Check(expr=f"state.achievements.{name} > 0"),
                rules=[done_by[name]],
            )
            for name in constants.achievements
        ],
    )


def _needs(rules: Any) -> dict[str, list[str]]:
    """The achievements that an achievement cannot be reached without, directly."""
    collected = {item: info["require"] for info in rules.collect.values() for item in info["receive"]}
    source = {item: f"collect_{item}" for item in collected} | {item: f"make_{item}" for item in rules.make}

    def sources(items: Mapping[str, int]) -> list[str]:
        return [source[item] for item in items]

    needs = {source[item]: sources(required) for item, required in collected.items()}
    for thing, info in rules.place.items():
        needs[f"place_{thing}"] = sources(info["uses"])
        if info["type"] == "object":
            needs[f"eat_{thing}"] = [f"place_{thing}"]  # what grows was planted: no map begins with a plant
    for item, info in rules.make.items():
        needs[source[item]] = [*sources(info["uses"]), *(f"place_{thing}" for thing in info["nearby"])]
    return needs


def _done_by(rules: Any) -> dict[str, Rule]:
    """The action that serves each achievement."""
    faced = {item: ground for ground, info in rules.collect.items() for item in info["receive"]}
    rule = {f"collect_{item}": _facing(ground) for item, ground in faced.items()}
    for name in rules.achievements:
        verb, _, what = name.partition("_")
        if verb in ("eat", "defeat"):
            rule[name] = _facing(what)
        elif name in rules.actions:  # placed or made; what is collected goes by what is faced
            rule[name] = Rule(tool=name)
    return rule | {"wake_up": Rule(tool="sleep")}


def _facing(what: str) -> Rule:
    return Rule(tool="do", arguments={"facing": what})
