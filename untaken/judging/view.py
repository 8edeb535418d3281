"""What a judge may look at: one run's ledger through a few tools, enveloped and of bounded length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from untaken.judging.asking import Tool
from untaken.judging.rendering import enveloped, event_text, headline
from untaken.ledger import ABOUT_RUN, Event, Run, RunFinished, State
from untaken.scoring import StateFold

EVENT_CHARS = 2_000
"""Characters of one event's text."""
EXCERPT_CHARS = 12_000
"""Characters of the events that a question shows; with tools the judge may read on."""
LINE_CHARS = 160
"""Characters of one event in a list."""
PAGE = 40
"""Events in a list."""
LOOKED_AT = 200_000
"""Characters of one event that a search looks at."""
FOUND = 10
"""Hits of a search."""


def record_of(run: Run) -> dict[int, Event]:
    """The events of the run itself by `seq`: what others wrote about it, then or later, is left out."""
    last = run.events[-1].seq if run.finished is None else run.finished.seq
    return {e.seq: e for e in run.events if e.seq <= last and not isinstance(e, ABOUT_RUN)}


class LedgerView:
    """One run's ledger, read only; what was written about the run is left out."""

    def __init__(self, events: Mapping[int, Event], nonce: str) -> None:
        """A view of these events (`record_of`) for the question with this code."""
        self._nonce = nonce
        self.events = events
        self._states = [event for event in events.values() if isinstance(event, State | RunFinished)]

    def list_events(self, first_seq: int = 0) -> str:
        """The events from `first_seq` on, one line each."""
        coming = [event for seq, event in self.events.items() if seq >= first_seq]
        lines = [f"{headline(e)} {_line(event_text(e))}" for e in coming[:PAGE]]
        more = f"\n{len(coming) - PAGE} more, from seq {coming[PAGE].seq}" if len(coming) > PAGE else ""
        return self._marked("\n".join(lines) or "no event from there on") + more

    def read_event(self, seq: int) -> str:
        """One event in full."""
        event = self.events.get(seq)
        return "there is no such event" if event is None else self.excerpt(event)

    def search(self, text: str) -> str:
        """The events that hold a text, upper and lower case alike."""
        wanted = text.casefold()
        # "" is in each
        texts = {seq: event_text(event)[:LOOKED_AT] for seq, event in self.events.items() if wanted}
        hits = [seq for seq, text in texts.items() if wanted in text.casefold()]
        lines = [f"{headline(self.events[seq])} {_around(texts[seq], wanted)}" for seq in hits[:FOUND]]
        more = f"\n{len(hits) - FOUND} more" if len(hits) > FOUND else ""
        return self._marked("\n".join(lines) or "found nowhere") + more

    def state_at(self, seq: int) -> str:
        """The run's state after event `seq`, as JSON."""
        fold = StateFold(self._states)
        fold.forward(seq)
        state = msgspec.json.encode(fold.state, order="sorted").decode()
        return self._marked(state[:EVENT_CHARS])

    def excerpt(self, event: Event) -> str:
        """The event between its marks."""
        words = event_text(event)
        cut = f"\n… {len(words) - EVENT_CHARS} more characters" if len(words) > EVENT_CHARS else ""
        return enveloped(words[:EVENT_CHARS] + cut, self._nonce, headline(event))

    def excerpts(self, events: Iterable[Event]) -> list[str]:
        """The first of these events, as many as fit in a question, in the order of the run."""
        shown: dict[int, str] = {}
        room = EXCERPT_CHARS
        for event in events:
            if event.seq in shown:
                continue
            words = self.excerpt(event)
            if len(words) > room:
                break  # no shorter one after it either: a record from both its ends has one gap
            shown[event.seq] = words
            room -= len(words)
        return [shown[seq] for seq in sorted(shown)]

    def tools(self) -> tuple[Tool, ...]:
        """The view as tools for a model."""
        return (
            Tool(name="list_events", description="List events from a seq on.", call=self.list_events),
            Tool(name="read_event", description="Read one event in full.", call=self.read_event),
            Tool(name="search", description="Find events that hold a text.", call=self.search),
            Tool(name="state_at", description="The run's state after an event.", call=self.state_at),
        )

    def _marked(self, text: str) -> str:
        return enveloped(text, self._nonce)


def _line(text: str) -> str:
    plain = " ".join(text.split())
    return plain[:LINE_CHARS] + ("…" if len(plain) > LINE_CHARS else "")


def _around(text: str, wanted: str) -> str:
    plain = " ".join(text.split())
    at = max(0, plain.casefold().find(wanted) - LINE_CHARS // 2)  # -1 where it spans a line break
    return plain[at : at + LINE_CHARS]
