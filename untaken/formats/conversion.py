"""The one way to convert: foreign traces in, ledgers and plan graphs out, and an account of the loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from untaken.errors import UntakenError
from untaken.formats.importer import Importer
from untaken.formats.intake import Intake
from untaken.formats.likeness import ignored
from untaken.formats.losses import Findings, clip
from untaken.formats.model import Conversion, Progress
from untaken.formats.outcomes import Outcomes, read_outcomes
from untaken.formats.output import finding_mapping, loss_mapping, staged_output
from untaken.formats.registry import formats, importer_named, importers, recognise, recognise_files
from untaken.formats.sample import source_sample
from untaken.formats.sources import Source, found_sources

_SAMPLED: Final = 200
"""Files of a folder or archive looked at to recognise its format."""


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
    outcomes: Path | str | None = None,
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
        outcomes: a table of how runs ended, where the traces do not say (`read_outcomes`).

    Raises:
        UntakenError: ``format-unknown``, ``format-not-recognised``, ``formats-mixed``, ``source-not-found``,
            ``output-not-a-folder``, ``outcomes-invalid``.
    """
    known = Outcomes() if outcomes is None else read_outcomes(Path(outcomes))
    paths = [Path(source) for source in sources]
    importer = importer_named(_only_format(paths, Path(out)) if format is None else format)
    findings = Findings(None)
    with (
        found_sources(paths, importer.info.extensions, findings, leave=Path(out), whole=_whole()) as found,
        staged_output(Path(out)) as output,
    ):
        intake = Intake(
            output,
            steps=importer.passes * len(found),
            agent=agent,
            outcomes=known,
            findings=findings,
            progress=progress,
        )
        importer.convert(found, intake)
        known.unmatched(findings)
        if not intake.runs:
            found_none = "no run was found in the sources" + ("" if found else f": {ignored(_files(paths))}")
            findings.add("no-runs", found_none, hint="Is it the right format?")
        _name_other_formats(found, intake, importer)
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


def _name_other_formats(sources: Sequence[Source], intake: Intake, importer: Importer) -> None:
    """Says of each source that gave no run, and looks like another format, which."""
    empty = {log.name for log in intake.logs if not log.runs}
    for source in sources:
        other = recognise(source_sample(source)) if source.name in empty else None
        if other not in (None, importer.info.name):
            message = f"{clip(source.name)} looks like {other}"
            intake.findings.add("other-format", message, hint=f"Convert it with --from {other}.")


def _only_format(paths: Sequence[Path], out: Path) -> str:
    """The one format of all that is recognised in the sources."""
    with found_sources(paths, _extensions(), Findings(None), leave=out, whole=_whole()) as sources:
        found = Counter(filter(None, recognise_files(map(source_sample, sources))))
    if len(found) == 1:
        return next(iter(found))
    known = f"Name one with --from: {', '.join(found or importers())}."
    if not found:
        message = f"no file is of a known format: {ignored(_files(paths))}"
        raise UntakenError("format-not-recognised", message, hint=known)
    counts = ", ".join(f"{name} ({n})" for name, n in found.most_common())
    raise UntakenError("formats-mixed", f"the sources hold files of several formats: {counts}", hint=known)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from (file for file in sorted(path.rglob("*")) if file.is_file()) if path.is_dir() else [path]
