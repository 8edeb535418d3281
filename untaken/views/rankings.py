"""The JSON document of a ranking (§5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Final

from msgspec import UNSET, UnsetType

from untaken.analysis import (
    Agreement,
    Contradiction,
    DiscordantPair,
    PairedDifference,
    PassK,
    QuadrantPoint,
    RankedAgent,
    RankReport,
    RuleChange,
    RuleEffect,
    RuleFlip,
    RunContribution,
    SubGoalGap,
    TaskGap,
    WorkflowVerdict,
)
from untaken.errors import Finding
from untaken.judging import LabelledRates
from untaken.scoring import MissingRule
from untaken.views.documents import Document, DocumentPart, Spread, entry
from untaken.views.judging import LabelledRatesEntry
from untaken.views.shapes import Schema, shape
from untaken.views.spending import AgentUsage

RANKS: Final = ("rank", "rank_low", "rank_high")
"""Keys of a standing that are null, with a reason, if the agent has no rank or no interval for it."""
RULE_RANKS: Final = ("fail_rank", "drop_rank")
MOST_GAPS: Final = 20
"""Runs, sub-goals and tasks listed of a pair of agents: those that weigh most."""


def _with_reasons(kind: type, ranks: Sequence[str]) -> Schema:
    whole = shape(kind)
    whole["properties"] |= {f"{rank}_reason": {"type": "string"} for rank in ranks}
    return whole


class DiscordantEntry(DocumentPart, frozen=True, kw_only=True):
    """A pair of agents that two metrics rank oppositely, and the runs behind it."""

    pair: Spread[DiscordantPair]
    runs: Sequence[RunContribution]


class WorkflowEntry(DocumentPart, frozen=True, kw_only=True):
    """A workflow beside an agent, and where they differ most."""

    verdict: Spread[WorkflowVerdict]
    gap: PairedDifference
    sub_goals: Sequence[SubGoalGap]
    tasks: Sequence[TaskGap]


class RuleEntry(DocumentPart, frozen=True, kw_only=True):
    """What the other rule for missing verdicts changes."""

    changes: Sequence[Annotated[Document, partial(_with_reasons, RuleChange, RULE_RANKS)]]
    flips: Sequence[RuleFlip]


class RankDocument(DocumentPart, frozen=True, kw_only=True, tag="untaken.rank/1"):
    """Agents by outcome and by each sub-goal metric, and where these disagree."""

    missing: MissingRule
    metrics: Mapping[str, Sequence[Annotated[Document, partial(_with_reasons, RankedAgent, RANKS)]]]
    agreement: Sequence[Agreement]
    discordant: Sequence[DiscordantEntry]
    contradictions: Sequence[Contradiction]
    pairs: Sequence[PairedDifference]
    ties: Mapping[str, Sequence[Sequence[str]]]
    pass_k: Sequence[PassK]
    quadrants: Sequence[QuadrantPoint]
    workflows: Sequence[WorkflowEntry]
    rule: RuleEntry | UnsetType = UNSET
    labels: LabelledRatesEntry | UnsetType = UNSET
    usage: Sequence[AgentUsage] | UnsetType = UNSET
    shared_tasks: Sequence[str]
    unmatched_tasks: Sequence[str]
    findings: Sequence[Finding]


def rank_document(
    report: RankReport,
    *,
    rule: RuleEffect | None = None,
    labels: LabelledRates | None = None,
    used: Sequence[AgentUsage] = (),
    findings: Sequence[Finding] = (),
) -> RankDocument:
    """The document of `report`; `used`: what runs come to, where there is no plan graph."""
    compared = report.comparisons
    return RankDocument.of(
        report,
        metrics={metric: [_agent(one) for one in ranked] for metric, ranked in report.metrics.items()},
        discordant=[
            DiscordantEntry(pair=pair, runs=report.contributions(pair)[:MOST_GAPS])
            for pair in report.discordant
        ],
        pairs=[pair for found in compared.values() for pair in found.pairs],
        ties={metric: found.ties for metric, found in compared.items()},
        # Without the first metric, which is the outcome itself.
        quadrants=[one for metric in [*report.metrics][1:] for one in report.placed(metric)],
        workflows=[_workflow(report, verdict) for verdict in report.workflows],
        rule=RuleEntry(changes=[_change(one) for one in rule.changes], flips=rule.flips) if rule else UNSET,
        labels=LabelledRatesEntry(found=labels, rates=labels.rates) if labels else UNSET,
        usage=used or UNSET,
        findings=findings,
    )


def _agent(ranked: RankedAgent) -> Document:
    absent = (rank for rank in RANKS if getattr(ranked, rank) is None)
    return entry(ranked) | {f"{rank}_reason": ranked.unranked.reason for rank in absent}


def _change(change: RuleChange) -> Document:
    absent = (rank for rank in RULE_RANKS if getattr(change, rank) is None)
    return entry(change) | {f"{rank}_reason": "not ranked under this rule" for rank in absent}


def _workflow(report: RankReport, verdict: WorkflowVerdict) -> WorkflowEntry:
    between = (verdict.gap.metric, verdict.workflow, verdict.agent)
    return WorkflowEntry(
        verdict=verdict,
        gap=verdict.gap,
        sub_goals=report.sub_goal_gaps(*between)[:MOST_GAPS],
        tasks=report.task_gaps(*between)[:MOST_GAPS],
    )
