"""What of a run's record can carry a judge's pass (§6): results that the run did not put in itself."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Final, NamedTuple

from untaken.judging.readings import pieces, readings
from untaken.judging.rendering import contains, texts_in, value_text
from untaken.ledger.events import Event, Message, Observation, Plan, RunFinished, State, ToolCall
from untaken.plans.plan_graph import SubGoal

TOOL_ROLES: Final = frozenset({"tool", "function", "environment"})
"""Roles whose messages are what came back from outside."""
NOT_OF_AGENT: Final = frozenset({"user", "human", "system", "developer"})
"""Roles whose messages the agent is given."""
SHORT_CALL: Final = 40
"""Most different words in a call whose words a result may repeat in another order, as a template does."""
_WORD: Final = re.compile(r"\w+")
_FIELD: Final = re.compile(r"state((?:\.\w+|\[[\"']\w+[\"']\])+)")


class _Given(NamedTuple):
    seq: int
    letters: tuple[str, ...]
    words: frozenset[str]


class RunEvidence:
    """The record of one run, asked what of it is evidence."""

    def __init__(self, record: Mapping[int, Event]) -> None:
        """Of the events of the run itself, by `seq` (`untaken.judging.view.record_of`)."""
        self._calls = [event for event in record.values() if isinstance(event, ToolCall)]
        self._by_id: defaultdict[str, list[ToolCall]] = defaultdict(list)
        for call in self._calls:
            self._by_id[call.call_id].append(call)

    def shows(self, event: Event, quote: str, *, claims: bool = False) -> bool:
        """Whether a quote is from a result: an observation that did not fail, a state, a metric of the run.

        Arguments and names of tools, the choice of a skill, task ids, questions and failed observations are
        none. Nor is what the run put in itself, in that call or an earlier one: `echo` says what it is given.
        An observation before its call, or under an id that two calls have, carries nothing.

        Args:
            event: the event cited.
            quote: words of it.
            claims: take messages and plans, too.
        """
        if not any(contains(text, quote) for text in _results(event, claims=claims)):
            return False
        if is_claim(event):
            return True
        return self._has_its_call(event) and not self._put_in(quote, event.seq)

    def is_about(self, event: Event, quote: str, node: SubGoal, own: frozenset[int] | None) -> bool:
        """Whether a quote is about a sub-goal: from a call mapped to it, or of a field that its check reads.

        Args:
            event: the event cited.
            quote: words of it.
            node: the sub-goal.
            own: the events mapped to it; ``None`` where it is not anchored: any result will do.
        """
        if own is None or event.seq in own or (node.evidence == "message" and _from_agent(event)):
            return True
        if isinstance(event, State | RunFinished):
            expression = node.check.expr if node.check is not None else None
            names = {name for path in _FIELD.findall(expression or "") for name in _WORD.findall(path)}
            return not names.isdisjoint(_WORD.findall(quote))
        call = self._call_of(event)
        return call is not None and call.seq in own

    def _has_its_call(self, event: Event) -> bool:
        calls = self._by_id.get(event.call_id, []) if isinstance(event, Observation) and event.call_id else []
        return not calls or (len(calls) == 1 and calls[0].seq < event.seq)

    def _call_of(self, event: Event) -> ToolCall | None:
        """The call that an event answers: by its id, else the one before it."""
        if isinstance(event, Observation) and event.call_id:
            return next(iter(self._by_id.get(event.call_id, [])), None)
        return next((call for call in reversed(self._calls) if call.seq < event.seq), None)

    def _put_in(self, quote: str, seq: int) -> bool:
        """Whether the arguments of calls before an event say the quote: whole, in parts, or in a code."""
        letters, words = _letters(quote), frozenset(_WORD.findall(quote.casefold()))
        before = [given for given in self._given if given.seq < seq]
        if any(letters in text or letters[::-1] in text for given in before for text in given.letters):
            return True
        if any(words <= given.words for given in before if len(given.words) <= SHORT_CALL):
            return True
        return letters in "".join(given.letters[0] for given in before)

    @cached_property
    def _given(self) -> list[_Given]:
        return [_given(call) for call in self._calls]


def is_claim(event: Event) -> bool:
    """Whether the event is something that was said: a message that no tool wrote, or a plan."""
    return isinstance(event, Plan | Message) and not _from_tool(event)


def _given(call: ToolCall) -> _Given:
    text = "\n".join(texts_in(call.arguments))
    read = [_letters(reading) for piece in pieces(text) for reading in readings(piece)]
    plain = _letters("".join(part for value in call.arguments.values() for part in texts_in(value)))
    words = frozenset(word for reading in (text, value_text(call.arguments)) for word in _words(reading))
    return _Given(call.seq, tuple(dict.fromkeys([plain, _letters(text), *read])), words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _letters(text: str) -> str:
    """Letters and digits alone: what is joined, quoted or escaped otherwise is the same."""
    return "".join(filter(str.isalnum, text.casefold()))


def _results(event: Event, *, claims: bool) -> list[str]:
    if isinstance(event, Observation):
        return [value_text(event.content)] if event.ok is not False and not event.transient else []
    if isinstance(event, State):
        return [value_text(event.state)]
    if isinstance(event, RunFinished):
        return [value_text(part) for part in (event.final_state, event.metrics) if part]
    if isinstance(event, Message):
        return [value_text(event.content)] if claims or _from_tool(event) else []
    if isinstance(event, Plan) and claims:
        return [value_text(event.sub_goals), event.reason or ""]
    return []


def _from_agent(event: Event) -> bool:
    return isinstance(event, Message) and event.role.lower() not in TOOL_ROLES | NOT_OF_AGENT


def _from_tool(event: Event) -> bool:
    return isinstance(event, Message) and event.role.lower() in TOOL_ROLES
