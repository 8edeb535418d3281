"""Histories of browser-use agents: what the model thought, the actions of each step, and their results.

Results are in the order of the actions, and end where one failed. That the agent says it succeeded is its own
word; the verdict of a judge, which newer versions ask, is the outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.outcome_fields import outcome_from
from untaken.traces.readings import first_text, mapping, moment, objects, text
from untaken.traces.sample import Sample
from untaken.traces.spending import spend, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

STATE: Final = ("evaluation_previous_goal", "memory", "next_goal")
"""What the model says of where it is; older versions have it in ``current_state``."""
GAVE: Final = ("error", "extracted_content")
TOKENS: Final = {"input_tokens": ("input_tokens",)}
OUTPUT: Final = "history[].model_output"
PLACES: Final = Places(
    kept=[
        *(f"{OUTPUT}.{home}{name}" for home in ("", "current_state.") for name in (*STATE, "thinking")),
        *(f"{OUTPUT}.action[].**", *(f"history[].result[].{name}" for name in GAVE)),
        *("history[].result[].judgement.verdict", "history[].metadata.step_start_time"),
        *("history[].metadata.step_end_time", "history[].metadata.input_tokens"),
    ],
    dropped=["history[].state.**"],
)


def recognise(sample: Sample) -> bool:
    """A history of steps, each with what the model gave, what came of it, and the state of the browser."""
    steps = objects(sample.first.get("history"))[:1]
    return any({"model_output", "result", "state"} <= step.keys() for step in steps)


def _run(document: Mapping[str, Any], name: str, findings: Findings) -> TraceRun:
    steps = objects(document.get("history"))
    about = [mapping(step.get("metadata")) for step in steps]
    results = objects(steps[-1].get("result")) if steps else []
    last = results[-1] if results else {}
    run_id = f"browser-use/{name}"
    verdict = mapping(last.get("judgement")).get("verdict")
    success, named = outcome_from(verdict, findings, run_id)
    read = [usage(each, findings, TOKENS) for each in about]
    times = [at for each in about for edge in ("step_start_time", "step_end_time")
             if (at := moment(each.get(edge), findings, edge))]  # fmt: skip
    return TraceRun(
        run_id=run_id,
        agent="browser-use",
        task_id=name,
        record=steps,
        origin=document,
        items=[item for number, step in enumerate(steps) for item in _items(step, number, findings)],
        started=times[0] if times else None,
        finished=times[-1] if times else None,
        success=success,
        outcome_named=named,
        steps=len(steps),
        error=text(last.get("error")),
        metrics=spend([each for each in read if each], run=run_id, findings=findings).tokens,
        metadata={"format": "browser-use"},
    )


def _items(step: Mapping[str, Any], number: int, findings: Findings) -> Iterator[Item]:
    gave, about = mapping(step.get("model_output")), mapping(step.get("metadata"))
    began, ended = (moment(about.get(name), findings, name) for name in ("step_start_time", "step_end_time"))
    words = {**mapping(gave.get("current_state")), **gave}
    if words.get("thinking"):
        yield Utterance(role="reasoning", content=words["thinking"], at=began)
    if state := {name: words[name] for name in STATE if words.get(name)}:
        yield Utterance(role="assistant", content=state, at=began)
    actions = [next(iter(each.items())) for each in objects(gave.get("action")) if each]
    for place, (tool, arguments) in enumerate(actions):
        yield Called(tool=tool, arguments=arguments, source_id=f"{number}/{place}", at=began)
    for place, result in enumerate(objects(step.get("result"))):
        error = text(result.get("error"))
        content = first_text([result], GAVE)
        if place < len(actions):
            yield Answered(content=content, source_id=f"{number}/{place}", ok=error is None, at=ended)
        elif content:  # the model gave no action
            yield Utterance(role="tool", content=content, at=ended)


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for number, document in enumerate(file.records()):
        if objects(mapping(document).get("history")):
            yield _run(document, f"{file.stem}/{number}" if number else file.stem, file.findings)
        else:
            file.refuse("it has no history of steps")


IMPORTER: Final = importer(
    name="browser-use",
    title="browser-use histories",
    what="Steps in a browser with their actions and results; success is the verdict of a judge, if any.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=converter(_read, PLACES),
    agent=("(always browser-use)",),
    task=("(the file's name)",),
    outcome=("history[].result[].judgement.verdict",),
    tokens=("history[].metadata.input_tokens",),
    time=("history[].metadata.step_start_time", "history[].metadata.step_end_time"),
)
