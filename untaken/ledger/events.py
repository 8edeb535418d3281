"""The typed events of a run ledger (one JSON object a line).

Each event names its `type` and carries the envelope ``run_id, seq, ts, prev``. The tag comes first in a
written line because a decoder that looks ahead for it saves about a quarter of the time. Unknown extra fields
are ignored here and stay in the file, whose bytes are never rewritten.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from untaken import limits
from untaken.ledger.context import check_layers

Name = Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARS)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Link = Annotated[str, Meta(min_length=64, max_length=64, extra_json_schema={"pattern": "^[0-9a-f]{64}$"})]
"""A `prev`. The chain compares it anyway, and matching the pattern would cost a third of the decoding."""
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Seq = Count
Instant = Annotated[datetime, Meta(tz=True)]
Probability = Annotated[float, Meta(ge=0.0, le=1.0)]
Layers = Annotated[tuple[Name, ...], Meta(min_length=1, max_length=limits.CONTEXT_LAYERS)]
"""Hashes of one situation, from fine to coarse; the first is its context hash (`check_layers`)."""

Version = str | int | float
"""A release, a commit, a number: compared as text."""

GENESIS = "0" * 64
"""The `prev` of a run's first event."""


# `gc=False`: events hold no cycles, and the collector need not look through millions of them.
class Event(Struct, frozen=True, kw_only=True, tag_field="type", gc=False, omit_defaults=True):
    """The envelope every event carries."""

    run_id: Name
    seq: Seq
    ts: Instant
    prev: Link


class MemoryReference(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The policy-memory snapshot a run was started with."""

    as_of: Instant
    digest: str | None = None


class RunStarted(Event, frozen=True, kw_only=True, tag="RUN_STARTED", gc=False, omit_defaults=True):
    """First event of a run: who does what.

    `version` is that of the agent (its code, program or release), `prompt_version` that of its prompt.
    """

    agent: Name
    task_id: Name
    task_repeat: Whole | None = None
    graph: Name | None = None
    model: str | None = None
    kind: Literal["agent", "workflow"] | None = None
    policy_memory: MemoryReference | None = None
    version: Version | None = None
    prompt_version: Version | None = None
    metadata: dict[str, Any] | None = None


class Plan(Event, frozen=True, kw_only=True, tag="PLAN", gc=False, omit_defaults=True):
    """The agent's current plan: sub-goal ids or free text."""

    sub_goals: list[str]
    reason: str | None = None


class SkillSelection(Event, frozen=True, kw_only=True, tag="SKILL_SELECTION", gc=False, omit_defaults=True):
    """A decision point: what was chosen, among what, in which context; `layers` of it, where there are more.

    `context` is the readable form of the finest.
    """

    selected: Name
    alternatives: list[Name]
    context_hash: Name
    context: Any = None
    propensities: dict[str, Probability] | None = None
    context_layers: Layers | None = None

    def __post_init__(self) -> None:
        if self.context_layers is not None:
            check_layers(self.context_hash, self.context_layers)

    @property
    def layers(self) -> tuple[str, ...]:
        """The hashes by which history is looked up, from fine to coarse: one where no layers were written."""
        return self.context_layers or (self.context_hash,)


class ToolCall(Event, frozen=True, kw_only=True, tag="TOOL_CALL", gc=False, omit_defaults=True):
    """An action. `requestor` is ``user`` where a simulated user, not the agent, made the call."""

    call_id: str
    tool: Name
    arguments: dict[str, Any]
    sub_goal: Name | None = None
    requestor: Literal["agent", "user"] | None = None


class Observation(Event, frozen=True, kw_only=True, tag="OBSERVATION", gc=False, omit_defaults=True):
    """What came back from a call."""

    call_id: str | None = None
    ok: bool | None = None
    transient: bool | None = None
    content: Any


class Message(Event, frozen=True, kw_only=True, tag="MESSAGE", gc=False, omit_defaults=True):
    """Something said by the agent, a user or the system."""

    role: str
    content: Any


class State(Event, frozen=True, kw_only=True, tag="STATE", gc=False, omit_defaults=True):
    """A JSON merge patch (RFC 7386) on the run's state."""

    state: dict[str, Any]


class Evidence(Struct, frozen=True, kw_only=True, gc=False):
    """An event a verdict rests on, with the words quoted from it."""

    seq: Seq
    quote: str


BLAMED: Final = "work of "
"""Begins the `sub_goal` of a verdict on whose work failed, which is no sub-goal of a plan graph."""


class MadeWith(Struct, frozen=True, kw_only=True, gc=False):
    """What a judge's verdict was made with: another model, prompt, sub-goal or setting is another judge.

    `prompt` and `sub_goal` are SHA-256 of the instructions and of the sub-goal as it was asked about.
    """

    model: Name
    prompt: Sha256
    sub_goal: Sha256
    settings: Name


class Verdict(Event, frozen=True, kw_only=True, tag="VERDICT", gc=False, omit_defaults=True):
    """A recorded judgement on one sub-goal; `passed` is ``None`` where the judge could not tell.

    With `withdrawn`, its author takes all earlier verdicts on this sub-goal back; they stay in the ledger.
    With `settles`, reviewers who differed agreed on it: it decides until a reviewer speaks again, ``None``
    opens the question again, and the author's own verdict stays. `blind`: its author had not seen what others
    wrote about the run. `made_with`: of a judge's.
    """

    sub_goal: Name
    passed: bool | None
    by: Annotated[str, Meta(pattern="^(human|judge):.+$|^test$|^rule$", max_length=limits.NAME_CHARS)]
    evidence: list[Evidence] | None = None
    reason: str | None = None
    withdrawn: bool = False
    settles: bool = False
    blind: bool = False
    made_with: MadeWith | None = None


class MappedAction(Struct, frozen=True, kw_only=True, gc=False):
    """An action, by its `seq`, and the sub-goal that it served."""

    seq: Seq
    sub_goal: Name


class ActionMapping(Event, frozen=True, kw_only=True, tag="ACTION_MAPPING", gc=False, omit_defaults=True):
    """After the run: which sub-goals a judge says that actions served which nothing else maps."""

    by: Annotated[str, Meta(pattern="^judge:.+$", max_length=limits.NAME_CHARS)]
    actions: list[MappedAction]


class RunFinished(Event, frozen=True, kw_only=True, tag="RUN_FINISHED", gc=False, omit_defaults=True):
    """The run's own outcome. ``success``, ``steps`` or ``cost`` of ``None`` is unknown, never false or 0."""

    success: bool | None
    cost: Annotated[float, Meta(ge=0.0)] | None = None
    cost_unit: str = "usd"
    steps: Count | None  # no default: a writer must say that it does not know
    final_state: dict[str, Any] | None = None
    metrics: dict[str, bool | float] | None = None
    error: str | None = None
    limit: str | None = None


class CounterfactualInsight(
    Event, frozen=True, kw_only=True, tag="COUNTERFACTUAL_INSIGHT", gc=False, omit_defaults=True
):
    """After the run: an alternative whose history scores higher than this run did."""

    decision_point: Seq
    selected: Name
    alternative: Name
    delta: float
    advantage: float | None = None
    support: str | None = None
    direction: str | None = None
    memory_digest: str | None = None


class EvaluationSummary(
    Event, frozen=True, kw_only=True, tag="EVALUATION_SUMMARY", gc=False, omit_defaults=True
):
    """After the run: counts of a counterfactual evaluation."""

    summary: dict[str, Any] | None = None
    memory_digest: str | None = None


class ReviewNote(Event, frozen=True, kw_only=True, tag="REVIEW_NOTE", gc=False, omit_defaults=True):
    """After the run: what a reviewer wrote, on the run, a sub-goal or one event of it (its `seq`).

    With `withdraws`, its author takes back the note of their own with that `seq`; it stays in the ledger.
    `blind`: its author had not seen what others wrote about the run.
    """

    author: Name | None = None
    text: str = ""
    sub_goal: Name | None = None
    event: Seq | None = None
    status: str | None = None
    withdraws: Seq | None = None
    blind: bool = False


class ModeAssignment(Event, frozen=True, kw_only=True, tag="FAILURE_MODE", gc=False, omit_defaults=True):
    """After the run: a failure mode that somebody sees in the run, at a sub-goal or at an event (its `seq`).

    The latest event of an author on one mode at one place counts. Only what a person accepted is counted;
    a person who withdraws what a judge suggested dismisses it. `blind`: its author had not seen what others
    wrote about the run.
    """

    mode: Name
    by: Annotated[str, Meta(pattern="^(human|judge):.+$", max_length=limits.NAME_CHARS)]
    status: Literal["accepted", "suggested", "withdrawn"] = "accepted"
    sub_goal: Name | None = None
    event: Seq | None = None
    note: Seq | None = None
    reason: str | None = None
    blind: bool = False


AnyEvent = (
    RunStarted
    | Plan
    | SkillSelection
    | ToolCall
    | Observation
    | Message
    | State
    | Verdict
    | RunFinished
    | CounterfactualInsight
    | EvaluationSummary
    | ReviewNote
    | ActionMapping
    | ModeAssignment
)

ABOUT_RUN = (ActionMapping, CounterfactualInsight, EvaluationSummary, ModeAssignment, ReviewNote, Verdict)
"""What others write about a run, in it or after it: no event of the run's own."""
AFTER_RUN = (*ABOUT_RUN, SkillSelection)
"""Events that may follow RUN_FINISHED. A selection there is no decision point of the run (§2.1)."""


def event_type(event: Event | type[Event]) -> str:
    """The name in the `type` field of an event, or of a class of events."""
    return str(event.__struct_config__.tag)


def as_mapping(event: Event) -> dict[str, Any]:
    """The event as plain JSON types, for display."""
    return dict(msgspec.to_builtins(event))


def readable(value: Any) -> str | None:
    """Recorded content as one text: itself where it is text, otherwise as JSON."""
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value, order="sorted").decode()  # equal contents, equal texts


def cut(text: str, limit: int = 120) -> str:
    """The text, or as much of its beginning as fits into `limit` characters with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
