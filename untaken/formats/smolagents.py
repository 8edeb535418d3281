"""Steps of smolagents: `agent.memory.get_full_steps()`, or the object that `run(…)` returned, as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.formats.format_info import FormatInfo
from untaken.formats.importer import Importer
from untaken.formats.losses import Findings
from untaken.formats.messages import message_items
from untaken.formats.readings import mapping, moment, objects, text, totals
from untaken.formats.sample import Confidence, Sample
from untaken.formats.task_texts import described
from untaken.formats.tidy import Places
from untaken.formats.trace_file import TraceFile, converter
from untaken.formats.trace_run import Answered, Called, Item, TraceRun, Utterance

SPOKEN: Final = {"system_prompt": "system", "task": "user", "plan": "assistant", "output": "assistant"}
"""Who says what, by the member that tells the kind of step."""
TOKENS: Final = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
_CALL: Final = ("id", "name", "arguments.**", "function.name", "function.arguments.**")
_STEP: Final = (
    *("system_prompt", "task", "plan", "output.**", "step_number", "model_output.**", "observations"),
    *("action_output.**", "is_final_answer", "error.message", "timing.start_time", "timing.end_time"),
    *(f"{home}tool_calls[].{name}" for home in ("", "model_output_message.") for name in _CALL),
    *(f"token_usage.{name}" for name in TOKENS),
)
_AGAIN: Final = ("model_input_messages", "model_output_message", "code_action")
"""Members that repeat earlier steps, or what the step says elsewhere."""
PLACES: Final = Places(
    kept=[*(f"{home}{name}" for home in ("", "[].", "steps[].") for name in _STEP), "state"],
    dropped=[f"{home}{name}.**" for home in ("", "[].", "steps[].") for name in _AGAIN],
)


def recognise(sample: Sample) -> Confidence:
    """The names of a step of an agent; its first step may be the task alone."""
    steps = [step for record in sample.records[:3] for step in _steps(record) or [mapping(record)]]
    if any("step_number" in step and {"observations", "action_output"} & step.keys() for step in steps):
        return Confidence.CERTAIN
    return (
        Confidence.LIKELY if any({"task", "task_images"} == step.keys() for step in steps) else Confidence.NO
    )


def _steps(record: Any) -> list[dict[str, Any]]:
    """The steps in a record that is a list, or an object that has one."""
    return objects(record if isinstance(record, list) else mapping(record).get("steps"))


def _run(record: Any, name: str, findings: Findings) -> TraceRun:
    steps = _steps(record)
    actions = [step for step in steps if "step_number" in step]
    timings = [mapping(step.get("timing")) for step in actions]
    starts = [moment(each.get("start_time"), findings, "timing.start_time") for each in timings]
    usage = [mapping(step.get("token_usage")) for step in steps]
    ends = [moment(each.get("end_time"), findings, "timing.end_time") for each in timings]
    state = text(mapping(record).get("state"))
    return TraceRun(
        run_id=f"smolagents/{name}",
        agent="smolagents",
        task_id=name,
        record=steps,
        origin=record,
        items=[item for step in steps for item in _items(step, findings)],
        started=min(filter(None, starts), default=None),
        finished=max(filter(None, ends), default=None),
        steps=len(actions),
        limit="max_steps" if state == "max_steps_error" else None,
        metrics=totals(usage, TOKENS, findings, "token_usage."),
        metadata={
            "format": "smolagents",
            **described(next((step["task"] for step in steps if step.get("task")), None)),
        },
    )


def _items(step: Mapping[str, Any], findings: Findings) -> Iterator[Item]:
    timing = mapping(step.get("timing"))
    began = moment(timing.get("start_time"), findings, "timing.start_time")
    ended = moment(timing.get("end_time"), findings, "timing.end_time")
    for name, role in SPOKEN.items():
        if step.get(name) is not None:
            yield Utterance(role=role, content=step[name], at=began)
    yield from message_items({"role": "assistant", "content": step.get("model_output")}, began)
    asked = mapping(step.get("model_output_message")).get("tool_calls")
    calls = objects(step.get("tool_calls")) or objects(asked)  # a call that failed is only in the latter
    for call in calls:
        yield _called(call, began)
    failed = text(mapping(step.get("error")).get("message"))
    given = step.get("action_output") if step.get("observations") in (None, "") else step["observations"]
    if len(calls) == 1:
        yield Answered(
            content=failed or given, source_id=text(calls[0].get("id")), ok=failed is None, at=ended
        )
    elif failed or given is not None:  # of several calls it is not said which failed, or gave what
        yield Utterance(role="tool", content=failed or given, at=ended)
    if step.get("is_final_answer") and step.get("action_output") not in (None, given):
        yield Utterance(role="assistant", content=step.get("action_output"), at=ended)


def _called(call: Mapping[str, Any], at: Any) -> Called:
    """A call; that of the Python interpreter has its code as the only argument."""
    function = mapping(call.get("function")) or call
    arguments = function.get("arguments")
    if isinstance(arguments, str) and function.get("name") == "python_interpreter":
        arguments = {"code": arguments}
    return Called(tool=function.get("name"), arguments=arguments, source_id=text(call.get("id")), at=at)


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for number, value in enumerate(file.wholes(_steps)):
        record = file.record(value)
        steps: Sequence[Mapping[str, Any]] = _steps(record)
        if any("step_number" in step for step in steps):
            yield _run(record, f"{file.stem}/{number}" if number else file.stem, file.findings)
        else:
            file.refuse("there is no step of an agent in it")


IMPORTER: Final = Importer(
    info=FormatInfo(
        name="smolagents",
        title="smolagents steps",
        extensions=(".json", ".jsonl"),
        what="The memory of an agent: its steps with calls, observations and errors; one run a memory.",
        reads={
            "agent": ("(always smolagents)",),
            "task": ("(file name)",),
            "task text": ("steps[].task",),
            "tokens": ("steps[].token_usage.input_tokens", "steps[].token_usage.output_tokens"),
            "time": ("steps[].timing.start_time", "steps[].timing.end_time"),
        },
        left_out=PLACES.dropped,
    ),
    recognise=recognise,
    convert=converter(_read, PLACES),
)
