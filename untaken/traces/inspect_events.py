"""The events of an Inspect sample: whose they are, and what the models in them spent.

A scorer that asks a model, and a simulated user, write their events among those of the agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from untaken.traces.losses import Findings
from untaken.traces.otel_spans import below
from untaken.traces.readings import amount, mapping, text
from untaken.traces.spending import Amounts, Spending, added, amounts, named_apart, spend, usage, with_cost

Event = Mapping[str, Any]

TOKENS: Final = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cached_tokens": ("input_tokens_cache_read",),
    "cache_creation_tokens": ("input_tokens_cache_write",),
    "reasoning_tokens": ("reasoning_tokens",),
    "total_tokens": ("total_tokens",),
}
BESIDE: Final = ("input_tokens_cache_read", "input_tokens_cache_write")
"""Since 2026 not in the input of any service; the recorded total says how it was before."""
COST: Final = "total_cost"
USED: Final = (*(key for keys in TOKENS.values() for key in keys), COST)
"""What is read of a usage."""
SCORERS: Final = ("scorer", "scorers")
ROLES: Final = {
    **dict.fromkeys(("grader", "judge", "scorer", "monitor"), "grader"),
    **dict.fromkeys(("user", "user_simulator", "simulator"), "user"),
}
"""Roles of models that are not the agent's."""


def events_by_whose(events: Sequence[Event]) -> dict[str, list[Event]]:
    """The events of the agent, under an empty name, and those of graders and simulated users."""
    above = {
        name: text(event.get("parent_id"))
        for event in events
        if event.get("event") == "span_begin" and (name := text(event.get("id")))
    }
    tops = [
        str(event.get("id"))
        for event in events
        if event.get("event") == "span_begin" and event.get("type") in SCORERS
    ]
    graded = below(above, tops)
    found: dict[str, list[Event]] = {"": [], "grader": [], "user": []}
    steps = 0
    for event in events:
        if event.get("event") == "step" and event.get("type") in SCORERS:  # as older versions mark them
            steps += {"begin": 1, "end": -1}.get(str(event.get("action")), 0)
        scoring = steps > 0 or text(event.get("span_id")) in graded
        whose = "grader" if scoring else ROLES.get(str(event.get("role")), "")
        found[whose].append(event)
    return found


def sample_spent(
    sample: Mapping[str, Any], by_whose: Mapping[str, Sequence[Event]], run: str, findings: Findings
) -> Spending:
    """What the agent's models spent; what others did is in metrics under their names."""
    by_role: dict[str, list[Amounts]] = {}
    for role, counts in mapping(sample.get("role_usage")).items():
        by_role.setdefault(ROLES.get(role, ""), []).append(used(mapping(counts), findings))
    others = {
        whose: spend(
            _parts(events, Findings(None)) or by_role.get(whose, ()), run=run, findings=Findings(None)
        )
        for whose, events in by_whose.items()
        if whose
    }
    # It counts the others, too.
    total = added(used(mapping(each), findings) for each in mapping(sample.get("model_usage")).values())
    parts = [part for part in _parts(by_whose[""], findings) if part]
    apart = [amounts(spent) for spent in others.values()]
    if not parts:
        without = added(apart)
        # No call of the agent is recorded: what the others leave of the total is its own.
        total = {figure: max(value - without.get(figure, 0), 0) for figure, value in total.items()}
    spent = spend(parts, total, run=run, findings=findings, apart=apart)
    tokens = dict(spent.tokens)
    if tokens and total:
        tokens["total_tokens"] = tokens.get("input_tokens", 0) + tokens.get("output_tokens", 0)
    for whose, each in others.items():
        tokens |= named_apart(whose, each, len(model_calls(by_whose[whose])))
    return Spending(tokens=tokens, cost=spent.cost)


def model_calls(events: Sequence[Event]) -> list[Event]:
    """The calls of models among events."""
    return [event for event in events if event.get("event") == "model"]


def _parts(events: Sequence[Event], findings: Findings) -> list[Amounts]:
    """What each call of a model spent; a reply that was kept from before costs nothing."""
    calls = (event for event in model_calls(events) if event.get("cache") != "read")
    return [used(mapping(mapping(event.get("output")).get("usage")), findings) for event in calls]


def used(counts: Mapping[str, Any], findings: Findings) -> Amounts:
    """A usage, as Inspect writes it."""
    found = usage(counts, findings, TOKENS, beside=BESIDE, place="usage.")
    return with_cost(found, amount(counts.get(COST), findings, "usage.total_cost"))
