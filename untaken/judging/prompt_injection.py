"""Possible prompt injections: text in a ledger that speaks to the judge of a run.

No detector finds every attempt, and none has to: the rules of `evidence` hold whatever a record says. What
is found here voids the pass that such text asks for, and is shown to the reviewer. A text is looked at in all
the ways in which a model might read it (`untaken.judging.readings`), whatever its length, in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from untaken.errors import Finding, Where
from untaken.judging.injection_phrases import PHRASES, SQUEEZED
from untaken.judging.readings import readings, squeezed
from untaken.judging.rendering import texts_in
from untaken.ledger import Run, as_mapping
from untaken.ledger.events import AFTER_RUN, Event, Message, Observation, SkillSelection
from untaken.ledger.run import TEXTS_TO_JUDGES

QUOTE_CHARS: Final = 160
REPEATED_CHARS: Final = 2_000
"""Texts up to this length repeat from run to run (calls, plans, prompts), so the last ones are remembered."""
_NO_TEXT: Final = frozenset({"type", "run_id", "seq", "ts", "prev", "call_id", "role", "context_hash"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleInjection:
    """Words in an event that speak to a judge."""

    seq: int
    quote: str


def addresses_judge(text: str) -> str | None:
    """The words in a text that speak to a judge, as they are read; ``None`` where there are none."""
    return _known(text) if len(text) <= REPEATED_CHARS else _addresses(text)


def _addresses(text: str) -> str | None:
    for reading in readings(text):
        lowered = reading.lower()
        for phrase in PHRASES:
            if found := phrase.find(lowered):
                as_written = reading if len(reading) == len(lowered) else lowered
                return as_written[found.start() : found.end()][:QUOTE_CHARS]
        if hidden := _taken_apart(lowered):
            return hidden[:QUOTE_CHARS]
    return None


def _taken_apart(text: str) -> str | None:
    """Words whose letters are apart, read together; not those that end two letters before a word does."""
    letters = squeezed(text)
    found = SQUEEZED.search(letters)
    places = [place for place, char in enumerate(text) if "a" <= char <= "z"] if found else []
    while found:
        after = places[found.end() - 1] + 1
        if len(squeezed(text[after : after + 2])) < 2:  # a decoder may lose the end of a word
            return found[0]
        found = SQUEEZED.search(letters, found.start() + 1)
    return None


_known: Final = lru_cache(maxsize=4_096)(_addresses)


def texts_to_judges(run: Run) -> tuple[PossibleInjection, ...]:
    """Each event whose text addresses a judge, alone or together with the events before it.

    Kept with the run: its own events never change, and a page asks for them with every click.
    """
    kept: tuple[tuple[int, str], ...] | None = run.__dict__.get(TEXTS_TO_JUDGES)
    if kept is None:
        kept = run.__dict__[TEXTS_TO_JUDGES] = tuple(_scanned(run))
    return tuple(PossibleInjection(seq=seq, quote=quote) for seq, quote in kept)


def _scanned(run: Run) -> Iterator[tuple[int, str]]:
    record = [
        event for event in run.events if not isinstance(event, AFTER_RUN) or isinstance(event, SkillSelection)
    ]  # the others are by reviewers, judges and this program
    texts = {event.seq: _text(event) for event in record}
    found = {seq: quote for seq, text in texts.items() if (quote := addresses_judge(text))}
    for events in (record, _of(record, Observation), _of(record, Message)):
        seqs = [event.seq for event in events if event.seq not in found]
        if len(seqs) > 1 and (across := _across([texts[seq] for seq in seqs])):
            found.setdefault(seqs[across[0]], across[1])
    return iter(sorted(found.items()))


def finding_of(run: Run, found: PossibleInjection) -> Finding:
    """The finding that a reviewer sees."""
    return Finding(
        code="ledger-addresses-judge",
        message=f"event {found.seq}: possible prompt injection: {found.quote!r}",
        where=Where(file=run.source or None, run=run.run_id),
        hint="Read the event. A judge's pass on this run does not count.",
    )


def _of(record: Iterable[Event], kind: type[Event]) -> list[Event]:
    return [event for event in record if isinstance(event, kind)]


def _across(texts: Sequence[str]) -> tuple[int, str] | None:
    """Where an address that spreads over several texts ends, and its words; found by halving."""
    quote = addresses_judge("\n".join(texts))
    if quote is None:
        return None
    first, last = 1, len(texts)
    while first < last:
        middle = (first + last) // 2
        if earlier := addresses_judge("\n".join(texts[:middle])):
            last, quote = middle, earlier
        else:
            first = middle + 1
    return first - 1, quote


def _text(event: Event) -> str:
    """All words of an event, with each part of a list or object on its own line."""
    fields = (value for name, value in as_mapping(event).items() if name not in _NO_TEXT)
    return "\n".join(words for value in fields for words in texts_in(value))
