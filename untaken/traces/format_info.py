"""What an importer says about itself, and what a conversion gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, get_args

import msgspec
from msgspec import Struct

from untaken.errors import Finding
from untaken.numbers import counted

RunField = Literal[
    "agent", "model", "version", "prompt version", "task", "task text", "target",
    "outcome", "tokens", "cost", "time",
]  # fmt: skip
RUN_FIELDS: Final[tuple[RunField, ...]] = get_args(RunField)
Progress = Callable[[int, int, str], None]
"""Called with (files done, total files, current file name). An exception from it cancels the work."""


class FormatInfo(Struct, frozen=True, kw_only=True):
    """One importer, for lists.

    Attributes:
        name: the name to ask for, e.g. ``tau2-bench``.
        title: the name to show.
        extensions: endings of files looked at in a folder or an archive.
        what: one sentence on what is read and how it is converted.
        reads: by what of a run it feeds (`RUN_FIELDS`), the places of a record that are read for it, the one
            that counts first; in brackets what is no place of a record.
        left_out: places that are known and not carried over; ``.**`` at the end takes in what is below.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    what: str
    reads: Mapping[RunField, tuple[str, ...]] = msgspec.field(default_factory=dict)
    left_out: tuple[str, ...] = ()


class FieldCount(Struct, frozen=True, kw_only=True):
    """Values found at one place of a source file, e.g. ``[].traj[].content``: `held` = `kept` + `dropped`.

    Attributes:
        dropped_at: where the first three dropped ones are, e.g. ``record 2: traj[0].content``.
    """

    path: str
    held: int
    kept: int
    dropped_at: tuple[str, ...] = ()

    @property
    def dropped(self) -> int:
        """Values that are in no ledger and no graph."""
        return self.held - self.kept


class FileLoss(Struct, frozen=True, kw_only=True):
    """The result for one source file.

    Attributes:
        name: of the file, relative to what was asked for (untrusted text).
        records: records found in it; `runs`: runs it contributed to; `shared`: those of them that another
            file counts, too; `graphs`: plan graphs made from it.
        ledgers: file names of the ledgers those runs are in.
        fields: values by place, in the order of first appearance.
        defaulted: by place in the ledger, values that the source did not record and that have a documented
            default.
        synthesised: by place in the ledger, values derived by a documented rule instead of recorded.
        defaulted_at, synthesised_at: the first three runs or records each of them is about.
        findings: what was noticed; of one kind at most `losses.FINDINGS_PER_KIND`, then their number.
    """

    name: str
    bytes: int
    sha256: str
    records: int
    runs: int
    ledgers: tuple[str, ...]
    fields: tuple[FieldCount, ...]
    defaulted: Mapping[str, int]
    synthesised: Mapping[str, int]
    findings: tuple[Finding, ...]
    defaulted_at: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    synthesised_at: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    shared: int = 0
    graphs: int = 0

    @property
    def held(self) -> int:
        """Values in the file."""
        return sum(one.held for one in self.fields)

    @property
    def kept(self) -> int:
        """Values of it that went into a ledger or a graph."""
        return sum(one.kept for one in self.fields)

    def lines(self) -> tuple[str, ...]:
        """The loss in words, one line a kind, for a reader who decides whether to trust the import."""
        found = f"{counted(self.records, 'record')}, {counted(self.runs, 'run')}"
        words = [f"{found}; {self.kept:,} of {counted(self.held, 'value')} kept"]
        words += [f"dropped: {f.path} {_counted(f.dropped, f.dropped_at)}" for f in self.fields if f.dropped]
        words += [
            f"not recorded, default used: {place} {_counted(n, self.defaulted_at.get(place, ()))}"
            for place, n in self.defaulted.items()
        ]
        words += [
            f"derived, not recorded: {place} {_counted(n, self.synthesised_at.get(place, ()))}"
            for place, n in self.synthesised.items()
        ]
        return tuple(words)


def _counted(number: int, first: tuple[str, ...]) -> str:
    """How many, and the first places."""
    return f"({number}; first: {', '.join(first)})" if first else f"({number})"


class Conversion(Struct, frozen=True, kw_only=True):
    """What `convert` wrote.

    Attributes:
        format: its name; of several, the names joined by commas.
        ledgers: written ledgers, each with its heads sidecar; `graphs`: written plan graphs; in the order
            written.
        losses: one for each source file that was looked at.
        findings: those of all files, and of the conversion as a whole.
        runs: number of runs written.
        loss_report: where ``loss.json`` is written.
    """

    format: str
    ledgers: tuple[Path, ...]
    graphs: tuple[Path, ...]
    losses: tuple[FileLoss, ...]
    findings: tuple[Finding, ...]
    runs: int
    loss_report: Path
