"""Writing down what should have happened: editing plan graphs, and what an edit would change (§4)."""

from untaken.annotating.applying import apply, apply_all, sub_goal_of
from untaken.annotating.differing import edits_between
from untaken.annotating.edits import (
    FIELDS,
    GRAPH_FIELDS,
    Add,
    Connect,
    Delete,
    Disconnect,
    Edit,
    Move,
    Rename,
    Set,
    SetGraph,
    edit_json,
    in_words,
    read_edit,
)
from untaken.annotating.importing import ImportedGraphs, filled, graphs_in
from untaken.annotating.matching import CallMatches, matched_calls
from untaken.annotating.merging import MergeConflict, MergedGraph, merge
from untaken.annotating.mutating import ToolProposal, tool_proposals
from untaken.annotating.previewing import (
    AgentEffect,
    Preview,
    StatusChange,
    counts_the_same,
    preview,
    runs_of,
    with_graph,
)
from untaken.annotating.rows import SubGoalRow, edits_of_rows, read_value, rows_of, value_json
from untaken.annotating.session import Session, UndoStep
from untaken.annotating.workbench import (
    Contested,
    Example,
    RuleUse,
    Unmapped,
    Workbench,
    made_rule,
    unmapped,
)

__all__ = [
    "FIELDS",
    "GRAPH_FIELDS",
    "Add",
    "AgentEffect",
    "CallMatches",
    "Connect",
    "Contested",
    "Delete",
    "Disconnect",
    "Edit",
    "Example",
    "ImportedGraphs",
    "MergeConflict",
    "MergedGraph",
    "Move",
    "Preview",
    "Rename",
    "RuleUse",
    "Session",
    "Set",
    "SetGraph",
    "StatusChange",
    "SubGoalRow",
    "ToolProposal",
    "UndoStep",
    "Unmapped",
    "Workbench",
    "apply",
    "apply_all",
    "counts_the_same",
    "edit_json",
    "edits_between",
    "edits_of_rows",
    "filled",
    "graphs_in",
    "in_words",
    "made_rule",
    "matched_calls",
    "merge",
    "preview",
    "read_edit",
    "read_value",
    "rows_of",
    "runs_of",
    "sub_goal_of",
    "tool_proposals",
    "unmapped",
    "value_json",
    "with_graph",
]
