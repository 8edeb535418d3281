"""Failures that a run saw without ever changing its plan, and what it did next (§4, diagnosis)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from untaken.analysis import Corpus
from untaken.errors import Unscored
from untaken.ledger import Event, Message, Observation, Run, RunFinished, ToolCall, readable
from untaken.plans import json_equal
from untaken.scoring import RunScore, Trace

Next = Literal["tried again", "tried otherwise", "went on", "spoke", "ended"]
PREVIEW_CHARS = 240


class UnhandledFailure(Struct, frozen=True, kw_only=True):
    """One observation that failed; texts are untrusted.

    Attributes:
        seq: of the observation; `text`: what it says, cut.
        call, tool: the call that it answers, if any.
        next: what the agent did then: the same call again, the same tool otherwise, another tool, words, or
            nothing any more; `next_seq` is that event, `next_tool` its tool.
    """

    seq: int
    text: str
    transient: bool
    call: int | None
    tool: str
    next: Next
    next_seq: int | None
    next_tool: str


def find_unhandled(run: Run, score: RunScore | Unscored) -> tuple[UnhandledFailure, ...]:
    """The failures of a run whose diagnosis is ``not_detecting_errors``, in order; of any other run, none."""
    if isinstance(score, Unscored) or score.diagnosis != "not_detecting_errors":
        return ()
    trace = Trace(run)
    return tuple(_failure(run, trace, failed, call) for failed, call in trace.failures)


def runs_not_detecting_errors(corpus: Corpus) -> tuple[str, ...]:
    """Digests of the runs that saw failures and never changed their plan, in reading order."""
    return tuple(
        digest
        for digest, score in corpus.scores.items()
        if isinstance(score, RunScore) and score.diagnosis == "not_detecting_errors"
    )


def _failure(run: Run, trace: Trace, failed: Observation, call: ToolCall | None) -> UnhandledFailure:
    after = (event for event in run.events if failed.seq < event.seq <= trace.last)
    coming = next(filter(_acts, after), None)
    return UnhandledFailure(
        seq=failed.seq,
        text=(readable(failed.content) or "")[:PREVIEW_CHARS],
        transient=bool(failed.transient),
        call=call.seq if call else None,
        tool=call.tool if call else "",
        next=_next(call, coming),
        next_seq=coming.seq if coming else None,
        next_tool=coming.tool if isinstance(coming, ToolCall) else "",
    )


def _acts(event: Event) -> bool:
    if isinstance(event, ToolCall):
        return event.requestor != "user"  # what a simulated user does is not the agent's reaction
    if isinstance(event, Message):
        return event.role.lower() not in ("user", "system", "tool")
    return isinstance(event, RunFinished)


def _next(call: ToolCall | None, coming: Event | None) -> Next:
    if coming is None or isinstance(coming, RunFinished):
        return "ended"
    if not isinstance(coming, ToolCall):
        return "spoke"
    if call is None or coming.tool != call.tool:
        return "went on"
    return "tried again" if json_equal(coming.arguments, call.arguments) else "tried otherwise"
