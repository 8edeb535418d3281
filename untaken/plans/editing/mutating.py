"""Which tools change something: proposals from names and recorded effects, for a person to confirm (§2d)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from untaken.ledger import Observation, Run, State, ToolCall
from untaken.plans.globs import escape_glob

Proposed = Literal["mutates", "hand_over", ""]

_CHANGING: Final = (
    "add apply approve assign book buy cancel charge close commit copy create delete deploy disable "
    "drop edit enable execute exchange insert install issue make merge modify move order patch pay post "
    "publish push put refuel refund remove rename replace reset resume return revoke save send set "
    "submit suspend toggle update upload write"
)
_READING: Final = (
    "ask calculate check count describe fetch find get grep inspect list load look lookup open query "
    "read recall retrieve search select show think verify view"
)

CHANGING: Final = frozenset(_CHANGING.split())
"""Verbs of tools that change something."""
READING: Final = frozenset(_READING.split())
"""Verbs of tools that only look."""
HANDING: Final = frozenset(("escalate", "handoff", "handover", "transfer"))
OFTEN: Final = 0.5
"""Share of a tool's calls after which the recorded state changed, for a proposal by effect alone."""

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class ToolProposal(Struct, frozen=True, kw_only=True):
    """One tool of a graph's runs.

    Attributes:
        calls: number of them, in so many `runs`.
        observed: accepted calls with a recorded state before the next call; `changed`: where it differed.
        proposed: what to declare it as; empty for nothing.
        reason: why, in words.
    """

    tool: str
    calls: int
    runs: int
    observed: int
    changed: int
    proposed: Proposed
    reason: str


class _Tally(Struct):
    calls: int = 0
    observed: int = 0
    changed: int = 0
    runs: set[str] = msgspec.field(default_factory=set)


def changing_tools(runs: Iterable[Run]) -> list[str]:
    """Patterns of the tools that change something or hand over, as names and recorded effects say."""
    return [escape_glob(one.tool) for one in tool_proposals(runs) if one.proposed]


def tool_proposals(runs: Iterable[Run]) -> tuple[ToolProposal, ...]:
    """Every tool that the runs called, with a proposal; those with one come first, then by calls."""
    tallies: dict[str, _Tally] = {}
    for run in runs:
        _count(run, tallies)
    made = [_proposal(tool, tally) for tool, tally in tallies.items()]
    return tuple(sorted(made, key=lambda one: (one.proposed == "", -one.calls, one.tool)))


def _count(run: Run, tallies: dict[str, _Tally]) -> None:
    state: dict[str, Any] = {}
    last: _Tally | None = None
    for event in run.events:
        if isinstance(event, ToolCall):
            last = tallies.setdefault(event.tool, _Tally())
            last.calls += 1
            last.runs.add(run.digest)
        elif isinstance(event, Observation) and event.ok is False:
            last = None
        elif isinstance(event, State):
            changed = any(state.get(key) != value for key, value in event.state.items())
            state |= event.state  # only the top level of the patch: enough to see that something changed
            if last is not None:
                last.observed += 1
                last.changed += changed
                last = None


def _proposal(tool: str, tally: _Tally) -> ToolProposal:
    proposed, reason = _by_name(tool)
    often = tally.changed > OFTEN * tally.observed
    if not proposed and not reason and often:  # the state speaks only where the name says nothing
        proposed = "mutates"
    if tally.observed:
        effect = f"the state differed after {tally.changed} of {tally.observed} calls"
        reason = f"{reason}; {effect}" if reason else effect
    return ToolProposal(
        tool=tool,
        calls=tally.calls,
        runs=len(tally.runs),
        observed=tally.observed,
        changed=tally.changed,
        proposed=proposed,
        reason=reason or "neither name nor record says",
    )


def _by_name(tool: str) -> tuple[Proposed, str]:
    """A proposal from the first meaningful word of the tool's name."""
    for word in _WORD.findall(tool):
        verb = word.lower()
        if verb in HANDING:
            return "hand_over", f"its name says {verb!r}"
        if verb in CHANGING:
            return "mutates", f"its name says {verb!r}"
        if verb in READING:
            return "", f"its name says {verb!r}"
    return "", ""
