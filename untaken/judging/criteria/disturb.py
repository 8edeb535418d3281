"""Runs made worse on purpose, in memory only: what a criterion worth keeping should notice (§8).

Each attack takes a run with its score and gives a new run, with a chain of its own, or says why there is
nothing to disturb. Random choices are seeded by the run's digest, the attack and the seed: the same run is
always disturbed in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from math import ceil
from random import Random
from typing import Any, Final

import msgspec

from untaken.errors import Unscored
from untaken.judging.criteria.deterministic import RunFacts, read_runs
from untaken.ledger import (
    GENESIS,
    AnyEvent,
    Head,
    Integrity,
    Message,
    Observation,
    Run,
    RunFinished,
    ToolCall,
    Verdict,
)
from untaken.plans import GraphSet

SHARE: Final = 0.25
"""Share of sentences, actions or sub-goals that an attack touches, as in the paper."""
INPUT_ROLES: Final = frozenset({"user", "system", "human"})
"""Roles whose words are the task's, not the agent's."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_INVENTED: Final = "no_such_tool"
_IDLE: Final = "wait"

Events = list[AnyEvent]


class Attack(msgspec.Struct, frozen=True, kw_only=True):
    """One way to make a run worse: what is done, also as a short title.

    `spoil` gives the events of the worse run, or why there are none.
    """

    name: str
    title: str
    what: str
    spoil: Callable[[RunFacts, Random, float], Events | Unscored]


class Disturbed(msgspec.Struct, frozen=True, kw_only=True):
    """A run made worse, and the digest of the run it was made from."""

    subject: str
    run: Run


def disturb(
    runs: Sequence[Run], graphs: GraphSet, attack: Attack, *, seed: int = 0, share: float = SHARE
) -> tuple[Disturbed, ...]:
    """The runs that the attack can touch, made worse; no ledger is changed.

    Args:
        runs: unbroken runs; broken ones are left out.
        graphs: their plan graphs, for attacks on sub-goals.
        attack: one of `ATTACKS`.
        seed: another seed is another choice of what is touched.
        share: of sentences, actions or sub-goals.
    """
    whole = (run for run in runs if not run.integrity.broken)
    worse = (spoiled(one, attack, seed=seed, share=share) for one in read_runs(whole, graphs))
    return tuple(one for one in worse if one is not None)


def spoiled(
    reading: RunFacts, attack: Attack, *, seed: int = 0, share: float = SHARE, chained: bool = True
) -> Disturbed | None:
    """A run made worse, or ``None`` where the attack finds nothing to touch; as `disturb`.

    Unless `chained`, its events are numbered alone, for who only reads what they say.
    """
    run = reading.run
    mark = f"{run.digest} {attack.name} {seed}"
    random = Random(int.from_bytes(sha256(mark.encode()).digest()[:8], "big"))
    events = attack.spoil(reading, random, share)
    if isinstance(events, Unscored):
        return None
    return Disturbed(subject=run.digest, run=_made(run, events, attack.name, chained=chained))


def _made(run: Run, events: Events, attack: str, *, chained: bool) -> Run:
    """The events as a run of their own: counted, chained, and marked as never recorded."""
    places = {event.seq: place for place, event in enumerate(events)}
    made: Events = []
    prev = GENESIS
    for place, event in enumerate(events):
        fields: dict[str, Any] = {"prev": prev} if chained else {}
        if event.seq != place:
            fields["seq"] = place
        if isinstance(event, Verdict) and event.evidence:
            cited = [msgspec.structs.replace(e, seq=places[e.seq]) for e in event.evidence if e.seq in places]
            fields["evidence"] = cited or None
        made.append(msgspec.structs.replace(event, **fields) if fields else event)
        if chained:
            prev = sha256(msgspec.json.encode(made[-1])).hexdigest()
    integrity = Integrity(
        run_id=run.run_id,
        verdict="UNANCHORED",
        reason=f"generated from a recorded run by the attack {attack}; never recorded",
        head=Head(events=len(made), sha256=prev),
    )
    return Run(events=tuple(made), integrity=integrity, source=run.source)


def _some(places: Sequence[Any], share: float, random: Random) -> list[Any]:
    """A share of the things, at least one, in their order."""
    chosen = set(random.sample(range(len(places)), min(len(places), max(1, round(len(places) * share)))))
    return [thing for place, thing in enumerate(places) if place in chosen]


def drop_sentences(reading: RunFacts, random: Random, share: float) -> Events | Unscored:
    """Leaves out a share of the sentences that the agent wrote."""
    spoken = {e.seq: _SENTENCE.split(e.content) for e in reading.run.of(Message) if _of_agent(e)}
    every = [
        (seq, place) for seq, parts in spoken.items() for place, part in enumerate(parts) if part.strip()
    ]
    if len(every) < 2:
        return Unscored("the agent wrote fewer than two sentences")
    dropped = set(_some(every, share, random))
    kept = {
        seq: " ".join(part for place, part in enumerate(parts) if (seq, place) not in dropped)
        for seq, parts in spoken.items()
    }
    return [
        msgspec.structs.replace(e, content=kept[e.seq]) if isinstance(e, Message) and e.seq in kept else e
        for e in reading.run.events
    ]


def inject_invalid_actions(reading: RunFacts, random: Random, share: float) -> Events | Unscored:
    """Puts calls of a tool that does not exist, each failing, between the actions."""
    calls = [step.call for step in reading.steps]
    if not calls:
        return Unscored("the run records no action of the agent")
    after = {call.seq for call in _some(calls, share, random)}
    return _inserted(reading, after, lambda call: _pair(call, f"invalid-{call.seq}", _INVENTED, {}, ok=False))


def insert_loops(reading: RunFacts, random: Random, share: float) -> Events | Unscored:
    """Makes a share of the actions again, at once; they work again and change nothing."""
    # A failing action made again would be noticed for its failure.
    working = [step.call for step in reading.steps if step.ok is not False]
    if not working:
        return Unscored("the agent has no action to repeat")
    again = {call.seq for call in _some(working, share, random)}
    return _inserted(
        reading, again, lambda call: _pair(call, f"again-{call.seq}", call.tool, call.arguments, ok=True)
    )


def drop_sub_goals(reading: RunFacts, random: Random, share: float) -> Events | Unscored:
    """Leaves out all that was done for a share of the completed sub-goals, and the verdicts on them."""
    if isinstance(reading.score, Unscored):
        return reading.score
    judged = {verdict.sub_goal for verdict in reading.run.of(Verdict)}
    done = [node for node in reading.nodes if node.completed and (node.events or node.sub_goal in judged)]
    if not done:
        return Unscored("no sub-goal was completed by an action or a verdict")
    lost = _some(done, share, random)
    goals = {node.sub_goal for node in lost}
    calls = {seq for node in lost for seq in node.events}
    ids = {call.call_id for call in reading.run.actions if call.seq in calls}
    return [
        e
        for e in reading.run.events
        if not (
            e.seq in calls
            or (isinstance(e, Observation) and e.call_id in ids)
            or (isinstance(e, Verdict) and e.sub_goal in goals)
        )
    ]


def shuffle(reading: RunFacts, random: Random, _share: float) -> Events | Unscored:
    """Makes the actions, each with its answer, in another order."""
    answers = {e.call_id: e for e in reading.run.of(Observation) if e.call_id}
    pairs: list[tuple[ToolCall, Observation]] = [
        (step.call, answers[step.call.call_id]) for step in reading.steps if step.call.call_id in answers
    ]
    made = [step.same for step in reading.steps if step.call.call_id in answers]
    if len(set(made)) < 2:
        return Unscored("no two different actions with results to swap")
    order = list(range(len(pairs)))
    # To swap two equal actions would leave the run as it was.
    while [made[source] for source in order] == made:
        random.shuffle(order)
    instead: dict[int, AnyEvent] = {}
    for place, source in enumerate(order):
        call, answer = pairs[place]
        # Times stay in their places: a run whose clock goes back would be worse in another way.
        instead[call.seq] = msgspec.structs.replace(pairs[source][0], ts=call.ts)
        instead[answer.seq] = msgspec.structs.replace(pairs[source][1], ts=answer.ts)
    return [instead.get(e.seq, e) for e in reading.run.events]


def delay_termination(reading: RunFacts, _random: Random, share: float) -> Events | Unscored:
    """Goes on after everything was done: idle actions before the end."""
    finished = reading.run.finished
    if finished is None:
        return Unscored("the run never ended")
    idle = max(2, ceil(len(reading.steps) * share))
    more = [e for n in range(idle) for e in _pair(finished, f"idle-{n}", _IDLE, {}, ok=True)]
    place = reading.run.events.index(finished)
    return [*reading.run.events[:place], *more, *reading.run.events[place:]]


def flip_outcome(reading: RunFacts, _random: Random, _share: float) -> Events | Unscored:
    """Says the opposite of the recorded outcome."""
    finished = reading.run.finished
    if finished is None or finished.success is None:
        return Unscored("the run records no outcome")
    flipped = msgspec.structs.replace(finished, success=not finished.success)
    return [flipped if isinstance(e, RunFinished) else e for e in reading.run.events]


def _inserted(reading: RunFacts, after: set[int], made: Callable[[ToolCall], Events]) -> Events:
    """New actions behind the answers of the calls named by their `seq`."""
    answered = {e.call_id: e.seq for e in reading.run.of(Observation) if e.call_id}
    behind: dict[int, Events] = {}
    for step in reading.steps:
        if step.call.seq in after:
            # Not between a call and its answer, which belong together where the answer names no call.
            place = answered.get(step.call.call_id, step.call.seq)
            behind.setdefault(place, []).extend(made(step.call))
    return [e for event in reading.run.events for e in (event, *behind.get(event.seq, ()))]


def _pair(near: AnyEvent, call_id: str, tool: str, arguments: Mapping[str, Any], *, ok: bool) -> Events:
    """A call and its answer, at the moment of another event; nothing recorded cites them."""
    shared: dict[str, Any] = {
        "run_id": near.run_id,
        "seq": -1,  # `_made` numbers it
        "ts": near.ts,
        "prev": GENESIS,
        "call_id": call_id,
    }
    answer = "" if ok else "error: there is no such action"
    return [
        ToolCall(**shared, tool=tool, arguments=dict(arguments)),
        Observation(**shared, ok=ok, content=answer),
    ]


def _of_agent(event: Message) -> bool:
    return isinstance(event.content, str) and event.role.casefold() not in INPUT_ROLES


DROP: Final = Attack(
    name="drop_sentences",
    title="sentences removed",
    what="a quarter of the agent's sentences removed",
    spoil=drop_sentences,
)
ATTACKS: Final = (
    DROP,
    Attack(
        name="inject_invalid_actions",
        title="failing calls added",
        what="failing calls added",
        spoil=inject_invalid_actions,
    ),
    Attack(
        name="insert_loops",
        title="actions repeated",
        what="a quarter of the actions repeated",
        spoil=insert_loops,
    ),
    Attack(
        name="drop_sub_goals",
        title="sub-goals removed",
        what="a quarter of the completed sub-goals removed",
        spoil=drop_sub_goals,
    ),
    Attack(name="shuffle", title="actions reordered", what="actions in another order", spoil=shuffle),
    Attack(
        name="delay_termination",
        title="idle actions added",
        what="idle actions before the end",
        spoil=delay_termination,
    ),
    Attack(
        name="flip_outcome",
        title="outcome reversed",
        what="the opposite outcome recorded",
        spoil=flip_outcome,
    ),
)
"""The paper's attack first, then one for each thing that dropping sentences does not touch."""

ATTACK_WORDS: Final = {attack.name: attack.what for attack in ATTACKS}
"""What was done to the disturbed runs, by the name of the attack."""
ATTACK_TITLES: Final = {attack.name: attack.title for attack in ATTACKS}
"""The same in two or three words, for the head of a column."""
