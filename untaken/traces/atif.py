"""ATIF, the Agent Trajectory Interchange Format (v1.0 to v1.8).

Success is not in the format: it comes from the trial folder (`harbor`) or from a table of outcomes. Steps
that a continuation copied from the trajectory before it are read once. Embedded sub-agents are runs of their
own that name their parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog, Findings, clip
from untaken.traces.readings import first_text, items, mapping, moment, objects, text, truth
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.spending import spend, usage
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import (
    UNKNOWN_TASK,
    Answered,
    Called,
    Item,
    TraceRun,
    Utterance,
    content_text,
    write_traces,
)

ROLES: Final = {"agent": "assistant"}
"""How ATIF's sources are called in a conversation; others keep their name."""
UNKNOWN_VERSION: Final = "unknown"
"""The version of an agent where nobody knows it: ATIF asks for one."""
FAILED: Final = "[error] tool reported failure"
"""What Harbor's converters add to the answer of a tool that failed."""
TOKENS: Final = {
    "input_tokens": ("total_prompt_tokens",),
    "output_tokens": ("total_completion_tokens",),
    "cached_tokens": ("total_cached_tokens",),
    "cost": ("total_cost_usd",),
}
STEP_TOKENS: Final = {figure: (key.removeprefix("total_"),) for figure, (key,) in TOKENS.items()}
_STEP: Final = (
    *("source", "message.**", "reasoning_content", "timestamp", "is_copied_context"),
    *under("tool_calls[].", "tool_call_id function_name arguments.**"),
    *under("observation.results[].", "source_call_id content.** extra.is_error"),
    *(f"metrics.{name}" for names in STEP_TOKENS.values() for name in names),
    "extra.tool_result_is_error",
)
_TRAJECTORY: Final = (
    *("schema_version", "session_id", "trajectory_id"),
    *under("agent.", "name version model_name"),
    *under("extra.untaken.", "run_id task_id success"),
    *(f"steps[].{place}" for place in _STEP),
    *(f"final_metrics.{name}" for names in TOKENS.values() for name in names),
)
PLACES: Final = Places(
    kept=[
        "continued_trajectory_ref",
        *(f"{home}{name}" for home in ("", "subagent_trajectories[].") for name in _TRAJECTORY),
    ],
    dropped=["extra.untaken.evaluations.**", "steps[].extra.**", "agent.extra.**", "final_metrics.extra.**"],
)


class AtifTrajectory(Struct):
    """A trajectory as it was read, and where from; `place` is its number in a list."""

    name: str
    document: dict[str, Any]
    log: FileLog
    place: int

    @property
    def session(self) -> str:
        """What it is called."""
        known = first_text([self.document], ("trajectory_id", "session_id"))
        return known or PurePosixPath(self.name).name.split(".")[0]


def recognise(sample: Sample) -> Confidence:
    """A declared version is certain."""
    version = sample.first.get("schema_version")
    if isinstance(version, str) and version.upper().startswith("ATIF"):
        return Confidence.CERTAIN
    steps = sample.first.get("steps")
    step = mapping(steps[0]) if isinstance(steps, list) and steps else {}
    return Confidence.LIKELY if {"step_id", "source", "message"} <= step.keys() else Confidence.NO


def is_trajectory(document: Any) -> bool:
    """Whether a JSON document can be read as a trajectory."""
    return isinstance(mapping(document).get("steps"), list)


def _agent(document: dict[str, Any]) -> str:
    return text(mapping(document.get("agent")).get("name")) or "unknown-agent"


def trajectory_run(parts: Sequence[dict[str, Any]], run_id: str, findings: Findings) -> TraceRun:
    """The run of a trajectory and its continuations, in order, without an outcome."""
    first = parts[0]
    agent = mapping(first.get("agent"))
    version = text(agent.get("version"))
    steps = [
        step
        for part, document in enumerate(parts)
        for step in objects(document.get("steps"))
        if part == 0 or step.get("is_copied_context") is not True  # a continuation repeats the steps before
    ]
    timed = _in_time([(step, moment(step.get("timestamp"), findings, "steps[].timestamp")) for step in steps])
    moments = [at for _, at in timed if at]
    # The totals of the last part are those of all.
    total = usage(mapping(parts[-1].get("final_metrics")), findings, TOKENS, place="final_metrics.")
    counts = [mapping(step["metrics"]) for step in steps if "metrics" in step]
    used = [usage(each, findings, STEP_TOKENS, place="steps[].metrics.") for each in counts]
    spent = spend(used, total, run=run_id, findings=findings)
    exported = mapping(mapping(first.get("extra")).get("untaken"))
    return TraceRun(
        run_id=run_id,
        agent=_agent(first),
        task_id=text(exported.get("task_id")) or UNKNOWN_TASK,
        success=truth(exported.get("success"), findings, "extra.untaken.success"),
        record=[document.get("steps") for document in parts],
        origin=first,
        model=text(agent.get("model_name")),
        version=None if version == UNKNOWN_VERSION else version,
        items=[item for step, at in timed for item in _items(step, at)],
        started=moments[0] if moments else None,
        finished=moments[-1] if moments else None,
        cost=spent.cost,
        steps=sum(step.get("source") == "agent" for step in steps),
        metrics=spent.tokens,
        metadata={"format": "atif", "schema_version": text(first.get("schema_version")) or ""},
    )


def _in_time(
    steps: list[tuple[dict[str, Any], datetime | None]],
) -> list[tuple[dict[str, Any], datetime | None]]:
    """The steps, from the agent's first on in the order of their times where each has one.

    Harbor's converters put calls without an answer last, whenever they were made. What comes before the agent
    may be by another clock.
    """
    first = next((n for n, (step, _) in enumerate(steps) if step.get("source") == "agent"), len(steps))
    at = [time for _, time in steps[first:] if time]
    if len(at) < len(steps) - first:
        return steps
    return steps[:first] + [steps[n] for n in sorted(range(first, len(steps)), key=lambda n: at[n - first])]


def _items(step: dict[str, Any], at: datetime | None) -> Iterator[Item]:
    source = text(step.get("source")) or "unknown"
    yield Utterance(role="reasoning", content=step.get("reasoning_content"), at=at)
    yield Utterance(role=ROLES.get(source, source), content=content_text(step.get("message")), at=at)
    for call in objects(step.get("tool_calls")):
        yield Called(
            tool=call.get("function_name"),
            arguments=call.get("arguments"),
            source_id=text(call.get("tool_call_id")),
            at=at,
            side="user" if source == "user" else "agent",  # a simulated user may have tools of its own
        )
    results = objects(mapping(step.get("observation")).get("results"))
    # Harbor says of a step whether its one answer is an error.
    stated = mapping(step.get("extra")).get("tool_result_is_error") if len(results) == 1 else None
    for result in results:
        content = content_text(result.get("content"))
        ok = _ok(mapping(result.get("extra")).get("is_error", stated), content)
        yield Answered(content=content, source_id=text(result.get("source_call_id")), ok=ok, at=at)


def _ok(failed: Any, content: Any) -> bool | None:
    """Whether the tool worked, where its step or its answer says it; ATIF has no field for it."""
    if isinstance(failed, bool):
        return not failed
    return False if isinstance(content, str) and content.rstrip().endswith(FAILED) else None


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    read: dict[str, AtifTrajectory] = {}
    for source in sources:
        intake.step(source.name)
        file = TraceFile.opened(source, intake, PLACES)
        if file is None:
            continue
        for element in file.reader.values():
            document, place = file.record(element.value), element.index
            if is_trajectory(document):
                name = f"{source.name}#{place}" if place else source.name
                read[name] = AtifTrajectory(name, document, file.log, place)
            else:
                file.refuse("there are no steps: no ATIF trajectory")
    for chain in _chains(read):
        with intake.contained(chain[0].log):
            _write(chain, intake)


def _chains(read: dict[str, AtifTrajectory]) -> Iterator[list[AtifTrajectory]]:
    """Trajectories with their continuations; one that no other continues into begins a run."""
    following = {name: _continuation(each, read) for name, each in read.items()}
    continued = set(following.values())
    done: set[str] = set()
    for name in (*(name for name in read if name not in continued), *read):  # then those of rings, in order
        if name in done:
            continue
        chain: dict[str, AtifTrajectory] = {}
        at: str | None = name
        while at is not None and at not in chain:
            chain[at] = read[at]
            at = following[at]
        done |= chain.keys()
        yield list(chain.values())


def _continuation(each: AtifTrajectory, read: dict[str, AtifTrajectory]) -> str | None:
    ref = text(each.document.get("continued_trajectory_ref"))
    if ref is None:
        return None
    sibling = (PurePosixPath(each.name).parent / ref).as_posix()
    if sibling in read:
        return sibling
    same = [
        name for name in read if PurePosixPath(name).name == PurePosixPath(ref).name and name != each.name
    ]
    if len(same) == 1:  # files may lie elsewhere than where they were written
        return same[0]
    message = f"it continues in {clip(ref)}, which is missing; the run ends with this file"
    each.log.findings.add("continuation-missing", message, hint="Convert both files together.")
    return None


def _write(chain: Sequence[AtifTrajectory], intake: Intake) -> None:
    first = chain[0]
    log = first.log
    # With a part of the digest below: files of one name in several folders get ledgers of their own.
    stem = PurePosixPath(first.log.name).name.split(".")[0]
    exported = mapping(mapping(first.document.get("extra")).get("untaken"))
    # A run that was exported from a ledger gets its own name back.
    run_id = text(exported.get("run_id")) or f"atif/{_agent(first.document)}/{first.session}"
    run = trajectory_run([part.document for part in chain], run_id, log.findings)
    run.task_id = first.session if run.task_id == UNKNOWN_TASK else run.task_id
    traces = [run, *_sub_agents(first, run.task_id, log)]
    write_traces(
        traces,
        f"{stem}-{log.sha256[:8]}{f'-{first.place}' if first.place else ''}",
        intake=intake,
        log=log,
        # Once each: one file may hold several parts of a chain.
        about=list({part.log.name: part.log for part in chain[1:] if part.log is not log}.values()),
    )


def _sub_agents(of: AtifTrajectory, task: str, log: FileLog) -> Iterator[TraceRun]:
    """The trajectories of sub-agents that a document embeds."""
    for place, document in enumerate(items(of.document.get("subagent_trajectories"))):
        if is_trajectory(document):
            name = text(document.get("trajectory_id")) or place
            run = trajectory_run([document], f"atif/{_agent(document)}/{of.session}/{name}", log.findings)
            run.task_id = task
            run.metadata["parent"] = of.session
            yield run


IMPORTER: Final = importer(
    name="atif",
    title="ATIF trajectories",
    what="One agent's steps, tool calls and answers; success comes from --outcomes or Harbor.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=_convert,
    joins=True,
    agent=("agent.name",),
    model=("agent.model_name",),
    version=("agent.version",),
    task=("extra.untaken.task_id", "session_id"),
    outcome=("extra.untaken.success",),
    tokens=(
        *("steps[].metrics.prompt_tokens", "steps[].metrics.completion_tokens"),
        *("final_metrics.total_prompt_tokens", "final_metrics.total_completion_tokens"),
    ),
    cost=("steps[].metrics.cost_usd", "final_metrics.total_cost_usd"),
    time=("steps[].timestamp",),
)
