"""SWE-agent trajectories (`.traj`): one issue a file, a thought, an action and an observation a step.

An action is a command line: the tool is its first word, the whole line its argument. Whether the patch solves
the issue is not in the file; `exit_status` says how the run ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from untaken.formats.format_info import FormatInfo
from untaken.formats.importer import Importer
from untaken.formats.losses import Findings
from untaken.formats.readings import amount, first_text, mapping, objects, text, totals
from untaken.formats.sample import Confidence, Sample
from untaken.formats.sources import Source
from untaken.formats.tidy import Places, under
from untaken.formats.trace_file import TraceFile, converter
from untaken.formats.trace_run import Answered, Called, Item, TraceRun, Utterance, content_text

STATISTICS: Final = {
    "tokens_sent": "input_tokens",
    "tokens_received": "output_tokens",
    "api_calls": "model_calls",
}
TOOL_CHARS: Final = 80
PLACES: Final = Places(
    kept=[
        "environment",
        *under("trajectory[].", "thought action observation"),
        *under("history[].", "role content.** is_demo"),
        *under("info.", "exit_status submission model_stats.instance_cost swe_agent_hash swe_agent_version"),
        *(f"info.model_stats.{name}" for name in STATISTICS),
    ],
    dropped=["trajectory[].state.**", "trajectory[].query.**", "replay_config.**", "info.**"],
)


def recognise(sample: Sample) -> Confidence:
    """A trajectory of thoughts and actions, whatever the file is called."""
    step = next((s for s in objects(sample.first.get("trajectory"))), {})
    if {"action", "observation"} <= step.keys():
        return Confidence.CERTAIN
    return Confidence.LIKELY if sample.has("trajectory", "history", "info") else Confidence.NO


NEWER: Final = re.compile(r"__t-[\d.]+__p-[\d.]+__c-[\d.]+___")
"""Version 1 names a folder by configuration, model, settings and source; a folder in it has one issue."""


def tool_of(action: str) -> str:
    """The command of an action: its first word."""
    words = action.split(maxsplit=1)
    return words[0][:TOOL_CHARS] if words else "(nothing)"


def _run(document: dict[str, Any], source: Source, findings: Findings) -> TraceRun:
    info = mapping(document.get("info"))
    stats = mapping(info.get("model_stats"))
    path = PurePosixPath(source.name)
    folder = next((above.name for above in path.parents if above.name != path.stem), "")
    cost = amount(stats.get("instance_cost"), findings, "info.model_stats.instance_cost")
    exit_status = text(info.get("exit_status"))
    steps = objects(document.get("trajectory"))
    return TraceRun(
        run_id=f"swe-agent/{folder or 'run'}/{path.stem}",
        agent=_agent(folder),
        version=first_text([info], ("swe_agent_hash", "swe_agent_version")),
        task_id=path.stem,
        record=document.get("trajectory"),
        origin=document,
        items=[*_prompt(document), *(item for step in steps for item in _items(step))],
        cost=cost,
        steps=len(steps),
        metrics=totals([stats], STATISTICS, findings, "info.model_stats."),
        metadata={
            "format": "swe-agent",
            "environment": text(document.get("environment")) or "",
            "exit_status": exit_status or "",
            "submitted": bool(text(info.get("submission"))),
        },
        limit=next((w for w in (exit_status or "").strip("()").split(" (") if w.startswith("exit_")), None),
        error=None if exit_status and exit_status.startswith("submitted") else exit_status,
    )


def _agent(folder: str) -> str:
    """The model that a folder is named by: ``gpt4__repo__config…``, or ``config__gpt4__t-0.00…___source``."""
    newer = NEWER.search(folder)
    parts = (folder[: newer.start()] if newer else folder).split("__")
    model = parts[-1 if newer else 0] if len(parts) > 1 else ""
    return f"swe-agent/{model}" if model else "swe-agent"


def _prompt(document: dict[str, Any]) -> Iterator[Item]:
    """The instructions before the agent's first turn, without demonstrations."""
    for entry in objects(document.get("history")):
        if entry.get("role") == "assistant" and entry.get("is_demo") is not True:
            return
        if entry.get("is_demo") is not True and entry.get("role") in ("system", "user"):
            yield Utterance(role=str(entry["role"]), content=content_text(entry.get("content")))


def _items(step: dict[str, Any]) -> Iterator[Item]:
    thought = text(step.get("thought"))
    if thought:
        yield Utterance(role="assistant", content=thought)
    action = text(step.get("action"))
    if action is not None:
        yield Called(tool=tool_of(action), arguments={"command": action})
    observation = step.get("observation")
    if observation not in (None, ""):
        content = observation if isinstance(observation, str) else json.dumps(observation)
        yield Answered(content=content) if action is not None else Utterance(role="user", content=content)


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for document in file.records():
        if isinstance(document, dict) and isinstance(document.get("trajectory"), list):
            yield _run(document, file.source, file.findings)
        else:
            file.refuse("no trajectory: not a SWE-agent file, or a run that never started")


IMPORTER: Final = Importer(
    info=FormatInfo(
        name="swe-agent",
        title="SWE-agent trajectories",
        extensions=(".traj", ".json"),
        what="Thoughts, commands, their output, the exit status; success comes from --outcomes.",
        reads={
            "agent": ("(folder)",),
            "version": ("info.swe_agent_hash", "info.swe_agent_version"),
            "task": ("(file name)",),
            "tokens": ("info.model_stats.tokens_sent", "info.model_stats.tokens_received"),
            "cost": ("info.model_stats.instance_cost",),
        },
        left_out=PLACES.dropped,
    ),
    recognise=recognise,
    convert=converter(_read, PLACES),
)
