"""Plan graphs: the model, files, validation, success checks, and which action served which sub-goal."""

from untaken.plans.calls import (
    call_counts as call_counts,
    call_matches as call_matches,
)
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
