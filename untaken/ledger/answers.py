"""Which recorded answer is the answer to which call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from untaken.ledger.events import Observation, ToolCall


def paired(
    calls: Sequence[ToolCall], observations: Iterable[Observation]
) -> Iterator[tuple[Observation, ToolCall | None]]:
    """Each observation with the call it answers: the latest one of its `call_id`, without an id the call
    before it; ``None`` where there is no such call.
    """
    coming = iter(calls)
    call = next(coming, None)
    made: ToolCall | None = None
    by_id: dict[str, ToolCall] = {}
    for event in observations:
        while call is not None and call.seq < event.seq:
            made = by_id[call.call_id] = call
            call = next(coming, None)
        yield event, made if event.call_id is None else by_id.get(event.call_id)
