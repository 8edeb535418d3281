"""What a run was asked, and the answer that is recorded as right, as a trace has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from untaken.ledger import cut
from untaken.traces.messages import asked, message_items
from untaken.traces.readings import first_text, mapping, parsed, text
from untaken.traces.trace_run import Utterance

QUESTIONS: Final = (
    *("question", "query", "input", "prompt", "task", "instruction", "instructions", "problem", "message"),
    *("text", "content", "topic", "user_input", "problem_statement"),
)
"""Names that inputs have which are the task."""
ANSWERS: Final = (
    *("expected", "expected_output", "expected_response", "target", "answer", "ground_truth", "reference"),
    "expectedOutput",
)
"""Names of the answer that is recorded as right."""
CHARS: Final = 10_000
"""Longer ones are cut."""


def task_text(value: Any) -> str | None:
    """The text of a task: a text, what the user said first, or a member that is the question."""
    given = parsed(value)
    if isinstance(given, str | int | float):
        return _cut(text(given))
    for message in asked(given):
        for item in message_items(message):
            if isinstance(item, Utterance) and item.role == "user" and isinstance(item.content, str):
                return _cut(item.content)
    fields = mapping(given)
    only = next(iter(fields.values())) if len(fields) == 1 else None  # whatever its name
    return _cut(first_text([fields], QUESTIONS) or text(only))


def target_text(value: Any) -> str | None:
    """The text of an answer: a text, or a member that is the answer."""
    given = parsed(value)
    if isinstance(given, Mapping):
        only = next(iter(given.values())) if len(given) == 1 else None
        return _cut(first_text([given], ANSWERS) or text(only))
    if isinstance(given, list):
        each = [found for part in given if (found := text(part))]
        return _cut("\n".join(each)) if each else None
    return _cut(text(given))


def described(question: Any, answer: Any = None) -> dict[str, str]:
    """The members of RUN_STARTED.metadata about a task: `input` and `target`, where they are recorded."""
    found = {"input": task_text(question), "target": target_text(answer)}
    return {name: value for name, value in found.items() if value}


def _cut(value: str | None) -> str | None:
    return value and cut(value, CHARS)
