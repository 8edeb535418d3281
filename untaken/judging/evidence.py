"""What of a run's record can carry a judge's pass (§6): results that the run did not put in itself."""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from untaken.judging.readings import as_seen, pieces, readings
from untaken.judging.rendering import contains, texts_in, value_text
from untaken.ledger import (
    Event,
    Message,
    Observation,
    Plan,
    RunFinished,
    SkillSelection,
    State,
    ToolCall,
)
from untaken.plans import SubGoal

TOOL_ROLES: Final = frozenset({"tool", "function", "environment"})
"""Roles whose messages are what came back from outside."""
NOT_OF_AGENT: Final = frozenset({"user", "human", "system", "developer"})
"""Roles whose messages the agent is given."""
SHORT_CALL: Final = 40
"""Words in a row of a call which a result may repeat in another order, as a template does."""
REPEATED_WORDS: Final = 4
"""Fewest words that a result repeats of what the agent said, rather than happens to say, too."""
_FRAME: Final = re.compile(
    "|".join(
        (
            # A line of a log, a prompt, a level, tags.
            r"^[^\w\n]{0,9}\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?",
            r"^\w+@[\w-]+:\S*[#$]",
            r"(?-i:\b(?:DEBUG|INFO|NOTICE|WARNING)\b(?:\W{1,3}root\b)?)",
            r"<(\w*code)>0</\1>|</?[a-z]\w*>",
            # How a process ended.
            r"\b(?:the )?(?:command|process) (?:exited|finished|completed) with (?:exit )?code 0\b",
            r"\b(?:exit|return|status)[ _-]?code\W{0,4}0\b",
            r"\b(?:chunk id\W{0,3}[0-9a-f]+|pid\W{0,4}\d+|truncated\W{0,4}false)\b",
            r"\b(?:wall[ _-]?time|duration(?:_\w+)?|elapsed|took)\W{0,4}[\d.]+(?:\s?(?:m?s|seconds)\b)?",
            # Names of what holds the words.
            r"\b(?:is_?error\W{0,4}false|error\W{0,4}(?:null|none)|type\W{0,5}text)\b",
            r"\b(?:std(?:out|err)|outputs?|results?|content|text|message|metadata|response|data|body)\b",
            r"\b(?:args|arguments|echo|logged|printed|said|assistant|agent)\b",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)
"""What tools and shells put around the words they were given."""
_WENT_WELL: Final = re.compile(
    r"\b(?:(?:success|ok)\W{0,4}true|status\W{0,5}(?:ok|success))\b", re.IGNORECASE
)
"""What a frame says of the call: an answer where the tool has a field of its own beside it."""
_NAME: Final = re.compile(r'\w"?\s*[:=]')
_COLOUR: Final = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_WORD: Final = re.compile(r"\w+")
_FIELD: Final = re.compile(r"state((?:\.\w+|\[[\"']\w+[\"']\])+)")


class _Given(NamedTuple):
    """What the run put in with one event; what it only said has no words that could be in another order."""

    seq: int
    letters: tuple[str, ...]
    words: tuple[str, ...] = ()
    values: frozenset[str] = frozenset()


class RunEvidence:
    """The record of one run, asked what of it is evidence."""

    def __init__(self, record: Mapping[int, Event]) -> None:
        """Of the events of the run itself, by `seq` (`untaken.judging.view.record_of`)."""
        self._record = record
        self._calls = [event for event in record.values() if isinstance(event, ToolCall)]
        self._by_id: defaultdict[str, list[ToolCall]] = defaultdict(list)
        for call in self._calls:
            self._by_id[call.call_id].append(call)

    def shows(self, event: Event, quote: str, *, claims: bool = False) -> bool:
        """Whether a quote is from a result: an observation that did not fail, a state, a metric of the run.

        Arguments and names of tools, the choice of a skill, task ids, questions and failed observations are
        none. Nor is what the run put in itself, in that call or an earlier one: `echo` says what it is given,
        in a frame or a code of its own; nor what the agent had said before, read back.
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
        """Whether what the run put in before an event says the quote, or all of it but a tool's frame."""
        before = [given for given in self._given if given.seq < seq]
        wordings = list(_wordings(quote))
        # A quote without a letter or digit says nothing that anybody could have found.
        return not wordings or any(_says(before, words) for words in wordings)

    @cached_property
    def _given(self) -> list[_Given]:
        return [given for event in self._record.values() if (given := _given(event)) is not None]


def is_claim(event: Event) -> bool:
    """Whether the event is something that was said: a message that no tool wrote, or a plan."""
    return isinstance(event, Plan | Message) and not _from_tool(event)


def _given(event: Event) -> _Given | None:
    if isinstance(event, SkillSelection):
        return _Given(event.seq, (_letters(event.selected),))
    if isinstance(event, Plan) or _from_agent(event):
        return _Given(event.seq, tuple(map(_letters, _results(event, claims=True))))
    return _put_in_by(event) if isinstance(event, ToolCall) else None


def _put_in_by(call: ToolCall) -> _Given:
    values = list(texts_in(list(call.arguments.values())))
    text, joined = "\n".join(texts_in(call.arguments)), "".join(values)
    # In lines, in one piece and as JSON: a tool may give any of these back, and decode what is in them.
    wholes = dict.fromkeys((text, joined, value_text(call.arguments)))
    read = [_letters(reading) for each in wholes for piece in pieces(each) for reading in readings(piece)]
    letters = [_letters(joined), _letters(call.tool), _letters(text), *read]
    words = (*_words(text), *_words(value_text(call.arguments)))
    return _Given(call.seq, tuple(dict.fromkeys(letters)), words, frozenset(map(_letters, values)))


def _wordings(quote: str) -> Iterator[list[str]]:
    """The words of a quote: as they are, as they look, and without what tools put around them."""
    seen = as_seen(_COLOUR.sub("", quote))
    bare = _FRAME.sub(" ", seen)
    if not _NAME.search(_WENT_WELL.sub("", bare)):
        bare = _WENT_WELL.sub(" ", bare)
    inner = _words(bare)
    yield from filter(None, (_words(quote), _words(seen), inner, _without_line_numbers(inner)))


def _without_line_numbers(words: list[str]) -> list[str]:
    counted = words[:1]
    kept = []
    for word in words:
        if [word] == counted and word.isdecimal():
            counted = [str(int(word) + 1)]
        else:
            kept.append(word)
    return kept if len(words) - len(kept) > 1 else words  # a single number may be anything


def _says(before: list[_Given], words: list[str]) -> bool:
    """Whether what was put in says these words: in one piece, in another order, in parts, or in a code."""
    letters = _letters("".join(words))
    # What the agent said counts from a few words on: a result may share a word or two with any sentence.
    enough = len(words) >= REPEATED_WORDS
    codes = (letters, letters[::-1], codecs.encode(letters, "rot13"))
    calls = [given for given in before if given.words]
    if any(
        code in text for given in (before if enough else calls) for text in given.letters for code in codes
    ):
        return True
    wanted = frozenset(words)
    if any(_close_by(wanted, given.words) for given in calls):
        return True
    # Over all calls together: a file may be written in parts, and read back whole.
    return letters in "".join(given.letters[0] for given in calls) or _in_parts(words, calls)


def _close_by(wanted: frozenset[str], words: tuple[str, ...]) -> bool:
    """Whether all the wanted words are among `SHORT_CALL` words in a row."""
    last: dict[str, int] = {}
    for place, word in enumerate(words):
        if word in wanted:
            last[word] = place
            if len(last) == len(wanted) and place - min(last.values()) < SHORT_CALL:
                return True
    return False


def _in_parts(words: list[str], calls: list[_Given]) -> bool:
    """Whether each two words or more of them, or what is a whole value, was put in somewhere."""
    done = 0
    while done < len(words):
        for end in range(len(words), done, -1):
            part = "".join(words[done:end])
            if any(part in given.values for given in calls) or (
                end - done > 1 and any(part in text for given in calls for text in given.letters)
            ):
                done = end
                break
        else:
            return False
    return True


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
