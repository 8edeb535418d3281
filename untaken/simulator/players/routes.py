"""The cheapest way over what is known of the map: walking, digging, bridging (§7)."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Final

from untaken.simulator.players.local_map import (
    COAL,
    DIAMOND,
    GRASS,
    IRON,
    PATH,
    SAND,
    SIDES,
    STONE,
    UNKNOWN,
    WATER,
    LocalMap,
)

_NEAR_LAVA: Final = 6
_MOST_CELLS: Final = 6_000
_DEAREST: Final = 16
"""A cost above that of any single step."""

Costs = bytes


def costs_of(inventory: Mapping[str, int], *, grass: int = 1) -> Costs:
    """Steps that entering each material takes with what is carried; 0 where it cannot be entered."""
    costs = bytearray(16)
    for material in (GRASS, SAND, PATH):
        costs[material] = 1
    costs[GRASS] = grass
    if inventory["wood_pickaxe"]:
        costs[STONE] = costs[COAL] = 2
        if inventory["stone"]:
            costs[WATER] = 5
    if inventory["stone_pickaxe"]:
        costs[IRON] = 2
    if inventory["iron_pickaxe"]:
        costs[DIAMOND] = 2
    return bytes(costs)


def route(
    known_map: LocalMap, costs: Costs, aims: Container[int], *, closed: Container[int] = (), limit: int = 400
) -> list[int] | None:
    """The cheapest way to the nearest of `aims`, itself last, cell by cell; ``None`` if there is none.

    An aim may be a cell that cannot be entered: the way then ends before it, facing it.
    """
    ground, standing, hot = known_map.ground, known_map.standing, known_map.hot
    came: dict[int, int] = {known_map.here: 0}
    # Dial's algorithm: costs are small whole numbers, so a list for each cost does the work of a heap.
    buckets: list[list[int]] = [[] for _ in range(limit + _DEAREST)]
    buckets[0].append(known_map.here)
    best = {known_map.here: 0}
    for cost in range(limit):
        for cell in buckets[cost]:
            if best[cell] != cost:
                continue
            if cell in aims and cell != known_map.here:
                return _traced(came, cell, known_map.here)
            if len(best) > _MOST_CELLS:
                return None
            # An aim at most, no way to another.
            if ground[cell] == UNKNOWN or (cell != known_map.here and not costs[ground[cell]]):
                continue
            for side in SIDES:
                near = (cell + side) & 0xFFFF
                price = costs[ground[near]]
                if near in aims:
                    price = price or 1  # dug at, hit or picked from the cell beside
                elif not price or near in standing or near in closed:
                    continue
                if near in hot:
                    price += _NEAR_LAVA
                total = cost + price
                if total < best.get(near, limit):
                    best[near] = total
                    came[near] = cell
                    buckets[total].append(near)
    return None


def _traced(came: Mapping[int, int], cell: int, start: int) -> list[int]:
    path = [cell]
    while came[cell] != start:
        cell = came[cell]
        path.append(cell)
    path.reverse()
    return path


def frontier(known_map: LocalMap, costs: Costs, weights: bytes) -> list[int] | None:
    """A way to where most that is unknown comes into view for the least cost; ``None`` where all is known."""
    ground, standing, hot = known_map.ground, known_map.standing, known_map.hot
    came: dict[int, int] = {known_map.here: 0}
    best = {known_map.here: 0}
    buckets: dict[int, list[int]] = {0: [known_map.here]}
    chosen, chosen_worth, found, cost = None, 0.0, 0, 0
    # What is farther is worth less, by its cost; without a bound every step would search the whole map.
    while buckets and found < 40:
        for cell in buckets.pop(cost, ()):
            if best[cell] != cost:
                continue
            for side in SIDES:
                near = (cell + side) & 0xFFFF
                if ground[near] == UNKNOWN:
                    worth = weights[ground[cell]] * _unknown(ground, cell) / (cost + 4)
                    found += 1
                    if worth > chosen_worth and cell != known_map.here:
                        chosen, chosen_worth = cell, worth
                    continue
                price = costs[ground[near]]
                if not price or near in standing:
                    continue
                total = cost + price + (_NEAR_LAVA if near in hot else 0)
                if total < best.get(near, 1 << 30):
                    best[near] = total
                    came[near] = cell
                    buckets.setdefault(total, []).append(near)
        cost += 1
    return None if chosen is None else _traced(came, chosen, known_map.here)


def _unknown(ground: bytearray, middle: int) -> int:
    """Cells not yet seen that the view from a cell shows."""
    top = middle - 4 * 256 - 3
    return sum(ground.count(UNKNOWN, at, at + 7) for at in range(top, top + 9 * 256, 256))
