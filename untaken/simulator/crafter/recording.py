"""An episode as a run of a ledger, so that it is scored, ranked and evaluated like any other (§1 to §5, §7).

- SKILL_SELECTION where the policy begins a skill, with alternatives, `context_layers` and propensities.
- TOOL_CALL for what acts on the world, by the action's name; ``do`` says what it faced. The same call over
  and over is one, with how many `times`; moves and waits in a row are one call ``move``, counted by
  direction. A call's id names the step it began at.
- A ``move`` is tagged with what is pursued; all else is left to the rules of the tech tree, because what
  an action serves is not always what it was done for.
- OBSERVATION says what changed, and whether the call did what it is there for: unknown of moves, and of
  blows, whose effect is not seen before the last. A call of which neither is known has none.
- STATE holds achievements and items by amount.
- PLAN is written where an aim is left before it was reached, and for the first aim.
- MESSAGE where a language model gave no usable answer: why, and that the policy waited.
- The outcome: the task was reached; in open play, `OPEN_SUCCESS` achievements were. An episode costs nothing
  that has a price, so its cost is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import Struct

from untaken.ledger import LedgerWriter, Message, Observation, Plan, RunFinished, RunWriter, State, ToolCall
from untaken.simulator.crafter.contexts import context_layers, facing
from untaken.simulator.crafter.names import ACHIEVEMENTS
from untaken.simulator.crafter.tech_tree import GRAPH_ID
from untaken.simulator.crafter.world import LocalView as View
from untaken.simulator.loop import Episode, Turn

OPEN: Final = "open"
"""The task of open play, where the policy sets its own aims."""
OPEN_SUCCESS: Final = 12
"""Achievements, of 22, from which on open play counts as a success."""
STEP: Final = timedelta(seconds=1)
"""What a step takes on the clock of a recorded run."""

_MOVE: Final = "move"
_CHANCE: Final = frozenset({"grass"})
"""Faced by ``do``, it yields something only now and then: doing it again is no mistake."""
_UNSEEN: Final = frozenset({"cow", "zombie", "skeleton", "plant"})
"""Faced by ``do``, the effect of a single blow is not seen."""


def task_id(task: str | None, seed: int) -> str:
    """The task of a run: what is to be done, and in which world."""
    return f"{GRAPH_ID}-{task or OPEN}-seed{seed}"


def succeeded(episode: Episode) -> bool:
    """The outcome of a run: the task was reached; in open play, `OPEN_SUCCESS` achievements were."""
    if episode.task is None:
        return len(episode.unlocked) >= OPEN_SUCCESS
    return episode.task in episode.unlocked


class StepClock:
    """Time as a recorded run tells it: the moment it began, and `STEP` for each step done."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def __call__(self) -> datetime:
        """The moment."""
        return self.now


class _Call(Struct, kw_only=True):
    """A call that may still go on."""

    step: int
    tool: str
    facing: str | None
    aim: str | None
    before: View
    after: View
    counts: Counter[str] = msgspec.field(default_factory=Counter)
    effects: set[bool | None] = msgspec.field(default_factory=set)
    unlocked: list[str] = msgspec.field(default_factory=list)

    def arguments(self) -> dict[str, Any]:
        """Its form in the ledger."""
        if self.tool == _MOVE:
            return dict(sorted(self.counts.items()))
        times = self.counts.total()
        fields: dict[str, Any] = {} if self.facing is None else {"facing": self.facing}
        return fields if times == 1 else fields | {"times": times}

    def change_words(self) -> str:
        """What changed over it, in words."""
        before, after = self.before.inventory, self.after.inventory
        changed = {name: after[name] - amount for name, amount in before.items() if after[name] != amount}
        changes = [f"{name} {change:+d}" for name, change in changed.items()]
        return "; ".join((*changes, *(f"unlocked {name}" for name in self.unlocked)))

    @property
    def ok(self) -> bool | None:
        """Whether it did what it is there for, at least once; ``None`` where that is not seen."""
        return True if True in self.effects else False if False in self.effects else None


class RunRecorder:
    """Writes a run, turn by turn.

    recorder = RunRecorder(ledger, clock, run_id="r1", agent="scripted", task=None, seed=3)
    recorder.finish(play(world, policy, task=None, steps=500, seed=3, record=recorder.turn))
    """

    def __init__(
        self,
        ledger: LedgerWriter,
        clock: StepClock,
        *,
        run_id: str,
        agent: str,
        task: str | None,
        seed: int,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Begins the run.

        Raises:
            UntakenError: as `LedgerWriter.start`.
        """
        self._clock = clock
        self._task = task
        self._run: RunWriter = ledger.start(
            run_id=run_id,
            agent=agent,
            task_id=task_id(task, seed),
            graph=GRAPH_ID,
            kind="agent",
            metadata={"seed": seed, "task": task or OPEN, "success": success_rule(task), **(metadata or {})},
        )
        self._state: dict[str, dict[str, int]] = {"achievements": dict.fromkeys(ACHIEVEMENTS, 0)}
        self._begun = False
        self._call: _Call | None = None
        self._aim: str | None = None

    def turn(self, turn: Turn) -> None:
        """Writes what a turn decided, and what it did as soon as that is over."""
        if not self._begun:
            self._begun = True
            self._state |= {"items": _items(turn.seen)}
            self._run.write(State, state={part: dict(amounts) for part, amounts in self._state.items()})
        if turn.aim != self._aim:
            self._turn_to(turn.aim, turn.seen)
        if turn.selection is not None:
            self._end_call()
            finest, *coarser = context_layers(turn.seen)
            self._run.choose(
                turn.selection.skill,
                turn.selection.alternatives,
                finest,
                coarser=coarser,
                propensities=turn.selection.propensities or None,
            )
        for reason in filter(None, (turn.unanswered, turn.unanswered_again)):
            self._end_call()
            self._run.write(Message, role="system", content=f"no usable answer, so it waits: {reason}")
        self._act(turn)
        self._clock.now += STEP

    def finish(self, episode: Episode) -> None:
        """Ends the run with its outcome."""
        self._end_call()
        success = succeeded(episode)
        # Open play goes on after its success: it ends by death or by its steps.
        over = success if episode.task else False
        silent = {} if episode.unanswered is None else {"unanswered": float(episode.unanswered)}
        self._run.write(
            RunFinished,
            success=success,
            steps=episode.steps,
            metrics={
                "achievements": float(len(episode.unlocked)),
                "return": round(episode.total, 6),
                "died": episode.dead,
                "asked_again": float(episode.asked_again),
                "revised": float(episode.revised),
                **silent,
            },
            limit=None if over or episode.dead else "steps",
        )

    def _turn_to(self, aim: str | None, seen: View) -> None:
        left, self._aim = self._aim, aim
        # The aim after one that was reached is no change of the plan.
        if aim is None or (left is not None and seen.achievements.get(left, 0) > 0):
            return
        self._end_call()
        reason = None if left is None else f"{left} was left before it was reached"
        self._run.write(Plan, sub_goals=[aim], reason=reason)

    def _act(self, turn: Turn) -> None:
        moves = turn.action.startswith("move_") or turn.action == "noop"
        tool = _MOVE if moves else turn.action
        faced = facing(turn.seen) if turn.action == "do" else None
        aim = turn.aim if moves and turn.aim in ACHIEVEMENTS else None
        call = self._call
        if call is None or (call.tool, call.facing, call.aim) != (tool, faced, aim):
            self._end_call()
            call = self._call = _Call(
                step=turn.step, tool=tool, facing=faced, aim=aim, before=turn.seen, after=turn.after
            )
        call.counts[turn.action.removeprefix("move_") if moves else tool] += 1
        call.effects.add(_effect(turn, faced))
        call.unlocked.extend(turn.outcome.unlocked)
        call.after = turn.after

    def _end_call(self) -> None:
        call, self._call = self._call, None
        if call is None:
            return
        call_id = f"step-{call.step}"
        self._run.write(
            ToolCall, call_id=call_id, tool=call.tool, arguments=call.arguments(), sub_goal=call.aim
        )
        ok, change_words = call.ok, call.change_words()
        if change_words or ok is not None:
            chance = ok is False and call.facing in _CHANCE  # doing it again may help
            self._run.write(
                Observation,
                call_id=call_id,
                ok=ok,
                transient=True if chance else None,
                content=change_words or "nothing changed",
            )
        self._write_state(call.after)

    def _write_state(self, seen: View) -> None:
        now = {"achievements": seen.achievements, "items": _items(seen)}
        patch: dict[str, Any] = {}
        for part, amounts in now.items():
            before = self._state[part]
            changed: dict[str, Any] = {n: a for n, a in amounts.items() if before.get(n) != a}
            changed |= {name: None for name in before if name not in amounts}  # null removes it
            if changed:
                patch[part] = changed
            self._state[part] = dict(amounts)
        if patch:
            self._run.write(State, state=patch)


def success_rule(task: str | None) -> str:
    """What counts as the success of a run, in words."""
    return f"{task} reached" if task else f"{OPEN_SUCCESS} or more of {len(ACHIEVEMENTS)} achievements"


def _items(seen: View) -> dict[str, int]:
    return {name: amount for name, amount in seen.inventory.items() if amount}


def _effect(turn: Turn, faced: str | None) -> bool | None:
    """Whether an action did what it is there for: by the counts that it raises."""
    # Asleep, it only sleeps.
    if turn.action.startswith("move_") or turn.action == "noop" or turn.seen.sleeping:
        return None
    before, after = turn.seen.achievements, turn.after.achievements
    if any(after[name] > before[name] for name in after):
        return True
    if turn.action == "sleep":
        return turn.after.sleeping
    return None if faced in _UNSEEN else False
