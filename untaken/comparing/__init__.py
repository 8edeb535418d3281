"""Runs of one task side by side: where they part, and what goes with success (§4)."""

from untaken.comparing.align import MOST_SHOWN, TaskRuns, align_runs, tasks_of
from untaken.comparing.model import (
    Basis,
    Cell,
    CellStatus,
    ComparedRun,
    Level,
    OutcomeSplit,
    Parting,
    Row,
    SideBySide,
    Split,
)
from untaken.comparing.steps import Answer, Argument, Step, steps_of

__all__ = [
    "MOST_SHOWN",
    "Answer",
    "Argument",
    "Basis",
    "Cell",
    "CellStatus",
    "ComparedRun",
    "Level",
    "OutcomeSplit",
    "Parting",
    "Row",
    "SideBySide",
    "Split",
    "Step",
    "TaskRuns",
    "align_runs",
    "steps_of",
    "tasks_of",
]
