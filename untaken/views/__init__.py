"""What app, notebooks and command line share: tables, the report on one run, the overview, JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

# fmt: off
if TYPE_CHECKING:
    from untaken.csv_export import csv_text as csv_text
    from untaken.views.advising import (
        Advised as Advised, AdvisedChoice as AdvisedChoice, CheaperOption as CheaperOption,
        advised as advised,
    )
    from untaken.views.audit import (
        audit_corpus as audit_corpus, audit_document as audit_document,
        audited_edges_table as audited_edges_table, audited_nodes_table as audited_nodes_table,
        audited_tasks_table as audited_tasks_table, stranger_findings as stranger_findings,
        writes_in_words as writes_in_words,
    )
    from untaken.views.briefing import run_brief as run_brief
    from untaken.views.choices_reviewed import (
        FEW as FEW, PLAN as PLAN, ChoiceReview as ChoiceReview, by_delta as by_delta,
        choice_review as choice_review, decision_kinds as decision_kinds,
    )
    from untaken.views.compare import (
        COMPARE_DOCUMENT as COMPARE_DOCUMENT, compared_tasks as compared_tasks,
        divergences_table as divergences_table, matrix_table as matrix_table,
        outcome_splits_table as outcome_splits_table,
    )
    from untaken.views.counterfactuals import counterfactual_document as counterfactual_document
    from untaken.views.crafter import (
        CRAFTER_SCORE_DOCUMENT as CRAFTER_SCORE_DOCUMENT, PlanningSummary as PlanningSummary,
        ablation_table as ablation_table, crafter_ablation_document as crafter_ablation_document,
        crafter_run_document as crafter_run_document, crafter_win_document as crafter_win_document,
        planned_steps_table as planned_steps_table, planning_summary as planning_summary,
        read_ablation as read_ablation, terms_table as terms_table,
    )
    from untaken.views.criteria import (
        CRITERIA_VERIFY_DOCUMENT as CRITERIA_VERIFY_DOCUMENT, attacks_table as attacks_table,
        criteria_document as criteria_document, criteria_list as criteria_list,
        outcome_means_table as outcome_means_table, proposal_document as proposal_document,
        unique_table as unique_table, values_table as values_table, verification_table as verification_table,
    )
    from untaken.views.criteria_review import (
        CriteriaReview as CriteriaReview, against_people as against_people,
        criteria_people_table as criteria_people_table, ledger_review as ledger_review,
        recorded_review as recorded_review, side_table as side_table,
    )
    from untaken.views.decisions import (
        choice_odds as choice_odds, choices_table as choices_table, corpus_logged as corpus_logged,
        count_choices as count_choices, decisions_in_parts as decisions_in_parts,
        decisions_table as decisions_table, placebo_of as placebo_of,
        run_decisions_table as run_decisions_table, table_of_choices as table_of_choices,
    )
    from untaken.views.documents import Document as Document, Part as Part, dump as dump, entry as entry
    from untaken.views.error_analysis import RoundStep as RoundStep, round_steps as round_steps
    from untaken.views.exporting.atif import atif_documents as atif_documents
    from untaken.views.exporting.evaluations import (
        EvaluatedRun as EvaluatedRun, Evaluation as Evaluation, csv_table as csv_table,
        evaluated_run as evaluated_run,
    )
    from untaken.views.exporting.otel import otlp_lines as otlp_lines
    from untaken.views.exporting.sending import KEY as KEY, PATHS as PATHS, send_lines as send_lines
    from untaken.views.exporting.write_back import (
        LANGFUSE as LANGFUSE, PHOENIX as PHOENIX, has_number as has_number, inspect_lines as inspect_lines,
        inspect_sample_of as inspect_sample_of, is_written as is_written, langfuse_lines as langfuse_lines,
        phoenix_lines as phoenix_lines, trace_of as trace_of,
    )
    from untaken.views.exporting.xes import xes_log as xes_log
    from untaken.views.exports import EXPORTED as EXPORTED
    from untaken.views.first_page import (
        Overview as Overview, RunBehind as RunBehind, ShownChoice as ShownChoice,
        choices_to_change as choices_to_change, first_numbers as first_numbers,
        graphs_by_misses as graphs_by_misses, ranking_remarks as ranking_remarks, ranks_alone as ranks_alone,
        read_next as read_next, runs_behind as runs_behind, runs_behind_items as runs_behind_items,
        runs_with_unhandled_failures as runs_with_unhandled_failures, without_graph as without_graph,
    )
    from untaken.views.formats import (
        CONVERT_DOCUMENT as CONVERT_DOCUMENT, EXPORT_DOCUMENT as EXPORT_DOCUMENT,
        FORMATS_DOCUMENT as FORMATS_DOCUMENT, MAPPING_CHECK_DOCUMENT as MAPPING_CHECK_DOCUMENT,
        mapping_tables as mapping_tables,
    )
    from untaken.views.frame import FORMATS as FORMATS, MEANINGS as MEANINGS, TITLES as TITLES
    from untaken.views.html.page import html_report as html_report
    from untaken.views.html.plan_picture import plan_svg as plan_svg
    from untaken.views.html.small_print import corpus_digest as corpus_digest
    from untaken.views.issues import (
        ISSUES_DOCUMENT as ISSUES_DOCUMENT, corpus_issues as corpus_issues, gated_issue as gated_issue,
        issue_entry as issue_entry, issue_rates_table as issue_rates_table,
        issue_runs_table as issue_runs_table, issues_table as issues_table, statements_of as statements_of,
    )
    from untaken.views.judging import (
        AGREE_DOCUMENT as AGREE_DOCUMENT, JUDGE_DOCUMENT as JUDGE_DOCUMENT, concord_table as concord_table,
        disagreements_table as disagreements_table, judges_worth as judges_worth,
        labelled_rates_table as labelled_rates_table, measure_corpus as measure_corpus,
        people_and_judges as people_and_judges, rates_with_labels as rates_with_labels,
        trusted_judges as trusted_judges,
    )
    from untaken.views.known_values import (
        unlike_successes as unlike_successes, values_to_know as values_to_know,
    )
    from untaken.views.memory import (
        PREVIEW_DOCUMENT as PREVIEW_DOCUMENT, QUEUE_DOCUMENT as QUEUE_DOCUMENT,
        VERIFY_MEMORY_DOCUMENT as VERIFY_MEMORY_DOCUMENT, SignalReview as SignalReview,
        applied_table as applied_table, context_names as context_names,
        contexts_by_evidence as contexts_by_evidence, estimates_table as estimates_table,
        memory_apply_document as memory_apply_document, memory_document as memory_document,
        records_table as records_table, signal_review as signal_review, signals_table as signals_table,
        signals_waiting as signals_waiting, unequal_words as unequal_words, well_founded as well_founded,
    )
    from untaken.views.mode_analysis import (
        ModeAnalysis as ModeAnalysis, analyse_modes as analyse_modes, failing_shapes as failing_shapes,
        mode_contrast_table as mode_contrast_table, mode_pivot_table as mode_pivot_table,
        mode_runs_table as mode_runs_table, mode_trend_table as mode_trend_table,
        modes_document as modes_document, most_informative_cases as most_informative_cases,
        most_informative_first as most_informative_first, reading_order_table as reading_order_table,
        reviewed_runs as reviewed_runs, runs_to_read as runs_to_read,
    )
    from untaken.views.modes import (
        MODES_OVERVIEW as MODES_OVERVIEW, UnfiledNote as UnfiledNote,
        corpus_root_causes as corpus_root_causes, mode_agreement_table as mode_agreement_table,
        modes_agree_document as modes_agree_document, modes_notes_document as modes_notes_document,
        modes_overview as modes_overview, modes_suggest_document as modes_suggest_document,
        root_cause_table as root_cause_table, unfiled_notes as unfiled_notes,
    )
    from untaken.views.packets import (
        PACKET_DOCUMENT as PACKET_DOCUMENT, Packet as Packet, audit_packet as audit_packet,
        cause_packet as cause_packet, fix_packet as fix_packet, nth as nth,
        packet_markdown as packet_markdown, run_packet as run_packet, versions_packet as versions_packet,
    )
    from untaken.views.plan_decisions import (
        plan_changes_table as plan_changes_table, plan_document as plan_document,
        statements_table as statements_table,
    )
    from untaken.views.plan_drawing import (
        LINE_HEIGHT as LINE_HEIGHT, READABLE as READABLE, Box as Box, Drawing as Drawing, draw as draw,
        wrapped as wrapped,
    )
    from untaken.views.plan_layout import (
        Edge as Edge, PlanLayout as PlanLayout, Point as Point, larger as larger, lay_out as lay_out,
    )
    from untaken.views.plan_words import (
        LABELS as LABELS, RESTATES as RESTATES, alternative_words as alternative_words,
        data_needed as data_needed, did_words as did_words, distinct as distinct, doing_words as doing_words,
        groups_words as groups_words, option_words as option_words, plan_silence as plan_silence,
        runs_against as runs_against, situation_words as situation_words,
        statement_in_units as statement_in_units,
    )
    from untaken.views.plans import (
        CHECKED_GRAPH as CHECKED_GRAPH, GRAPH_CHECK_DOCUMENT as GRAPH_CHECK_DOCUMENT,
        GRAPH_DRAW_DOCUMENT as GRAPH_DRAW_DOCUMENT, changes_table as changes_table,
        contested_table as contested_table, effects_table as effects_table,
        graph_diff_document as graph_diff_document, graph_discover_document as graph_discover_document,
        most_used_graph as most_used_graph, rule_words as rule_words, rules_table as rules_table,
        support_table as support_table, unmapped_table as unmapped_table, versions_table as versions_table,
    )
    from untaken.views.rankings import (
        agents_table as agents_table, agreement_table as agreement_table,
        contradictions_table as contradictions_table, discordant_table as discordant_table,
        missing_rule as missing_rule, pairs_table as pairs_table, pass_k_table as pass_k_table,
        rank_document as rank_document, rankings_table as rankings_table, rule_table as rule_table,
        sub_goal_failures as sub_goal_failures,
    )
    from untaken.views.review import (
        OrderedRun as OrderedRun, ReviewItem as ReviewItem, contradictory as contradictory,
        review_items as review_items, review_order as review_order, review_queue as review_queue,
        review_table as review_table,
    )
    from untaken.views.reviewing import (
        FIELDS as FIELDS, META as META, Case as Case, ReviewerDisagreement as ReviewerDisagreement,
        cases_table as cases_table, chosen_cases as chosen_cases,
        corpus_reviewer_pairs as corpus_reviewer_pairs, corpus_reviewers as corpus_reviewers,
        disagreement_queue as disagreement_queue, failing_cases as failing_cases, fields_of as fields_of,
        fix_first_reasons as fix_first_reasons, progress_of as progress_of,
        reliability_table as reliability_table, review_document as review_document,
        reviewer_disagreements_table as reviewer_disagreements_table,
        reviewer_pairs_table as reviewer_pairs_table, with_reviews as with_reviews,
    )
    from untaken.views.schemas import (
        SCHEMAS as SCHEMAS, SCHEMAS_DOCUMENT as SCHEMAS_DOCUMENT, json_schema as json_schema,
    )
    from untaken.views.scores import (
        GATE_DOCUMENT as GATE_DOCUMENT, runs_table as runs_table, score_document as score_document,
        sub_goals_table as sub_goals_table, verify_document as verify_document,
    )
    from untaken.views.searching import texts_with as texts_with
    from untaken.views.single_run import RunReport as RunReport, run_report as run_report
    from untaken.views.spending import (
        MEASURES as MEASURES, AgentUsage as AgentUsage, corpus_usage as corpus_usage,
        figure_words as figure_words, usage as usage, usage_table as usage_table,
    )
    from untaken.views.statuses import (
        BORDER as BORDER, CRITICAL_BORDER as CRITICAL_BORDER, INK as INK, NIGHT as NIGHT, STAR as STAR,
        STATUS as STATUS, StatusLook as StatusLook, StatusName as StatusName, shade as shade,
        shown_status as shown_status,
    )
    from untaken.views.stored_answers import (
        Basis as Basis, FIRST_PAGE as FIRST_PAGE, OF_HISTORY as OF_HISTORY, OF_READINGS as OF_READINGS,
        WITHOUT_NOTES as WITHOUT_NOTES,
        are_kept as are_kept, is_kept as is_kept, keep_answer as keep_answer, load_kept as load_kept,
    )
    from untaken.views.timeline import TimelineRow as TimelineRow
    from untaken.views.transcript import run_transcript as run_transcript
    from untaken.views.triage import (
        causes_document as causes_document, causes_table as causes_table, triage_document as triage_document,
        triage_table as triage_table,
    )
    from untaken.views.unhandled_failures import (
        UnhandledFailure as UnhandledFailure, find_unhandled as find_unhandled,
        runs_not_detecting_errors as runs_not_detecting_errors,
    )
    from untaken.views.upload_results import (
        ARCHIVE as ARCHIVE, Upload as Upload, stopped_uploads as stopped_uploads, together as together,
        uploads as uploads, uploads_table as uploads_table,
    )
    from untaken.views.verdict_view import (
        VerdictView as VerdictView, decided_by_check as decided_by_check,
        imported_in_words as imported_in_words, reviewers_differ as reviewers_differ,
        verdict_views as verdict_views,
    )
    from untaken.views.versions import (
        cause_of as cause_of, causes_of_versions as causes_of_versions, cost_unit_of as cost_unit_of,
        discordant_pairs_table as discordant_pairs_table, suspect_words as suspect_words,
        version_changes as version_changes, version_changes_table as version_changes_table,
        version_costs_table as version_costs_table, version_headline as version_headline,
        versions_document as versions_document,
    )
    from untaken.views.workspace import (
        BACKUP_DOCUMENT as BACKUP_DOCUMENT, DOCTOR_DOCUMENT as DOCTOR_DOCUMENT,
        REBUILT_WORKSPACE as REBUILT_WORKSPACE, REPORT_DOCUMENT as REPORT_DOCUMENT,
        RESTORE_DOCUMENT as RESTORE_DOCUMENT,
    )
    from untaken.views.workspace_files import (
        HeldRun as HeldRun, audit_table as audit_table, contents as contents,
        corpus_findings as corpus_findings, files_table as files_table, runs_by_id as runs_by_id,
        runs_in_words as runs_in_words,
    )
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
