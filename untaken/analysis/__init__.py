"""Questions to many scored runs: what to fix first, what differs, what recurs, whether the plan is right."""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

# fmt: off
if TYPE_CHECKING:
    from untaken.analysis.auditing.audit import (
        EdgeAudit as EdgeAudit, NodeAudit as NodeAudit, PlanAudit as PlanAudit, audit_plans as audit_plans,
    )
    from untaken.analysis.auditing.probing import Probe as Probe
    from untaken.analysis.auditing.writes import ExpectedWrite as ExpectedWrite, TaskAudit as TaskAudit
    from untaken.analysis.comparing.align import (
        MOST_SHOWN as MOST_SHOWN, TaskRuns as TaskRuns, align_runs as align_runs, tasks_of as tasks_of,
    )
    from untaken.analysis.comparing.aligned import (
        AlignedRow as AlignedRow, Cell as Cell, CellStatus as CellStatus, ComparedRun as ComparedRun,
        Divergence as Divergence, OutcomeSplit as OutcomeSplit, SideBySide as SideBySide, Split as Split,
    )
    from untaken.analysis.comparing.steps import Step as Step, steps_of as steps_of
    from untaken.analysis.corpus import (
        Corpus as Corpus, Graphs as Graphs, OF_THE_RANKING as OF_THE_RANKING, corpus_doubts as corpus_doubts,
        countable as countable, doubts_of as doubts_of, evaluate_corpus as evaluate_corpus,
        other_rule as other_rule, part_of as part_of, runs_left_out as runs_left_out,
        runs_without_graph as runs_without_graph, score_runs as score_runs, with_run as with_run,
    )
    from untaken.analysis.failure_modes.agreement import (
        ModeAgreement as ModeAgreement, mode_agreement as mode_agreement,
    )
    from untaken.analysis.failure_modes.assignments import (
        Assignment as Assignment, AssignmentStatus as AssignmentStatus, Note as Note, Place as Place,
        RUN as RUN, assignment_draft as assignment_draft, assignments_of as assignments_of,
        modes_by_run as modes_by_run, modes_of as modes_of, note_draft as note_draft,
        note_without_mode as note_without_mode, notes_of as notes_of,
        withdrawal_draft as withdrawal_draft,
    )
    from untaken.analysis.failure_modes.contrast import (
        ModeContrast as ModeContrast, contrast_modes as contrast_modes,
    )
    from untaken.analysis.failure_modes.editing import (
        create_mode as create_mode, edit_mode as edit_mode, find_mode as find_mode,
        import_modes as import_modes, merge_modes as merge_modes, one_line as one_line,
        restore_mode as restore_mode, retire_mode as retire_mode, split_mode as split_mode,
    )
    from untaken.analysis.failure_modes.facts import FACTS as FACTS, event_words as event_words
    from untaken.analysis.failure_modes.failure_mode import (
        FailureMode as FailureMode, ModeStatus as ModeStatus, Taxonomy as Taxonomy,
    )
    from untaken.analysis.failure_modes.files import (
        FILE as FILE, TaxonomyEdit as TaxonomyEdit, change_taxonomy as change_taxonomy,
        kept_taxonomy as kept_taxonomy, load_taxonomy as load_taxonomy, plain_name as plain_name,
        taxonomy_yaml as taxonomy_yaml,
    )
    from untaken.analysis.failure_modes.issue_file import (
        ISSUES as ISSUES, IssueEdit as IssueEdit, adding as adding, change_issues as change_issues,
        kept_issues as kept_issues, load_issues as load_issues, setting as setting,
    )
    from untaken.analysis.failure_modes.issue_model import (
        Issue as Issue, IssueChange as IssueChange, IssueList as IssueList, IssueRule as IssueRule,
        IssueState as IssueState, IssueStatus as IssueStatus,
    )
    from untaken.analysis.failure_modes.issues import (
        IssueRate as IssueRate, TrackedIssue as TrackedIssue, asks_for_statements as asks_for_statements,
        track_issues as track_issues,
    )
    from untaken.analysis.failure_modes.model_suggesting import (
        ModelSuggestion as ModelSuggestion, model_suggestions as model_suggestions,
        suggestion_drafts as suggestion_drafts,
    )
    from untaken.analysis.failure_modes.pivot import (
        Pivot as Pivot, PivotCell as PivotCell, cell_of as cell_of, pivot_modes as pivot_modes,
    )
    from untaken.analysis.failure_modes.presets import (
        PRESETS as PRESETS, TITLES as TITLES, preset_modes as preset_modes,
    )
    from untaken.analysis.failure_modes.reading import (
        BY as BY, By as By, NO_VERSION as NO_VERSION, ReadRun as ReadRun, modes_seen as modes_seen,
        read_runs as read_runs, version_of as version_of,
    )
    from untaken.analysis.failure_modes.reading_order import (
        RandomDraw as RandomDraw, ToRead as ToRead, judge_disagreements as judge_disagreements,
        random_draw as random_draw, reading_order as reading_order,
    )
    from untaken.analysis.failure_modes.root_causes import (
        DECISIVE_RECORD as DECISIVE_RECORD, FIRST_FAILED_RECORD as FIRST_FAILED_RECORD,
        NAMED_BY_PEOPLE as NAMED_BY_PEOPLE, RootCauseAgreement as RootCauseAgreement,
        blame_words as blame_words, ceiling_words as ceiling_words,
        root_cause_agreement as root_cause_agreement,
    )
    from untaken.analysis.failure_modes.saturation import Saturation as Saturation, saturation as saturation
    from untaken.analysis.failure_modes.shapes import Shape as Shape, shapes_of as shapes_of
    from untaken.analysis.failure_modes.suggesting import (
        ModeSuggester as ModeSuggester, Suggestion as Suggestion, SuggestionQuality as SuggestionQuality,
        filed_texts as filed_texts, judged_suggestions as judged_suggestions,
        settled_modes as settled_modes,
        suggestion_quality as suggestion_quality,
    )
    from untaken.analysis.failure_modes.trend import (
        ModeTrend as ModeTrend, mode_trend as mode_trend,
    )
    from untaken.analysis.fix_first.advice import (
        CheaperChoice as CheaperChoice, ChoiceAdvice as ChoiceAdvice, Often as Often, Saving as Saving,
        SkillTakers as SkillTakers, advice as advice, statement_parts as statement_parts,
    )
    from untaken.analysis.fix_first.findings import (
        ITEMS_SHOWN as ITEMS_SHOWN, ORDERS as ORDERS, Order as Order, Triage as Triage,
    )
    from untaken.analysis.fix_first.items import (
        FixItem as FixItem, InfrastructureGroup as InfrastructureGroup, LeftSubGoal as LeftSubGoal,
    )
    from untaken.analysis.fix_first.listing import triage as triage
    from untaken.analysis.gate import (
        GateCheck as GateCheck, Requirement as Requirement, SHOWN as SHOWN,
        check_requirements as check_requirements, parse_requirement as parse_requirement,
    )
    from untaken.analysis.memories import (
        POLICY as POLICY, memories_of as memories_of, remembered as remembered,
    )
    from untaken.analysis.previewing import (
        AgentEffect as AgentEffect, Preview as Preview, StatusChange as StatusChange, preview as preview,
        runs_of as runs_of, with_graph as with_graph,
    )
    from untaken.analysis.ranking.comparisons import (
        Comparison as Comparison, PairDirection as PairDirection,
        PairedDifference as PairedDifference, PassK as PassK,
        QuadrantPoint as QuadrantPoint, RuleChange as RuleChange, RuleEffect as RuleEffect,
        RuleFlip as RuleFlip, RunContribution as RunContribution, SubGoalGap as SubGoalGap,
        TaskGap as TaskGap, WorkflowVerdict as WorkflowVerdict, ties_in_words as ties_in_words,
    )
    from untaken.analysis.ranking.contradictions import contradiction_of as contradiction_of
    from untaken.analysis.ranking.groups import (
        Group as Group, LEFT_OUT as LEFT_OUT, agents_compared_with as agents_compared_with,
        comparable_groups as comparable_groups, left_out as left_out,
    )
    from untaken.analysis.ranking.metrics import (
        HEADLINE as HEADLINE, METRICS as METRICS, OUTCOME as OUTCOME, metric_words as metric_words,
    )
    from untaken.analysis.ranking.pooled import pooled_reversals as pooled_reversals
    from untaken.analysis.ranking.rank import rank_agents as rank_agents
    from untaken.analysis.ranking.rank_report import RankReport as RankReport
    from untaken.analysis.ranking.ranked import (
        Agreement as Agreement, Contradiction as Contradiction, DiscordantPair as DiscordantPair,
        RankedAgent as RankedAgent, crossing_agents as crossing_agents,
    )
    from untaken.analysis.ranking.remarks import remarks as remarks, unrankable as unrankable
    from untaken.analysis.sequential import (
        MARGIN as MARGIN, SequentialCheck as SequentialCheck, TimeLimit as TimeLimit,
        check_in_sequence as check_in_sequence, compare_in_sequence as compare_in_sequence,
    )
    from untaken.analysis.versions.comparison import (
        CostChange as CostChange, FirstSuspect as FirstSuspect, OutcomeChange as OutcomeChange,
        SubGoalChange as SubGoalChange,
        VersionComparison as VersionComparison, compare_versions as compare_versions,
    )
    from untaken.analysis.versions.discordant import DiscordantRuns as DiscordantRuns
    from untaken.analysis.versions.sides import (
        FIELDS as FIELDS, Field as Field, VALUES as VALUES, most_paired as most_paired,
        versions_of as versions_of,
    )
    from untaken.analysis.workspace_corpus import ReadRuns as ReadRuns, WorkspaceCorpus as WorkspaceCorpus
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
