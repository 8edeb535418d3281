"""Why a run is reviewed: one cause, the same in the headline of its page, in the queue and on its card."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.plans import GraphSet, PlanGraph
from untaken.scoring import NEVER, NodeResult, RunScore, is_failed, undone_in_order

ReviewKind = Literal["lucky", "unlucky", "failed", "broken", "unfinished", "fine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCause:
    """What went wrong first in a run; its words hold titles and values that are untrusted text.

    Attributes:
        headline: in a few words.
        detail: what was expected and what was there, or why nothing can be said.
        sub_goal: the one that failed first; empty where none did.
    """

    headline: str
    detail: str
    sub_goal: str = ""

    @property
    def in_words(self) -> str:
        """The cause on one line."""
        return f"{self.headline}: {self.detail}" if self.detail else self.headline


def first_failed(run: Run, score: RunScore, graph: PlanGraph | None) -> tuple[NodeResult, ...]:
    """The sub-goals that are known not to be completed, what failed first by the log at the beginning."""
    if graph is None:
        failed = [node for node in score.results if is_failed(node)]
        return tuple(sorted(failed, key=lambda node: not node.critical))
    return tuple(one.node for one in undone_in_order(score, graph, run))


def cause_of(run: Run, score: RunScore | Unscored, kind: ReviewKind, graphs: GraphSet) -> RunCause:
    """The one cause of a run: a broken ledger, else the sub-goal that failed first, else what is known."""
    cause = outline_of(run, score, kind, graphs)
    if isinstance(score, Unscored) or not cause.sub_goal:
        return cause
    reason = score.node(cause.sub_goal).reason
    # The headline already says that it was never attempted.
    return replace(cause, detail=reason if kind == "lucky" else reason.removeprefix(f"{NEVER}, "))


def outline_of(run: Run, score: RunScore | Unscored, kind: ReviewKind, graphs: GraphSet) -> RunCause:
    """As `cause_of`, without the detail of a sub-goal, for which the run is read again."""
    if run.integrity.broken:
        return RunCause(headline=f"The ledger is {run.integrity.verdict}", detail=run.integrity.reason)
    if isinstance(score, Unscored):
        return RunCause(headline="No sub-goal score", detail=score.reason)
    if kind == "unlucky":
        return RunCause(headline="Failed although every sub-goal was completed", detail=_ending(run))
    failed = first_failed(run, score, graphs.get(score.graph_id))
    if kind == "lucky":
        undone = [n for n in score.results if n.critical and n.completed is False]
        failed = tuple(node for node in failed if node.critical) or tuple(undone) or failed
        named = ", ".join(f"'{node.title or node.sub_goal}'" for node in undone or failed)
        first = failed[0] if failed else None
        return RunCause(
            headline=f"Succeeded without {named}",
            detail="",
            sub_goal=first.sub_goal if first else "",
        )
    if not failed:
        detail = "; ".join(filter(None, (score.diagnosis_reason, _ending(run))))
        return RunCause(headline="No sub-goal is known to have failed", detail=detail)
    first = failed[0]
    did = {True: "was attempted but not completed", False: "was never attempted", None: "was not completed"}
    return RunCause(
        headline=f"'{first.title or first.sub_goal}' {did[first.attempted]}",
        detail="",
        sub_goal=first.sub_goal,
    )


def _ending(run: Run) -> str:
    end = run.finished
    given = () if end is None else (("error", end.error), ("limit", end.limit))
    return "; ".join(f"{name} {text}" for name, text in given if text)
