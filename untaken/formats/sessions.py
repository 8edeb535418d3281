"""Sessions of coding agents: what their runs have in common, whichever program kept them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from untaken.formats.trace_run import Item, TraceRun


def sessions_in(
    lines: Iterable[Mapping[str, Any]], named: Callable[[Mapping[str, Any]], str | None]
) -> Iterator[list[Mapping[str, Any]]]:
    """The lines of each session: one begins where a line names another session than the one at hand."""
    session: list[Mapping[str, Any]] = []
    at_hand: str | None = None
    for line in lines:
        name = named(line)
        if name is not None and session and name != at_hand:
            yield session
            session = []
        at_hand = name or at_hand
        session.append(line)
    yield session


def session_run(
    format: str,
    session: str,
    found: Iterable[Item],
    *,
    model: str | None,
    started: datetime | None = None,
    about: dict[str, str | None] | None = None,
    **recorded: Any,
) -> TraceRun:
    """The run of a session, which is its own task; its agent is the program with its model.

    Args:
        format: name of the format, which is also that of the program.
        session: its id.
        found: what was said and done, in order.
        model: the model, where it is recorded.
        started: when the session began; by default the first recorded moment.
        about: further metadata; what is not recorded is left out.
        recorded: the other fields of the `TraceRun`.
    """
    items = list(found)
    times = [item.at for item in items if item.at is not None]
    return TraceRun(
        run_id=f"{format}/{session}",
        agent=f"{format}/{model}" if model else format,
        task_id=session,
        model=model,
        items=items,
        started=started or min(times, default=None),
        finished=max(times, default=None),
        metadata={"format": format, **{name: each for name, each in (about or {}).items() if each}},
        **recorded,
    )
