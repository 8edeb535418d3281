"""Results of uploads: one row per file, an archive with its members inside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from untaken.errors import Finding, first_few
from untaken.numbers import counted
from untaken.traces import FileLoss, formats
from untaken.views.frame import Columns, count, frame, text
from untaken.workspace import UploadResult

if TYPE_CHECKING:
    import pandas as pd

ARCHIVE: Final = "archive"
KINDS: Final = {
    ARCHIVE: "archive",
    "ledger": "run ledger",
    "graph": "plan graph",
    "heads": "recorded heads",
    "planning": "record of planning",
}
FILES_NAMED: Final = 3
"""Files of a card that is about several."""
SENTENCES: Final = 50
"""Different sentences about one file, or about all members of an archive, in a cell of the table."""
SIDE_STEMS: Final = frozenset(
    {"LICENSE", "LICENCE", "COPYING", "NOTICE", "README", "CHANGELOG", "AUTHORS", "CITATION", "SOURCE"}
)
SIDE_NAMES: Final = frozenset({"thumbs.db", "desktop.ini"})
PLACES: Final = {
    "ts": "times",
    "PLAN": "plans",
    "STATE": "states",
    "SKILL_SELECTION": "choices of skill",
    "TOOL_CALL": "tool calls",
    "TOOL_CALL.arguments": "arguments of calls",
    "TOOL_CALL.call_id": "ids of calls",
    "TOOL_CALL.tool": "names of tools",
    "VERDICT.by": "names of judges",
    "RUN_STARTED.agent": "the agent's name",
    "RUN_STARTED.task_id": "the task",
    "RUN_STARTED.task_repeat": "the number of the repeat",
    "RUN_FINISHED.cost": "cost",
    "RUN_FINISHED.success": "the outcome",
    "RUN_FINISHED.steps": "steps",
    "sub_goal.id": "ids of sub-goals",
}
"""What is at a place of a ledger or a graph, in words."""
SUBJECTS: Final[Mapping[str, str]] = {
    "replies as the provider sent them": "raw_data response output attachments signature",
    "definitions of tools": "tool_definitions tools slash_commands",
    "how the runs were graded": (
        "reward reward_info grading evaluation evaluation_criteria scores annotation annotations results "
        "test_result gradingResult failures failure_summary failureReason requirements preferences"
    ),
    "details of tokens and cost": (
        "usage totalUsage token_usages accumulated_token_usage metrics cost costs tokens"
    ),
    "durations": "latency latencies duration execution_time working_time Duration request_time turns_ms",
    "settings and versions": (
        "config settings model_config replay_config resource metadata sdk version userType gitBranch "
        "approval_policy agent_class max_iterations model model_name ServiceName ScopeName"
    ),
    "kinds and numbers of records": (
        "id index type kind role name source turn_idx step_id message_type requestor function SpanKind "
        "span_kind promptId project_id log_id is_root records tags"
    ),
}
"""What is left out, in words, with names on its place in a record; the first that fits counts."""
OTHER_DETAILS: Final = "other details"
Mark = Literal["✓", "⚠", "✗"]
"""Sound; added but something in it is broken; not added."""


_STOPPED: Final = Finding(
    code="upload-stopped",
    message="the upload was stopped before this file was read to its end",
    hint="Press the button again. What is already here is not added twice.",
    severity="error",
)


class Upload(Struct, frozen=True, kw_only=True):
    """One file as it was chosen (untrusted name), or an archive or files of one kind, with what is in it."""

    row: UploadResult
    members: tuple[UploadResult, ...] = ()

    @property
    def kind(self) -> str:
        """What it is, in words."""
        kind = self.row.kind or "not recognised"
        return KINDS.get(kind) or _titles().get(kind, kind)

    @property
    def run_ids(self) -> frozenset[str]:
        """The unbroken runs in it."""
        return frozenset(run_id for part in self.parts for run_id in part.run_ids)

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
        # Each member counts the runs that it shares with others.
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
            return _mark(self.parts[0])
        if not any(_gave(member) for member in self.members):
            return "✗"
        looked_at = [member for member in self.members if not is_side_file(member)]
        # A licence beside the runs is not a fault.
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
            # Adding it recorded a head: from now on it is compared with that.
            counts["INTACT"] += added
            words["INTACT"] = f"{counts['INTACT']} INTACT ({added} without a head until now)"
        return " · ".join(words[verdict] for verdict, _ in counts.most_common())

    @property
    def broken(self) -> int:
        """How many of its runs are broken: kept, shown, and counted nowhere."""
        return sum(verdict.broken for part in self.parts for verdict in part.integrity)

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
        """What is wrong with it: the first reason of each file, then the others."""
        seen: Counter[str | None] = Counter()
        turns: list[tuple[int, Finding]] = []
        for found in self.findings:
            if found.severity == "error":
                turns.append((seen[found.where.file], found))
                seen[found.where.file] += 1
        return tuple(found for _, found in sorted(turns, key=lambda turn: turn[0]))

    @property
    def kinds_of_findings(self) -> str:
        """The first finding of each kind, and how many more of the kind there are."""
        kinds: dict[str, dict[str, None]] = {}
        for found in self.findings:
            kinds.setdefault(found.code, {})[found.message] = None
        more = {
            code: f" (and {len(of) - 1:,} more like it)" if len(of) > 1 else "" for code, of in kinds.items()
        }
        return " · ".join(next(iter(of)) + more[code] for code, of in kinds.items())

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
        dropped[_subject(one.path)] += one.dropped
    if dropped:
        most = ", ".join(f"{name} ({number:,})" for name, number in dropped.most_common())
        words.append(f"Left out, no score uses them: {most}.")
    for head in ("defaulted", "synthesised"):
        places = dict.fromkeys(place for loss in losses for place in getattr(loss, head))
        if places:
            named = ", ".join(PLACES.get(place, OTHER_DETAILS) for place in places)
            words.append(f"{'Not recorded' if head == 'defaulted' else 'Derived from the rest'}: {named}.")
    return " ".join(words)


def _subject(path: str) -> str:
    """What a place of a record holds."""
    names = set(re.split(r"[^A-Za-z_]+", path))
    return next((words for words, any_of in SUBJECTS.items() if names & set(any_of.split())), OTHER_DETAILS)


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


def together(found: Sequence[Upload]) -> list[Upload]:
    """Files of one kind in one folder that fared alike, as one upload; archives stay alone."""
    alike: dict[tuple[object, ...], list[Upload]] = {}
    for number, one in enumerate(found):
        folder = one.row.name.rpartition("/")[0]
        key = (one.row.kind, folder, one.mark, one.status, number if one.members else None)
        alike.setdefault(key, []).append(one)
    return [ones[0] if len(ones) == 1 else _as_one(ones) for ones in alike.values()]


def _as_one(ones: Sequence[Upload]) -> Upload:
    names = first_few([one.row.name for one in ones], FILES_NAMED)
    row = UploadResult(name=f"{len(ones):,} files: {names}", kind=ones[0].row.kind)
    return Upload(row=row, members=tuple(one.row for one in ones))


@cache
def _titles() -> dict[str, str]:
    return {info.name: info.title for info in formats()}


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
    # A faulty file counts as added if it is here already, or if something in it could be read.
    if one.kind is None or (unread and not one.new and not one.runs + one.graphs):
        return "✗"
    return "⚠" if faulty else "✓"


def _faulty(one: UploadResult) -> bool:
    return any(f.severity == "error" for f in one.findings) or any(v.broken for v in one.integrity)


def _gave(member: UploadResult) -> bool:
    """Whether anything of a member is in the workspace; heads and planning records hold no runs."""
    holds = member.runs + member.graphs > 0 or member.integrity or member.kind in ("heads", "planning")
    return _mark(member) != "✗" and bool(holds)
