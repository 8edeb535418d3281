"""Results of Terminal-Bench before Harbor: a trial is a run, by itself or in the results of all trials.

A mapping file reads a trial. The agent and its model are in `run_metadata.json` beside the results, and each
trial is there twice: in the results of all, and in a folder of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec.structs import replace

from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog
from untaken.traces.mapped import HYBRID, mapped_importer, mapped_run, read_mapping
from untaken.traces.mapped.terms import Scope
from untaken.traces.readings import mapping, objects, text
from untaken.traces.sources import Source
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import TraceRun, write_traces

METADATA: Final = "run_metadata.json"
FORMAT: Final = read_mapping(HYBRID / "terminal-bench.mapping.yaml")
_ROOTS: Final = ("", "results[].")
PLACES: Final = Places(
    kept=[
        *("agent_name", "model_name"),
        *(f"{root}{place}" for root in _ROOTS for place in (*FORMAT.places.kept, "parser_results.**")),
    ],
    dropped=[f"{root}{place}" for root in _ROOTS for place in FORMAT.places.dropped],
)


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    """Writes each trial once, under the agent of the nearest metadata above it."""
    known: dict[PurePosixPath, Mapping[str, Any]] = {}
    # Metadata first, then the results of all trials, which lie above the folders of single ones.
    for source in sorted(sources, key=lambda s: (PurePosixPath(s.name).name != METADATA, len(s.folders))):
        intake.step(source.name)
        path = PurePosixPath(source.name)
        beside = FileLog(source.name) if path.name == METADATA else None  # it gives no run of its own
        file = TraceFile.opened(source, intake, PLACES, beside)
        if file is None:
            continue
        with intake.contained(file.log):
            if beside is not None:
                known[path.parent] = mapping(next(file.records(), None))
                continue
            about = next((known[above] for above in path.parents if above in known), {})
            write_traces(_runs(file, about), file.ledger, intake=intake, log=file.log)


def _runs(file: TraceFile, about: Mapping[str, Any]) -> Iterator[TraceRun]:
    for record in map(mapping, file.records()):
        trials = objects(record.get("results")) or [record]
        for number, trial in enumerate(trials):
            if "is_resolved" not in trial:
                file.refuse("no trial of Terminal-Bench is in it")
                continue
            scope = Scope(here=trial, root=trial, findings=file.findings, file=file.stem, number=number)
            yield _completed(mapped_run(FORMAT, scope), trial, about)


def _completed(run: TraceRun, trial: Mapping[str, Any], about: Mapping[str, Any]) -> TraceRun:
    """The run with who made it, and its tests; trials without an id have one by their run."""
    tests = mapping(trial.get("parser_results"))
    run.agent = text(about.get("agent_name")) or run.agent
    run.model = text(about.get("model_name"))
    if not text(trial.get("id")) and (batch := text(about.get("run_id"))):
        run.run_id = run.run_id.replace("/", f"/{batch}/", 1)  # the first slash ends the name of the format
    if tests:
        passed = sum(state == "passed" for state in tests.values())
        run.metrics = {**run.metrics, "tests": float(len(tests)), "tests_passed": float(passed)}
    return run


_MAPPED: Final = mapped_importer(FORMAT)
IMPORTER: Final = replace(
    _MAPPED,
    info=replace(
        FORMAT.info,
        reads={
            "agent": ("agent_name",),
            "model": ("model_name",),
            **{field: tuple(f"results[].{p}" for p in places) for field, places in FORMAT.info.reads.items()},
        },
        left_out=PLACES.dropped,
    ),
    convert=_convert,
    companions=(METADATA,),
)
