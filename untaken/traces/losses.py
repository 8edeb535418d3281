"""The running account of an import: what each file held, what was kept, and what was noticed."""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec.structs import replace

from untaken.errors import Finding, Severity, Where
from untaken.ledger import cut
from untaken.traces.format_info import FieldCount, FileLoss

FINDINGS_PER_KIND: Final = 100
"""Findings of one code listed for one file; the rest are counted: a hostile file cannot fill the report."""
FIRST_PLACES: Final = 3
"""Places named for each dropped or defaulted field; more are only counted."""
KEY_CHARS: Final = 80
"""Most characters of a member's name in a place."""
USED_OTHERWISE: Final = ("duplicate-file", "duplicate-run", "duplicate-label", "label-without-run")
"""Findings about a file that gives no run: its runs are known, or it waits for the runs it is about."""
_CLIP: Final = 160


def clip(text: object, limit: int = _CLIP) -> str:
    """Untrusted text for a message: quoted, escaped, and no longer than `limit`."""
    return ascii_safe(cut(str(text), limit))


def ascii_safe(text: str) -> str:
    """The text with control characters made visible."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class Findings:
    """Collects findings, at most `FINDINGS_PER_KIND` of one code, then how many more there were."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self._kept: list[Finding] = []
        self._seen: dict[str, int] = {}
        self._lead: Finding | None = None

    def __contains__(self, code: str) -> bool:
        return code in self._seen

    def add(
        self,
        code: str,
        message: str,
        *,
        run: str | None = None,
        line: int | None = None,
        hint: str = "",
        severity: Severity = "warning",
    ) -> None:
        """Notes one finding."""
        self._seen[code] = count = self._seen.get(code, 0) + 1
        if count <= FINDINGS_PER_KIND:
            where = Where(file=self.file, run=run, line=line)
            self._kept.append(Finding(code=code, message=message, where=where, hint=hint, severity=severity))

    def once(self, code: str, message: str, *, hint: str = "", severity: Severity = "warning") -> None:
        """Notes a finding that is true of the file as a whole, the first time it is met."""
        if code not in self._seen:
            self.add(code, message, hint=hint, severity=severity)

    def nothing_added(self) -> None:
        """Puts first that the whole file gave nothing, and why; what else was noticed becomes notes."""
        causes = [finding for finding in self._kept if finding.severity == "error"]
        # A file that is cut short explains every other error in it.
        cause = next((finding for finding in causes if finding.code == "truncated-file"), None)
        why, hint = "the file is cut short", "Export or download it again."
        if cause is None:
            cause = next(iter(causes), None)
            why, hint = (cause.message, cause.hint) if cause else ("no run found in it", "")
        self._lead = Finding(
            code="nothing-added",
            message=f"nothing was added: {why}",
            where=Where(file=self.file),
            hint=hint or "Export it again, or check that it is of this format.",
            severity="error",
        )

    def all(self) -> tuple[Finding, ...]:
        """The findings in the order in which they were met."""
        more = [
            Finding(
                code=code,
                message=f"and {n - FINDINGS_PER_KIND} more of the same kind",
                where=Where(file=self.file),
            )
            for code, n in self._seen.items()
            if n > FINDINGS_PER_KIND
        ]
        if self._lead is None:
            return (*self._kept, *more)
        return (self._lead, *(replace(finding, severity="note") for finding in (*self._kept, *more)))


class Held(Counter[str]):
    """Values of one record by place.

    Attributes:
        at: of each place, where its first values are in the record: names and the numbers of list elements,
            from the outside in.
    """

    def __init__(self) -> None:
        super().__init__()
        self.at: dict[str, list[tuple[str | int, ...]]] = {}


class Noted(Counter[str]):
    """Counts by place in the ledger.

    Attributes:
        at: of each place, the runs or records that the first of them were about.
    """

    def __init__(self, log: FileLog) -> None:
        super().__init__()
        self.at: dict[str, list[str]] = {}
        self._log = log

    def __setitem__(self, place: str, count: int) -> None:
        """Notes the current record as well."""
        super().__setitem__(place, count)
        first, here = self.at.setdefault(place, []), self._log.subject()
        if len(first) < FIRST_PLACES and here not in first:
            first.append(here)


class FileLog:
    """The account of one source file.

    Attributes:
        findings: what was noticed in it.
        run_id: of the run at hand, if a record has become one.
        records: counter the importer moves; `runs` moves with `wrote`, `graphs` with `GraphBook.add`.
        defaulted, synthesised: counters by place in the ledger, e.g. ``RUN_FINISHED.cost``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.bytes = 0
        self.sha256 = ""
        self.records = 0
        self.run_id = ""
        self.runs = 0
        self.graphs = 0
        self.shared = 0
        self._ledgers: dict[str, None] = {}
        self.findings = Findings(name)
        self.defaulted = Noted(self)
        self.synthesised = Noted(self)
        self._held: dict[str, int] = {}
        self._kept: dict[str, int] = {}
        self._dropped_at: dict[str, list[str]] = {}

    def wrote(self, ledger: str, *, shared: bool = False) -> None:
        """Notes that a run this file is about went into a ledger; `shared` if another file counts it too."""
        self.runs += 1
        self.shared += shared
        self._ledgers[ledger] = None

    def took_back(self, ledger: str) -> None:
        """Notes that a run of this file is left out of its ledger again, whose only file this is."""
        self.runs -= 1
        if not self.runs:
            self._ledgers.pop(ledger, None)  # no other run of it is in there

    @property
    def gave_nothing(self) -> bool:
        """True if no run and no graph came of the file, and none of it is known or used otherwise."""
        return not (self.runs or self.graphs or any(code in self.findings for code in USED_OTHERWISE))

    def subject(self) -> str:
        """The current run, or else the current record."""
        # The first record is counted once it is read.
        return f"run {clip(self.run_id)}" if self.run_id else f"record {max(1, self.records)}"

    def count(self, held: Held, kept: frozenset[str]) -> None:
        """Adds a record's values by place; those at places in `kept` went into a ledger or a graph."""
        self.run_id = ""  # the record has become no run yet
        for path, n in held.items():
            self._held[path] = self._held.get(path, 0) + n
            if path in kept:
                self._kept[path] = self._kept.get(path, 0) + n
                continue
            first = self._dropped_at.setdefault(path, [])
            inside = held.at.get(path, ())[: FIRST_PLACES - len(first)]
            first += [_located(max(1, self.records), path) for path in inside]

    def loss(self) -> FileLoss:
        """The loss report so far."""
        fields = [
            FieldCount(
                path=p, held=n, kept=self._kept.get(p, 0), dropped_at=tuple(self._dropped_at.get(p, ()))
            )
            for p, n in self._held.items()
        ]
        return FileLoss(
            name=self.name,
            bytes=self.bytes,
            sha256=self.sha256,
            records=self.records,
            runs=self.runs,
            shared=self.shared,
            graphs=self.graphs,
            ledgers=tuple(self._ledgers),
            fields=tuple(fields),
            defaulted=dict(self.defaulted),
            synthesised=dict(self.synthesised),
            defaulted_at={place: tuple(first) for place, first in self.defaulted.at.items()},
            synthesised_at={place: tuple(first) for place, first in self.synthesised.at.items()},
            findings=self.findings.all(),
        )


def _located(record: int, path: tuple[str | int, ...]) -> str:
    """Where a value is: ``record 2: messages[3].role``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{clip(part, KEY_CHARS)}" for part in path)
    place = clip("".join(parts).lstrip("."))
    return f"record {record}" + (f": {place}" if place else "")
