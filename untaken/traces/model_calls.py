"""Which spans of a trace are the calls of a model, and what they spent: one rule for every format of spans.

A trace records one call several times: in a frame around it (an agent, a chain, a span of the framework), in
the spans of two instrumentations, in attempts that have no more than a name. The call is the innermost span
of a model that has what was said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from untaken.traces.losses import Findings
from untaken.traces.messages import message_items, tool_message
from untaken.traces.otel_kinds import (
    AGENT_NAMES,
    COSTS,
    EVALUATED,
    EVALUATION,
    JUDGING,
    MODEL_NAMES,
    TOKENS,
    TOOL_OUTPUTS,
    Kind,
    KnownSpans,
    kind_of,
    span_inputs,
    span_outputs,
    speaks,
)
from untaken.traces.otel_spans import Span, below
from untaken.traces.readings import amount, parsed, text
from untaken.traces.spending import (
    WHOLES,
    Amounts,
    Spending,
    added,
    amounts,
    is_priced,
    named_apart,
    spend,
    usage,
    with_cost,
)
from untaken.traces.trace_run import Answered, Called, Item, Utterance

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


class _Call(msgspec.Struct):
    """A call: the spans that record it, the one to read first, and spans in it that only record usage."""

    spans: list[int]
    inner: list[int]


class ModelCalls:
    """The calls of models in the spans of a trace.

    Attributes:
        heads: for each call, in order, the place in `spans` of the span that has what was said.
        used: what is recorded to have been spent in each span.
    """

    def __init__(self, spans: KnownSpans, findings: Findings) -> None:
        self._spans = [span for span, _ in spans]
        self._kinds = [kind for _, kind in spans]
        self._speak = [kind == "model" and speaks(span) for span, kind in spans]
        self.used = [_used(span, findings) for span in self._spans]
        places = {span.id: place for place, span in enumerate(self._spans) if span.id}
        self._parents = [places.get(span.parent) for span in self._spans]
        models = [place for place, kind in enumerate(self._kinds) if kind == "model"]
        speaking, any_ = self._frames(models)
        calls = {p: _Call([p], []) for p in models if self._speak[p] and p not in speaking}
        for place in (place for place in models if not self._speak[place]):
            # What is called inside of a tool is no part of the call around it.
            up = next((up for up in self._above(place) if up in calls or self._kinds[up] == "tool"), None)
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
                in_tool = in_tool or self._kinds[up] == "tool"
                any_.add(up)
                if self._speak[place] and not in_tool:
                    speaking.add(up)
        return speaking, any_

    def _without_twins(self, calls: list[_Call]) -> list[_Call]:
        """The calls, with those together that two instrumentations recorded beside one another."""
        # One instrumentation records a call once.
        if len({_maker(self._spans[call.spans[0]]) for call in calls}) < 2:
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
            # The first is read.
            first_speaks = self._speak[twin.spans[0]]
            twin.spans = [*twin.spans, *call.spans] if first_speaks else [*call.spans, *twin.spans]
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
        if _maker(one) == _maker(other) or one.end is None or other.end is None or other.end > one.end:
            return False
        if not _one_model(*(text(span.first(*MODEL_NAMES)) for span in (one, other))):
            return False
        replies = [text(span.first("gen_ai.response.id")) for span in (one, other)]
        if None not in replies:
            return replies[0] == replies[1]
        if self._speak[outer] and self._speak[inner]:
            return _same_words(one, other)
        figures, others = ([self.used[place].get(whole) for whole in WHOLES] for place in (outer, inner))
        return figures == others and all(figures)  # without words, only figures can tell

    def _parts(self, figures: Sequence[str], run: str, findings: Findings) -> list[Amounts]:
        """What each call spent: by its own record, else by that of the nearest span above, which is one part.

        A call that failed and has no record is no part.
        """
        carries = is_priced if figures == _COST else lambda used: not used.keys().isdisjoint(figures)
        carrying = {place for place, used in enumerate(self.used) if carries(used)}
        own: list[tuple[int, Amounts]] = []
        above: dict[int, Amounts] = {}
        unknown: list[Amounts] = []
        for call in self._calls:
            place, used = call.spans[0], self._usage(call, carrying)
            if used is not None:
                own.append((place, used))
            elif (up := next((up for up in self._above(place) if up in carrying), None)) is not None:
                above[up] = self.used[up]
            elif self._spans[place].status != "error":  # nothing is missing of a call that failed
                unknown.append(self.used[place])
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
            return self.used[place]
        inner = [place for place in call.inner if place in carrying]
        around = {up for place in inner for up in self._above(place)}
        return added(self.used[place] for place in inner if place not in around) or None

    def _other_spans(self, carrying: set[int]) -> list[tuple[int, Amounts]]:
        """Spans of no model that say what was spent in them, where no span in or around them says it."""
        around = {up for place in carrying for up in self._above(place)}
        models = {place for place, kind in enumerate(self._kinds) if kind == "model"}
        around |= {up for place in models for up in self._above(place)}
        return [  # what reads and does not write, such as an embedding, records no output
            (place, {**dict.fromkeys(WHOLES, 0.0), **self.used[place]})
            for place in sorted(carrying - models - around)
            if models.isdisjoint(self._above(place))
        ]


def own_spans(
    spans: Sequence[Span],
    roots: Sequence[Span],
    run: str,
    findings: Findings,
    total: Amounts | None = None,
) -> tuple[KnownSpans, Spending]:
    """The agent's own spans, each with what it is, and what was spent; by others, under their own names."""
    kinds = _kinds(spans)
    whose = _apart(spans, kinds)
    by_whom: dict[str, list[tuple[Span, Kind]]] = {"": [], "grader": [], "user": []}
    for span, kind in zip(spans, kinds, strict=True):
        by_whom[whose.get(span.id, "")].append((span, kind))
    others: dict[str, float | bool] = {}
    apart: list[Amounts] = []
    for who in ("grader", "user"):
        theirs = ModelCalls(by_whom[who], Findings(None))
        spent = theirs.spent({}, run=who, findings=Findings(None))
        others |= named_apart(who, spent, len(theirs.heads))
        apart.append(amounts(spent))
    calls = ModelCalls(by_whom[""], findings)
    heads = set(calls.heads)
    root = next((place for place, (span, _) in enumerate(by_whom[""]) if span is roots[0]), 0)
    if total is None:  # a call is no total of calls
        total = calls.used[root] if len(roots) == 1 and root not in heads else {}
    spent = calls.spent(total, run=run, findings=findings, apart=apart)
    own: KnownSpans = [
        (span, "frame" if kind == "model" and place not in heads else kind)
        for place, (span, kind) in enumerate(by_whom[""])
    ]
    return own, Spending(tokens={**spent.tokens, **others}, cost=spent.cost)


def _kinds(spans: Sequence[Span]) -> list[Kind]:
    """The kind of each span; one that gave the message of a tool, with no tool in it, is that tool."""
    kinds = [kind_of(span) for span in spans]
    above = {span.id: span.parent for span in spans}
    with_tools: set[str] = set()
    replies = [
        place
        for place, span in enumerate(spans)
        if kinds[place] == "other" and tool_message(parsed(span.first(*TOOL_OUTPUTS))) is not None
    ]
    for place in (*replies, *(place for place, kind in enumerate(kinds) if kind == "tool")):
        up: str | None = spans[place].parent
        while up and up not in with_tools:  # parents may form a ring
            with_tools.add(up)
            up = above.get(up)
    for place in replies:
        kinds[place] = "tool" if spans[place].id not in with_tools else "other"
    return kinds


def _apart(spans: Sequence[Span], kinds: Sequence[Kind]) -> dict[str, str]:
    """Whose the spans are that are not the agent's, by their id: ``grader``, or ``user`` who is played."""
    above = {span.id: span.parent for span in spans}
    kind_of_id = dict(zip((span.id for span in spans), kinds, strict=True))
    agents = {
        span.id: text(span.first(*AGENT_NAMES)) or span.name
        for span in spans
        if kind_of_id[span.id] in ("agent", "other")
    }
    graders = [name for name, kind in kind_of_id.items() if kind == "grader"]
    for span in spans:  # a plain one that judges, and has no agent in it
        if kind_of_id[span.id] == "other" and span.parent in above and _evaluates(span):
            inside = {kind_of_id[name] for name in below(above, [span.id])}
            graders += [span.id] if inside.isdisjoint(("agent", "tool")) else []
    players = (name for name, called in agents.items() if SIMULATOR.search(called))
    found = dict.fromkeys(below(above, players), "user") | dict.fromkeys(below(above, graders), "grader")
    return found if any(name not in found for name in above) else {}  # a trace of theirs alone is theirs


def _evaluates(span: Span) -> bool:
    """Whether a plain span is an evaluation: it says of what, or its name does and it has a result."""
    has_result = any(event == EVALUATION for event, _ in span.events)
    return EVALUATED in span.attributes or (has_result and JUDGING.search(span.name) is not None)


def _one_model(one: str | None, other: str | None) -> bool:
    """Whether two names may be of one model: with its provider or its version, or without."""
    if one is None or other is None:
        return True
    names = [name.rpartition("/")[2].lower() for name in (one, other)]
    return names[0].startswith(names[1]) or names[1].startswith(names[0])


def _maker(span: Span) -> tuple[str, str]:
    """The instrumentation that wrote a span, and the name it has there."""
    return span.scope, span.name


def _used(span: Span, findings: Findings) -> Amounts:
    """What is recorded to have been spent in a span: the cost, else those of input and output."""
    used = usage(span.attributes, findings, TOKENS)
    total, *parts = COSTS
    cost = amount(span.first(*total), findings, total[0])
    if cost is None:
        each = [amount(span.first(*names), findings, names[0]) for names in parts]
        known = [value for value in each if value is not None]
        cost = sum(known) if known else None
    return with_cost(used, cost)


def _same_words(*spans: Span) -> bool:
    """Whether two spans have the same reply, to the same words: one may have been given more of them."""
    words = ((Counter(_words(span_inputs(span))), _words(span_outputs(span))) for span in spans)
    given, gave = zip(*words, strict=True)
    return bool(gave[0]) and gave[0] == gave[1] and (given[0] <= given[1] or given[1] <= given[0])


def _words(messages: Sequence[Mapping[str, Any]]) -> list[bytes]:
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
