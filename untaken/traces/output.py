"""The folder a conversion writes: made aside, then put in place, so that a failure leaves nothing half."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import msgspec

from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import (
    Draft,
    HeldLedger,
    HeldLedgers,
    LedgerWriter,
    heads_path,
    heads_text,
    load_heads,
    run_of,
)
from untaken.plans import PlanGraph, save_graph
from untaken.traces.format_info import FieldCount, FileLoss

RunSink = Callable[[str, Sequence[Draft]], None]
LOSS_SCHEMA: Final = "untaken.loss/1"
HELD_BYTES: Final = 128 << 20
"""Most bytes of a conversion's short ledgers that are held in memory."""
_SLUG_CHARS: Final = 120
_SAFE: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)


def file_stem(text: str) -> str:
    """A file name for untrusted text: itself where it is plain and lower case, else a slug with a digest."""
    # On some disks, names that differ in case only are one.
    if _SAFE.fullmatch(text) and not text.endswith(".") and not _DEVICE.match(text):
        return text
    slug = _UNSAFE.sub("-", text)[:_SLUG_CHARS].strip("-._")
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    # Windows takes a name for that of the device whatever follows its first point.
    slug = f"run-{slug}" if _DEVICE.match(slug) else slug
    return f"{slug}-{mark}" if slug else mark


def ledger_name(stem: str) -> str:
    """The file name of the ledger for a stem."""
    return f"{file_stem(stem)}.jsonl"


class Output:
    """A folder in the making, beside the files it will replace."""

    def __init__(self, out: Path, staging: Path, held: HeldLedgers | None) -> None:
        self._out = out
        self._staging = staging
        self._written = staging / "ledgers"
        self._held = held
        self._room = HELD_BYTES
        self._ledgers: list[str] = []
        self._graphs: list[str] = []
        self._taken_back: defaultdict[str, set[str]] = defaultdict(set)
        for room in ("ledgers", "graphs"):
            (staging / room).mkdir()

    @contextmanager
    def ledger(self, name: str) -> Iterator[RunSink]:
        """Writes runs into one ledger of this file name; the file begins with the first run."""
        held = self._held if self._room > 0 else None  # the others are files at once
        writer: LedgerWriter | None = None

        def write(run_id: str, drafts: Sequence[Draft]) -> None:
            nonlocal writer
            if writer is None:
                writer = LedgerWriter(self._written / name, scratch=True, held=held)
                self._ledgers.append(name)
            writer.append(run_id, drafts)

        try:
            yield write
        finally:
            if writer is not None:
                writer.close()
        if held is not None and name in held:
            self._room -= len(held[name].content)

    def write_graph(self, graph: PlanGraph) -> None:
        """Writes a graph.

        Raises:
            UntakenError: ``plan-not-writable``.
        """
        name = f"{file_stem(graph.id)}.plan.yaml"
        save_graph(graph, self._staging / "graphs" / name)
        self._graphs.append(name)

    def copy_ledger(self, name: str, content: bytes, heads: bytes | None) -> None:
        """Puts a ledger in as it is, byte for byte, with the heads sidecar that came with it."""
        path = self._written / name
        path.write_bytes(content)
        if heads is not None:
            heads_path(path).write_bytes(heads)
        self._ledgers.append(name)

    def take_back(self, name: str, run_id: str) -> None:
        """Leaves a run that was written out of its ledger."""
        self._taken_back[name].add(run_id)

    def publish(self, reports: Iterable[dict[str, Any]]) -> tuple[tuple[Path, ...], tuple[Path, ...], Path]:
        """Puts everything in its place, the loss report last; where ledgers are held, there is none.

        Returns:
            The ledgers, the graphs, and the loss report.
        """
        for name, run_ids in self._taken_back.items():
            self._leave_out(name, run_ids)
        held = self._held or {}
        self._place("ledgers", [name for name in self._ledgers if name not in held])
        self._place("graphs", self._graphs)
        report = self._out / "loss.json"
        if self._held is None:
            text = msgspec.json.encode(_merged(report, list(reports)))
            (self._staging / report.name).write_bytes(msgspec.json.format(text, indent=1) + b"\n")
            (self._staging / report.name).replace(report)
        room = self._out / "ledgers"
        return (
            tuple(room / name for name in self._ledgers),
            tuple(self._out / "graphs" / name for name in sorted(self._graphs)),
            report,
        )

    def _leave_out(self, name: str, run_ids: set[str]) -> None:
        """Writes a ledger again without some of its runs, each of which is a chain of its own."""
        path = self._written / name
        held = None if self._held is None else self._held.pop(name, None)
        before = BytesIO(held.content) if held else path.open("rb")
        heads = held.heads if held else load_heads(heads_path(path))
        left = {run_id: head for run_id, head in heads.items() if run_id not in run_ids}
        with before:
            lines = [line for line in before if run_of(line) in left]
        if not left:
            self._ledgers.remove(name)
            path.unlink(missing_ok=True)
            heads_path(path).unlink(missing_ok=True)
        elif held is not None and self._held is not None:
            self._held[name] = HeldLedger(content=b"".join(lines), heads=left)
        else:
            path.write_bytes(b"".join(lines))
            heads_path(path).write_bytes(heads_text(left))

    def _place(self, room: str, names: Iterable[str]) -> None:
        """Moves the files of a room, at once where it is new."""
        made, target = self._staging / room, self._out / room
        if not target.exists():
            made.replace(target)
            return
        for name in names:
            # Old heads go first and new ones come last: never heads without their ledger.
            heads = heads_path(target / name)
            heads.unlink(missing_ok=True)
            (made / name).replace(target / name)
            with suppress(FileNotFoundError):  # a graph has none
                heads_path(made / name).replace(heads)


@contextmanager
def staged_output(out: Path, held: HeldLedgers | None = None) -> Iterator[Output]:
    """An output beside whatever is in the folder; it vanishes unless it is published.

    Raises:
        UntakenError: ``output-not-a-folder``.
    """
    if out.exists() and not out.is_dir():
        raise UntakenError(
            "output-not-a-folder", "the output is a file", where=Where(file=str(out)), hint="Name a folder."
        )
    out.mkdir(parents=True, exist_ok=True)
    staging = Path(mkdtemp(prefix=".converting-", dir=out))  # in the folder itself, so that a move is whole
    try:
        yield Output(out, staging, held)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _merged(path: Path, reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The reports, beside those of other formats converted into the same folder before."""
    others: list[dict[str, Any]] = []
    formats = {report["format"] for report in reports}
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["schema"] == LOSS_SCHEMA:
            others = [old for old in before["conversions"] if old["format"] not in formats]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # no report of ours: it is replaced
        others = []
    conversions = sorted([*others, *reports], key=lambda one: str(one["format"]))
    return {"schema": LOSS_SCHEMA, "conversions": conversions}


def loss_mapping(loss: FileLoss) -> dict[str, Any]:
    """One file's loss as JSON types."""
    return {
        "file": loss.name,
        "bytes": loss.bytes,
        "sha256": loss.sha256,
        "records": loss.records,
        "runs": loss.runs,
        "ledgers": list(loss.ledgers),
        "fields": {f.path: _field(f) for f in loss.fields},
        "defaulted": dict(loss.defaulted),
        "defaulted_at": {place: list(first) for place, first in loss.defaulted_at.items()},
        "synthesised": dict(loss.synthesised),
        "synthesised_at": {place: list(first) for place, first in loss.synthesised_at.items()},
        "findings": [finding_mapping(finding) for finding in loss.findings],
    }


def _field(count: FieldCount) -> dict[str, Any]:
    return {
        "held": count.held,
        "kept": count.kept,
        "dropped": count.dropped,
        "dropped_at": list(count.dropped_at),
    }


def finding_mapping(finding: Finding) -> dict[str, Any]:
    """A finding as JSON types; parts that are not known are left out."""
    parts = {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "file": finding.where.file,
        "line": finding.where.line,
        "run": finding.where.run,
        "hint": finding.hint or None,
    }
    return {key: value for key, value in parts.items() if value is not None}
