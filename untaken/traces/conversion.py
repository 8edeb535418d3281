"""The one way to convert: foreign traces in, ledgers and plan graphs out, and an account of the loss."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from untaken.errors import Finding, Severity, UntakenError
from untaken.garbage import seldom_collected
from untaken.ledger import HeldLedgers
from untaken.traces.format_info import Conversion, FileLoss, Progress
from untaken.traces.importer import Importer
from untaken.traces.intake import Intake
from untaken.traces.losses import Findings, clip
from untaken.traces.other_tools import other_tool
from untaken.traces.outcomes import Outcomes, outcome_field, read_outcomes
from untaken.traces.output import finding_mapping, loss_mapping, staged_output
from untaken.traces.registry import (
    equally_sure,
    formats,
    importer_named,
    importers,
    recognise,
    recognise_files,
)
from untaken.traces.resembling import ignored, likeness
from untaken.traces.sample import Confidence, Sample, sample_of, source_sample
from untaken.traces.sources import Source, found_sources

UNKNOWN: Final = (
    "Name its format with --from (`untaken formats`), or describe it with `untaken mapping draft`."
)
_SAMPLED: Final = 200
"""Files of a folder or archive looked at to recognise its format."""


def sniff_path(path: Path) -> str | None:
    """The format of most files in a file, folder or zip archive, else ``None``."""
    with found_sources([path], _extensions(), Findings(None), whole=_whole) as sources:
        votes = Counter(filter(None, recognise_files(map(source_sample, sources[:_SAMPLED]))))
    return votes.most_common(1)[0][0] if votes else None


def _extensions() -> tuple[str, ...]:
    return tuple({ending for info in formats() for ending in info.extensions})


def _whole(file: Path) -> bool:
    """Whether a zip archive is one file of a format, by its ending or by what is in it."""
    archives = [importer.info for importer in importers().values() if importer.archives]
    if file.name.lower().endswith(tuple(ending for info in archives for ending in info.extensions)):
        return True
    return recognise(sample_of(file.name, file)) in {info.name for info in archives}


@seldom_collected()
def convert(
    format: str | None,
    sources: Sequence[Path | str | Source],
    out: Path | str,
    *,
    progress: Progress | None = None,
    agent: str | None = None,
    outcomes: Path | str | None = None,
    outcome: str | None = None,
    held: HeldLedgers | None = None,
) -> Conversion:
    """Reads foreign traces and writes them as run ledgers and plan graphs.

    Writes ``ledgers/*.jsonl`` (each with its heads sidecar), ``graphs/*.plan.yaml`` and ``loss.json``. The
    same sources give the same bytes. Nothing is put in place unless all went well; what is wrong with a
    file or a record is a finding, and the others go on.

    Args:
        format: a name of `formats`; ``None`` to recognise the format of each file by what it holds.
        sources: files, folders (searched recursively) and zip archives; gzip and zstd are read as they are.
            A `Source` names a file whose name and folders are said to be others.
        out: a folder, made where it does not exist; files in it of the same names are replaced.
        progress: called before each file; an exception it raises cancels the conversion and leaves nothing
            behind.
        agent: the agent's name where the files do not record it.
        outcomes: a table of how runs ended, where the traces do not say (`read_outcomes`).
        outcome: the field of a trace that says how its run ended, with dots inside of objects; true or false,
            0 or 1, or a word such as ``passed``.
        held: where short ledgers are put, with their heads, by name; no file is made of these, nor of the
            loss report, all of which is in the answer.

    Raises:
        UntakenError: ``format-unknown``, ``format-not-recognised``, ``source-not-found``,
            ``output-not-a-folder``, ``outcomes-invalid``, ``outcome-is-a-file``.
    """
    known = Outcomes() if outcomes is None else read_outcomes(Path(outcomes))
    known.named = None if outcome is None else outcome_field(outcome)
    paths = [source if isinstance(source, Source) else Path(source) for source in sources]
    names = _recognised(paths, Path(out)) if format is None else [format]
    endings = importer_named(names[0]).info.extensions if len(names) == 1 else _extensions()
    findings = Findings(None)
    with (
        found_sources(paths, endings, findings, leave=Path(out), whole=_whole) as found,
        staged_output(Path(out), held) as output,
    ):
        shares = {names[0]: found} if len(names) == 1 else _shares(found, findings)
        steps = {name: importer_named(name).passes * len(share) for name, share in shares.items()}
        intakes: dict[str, Intake] = {}
        for name, share in shares.items():
            intakes[name] = intake = Intake(
                output,
                steps=sum(steps.values()),
                done=sum(steps[earlier] for earlier in intakes),
                agent=agent,
                outcomes=known,
                findings=findings if len(shares) == 1 else Findings(None),
                progress=progress,
            )
            importer_named(name).convert(share, intake)
        known.unmatched(findings)
        if format is None:  # else each file is meant, also one that is no trace
            for name, intake in intakes.items():
                _leave_out(shares[name], intake)
        runs = sum(intake.runs for intake in intakes.values())
        logs = list(chain.from_iterable(intake.logs for intake in intakes.values()))
        empty = [log for log in logs if log.gave_nothing]
        for log in empty:
            log.findings.nothing_added()
        if not runs and (not empty or len(empty) < len(logs)):
            found_none = "no run found in the sources" + ("" if found else f": {ignored(_files(paths))}")
            # Plans alone are no failure.
            severity: Severity = "warning" if any(log.graphs for log in logs) else "error"
            findings.add("no-runs", found_none, hint="Is it the right format?", severity=severity)
        for name, intake in intakes.items():
            _name_other_formats(shares[name], intake, importer_named(name))
        losses = {name: tuple(log.loss() for log in intake.logs) for name, intake in intakes.items()}
        noted = {name: intake.findings.all() for name, intake in intakes.items()}
        if len(shares) > 1:  # what applies to all sources is reported once
            noted[names[0]] = (*findings.all(), *noted[names[0]])
        ledgers, graphs, loss_report = output.publish(
            _report(name, intake, losses[name], noted[name]) for name, intake in intakes.items()
        )
    every = tuple(chain.from_iterable(losses.values()))
    return Conversion(
        format=", ".join(names),
        ledgers=ledgers,
        graphs=graphs,
        losses=every,
        findings=(
            *chain.from_iterable(noted.values()),
            *chain.from_iterable(loss.findings for loss in every),
        ),
        runs=runs,
        loss_report=loss_report,
    )


def _report(
    name: str, intake: Intake, losses: Sequence[FileLoss], findings: Sequence[Finding]
) -> dict[str, Any]:
    """The part of the loss report about one format."""
    return {
        "format": name,
        "runs": intake.runs,
        "graphs": len(intake.graphs),
        "files": [loss_mapping(loss) for loss in losses],
        "findings": [finding_mapping(finding) for finding in findings],
    }


def _shares(found: Sequence[Source], findings: Findings) -> dict[str, list[Source]]:
    """The sources of each format, in the order of the registry; unknown and ambiguous ones are named."""
    samples = [source_sample(source) for source in found]
    shares: dict[str, list[Source]] = {name: [] for name in importers()}
    for source, sample, name in zip(found, samples, recognise_files(samples), strict=True):
        if name is None and source.name.endswith(".heads.json") and shares["native"]:
            shares["native"].append(source)  # copied with its ledger
            continue
        if name is None:
            _note_unknown(source, findings)
            continue
        shares[name].append(source)
        others = [other for other in equally_sure(sample) if other != name]
        if others and name in equally_sure(sample):
            message = f"{clip(source.name)} may be {name} or {', '.join(others)}; read as {name}"
            findings.add("format-ambiguous", message, hint="Convert it by itself with --from.")
    return {name: share for name, share in shares.items() if share}


def _note_unknown(source: Source, findings: Findings) -> None:
    if error := _unreadable(source):
        findings.add(error.code, f"{clip(source.name)}: {error.message}", hint=error.hint, severity="error")
    else:
        tool = other_tool(source_sample(source))
        what = "is of no known format" if tool is None else f"looks like {tool.what}, which is not read"
        hint = UNKNOWN if tool is None else tool.hint
        findings.add("format-not-recognised", f"{clip(source.name)} {what}; left out", hint=hint)


def _unreadable(source: Source) -> UntakenError | None:
    """Why not even the start of a source can be read."""
    try:
        next(source.pieces(), b"")
    except UntakenError as error:
        return error
    return None


def _leave_out(sources: Sequence[Source], intake: Intake) -> None:
    """Drops the account of each source that gave nothing and is no trace, such as a readme, and names it."""
    empty = {log.name: log for log in intake.logs if log.gave_nothing}
    samples = [source_sample(source) for source in sources] if empty else []
    # Samples are taken only where a file is empty.
    for source, sample, name in zip(sources, samples, recognise_files(samples), strict=False):
        if name is None and source.name in empty and not likeness(sample).failed:
            _note_unknown(source, intake.findings)
            intake.logs.remove(empty[source.name])


def _name_other_formats(sources: Sequence[Source], intake: Intake, importer: Importer) -> None:
    """Says of each source that looks like another format, as a whole or in some of its records, which."""
    empty = {log.name for log in intake.logs if not log.runs}
    for source in sources:
        sample = source_sample(source)
        if source.name not in empty:
            if not importer.may_be_companion(source.name) and (other := _other_records(sample, importer)):
                message = f"{clip(source.name)} also holds records that look like {other}"
                message += f"; read as {importer.info.name}"
                intake.findings.add("format-mixed", message, hint="Split it into a file for each format.")
        elif (other := recognise(sample)) not in (None, importer.info.name):
            message = f"{clip(source.name)} looks like {other}"
            intake.findings.add("other-format", message, hint=f"Convert it with --from {other}.")


def _other_records(sample: Sample, importer: Importer) -> str | None:
    """The format of a record that is surely not of the importer's format; one is looked at of each shape."""
    shapes = {frozenset(record): record for record in sample.records if isinstance(record, dict)}
    for record in shapes.values() if len(shapes) > 1 else ():
        text = json.dumps(record)
        alone = Sample(name=sample.name, head=sample.head, text=text, shape="object", records=(record,))
        if importer.recognise(alone) is Confidence.NO and (other := recognise(alone)):
            return other
    return None


def _recognised(paths: Sequence[Path | Source], out: Path) -> list[str]:
    """The formats that are recognised in the sources, in the order of the registry."""
    left_out = Findings(None)
    with found_sources(paths, _extensions(), left_out, leave=out, whole=_whole) as sources:
        found = set(recognise_files(map(source_sample, sources)))
        if names := [name for name in importers() if name in found]:
            return names
        for source in sources:
            _note_unknown(source, left_out)
        tool = next(filter(None, map(other_tool, map(source_sample, sources))), None)
    refused = next((f": {f.message}" for f in left_out.all() if f.severity == "error"), "")
    message = f"no file has a known format: {ignored(_files(paths))}{refused}"
    hidden = next((each for each in _hidden_folders(paths) if each.name != ".git"), None)
    unknown = f"Hidden folders are not searched: name {clip(hidden)} itself." if hidden else UNKNOWN
    hint = tool.hint if tool else unknown
    raise UntakenError("format-not-recognised", message, hint=hint)


def _files(paths: Sequence[Path | Source]) -> Iterator[Path]:
    hidden = {*_hidden_folders(paths)}
    for path in paths:
        if isinstance(path, Path):
            below = sorted(path.rglob("*")) if path.is_dir() else [path]
            yield from (file for file in below if file.is_file() and hidden.isdisjoint(file.parents))


def _hidden_folders(paths: Sequence[Path | Source]) -> Iterator[Path]:
    for path in paths:
        if isinstance(path, Path) and path.is_dir():
            yield from (each for each in sorted(path.rglob(".*")) if each.is_dir())
