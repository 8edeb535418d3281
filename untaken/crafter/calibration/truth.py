"""The true result of each path: every skill of a decision point, forced in clones (§2c)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple, Self

from untaken.crafter.policy import Act, Policy, Seen
from untaken.crafter.simulator.recording import OPEN_SUCCESS

if TYPE_CHECKING:
    from untaken.crafter.simulator import CrafterWorld

SEEDS = 2**32


class Result(NamedTuple):
    """The result of an episode: whether it succeeded, and how many steps it took."""

    success: bool
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchPoint:
    """The moment just before a decision: the state of world and policy, and the selection that followed.

    Attributes:
        index: of the decision in its run, from 0; `seen`: what the policy was then given.
        skills: the selected one, then the alternatives.
    """

    index: int
    seen: Seen
    skills: tuple[str, ...]
    world: CrafterWorld
    policy: Policy


class ForcedPolicy:
    """A policy that keeps the moment before each of its decisions."""

    def __init__(self, policy: Policy, world: CrafterWorld) -> None:
        self.name, self._policy, self._world = policy.name, policy, world
        self.branch_points: list[BranchPoint] = []

    def begin(self, seed: int, task: str | None) -> None:
        """Starts from the beginning."""
        self._policy.begin(seed, task)
        self.branch_points.clear()

    def act(self, seen: Seen) -> Act:
        """The policy's own answer."""
        before = self._policy.clone()
        answer = self._policy.act(seen)
        if (chosen := answer.selection) is not None:
            self.branch_points.append(
                BranchPoint(
                    index=len(self.branch_points),
                    seen=seen,
                    skills=(chosen.skill, *chosen.alternatives),
                    world=self._world.clone(),
                    policy=before,
                )
            )
        return answer

    @property
    def aim(self) -> str | None:
        """The policy's aim."""
        return self._policy.aim

    def take(self, skill: str) -> None:
        """Does as the policy does."""
        self._policy.take(skill)

    def reseed(self, seed: int) -> None:
        """Does as the policy does."""
        self._policy.reseed(seed)

    def clone(self) -> Self:
        """A witness to a clone of the policy, of the same world."""
        return type(self)(self._policy.clone(), self._world)


def picked(branch_points: Sequence[BranchPoint], points: int, seed: str) -> list[BranchPoint]:
    """A draw of `points` decisions with an alternative, in their order."""
    open_ones = [place for place in branch_points if len(place.skills) > 1]
    drawn = Random(seed).sample(open_ones, min(points, len(open_ones)))
    return sorted(drawn, key=lambda place: place.index)


def forced(place: BranchPoint, skill: str, *, steps: int, noise: int) -> Result | None:
    """The rest of the episode in a clone in which `skill` starts here.

    Args:
        place: where; it is not changed.
        skill: what the policy is made to begin.
        steps: planning horizon of the whole episode.
        noise: seed of all that world and policy draw from here on: the same for each skill of a place, so
            that they are compared under the same luck.

    Returns:
        None if the skill cannot start here and the policy starts another one.
    """
    world, policy, task = place.world.clone(), place.policy.clone(), place.seen.task
    world.reseed(noise)
    policy.reseed(noise)
    policy.take(skill)
    done = 0
    for step in range(place.seen.step, steps):
        seen = (
            place.seen if step == place.seen.step else Seen(observation=world.observe(), task=task, step=step)
        )
        answer = policy.act(seen)
        if not done and (answer.selection is None or answer.selection.skill != skill):
            return None
        outcome, done = world.step(answer.action), step + 1
        if task is not None and task in outcome.unlocked:
            return Result(True, done)
        if outcome.done:
            break
    reached = sum(count > 0 for count in world.observe().achievements.values())
    return Result(task is None and reached >= OPEN_SUCCESS, done)


def truth(
    place: BranchPoint, *, steps: int, draws: int, seed: str
) -> Iterator[tuple[str, tuple[Result, ...]]]:
    """Each skill that can start at the place, with its results under each of the draws."""
    random = Random(seed)
    noises = [random.randrange(SEEDS) for _ in range(draws)]
    for skill in place.skills:
        results = list[Result]()
        for noise in noises:
            if (result := forced(place, skill, steps=steps, noise=noise)) is None:
                break
            results.append(result)
        else:
            yield skill, tuple(results)
