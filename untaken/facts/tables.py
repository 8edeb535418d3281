"""The tables of facts, each column declared once (`untaken.facts.columns`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from untaken.counterfactual import PlanChange
from untaken.errors import Finding, Unscored
from untaken.facts import rows
from untaken.facts.columns import Column, Columns, cells, count, figure, moment, text, texts, truth, why
from untaken.ledger import readable

FACTS_VERSION: Final = 7
"""Changes with the tables, their columns, or what makes their values."""
MANIFEST: Final = "facts.json"
"""Names the parts of a folder of facts."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND


def _violations(kind: str) -> Callable[[Any], object]:
    def value(row: Any) -> object:
        if isinstance(row.score, Unscored):
            return row.score
        return sum(violation.kind == kind for violation in row.score.violations)

    return value


def _extra(row: Any) -> object:
    return row.score if isinstance(row.score, Unscored) else len(row.score.extra)


def _replans(row: Any) -> int | None:
    """A run that records no plan cannot show that it changed one."""
    return None if isinstance(row.score, Unscored) or not row.score.plans else row.score.replans


def _offset(row: Any) -> int | None:
    offset = row.run.started.ts.utcoffset()
    return None if offset is None else int(offset.total_seconds() // 60)


def _kind_of_change(change: PlanChange) -> str:
    if not change.tool:
        return "hand_over"
    return "planned" if change.met else "unplanned"


def _stated(row: rows.UndoneRow, field: str) -> list[str]:
    return [getattr(one, field) for one in row.stated if one.argument]


def _values(row: rows.UndoneRow, field: str) -> list[str]:
    found = (getattr(value, field) for value in row.values)
    return ["" if value is None else str(value) for value in found]  # lists of a row have one length


ABOUT_RUN: Final[Columns[Any]] = {
    "run_id": text("the run's own id", "run.run_id"),
    "task_id": text("the task", "run.task_id"),
    "task_repeat": count("which repeat of the task", "run.started.task_repeat"),
    "agent": text("name of the agent", "run.agent"),
    "model": text("the model behind the agent", "run.started.model"),
    "kind": text("agent or workflow", "run.started.kind"),
    "success": truth("the recorded outcome", "run.success"),
    "cost": figure("recorded cost, in cost_unit", "run.finished?.cost"),
    "cost_unit": text("unit of cost", "run.finished?.cost_unit"),
    "steps": count("recorded number of steps", "run.finished?.steps"),
    "total_time": figure("seconds from start to finish", lambda row: rows.total_time(row.run)),
    "total_tokens": count("recorded tokens, in and out", lambda row: rows.total_tokens(row.run)),
    "error": text("the recorded error", "run.finished?.error"),
    "limit": text("the limit the run stopped at", "run.finished?.limit"),
    "started": moment("when the run started", "run.started.ts"),
    "digest": text("content digest: the run's id in links", "run.digest"),
    "integrity": text("integrity verdict", "run.integrity.verdict"),
    "graph": text("the plan graph it was scored against", "score?.graph_id"),
    "graph_version": count("version of that graph", "score?.graph_version"),
    "required": count("sub-goals that count", "score?.required"),
    "attempted": count("required sub-goals attempted", "score?.attempted"),
    "completed": count("required sub-goals completed", "score?.completed"),
    "unscored": count("sub-goals without evidence either way", "score?.unscored"),
    "critical": count("critical sub-goals that count", "score?.critical"),
    "critical_completed": count("critical sub-goals completed", "score?.critical_completed"),
    "coverage": figure("attempted / required", "score?.coverage"),
    "completion": figure("completed / required", "score?.completion"),
    "completion_weighted": figure("completed / required by weight", "score?.completion_weighted"),
    "critical_completion": figure("the same over critical sub-goals", "score?.critical_completion"),
    "diagnosis": text("the main reason for the result", "score?.diagnosis"),
    "diagnosis_reason": text("the diagnosis in words", "score?.diagnosis_reason"),
    "diagnosis_advice": text("what to change", "score?.diagnosis_advice"),
    "violations": count("reached without a critical dependency", _violations("critical")),
    "order_violations": count("started before a dependency", _violations("order")),
    "extra": count("actions that serve no sub-goal", _extra),
    "replans": count("times the plan changed; nothing where no plan is recorded", _replans),
    "transient_failures": count("failed observations", "score?.transient_failures"),
    "recovered": figure("share of failed attempts completed after a replan", "score?.recovered"),
}
"""What a run itself, its plan graph and the rule for verdicts say; pages add what other runs say."""
WHY_UNSCORED: Final[Columns[Any]] = {
    "source": text("the file it was read from", lambda row: _shown(row.run.source)),
    "score_reason": why("the run", "score"),
    "success_reason": why("success", "run.success"),
    "coverage_reason": why("coverage", "score?.coverage"),
    "completion_reason": why("completion", "score?.completion"),
    "completion_weighted_reason": why("completion_weighted", "score?.completion_weighted"),
    "critical_completion_reason": why("critical_completion", "score?.critical_completion"),
}
"""Where it was read, and why figures of it are unscored."""

RUNS: Final[Columns[rows.RunWithScore]] = {
    **ABOUT_RUN,
    **WHY_UNSCORED,
    "started_offset": count("minutes that the recorded clock was ahead of UTC", _offset),
    "finished": moment("when it finished", "run.finished?.ts"),
    "trail": text("digest of what it did, without ids and times: copies of a run share it", "run.trail"),
    "version": text("version of the agent", "run.version"),
    "prompt_version": text("version of its prompt", "run.prompt_version"),
    "started_graph": text("the plan graph that the run names", "run.started.graph"),
    "memory_digest": text("digest of the policy memory it started with", "run.started.policy_memory?.digest"),
    "events": count("events of the run's own", "run.own"),
    "head_events": count("events of its chain, those about it included", "run.integrity.head?.events"),
    "head_sha256": text("SHA-256 of the last line of its chain", "run.integrity.head?.sha256"),
    "missing": text("the rule for sub-goals without evidence: fail or drop", "score?.missing"),
    "critical_skipped": count("critical sub-goals never attempted", "score?.critical_skipped"),
    "completed_with_deps": count("completed, with every direct dependency", "score?.completed_with_deps"),
    "completed_with_deps_all": count("the same with every dependency", "score?.completed_with_deps_all"),
    "plans": count("plans recorded", "score?.plans"),
    "attempted_reason": why("attempted", "score?.attempted"),
    "recovered_reason": why("recovered", "score?.recovered"),
}  # fmt: skip

_WHOSE: Final = {key: RUNS[key] for key in ("digest", "run_id", "agent", "task_id", "graph")}
"""Columns of `runs`, repeated in every table: what is asked most needs no join."""

RESULTS: Final[Columns[Any]] = {
    **_WHOSE,
    "task_repeat": RUNS["task_repeat"],
    "success": RUNS["success"],
    "sub_goal": text("id of the sub-goal", "result.sub_goal"),
    "title": text("its title", "result.title"),
    "status": text("completed, attempted, skipped, unscored or not_required", "result.status"),
    "attempted": truth("an action maps to it", "result.attempted"),
    "completed": truth("its check passed", "result.completed"),
    "critical": truth("whether it is critical", "result.critical"),
    "counts": truth("rates count it; under drop only where it is not unscored", "counts"),
    "critical_counts": truth("rates count it as critical", "critical_counts"),
    "weight": figure("how much it counts in completion_weighted", "result.weight"),
    "groups": texts("the any_of groups that list it", "result.groups"),
    "actions": count("actions that served it", lambda row: len(row.events)),
    "first_seq": count("seq of the first of them", lambda row: row.events[0] if row.events else None),
    "last_seq": count("seq of the last of them", lambda row: row.events[-1] if row.events else None),
}

POINTS: Final[Columns[Any]] = {
    **_WHOSE,
    "seq": count("of the SKILL_SELECTION event", "seq"),
    "selected": text("the skill selected", "selected"),
    "alternatives": texts("the skills that could be selected, as recorded", "alternatives"),
    "context_hash": text("digest of the context", "context_hash"),
    "context": text("the context, readable", lambda row: readable(row.context)),
    "layers": texts("digests of the context, from fine to coarse", "layers"),
    "propensity": figure(
        "recorded probability of the skill selected",
        lambda row: (row.propensities or {}).get(row.selected),
    ),
}

CHANGES: Final[Columns[Any]] = {
    **_WHOSE,
    "seq": count("of the call", "seq"),
    "change": text("planned, unplanned or hand_over", _kind_of_change),
    "tool": text("that was called; empty for a hand-over", "tool"),
    "sub_goals": texts("the expected sub-goals that it met", "met"),
}

ACTIONS: Final[Columns[Any]] = {
    **_WHOSE,
    "seq": count("of the TOOL_CALL event", "call.seq"),
    "tool": text("that was called", "call.tool"),
    "requestor": text("user where a simulated user made the call", "call.requestor"),
    "answered": truth("an answer to it is recorded", lambda row: row.answer is not None),
    "ok": truth("what its answer says", "answer?.ok"),
    "transient": truth("its answer is marked as a passing failure", "answer?.transient"),
    "tag": text("the sub-goal that the ledger itself names", "call.sub_goal"),
    "sub_goals": texts("the sub-goals that it served", lambda row: [name for name, _ in row.served]),
    "authority": text(
        "what maps it to the first of them: tag, rule, check, plan or judge",
        lambda row: row.served[0][1] if row.served else None,
    ),
}

VIOLATIONS: Final[Columns[Any]] = {
    **_WHOSE,
    "violation": text("critical (reached without it) or order (started before it)", "kind"),
    "sub_goal": text("id of the sub-goal that was reached", "sub_goal"),
    "dependency": text("id of the one that it needs", "dependency"),
    "message": text("in words", "message"),
}

FAILURES: Final[Columns[Any]] = {
    **_WHOSE,
    "order": count("1 for what failed first by the log, and so on", "order"),
    "sub_goal": text("id of the sub-goal", "undone.node.sub_goal"),
    "title": text("its title", "undone.node.title"),
    "critical": truth("whether it is critical", "undone.node.critical"),
    "way": text("never attempted, attempted, stopped, attempts unknown or check holds", "undone.way"),
    "place": figure("seq at which it failed; nothing where the log cannot tell", "place"),
    "attempts": count("actions that served it", lambda row: len(row.undone.events)),
    "cause": text(
        "what its own calls say of why: tool_error or argument",
        lambda row: row.stated[0].kind if row.stated else None,
    ),
    "tool": text("that was called", lambda row: row.stated[0].tool if row.stated else None),
    "error": text(
        "the tool's words without ids, numbers and quoted values",
        lambda row: (row.stated[0].error or None) if row.stated else None,
    ),
    "arguments": texts("arguments that are not as expected", lambda row: _stated(row, "argument")),
    "values": texts("the values they have instead, in the same order", lambda row: _stated(row, "value")),
    "unused": texts("arguments whose expected value was not used", lambda row: _values(row, "argument")),
    "unused_knowledge": texts(
        "of each, whether it was shown, never_shown or may_be_computed", lambda row: _values(row, "knowledge")
    ),
    "unused_shown_at": texts(
        "of each, seq of the event that showed it first", lambda row: _values(row, "event")
    ),
    "used_shown_at": texts(
        "of each, seq of the event that showed the value used instead", lambda row: _values(row, "used_event")
    ),
}

VERDICTS: Final[Columns[Any]] = {
    **_WHOSE,
    "seq": count("of the VERDICT event", "verdict.seq"),
    "sub_goal": text("that it is about", "verdict.sub_goal"),
    "passed": truth("whether it was met; nothing where the author could not tell", "verdict.passed"),
    "by": text("its author", "verdict.by"),
    "reason": text("in the author's words", "verdict.reason"),
    "withdrawn": truth("its author takes earlier ones back", "verdict.withdrawn"),
    "counts": truth("its author's last word, and one whose word counts", "counts"),
}

FINDINGS: Final[Columns[Finding]] = {
    "code": text("stable name of the finding", "code"),
    "severity": text("error, warning or note", "severity"),
    "message": text("what was noticed", "message"),
    "hint": text("what to do next", "hint"),
    "run_id": text("the run that it is about", "where.run"),
    "file": text("the file that it is about", lambda found: _shown(found.where.file)),
    "line": count("the line in it", "where.line"),
}


class FactTable(Struct, frozen=True, kw_only=True):
    """A table of facts.

    Attributes:
        meaning: what a row is.
        key: the columns that together are different in every row; of `findings`, none.
        rows: those of one run.
    """

    meaning: str
    columns: Columns[Any]
    key: tuple[str, ...]
    rows: Callable[[rows.RunWithScore], Iterable[Any]]


TABLES: Final[Mapping[str, FactTable]] = MappingProxyType(
    {
        "runs": FactTable(
            meaning="an unbroken run", columns=RUNS, key=("digest",), rows=lambda facts: (facts,)
        ),
        "results": FactTable(
            meaning="a sub-goal of the plan graph in a scored run",
            columns=RESULTS,
            key=("digest", "sub_goal"),
            rows=rows.result_rows,
        ),
        "points": FactTable(
            meaning="a recorded decision point",
            columns=POINTS,
            key=("digest", "seq"),
            rows=lambda facts: facts.run.selections,
        ),
        "changes": FactTable(
            meaning="an accepted change that a run made, or a hand-over; of plan graphs with `mutates`",
            columns=CHANGES,
            key=("digest", "seq"),
            rows=rows.change_rows,
        ),
        "actions": FactTable(
            meaning="a tool call", columns=ACTIONS, key=("digest", "seq"), rows=rows.action_rows
        ),
        "violations": FactTable(
            meaning="a dependency between sub-goals that a run did not keep",
            columns=VIOLATIONS,
            key=("digest", "violation", "sub_goal", "dependency"),
            rows=rows.violation_rows,
        ),
        "failures": FactTable(
            meaning="a required sub-goal that a failed run did not complete",
            columns=FAILURES,
            key=("digest", "sub_goal"),
            rows=rows.failure_rows,
        ),
        "verdicts": FactTable(
            meaning="a recorded verdict", columns=VERDICTS, key=("digest", "seq"), rows=rows.verdict_rows
        ),
        "findings": FactTable(
            meaning="something noticed in a ledger, a plan graph or a score",
            columns=FINDINGS,
            key=(),
            rows=lambda _: (),
        ),
    }
)
"""Every table, in the order in which the documentation lists them."""
SHARED: Final = {
    name: [key for key, column in table.columns.items() if name != "runs" and column is RUNS.get(key)]
    for name, table in TABLES.items()
}
"""By table, the columns that say what `runs` says: until they are written, only its row holds the values."""
_OWN: Final = {
    name: [column for key, column in table.columns.items() if key not in SHARED[name]]
    for name, table in TABLES.items()
}

Parts = dict[str, list[list[object]]]
"""By table, its own columns in the declared order, without `SHARED`."""


def columns_of(columns: Iterable[Column[Any]], some: Iterable[Any]) -> list[list[object]]:
    """The columns of some rows, instants as microseconds since 1970."""
    held = list(some)
    return [
        list(map(_microseconds, cells(column, held)))
        if column.dtype == "datetime64[us, UTC]"
        else cells(column, held)
        for column in columns
    ]


def facts_of(some: Sequence[rows.RunWithScore]) -> list[Parts]:
    """The rows of each of some runs, by table; a table without any is left out."""
    made: list[Parts] = [{} for _ in some]
    for name, table in TABLES.items():
        by_run = [list(table.rows(one)) for one in some]
        # Over all of them: over one run, most of the time goes into the calls that gather its columns.
        columns = columns_of(_OWN[name], chain.from_iterable(by_run))
        end = 0
        for parts, own in zip(made, by_run, strict=True):
            begin, end = end, end + len(own)
            if own:
                parts[name] = [column[begin:end] for column in columns]
    return made


def _microseconds(moment: object) -> int | None:
    since = (moment - _EPOCH) // _MICROSECOND if isinstance(moment, datetime) else None
    return None if since is None or since < _FIRST else since  # a clock ahead of UTC may be in the year 0


def _shown(name: str | None) -> str | None:
    """The name of a file as text: a name may hold bytes that are none."""
    return None if name is None else name.encode("utf-8", "backslashreplace").decode()
