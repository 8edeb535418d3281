"""Files that are ledgers and graphs already: ledgers are copied as they are, graphs written in one form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from untaken.errors import UntakenError
from untaken.ledger import has_event_signature, read_ledger
from untaken.plans import parse_graph
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog
from untaken.traces.output import file_stem
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import COMPRESSED, HEAD_BYTES, Source, decompressed

_HEADS: Final = ".heads.json"
# Possessive, so that blanks are not tried again.
_GRAPH: Final = re.compile(
    rb"^[ \t]*+(?:\{\s*+)?+\"?schema\"?[ \t]*+:[ \t]*+[\"']?untaken\.plan/", re.MULTILINE
)
_ENVELOPE: Final = ("type", "run_id", "seq", "ts", "prev")


def _recognise(sample: Sample) -> Confidence:
    if _GRAPH.search(sample.head[:4096]) or sample.has(*_ENVELOPE):
        return Confidence.CERTAIN
    return Confidence.LIKELY if has_event_signature(sample.head) else Confidence.NO


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    heads = {source.name: source for source in sources if source.name.endswith(_HEADS)}
    copied: dict[str, str] = {}
    for source in sources:
        intake.step(source.name)
        if source.name in heads:  # they go with their ledger
            continue
        log = intake.open(source)
        try:
            stored = source.stored()
            content = decompressed(stored, source.name)
        except UntakenError as error:
            log.findings.add(error.code, error.message, hint=error.hint, severity="error")
            continue
        log.bytes, log.sha256 = len(content), sha256(content).hexdigest()
        if (first := copied.setdefault(log.sha256, source.name)) != source.name:
            log.findings.add("duplicate-file", f"the same bytes as {first}; read once")
        # By its lines, or by its name where these are broken.
        elif not _GRAPH.search(content[:4096]) and (
            has_event_signature(content[:HEAD_BYTES])
            or source.name.lower().endswith((".jsonl", ".jsonl.gz", ".jsonl.zst"))
        ):
            _ledger(source, stored, heads.get(source.name + _HEADS), intake, log)
        else:
            _graph(source, content, intake, log)


def _graph(source: Source, content: bytes, intake: Intake, log: FileLog) -> None:
    try:
        graph = parse_graph(content, name=source.name)
    except UntakenError as error:
        log.findings.add(error.code, error.message, hint=error.hint, severity="error")
        return
    log.records = 1
    intake.graphs.add(graph, log)


def _ledger(source: Source, stored: bytes, heads: Source | None, intake: Intake, log: FileLog) -> None:
    runs, findings = read_ledger(stored, strict=False, name=source.name)
    for finding in findings:
        where = finding.where
        log.findings.add(
            finding.code, finding.message, run=where.run, line=where.line, severity=finding.severity
        )
    log.records = sum(len(run.events) for run in runs)
    if not runs:
        log.findings.add("not-this-format", "no run found in it", severity="error")
        return
    ending = next((e for e in COMPRESSED if source.name.lower().endswith(e)), "")
    name = f"{file_stem(f'{source.stem}-{log.sha256[:8]}')}.jsonl{ending}"
    intake.copy_ledger(name, stored, heads.stored() if heads else None)
    intake.runs += len(runs)
    for _ in runs:
        log.wrote(name)


IMPORTER: Final = importer(
    name="native",
    title="Untaken ledgers and plan graphs",
    extensions=(".jsonl", ".plan.yaml", ".plan.yml", ".plan.json", _HEADS),
    what="Run ledgers, copied byte for byte with their heads, and plan graphs in canonical form.",
    recognise=_recognise,
    convert=_convert,
)
