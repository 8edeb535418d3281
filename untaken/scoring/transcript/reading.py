"""Reading a run's events as a conversation."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from untaken.errors import Unscored
from untaken.ledger import Run, paired, readable
from untaken.ledger import events as ev
from untaken.plans import text_of
from untaken.scoring.run_score import RunScore
from untaken.scoring.transcript.items import (
    ItemKind,
    Mark,
    Speaker,
    Transcript,
    TranscriptItem,
    TranscriptResult,
)

EventMarks = Mapping[int, Sequence[Mark]]
"""Marks by the `seq` of the event they belong to."""
Fields = dict[str, Any]
"""Fields of a `TranscriptItem` without its `seq` and its marks."""
TEXT_CHARS: Final = 8_000
LEAST_CHARS: Final = 300
ALL_CHARS: Final = 4_000_000
"""Most characters of all texts together that a browser draws without a pause."""
ITEMS: Final = 20_000
"""Most items that are read, and that a browser is given, at once."""
ARGUMENTS: Final = 40
NAME_CHARS: Final = 200
_SPEAKERS: Final[dict[str, Speaker]] = {
    **dict.fromkeys(("assistant", "agent", "ai", "model"), "agent"),
    **dict.fromkeys(("user", "human", "customer"), "user"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "environment"), "tool"),
}


def transcript_of(
    run: Run, score: RunScore | Unscored, *, marks: Sequence[EventMarks] = (), part: int = 0
) -> Transcript:
    """The run as a conversation, its sub-goals marked where they were attempted and completed.

    A result is part of the call that it answers; verdicts, notes and other events about the run are no part
    of it, but what they say of an event can be given as a mark.

    Args:
        run: the run.
        score: of the run.
        marks: more marks, each kind by itself.
        part: which `ITEMS` items of a long run; the last ones where there are not so many.
    """
    titles = {} if isinstance(score, Unscored) else {node.sub_goal: node.title for node in score.results}
    reader = _Reader(run, titles, part)
    every: defaultdict[int, list[Mark]] = defaultdict(list)
    for some in (_sub_goal_marks(score, reader), _plan_marks(run), *marks):
        for seq, given in some.items():
            if reader.holds(place := reader.place(seq)):
                every[place] += given
    return Transcript(
        digest=run.digest,
        items=tuple(reader.item(event, tuple(every.get(event.seq, ()))) for event in reader.shown),
        parts=tuple(reader.seqs[::ITEMS]),
        part=reader.part,
    )


class _Reader:
    """Args: the run, what sub-goals are called, and which part of the run is read."""

    def __init__(self, run: Run, titles: Mapping[str, str], part: int) -> None:
        self.titles = titles
        # A run may have a million events: whole numbers in arrays, and no dictionary of them all.
        self._answers, self._calls, lone = array("q"), array("q"), set[int]()
        for answer, call in paired(run.actions, run.of(ev.Observation)):
            if call is None:
                lone.add(answer.seq)
            else:
                self._answers.append(answer.seq)
                self._calls.append(call.seq)
        shown = [
            event
            for event in run.events
            if type(event) in _READ and (type(event) is not ev.Observation or event.seq in lone)
        ]
        # Where nothing that was said or done is recorded, verdicts are all that is known.
        if all(isinstance(event, ev.RunStarted | ev.RunFinished) for event in shown):
            shown = [event for event in run.events if type(event) in {*_READ, ev.Verdict}]
        self.seqs = array("q", [event.seq for event in shown])
        self.part = max(0, min(part, (len(shown) - 1) // ITEMS))
        self.shown = shown[self.part * ITEMS : (self.part + 1) * ITEMS]
        here = {event.seq for event in self.shown}
        wanted = {
            answer: call for answer, call in zip(self._answers, self._calls, strict=True) if call in here
        }
        self.answers: defaultdict[int, list[ev.Observation]] = defaultdict(list)
        for answer in run.of(ev.Observation) if wanted else ():
            if answer.seq in wanted:
                self.answers[wanted[answer.seq]].append(answer)
        texts = sum(isinstance(event, (ev.Message, ev.ToolCall, ev.Observation)) for event in self.shown)
        texts += sum(map(len, self.answers.values()))
        self.limit = max(LEAST_CHARS, min(TEXT_CHARS, ALL_CHARS // max(texts, 1)))

    def place(self, seq: int) -> int:
        """The item that a mark on an event belongs to."""
        last = bisect_right(self._answers, seq) - 1  # answers come in the order of their `seq`
        at = self._calls[last] if last >= 0 and self._answers[last] == seq else seq
        before = bisect_right(self.seqs, at)  # of an event that is not shown: the item before it
        return self.seqs[max(0, before - 1)] if self.seqs else 0

    def holds(self, place: int) -> bool:
        """Whether an item is of the part that is read."""
        return bool(self.shown) and self.shown[0].seq <= place <= self.shown[-1].seq

    def item(self, event: ev.Event, marks: tuple[Mark, ...]) -> TranscriptItem:
        fields = self.verdict(event) if isinstance(event, ev.Verdict) else _READ[type(event)](self, event)
        return TranscriptItem(seq=event.seq, marks=marks, **fields)

    def cut(self, value: Any) -> tuple[str, bool]:
        if isinstance(value, str):
            return value[: self.limit], len(value) > self.limit
        text = text_of(value) or ""
        return text[: self.limit], len(text) > self.limit

    def words(self, value: Any) -> Fields:
        text, cut = self.cut(value)
        return {"text": text, "cut": cut}

    def message(self, event: ev.Message) -> Fields:
        speaker = _SPEAKERS.get(event.role.lower(), "agent")
        name = event.role[:NAME_CHARS]
        return {"kind": "message", "speaker": speaker, "name": name, **self.words(event.content)}

    def call(self, event: ev.ToolCall) -> Fields:
        given = [(name[:NAME_CHARS], *self.cut(value)) for name, value in event.arguments.items()]
        speaker: Speaker = "user" if event.requestor == "user" else "agent"
        return {
            **_by(speaker, "call", speaker, event.tool),
            "arguments": tuple((name, text) for name, text, _ in given[:ARGUMENTS]),
            "cut": len(given) > ARGUMENTS or any(cut for *_, cut in given),
            "results": tuple(map(self.result, self.answers.get(event.seq, ()))),
        }

    def result(self, event: ev.Observation) -> TranscriptResult:
        text, cut = self.cut(event.content)
        return TranscriptResult(
            seq=event.seq, ok=event.ok, text=text, cut=cut, transient=bool(event.transient)
        )

    def lone_result(self, event: ev.Observation) -> Fields:
        return _by("tool", "result", "result") | {"results": (self.result(event),)}

    def plan(self, event: ev.Plan) -> Fields:
        goals = "\n".join(f"{at}. {goal}" for at, goal in enumerate(event.sub_goals, start=1))
        return _by("agent", "plan", "plan", event.reason or "") | self.words(goals)

    def selection(self, event: ev.SkillSelection) -> Fields:
        others = [name for name in event.alternatives if name != event.selected]
        words = f"instead of {', '.join(others)}" if others else ""
        return _by("agent", "decision", "choice", event.selected) | self.words(words)

    def state(self, event: ev.State) -> Fields:
        return _by("environment", "state", "state") | self.words(readable(event.state))

    def verdict(self, event: ev.Verdict) -> Fields:
        passed = {True: "✓ met", False: "✗ not met", None: "? cannot tell"}[event.passed]
        about = self.titles.get(event.sub_goal) or event.sub_goal
        quotes = [f"“{one.quote}” (event {one.seq})" for one in event.evidence or ()]
        words = "\n".join([about, *filter(None, [event.reason]), *quotes])
        title = f"{'↩ withdrawn' if event.withdrawn else passed} · {event.by}"
        return _by("environment", "verdict", "verdict", title) | self.words(words)

    def started(self, event: ev.RunStarted) -> Fields:
        text = f"{event.agent} on {event.task_id}"[: 2 * NAME_CHARS]
        return _by("environment", "start", "start") | {"text": text}

    def finished(self, event: ev.RunFinished) -> Fields:
        outcome = {True: "success", False: "failure", None: "outcome not recorded"}[event.success]
        known = {name: value for name, value in (("error", event.error), ("limit", event.limit)) if value}
        why = "; ".join(f"{name}: {value}" for name, value in known.items())
        return _by("environment", "end", "end", outcome) | self.words(why)


def _by(speaker: Speaker, kind: ItemKind, name: str, title: str = "") -> Fields:
    return {"speaker": speaker, "kind": kind, "name": name, "title": title[:NAME_CHARS]}


_READ: Final[dict[type, Callable[..., Fields]]] = {
    ev.RunStarted: _Reader.started,
    ev.Message: _Reader.message,
    ev.ToolCall: _Reader.call,
    ev.Observation: _Reader.lone_result,
    ev.Plan: _Reader.plan,
    ev.SkillSelection: _Reader.selection,
    ev.State: _Reader.state,
    ev.RunFinished: _Reader.finished,
}


def _sub_goal_marks(score: RunScore | Unscored, reader: _Reader) -> EventMarks:
    """Where in the part that is read each sub-goal was attempted, and the event that completed it."""
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    for node in () if isinstance(score, Unscored) else score.nodes:
        title = node.title or node.sub_goal
        done = node.completed_at
        for seq in node.events:
            if seq != done and reader.holds(reader.place(seq)):
                marks[seq].append(Mark(kind="attempted", words=title, sub_goal=node.sub_goal))
        if node.completed and done is not None:
            marks[done].append(Mark(kind="completed", words=title, sub_goal=node.sub_goal))
    return marks


def _plan_marks(run: Run) -> EventMarks:
    """Each plan that differs from the last one: what was added, and what was dropped."""
    marks: dict[int, list[Mark]] = {}
    before: Sequence[str] = ()
    for plan in run.of(ev.Plan):
        if plan.sub_goals and before and plan.sub_goals != before:
            new, old = set(plan.sub_goals), set(before)
            parts = [f"+ {goal}" for goal in plan.sub_goals if goal not in old]
            parts += [f"− {goal}" for goal in before if goal not in new]
            words = ", ".join(parts)[:NAME_CHARS] or "another order"
            marks[plan.seq] = [Mark(kind="plan", words=f"Replan: {words}")]
        before = plan.sub_goals or before
    return marks
