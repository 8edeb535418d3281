"""What app, notebooks and command line share: tables, the report on one run, the overview, JSON documents."""

from untaken.report.choices import (
    CHOICES,
    ChoiceCounts,
    ChoiceReview,
    choice_review,
    choices_table,
    corpus_choices,
    count_choices,
)
from untaken.report.decisions import DECISIONS, PathCounts, count_paths, decisions_table
from untaken.report.documents import (
    counterfactual_document,
    dump,
    finding_entries,
    gate_document,
    rank_document,
    score_document,
    verify_document,
)
from untaken.report.export import csv_text, neutral
from untaken.report.frame import Column
from untaken.report.holdings import AUDIT, FILES, audit_table, files_table
from untaken.report.memory import (
    memory_apply_document,
    memory_document,
    memory_preview_document,
    memory_queue_document,
    memory_verify_document,
)
from untaken.report.overview import Overview, Share, overview
from untaken.report.review import (
    REVIEW,
    ReviewItem,
    contradictory,
    failed_in_turn,
    review_queue,
    review_table,
)
from untaken.report.runs import RUNS, SUB_GOALS, runs_table, sub_goals_table
from untaken.report.schemas import SCHEMAS, json_schema
from untaken.report.single import RunReport, run_report
from untaken.report.standings import (
    AGENTS,
    AGREEMENT,
    CONTRADICTIONS,
    DISCORDANT,
    FAILURES,
    RANKINGS,
    agents_table,
    agreement_table,
    contradictions_table,
    discordant_table,
    rankings_table,
    sub_goal_failures,
)
from untaken.report.timeline import TimelineRow, timeline

__all__ = [
    "AGENTS",
    "AGREEMENT",
    "AUDIT",
    "CHOICES",
    "CONTRADICTIONS",
    "DECISIONS",
    "DISCORDANT",
    "FAILURES",
    "FILES",
    "RANKINGS",
    "REVIEW",
    "RUNS",
    "SCHEMAS",
    "SUB_GOALS",
    "ChoiceCounts",
    "ChoiceReview",
    "Column",
    "Overview",
    "PathCounts",
    "ReviewItem",
    "RunReport",
    "Share",
    "TimelineRow",
    "agents_table",
    "agreement_table",
    "audit_table",
    "choice_review",
    "choices_table",
    "contradictions_table",
    "contradictory",
    "corpus_choices",
    "count_choices",
    "count_paths",
    "counterfactual_document",
    "csv_text",
    "decisions_table",
    "discordant_table",
    "dump",
    "failed_in_turn",
    "files_table",
    "finding_entries",
    "gate_document",
    "json_schema",
    "memory_apply_document",
    "memory_document",
    "memory_preview_document",
    "memory_queue_document",
    "memory_verify_document",
    "neutral",
    "overview",
    "rank_document",
    "rankings_table",
    "review_queue",
    "review_table",
    "run_report",
    "runs_table",
    "score_document",
    "sub_goal_failures",
    "sub_goals_table",
    "timeline",
    "verify_document",
]
