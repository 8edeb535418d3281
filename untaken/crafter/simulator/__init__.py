"""Crafter: a faithful simulator, its tech tree as a plan graph, recorded scores.

Nothing here needs the package ``crafter`` before a world is made or the tech tree is asked for.
"""

from untaken.crafter.simulator.names import ACHIEVEMENTS, ACTIONS, MATERIALS, OBJECTS
from untaken.crafter.simulator.scores import (
    BUDGET_STEPS,
    MethodScore,
    Recording,
    SeedScore,
    crafter_score,
    method_scores,
    read_scores,
)
from untaken.crafter.simulator.tech_tree import tech_tree
from untaken.crafter.simulator.world import CrafterWorld, LocalView, WorldStep

__all__ = [
    "ACHIEVEMENTS",
    "ACTIONS",
    "BUDGET_STEPS",
    "MATERIALS",
    "OBJECTS",
    "CrafterWorld",
    "LocalView",
    "MethodScore",
    "Recording",
    "SeedScore",
    "WorldStep",
    "crafter_score",
    "method_scores",
    "read_scores",
    "tech_tree",
]
