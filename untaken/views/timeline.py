"""A run as a reader meets it: its events in order, each with a title and a short text."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, overload

from msgspec import Struct

from untaken.counterfactual import Decision
from untaken.ledger import Run, event_type, readable
from untaken.ledger import events as ev
from untaken.numbers import counted, money

PREVIEW_CHARS: Final = 400
"""Most characters of recorded text shown in a row; the whole event is a click away."""
_OF_EVERY_EVENT: Final = {"type", *ev.Event.__struct_fields__}


class TimelineRow(Struct, frozen=True, kw_only=True):
    """One event. Titles and texts are untrusted: plain text, never markup.

    Attributes:
        text: at most `PREVIEW_CHARS` of what the event records; `cut` where there is more.
        sub_goal: the one that the event is mapped to, or refers to.
        ok: whether it went well, where that was recorded.
        decision: the alternatives with their deltas, for a decision point that was evaluated.
        cited_by: `seq` of the verdicts that rest on the event.
    """

    seq: int
    ts: datetime
    type: str
    title: str
    text: str
    cut: bool
    sub_goal: str | None
    ok: bool | None
    transient: bool | None
    decision: Decision | None
    cited_by: tuple[int, ...] = ()


class Timeline(Sequence[TimelineRow]):
    """The events of a run, in order; a row is made when somebody looks at it."""

    def __init__(
        self, run: Run, mapped: Sequence[tuple[int, str, str]], decisions: Callable[[], Sequence[Decision]]
    ) -> None:
        self._run, self._mapped, self._decisions = run, mapped, decisions
        self._citing: dict[int, list[int]] = defaultdict(list)
        for verdict in run.of(ev.Verdict):
            for evidence in verdict.evidence or ():
                self._citing[evidence.seq].append(verdict.seq)

    def __len__(self) -> int:
        return len(self._run.events)

    @overload
    def __getitem__(self, at: int) -> TimelineRow: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[TimelineRow, ...]: ...
    def __getitem__(self, at: int | slice) -> TimelineRow | tuple[TimelineRow, ...]:
        if isinstance(at, slice):
            return tuple(map(self._row, self._run.events[at]))
        return self._row(self._run.events[at])

    def _row(self, event: ev.AnyEvent) -> TimelineRow:
        # If the event is a mapped action, it is the last one up to here: `_mapped` is in order of `seq`.
        last = bisect_left(self._mapped, (event.seq + 1,)) - 1
        known = last >= 0 and self._mapped[last][0] == event.seq
        goal = self._mapped[last][1] if known else None
        return _row(self._run, event, goal, self._decisions, self._citing)


def timeline(
    run: Run,
    *,
    mapped: Sequence[tuple[int, str, str]] = (),
    decisions: Callable[[], Sequence[Decision]] = tuple,
) -> Timeline:
    """The events of a run, in order; `mapped` as of its score, `decisions` as of its evaluation."""
    return Timeline(run, mapped, decisions)


def _row(
    run: Run,
    event: ev.AnyEvent,
    goal: str | None,
    decisions: Callable[[], Sequence[Decision]],
    citing: Mapping[int, Sequence[int]],
) -> TimelineRow:
    title, text = _WORDS.get(type(event), _as_recorded)(event)
    if isinstance(event, ev.Verdict) and run.imported(event):
        title = f"{title}, imported"
    return TimelineRow(
        seq=event.seq,
        ts=event.ts,
        type=event_type(event),
        title=title,
        text=text[:PREVIEW_CHARS],
        cut=len(text) > PREVIEW_CHARS,
        sub_goal=goal or getattr(event, "sub_goal", None),  # what is no action may name one itself
        ok=_went_well(event),
        transient=event.transient if isinstance(event, ev.Observation) else None,
        decision=next((one for one in decisions() if one.decision_point == event.seq), None)
        if isinstance(event, ev.SkillSelection)
        else None,
        cited_by=tuple(dict.fromkeys(citing.get(event.seq, ()))),  # a verdict can cite an event twice
    )


def _went_well(event: ev.AnyEvent) -> bool | None:
    if isinstance(event, ev.Observation):
        return event.ok
    if isinstance(event, ev.Verdict):
        return event.passed
    return event.success if isinstance(event, ev.RunFinished) else None


Words = tuple[str, str]


def _as_recorded(event: ev.Event) -> Words:
    """An event type without words of its own: its name, and what it records."""
    own = {name: value for name, value in ev.as_mapping(event).items() if name not in _OF_EVERY_EVENT}
    return event_type(event).replace("_", " ").capitalize(), readable(own) or ""


def _selection(event: ev.SkillSelection) -> Words:
    others = [name for name in event.alternatives if name != event.selected]
    return f"Chose {event.selected}", "instead of " + ", ".join(others) if others else "without alternatives"


def _verdict(event: ev.Verdict) -> Words:
    answer = {True: "met", False: "not met", None: "could not tell"}[event.passed]
    seen = ", ".join(str(evidence.seq) for evidence in event.evidence or ())
    words = f"{answer}, by {event.by}" + (f", seen in event {seen}" if seen else "")
    return f"Verdict on {event.sub_goal}", words + (f": {event.reason}" if event.reason else "")


def _mapping(event: ev.ActionMapping) -> Words:
    served = ", ".join(f"{action.seq} → {action.sub_goal}" for action in event.actions)
    return f"Actions mapped by {event.by}", served


def _finished(event: ev.RunFinished) -> Words:
    outcome = {True: "success", False: "failure", None: "outcome not recorded"}[event.success]
    facts = [outcome]
    facts += [counted(event.steps, "step")] if event.steps is not None else []
    facts += [money(event.cost, event.cost_unit)] if event.cost is not None else []
    facts += [f"{name}: {value}" for name, value in (("error", event.error), ("limit", event.limit)) if value]
    return "Run finished", ", ".join(facts)


def _note(event: ev.ReviewNote) -> Words:
    title = f"Note by {event.author}" if event.author else "Note"
    if event.withdraws is not None:
        return f"{title}: note {event.withdraws} withdrawn", event.text
    return title + ("" if event.event is None else f" on event {event.event}"), event.text


def _mode(event: ev.ModeAssignment) -> Words:
    place = "" if event.event is None else f" at event {event.event}"
    return f"Failure mode {event.mode}{place}", f"{event.status}, by {event.by}" + (
        f": {event.reason}" if event.reason else ""
    )


_WORDS: Final[dict[type, Callable[..., Words]]] = {
    ev.RunStarted: lambda event: ("Run started", f"{event.agent} on {event.task_id}"),
    ev.Plan: lambda event: (
        "Plan",
        " → ".join(event.sub_goals) + (f" ({event.reason})" if event.reason else ""),
    ),
    ev.SkillSelection: _selection,
    ev.ToolCall: lambda event: (event.tool, readable(event.arguments) or ""),
    ev.Observation: lambda event: (
        "Result" if event.ok is not False else "Failure",
        readable(event.content) or "",
    ),
    ev.Message: lambda event: (f"Message from {event.role}", readable(event.content) or ""),
    ev.State: lambda event: ("State", readable(event.state) or ""),
    ev.Verdict: _verdict,
    ev.ActionMapping: _mapping,
    ev.RunFinished: _finished,
    ev.CounterfactualInsight: lambda event: (
        "Insight",
        f"at {event.decision_point}: {event.alternative} over {event.selected}, {event.delta:+.3f}",
    ),
    ev.EvaluationSummary: lambda event: ("Evaluation", readable(event.summary) or ""),
    ev.ReviewNote: _note,
    ev.ModeAssignment: _mode,
}
