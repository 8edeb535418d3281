"""Keep the spans of instrumented agents as they end: an OpenTelemetry exporter that writes files of spans.

``untaken convert FOLDER/spans -o FOLDER`` makes run ledgers of them; `untaken.instrument` does so by itself.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from untaken.extras import load_extra
from untaken.ledger import disk

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
else:
    SpanExporter = object  # the SDK is loaded when an exporter is made: nothing else here needs it

_LOG: Final = logging.getLogger("untaken.instrument")


class SpanFileExporter(SpanExporter):
    """Appends each span to ``FOLDER/spans/<trace>.jsonl`` and syncs it: no acknowledged span is lost.

    Nothing raises into the agent: anything that cannot be written is logged (``untaken.instrument``), and
    `export` returns ``FAILURE``. Threads and processes may share a folder.

    Args:
        folder: created where it does not exist.

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
        """Keep the spans; close each trace whose root is among them.

        Returns:
            ``SUCCESS`` once every span is on the disk.
        """
        # A remote parent is in another process: in this one, the span is a root.
        ended = {_trace_of(span) for span in spans if span.parent is None or span.parent.is_remote}
        with self._turn:
            try:
                self._keep(spans)
            except (OSError, TypeError, ValueError):  # TypeError: an attribute that is no JSON
                _LOG.exception("spans could not be recorded in %s", self.folder)
                return self._results.FAILURE
            for trace in sorted(ended):
                self._close(trace)
        return self._results.SUCCESS

    def shutdown(self) -> None:
        """Close the traces that got spans since they were closed, or that never ended."""
        with self._turn:
            for trace in sorted(self._unwritten):
                self._close(trace)

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

    def _close(self, trace: str) -> None:
        """What is done with the spans of a trace that has ended: they are kept."""
        self._unwritten.discard(trace)


def _trace_of(span: ReadableSpan) -> str:
    return f"{span.context.trace_id:032x}" if span.context else "none"


def _append(path: Path, lines: bytes) -> None:
    """Appends whole lines, durably, after whatever a crash or a full disk left of a line before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = not path.exists()
    # Spans hold what people wrote: they are for nobody else to read.
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
