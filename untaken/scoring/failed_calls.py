"""The tool's own words: the last failed call of a sub-goal that was not completed (§4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from msgspec import Struct

from untaken.ledger import ToolCall, cut
from untaken.plans import ToolCallSpec, json_equal, text_of
from untaken.scoring.differences import BRIEF_CHARS, shown, unmet_arguments
from untaken.scoring.trace import Trace
from untaken.visible import one_line

ERROR_CHARS: Final = 200
"""Characters of an error text that are quoted."""
MOST_ARGUMENTS: Final = 3


class FailedCall(Struct, frozen=True, kw_only=True, gc=False):
    """A call whose recorded answer says ``ok: false``; its texts come from the ledger and are untrusted.

    Attributes:
        answer: `seq` of the answer.
        error: its text on one line, at most `ERROR_CHARS`; empty where it has none.
    """

    call: ToolCall
    answer: int
    error: str


def last_failed_call(trace: Trace, events: Collection[int]) -> FailedCall | None:
    """The last failed call among a sub-goal's actions; none where a later call of its tool did not fail."""
    if not trace.failed or not events:
        return None
    among, recovered = set(events), set[str]()
    for call in reversed(trace.calls):
        if call.seq not in among:
            continue
        answer = trace.answer(call)
        if answer is None or answer.ok is not False:
            recovered.add(call.tool)
        elif call.tool not in recovered:
            error = one_line(text_of(answer.content) or "", ERROR_CHARS).strip()
            return FailedCall(call=call, answer=answer.seq, error=error)
    return None


def failed_in_words(failed: FailedCall, spec: ToolCallSpec | None, trace: Trace) -> str:
    """``pay_refund failed: “settlement window closed” (event 14, currency "CHF")``.

    The arguments are those that differ: from the expected call, else from the run's own successful calls of
    the tool; without either the first few.
    """
    words = f": “{failed.error}”" if failed.error else " without a word"
    given = [f"{name} {cut(shown(value), BRIEF_CHARS)}" for name, value in _telling(failed.call, spec, trace)]
    beside = ", ".join([f"event {failed.call.seq}", *given[:MOST_ARGUMENTS]])
    return f"{failed.call.tool} failed{words} ({beside})"


def _telling(call: ToolCall, spec: ToolCallSpec | None, trace: Trace) -> Iterator[tuple[str, object]]:
    if spec is not None and spec.name == call.tool:
        # `filter.city` is in `filter`
        unmet = dict.fromkeys(name.partition(".")[0] for name, _, _ in unmet_arguments(spec, call))
        yield from ((name, call.arguments[name]) for name in unmet if name in call.arguments)
        return
    good = [one for one in trace.calls_of(call.tool) if one is not call and _accepted(one, trace)]
    yield from unlike(call, good) if good else call.arguments.items()  # with none to compare: all of them


def _accepted(call: ToolCall, trace: Trace) -> bool:
    answer = trace.answer(call)
    return answer is not None and answer.ok is not False


def unlike(call: ToolCall, good: Iterable[ToolCall]) -> list[tuple[str, object]]:
    """The arguments of a call that no successful call of its tool has so, in its own order."""
    others = list(good)
    return [
        (name, value)
        for name, value in call.arguments.items()
        if not any(name in one.arguments and json_equal(value, one.arguments[name]) for one in others)
    ]
