"""The JSON document of a ranking (§5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from untaken.answers.documents import Document, entry, finding_entries
from untaken.answers.judging import labels_document
from untaken.errors import Finding
from untaken.judging import LabelledRates
from untaken.ranking import DiscordantPair, RankedAgent, RankReport, RuleEffect, WorkflowVerdict

RANKS: Final = ("rank", "rank_low", "rank_high")
"""Keys of a standing that are null, with a reason, if the agent has no rank or no interval for it."""
RULE_RANKS: Final = ("fail_rank", "drop_rank")
MOST_GAPS: Final = 20
"""Runs, sub-goals and tasks listed of a pair of agents: those that weigh most."""


def rank_document(
    report: RankReport,
    *,
    rule: RuleEffect | None = None,
    labels: LabelledRates | None = None,
    findings: Iterable[Finding] = (),
) -> Document:
    """``untaken.rank/1``: agents by outcome and by each sub-goal metric, and where these disagree.

    Args:
        report: the ranking.
        rule: what the other rule for missing verdicts changes; left out where it was not asked for.
        labels: rates from a few labels and a judge; left out where they were not asked for.
        findings: what was noticed.
    """
    compared = report.comparisons
    return {
        "schema": "untaken.rank/1",
        "missing": report.missing,
        "metrics": {
            metric: [_agent(ranked) for ranked in standings] for metric, standings in report.metrics.items()
        },
        "agreement": [entry(agreement) for agreement in report.agreement],
        "discordant": [_discordant(report, pair) for pair in report.discordant],
        "contradictions": [entry(contradiction) for contradiction in report.contradictions],
        "pairs": [entry(pair) for found in compared.values() for pair in found.pairs],
        "ties": {metric: [list(group) for group in found.ties] for metric, found in compared.items()},
        "pass_k": [entry(one) for one in report.pass_k],
        "quadrants": [entry(one) for metric in [*report.metrics][1:] for one in report.placed(metric)],
        "workflows": [_workflow(report, verdict) for verdict in report.workflows],
        **(_rule(rule) if rule else {}),
        **({"labels": labels_document(labels)} if labels else {}),
        "shared_tasks": list(report.shared_tasks),
        "unmatched_tasks": list(report.unmatched_tasks),
        "findings": finding_entries(findings),
    }


def _agent(ranked: RankedAgent) -> Document:
    ranks = {key: getattr(ranked, key) for key in RANKS}
    return entry(ranked) | {f"{k}_reason": ranked.unranked.reason for k, v in ranks.items() if v is None}


def _discordant(report: RankReport, pair: DiscordantPair) -> Document:
    return entry(pair) | {"runs": [entry(pull) for pull in report.pulls(pair)[:MOST_GAPS]]}


def _workflow(report: RankReport, verdict: WorkflowVerdict) -> Document:
    between = (verdict.gap.metric, verdict.workflow, verdict.agent)
    return entry(verdict) | {
        "gap": entry(verdict.gap),
        "sub_goals": [entry(gap) for gap in report.sub_goal_gaps(*between)[:MOST_GAPS]],
        "tasks": [entry(gap) for gap in report.task_gaps(*between)[:MOST_GAPS]],
    }


def _rule(effect: RuleEffect) -> Document:
    changes = []
    for change in effect.changes:
        absent = (rank for rank in RULE_RANKS if getattr(change, rank) is None)
        changes.append(entry(change) | {f"{rank}_reason": "not ranked under this rule" for rank in absent})
    return {"rule": {"changes": changes, "flips": [entry(flip) for flip in effect.flips]}}
