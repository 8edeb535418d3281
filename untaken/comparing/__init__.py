"""Runs of one task side by side: where they part, and what goes with success (§4)."""

from untaken.comparing.align import MOST_SHOWN, TaskRuns, align_runs, tasks_of
from untaken.comparing.model import (
    AlignedRow,
    Basis,
    Cell,
    CellStatus,
    ComparedRun,
    Divergence,
    Level,
    OutcomeSplit,
    SideBySide,
    Split,
)
from untaken.comparing.steps import Argument, CallAnswer, Step, steps_of

__all__ = [
    "MOST_SHOWN",
    "AlignedRow",
    "Argument",
    "Basis",
    "CallAnswer",
    "Cell",
    "CellStatus",
    "ComparedRun",
    "Divergence",
    "Level",
    "OutcomeSplit",
    "SideBySide",
    "Split",
    "Step",
    "TaskRuns",
    "align_runs",
    "steps_of",
    "tasks_of",
]
