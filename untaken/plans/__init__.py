"""Plan graphs: the model, files, validation, success checks, and which action served which sub-goal."""

from untaken.plans.calls import answer_fits, call_counts, call_matches, json_equal
from untaken.plans.diff import GraphDiff, diff_graphs
from untaken.plans.expressions import check_expression, evaluate_expression
from untaken.plans.files import (
    GRAPH_FORMATS,
    GRAPH_SUFFIXES,
    GraphFormat,
    export_graph,
    inspect_graph,
    load_graph,
    parse_graph,
    read_graph,
    save_graph,
)
from untaken.plans.globs import escape_glob, matches_glob
from untaken.plans.graph_set import GraphSet, graph_files, load_graphs
from untaken.plans.mapping import Mapping, map_actions, rule_fits
from untaken.plans.model import AnswerSpec, Check, PlanGraph, Rule, SubGoal, ToolCallSpec, VerdictSpec
from untaken.plans.structure import ancestors, edges, graph_digest, topological, transitive_reduction
from untaken.plans.validation import validate

__all__ = [
    "GRAPH_FORMATS",
    "GRAPH_SUFFIXES",
    "AnswerSpec",
    "Check",
    "GraphDiff",
    "GraphFormat",
    "GraphSet",
    "Mapping",
    "PlanGraph",
    "Rule",
    "SubGoal",
    "ToolCallSpec",
    "VerdictSpec",
    "ancestors",
    "answer_fits",
    "call_counts",
    "call_matches",
    "check_expression",
    "diff_graphs",
    "edges",
    "escape_glob",
    "evaluate_expression",
    "export_graph",
    "graph_digest",
    "graph_files",
    "inspect_graph",
    "json_equal",
    "load_graph",
    "load_graphs",
    "map_actions",
    "matches_glob",
    "parse_graph",
    "read_graph",
    "rule_fits",
    "save_graph",
    "topological",
    "transitive_reduction",
    "validate",
]
