"""What Untaken says about a run, as the evaluation results that other tools show, and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from untaken.csv_export import csv_text
from untaken.errors import Score, Unscored, number, reason
from untaken.ledger import Run, Verdict
from untaken.scoring import NodeScore, RunScore, not_withdrawn, whose_count
from untaken.views.frame import Columns, RowWith, as_facts, count, figure, frame, text

UNSCORED: Final = "unscored"
PASSED: Final = {True: "pass", False: "fail"}


class Evaluation(Struct, frozen=True, kw_only=True, gc=False):
    """One result.

    Attributes:
        name: ``success``, ``completion``, ``critical_completion``, ``diagnosis``, ``sub_goal:<id>`` or
            ``verdict:<id>``.
        value: 1 for passed and 0 for failed, or a rate; ``None`` where it is unscored or no number.
        label: in one word: ``pass``, ``fail``, ``unscored``, the status of a sub-goal, the diagnosis; empty
            for a rate.
        by: who says so: ``ledger`` (recorded), ``untaken`` (computed), what decided the sub-goal, or the
            author of the verdict.
        explanation: in words; of an unscored result, why.
        sub_goal: that it is about.
        seq: of the event that it rests on or was recorded as.
    """

    name: str
    value: float | None
    label: str
    by: str
    explanation: str = ""
    sub_goal: str | None = None
    seq: int | None = None


class EvaluatedRun(Struct, frozen=True, kw_only=True):
    """A run with its results, in the order of `evaluated_run`, and the sub-goals of its actions by `seq`."""

    run: Run
    evaluations: tuple[Evaluation, ...]
    served: dict[int, tuple[str, ...]]


def evaluated_run(run: Run, score: RunScore | Unscored, *, verdicts: Sequence[str] = ()) -> EvaluatedRun:
    """The results on a run: its outcome, the rates, each sub-goal, each author's latest verdict on one."""
    served: dict[int, tuple[str, ...]] = {}
    if isinstance(score, RunScore):
        for seq, sub_goal, _ in score.mapped:
            served[seq] = (*served.get(seq, ()), sub_goal)  # an action can serve several
    return EvaluatedRun(run=run, evaluations=tuple(_results(run, score, verdicts)), served=served)


def _results(run: Run, score: RunScore | Unscored, verdicts: Sequence[str]) -> Iterator[Evaluation]:
    success, why = (None, run.success.reason) if isinstance(run.success, Unscored) else (run.success, "")
    yield _bit("success", success, by="ledger", explanation=why)
    if isinstance(score, RunScore):
        yield _rate("completion", score.completion)
        yield _rate("critical_completion", score.critical_completion)
        yield Evaluation(
            name="diagnosis",
            value=None,
            label=score.diagnosis,
            by="untaken",
            explanation=score.diagnosis_reason,
        )
        yield from map(_sub_goal, score.nodes)
    else:
        yield _rate("completion", score)
    counted = whose_count(not_withdrawn(run.of(Verdict)), [verdicts], graph=run.started.graph or "")
    # In the order of the ledger: of one author on one sub-goal, the last one stays.
    latest = {(verdict.sub_goal, verdict.by): verdict for verdict in counted if not verdict.withdrawn}
    for verdict in latest.values():
        yield _bit(
            f"verdict:{verdict.sub_goal}",
            verdict.passed,
            by=verdict.by,
            explanation=verdict.reason or "",
            sub_goal=verdict.sub_goal,
            seq=verdict.seq,
        )


def _bit(
    name: str,
    passed: bool | None,
    *,
    by: str,
    explanation: str,
    sub_goal: str | None = None,
    seq: int | None = None,
) -> Evaluation:
    known = passed is not None
    return Evaluation(
        name=name,
        value=float(bool(passed)) if known else None,
        label=PASSED[bool(passed)] if known else UNSCORED,
        by=by,
        explanation=explanation,
        sub_goal=sub_goal,
        seq=seq,
    )


def _rate(name: str, value: Score) -> Evaluation:
    return Evaluation(
        name=name,
        value=number(value),
        label=UNSCORED if isinstance(value, Unscored) else "",
        by="untaken",
        explanation=reason(value) or "",
    )


def _sub_goal(node: NodeScore) -> Evaluation:
    # What a run did not have to do is neither passed nor failed.
    known = node.completed is not None and node.status != "not_required"
    return Evaluation(
        name=f"sub_goal:{node.sub_goal}",
        value=float(bool(node.completed)) if known else None,
        label=node.status,
        by=node.decided_by,
        explanation=node.reason,
        sub_goal=node.sub_goal,
        seq=node.evidence[0] if node.evidence else None,
    )


RESULTS: Final[Columns[RowWith[Run, Evaluation]]] = {
    **as_facts("run_id task_id task_repeat=started.task_repeat agent model=started.model digest", at="row."),
    "name": text(
        "`success`, `completion`, `critical_completion`, `diagnosis`, `sub_goal:ID` or `verdict:ID`",
        "beside.name",
    ),
    "value": figure("1 for passed and 0 for failed, or a rate", "beside.value"),
    "label": text("`pass`, `fail`, `unscored`, a status or a diagnosis; empty for a rate", "beside.label"),
    "by": text(
        "`ledger` (recorded), `untaken` (computed), what decided it, or the verdict's author", "beside.by"
    ),
    "explanation": text("in words; of an unscored result, why", "beside.explanation"),
    "sub_goal": text("that it is about", "beside.sub_goal"),
    "seq": count("of the event that it rests on or was recorded as", "beside.seq"),
}


def csv_table(runs: Iterable[EvaluatedRun]) -> bytes:
    """The results as CSV (UTF-8)."""
    results = (RowWith(each.run, says) for each in runs for says in each.evaluations)
    return csv_text(frame(RESULTS, results)).encode("utf-8")
