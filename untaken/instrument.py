"""Record instrumented agents as they run: an OpenTelemetry span exporter that writes ledgers.

Any agent whose spans carry ``gen_ai.*`` or OpenInference names is recorded, one run per trace:

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(LedgerSpanExporter("runs")))
    trace.set_tracer_provider(provider)

Each exported span is appended to ``FOLDER/spans/<trace>.jsonl`` and synced before `LedgerSpanExporter.export`
returns, so a process killed at any moment loses no span that it acknowledged. When the root span of a trace
ends, its spans become the ledger ``FOLDER/ledgers/<trace>-<digest>.jsonl``, exactly as ``untaken convert``
writes it; ``untaken convert FOLDER/spans -o FOLDER`` writes the ledgers of processes that were killed before.

Needs the extra ``untaken[otel]``.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Final

from untaken.errors import UntakenError
from untaken.extras import load_extra
from untaken.formats import convert
from untaken.ledger import disk, heads_path

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
else:
    SpanExporter = object  # the SDK is loaded when an exporter is made: nothing else here needs it

_LOG: Final = logging.getLogger("untaken.instrument")


class LedgerSpanExporter(SpanExporter):
    """Writes the spans of instrumented agents as run ledgers.

    Nothing raises into the agent: anything that cannot be written is logged (``untaken.instrument``), and
    `export` returns ``FAILURE``. Spans that end after the root of their trace are kept, and the ledger is
    rewritten on `shutdown`, which the SDK calls when the process exits. Threads and processes may share a
    folder.

    Args:
        folder: created where it does not exist; ``spans/`` and ``ledgers/`` go into it.

    Raises:
        UntakenError: ``otel-extra-missing``.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        needed = "recording instrumented agents needs the OpenTelemetry SDK"
        export = load_extra("opentelemetry.sdk.trace.export", "otel-extra-missing", "otel", needed)
        self._results: type[SpanExportResult] = export.SpanExportResult
        self.folder = Path(folder)
        self._turn = Lock()
        self._unwritten: set[str] = set()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep the spans; write the ledger of each trace whose root is among them.

        Returns:
            ``SUCCESS`` once every span is on the disk.
        """
        ended = {_trace_of(span) for span in spans if span.parent is None or span.parent.is_remote}
        with self._turn:
            try:
                self._keep(spans)
            except (OSError, TypeError, ValueError):  # TypeError: an attribute that is no JSON
                _LOG.exception("spans could not be recorded in %s", self.folder)
                return self._results.FAILURE
            for trace in sorted(ended):
                self._write(trace)
        return self._results.SUCCESS

    def shutdown(self) -> None:
        """Write the ledgers of traces that got spans since theirs were written, or that never ended."""
        with self._turn:
            for trace in sorted(self._unwritten):
                self._write(trace)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 (the SDK's signature)
        """Nothing waits: `export` returns when its spans are on the disk."""
        return True

    def _keep(self, spans: Sequence[ReadableSpan]) -> None:
        lines: dict[str, list[str]] = defaultdict(list)
        for span in spans:
            lines[_trace_of(span)].append(span.to_json(indent=None))
        for trace, kept in lines.items():
            _append(self._spans(trace), "".join(f"{line}\n" for line in kept).encode("utf-8", "replace"))
            self._unwritten.add(trace)

    def _spans(self, trace: str) -> Path:
        return self.folder / "spans" / f"{trace}.jsonl"

    def _write(self, trace: str) -> None:
        """The ledger of a trace, in the place of one with fewer of its spans."""
        ledgers = self.folder / "ledgers"
        try:
            ledgers.mkdir(exist_ok=True)
            with TemporaryDirectory(prefix=".writing-", dir=self.folder) as made:
                done = convert("otel", [self._spans(trace)], made)
                placed = [_place(ledger, ledgers) for ledger in done.ledgers]
            for older in set(ledgers.glob(f"{trace}-????????.jsonl")).difference(placed):
                disk.remove(heads_path(older))
                disk.remove(older)
        except (OSError, UntakenError):
            _LOG.exception("no ledger of the trace %s could be written; its spans are kept", trace)
            return
        for finding in done.findings:
            if finding.severity == "error":
                _LOG.error("trace %s: %s [%s]", trace, finding.message, finding.code)
        self._unwritten.discard(trace)


def _trace_of(span: ReadableSpan) -> str:
    return f"{span.context.trace_id:032x}" if span.context else "none"


def _append(path: Path, lines: bytes) -> None:
    """Appends whole lines, durably, after whatever a crash or a full disk left of a line before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and disk.read_at(descriptor, size - 1, 1) != b"\n"
        disk.write_all(descriptor, b"\n" + lines if torn else lines)
        disk.fsync(descriptor)
    finally:
        os.close(descriptor)
    if fresh:
        disk.sync_folder(path.parent)


def _place(made: Path, folder: Path) -> Path:
    """Puts a ledger into the folder durably, then its heads: never heads without their ledger."""
    placed = folder / made.name
    for source, target in ((made, placed), (heads_path(made), heads_path(placed))):
        disk.replace(target, source.read_bytes(), sync=True)
    return placed
