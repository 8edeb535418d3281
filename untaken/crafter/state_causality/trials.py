"""Tests of causal edges: one cause is changed in clones, and the effect is observed (§7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from untaken import stats
from untaken.crafter.simulator import ACHIEVEMENTS, CrafterWorld, LocalView
from untaken.crafter.state_causality.causal_state import STAY_ALIVE, CausalEdge, CausalState
from untaken.crafter.state_causality.isolated_world import in_isolation, intervene, setting_of
from untaken.crafter.state_causality.mechanisms import mechanisms
from untaken.crafter.state_causality.variables import SEEN, faced

if TYPE_CHECKING:
    from collections.abc import Sequence

DRAWS: Final = 16
LEVEL: Final = 0.01
"""Two-sided p of the sign test at which an effect is taken for shown."""

_DONE: Final = {"": "noop", "move": "move_right"}
"""What is done for a mechanism that has no action of one name."""

Found = Literal["effect", "no effect", "not tried"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeTrial:
    """The result for one edge.

    Attributes:
        edge: as it was before.
        found: ``effect`` where the cause changed the effect, by the sign test.
        draws: pairs of clones, each pair with random numbers of its own; 0 where it was not tried.
        higher: pairs in which the effect was higher after the intervention; `lower`: in which it was lower.
        p: two-sided, of the exact sign test; 1 where nothing differed.
        reason: in words.
    """

    edge: CausalEdge
    found: Found
    draws: int = 0
    higher: int = 0
    lower: int = 0
    p: float = 1.0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCauses:
    """A causal state whose edges were tried.

    Attributes:
        causes: with ``tested`` for each edge that had an effect.
        trials: one an edge, in their order.
    """

    causes: CausalState
    trials: tuple[EdgeTrial, ...]


def try_edges(world: CrafterWorld, causes: CausalState, *, draws: int = DRAWS, seed: int = 0) -> TriedCauses:
    """Tries each edge of a causal state in clones.

    A ``rule`` edge is tried where its mechanism has all it needs (`in_isolation`): the same actions and
    the same random numbers, once with the cause as it is, once after do(cause). A ``policy-mediated`` edge
    is tried in the world as it is: with the action given, do(cause) must change nothing at the next step.
    Whichever changed its effect becomes ``tested``.

    Args:
        world: is cloned, and stays as it is.
        causes: of `SymbolicCausality`; edges of a concept that is no mechanism are not tried.
        draws: pairs of clones for each edge.
        seed: decides their random numbers.
    """
    trials = tuple(_try(world, edge, causes, range(seed, seed + draws)) for edge in causes.edges)
    shown = [_shown(trial) for trial in trials]
    return TriedCauses(causes=msgspec.structs.replace(causes, edges=tuple(shown)), trials=trials)


def _try(world: CrafterWorld, edge: CausalEdge, causes: CausalState, seeds: Sequence[int]) -> EdgeTrial:
    mechanism = mechanisms().get(edge.concept)
    if mechanism is None:
        return EdgeTrial(edge=edge, found="not tried", reason="no mechanism is known that could be set up")
    if edge.kind != "policy-mediated":
        setting = setting_of(mechanism)
        base = in_isolation(world, mechanism, edge.cause)
        actions = [setting.action] * (setting.quick if edge.cause in mechanism.helps else setting.steps)
        amount = setting.otherwise.get(edge.cause, 0)
    elif edge.cause in (*causes.missing, *causes.absent):
        return EdgeTrial(edge=edge, found="not tried", reason="the cause is not in this state")
    else:
        base, actions, amount = world, [_DONE.get(mechanism.action, mechanism.action)], 0
        actions = ["noop"] if mechanism.mediated else actions
    return _judged(edge, [_pair(base, edge, actions, amount, seed) for seed in seeds])


def _pair(
    base: CrafterWorld, edge: CausalEdge, actions: Sequence[str], amount: int, seed: int
) -> tuple[float, float]:
    """The effect as it is, and after do(cause), with the same actions and the same random numbers."""
    as_it_is, changed = base.clone(), base.clone()
    intervene(changed, edge.cause, amount)
    for arm in (as_it_is, changed):
        arm.reseed(seed)
    return _effect(as_it_is, edge.effect, actions), _effect(changed, edge.effect, actions)


def _effect(world: CrafterWorld, effect: str, actions: Sequence[str]) -> float:
    """Its value in the end; of things in view their number, over all steps. The dead do nothing."""
    total, in_view = 0.0, effect.startswith("near_")
    for action in actions:
        over = world.step(action).done
        total += _value(effect, world.observe()) if in_view else 0
        if over:
            break
    return total if in_view else _value(effect, world.observe())


def _value(effect: str, seen: LocalView) -> float:
    if effect in ACHIEVEMENTS:
        return float(seen.achievements[effect])
    if effect == "sleeping":
        return float(seen.sleeping)
    if effect == "facing":
        return float(SEEN.index(faced(seen)))
    if effect.startswith("near_"):
        return float(sum(column.count(SEEN.index(effect)) for column in seen.semantic))
    return float(seen.inventory["health" if effect == STAY_ALIVE else effect])


def _judged(edge: CausalEdge, pairs: Sequence[tuple[float, float]]) -> EdgeTrial:
    higher, lower = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    p = min(1.0, 2 * stats.sign_p(max(higher, lower), min(higher, lower)))
    shown = p <= LEVEL
    return EdgeTrial(
        edge=edge,
        found="effect" if shown else "no effect",
        draws=len(pairs),
        higher=higher,
        lower=lower,
        p=p,
        reason=f"higher in {higher}, lower in {lower} of {len(pairs)} pairs of clones (p = {p:.2g})",
    )


def _shown(trial: EdgeTrial) -> CausalEdge:
    if trial.found != "effect":
        return trial.edge
    reason = f"{trial.edge.reason}; {trial.reason}"[:300]
    return msgspec.structs.replace(trial.edge, kind="tested", reason=reason)
