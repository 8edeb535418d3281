"""The shaped reward: what is missing, the way to it, the body; a task is done by its counter."""

from __future__ import annotations

import pytest
from crafter_worlds import walked
from msgspec.structs import replace
from test_win_interventions import facing

from untaken.simulator.crafter import ACHIEVEMENTS, MATERIALS, LocalView
from untaken.simulator.win import what_if_not
from untaken.simulator.win.cost_to_go import DEATH, REACHED, REST, UNIT, CostToGo
from untaken.simulator.win.ways import UNSEEN, Ways


def cost(seen: LocalView, task: str | None, start: LocalView | None = None) -> float:
    return CostToGo(start or seen, task).of(walked(), seen)


def with_tree(at: tuple[int, int], *, ground: str = "grass", **inventory: int) -> LocalView:
    """A meadow with a tree at ``[x][y]``, the player in the middle facing right."""
    seen = facing(ground, **inventory)
    materials = [list(column) for column in seen.materials]
    materials[at[0]][at[1]] = MATERIALS.index("tree") + 1
    return replace(seen, materials=tuple(map(tuple, materials)))


@pytest.mark.parametrize(
    ("at", "steps"), [((5, 3), 0), ((3, 3), 1), ((4, 2), 1), ((6, 3), 2), ((8, 3), 4), ((0, 0), 7)]
)
def test_a_way_ends_in_front_of_the_thing(at: tuple[int, int], steps: float) -> None:
    assert Ways(with_tree(at)).to("tree") == steps
    assert cost(with_tree(at), "collect_wood") == UNIT + steps


def test_a_way_goes_round_what_cannot_be_walked_on() -> None:
    assert Ways(with_tree((6, 3), ground="lava")).to("tree") == 4
    assert Ways(with_tree((6, 3), ground="lava", stone=1)).to("tree") == 4
    assert Ways(with_tree((6, 3), ground="stone", wood_pickaxe=1)).to("tree") == 3


@pytest.mark.parametrize(
    ("task", "seen", "want"),
    [
        ("place_table", facing("tree"), 3 * UNIT),  # two of wood, and the table
        ("place_table", facing("tree", wood=1), 2 * UNIT),
        ("place_table", facing("grass", wood=2), UNIT),
        ("make_wood_pickaxe", facing("table", wood=1), UNIT),
        ("make_wood_pickaxe", facing("tree"), 5 * UNIT),  # three of wood, the table, the pickaxe
        ("collect_stone", facing("stone", wood_pickaxe=1), UNIT),
        ("make_stone_pickaxe", facing("table", wood=1, stone=1), UNIT),
        ("eat_cow", facing("cow"), UNIT + 3),
        ("eat_cow", facing("cow", iron_sword=1), UNIT + 1),
        ("wake_up", facing("grass", energy=8), UNIT + 1 + REST + 1 / 9),
    ],
)
def test_what_a_task_takes_follows_the_tech_tree(task: str, seen: LocalView, want: float) -> None:
    assert cost(seen, task) == pytest.approx(want)


def test_in_open_play_anything_new_is_worth_more_than_any_way() -> None:
    seen = facing("tree")
    reached = replace(seen, achievements=seen.achievements | {"collect_wood": 1})
    assert cost(seen, None) - cost(reached, None, seen) > REACHED / 2
    done = replace(seen, achievements=dict.fromkeys(ACHIEVEMENTS, 1))
    assert cost(done, None) == 0


def test_the_body_counts_in_every_task() -> None:
    fine = cost(facing("tree"), "collect_wood")
    assert cost(facing("tree", health=7), "collect_wood") == pytest.approx(fine + 4 / 9)
    assert cost(facing("tree", drink=3), "collect_wood") == pytest.approx(fine + 36 / 9 + UNSEEN)
    assert cost(facing("tree", health=0), "collect_wood") == pytest.approx(fine + 9 + DEATH)
    asleep = replace(facing("tree", energy=7), sleeping=True)
    assert cost(asleep, "collect_wood") == pytest.approx(fine + 4 / 9 + 2 * REST)


def test_going_to_what_the_task_needs_is_better_and_away_from_it_worse() -> None:
    world = walked()
    ways = Ways(world.observe())
    found = {
        move: what_if_not(world, move, task="collect_wood", interventions=["wait"])
        for move in ("move_left", "move_right", "move_up", "move_down")
    }
    assert ways.shows("tree")
    for move, one in found.items():
        after = world.clone()
        after.step(move)
        saved = ways.to("tree") - Ways(after.observe()).to("tree")
        assert one.reward == pytest.approx(saved), move
        assert one.verdict == ("better" if saved > 0 else "worse" if saved < 0 else "tie")
    assert {one.verdict for one in found.values()} >= {"better", "worse"}
