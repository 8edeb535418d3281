"""Policies that play Crafter: at random, by script, by script with noise, and by a language model (§7)."""

from untaken.simulator.players.registry import POLICIES as POLICIES, policy_named as policy_named
from untaken.simulator.players.skills import SKILLS as SKILLS
