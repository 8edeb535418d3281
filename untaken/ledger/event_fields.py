"""The fields of the events that agents write, as `LedgerWriter.write` takes them, for editors and checkers.

The events themselves (`untaken.ledger.events`) are what is read, so their lists are exact; these take any
sequence or mapping. A test holds the names and what is required against the events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from untaken.ledger.events import Evidence, MadeWith, MappedAction, MemoryReference, Version


class EventFields(TypedDict):
    """What every event may state: when, where the ledger's clock is not to be asked."""

    ts: NotRequired[datetime | None]


class StartFields(TypedDict, total=False):
    """What a run may state about itself when it starts (the optional fields of RUN_STARTED), and when."""

    task_repeat: int | None
    graph: str | None
    model: str | None
    kind: Literal["agent", "workflow"] | None
    policy_memory: MemoryReference | None
    version: Version | None
    prompt_version: Version | None
    metadata: Mapping[str, Any] | None
    ts: datetime | None


class RunStartedFields(StartFields):
    """Of RUN_STARTED."""

    agent: str
    task_id: str


class PlanFields(EventFields):
    """Of PLAN."""

    sub_goals: Sequence[str]
    reason: NotRequired[str | None]


class SkillSelectionFields(EventFields):
    """Of SKILL_SELECTION."""

    selected: str
    alternatives: Sequence[str]
    context_hash: str
    context: NotRequired[Any]
    propensities: NotRequired[Mapping[str, float] | None]
    context_layers: NotRequired[Sequence[str] | None]


class ToolCallFields(EventFields):
    """Of TOOL_CALL."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    sub_goal: NotRequired[str | None]
    requestor: NotRequired[Literal["agent", "user"] | None]


class ObservationFields(EventFields):
    """Of OBSERVATION."""

    content: Any
    call_id: NotRequired[str | None]
    ok: NotRequired[bool | None]
    transient: NotRequired[bool | None]


class MessageFields(EventFields):
    """Of MESSAGE."""

    role: str
    content: Any


class StateFields(EventFields):
    """Of STATE."""

    state: Mapping[str, Any]


class VerdictFields(EventFields):
    """Of VERDICT."""

    sub_goal: str
    passed: bool | None
    by: str
    evidence: NotRequired[Sequence[Evidence] | None]
    reason: NotRequired[str | None]
    withdrawn: NotRequired[bool]
    settles: NotRequired[bool]
    blind: NotRequired[bool]
    made_with: NotRequired[MadeWith | None]


class ActionMappingFields(EventFields):
    """Of ACTION_MAPPING."""

    by: str
    actions: Sequence[MappedAction]


class RunFinishedFields(EventFields):
    """Of RUN_FINISHED."""

    success: bool | None
    steps: int | None
    cost: NotRequired[float | None]
    cost_unit: NotRequired[str]
    final_state: NotRequired[Mapping[str, Any] | None]
    metrics: NotRequired[Mapping[str, bool | float] | None]
    error: NotRequired[str | None]
    limit: NotRequired[str | None]
