"""The importers by name, and the one way to use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from untaken.errors import UntakenError
from untaken.formats import agenteval, devai, native, tau2_bench, tau_bench, who_and_when
from untaken.formats.importer import Importer
from untaken.formats.intake import Intake
from untaken.formats.losses import Findings
from untaken.formats.model import Conversion, FormatInfo, Progress
from untaken.formats.output import finding_mapping, loss_mapping, staged_output
from untaken.formats.sources import found_sources, head, peek

FORMATS: Final[dict[str, Importer]] = {
    importer.info.name: importer
    for importer in (
        native.IMPORTER,
        devai.IMPORTER,
        tau_bench.IMPORTER,
        tau2_bench.IMPORTER,
        who_and_when.IMPORTER,
        agenteval.IMPORTER,
    )
}
"""Every importer, by the name of its format."""
_SNIFFED: Final = 20
"""Files of a folder or archive looked at to tell its format."""


def formats() -> list[FormatInfo]:
    """The formats that can be converted."""
    return [importer.info for importer in FORMATS.values()]


def sniff(name: str, start: bytes) -> str | None:
    """The format of a file, told by its first bytes (some 64 KiB; compressed ones are fine), else ``None``.

    Args:
        name: the file's name, which says little.
        start: its first bytes.
    """
    content = head(start)
    return next((key for key, importer in FORMATS.items() if importer.recognises(name, content)), None)


def sniff_path(path: Path) -> str | None:
    """The format of most files in a file, folder or zip archive, else ``None``."""
    extensions = tuple({e for info in formats() for e in info.extensions})
    with found_sources([path], extensions, Findings(None)) as sources:
        told = (sniff(source.name, peek(source)) for source in sources[:_SNIFFED])
        votes = Counter(format for format in told if format is not None)
    return votes.most_common(1)[0][0] if votes else None


def convert(
    format: str,
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
        format: a name of `formats`.
        sources: files, folders (searched recursively) and zip archives; gzip and zstd are read as they are.
        out: a folder, made where it does not exist; files in it of the same names are replaced.
        progress: called before each file; an exception it raises cancels the conversion and leaves nothing
            behind.
        agent: the agent's name where the files do not record it.

    Raises:
        UntakenError: ``format-unknown``, ``source-not-found``, ``output-not-a-folder``.
    """
    importer = _importer(format)
    findings = Findings(None)
    paths = [Path(source) for source in sources]
    with (
        found_sources(paths, importer.info.extensions, findings, leave=Path(out)) as found,
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
            "format": format,
            "runs": intake.runs,
            "graphs": len(intake.graphs),
            "files": [loss_mapping(loss) for loss in losses],
            "findings": [finding_mapping(finding) for finding in findings.all()],
        }
        ledgers, graphs, loss_report = output.publish(report)
    return Conversion(
        format=format,
        ledgers=ledgers,
        graphs=graphs,
        losses=losses,
        findings=(*findings.all(), *chain.from_iterable(loss.findings for loss in losses)),
        runs=intake.runs,
        loss_report=loss_report,
    )


def _importer(format: str) -> Importer:
    if format in FORMATS:
        return FORMATS[format]
    raise UntakenError(
        "format-unknown", f"there is no format {format!r}", hint=f"One of: {', '.join(FORMATS)}."
    )
