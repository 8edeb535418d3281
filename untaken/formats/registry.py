"""The importers by name, how a file's format is recognised, and the one way to convert."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final

from untaken.errors import UntakenError
from untaken.formats.importer import Importer
from untaken.formats.intake import Intake
from untaken.formats.losses import Findings
from untaken.formats.model import Conversion, FormatInfo, Progress
from untaken.formats.output import finding_mapping, loss_mapping, staged_output
from untaken.formats.sample import Confidence, Sample, sample_of, source_sample
from untaken.formats.sources import found_sources

BUILT_IN: Final = (
    "native",
    "devai",
    "tau_bench",
    "tau2_bench",
    "who_and_when",
    "agenteval",
)
"""Modules of this package that declare an ``IMPORTER``; of two that are equally sure, the first is taken."""
ENTRY_POINTS: Final = "untaken.formats"
"""The group of entry points by which other packages declare importers."""
_SAMPLED: Final = 200
"""Files of a folder or archive looked at to recognise its format."""


@cache
def importers() -> Mapping[str, Importer]:
    """Every importer by the name of its format: the built-in ones, then those of installed plug-ins.

    A plug-in that cannot be loaded, or that takes a name in use, is left out with a `RuntimeWarning`.
    """
    known: dict[str, Importer] = {}
    for module in BUILT_IN:
        importer: Importer = import_module(f"untaken.formats.{module}").IMPORTER
        known[importer.info.name] = importer
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: (entry.name, entry.value)):
        plugged = _plugged(entry)
        if plugged is not None and known.setdefault(plugged.info.name, plugged) is not plugged:
            _warn(entry, f"the format {plugged.info.name!r} exists already")
    return known


def _plugged(entry: EntryPoint) -> Importer | None:
    try:
        importer = entry.load()
    except Exception as error:  # whatever another package raises must not take this one down
        _warn(entry, f"{type(error).__name__}: {error}")
        return None
    if isinstance(importer, Importer):
        return importer
    _warn(entry, f"it is a {type(importer).__name__}, not an untaken.formats.Importer")
    return None


def _warn(entry: EntryPoint, why: str) -> None:
    message = f"format plug-in {entry.name} ({entry.value}) is left out: {why}"
    warnings.warn(message, RuntimeWarning, stacklevel=3)


def formats() -> list[FormatInfo]:
    """The formats that can be converted."""
    return [importer.info for importer in importers().values()]


def recognise(sample: Sample) -> str | None:
    """The name of the format whose recogniser is surest; ``None`` where each of them says no."""
    sure = {name: importer.recognise(sample) for name, importer in importers().items()}
    best = max(sure, key=lambda name: sure[name])  # the first of equals
    return best if sure[best] > Confidence.NO else None


def recognise_files(samples: Iterable[Sample]) -> list[str | None]:
    """The format of each of several files that lie together, in their order; ``None`` where it is unknown.

    A file that is a companion of a recognised one (`Importer.companions`) is of the same format, whatever it
    looks like by itself: a trajectory in the folder of a benchmark's trial belongs to the trial.
    """
    found = [(PurePosixPath(sample.name), recognise(sample)) for sample in samples]
    leaders = {
        path.parent: format for path, format in found if format is not None and importers()[format].companions
    }
    return [_led(path, leaders) or format for path, format in found]


def _led(path: PurePosixPath, leaders: Mapping[PurePosixPath, str]) -> str | None:
    """The format of the nearest folder above that claims the file as a companion."""
    for folder in path.parents:
        format = leaders.get(folder)
        inside = path.relative_to(folder).as_posix()
        if format and any(fnmatchcase(inside, glob) for glob in importers()[format].companions):
            return format
    return None


def sniff(name: str, start: bytes) -> str | None:
    """The format of a file by its first bytes (some 64 KiB; compressed ones are fine), else ``None``.

    Args:
        name: the file's name, which says little.
        start: its first bytes.
    """
    return recognise(sample_of(name, start))


def sniff_path(path: Path) -> str | None:
    """The format of most files in a file, folder or zip archive, else ``None``."""
    with found_sources([path], _extensions(), Findings(None), whole=_whole()) as sources:
        votes = Counter(filter(None, recognise_files(map(source_sample, sources[:_SAMPLED]))))
    return votes.most_common(1)[0][0] if votes else None


def _extensions() -> tuple[str, ...]:
    return tuple({ending for info in formats() for ending in info.extensions})


def _whole() -> tuple[str, ...]:
    """Endings of zip archives that are one file of a format."""
    return tuple(
        ending
        for importer in importers().values()
        if importer.archives
        for ending in importer.info.extensions
    )


def convert(
    format: str | None,
    sources: Sequence[Path | str],
    out: Path | str,
    *,
    progress: Progress | None = None,
    agent: str | None = None,
) -> Conversion:
    """Reads foreign traces and writes them as run ledgers and plan graphs.

    Writes ``ledgers/*.jsonl`` (each with its heads sidecar), ``graphs/*.plan.yaml`` and ``loss.json``. The
    same sources give the same bytes. Nothing is put in place unless all went well; what is wrong with a
    file or a record is a finding, and the others go on.

    Args:
        format: a name of `formats`; ``None`` to recognise it by what the sources hold.
        sources: files, folders (searched recursively) and zip archives; gzip and zstd are read as they are.
        out: a folder, made where it does not exist; files in it of the same names are replaced.
        progress: called before each file; an exception it raises cancels the conversion and leaves nothing
            behind.
        agent: the agent's name where the files do not record it.

    Raises:
        UntakenError: ``format-unknown``, ``format-not-recognised``, ``formats-mixed``, ``source-not-found``,
            ``output-not-a-folder``.
    """
    paths = [Path(source) for source in sources]
    importer = _importer(_only_format(paths, Path(out)) if format is None else format)
    findings = Findings(None)
    with (
        found_sources(paths, importer.info.extensions, findings, leave=Path(out), whole=_whole()) as found,
        staged_output(Path(out)) as output,
    ):
        intake = Intake(
            output,
            steps=importer.passes * len(found),
            agent=agent,
            findings=findings,
            progress=progress,
        )
        importer.convert(found, intake)
        if not intake.runs:
            findings.add("no-runs", "no run was found in the sources", hint="Is it the right format?")
        losses = tuple(log.loss() for log in intake.logs)
        report = {
            "format": importer.info.name,
            "runs": intake.runs,
            "graphs": len(intake.graphs),
            "files": [loss_mapping(loss) for loss in losses],
            "findings": [finding_mapping(finding) for finding in findings.all()],
        }
        ledgers, graphs, loss_report = output.publish(report)
    return Conversion(
        format=importer.info.name,
        ledgers=ledgers,
        graphs=graphs,
        losses=losses,
        findings=(*findings.all(), *chain.from_iterable(loss.findings for loss in losses)),
        runs=intake.runs,
        loss_report=loss_report,
    )


def _importer(format: str) -> Importer:
    if format in importers():
        return importers()[format]
    raise UntakenError(
        "format-unknown", f"there is no format {format!r}", hint=f"One of: {', '.join(importers())}."
    )


def _only_format(paths: Sequence[Path], out: Path) -> str:
    """The one format of all that is recognised in the sources."""
    with found_sources(paths, _extensions(), Findings(None), leave=out, whole=_whole()) as sources:
        found = Counter(filter(None, recognise_files(map(source_sample, sources))))
    if len(found) == 1:
        return next(iter(found))
    known = f"Name one with --from: {', '.join(found or importers())}."
    if not found:
        message = f"none of {len(sources)} files is of a known format"
        raise UntakenError("format-not-recognised", message, hint=known)
    counts = ", ".join(f"{name} ({n})" for name, n in found.most_common())
    raise UntakenError("formats-mixed", f"the sources hold files of several formats: {counts}", hint=known)
