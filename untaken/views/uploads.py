"""Results of uploads: one row per file, an archive with its members inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from untaken.errors import Finding
from untaken.formats.format_info import FileLoss
from untaken.present.numbers import counted
from untaken.views.frame import Columns, count, frame, text
from untaken.workspace.intake import UploadResult

if TYPE_CHECKING:
    import pandas as pd

ARCHIVE: Final = "archive"
SENTENCES: Final = 50
"""Different sentences about one file, or about all members of an archive, in a cell of the table."""
GROUPS_NAMED: Final = 4
"""Kinds of values left out that a sentence names."""
SIDE_STEMS: Final = frozenset(
    {"LICENSE", "LICENCE", "COPYING", "NOTICE", "README", "CHANGELOG", "AUTHORS", "CITATION", "SOURCE"}
)
SIDE_NAMES: Final = frozenset({"thumbs.db", "desktop.ini"})
PLACES: Final = {
    "ts": "times",
    "SKILL_SELECTION": "choices of skill",
    "RUN_STARTED.agent": "the agent's name",
    "RUN_STARTED.task_id": "the task",
    "RUN_FINISHED.cost": "cost",
    "RUN_FINISHED.success": "the outcome",
    "RUN_FINISHED.steps": "steps",
}
"""What is at a place of a ledger, in words; any other place is called by its last names."""
Mark = Literal["✓", "⚠", "✗"]
"""Sound; added but something in it is broken; not added."""


_STOPPED: Final = Finding(
    code="upload-stopped",
    message="the upload was stopped before this file was read to its end",
    hint="Press the button again. What is already here is not added twice.",
    severity="error",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One file as it was chosen (untrusted name), with the members of an archive."""

    row: UploadResult
    members: tuple[UploadResult, ...] = ()

    @property
    def parts(self) -> tuple[UploadResult, ...]:
        """What can hold runs: the members, or the file itself."""
        return self.members or (self.row,)

    @property
    def sides(self) -> tuple[str, ...]:
        """Names of files beside the runs, such as a licence, that are not looked at."""
        return tuple(row.name for row in (self.row, *self.members) if is_side_file(row))

    @property
    def runs(self) -> int:
        """Unbroken runs in it; one that several members are about counts once."""
        shared = sum(member.loss.shared for member in self.members if member.loss)
        return sum(part.runs for part in self.parts) - shared

    @property
    def graphs(self) -> int:
        """Plan graphs in it."""
        return sum(part.graphs for part in self.parts)

    @property
    def mark(self) -> Mark:
        """An archive is as good as its members; one that gave nothing was not added."""
        if self.row.kind != ARCHIVE:
            return _mark(self.row)
        if not any(_gave(member) for member in self.members):
            return "✗"
        looked_at = [member for member in self.members if not is_side_file(member)]
        return "⚠" if any(map(_faulty, (self.row, *looked_at))) else "✓"

    @property
    def status(self) -> str:
        """Whether it is in the workspace, and since when."""
        if self.mark == "✗":
            return "not added"
        return "new" if any(part.new for part in self.parts) else "already here"

    @property
    def integrity(self) -> str:
        """How many of its runs have which integrity verdict in the workspace, as its files have.

        A run that came without a head is anchored by being added: from then on it is INTACT.
        """
        counts = Counter(verdict.verdict for part in self.parts for verdict in part.integrity)
        added = counts.pop("UNANCHORED", 0)
        words = {verdict: f"{number} {verdict}" for verdict, number in counts.most_common()}
        if added:
            counts["INTACT"] += added
            words["INTACT"] = f"{counts['INTACT']} INTACT ({added} without a head until now)"
        return " · ".join(words[verdict] for verdict, _ in counts.most_common())

    @property
    def loss(self) -> str:
        """What conversions could not carry over."""
        return _together(line for part in self.parts if part.loss for line in part.loss.lines())

    @property
    def loss_words(self) -> str:
        """What conversions kept and left out, for a reader who wants to know what it means; untrusted."""
        return loss_in_words([part.loss for part in self.parts if part.loss])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed; in the file itself before its members, side files left out."""
        rows = (row for row in (self.row, *self.members) if not is_side_file(row))
        return tuple(found for row in rows for found in row.findings)

    @property
    def reasons(self) -> tuple[Finding, ...]:
        """What is wrong with it."""
        return tuple(found for found in self.findings if found.severity == "error")

    @property
    def finding_words(self) -> str:
        """The findings in words."""
        return _together(f"{found.code}: {found.message}" for found in self.findings)

    @property
    def next_step(self) -> str:
        """What to do about them."""
        return " · ".join(islice(dict.fromkeys(f.hint for f in self.findings if f.hint), SENTENCES))


def _together(sentences: Iterable[str]) -> str:
    """Each sentence once; of those that repeat, as in an archive of many traces, how often."""
    counts = Counter(sentences)
    named = [f"{words} ({n:,} times)" if n > 1 else words for words, n in counts.items()]
    more = [f"and {len(named) - SENTENCES:,} more"] if len(named) > SENTENCES else []
    return " · ".join([*named[:SENTENCES], *more])


def is_side_file(row: UploadResult) -> bool:
    """Whether a file that holds no run belongs to a project or an operating system by its name."""
    name = row.name.rsplit("/", 1)[-1]
    return row.kind is None and (
        name.split(".", 1)[0].upper() in SIDE_STEMS or name.startswith(".") or name.lower() in SIDE_NAMES
    )


def loss_in_words(losses: Sequence[FileLoss]) -> str:
    """What is in the ledgers, what is in none and so in no score, and what was not recorded."""
    if not losses:
        return ""
    held, kept = (sum(getattr(loss, name) for loss in losses) for name in ("held", "kept"))
    words = [f"Kept {kept:,} of {counted(held, 'value')}."]
    dropped: Counter[str] = Counter()
    for one in (field for loss in losses for field in loss.fields if field.dropped):
        dropped[_group(one.path)] += one.dropped
    if dropped:
        words.append(f"Left out, no score uses them: {_most(dropped)}.")
    defaulted = Counter(_group(place) for loss in losses for place in loss.defaulted)
    if defaulted:
        words.append(f"Not recorded: {', '.join(defaulted)}.")
    derived = Counter(_group(place) for loss in losses for place in loss.synthesised)
    if derived:
        words.append(f"Derived: {', '.join(derived)}.")
    return " ".join(words)


def _group(path: str) -> str:
    """What a place of a record, or of a ledger, holds in a word or two."""
    if path in PLACES:
        return PLACES[path]
    parts = [part for part in path.replace("[]", "").replace("**", "").split(".") if part]
    return (parts[-1] if path.isupper() or len(parts) == 1 else " ".join(parts[-2:])).replace("_", " ")


def _most(groups: Counter[str]) -> str:
    named = [f"{name} ({number:,})" for name, number in groups.most_common(GROUPS_NAMED)]
    more = len(groups) - len(named)
    return ", ".join(named) + (f" and {counted(more, 'other kind')}" if more else "")


UPLOADS: Final[Columns[Upload]] = {
    "": text("✓ sound, ⚠ added with faults, ✗ not added", "mark"),
    "file": text("the name it was uploaded under", "row.name"),
    "kind": text(
        "ledger, graph, heads, archive or a foreign format", lambda u: u.row.kind or "not recognised"
    ),
    "status": text("new, already here, or not added", "status"),
    "runs": count("unbroken runs in it", "runs"),
    "graphs": count("plan graphs in it", "graphs"),
    "members": count("files in an archive", lambda u: len(u.members)),
    "integrity": text("integrity verdicts of its runs", "integrity"),
    "loss": text("what the conversion could not carry over", "loss"),
    "findings": text("what was noticed", "finding_words"),
    "next step": text("what to do about it", "next_step"),
}


def uploads(taken: Iterable[UploadResult]) -> tuple[Upload, ...]:
    """The rows of an intake by upload: the members of an archive follow it."""
    found: list[tuple[UploadResult, list[UploadResult]]] = []
    for row in taken:
        archive = found[-1][0] if found and found[-1][0].kind == ARCHIVE else None
        if archive is not None and row.name.startswith(f"{archive.name}/"):
            found[-1][1].append(row)
        else:
            found.append((row, []))
    return tuple(Upload(row=row, members=tuple(members)) for row, members in found)


def stopped_uploads(names: Iterable[str], arrived: Sequence[UploadResult]) -> list[UploadResult]:
    """The rows of an intake that was stopped, after the rows in `arrived`."""
    rows: list[UploadResult] = []
    for name in names:
        members = [row for row in arrived if row.name.startswith(f"{name}/")]
        own = next((row for row in arrived if row.name == name), None)
        stopped = UploadResult(name=name, kind=ARCHIVE if members else None, findings=(_STOPPED,))
        rows += [own or stopped, *members]
    return rows


def uploads_table(found: Sequence[Upload]) -> pd.DataFrame:
    """One row per upload, or per member of one (columns: `UPLOADS`)."""
    return frame(UPLOADS, found)


def _mark(one: UploadResult) -> Mark:
    faulty = _faulty(one)
    unread = faulty or any(found.code == "file-not-read" for found in one.findings)
    if one.kind is None or (unread and not one.new and not one.runs + one.graphs):
        return "✗"
    return "⚠" if faulty else "✓"


def _faulty(one: UploadResult) -> bool:
    return any(f.severity == "error" for f in one.findings) or any(v.broken for v in one.integrity)


def _gave(member: UploadResult) -> bool:
    """Whether anything of a member is in the workspace; heads and planning records hold no runs."""
    holds = member.runs + member.graphs > 0 or member.integrity or member.kind in ("heads", "planning")
    return _mark(member) != "✗" and bool(holds)
