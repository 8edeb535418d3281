"""What a rule may ask of a run, and whether it holds (§9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from untaken import limits
from untaken.analysis.failure_modes.issue_model import IssueRule
from untaken.analysis.failure_modes.reading import NO_VERSION, version_of
from untaken.analysis.failure_modes.shapes import error_kind
from untaken.errors import Unscored
from untaken.ledger import Event, Message, Observation, Run, ToolCall, readable
from untaken.plans import evaluate_expression, matches_glob
from untaken.scoring import RunScore, Trace


def run_facts(
    run: Run, score: RunScore | Unscored, *, modes: Sequence[str] = (), statements: Sequence[str] = ()
) -> dict[str, Any]:
    """The facts of a run under the names that an expression reads as ``state.NAME``.

    What is not known is left out: an expression that asks for it is unscored, never false.

    Args:
        run: an unbroken one.
        score: against its plan graph.
        modes: ids of the failure modes that people assigned.
        statements: what the run did where a supported statement says that another way goes with more success.
    """
    trace, finished = Trace(run), run.finished
    failed = Counter(call.tool for _, call in trace.failures if call is not None)
    known: dict[str, Any] = {
        "agent": run.agent,
        "task": run.task_id,
        "model": run.started.model,
        "version": None if version_of(run) == NO_VERSION else version_of(run),
        "metadata": run.started.metadata or {},
        "success": None if isinstance(run.success, Unscored) else run.success,
        "finished": finished is not None,
        "tools": dict(Counter(call.tool for call in trace.calls)),
        "failed_tools": dict(failed),
        "errors": [error_kind(readable(failed.content) or "") for failed, _ in trace.failures],
        "modes": list(modes),
        "statements": list(statements),
    }
    if finished is not None:
        # "": it is known that there was none.
        known |= {"error": finished.error or "", "limit": finished.limit or ""}
        known |= {"cost": finished.cost, "steps": finished.steps}
    if isinstance(score, RunScore):
        known |= {
            "graph": score.graph_id,
            "status": {node.sub_goal: node.status for node in score.results},
            "diagnosis": score.diagnosis,
            "violations": [violation.sub_goal for violation in score.violations],
            "replans": score.replans if score.plans else None,  # unknown where no plan is recorded
        }
    return {name: value for name, value in known.items() if value is not None}


FACTS = (
    *("agent", "task", "model", "version", "metadata", "success", "finished", "tools", "failed_tools"),
    *("errors", "modes", "statements", "error", "limit", "cost", "steps", "graph", "status", "diagnosis"),
    *("violations", "replans"),
)
"""The names of `run_facts`."""


def rule_holds(
    rule: IssueRule,
    run: Run,
    score: RunScore | Unscored,
    *,
    modes: Sequence[str] = (),
    statements: Sequence[str] = (),
) -> bool | Unscored:
    """Whether a rule holds of a run: its text glob fits a text of the run, in any case, and its expression is
    true.

    Args: as for `run_facts`.
    """
    wanted = rule.text.lower()
    if wanted and not any(matches_glob(wanted, text.lower()) for text in _texts(run)):
        return False
    if not rule.expr:
        return True
    return evaluate_expression(rule.expr, run_facts(run, score, modes=modes, statements=statements))


def _texts(run: Run) -> Iterator[str]:
    """What was said, called and answered in a run, each text from its beginning."""
    for event in run.events[: run.own]:
        text = event_words(event)
        if text:
            yield text[: limits.RULE_TEXT_CHARS]


def event_words(event: Event) -> str | None:
    """What an event says, calls or answers, as one text; ``None`` for every other event."""
    if isinstance(event, Message | Observation):
        return readable(event.content)
    if isinstance(event, ToolCall):
        return f"{event.tool} {readable(event.arguments)}"
    return None
