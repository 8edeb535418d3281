"""Writing down what should have happened: editing plan graphs, and what an edit would change (§4)."""

from untaken.annotating.applying import apply as apply, apply_all as apply_all, sub_goal_of as sub_goal_of
from untaken.annotating.differing import edits_between as edits_between
from untaken.annotating.edits import (
    Add as Add,
    Connect as Connect,
    Delete as Delete,
    Disconnect as Disconnect,
    Edit as Edit,
    Move as Move,
    Rename as Rename,
    Set as Set,
    SetGraph as SetGraph,
    in_words as in_words,
    read_edit as read_edit,
)
from untaken.annotating.importing import (
    ImportedGraphs as ImportedGraphs,
    filled as filled,
    graphs_in as graphs_in,
)
from untaken.annotating.merging import MergeConflict as MergeConflict, merge as merge
from untaken.annotating.mutating import ToolProposal as ToolProposal, tool_proposals as tool_proposals
from untaken.annotating.previewing import (
    AgentEffect as AgentEffect,
    Preview as Preview,
    StatusChange as StatusChange,
    preview as preview,
    runs_of as runs_of,
    with_graph as with_graph,
)
from untaken.annotating.rows import (
    SubGoalRow as SubGoalRow,
    edits_of_rows as edits_of_rows,
    read_call as read_call,
    read_value as read_value,
    rows_of as rows_of,
    value_json as value_json,
)
from untaken.annotating.session import Session as Session
from untaken.annotating.mapping_summary import (
    CallMatches as CallMatches,
    matched_calls as matched_calls,
    Contested as Contested,
    RuleUse as RuleUse,
    Unmapped as Unmapped,
    MappingSummary as MappingSummary,
    made_rule as made_rule,
    unmapped as unmapped,
)
