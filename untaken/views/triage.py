"""What to fix first, as a table and as a document (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from untaken.analysis import Contradiction, FixItem, Ground, Kind, Saving, Triage, Way
from untaken.errors import Finding, Score
from untaken.ledger import InfrastructureKind, Run
from untaken.scoring import Cause, CauseKind, MissingRule
from untaken.views.advising import Advised
from untaken.views.documents import Count, DocumentPart
from untaken.views.frame import Columns, count, figure, frame, interval, reasons, text, truth

if TYPE_CHECKING:
    import pandas as pd

FIX_FIRST: Final[Columns[FixItem]] = {
    "kind": text("sub_goal or cause", "kind"),
    "way": text("how runs fail here", "way"),
    "graph": text("the plan graph; empty where several share it", "graph"),
    "sub_goal": text("the sub-goal that fails first; its tool or title where graphs share it", "sub_goal"),
    "title": text("its title", "title"),
    "critical": truth("whether it is critical", "critical"),
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


class RunEntry(DocumentPart, frozen=True, kw_only=True):
    """A run behind something."""

    run_id: str
    digest: str


class FailedAt(DocumentPart, frozen=True, kw_only=True):
    """A run behind an item, the sub-goal it failed at, and the event to look at."""

    run_id: str
    digest: str
    sub_goal: str | None
    seq: Count | None


class ChosenAt(DocumentPart, frozen=True, kw_only=True):
    """A run behind a choice, and the `seq` of the choice."""

    run_id: str
    digest: str
    seq: Count


class ItemCause(DocumentPart, frozen=True, kw_only=True):
    """Why the runs of an item fail; texts that do not apply are ``null``."""

    kind: CauseKind
    tool: str | None
    error: str | None
    argument: str | None
    value: str | None
    n: Count
    elsewhere_n: Count
    elsewhere_k: Count
    p: float | None


class FixItemEntry(DocumentPart, frozen=True, kw_only=True):
    """One item to fix."""

    kind: Kind
    way: Way
    digest: str
    graph: str | None
    sub_goal: str | None
    title: str
    critical: bool
    cause: ItemCause | None
    commonest: ItemCause | None
    unplanned: str
    failed_runs: Count
    share: Score
    gain: Score
    low: Score
    high: Score
    critical_gain: float
    missed: Count
    missed_successes: Count
    passed: Count
    passed_successes: Count
    recommended: bool
    ground: Ground | None
    why: str
    p: float | None
    reason: str
    runs: Sequence[FailedAt]
    agents: Mapping[str, Count]


class LeftEntry(DocumentPart, frozen=True, kw_only=True):
    """A sub-goal that no item names."""

    graph: str | None
    sub_goal: str
    title: str
    way: Way
    failed_runs: Count
    of_failed: Count
    successes: Count
    of_successes: Count
    doubt: bool


class InfrastructureEntry(DocumentPart, frozen=True, kw_only=True):
    """Runs that their infrastructure ended in one way."""

    kind: InfrastructureKind
    failed_runs: Count
    no_outcome: Count
    runs: Sequence[RunEntry]


class OftenEntry(DocumentPart, frozen=True, kw_only=True):
    """How many of how many runs, with the 95% interval of the share."""

    count: Count
    n: Count
    share: float
    low: float
    high: float


class ChoiceEntry(DocumentPart, frozen=True, kw_only=True):
    """A choice whose alternative succeeded more often."""

    kind: Literal["skill", "plan"]
    digest: str
    selected: str
    alternative: str
    context: str | None
    context_hash: str | None
    recommended: bool
    reason: str
    cautions: str
    words: str
    difference: float
    low: float
    high: float
    q: float
    often: OftenEntry
    gain: float
    gain_low: float
    gain_high: float
    runs: Sequence[ChosenAt]
    agents: Mapping[str, Count]


class CheaperEntry(DocumentPart, frozen=True, kw_only=True):
    """A choice whose alternative is cheaper or shorter at the same success."""

    digest: str
    selected: str
    alternative: str
    context: str | None
    context_hash: str
    words: str
    cost: Saving | None
    cost_unit: str
    steps: Saving | None
    runs: Sequence[ChosenAt]


class TriageDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.triage/2"):
    """What to fix first, and the runs that contradict themselves."""

    missing: MissingRule
    verdicts: Sequence[str]
    agents: Sequence[str]
    headline: str
    runs: Count
    failed: Count
    succeeded: Count
    scored: Count
    found: Count
    found_contradictions: Count
    items: Sequence[FixItemEntry]
    left_out: Sequence[LeftEntry]
    infrastructure: Sequence[InfrastructureEntry]
    unscored_failed_runs: Sequence[RunEntry]
    choices: Sequence[ChoiceEntry]
    cheaper: Sequence[CheaperEntry]
    skipping: Count
    evaluated: Count
    contradictions: Sequence[Contradiction]
    findings: Sequence[Finding]


def triage_document(
    found: Triage,
    choices: Advised,
    runs: Mapping[str, Run],
    *,
    missing: MissingRule,
    verdicts: Sequence[str] = (),
    top: int | None = None,
    findings: Sequence[Finding] = (),
) -> TriageDocument:
    """The document of `found` and of what may be said of `choices`; `top` limits each of its lists."""
    return TriageDocument.of(
        found,
        missing=missing,
        verdicts=verdicts,
        found=len(found.items),
        found_contradictions=len(found.contradictions),
        items=[_item(item, runs) for item in found.items[:top]],
        left_out=[LeftEntry.of(one) for one in found.left_out],
        infrastructure=[
            InfrastructureEntry.of(group, runs=[RunEntry.of(runs[digest]) for digest in group.runs])
            for group in found.infrastructure
        ],
        unscored_failed_runs=[RunEntry.of(runs[digest]) for digest in found.unscored_failed_runs],
        choices=[
            ChoiceEntry.of(one, often=OftenEntry.of(one.often), runs=_chosen(one.runs, runs))
            for one in choices.choices[:top]
        ],
        cheaper=[CheaperEntry.of(one, runs=_chosen(one.runs, runs)) for one in choices.cheaper[:top]],
        skipping=choices.skipping,
        evaluated=choices.evaluated,
        contradictions=found.contradictions[:top],
        findings=findings,
    )


def _item(item: FixItem, runs: Mapping[str, Run]) -> FixItemEntry:
    goals = item.goals or (None,) * len(item.runs)
    failed = zip(item.runs, goals, item.seqs, strict=True)
    return FixItemEntry.of(
        item,
        cause=_cause(item.cause),
        commonest=_cause(item.commonest),
        runs=[FailedAt.of(runs[digest], sub_goal=goal, seq=seq) for digest, goal, seq in failed],
    )


def _cause(cause: Cause | None) -> ItemCause | None:
    if cause is None:
        return None
    texts = ("tool", "error", "argument", "value")
    # Texts that do not apply are empty in a cause, and null in documents.
    return ItemCause.of(cause, **{name: getattr(cause, name) or None for name in texts})


def _chosen(chosen: Iterable[tuple[str, int]], runs: Mapping[str, Run]) -> list[ChosenAt]:
    return [ChosenAt.of(runs[digest], seq=seq) for digest, seq in chosen]
