"""Plan graphs: the model, files, validation, success checks, and which action served which sub-goal."""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

from untaken.plans.calls import call_counts as call_counts, call_matches as call_matches
from untaken.plans.diff import GraphDiff as GraphDiff, diff_graphs as diff_graphs
from untaken.plans.expressions import (
    check_expression as check_expression,
    evaluate_expression as evaluate_expression,
)
from untaken.plans.files import (
    GRAPH_FORMATS as GRAPH_FORMATS,
    GraphFormat as GraphFormat,
    export_graph as export_graph,
    inspect_graph as inspect_graph,
    load_graph as load_graph,
    parse_graph as parse_graph,
    read_graph as read_graph,
    save_graph as save_graph,
)
from untaken.plans.globs import escape_glob as escape_glob, matches_glob as matches_glob
from untaken.plans.graph_set import (
    GraphSet as GraphSet,
    gathered_graphs as gathered_graphs,
    graph_contents as graph_contents,
    graph_files as graph_files,
    load_graphs as load_graphs,
)
from untaken.plans.mapping import Mapping as Mapping, map_actions as map_actions, rule_fits as rule_fits
from untaken.plans.patterns import json_equal as json_equal
from untaken.plans.plan_graph import (
    AnswerSpec as AnswerSpec,
    Check as Check,
    PlanGraph as PlanGraph,
    Rule as Rule,
    SubGoal as SubGoal,
    ToolCallSpec as ToolCallSpec,
)
from untaken.plans.structure import (
    ancestors as ancestors,
    edges as edges,
    graph_digest as graph_digest,
    topological as topological,
    transitive_reduction as transitive_reduction,
)
from untaken.plans.validation import validate as validate

# fmt: off
if TYPE_CHECKING:
    from untaken.plans.calls import (
        answer_patterns as answer_patterns, chars_of as chars_of, expected_of as expected_of,
        fixed_arguments as fixed_arguments, plain_key as plain_key, reads_text as reads_text,
    )
    from untaken.plans.diff import (
        Edge as Edge, FieldChange as FieldChange, Renamed as Renamed,
        Reordered as Reordered,
    )
    from untaken.plans.discovery.calls import MIN_SUCCESSES as MIN_SUCCESSES
    from untaken.plans.discovery.families import TaskFamily as TaskFamily, task_families as task_families
    from untaken.plans.discovery.first_attempts import teaches as teaches, unusable as unusable
    from untaken.plans.discovery.proposed_graph import (
        Alternatives as Alternatives, MIN_RUNS as MIN_RUNS,
        MIN_SHARE as MIN_SHARE, ProposedGraph as ProposedGraph, SharedCall as SharedCall, Source as Source,
        Support as Support, THETA as THETA,
    )
    from untaken.plans.editing.applying import apply as apply, sub_goal_of as sub_goal_of
    from untaken.plans.editing.edits import (
        Add as Add, Delete as Delete, Disconnect as Disconnect, Edit as Edit, Field as Field,
        GraphField as GraphField, Rename as Rename, Set as Set, SetGraph as SetGraph, read_edit as read_edit,
    )
    from untaken.plans.editing.mapping_summary import (
        CallMatches as CallMatches, Contested as Contested, MappingSummary as MappingSummary,
        RuleUse as RuleUse, Unmapped as Unmapped, made_rule as made_rule, matched_calls as matched_calls,
        unmapped as unmapped,
    )
    from untaken.plans.editing.merging import (
        MergeConflict as MergeConflict, ORDER as ORDER, Side as Side, WHOLE as WHOLE, merge as merge,
    )
    from untaken.plans.editing.mutating import (
        Proposed as Proposed, ToolProposal as ToolProposal, changing_tools as changing_tools,
        tool_proposals as tool_proposals,
    )
    from untaken.plans.editing.rows import (
        SubGoalRow as SubGoalRow, edits_of_rows as edits_of_rows, read_call as read_call,
        read_value as read_value, rows_of as rows_of, value_json as value_json,
    )
    from untaken.plans.editing.session import Session as Session
    from untaken.plans.expression_source import (
        FieldPath as FieldPath, Token as Token, read_source as read_source,
    )
    from untaken.plans.files import format_of as format_of
    from untaken.plans.patterns import (
        FREE as FREE, comparing_sub_goal as comparing_sub_goal, is_free_text as is_free_text,
    )
    from untaken.plans.patterns import (
        KINDS as KINDS, Pattern as Pattern, as_literal as as_literal, contains as contains,
        text_of as text_of,
    )
    from untaken.plans.plan_graph import Match as Match, VerdictSpec as VerdictSpec
    from untaken.plans.strict_document import (
        Document as Document, Path as Path, decode as decode, read_yaml as read_yaml,
    )
    from untaken.plans.yaml_text import block_yaml as block_yaml, flow as flow, text as text
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
