"""What a tau2-bench file says besides its runs: who ran, in which domain, and what each task expected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from untaken.plans import PlanGraph
from untaken.traces.graphs import Expected, action_graph
from untaken.traces.losses import FileLog, clip
from untaken.traces.readings import cut_name, items, mapping, objects, text
from untaken.traces.recording import tool_name

_DOMAIN: Final = re.compile(r"(?:^|[^a-z])(airline|retail|telecom|banking|mock)(?:[^a-z]|$)", re.IGNORECASE)
_FINE_TUNED: Final = re.compile(r"ft:([^:]+):[^:]*:[^:]*:([^:]+)")
_DATED: Final = re.compile(r"-\d{4}-\d{2}-\d{2}$")
_ORDINARY: Final = "llm_agent"
"""The implementation that is not worth naming."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tau2Document:
    """What all runs of one results object share.

    Attributes:
        agent: short name; ``None`` where none is recorded.
        model: the model as recorded.
        expected: per task (its id in the source) the reference path; a task that is not here recorded none.
        said: per task, what its description says, for the graph.
        unpriced: the agent's cost is stored as 0 throughout, although it made calls.
    """

    agent: str | None
    model: str | None
    domain: str
    metadata: Mapping[str, Any]
    expected: Mapping[str, tuple[Expected, ...]]
    task_metadata: Mapping[str, Mapping[str, str]]
    unpriced: bool

    def task_id(self, source_task: str) -> str:
        """The id of a task: the same in every file of its domain."""
        return cut_name(f"tau2-bench-{self.domain}-{source_task}")

    def graph(self, source_task: str, expected: tuple[Expected, ...]) -> PlanGraph:
        """The plan graph of a task."""
        title = f"tau2-bench {self.domain} {source_task}"
        metadata = {"format": "tau2-bench", **self.task_metadata.get(source_task, {})}
        return action_graph(
            self.task_id(source_task), title, expected, "call_keys", metadata, domain=self.domain
        )


def read_document(header: Mapping[str, Any], stem: str, *, unpriced: bool, log: FileLog) -> Tau2Document:
    """The document, from its members without the runs."""
    info = mapping(header.get("info"))
    agent_info = mapping(info.get("agent_info"))
    model = text(agent_info.get("llm"))
    implementation = text(agent_info.get("implementation"))
    expected: dict[str, tuple[Expected, ...]] = {}
    task_metadata: dict[str, dict[str, str]] = {}
    for task in objects(header.get("tasks")):
        source_task = text(task.get("id"))
        criteria = mapping(task.get("evaluation_criteria"))
        if source_task is None:
            log.findings.add("malformed-task", "a task has no id; left out", severity="error")
            continue
        if source_task in expected:
            log.findings.add("duplicate-task", f"task {clip(source_task)} is listed twice; the first is used")
            continue
        # Criteria without actions expect none; without criteria nothing is known.
        if isinstance(criteria.get("actions"), list) or task.get("evaluation_criteria") is not None:
            expected[source_task] = expected_actions(items(criteria.get("actions")), source_task, log)
        task_metadata[source_task] = _metadata_of(task)
    return Tau2Document(
        agent=agent_name(model, implementation),
        model=model,
        domain=_domain(info, stem),
        metadata=_metadata(info, agent_info),
        expected=expected,
        task_metadata=task_metadata,
        unpriced=unpriced,
    )


def expected_actions(actions: list[Any], source_task: str, log: FileLog) -> tuple[Expected, ...]:
    """The reference path; an action without a name is named and left out."""
    read = []
    for action in actions:
        named = text(mapping(action).get("name"))
        if named is None:
            message = f"task {clip(source_task)} expects an action without a name; left out"
            log.findings.add("malformed-action", message)
            continue
        compared = action.get("compare_args")
        read.append(
            Expected(
                name=tool_name(named),
                arguments=mapping(action.get("arguments")),
                compare_args=tuple(str(key) for key in compared) if isinstance(compared, list) else None,
                source_id=text(action.get("action_id")),
                requestor=text(action.get("requestor")),
            )
        )
    return tuple(read)


def requestor(call: Mapping[str, Any], message: Mapping[str, Any]) -> Literal["agent", "user"]:
    """Who made the call: as recorded, else the sender of the message."""
    role = text(call.get("requestor")) or text(message.get("role"))
    return "user" if role == "user" else "agent"


def agent_name(model: str | None, implementation: str | None) -> str | None:
    """A short name that is the same wherever the same model and implementation ran.

    ``openai/gpt-4.1`` → ``gpt-4.1``; ``ft:gpt-4.1-2025-04-14:org:suffix:BzrY`` → ``ft-gpt-4.1-BzrY`` (the
    last part tells fine-tunes of one model apart). An implementation other than the ordinary one follows
    in brackets.
    """
    if model is None:
        return implementation
    tuned = _FINE_TUNED.fullmatch(model)
    short = (
        f"ft-{_DATED.sub('', tuned.group(1))}-{tuned.group(2)}"
        if tuned
        else model.rsplit("/", 1)[-1] or model
    )
    return short if implementation in (None, _ORDINARY) else f"{short} ({implementation})"


def _domain(info: Mapping[str, Any], stem: str) -> str:
    recorded = text(mapping(info.get("environment_info")).get("domain_name"))
    if recorded:
        return recorded
    named = _DOMAIN.search(stem)
    return named.group(1).lower() if named else "unknown"


def _metadata(info: Mapping[str, Any], agent_info: Mapping[str, Any]) -> dict[str, Any]:
    fields = {
        "format": "tau2-bench",
        "implementation": text(agent_info.get("implementation")),
        "llm_args": agent_info.get("llm_args"),
        "user_llm": text(mapping(info.get("user_info")).get("llm")),
        "git_commit": text(info.get("git_commit")),
    }
    return {key: value for key, value in fields.items() if value}


def _metadata_of(task: Mapping[str, Any]) -> dict[str, str]:
    instructions = mapping(mapping(task.get("user_scenario")).get("instructions"))
    fields = {
        "purpose": text(mapping(task.get("description")).get("purpose")),
        "reason_for_call": text(instructions.get("reason_for_call")),
    }
    return {key: value for key, value in fields.items() if value}
