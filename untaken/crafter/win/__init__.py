"""What if not this action: the What-If-Not reward of an action, in a simulator (§7)."""

from untaken.crafter.win.episode import Mistakes, Watched, Watching, found_mistakes, watch
from untaken.crafter.win.evaluate import WinRequest, what_if_not, what_if_not_many
from untaken.crafter.win.interventions import (
    INTERVENTIONS,
    OPPOSITES,
    OPPOSITES_OF_DO,
    opposite,
    possible_actions,
)
from untaken.crafter.win.model import At, Noise, Term, Verdict, WhatIfNot, WinSummary, summarise_wins
from untaken.crafter.win.rewards import REWARDS, Reward, Valuation, register_reward, reward_named

__all__ = [
    "INTERVENTIONS",
    "OPPOSITES",
    "OPPOSITES_OF_DO",
    "REWARDS",
    "At",
    "Mistakes",
    "Noise",
    "Reward",
    "Term",
    "Valuation",
    "Verdict",
    "Watched",
    "Watching",
    "WhatIfNot",
    "WinRequest",
    "WinSummary",
    "found_mistakes",
    "opposite",
    "possible_actions",
    "register_reward",
    "reward_named",
    "summarise_wins",
    "watch",
    "what_if_not",
    "what_if_not_many",
]
