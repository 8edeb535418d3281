"""Names by which a drafted mapping knows what a member of a foreign record is, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from untaken.formats.outcome_fields import GOOD
from untaken.formats.spending import USAGE
from untaken.formats.task_texts import ANSWERS, QUESTIONS

KINDS: Final = (
    "type",
    "kind",
    "event",
    "event_type",
    "role",
    "who",
    "speaker",
    "source",
    "action_type",
    "name",
)
"""Members that say what an element is."""
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": (
        *(
            "run_id",
            "trace_id",
            "session_id",
            "session",
            "conversation_id",
            "thread_id",
            "chat_id",
            "episode_id",
        ),
        *("request_id", "uuid", "id"),
    ),
    "agent": ("agent", "agent_name", "agent_id", "assistant", "bot", "pipeline_name", "app_name", "policy"),
    "model": ("model", "model_name", "model_id", "llm", "engine"),
    "version": ("agent_version", "version", "build", "commit"),
    "task": (
        "task_id",
        "task",
        "problem_id",
        "instance_id",
        "question_id",
        "scenario_id",
        "case_id",
        "scenario",
    ),
    "task_text": ("instruction", "question", "query", "prompt", "goal", *QUESTIONS),
    "target": ANSWERS,
    "success": GOOD,
    "cost": ("cost", "total_cost", "cost_usd", "usd", "total_cost_usd", "price"),
    "usage": ("usage", "token_usage", "tokens"),
    "started": ("started_at", "start_time", "started", "created_at", "begin", "timestamp", "time", "date"),
    "finished": ("ended_at", "finished_at", "end_time", "finished", "completed_at"),
    "error": ("error", "exception", "failure_reason"),
}
"""Names that feed a run, the likeliest first."""
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "tool": (
        *("tool", "tool_name", "invoked_tool", "function", "function_name", "func_name", "func", "action"),
        *("command", "cmd", "name"),
    ),
    "arguments": (
        "arguments",
        "args",
        "parameters",
        "params",
        "tool_input",
        "input",
        "action_input",
        "kwargs",
    ),
    "content": (
        *("observation", "tool_result", "result", "output", "response", "tool_output", "return_value"),
        *("tool_response", "stdout", "out"),
    ),
    "say": (
        *("content", "text", "message", "msg", "thought", "utterance", "words", "response", "answer"),
        *("reply", "statement", "body"),
    ),
    "thought": ("thought", "thoughts", "thinking", "reasoning", "rationale", "reason"),
    "asked": ("user", "human", "question", "query", "user_input", "user_message", "input", "prompt"),
    "replied": (
        *("assistant", "bot", "ai", "assistant_response", "bot_response", "agent_response", "response"),
        *("model_response", "answer", "final_answer", "reply", "output", "completion", "prediction"),
        *("solution", "article", "report", "result"),
    ),
    "id": ("tool_call_id", "call_id", "tool_use_id", "id"),
    "time": ("timestamp", "time", "at", "ts", "created_at", "started_at", "start_time", "datetime", "date"),
}
"""Names of the parts of an element."""
SPEAKERS: Final = (
    *(
        "role",
        "who",
        "speaker",
        "source",
        "from",
        "sender",
        "author",
        "role_name",
        "agent",
        "agent_name",
        "name",
    ),
)
"""Members that say who speaks."""
ENDS: Final = ("status", "outcome", "verdict", "final_status", "result")
"""Members that may say how a run ended, where all that is in them does."""
WHOLE: Final = ("metadata", "config", "settings", "environment", "usage")
"""Members that no part of an element is looked for in."""
TITLES: Final = ("name", "title")
"""Members that name a task where no other does."""
RIGHT: Final = frozenset(("pass", "passed", "success", "successful", "correct", "solved", "resolved"))
"""Words in the name of a member that is true or false, by which it is an outcome."""
AROUND: Final = ("agent", "model", "version", "started")
"""Parts of a run that may be said once for all runs of a file."""
EXPECTED: Final = ("expected", "gold", "reference", "ground_truth")
"""How names of lists begin that say what should have been done."""
DEFINED: Final = (
    *("tools", "tool_definitions", "functions", "available_tools", "tool_schemas", "tests", "test_results"),
    "checks",
)
"""Lists of what an agent could call, and of what was tested afterwards, not of what it did."""
WRAPPED: Final = ("message", "msg", "data", "payload", "item")
"""Members in which an element has a chat message."""
TOKENS: Final = frozenset(name for names in USAGE.values() for name in names)
"""Names of tokens, by which an object is known to hold them."""
ACTING: Final = (
    "tool",
    "tool_name",
    "function",
    "action",
    "tool_calls",
    "actions",
    "observation",
    "tool_input",
)
CALLS: Final = ("tool_calls", "actions", "calls", "function_calls")


def like(name: str, names: Iterable[str]) -> bool:
    """Whether a name is one of these, however it is written: ``taskId``, ``task_id``, ``Task-ID``."""
    return _bare(name) in {_bare(each) for each in names}


def _bare(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
