"""Asking a language model typed questions, within a budget and never twice."""

from untaken.asking.access import ModelAccess, Spent
from untaken.asking.question import ModelAnswer, Question, Template, Tool, read_template
from untaken.asking.replies import Reply, ReplyStore, ToolUse

__all__ = [
    "ModelAccess",
    "ModelAnswer",
    "Question",
    "Reply",
    "ReplyStore",
    "Spent",
    "Template",
    "Tool",
    "ToolUse",
    "read_template",
]
