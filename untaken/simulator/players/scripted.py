"""Policies that carry out skills by script; they differ in how the next skill is chosen (§7)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Final, Self

from untaken.errors import UntakenError
from untaken.simulator.crafter.names import ACHIEVEMENTS, ACTIONS
from untaken.simulator.players.agent_state import AgentState
from untaken.simulator.players.planner import choose, needed
from untaken.simulator.players.skills import EXPLORE, SKILLS, YIELDS, carry_out, feasible
from untaken.simulator.policy import Act, Selection, better

if TYPE_CHECKING:
    from untaken.simulator.policy import Feedback, Seen

PATIENCE: Final = 150
"""Steps after which a skill is given up."""
EXPLORING: Final = 30
SNOOZE: Final = 25
"""Steps for which the same emergency does not interrupt again."""
WAIT: Final = 25
"""Steps to stay in a skill that cannot go on where no other can either; by night as long as it lasts."""
SULK: Final = 60
"""Steps for which a skill that failed is not chosen again."""


class Scripted:
    """Carries out skills by script, and draws the next one with a given probability.

    Args of the constructor are options of `policy_named`.

    Attributes:
        name: as registered.
        exploring: probability that the next skill is drawn among the feasible ones, at a decision point.
        slips: probability that an action is replaced by one drawn at random.
    """

    unanswered = None

    def __init__(self, name: str = "scripted", *, exploring: float = 0.0, slips: float = 0.0) -> None:
        self.name, self.exploring, self.slips = name, exploring, slips
        self.begin(0, None)

    def begin(self, seed: int, task: str | None) -> None:
        """Forgets the last episode. `seed` decides all it draws in the next one."""
        self.reseed(seed)
        self._task, self._agent, self._forced = task, AgentState(), ""
        self._skill, self._since, self._count = "", 0, 0
        self._failed: dict[str, int] = {}
        self._alarm: str | None = None
        self._snooze = self._stuck = 0
        self._answer = self._choice = Act(action="noop")

    @property
    def aim(self) -> str | None:
        """The achievement it pursues now."""
        return self._task or (self._skill if self._skill in ACHIEVEMENTS else None)

    def take(self, skill: str) -> None:
        """Begins `skill` at the next step instead of what it would select.

        Raises:
            UntakenError: ``skill-unknown``.
        """
        if skill not in SKILLS:
            raise UntakenError(
                "skill-unknown", f"there is no skill {skill!r}", hint=f"One of: {', '.join(SKILLS)}."
            )
        self._forced = skill

    def reseed(self, seed: int) -> None:
        """Another `seed` decides all it draws from here on."""
        self._random = Random(f"{self.name} {seed}")

    def clone(self) -> Self:
        """A policy that goes on from here by itself, with all it remembers."""
        twin = object.__new__(type(self))
        # What is not replaced below is never changed in place.
        twin.__dict__.update(self.__dict__)
        twin._random = Random()
        twin._random.setstate(self._random.getstate())
        twin._agent, twin._failed = self._agent.clone(), self._failed.copy()
        return twin

    def act(self, seen: Seen) -> Act:
        """The action for this step."""
        if seen.feedback is not None:
            return self._again(seen.feedback)
        agent = self._agent
        agent.see(seen)
        selection = self._select(seen) if self._over() else None
        action = agent.reflex() if not agent.asleep else "sleep"
        if action is None:
            action, selection = self._proceed(seen, selection)
        self._choice = Act(action=action, selection=selection)
        if self.slips and self._random.random() < self.slips:
            action = self._random.choice(ACTIONS)
        return self._reply(action)

    def _reply(self, action: str) -> Act:
        self._agent.did = action
        self._answer = Act(action=action, selection=self._choice.selection)
        return self._answer

    def _again(self, feedback: Feedback) -> Act:
        """Another action after a low reward: its own in place of a slip, else the best of those tried."""
        if not self._noisy:
            return self._answer
        if feedback.action != self._choice.action:
            return self._reply(self._choice.action)
        return self._reply(better(feedback) or feedback.action)

    @property
    def _noisy(self) -> bool:
        """Whether it acts at random; its own choice is made without randomness."""
        return self.exploring > 0 or self.slips > 0

    # Decision points

    def _over(self) -> bool:
        """Whether the skill has come to its end: success, patience, or something that cannot wait."""
        agent, skill = self._agent, self._skill
        if self._forced or not skill:
            return True
        if agent.asleep:
            return False
        age = agent.step - self._since
        if skill == EXPLORE:
            if age >= EXPLORING:
                return True
        elif agent.achievements[skill] > self._count:
            return True
        elif age >= PATIENCE:
            self._failed[skill] = agent.step + SULK
            return True
        alarm = needed(agent)
        if alarm is None or alarm == skill:
            self._alarm = None
            return False
        if alarm == self._alarm and agent.step < self._snooze:
            return False
        self._alarm, self._snooze = alarm, agent.step + SNOOZE
        return True

    def _select(self, seen: Seen, tried: Sequence[str] = ()) -> Selection:
        agent = self._agent
        best = self._forced or (self._best(tried) if self.exploring < 1 else "")
        pool = self._pool(seen, best, tried)
        # A forced skill was not drawn: estimates that divide by its probability must not find one.
        shares = {} if self._forced or not self.exploring else _shares(pool, best, self.exploring)
        self._skill = self._drawn(shares) if shares else best
        self._forced, self._since = "", agent.step
        self._stuck = 0
        self._count = agent.achievements.get(self._skill, 0)
        agent.way_to = ""  # another skill may give its way the same name
        others = tuple(name for name in pool if name != self._skill)
        return Selection(skill=self._skill, alternatives=others, propensities=shares)

    def _best(self, tried: Sequence[str]) -> str:
        failed = [name for name, until in self._failed.items() if until > self._agent.step]
        return choose(self._agent, self._task, (*failed, *tried))

    def _pool(self, seen: Seen, best: str, tried: Sequence[str]) -> tuple[str, ...]:
        """The skills that may start: its own choice, and feasible ones that serve the task (with causes)."""
        pool = {*feasible(self._agent, wanted=self._task)} - {*tried}
        causes = seen.causes if seen.task is not None else None
        if causes is not None and not causes.unscored:
            named = {*causes.kept, *causes.missing, causes.goal}
            pool = {name for name in pool if name == EXPLORE or not named.isdisjoint((name, *YIELDS[name]))}
        return tuple(name for name in SKILLS if name in pool or name == (best or EXPLORE))

    def _drawn(self, propensities: dict[str, float]) -> str:
        left = self._random.random()
        for name, share in propensities.items():
            left -= share
            if left < 0:
                return name
        return next(reversed(propensities))  # rounded shares may add up to less than 1

    def _proceed(self, seen: Seen, selection: Selection | None) -> tuple[str, Selection | None]:
        """The next action of the skill; another skill where it cannot go on; to wait in it where none can."""
        tried: list[str] = []
        while len(tried) < 4:
            action = carry_out(self._agent, self._skill)
            if action is not None:
                self._stuck = 0
                return action, selection
            if self._stuck and (self._agent.dark or self._agent.step < self._stuck):
                return "noop", selection
            self._failed[self._skill] = self._agent.step + SULK
            tried.append(self._skill)
            selection = self._select(seen, tried)
        self._stuck = self._agent.step + WAIT
        return "noop", selection


def _shares(pool: Sequence[str], best: str, exploring: float) -> dict[str, float]:
    """The probability of each skill of the pool: drawn uniformly, or else the best."""
    return {name: exploring / len(pool) + (1 - exploring) * (name == best) for name in pool}
