"""How runs ended, as the caller says: a table of ``run_id,success,cost``, or a field of the traces."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from untaken import limits
from untaken.errors import UntakenError, Where, first_few
from untaken.ledger import OUTSIDE, InfrastructureKind, infrastructure_kind
from untaken.traces.losses import Findings, clip
from untaken.traces.outcome_fields import fields_beside, name_unused, outcome_in
from untaken.traces.readings import amount, text, truth
from untaken.traces.tables import read_table

COLUMNS: Final = ("run_id", "success", "cost", "steps", "error", "limit")
_HINT: Final = "A CSV with the columns run_id,success and perhaps cost, or JSON lines with these keys."
ENDINGS: Final[Mapping[InfrastructureKind, str]] = {
    "verifier": "a fault of its verifier",
    "time_limit": "a time limit",
    "step_limit": "a step limit",
    "budget_limit": "a limit of tokens or cost",
    "other_limit": "a limit",
}
"""Endings beside which a recorded outcome is kept, in words."""


class Outcomes(Struct):
    """How runs ended, by run id or by a field of their traces; each is joined to its run.

    Attributes:
        by_run: the fields of RUN_FINISHED that the table knows.
        named: the field of a trace that is the outcome; the table counts before it.
        joined: ids that met a run.
        met: whether a trace had the field.
    """

    by_run: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    named: str | None = None
    joined: set[str] = msgspec.field(default_factory=set)
    met: bool = False

    def settle(
        self, run_id: str, origin: Any, end: dict[str, Any], findings: Findings, *, silent: bool
    ) -> None:
        """Puts what the table or the field knows of a run into `end`, the fields of its RUN_FINISHED.

        A row names a run by its id, or by the last part of it where no row has the whole id.

        Args:
            run_id: of the run.
            origin: all that the source says of the run, where a field may be its outcome.
            end: how it ended by the source.
            findings: of the file.
            silent: whether there is an outcome, or a finding that says why there is none.
        """
        if self.named is not None:
            there, success = outcome_in(self.named, origin, findings, run_id)
            self.met = self.met or there
            if there:
                end["success"], silent = success, True
        # A table may name runs without the format that their ids begin with.
        known = next((name for name in (run_id, run_id.rpartition("/")[2]) if name in self.by_run), None)
        if known is not None:  # what a table says is meant
            self.joined.add(known)
            end |= self.by_run[known]
            return
        kind = infrastructure_kind(end.get("error"), end.get("limit"))
        if kind is not None and end["success"] is not True:
            _note_ending(kind, run_id, end, findings)
        if not silent:
            _note_outcome(run_id, origin, findings)

    def unmatched(self, findings: Findings) -> None:
        """Names the rows that met no run, and the field that no run has."""
        if self.named is not None and not self.met:
            message = f"no run has the field `{clip(self.named, 80)}`"
            findings.add(
                "outcome-unmatched", message, hint="Name a field of the traces, with dots inside of objects."
            )
        left = [name for name in self.by_run if name not in self.joined]
        if left:
            named = first_few([*map(clip, left)], 5)
            findings.add("outcome-unmatched", f"{len(left)} outcomes name unknown runs: {named}")


def _note_ending(kind: InfrastructureKind, run_id: str, end: dict[str, Any], findings: Findings) -> None:
    """What did not end by the agent's doing: an outcome beside it is no failure of the agent, or is named."""
    failed = end["success"] is False
    if kind in OUTSIDE:
        recorded = ", whatever outcome is recorded" if failed else ""
        message = f"ended by an error of its {kind}; success is unknown{recorded}"
        findings.add("infrastructure-error", message, run=run_id)
        end["success"] = None
    elif failed:
        message = f"ended by {ENDINGS[kind]}; the recorded outcome is kept"
        findings.add("ended-by-limit", message, run=run_id)


def _note_outcome(run_id: str, origin: Any, findings: Findings) -> None:
    """Says that a run has no outcome, or which of its fields may be one."""
    if beside := fields_beside(origin):
        name_unused(beside[0], findings, run_id)
        return
    message = "no outcome is recorded; success is unknown"
    hint = "Add outcomes with `untaken convert`: --outcomes FILE (run_id,success) or --outcome FIELD."
    findings.once("missing-outcome", message, hint=hint)


def read_outcomes(path: Path) -> Outcomes:
    """Reads a table of outcomes.

    Raises:
        UntakenError: ``outcomes-invalid``, with the line, where it is no such table.
    """
    if not path.is_file():
        hint = f"{_HINT} For a field of the traces: --outcome {clip(path.name, 80)}."
        raise UntakenError(
            "outcomes-invalid", "there is no such file", where=Where(file=str(path)), hint=hint
        )
    if path.stat().st_size > limits.GRAPH_FILE_BYTES * 16:
        raise _invalid(path, None, f"it is larger than {limits.GRAPH_FILE_BYTES * 16:,} bytes")
    try:
        content = path.read_text("utf-8-sig")  # spreadsheets put a mark first
    except UnicodeDecodeError as error:
        raise _invalid(path, None, f"it is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    by_run: dict[str, Mapping[str, Any]] = {}
    findings = Findings(str(path))
    for line, row in _rows(path, content):
        run_id = text(row.get("run_id"))
        if run_id is None:
            raise _invalid(path, line, "there is no run_id")
        if run_id in by_run:
            raise _invalid(path, line, f"the run {clip(run_id)!r} has two outcomes")
        by_run[run_id] = _fields(path, line, row, findings)
    if not any(by_run.values()):
        raise _invalid(path, None, f"no row has one of {', '.join(COLUMNS[1:])}")
    return Outcomes(by_run=by_run)


def outcome_field(name: str) -> str:
    """The name of a field that is the outcome.

    Raises:
        UntakenError: ``outcome-is-a-file`` where it is the name of a table of outcomes.
    """
    if Path(name).is_file() or name.lower().endswith((".csv", ".json", ".jsonl")):
        raise UntakenError(
            "outcome-is-a-file",
            f"--outcome takes the name of a field, and {clip(name, 80)!r} is a file",
            hint=f"For a table of outcomes: --outcomes {clip(name, 80)}.",
        )
    return name


def _rows(path: Path, content: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if content.lstrip()[:1] == "{":
        for line, written in enumerate(content.split("\n"), start=1):
            if written.strip():
                try:
                    row = json.loads(written)
                except (ValueError, RecursionError) as error:
                    raise _invalid(path, line, f"it is not JSON: {clip(error)}") from None
                if not isinstance(row, dict):
                    raise _invalid(path, line, "it is no JSON object")
                yield line, row
        return
    rows = read_table(content)
    if "run_id" not in (rows.fieldnames or ()):
        raise _invalid(path, 1, "there is no column run_id")
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        raise _invalid(path, rows.line_num, str(error)) from None


def _fields(path: Path, line: int, row: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """What the row says; an empty cell says nothing."""
    given = {name: row[name] for name in COLUMNS[1:] if row.get(name) not in (None, "")}
    fields: dict[str, Any] = {name: str(given[name]) for name in ("error", "limit") if name in given}
    if "success" in given:
        success = truth(given["success"], findings, "success")
        if success is None:
            raise _invalid(path, line, f"success is {clip(given['success'])!r}, neither true nor false")
        fields["success"] = success
    for name in ("cost", "steps"):
        if name in given:
            value = amount(given[name], findings, name)
            if value is None:
                raise _invalid(path, line, f"{name} is {clip(given[name])!r}, no amount")
            fields[name] = int(value) if name == "steps" else value
    return fields


def _invalid(path: Path, line: int | None, why: str) -> UntakenError:
    return UntakenError("outcomes-invalid", why, where=Where(file=str(path), line=line), hint=_HINT)
