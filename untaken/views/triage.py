"""What to fix first, and what failed runs have in common, as tables and as documents (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from untaken.analysis import FixItem, InfrastructureGroup, LeftSubGoal, Often, Triage
from untaken.errors import Finding, Score, Unscored
from untaken.ledger import Run
from untaken.scoring import Cause, MissingRule, brief_cause, cause_words
from untaken.views.advising import Advised, AdvisedChoice, CheaperOption
from untaken.views.documents import Count, Keys, Part
from untaken.views.frame import Columns, as_facts, count, figure, frame, interval, reasons, text, truth

if TYPE_CHECKING:
    import pandas as pd


CAUSES: Final[Columns[Cause]] = {
    "kind": text("tool_error, argument, missing_information, skill, agent or skipped", "kind"),
    "sub_goal": text("the sub-goal at which the runs fail first", "sub_goal", title="fails first at"),
    **as_facts("critical"),
    "tool": text("the tool that was called, or the skill", lambda one: one.tool or None),
    "error": text("the tool's words, stripped", lambda one: one.error or None),
    "argument": text("the argument, or the part of the context", lambda one: one.argument or None),
    "value": text("its value", lambda one: one.value or None),
    "wrong": truth("whether the plan expects another value", "wrong"),
    "runs": count("failed runs with this cause", lambda one: len(one.runs), title="failed runs"),
    "k": count("of `n`, those with it: with the value, where one goes with an error", "k"),
    "n": count("failed runs that failed here and could have had it", "n"),
    "elsewhere_k": count("of the runs that passed here, those with it", "elsewhere_k", title="elsewhere"),
    "elsewhere_n": count("runs that passed here and could have had it", "elsewhere_n", title="of"),
    "p": figure("one-sided exact p, adjusted by Holm", "p", "p"),
    "cause": text("the cause in a few words", brief_cause),
    "words": text("the cause in words, with how often", cause_words),
}


def causes_table(found: Triage) -> pd.DataFrame:
    """One row per cause, most failed runs first (columns: `CAUSES`)."""
    return frame(CAUSES, found.causes)


def p_of_cause(cause: Cause) -> Score:
    """Its p; unscored where nothing is tested."""
    if cause.p is not None:
        return cause.p
    return Unscored("no successful run requires it" if cause.kind == "skipped" else "stated, not tested")


_LISTED_CAUSE: Final = Keys(
    Cause,
    "kind tool? error? argument? value? sub_goal critical wrong runs k n elsewhere_n elsewhere_k p words",
    runs=[str],
    p=p_of_cause,
    words=cause_words,
)
CAUSES_DOCUMENT: Final = Keys(
    Triage,
    "missing verdicts agents headline found causes findings",
    schema="untaken.causes/1",
    missing=MissingRule,
    verdicts=[str],
    found=Count,
    causes=[_LISTED_CAUSE],
)
"""The causes of failed runs; texts that do not apply are ``null``."""


def causes_document(
    found: Triage,
    runs: Mapping[str, Run],
    *,
    missing: MissingRule,
    verdicts: Sequence[str] = (),
    top: int | None = None,
    findings: Sequence[Finding] = (),
) -> Part:
    """The document of the causes found; `top` limits them."""
    return CAUSES_DOCUMENT(
        found,
        missing=missing,
        verdicts=verdicts,
        found=len(found.causes),
        causes=[
            _LISTED_CAUSE(cause, runs=[runs[digest].run_id for digest in cause.runs])
            for cause in found.causes[:top]
        ],
        findings=findings,
    )


FIX_FIRST: Final[Columns[FixItem]] = {
    "kind": text("sub_goal or cause", "kind"),
    "way": text("how runs fail here", "way"),
    "graph": text("the plan graph; empty where several share it", "graph"),
    "sub_goal": text("the sub-goal that fails first; its tool or title where graphs share it", "sub_goal"),
    **as_facts("title critical"),
    "failed_runs": count("failed runs that fail first here", "failed_runs"),
    "share": figure("of all failed runs", "share"),
    "gain": figure("success gained if these runs succeeded as often as those that passed here", "gain"),
    **interval(of="the gain's"),
    **reasons("gain"),
    "critical_gain": figure("critical completion gained at most", "critical_gain"),
    "missed": count("runs that leave it uncompleted, failed first or not", "missed"),
    "missed_successes": count("of them, those that succeeded", "missed_successes"),
    "passed": count("runs that passed here", "passed"),
    "passed_successes": count("of them, those that succeeded", "passed_successes"),
    "recommended": truth("whether to act on it", "recommended"),
    "ground": text("failed runs or critical completion: what it is recommended for", "ground"),
    "why": text("what the rule says", "why"),
    "p": figure("one-sided exact p that failures leave it undone more often, adjusted by Holm", "p"),
    "cause": text("what is wrong, in words", "reason"),
    "digest": text("short content digest of the item", "digest"),
    "first_run": text("id of a run to look at", "first_run"),
}


def triage_table(found: Triage) -> pd.DataFrame:
    """One row per item to fix, most failed runs first (columns: `FIX_FIRST`)."""
    return frame(FIX_FIRST, found.items)


_RUN: Final = Keys(Run, "run_id digest")
_FAILED_AT: Final = Keys(Run, "run_id digest sub_goal seq", sub_goal=str | None, seq=Count | None)
_CHOSEN_AT: Final = Keys(Run, "run_id digest seq", seq=Count)


def _p(item: FixItem) -> Score:
    if item.p is not None:
        return item.p
    if not item.failed_runs:
        return Unscored("no failed run fails first here")
    done = item.way == "everything completed"
    return Unscored("nothing is left uncompleted" if done else "no successful run requires it")


_CAUSE: Final = Keys(Cause, "kind tool? error? argument? value? k n elsewhere_n elsewhere_k p", p=p_of_cause)
_FIX_ITEM: Final = Keys(
    FixItem,
    "kind way digest graph sub_goal title critical cause commonest unplanned failed_runs share gain low"
    " high critical_gain missed missed_successes passed passed_successes recommended ground why p reason"
    " runs agents",
    cause=_CAUSE | None,
    commonest=_CAUSE | None,
    p=_p,
    runs=[_FAILED_AT],
    agents={str: Count},
)
_LEFT: Final = Keys(
    LeftSubGoal, "graph sub_goal title way failed_runs of_failed successes of_successes doubt"
)
_INFRASTRUCTURE: Final = Keys(InfrastructureGroup, "kind failed_runs no_outcome runs", runs=[_RUN])
_CHOICE: Final = Keys(
    AdvisedChoice,
    "kind digest selected alternative context context_hash recommended reason cautions words difference"
    " low high q often gain gain_low gain_high runs agents",
    often=Keys(Often, "count n share low high"),
    runs=[_CHOSEN_AT],
    agents={str: Count},
)
_CHEAPER: Final = Keys(
    CheaperOption,
    "digest selected alternative context context_hash words cost cost_unit steps runs",
    runs=[_CHOSEN_AT],
)
TRIAGE_DOCUMENT: Final = Keys(
    Triage,
    "missing verdicts agents headline runs failed succeeded scored found found_contradictions items"
    " left_out infrastructure unscored_failed_runs choices cheaper skipping evaluated contradictions"
    " findings",
    schema="untaken.triage/2",
    missing=MissingRule,
    verdicts=[str],
    found=Count,
    found_contradictions=Count,
    items=[_FIX_ITEM],
    left_out=[_LEFT],
    infrastructure=[_INFRASTRUCTURE],
    unscored_failed_runs=[_RUN],
    choices=[_CHOICE],
    cheaper=[_CHEAPER],
    skipping=Count,
    evaluated=Count,
)
"""What to fix first, and the runs that contradict themselves; texts that do not apply are ``null``."""


def triage_document(
    found: Triage,
    choices: Advised,
    runs: Mapping[str, Run],
    *,
    missing: MissingRule,
    verdicts: Sequence[str] = (),
    top: int | None = None,
    findings: Sequence[Finding] = (),
) -> Part:
    """The document of `found` and of what may be said of `choices`; `top` limits each of its lists."""
    return TRIAGE_DOCUMENT(
        found,
        missing=missing,
        verdicts=verdicts,
        found=len(found.items),
        found_contradictions=len(found.contradictions),
        items=[_item(item, runs) for item in found.items[:top]],
        infrastructure=[
            _INFRASTRUCTURE(group, runs=[runs[digest] for digest in group.runs])
            for group in found.infrastructure
        ],
        unscored_failed_runs=[runs[digest] for digest in found.unscored_failed_runs],
        choices=[_CHOICE(one, runs=_chosen(one.runs, runs)) for one in choices.choices[:top]],
        cheaper=[_CHEAPER(one, runs=_chosen(one.runs, runs)) for one in choices.cheaper[:top]],
        skipping=choices.skipping,
        evaluated=choices.evaluated,
        contradictions=found.contradictions[:top],
        findings=findings,
    )


def _item(item: FixItem, runs: Mapping[str, Run]) -> Part:
    goals = item.goals or (None,) * len(item.runs)
    failed = zip(item.runs, goals, item.seqs, strict=True)
    return _FIX_ITEM(
        item, runs=[_FAILED_AT(runs[digest], sub_goal=goal, seq=seq) for digest, goal, seq in failed]
    )


def _chosen(chosen: Iterable[tuple[str, int]], runs: Mapping[str, Run]) -> list[Part]:
    return [_CHOSEN_AT(runs[digest], seq=seq) for digest, seq in chosen]
