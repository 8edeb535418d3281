"""An episode as a run: intact, scored on the tech tree by what was reached, with decisions in layers."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import pytest
from crafter_worlds import AREA, SEED, some_actions, walked

from untaken.ledger import LedgerWriter, Observation, Plan, Run, RunFinished, read_ledger
from untaken.scoring import score_run
from untaken.simulator.crafter import ACHIEVEMENTS, CrafterWorld, tech_tree
from untaken.simulator.crafter.contexts import LAYERS, context_layers
from untaken.simulator.crafter.recording import OPEN_SUCCESS, RunRecorder, StepClock, succeeded
from untaken.simulator.loop import Episode, Turn, WinSettings, play
from untaken.simulator.players import policy_named
from untaken.simulator.policy import Act, Policy, Seen

START = datetime(2026, 3, 2, tzinfo=UTC)
MOVES = ("noop", "move_left", "move_right", "move_up", "move_down")


class Reads:
    """Does what is written, for the aims that are written."""

    name = "reads"

    def __init__(self, actions: Sequence[str], aims: Sequence[str | None]) -> None:
        self.actions, self.aims, self.step = actions, aims, 0

    def begin(self, seed: int, task: str | None) -> None:
        pass

    def act(self, seen: Seen) -> Act:
        self.step = seen.step
        return Act(action=self.actions[seen.step])

    @property
    def aim(self) -> str | None:
        return self.aims[self.step]

    def take(self, skill: str) -> None:
        """What is written has no skills to choose from."""

    def clone(self) -> Self:
        return deepcopy(self)


def recorded(
    folder: Path,
    policy: Policy,
    steps: int,
    *,
    task: str | None = None,
    win: WinSettings | None = None,
    world: CrafterWorld | None = None,
) -> tuple[Run, Episode, list[Turn]]:
    turns: list[Turn] = []
    clock = StepClock(START)
    with LedgerWriter(folder / "run.jsonl", clock=clock) as ledger:
        run = RunRecorder(ledger, clock, run_id="r", agent=policy.name, task=task, seed=SEED)

        def record(turn: Turn) -> None:
            run.turn(turn)
            turns.append(turn)

        episode = play(world or walked(), policy, task=task, steps=steps, win=win, seed=SEED, record=record)
        run.finish(episode)
    (read,) = read_ledger(folder / "run.jsonl")
    return read, episode, turns


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Episode, list[Turn]]:
    policy = policy_named("noisy", epsilon=0.4, slips=0.1)
    return recorded(tmp_path_factory.mktemp("noisy"), policy, 300, win=WinSettings())


def of(run: Run, kind: type) -> list[Any]:
    return [event for event in run.events if isinstance(event, kind)]


@pytest.mark.parametrize("policy", ["noisy", "random"])
def test_completed_sub_goals_are_the_achievements_that_were_reached(policy: str, tmp_path: Path) -> None:
    run, episode, _ = recorded(tmp_path, policy_named(policy), 200)
    assert episode.unlocked
    score = score_run(run, tech_tree())
    assert {n.sub_goal for n in score.nodes if n.status == "completed"} == set(episode.unlocked)
    assert {n.status for n in score.nodes} <= {"completed", "attempted", "skipped"}


def test_no_action_is_lost_by_merging(noisy: tuple[Run, Episode, list[Turn]]) -> None:
    run, _, turns = noisy
    moves = sum(sum(c.arguments.values()) for c in run.actions if c.tool == "move")
    other = sum(c.arguments.get("times", 1) for c in run.actions if c.tool != "move")
    assert moves == sum(turn.action in MOVES for turn in turns)
    assert moves + other == len(turns)
    assert len(run.actions) < len(turns) / 2


def test_every_selection_has_its_contexts_from_fine_to_coarse(noisy: tuple[Run, Episode, list[Turn]]) -> None:
    run, _, turns = noisy
    begun = [turn for turn in turns if turn.selection]
    assert len(begun) == len(run.selections) > 5
    for turn, written in zip(begun, run.selections, strict=True):
        assert written.selected == turn.selection.skill
        assert tuple(written.alternatives) == turn.selection.alternatives
        assert written.context == context_layers(turn.seen)[0]
        assert 1 <= len(written.layers) <= len(LAYERS)
        assert sum((written.propensities or {}).values()) == pytest.approx(1.0)


def test_a_plan_is_written_where_an_aim_is_left_before_it_was_reached(tmp_path: Path) -> None:
    aims = ["collect_iron"] * 3 + ["collect_drink"] * 3 + [None] * 2 + ["eat_cow"] * 2
    run, _, _ = recorded(tmp_path, Reads(["noop"] * 10, aims), 10)
    assert [(p.sub_goals, p.reason) for p in of(run, Plan)] == [
        (["collect_iron"], None),
        (["collect_drink"], "collect_iron was left before it was reached"),
        (["eat_cow"], None),
    ]


def test_a_call_that_did_nothing_is_a_failure_and_chance_a_passing_one(tmp_path: Path) -> None:
    world = walked()
    seen = world.observe()
    assert seen.inventory["wood"] == 0
    run, _, _ = recorded(tmp_path, Reads(["place_table", "make_wood_pickaxe", "noop"], [None] * 3), 3)
    told = {o.call_id: (o.ok, o.transient, o.content) for o in of(run, Observation)}
    assert told == {"step-0": (False, None, "nothing changed"), "step-1": (False, None, "nothing changed")}
    grass = CrafterWorld(SEED, area=AREA)
    (tmp_path / "grass").mkdir()
    run, _, turns = recorded(tmp_path / "grass", Reads(["do"] * 2, [None] * 2), 2, world=grass)
    (call,) = [c for c in run.actions if c.tool == "do"]
    (answer,) = of(run, Observation)
    assert call.arguments == {"facing": "grass", "times": 2}
    gained = turns[-1].after.inventory["sapling"] > 0
    assert (answer.ok, answer.transient) == ((True, None) if gained else (False, True))


OUTCOMES = [
    ("the task was reached", "eat_cow", ("eat_cow",), True),
    ("something else was reached", "eat_cow", ("collect_wood",), False),
    ("enough of the open world", None, ACHIEVEMENTS[:OPEN_SUCCESS], True),
    ("not enough of it", None, ACHIEVEMENTS[: OPEN_SUCCESS - 1], False),
]


@pytest.mark.parametrize(("desc", "task", "reached", "want"), OUTCOMES, ids=[case[0] for case in OUTCOMES])
def test_success_is_the_task_or_a_stated_number_of_achievements(desc, task, reached, want) -> None:
    episode = Episode(
        policy="p",
        task=task,
        seed=1,
        steps=9,
        unlocked=dict.fromkeys(reached, 1),
        total=0.0,
        dead=False,
        asked_again=0,
        revised=0,
        kept={},
    )
    assert succeeded(episode) is want


def test_the_end_says_how_it_came(tmp_path: Path) -> None:
    actions = some_actions(200)
    _, episode, _ = recorded(tmp_path, Reads(actions, [None] * 200), 200)
    first = next(iter(episode.unlocked))
    (tmp_path / "task").mkdir()
    run, _, _ = recorded(tmp_path / "task", Reads(actions, [None] * 200), 200, task=first)
    (end,) = of(run, RunFinished)
    assert (end.success, end.limit) == (True, None)
    (tmp_path / "cut").mkdir()
    run, _, _ = recorded(tmp_path / "cut", Reads(actions, [None] * 200), 3, task="collect_diamond")
    (end,) = of(run, RunFinished)
    assert (end.success, end.limit, end.metrics["died"]) == (False, "steps", False)
