"""Which spans of a trace are the calls of a model, and what they spent: one rule for every format of spans.

A trace records one call several times: in a frame around it (an agent, a chain, a span of the framework), in
the spans of two instrumentations, in attempts that have no more than a name. The call is the innermost span
of a model that has what was said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, Literal

import msgspec

from untaken.traces.losses import Findings
from untaken.traces.messages import message_items
from untaken.traces.otel_spans import below
from untaken.traces.spending import WHOLES, Amounts, Spending, added, amounts, is_priced, named_apart, spend
from untaken.traces.trace_run import Answered, Called, Item, Utterance

Role = Literal["model", "tool", "other"]
Messages = Sequence[Mapping[str, Any]]
SIMULATOR: Final = re.compile(
    r"(?:user|customer|human|client|actor)[ _-]?sim(?:ulat(?:or|ion)|(?![a-z]))|"
    r"(?:simulated|synthetic)[ _-]?(?:user|customer|human|client)",
    re.IGNORECASE,
)
"""What an agent is called that plays the user."""
_COST: Final = ("cost",)
_DEPTH: Final = 256
"""How many spans above one are looked at: parents may form a ring, or a chain as long as the file."""
_NEIGHBOURS: Final = 64
"""How many calls that run at the same time one is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallSpan:
    """A span, as far as it tells who called a model and what that cost.

    Attributes:
        id, parent: as recorded; empty where they are not.
        role: what it is.
        start, end: where recorded.
        maker: the instrumentation that wrote it, and the name it has there.
        model: which one, where it is recorded.
        reply: the id of the model's reply, where it is recorded.
        speaks: whether it has what was said.
        failed: whether it ended in an error.
        usage: what is recorded to have been spent in it.
        words: what the model was given, and what it gave; asked for only where two spans may be one call.
    """

    id: str
    parent: str
    role: Role
    start: datetime | None
    end: datetime | None
    maker: tuple[str, str]
    model: str | None = None
    reply: str | None = None
    speaks: bool
    failed: bool
    usage: Amounts
    words: Callable[[], tuple[Messages, Messages]]


def spans_apart(
    spans: Sequence[tuple[str, str | None]], graders: Iterable[str], agents: Mapping[str, str]
) -> dict[str, str]:
    """Whose the spans are that are not the agent's: ``grader`` or ``user`` by their id.

    Args:
        spans: the id of each, and of the one above.
        graders: those that are an evaluation.
        agents: the names of those that are an agent; one that plays the user is known by its name.
    """
    above = dict(spans)
    players = (name for name, called in agents.items() if SIMULATOR.search(called))
    found = dict.fromkeys(below(above, players), "user") | dict.fromkeys(below(above, graders), "grader")
    return found if any(name not in found for name, _ in spans) else {}  # a trace of theirs alone is theirs


class _Call(msgspec.Struct):
    """A call: the spans that record it, the one to read first, and spans in it that only record usage."""

    spans: list[int]
    inner: list[int]


class ModelCalls:
    """The calls of models in the spans of a trace.

    Attributes:
        heads: for each call, in order, the place in `spans` of the span that has what was said.
    """

    def __init__(self, spans: Sequence[CallSpan]) -> None:
        self._spans = spans
        places = {span.id: place for place, span in enumerate(spans) if span.id}
        self._parents = [places.get(span.parent) for span in spans]
        models = [place for place, span in enumerate(spans) if span.role == "model"]
        speaking, any_ = self._frames(models)
        calls = {p: _Call([p], []) for p in models if spans[p].speaks and p not in speaking}
        for place in (place for place in models if not spans[place].speaks):
            # What is called inside of a tool is no part of the call around it.
            up = next((up for up in self._above(place) if up in calls or spans[up].role == "tool"), None)
            if up in calls:
                calls[up].inner.append(place)
            elif place not in any_:
                calls[place] = _Call([place], [])
        self._calls = self._without_twins([calls[place] for place in models if place in calls])
        self.heads = [call.spans[0] for call in self._calls]

    def spent(
        self, total: Amounts, *, run: str, findings: Findings, apart: Sequence[Amounts] = ()
    ) -> Spending:
        """What was spent by the calls, and in other spans that record something and have no call in them.

        Args:
            total: what is recorded of the trace as a whole.
            run: its id, for findings.
            findings: of the file.
            apart: what was spent in the trace, but not by the agent.
        """
        tokens, priced = (self._parts(figures, run, findings) for figures in (WHOLES, _COST))
        return spend(tokens, total, priced=priced, run=run, findings=findings, apart=apart)

    def _above(self, place: int) -> Iterator[int]:
        """The spans above one, the nearest first."""
        at = self._parents[place]
        for _ in range(_DEPTH):
            if at is None or at == place:
                return
            yield at
            at = self._parents[at]

    def _frames(self, models: Sequence[int]) -> tuple[set[int], set[int]]:
        """The spans that have a model's span below them that speaks and is in no tool; and those with any."""
        speaking: set[int] = set()
        any_: set[int] = set()
        for place in models:
            in_tool = False
            for up in self._above(place):
                in_tool = in_tool or self._spans[up].role == "tool"
                any_.add(up)
                if self._spans[place].speaks and not in_tool:
                    speaking.add(up)
        return speaking, any_

    def _without_twins(self, calls: list[_Call]) -> list[_Call]:
        """The calls, with those together that two instrumentations recorded beside one another."""
        # One instrumentation records a call once.
        if len({self._spans[call.spans[0]].maker for call in calls}) < 2:
            return calls
        timed = [call for call in calls if self._times(call) is not None]
        timed.sort(key=lambda call: self._times(call) or (0.0, 0.0))
        kept: list[_Call] = []
        for call in timed:
            around = islice(reversed(kept), _NEIGHBOURS)
            twin = next((each for each in around if self._is_twin(each.spans[0], call.spans[0])), None)
            if twin is None:
                kept.append(call)
                continue
            speaks = self._spans[twin.spans[0]].speaks
            # The first is read.
            twin.spans = [*twin.spans, *call.spans] if speaks else [*call.spans, *twin.spans]
            twin.inner += call.inner
        joined = {place for call in kept for place in call.spans[1:]}
        rest = [call for call in calls if self._times(call) is None]
        return sorted((*kept, *rest), key=lambda call: call.spans[0]) if joined else calls

    def _times(self, call: _Call) -> tuple[float, float] | None:
        """When a call began, and minus when it ended: of two that begin together, the longer one is first."""
        span = self._spans[call.spans[0]]
        return (
            None
            if span.start is None or span.end is None
            else (span.start.timestamp(), -span.end.timestamp())
        )

    def _is_twin(self, outer: int, inner: int) -> bool:
        """Whether two spans, of which one lasts as long as the other or longer, are one call."""
        one, other = self._spans[outer], self._spans[inner]
        if one.maker == other.maker or one.end is None or other.end is None or other.end > one.end:
            return False
        if not _one_model(one.model, other.model):
            return False
        if one.reply is not None and other.reply is not None:
            return one.reply == other.reply
        if one.speaks and other.speaks:
            return _same_words(one.words(), other.words())
        figures, others = ([span.usage.get(whole) for whole in WHOLES] for span in (one, other))
        return figures == others and all(figures)  # without words, only figures can tell

    def _parts(self, figures: Sequence[str], run: str, findings: Findings) -> list[Amounts]:
        """What each call spent: by its own record, else by that of the nearest span above, which is one part.

        A call that failed and has no record is no part.
        """
        carries = is_priced if figures == _COST else lambda used: not used.keys().isdisjoint(figures)
        carrying = {place for place, span in enumerate(self._spans) if carries(span.usage)}
        own: list[tuple[int, Amounts]] = []
        above: dict[int, Amounts] = {}
        unknown: list[Amounts] = []
        for call in self._calls:
            place, used = call.spans[0], self._usage(call, carrying)
            if used is not None:
                own.append((place, used))
            elif (up := next((up for up in self._above(place) if up in carrying), None)) is not None:
                above[up] = self._spans[up].usage
            elif not self._spans[place].failed:  # nothing is missing of a call that failed
                unknown.append(self._spans[place].usage)
        own += self._other_spans(carrying)
        for up in list(above):  # one that records less than what is in it is the sum of something else
            inside = added(used for place, used in own if up in self._above(place))
            if any(above[up].get(figure, 0) < inside.get(figure, 0) for figure in figures):
                del above[up]
                unknown.append({})
        if len(alone := [used for place, used in own if above.keys().isdisjoint(self._above(place))]) < len(
            own
        ):
            name = " and ".join(figure.replace("_", " ") for figure in figures)
            message = (
                f"some calls of a model record no {name}; what the span above all of them records is used"
            )
            findings.add("partly-recorded", message, run=run, severity="note")
        # It has what those in it have.
        outermost = [up for up in above if above.keys().isdisjoint(self._above(up))]
        return [*alone, *(above[up] for up in outermost), *unknown]

    def _usage(self, call: _Call, carrying: set[int]) -> Amounts | None:
        """What the spans of a call say was spent: the first that says it, else the innermost in it."""
        if (place := next((place for place in call.spans if place in carrying), None)) is not None:
            return self._spans[place].usage
        inner = [place for place in call.inner if place in carrying]
        around = {up for place in inner for up in self._above(place)}
        return added(self._spans[place].usage for place in inner if place not in around) or None

    def _other_spans(self, carrying: set[int]) -> list[tuple[int, Amounts]]:
        """Spans of no model that say what was spent in them, where no span in or around them says it."""
        around = {up for place in carrying for up in self._above(place)}
        models = {place for place, span in enumerate(self._spans) if span.role == "model"}
        around |= {up for place in models for up in self._above(place)}
        return [  # what reads and does not write, such as an embedding, records no output
            (place, {**dict.fromkeys(WHOLES, 0.0), **self._spans[place].usage})
            for place in sorted(carrying - models - around)
            if models.isdisjoint(self._above(place))
        ]


def spent_apart(spans: Mapping[str, Sequence[CallSpan]]) -> tuple[dict[str, float | bool], list[Amounts]]:
    """What others than the agent did and spent, by whose the spans are: as metrics, and as amounts."""
    metrics: dict[str, float | bool] = {}
    each: list[Amounts] = []
    for whose, own in spans.items():
        calls = ModelCalls(own)
        spent = calls.spent({}, run=whose, findings=Findings(None))
        metrics |= named_apart(whose, spent, len(calls.heads))
        each.append(amounts(spent))
    return metrics, each


def _one_model(one: str | None, other: str | None) -> bool:
    """Whether two names may be of one model: with its provider or its version, or without."""
    if one is None or other is None:
        return True
    names = [name.rpartition("/")[2].lower() for name in (one, other)]
    return names[0].startswith(names[1]) or names[1].startswith(names[0])


def _same_words(one: tuple[Messages, Messages], other: tuple[Messages, Messages]) -> bool:
    """Whether two spans have the same reply, to the same words: one may have been given more of them."""
    given, gave = zip(*((Counter(_words(g)), _words(r)) for g, r in (one, other)), strict=True)
    return bool(gave[0]) and gave[0] == gave[1] and (given[0] <= given[1] or given[1] <= given[0])


def _words(messages: Messages) -> list[bytes]:
    """What was said and called, without what each instrumentation writes in its own way."""
    items = (item for message in messages for item in message_items(message))
    return [msgspec.json.encode(word) for item in items if (word := _word(item)) is not None]


def _word(item: Item) -> Any:
    match item:
        case Utterance(role="reasoning"):
            return None
        case Utterance() | Answered():
            return item.content.strip() if isinstance(item.content, str) else item.content
        case Called():
            return {"tool": item.tool}  # each writes arguments and ids in its own way
    return None
