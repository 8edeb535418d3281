"""Writing one run: a typed method for each event, and an end that is recorded whatever happens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Protocol, Self, Unpack, overload

from untaken.ledger import event_fields as of
from untaken.ledger.context import layered_hashes
from untaken.ledger.events import (
    ActionMapping,
    CounterfactualInsight,
    EvaluationSummary,
    Evidence,
    Message,
    ModeAssignment,
    Observation,
    Plan,
    ReviewNote,
    RunFinished,
    SkillSelection,
    State,
    ToolCall,
    Verdict,
)

NotByAgents = CounterfactualInsight | EvaluationSummary | ReviewNote | ModeAssignment
_ERROR_CHARS: Final = 10_000


class EventSink(Protocol):
    """What a run is written to: `LedgerWriter`."""

    def write(self, event: type[Any], run_id: str, **fields: Any) -> Any:
        """Appends one event."""


class RunWriter:
    """Writes the events of one run.

    As a context manager it finishes the run. A run that ends with an exception is recorded as failed, with
    the exception as its `error`, and the exception goes on; an interruption (Ctrl+C, `SystemExit`) leaves
    the outcome unknown, and so does an end without `finish`.

    Attributes:
        run_id: the run.
        finished: whether RUN_FINISHED was written through this object.
    """

    def __init__(self, ledger: EventSink, run_id: str) -> None:
        self.run_id = run_id
        self.finished = False
        self._ledger = ledger
        self._calls = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.finished:
            return
        if kind is None:
            self.finish(success=None)  # nobody said how it went
            return
        # An exception's text may hold half a surrogate pair, which no ledger can.
        message = f"{kind.__name__}: {error}".encode("utf-8", "replace").decode()[:_ERROR_CHARS]
        # An interruption from outside says nothing of the agent.
        self.finish(success=False if issubclass(kind, Exception) else None, error=message)

    @overload
    def write(self, event: type[Plan], **fields: Unpack[of.PlanFields]) -> Plan | None: ...
    @overload
    def write(
        self, event: type[SkillSelection], **fields: Unpack[of.SkillSelectionFields]
    ) -> SkillSelection | None: ...
    @overload
    def write(self, event: type[ToolCall], **fields: Unpack[of.ToolCallFields]) -> ToolCall | None: ...
    @overload
    def write(
        self, event: type[Observation], **fields: Unpack[of.ObservationFields]
    ) -> Observation | None: ...
    @overload
    def write(self, event: type[Message], **fields: Unpack[of.MessageFields]) -> Message | None: ...
    @overload
    def write(self, event: type[State], **fields: Unpack[of.StateFields]) -> State | None: ...
    @overload
    def write(self, event: type[Verdict], **fields: Unpack[of.VerdictFields]) -> Verdict | None: ...
    @overload
    def write(
        self, event: type[ActionMapping], **fields: Unpack[of.ActionMappingFields]
    ) -> ActionMapping | None: ...
    @overload
    def write(
        self, event: type[RunFinished], **fields: Unpack[of.RunFinishedFields]
    ) -> RunFinished | None: ...
    @overload
    def write(self, event: type[NotByAgents], **fields: Any) -> NotByAgents | None: ...
    def write(self, event: type[Any], **fields: Any) -> Any:
        """Append one event of any class to this run (see `LedgerWriter.write`)."""
        written = self._ledger.write(event, self.run_id, **fields)
        # Also where it could not be recorded: no other call may get its id, and no run a second end.
        self._calls += event is ToolCall
        self.finished = self.finished or event is RunFinished
        return written

    def tool_call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        call_id: str | None = None,
        sub_goal: str | None = None,
    ) -> str:
        """Append an action.

        Args:
            tool: its name.
            arguments: by name; any values (see `untaken.ledger.encoding`).
            call_id: what its observation refers to; by default ``call-1``, ``call-2`` …
            sub_goal: the sub-goal of the plan graph that it serves, where the agent knows it.

        Returns:
            The call id, for `observation`.
        """
        named = call_id if call_id is not None else f"call-{self._calls + 1}"
        given = {} if arguments is None else arguments
        self.write(ToolCall, call_id=named, tool=tool, arguments=given, sub_goal=sub_goal)
        return named

    def observation(
        self,
        content: Any,
        *,
        call_id: str | None = None,
        ok: bool | None = None,
        transient: bool | None = None,
    ) -> None:
        """Append what came back from a call.

        Args:
            content: any value.
            call_id: of the call it answers, as `tool_call` returned it.
            ok: whether the call worked, where that is known.
            transient: true for a failure that trying again may cure.
        """
        self.write(Observation, call_id=call_id, ok=ok, transient=transient, content=content)

    def message(self, role: str, content: Any) -> None:
        """Append something said by the agent, a user or the system."""
        self.write(Message, role=role, content=content)

    def plan(self, sub_goals: Sequence[str], *, reason: str | None = None) -> None:
        """Append the agent's plan as it is now: ids of sub-goals, or free text."""
        self.write(Plan, sub_goals=_listed(sub_goals), reason=reason)

    def state(self, changes: Mapping[str, Any]) -> None:
        """Append a change of the run's state: a JSON merge patch, in which ``None`` removes a member."""
        self.write(State, state=changes)

    def verdict(
        self,
        sub_goal: str,
        *,
        passed: bool | None,
        by: str,
        evidence: Sequence[Evidence] | None = None,
        reason: str | None = None,
    ) -> None:
        """Append a judgement on a sub-goal; `by` is ``human:…``, ``judge:…``, ``test`` or ``rule``."""
        listed = None if evidence is None else _listed(evidence)
        self.write(Verdict, sub_goal=sub_goal, passed=passed, by=by, evidence=listed, reason=reason)

    def choose(
        self,
        selected: str,
        alternatives: Sequence[str],
        context: Mapping[str, Any],
        *,
        coarser: Iterable[Mapping[str, Any]] = (),
        propensities: Mapping[str, float] | None = None,
    ) -> SkillSelection | None:
        """Append a decision point, with the hash of its context.

        Args:
            selected: the skill that is taken.
            alternatives: the skills there were; the selected one may be among them.
            context: the situation, as far as it matters to the choice. History is looked up by it, so what
                never is repeated (an id, a moment, an amount) keeps a choice from ever having any.
            coarser: the same situation in ever broader terms, from finer to coarser, at most 7 times: where
                the skills have no history in `context`, the next one of these is asked.
            propensities: the probability with which each skill was to be taken, where the agent knows it.

        Raises:
            UntakenError: ``context-not-canonical``, and as in `LedgerWriter.write`.
        """
        layers = layered_hashes((context, *coarser))
        return self.write(
            SkillSelection,
            selected=selected,
            alternatives=_listed(alternatives),
            context_hash=layers[0],
            context=dict(context),
            propensities=None if propensities is None else dict(propensities),
            context_layers=tuple(layers) if len(layers) > 1 else None,  # one layer is the context hash itself
        )

    def finish(
        self,
        *,
        success: bool | None,
        cost: float | None = None,
        steps: int | None = None,
        cost_unit: str = "usd",
        final_state: Mapping[str, Any] | None = None,
        metrics: Mapping[str, bool | float] | None = None,
        error: str | None = None,
        limit: str | None = None,
    ) -> None:
        """Append the run's own outcome.

        Args:
            success: whether the run reached its goal; ``None`` where nobody knows.
            cost: in `cost_unit`; ``None`` where it is not known, which is not 0.
            steps: by default the number of actions written through this object.
            cost_unit: of `cost`.
            final_state: the state at the end, for checks.
            metrics: numbers and truths by name.
            error: what ended the run, where it did not end by itself.
            limit: the limit that ended it.
        """
        self.write(
            RunFinished,
            success=success,
            cost=cost,
            cost_unit=cost_unit,
            steps=self._calls if steps is None else steps,
            final_state=final_state,
            metrics=metrics,
            error=error,
            limit=limit,
        )


def _listed(values: Any) -> Any:
    """A list of what may be any sequence; a single text is left as it is, for the writer to refuse."""
    return values if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
