"""What app, notebooks and command line share: tables, the report on one run, the overview, JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

if TYPE_CHECKING:
    from untaken.views.annotating import (
        changes_table as changes_table,
        contested_table as contested_table,
        effects_table as effects_table,
        rule_words as rule_words,
        rules_table as rules_table,
        support_table as support_table,
        unmapped_table as unmapped_table,
        versions_table as versions_table,
    )
    from untaken.views.audit import (
        audit_corpus as audit_corpus,
        audit_document as audit_document,
        audited_edges_table as audited_edges_table,
        audited_nodes_table as audited_nodes_table,
        audited_tasks_table as audited_tasks_table,
    )
    from untaken.views.choices import (
        choice_odds as choice_odds,
        choices_table as choices_table,
        corpus_logged as corpus_logged,
        count_choices as count_choices,
        placebo_of as placebo_of,
    )
    from untaken.views.choices_reviewed import ChoiceReview as ChoiceReview, choice_review as choice_review
    from untaken.views.compare import (
        compare_document as compare_document,
        compared_tasks as compared_tasks,
        divergences_table as divergences_table,
        matrix_table as matrix_table,
        outcome_splits_table as outcome_splits_table,
    )
    from untaken.views.crafter import (
        crafter_ablation_document as crafter_ablation_document,
        CrafterScoreDocument as CrafterScoreDocument,
        crafter_run_document as crafter_run_document,
        crafter_win_document as crafter_win_document,
        read_ablation as read_ablation,
    )
    from untaken.views.counterfactuals import counterfactual_document as counterfactual_document
    from untaken.views.criteria import (
        attacks_table as attacks_table,
        criteria_document as criteria_document,
        criteria_verify_document as criteria_verify_document,
        outcome_means_table as outcome_means_table,
        values_table as values_table,
        verification_table as verification_table,
    )
    from untaken.views.criteria_review import (
        CriteriaReview as CriteriaReview,
        against_people as against_people,
        criteria_people_table as criteria_people_table,
        ledger_review as ledger_review,
        recorded_review as recorded_review,
        side_table as side_table,
    )
    from untaken.views.decisions import (
        count_paths as count_paths,
        decisions_in_parts as decisions_in_parts,
        decisions_table as decisions_table,
    )
    from untaken.views.documents import dump as dump
    from untaken.views.formats import ExportDocument as ExportDocument
    from untaken.views.exports import EXPORTED as EXPORTED
    from untaken.views.workspace_files import (
        audit_table as audit_table,
        files_table as files_table,
    )
    from untaken.views.judging import (
        AgreeDocument as AgreeDocument,
        JudgeDocument as JudgeDocument,
        LabelledRatesEntry as LabelledRatesEntry,
        reviewers_entry as reviewers_entry,
        concord_table as concord_table,
        disagreements_table as disagreements_table,
        judges_worth as judges_worth,
        labelled_rates_table as labelled_rates_table,
        measure_corpus as measure_corpus,
        people_and_judges as people_and_judges,
        rates_with_labels as rates_with_labels,
        trusted_judges as trusted_judges,
    )
    from untaken.views.memory import (
        MemoryPreviewDocument as MemoryPreviewDocument,
        MemoryQueueDocument as MemoryQueueDocument,
        MemoryVerifyDocument as MemoryVerifyDocument,
        SignalEffect as SignalEffect,
        memory_apply_document as memory_apply_document,
        memory_document as memory_document,
    )
    from untaken.views.overview import Overview as Overview
    from untaken.views.packets import (
        PacketDocument as PacketDocument,
        audit_packet as audit_packet,
        cause_packet as cause_packet,
        fix_packet as fix_packet,
        packet_markdown as packet_markdown,
        run_packet as run_packet,
        versions_packet as versions_packet,
    )
    from untaken.views.plan_decisions import (
        plan_changes_table as plan_changes_table,
        statements_table as statements_table,
    )
    from untaken.views.planning import (
        PlanningSummary as PlanningSummary,
        ablation_table as ablation_table,
        planned_steps_table as planned_steps_table,
        planning_summary as planning_summary,
        terms_table as terms_table,
    )
    from untaken.views.plans import (
        graph_diff_document as graph_diff_document,
        graph_discover_document as graph_discover_document,
    )
    from untaken.views.proposing import (
        criteria_list as criteria_list,
        proposal_document as proposal_document,
        unique_table as unique_table,
    )
    from untaken.views.rankings import rank_document as rank_document
    from untaken.views.records import (
        SignalReview as SignalReview,
        applied_table as applied_table,
        context_names as context_names,
        contexts_by_evidence as contexts_by_evidence,
        estimates_table as estimates_table,
        records_table as records_table,
        signal_review as signal_review,
        signals_table as signals_table,
    )
    from untaken.views.review import (
        OrderedRun as OrderedRun,
        ReviewItem as ReviewItem,
        contradictory as contradictory,
        review_items as review_items,
        review_order as review_order,
        review_queue as review_queue,
        review_table as review_table,
    )
    from untaken.views.runs import (
        runs_table as runs_table,
        sub_goals_table as sub_goals_table,
    )
    from untaken.views.schemas import SCHEMAS as SCHEMAS, json_schema as json_schema
    from untaken.views.scores import (
        GateDocument as GateDocument,
        score_document as score_document,
        verify_document as verify_document,
    )
    from untaken.views.single_run import RunReport as RunReport, run_report as run_report
    from untaken.views.ranking_tables import (
        agents_table as agents_table,
        agreement_table as agreement_table,
        contradictions_table as contradictions_table,
        discordant_table as discordant_table,
        missing_rule as missing_rule,
        pairs_table as pairs_table,
        pass_k_table as pass_k_table,
        rankings_table as rankings_table,
        rule_table as rule_table,
        sub_goal_failures as sub_goal_failures,
    )
    from untaken.views.timeline import TimelineRow as TimelineRow
    from untaken.views.transcript import run_transcript as run_transcript
    from untaken.views.versions import (
        discordant_pairs_table as discordant_pairs_table,
        version_changes as version_changes,
        version_changes_table as version_changes_table,
        version_costs_table as version_costs_table,
        versions_document as versions_document,
    )
    from untaken.views.causes import causes_document as causes_document, causes_table as causes_table
    from untaken.views.triage import (
        triage_document as triage_document,
        triage_table as triage_table,
    )
    from untaken.views.unhandled_failures import (
        UnhandledFailure as UnhandledFailure,
        runs_not_detecting_errors as runs_not_detecting_errors,
        find_unhandled as find_unhandled,
    )
    from untaken.views.verdict_view import (
        VerdictView as VerdictView,
        decided_by_check as decided_by_check,
        imported_in_words as imported_in_words,
        verdict_views as verdict_views,
    )
    from untaken.csv_export import csv_text as csv_text

__getattr__, __dir__ = imported_on_first_use(__name__)
