"""What a judge's pass may rest on: results, never what somebody chose to say or to ask for.

These rules are the defence against text in a record that tries to steer a judge. They hold whatever the text
says and however it is disguised; the detector of `prompt_injection` only helps.
"""

from __future__ import annotations

from typing import Final

from untaken.judging.rendering import contains, texts_in, value_text
from untaken.ledger.events import Event, Message, Observation, Plan, RunFinished, State, ToolCall

TOOL_ROLES: Final = frozenset({"tool", "function", "environment"})
"""Roles whose messages are what came back from outside."""


def is_evidence(event: Event, quote: str, *, claims: bool = False, call: ToolCall | None = None) -> bool:
    """Whether a quote is from a result: an observation that did not fail, a state, or a metric of the run.

    Arguments and names of tools, the choice of a skill, task ids, questions and failed observations are none.
    Nor is an answer that repeats an argument of its call: `echo` says whatever it is given.

    Args:
        event: the event cited.
        quote: words of it.
        claims: take messages and plans, too.
        call: the call that the event answers, if it answers one.
    """
    if call is not None and any(contains(text, quote) for text in texts_in(call.arguments)):
        return False
    return any(contains(text, quote) for text in _results(event, claims=claims))


def is_claim(event: Event) -> bool:
    """Whether the event is something that was said: a message that no tool wrote, or a plan."""
    return isinstance(event, Plan | Message) and not _from_tool(event)


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


def _from_tool(event: Event) -> bool:
    return isinstance(event, Message) and event.role.lower() in TOOL_ROLES
