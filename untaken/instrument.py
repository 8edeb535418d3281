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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from untaken.errors import UntakenError
from untaken.ledger import SpanFileExporter, disk, heads_path
from untaken.traces import convert

_LOG: Final = logging.getLogger("untaken.instrument")


class LedgerSpanExporter(SpanFileExporter):
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

    def _close(self, trace: str) -> None:
        """The ledger of a trace, in the place of one with fewer of its spans."""
        ledgers = self.folder / "ledgers"
        try:
            ledgers.mkdir(exist_ok=True)
            with TemporaryDirectory(prefix=".writing-", dir=self.folder) as made:
                done = convert("otel", [self._spans(trace)], made)
                placed = [_place(ledger, ledgers) for ledger in done.ledgers]
            # In this order: never heads without their ledger.
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


def _place(made: Path, folder: Path) -> Path:
    """Puts a ledger into the folder durably, then its heads: never heads without their ledger."""
    placed = folder / made.name
    for source, target in ((made, placed), (heads_path(made), heads_path(placed))):
        disk.replace(target, source.read_bytes(), sync=True)
    return placed
