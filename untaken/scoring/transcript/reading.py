"""Reading a run's events as a conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from untaken.errors import Unscored
from untaken.ledger import Run, readable
from untaken.ledger import events as ev
from untaken.ledger.answers import paired
from untaken.plans.patterns import text_of
from untaken.scoring import RunScore
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
ARGUMENTS: Final = 40
NAME_CHARS: Final = 200
_SPEAKERS: Final[dict[str, Speaker]] = {
    **dict.fromkeys(("assistant", "agent", "ai", "model"), "agent"),
    **dict.fromkeys(("user", "human", "customer"), "user"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "environment"), "tool"),
}


def transcript_of(run: Run, score: RunScore | Unscored, *, marks: Sequence[EventMarks] = ()) -> Transcript:
    """The run as a conversation, its sub-goals marked where they were attempted and completed.

    A result is part of the call that it answers; verdicts, notes and other events about the run are no part
    of it, but what they say of an event can be given as a mark. A mark on an event that the transcript does
    not show (a verdict's, say) is shown on the item before it. Of a run whose ledger records nothing that
    was said or done, the verdicts are shown: they are all that is known.
    """
    texts = sum(isinstance(event, (ev.Message, ev.ToolCall, ev.Observation)) for event in run.events)
    limit = max(LEAST_CHARS, min(TEXT_CHARS, ALL_CHARS // max(texts, 1)))
    titles = {} if isinstance(score, Unscored) else {node.sub_goal: node.title for node in score.results}
    reader = _Reader(run, limit, titles)
    every: defaultdict[int, list[Mark]] = defaultdict(list)
    for some in (_sub_goal_marks(score), _plan_marks(run), *marks):
        for seq, given in some.items():
            every[reader.place(seq)] += given
    items = tuple(reader.item(event, tuple(every.get(event.seq, ()))) for event in reader.shown)
    return Transcript(digest=run.digest, items=items)


class _Reader:
    """Args: the run, the most characters of a text, and what sub-goals are called."""

    def __init__(self, run: Run, limit: int, titles: Mapping[str, str]) -> None:
        self.limit = limit
        self.titles = titles
        self.answers: defaultdict[int, list[ev.Observation]] = defaultdict(list)
        folded: dict[int, int] = {}
        for answer, call in paired(run.actions, run.of(ev.Observation)):
            if call is not None:
                self.answers[call.seq].append(answer)
                folded[answer.seq] = call.seq
        self.shown = [event for event in run.events if type(event) in _READ and event.seq not in folded]
        if all(isinstance(event, ev.RunStarted | ev.RunFinished) for event in self.shown):
            self.shown = [event for event in run.events if type(event) in {*_READ, ev.Verdict}]
        shown = {event.seq for event in self.shown}
        self._places: list[int] = []
        before = self.shown[0].seq if self.shown else 0
        for event in run.events:
            before = event.seq if event.seq in shown else before
            self._places.append(folded.get(event.seq, before))

    def place(self, seq: int) -> int:
        """The item that a mark on an event belongs to."""
        return self._places[min(max(seq, 0), len(self._places) - 1)]

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


def _sub_goal_marks(score: RunScore | Unscored) -> EventMarks:
    """Where each sub-goal was attempted, and the event after which it was completed."""
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    for node in () if isinstance(score, Unscored) else score.nodes:
        title = node.title or node.sub_goal
        done = node.completed_at
        for seq in node.events:
            if seq != done:
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
