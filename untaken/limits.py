"""Every limit on untrusted input, in one place.

A limit is a promise to the machine that reads a hostile file, not a target:
each is far above anything a real run needs.
"""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# Ledgers
LINE_BYTES: Final = 16 * MIB
JSON_DEPTH: Final = 64
INTEGER_BITS: Final = 64
FILE_BYTES: Final = 4096 * MIB
"""Bytes of a ledger after decompression."""
ZSTD_WINDOW_BYTES: Final = 128 * MIB
HEADS_FILE_BYTES: Final = 256 * MIB
FILE_FAULTS: Final = 1_000
"""Lines of one file that belong to no run; after these the rest of the file is not read."""
UNREADABLE_LINES: Final = 100_000
"""Lines of one file that are no valid event, of whatever run; after these the rest is not read."""
EVENTS_PER_RUN: Final = 1_000_000
NAME_CHARS: Final = 512
"""Characters of run ids, agents, task ids, tools, skills and sub-goal ids."""
DECISIONS_CHARS: Final = 8 * MIB
"""Of the names of tools that all decisions of one imported run repeat."""
CONTEXT_LAYERS: Final = 8
"""Contexts of one decision point, from fine to coarse."""

# Policy memory
MEMORY_LINE_BYTES: Final = 64 * KIB
MEMORY_FILE_BYTES: Final = 2048 * MIB
MEMORY_KEY_CHARS: Final = 8 * KIB

# Plan graphs
GRAPH_FILE_BYTES: Final = 4 * MIB
MERMAID_LINES: Final = 100_000
MERMAID_LINE_CHARS: Final = 200_000
MERMAID_NODES_WRITTEN: Final = 200_000
"""Places where a node is written: the same node may be written many times."""
SUB_GOALS: Final = 5_000
WEIGHT: Final = 1_000_000
"""Largest weight of one sub-goal."""
TIMES: Final = 1_000
"""Most calls that one sub-goal asks for."""
EDGES: Final = 50_000
RULES_PER_SUB_GOAL: Final = 200
TOOL_PATTERNS: Final = 500
"""Patterns in `mutates` and in `hand_over`."""
YAML_DEPTH: Final = 32
YAML_VALUES: Final = 400_000
"""Scalars, lists and mappings of one file."""
PATTERN_CHARS: Final = 500
REGEX_CHARS: Final = 200
REGEXES: Final = 500
"""Different ones in one graph."""
AUTHOR_CHARS: Final = 120
TAG_CHARS: Final = 60
TAGS_PER_RUN: Final = 20
REMARK_CHARS: Final = 10_000
"""Longest message of a saved version."""
TEXT_DRAFT_CHARS: Final = 100_000
"""Characters of a typed text that is not saved yet."""

# Notes and failure modes
NOTE_CHARS: Final = 4_000
FAILURE_MODES: Final = 500
"""Failure modes in one taxonomy, past ones included."""
MODE_NAME_CHARS: Final = 100
MODE_WORDS: Final = 2_000
"""Characters of a definition or an example."""
MODE_EXAMPLES: Final = 20

# Expressions
EXPRESSION_CHARS: Final = 2_000
EXPRESSION_NODES: Final = 300
EXPRESSION_DEPTH: Final = 32
EXPRESSION_ITEMS: Final = 10_000
"""Elements, over all collections, that one expression may be given."""
EXPRESSION_STRING_CHARS: Final = 1_000_000
"""Over all texts."""
EXPRESSION_STEPS: Final = 10_000_000
"""Comparisons or copies that one evaluation may cost at most, estimated beforehand: well under a second."""
RULE_TEXT_CHARS: Final = 100_000
"""Characters of one message that text rules look at, from its beginning."""

# Foreign traces and archives
IMPORT_FILE_BYTES: Final = 1024 * MIB
ARCHIVE_MEMBERS: Final = 20_000
ARCHIVE_BYTES: Final = 2048 * MIB
ARCHIVE_RATIO: Final = 200
RATIO_FROM_BYTES: Final = 64 * MIB
"""Output up to which any ratio of compression is believed."""

INTAKE_FILE_SECONDS: Final = 10.0
"""Seconds without a step forward after which an uploaded file is given up."""
INTAKE_SECONDS: Final = 1_800.0
"""Seconds that all files of one upload may take."""

# The search for possible prompt injections, in one run
SEARCHED_CHARS: Final = 64 * MIB
SEARCH_SECONDS: Final = 60.0

# Language models
MODEL_REPLY_BYTES: Final = 16 * MIB
MODEL_ANSWER_SECONDS: Final = 900.0
"""Seconds for one question, its tool calls and retries included."""

# Backups of a workspace
BACKUP_MEMBERS: Final = 1_000_000
BACKUP_MANIFEST_BYTES: Final = 512 * MIB
BACKUP_ROW_BYTES: Final = 64 * MIB

# Scoring
MAPPING_COMPARISONS: Final = 500_000
"""Comparisons of actions with rules and tool-call checks, in one run."""
STEP_CHECKS: Final = 200_000
"""Evaluations of `on: step` expressions in one run."""
CALL_COMPARISONS: Final = 2_000_000
"""Calls looked at, over all tool-call checks, in one run."""
CHARS_PER_COMPARISON: Final = 1_000
"""Characters of a call and its answer that a pattern may read at the price of one comparison."""
VIOLATIONS: Final = 10_000
"""Violations of each kind that are listed for one run."""

# Records of planning
PLANNING_BYTES: Final = 64 * MIB
"""Bytes after decompression."""
PLANNED_STEPS: Final = 100_000

# Rankings
COMPARED_AGENTS: Final = 100
"""Agents that are compared two by two; pairs grow with the square of it."""
