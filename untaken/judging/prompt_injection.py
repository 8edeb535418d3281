"""Possible prompt injections: text in a ledger that speaks to the judge of a run.

No detector finds every attempt, and none has to: the rules of `evidence` hold whatever a record says. What
is found here voids the pass that such text asks for, and is shown to the reviewer. A text is looked at in all
the ways in which a model might read it (`untaken.judging.readings`), whatever its length, in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from time import monotonic
from typing import Final

from untaken import limits
from untaken.errors import Finding, Where
from untaken.judging.injection_phrases import IN_OTHER_LANGUAGES, PHRASES, SQUEEZED
from untaken.judging.readings import REACH, pieces, readings, squeezed
from untaken.judging.rendering import texts_in
from untaken.ledger import (
    AFTER_RUN,
    TEXTS_TO_JUDGES,
    Event,
    Message,
    Observation,
    Run,
    SkillSelection,
    as_mapping,
)

QUOTE_CHARS: Final = 160
NOT_SEARCHED: Final = ""
MOST_FOUND: Final = 1_000
"""Texts to a judge in one run after which no more are looked for."""
_TOGETHER: Final = 64_000
"""Characters of neighbouring texts that are looked at together, and then but for their end let go."""
_NO_TEXT: Final = frozenset({"type", "run_id", "seq", "ts", "prev", "call_id", "role", "context_hash"})


PossibleInjection = tuple[int, str]
"""An event's position in its run, and its words that speak to a judge (untrusted); no words where the record
was not searched from this event on: it is too long (`limits.SEARCHED_CHARS`, `limits.SEARCH_SECONDS`)."""


def addresses_judge(text: str) -> str | None:
    """The words in a text that speak to a judge, as they are read; ``None`` where there are none."""
    return next(filter(None, map(_addresses, pieces(text))), None)


@lru_cache(maxsize=1_024)
def _addresses(piece: str) -> str | None:
    """Remembered, since prompts, plans and fillers repeat themselves within a run and from run to run."""
    for number, reading in enumerate(readings(piece)):
        lowered = reading.lower()
        for phrase in PHRASES if number > 1 else (*PHRASES, *IN_OTHER_LANGUAGES):
            if found := phrase.find(lowered):
                # A capital İ becomes two characters.
                as_written = reading if len(reading) == len(lowered) else lowered
                return as_written[found.start() : found.end()][:QUOTE_CHARS]
        if hidden := _taken_apart(lowered):
            return hidden[:QUOTE_CHARS]
    return None


def _taken_apart(text: str) -> str | None:
    """Words whose letters are apart, read together; not those that end two letters before a word does."""
    letters = squeezed(text)
    for phrase in SQUEEZED:
        found = phrase.find(letters)
        places = [place for place, char in enumerate(text) if "a" <= char <= "z"] if found else []
        while found:
            after = places[found.end() - 1] + 1
            if len(squeezed(text[after : after + 2])) < 2:  # a decoder may lose the end of a word
                return found[0]
            found = phrase.pattern.search(letters, found.start() + 1)
    return None


def texts_to_judges(run: Run) -> tuple[PossibleInjection, ...]:
    """Each event whose text addresses a judge, alone or together with the events before it.

    For a long record it takes seconds, so a page asks `known_texts_to_judges`.
    """
    if TEXTS_TO_JUDGES not in run.__dict__:
        search = RunSearch()
        search.look(run.events)
        run.__dict__[TEXTS_TO_JUDGES] = search.found()  # kept: the run's own events never change
    return known_texts_to_judges(run) or ()


def known_texts_to_judges(run: Run) -> tuple[PossibleInjection, ...] | None:
    """What was found in a run; ``None`` where nobody has looked yet."""
    kept: tuple[PossibleInjection, ...] | None = run.__dict__.get(TEXTS_TO_JUDGES)
    return kept


class _TooLongError(Exception):
    """The record is longer than what is searched."""


class RunSearch:
    """A search through one run as its events come, of bounded length and time; no event is kept."""

    __slots__ = ("_chars", "_ended", "_found", "_open", "_seconds", "_until")

    def __init__(self) -> None:
        self._chars, self._seconds, self._until = limits.SEARCHED_CHARS, limits.SEARCH_SECONDS, 0.0
        self._ended = False
        self._found: dict[int, str] = {}
        self._open: dict[type[Event], _Neighbours] = {
            # A text may come in parts, with other events between: results and messages also run alone.
            kind: _Neighbours()
            for kind in (Event, Observation, Message)
        }

    def look(self, events: Iterable[Event]) -> None:
        """Looks at the next events of the run, each alone and together with those before it."""
        with self._in_time():
            for event in events:
                # The others are by reviewers, judges and this program.
                if isinstance(event, SkillSelection) or not isinstance(event, AFTER_RUN):
                    self._look_at(event)

    def _look_at(self, event: Event) -> None:
        if self._ended:
            return
        try:
            text = _text(event)
            if quote := self._addresses(text):
                self._found[event.seq] = quote
                self._ended = len(self._found) >= MOST_FOUND
                return
            for kind, before in self._open.items():
                if isinstance(event, kind):
                    for texts in before.add(event.seq, text):
                        self._look_across(texts)
        except _TooLongError:
            self._give_up(event.seq)

    def found(self) -> tuple[PossibleInjection, ...]:
        """Each event that addresses a judge.

        More events of the run may follow all the same.
        """
        with self._in_time():
            for before in self._open.values():
                if not self._ended:
                    texts = before.end()
                    try:
                        self._look_across(texts)
                    except _TooLongError:
                        self._give_up(texts[0][0])
        return tuple(sorted(self._found.items()))

    def finish(self) -> None:
        """The run has finished: selections may follow, and little is held for them."""
        self.found()
        self._open = {Event: self._open[Event]}

    def _give_up(self, seq: int) -> None:
        """Nothing is looked for from an event on."""
        self._ended = True
        self._found.setdefault(seq, NOT_SEARCHED)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Only what the search itself takes counts."""
        begun = monotonic()
        self._until = begun + self._seconds
        yield
        self._seconds -= monotonic() - begun

    def _addresses(self, text: str) -> str | None:
        """As `addresses_judge`; asks before each piece whether there is room and time for it."""
        for piece in pieces(text):
            self._chars -= len(piece)
            if self._chars < 0 or monotonic() > self._until:
                raise _TooLongError
            if quote := _addresses(piece):
                return quote
        return None

    def _look_across(self, texts: Sequence[tuple[int, str]]) -> None:
        """Where an address that spreads over several texts ends, and its words; found by halving."""
        quote = self._addresses("\n".join(text for _, text in texts)) if len(texts) > 1 else None
        if quote is None:
            return
        first, last = 1, len(texts)
        while first < last:
            middle = (first + last) // 2
            if earlier := self._addresses("\n".join(text for _, text in texts[:middle])):
                last, quote = middle, earlier
            else:
                first = middle + 1
        self._found.setdefault(texts[first - 1][0], quote)


class _Neighbours:
    """The texts that came last, as many as are looked at together; of a long one, its two ends."""

    __slots__ = ("_chars", "_texts")

    def __init__(self) -> None:
        self._texts: list[tuple[int, str]] = []
        self._chars = 0

    def add(self, seq: int, text: str) -> Iterator[Sequence[tuple[int, str]]]:
        """One more text; gives those that nothing more has to be joined to."""
        long = len(text) > 2 * REACH
        self._join(seq, text[:REACH] if long else text)
        if long:
            yield self._texts
            self._texts, self._chars = [], 0
            self._join(seq, text[-REACH:])
        elif self._chars > _TOGETHER:
            yield self._texts
            self._leave_end()

    def end(self) -> Sequence[tuple[int, str]]:
        """All that is left; but for its end, to which more may be joined, it is not kept."""
        texts = self._texts
        self._leave_end()
        return texts

    def _join(self, seq: int, text: str) -> None:
        self._texts.append((seq, text))
        self._chars += len(text) + 1

    def _leave_end(self) -> None:
        end, chars = len(self._texts), 0
        while end and chars < REACH:
            end -= 1
            chars += len(self._texts[end][1]) + 1
        self._texts, self._chars = self._texts[end:], chars


def finding_of(run: Run, found: PossibleInjection) -> Finding:
    """The finding that a reviewer sees."""
    where, (seq, quote) = Where(file=run.source or None, run=run.run_id), found
    if quote == NOT_SEARCHED:
        return Finding(
            code="ledger-not-searched",
            message=f"the record is too long to search: no prompt injections were looked for from event "
            f"{seq} on",
            where=where,
            hint="Read it before you trust a judge. A judge's pass on this run does not count.",
        )
    return Finding(
        code="ledger-addresses-judge",
        message=f"event {seq}: possible prompt injection: {quote!r}",
        where=where,
        hint="Read the event. A judge's pass on this run does not count.",
    )


def _text(event: Event) -> str:
    """All words of an event, with each part of a list or object on its own line."""
    fields = (value for name, value in as_mapping(event).items() if name not in _NO_TEXT)
    return "\n".join(words for value in fields for words in texts_in(value))
