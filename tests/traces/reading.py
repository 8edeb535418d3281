"""What is read of a file of a foreign format, by short names, so that a row of a table can claim it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from foreign_files import codes, converted, put
from trace_records import put_record, written

from untaken.ledger import Message, Observation, Plan, Run, ToolCall, Verdict
from untaken.traces import Conversion, sniff


def _calls(run: Run) -> dict[str, dict[str, Any]]:
    """The arguments of each call by its id."""
    return {call.call_id: call.arguments for call in run.of(ToolCall)}


FACTS: Final[Mapping[str, Callable[[Run], Any]]] = {
    "run": lambda run: run.run_id,
    "agent": lambda run: run.agent,
    "model": lambda run: run.started.model,
    "version": lambda run: run.started.version,
    "task": lambda run: run.task_id,
    "repeat": lambda run: run.started.task_repeat,
    "graph": lambda run: run.started.graph,
    "metadata": lambda run: run.started.metadata,
    "parent": lambda run: (run.started.metadata or {}).get("parent"),
    "kinds": lambda run: [type(event).__name__ for event in run.events],
    "said": lambda run: [(message.role, message.content) for message in run.of(Message)],
    "words": lambda run: [message.content for message in run.of(Message)],
    "roles": lambda run: [message.role for message in run.of(Message)],
    "calls": lambda run: [(call.tool, call.arguments) for call in run.of(ToolCall)],
    "tools": lambda run: [call.tool for call in run.of(ToolCall)],
    "requestors": lambda run: [call.requestor for call in run.of(ToolCall)],
    "answers": lambda run: [(seen.content, seen.ok) for seen in run.of(Observation)],
    "seen": lambda run: [seen.content for seen in run.of(Observation)],
    "ok": lambda run: [seen.ok for seen in run.of(Observation)],
    "joined": lambda run: [(_calls(run)[seen.call_id or ""], seen.content) for seen in run.of(Observation)],
    "answered": lambda run: [seen.call_id for seen in run.of(Observation)],
    "alternatives": lambda run: [each.alternatives for each in run.selections],
    "contexts": lambda run: [each.context for each in run.selections],
    "began": lambda run: run.started.ts.isoformat(),
    "plans": lambda run: [list(plan.sub_goals) for plan in run.of(Plan)],
    "blamed": lambda run: [(each.sub_goal, len(each.evidence or [])) for each in run.of(Verdict)],
    "success": lambda run: run.finished.success,
    "error": lambda run: run.finished.error,
    "limit": lambda run: run.finished.limit,
    "cost": lambda run: run.finished.cost,
    "steps": lambda run: run.finished.steps,
    "metrics": lambda run: run.finished.metrics,
    "input": lambda run: (run.finished.metrics or {}).get("input_tokens"),
    "output": lambda run: (run.finished.metrics or {}).get("output_tokens"),
}
"""By name, what a run says; with an `s` more or `all_` before, what each of several runs says."""


def dropped(done: Conversion) -> set[str]:
    """The places of which something was left out."""
    return {field.path for loss in done.losses for field in loss.fields if field.dropped}


def read(
    folder: Path, format: str | None, content: Any, name: str = "in.json"
) -> tuple[Conversion, list[Run]]:
    """A conversion of one file, or of the folder that its name says."""
    text = content if isinstance(content, str | bytes) else written(name, content)
    source = put(folder / "in" / name, text)
    return converted(format, folder / "out", folder / "in" if "/" in name else source)


def fact(done: Conversion, runs: list[Run], name: str, want: Any) -> Any:
    """What a conversion says under a name; of codes and places, those of `want` that are there."""
    match name:
        case "format":
            return done.format
        case "count":
            return len(runs)
        case "codes":
            return set(codes(done))
        case "counts":
            return {code: codes(done)[code] for code in want}
        case "found":
            return want & codes(done).keys()
        case "missing":
            return want - codes(done).keys()
        case "says":
            return want & {found.message for found in done.findings}
        case "dropped":
            return dropped(done)
        case "drops":
            return want & dropped(done)
        case "some_metrics":
            (run,) = runs
            return {metric: (run.finished.metrics or {}).get(metric) for metric in want}
    if name in FACTS:
        (run,) = runs
        return FACTS[name](run)
    one = name.removeprefix("all_")
    return [FACTS[one if one in FACTS else one.removesuffix("s")](run) for run in runs]


def facts(done: Conversion, runs: list[Run], want: Mapping[str, Any]) -> dict[str, Any]:
    """What a conversion says under the names of what is wanted of it."""
    return {name: fact(done, runs, name, value) for name, value in want.items()}


@dataclass(frozen=True)
class Case:
    """A file, and what is read of it."""

    desc: str
    content: Any
    want: Mapping[str, Any]

    def holds(
        self, format: str | None, folder: Path, name: str = "in.json", *, sniffed: bool = False
    ) -> None:
        """Reads the file."""
        done, runs = read(folder, format, self.content, name)
        assert facts(done, runs, self.want) == self.want
        named = {finding.where.run for finding in done.findings if finding.where and finding.where.run}
        assert not runs or named <= {run.run_id for run in runs}  # a finding names a run as its ledger does
        assert not sniffed or sniff("x.bin", (folder / "in" / name).read_bytes()) == format

    def holds_in_folder(self, format: str | None, folder: Path) -> None:
        """Reads a folder of files, which are the content by their names."""
        self.of(format, folder / "out", put_record(folder / "in", self.content))

    def of(self, format: str | None, out: Path, *sources: Path, **options: Any) -> None:
        """Reads files that are there."""
        done, runs = converted(format, out, *sources, **options)
        assert facts(done, runs, self.want) == self.want


def case(desc: str, content: Any, **want: Any) -> Case:
    """A row of a table: what is wanted, by the names of `FACTS` and `fact`."""
    return Case(desc, content, want)


def shapes(contents: Mapping[str, Any], **want: Any) -> list[Case]:
    """Files of which the same is read."""
    return [Case(desc, content, want) for desc, content in contents.items()]


def each(cases: list[Case]) -> pytest.MarkDecorator:
    """A test for each row."""
    return pytest.mark.parametrize("case", cases, ids=[one.desc for one in cases])
