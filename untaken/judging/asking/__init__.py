"""Asking a language model typed questions, within a budget and never twice."""

# fmt: off
from untaken.judging.asking.access import ModelAccess as ModelAccess
from untaken.judging.asking.question import (
    ModelAnswer as ModelAnswer, Question as Question, Template as Template, Tool as Tool,
    read_template as read_template,
)
from untaken.judging.asking.replies import Reply as Reply, ReplyStore as ReplyStore
# fmt: on
