"""Names by which a drafted mapping knows what a member of a foreign record is, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from untaken.traces.outcome_fields import GOOD
from untaken.traces.spending import USAGE
from untaken.traces.task_texts import ANSWERS, QUESTIONS


def named(written: str) -> tuple[str, ...]:
    """Names that are written with blanks between them."""
    return tuple(written.split())


KINDS: Final = named("type kind event event_type role who speaker source action_type name")
"""Members that say what an element is."""
KIND_WORDS: Final = frozenset(("type", "kind"))
OTHER_KINDS: Final = frozenset(("content", "mime", "media", "data", "file", "input", "output", "task"))
"""Words of names that say what an element is, and of those that say it of something else."""
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": named(
        "run_id trace_id session_id session conversation_id thread_id chat_id episode_id request_id uuid id"
    ),
    "agent": named(
        "agent agent_name agent_id assistant bot pipeline_name app_name app policy crew crew_name workflow "
        "workflow_name flow flow_id"
    ),
    "model": ("model", "model_name", "model_id", "llm", "engine", "model_name_or_path"),
    "version": ("agent_version", "version", "release", "revision", "build", "commit"),
    "task": named(
        "task_id task problem_id instance_id question_id scenario_id case_id task_name scenario qid "
        "prompt_id query_id puzzle_id ticket_id ticket example_id sample_id example sample env_id env_name "
        "env"
    ),
    "task_text": ("instruction", "question", "query", "prompt", "goal", "intent", *QUESTIONS),
    "target": (*ANSWERS, "gold", "gold_answer"),
    "success": (*GOOD, "rew", "em", "exact_match"),
    "cost": ("cost", "total_cost", "cost_usd", "usd", "total_cost_usd", "price"),
    "usage": ("usage", "token_usage", "tokens"),
    "started": named("started_at start_time started created_at begin start timestamp time created date"),
    "finished": ("ended_at", "finished_at", "end_time", "finished", "completed_at"),
    "error": ("error", "exception", "failure_reason"),
}
"""Names that feed a run, the likeliest first."""
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "tool": named(
        "tool tool_name invoked_tool function function_name func_name func action fn operation api move "
        "command cmd name"
    ),
    "arguments": named(
        "arguments args parameters params tool_input input action_input tool_args tool_arguments "
        "function_arguments tool_params action_params action_args input_json args_json arguments_json kw "
        "kwargs"
    ),
    "content": named(
        "observation tool_result result output response tool_output return_value tool_response tool_return "
        "returned returns return ret stdout obs out extracted_content outputs"
    ),
    "say": named("content text message msg thought utterance words response answer reply statement body raw"),
    "thought": named(
        "thought thoughts thinking reasoning rationale reason next_goal plan raw_prediction raw_response "
        "raw_output llm_response llm_output model_output model_response completion"
    ),
    "asked": ("user", "human", "question", "query", "user_input", "user_message", "input", "prompt", "q"),
    "replied": named(
        "assistant bot ai assistant_response bot_response agent_response response model_response answer "
        "final_answer reply output completion prediction solution article report result a"
    ),
    "id": ("tool_call_id", "call_id", "tool_use_id", "id"),
    "time": named("timestamp time at ts created_at started_at start_time start created datetime date"),
}
"""Names of the parts of an element."""
PART_WORDS: Final[Mapping[str, tuple[frozenset[str], frozenset[str]]]] = {
    "tool": (
        frozenset(("tool", "function", "func", "fn", "api", "action", "command", "operation", "skill")),
        frozenset(("name", "called", "invoked")),
    ),
    "arguments": (
        frozenset(("argument", "arguments", "args", "parameter", "parameters", "param", "params", "kwargs"))
        | {"inputs"},
        frozenset(
            ("tool", "function", "action", "api", "as", "json", "dict", "value", "values", "raw", "text")
        ),
    ),
    "content": (
        frozenset(("result", "results", "output", "outputs", "observation", "return", "returned"))
        | {"response"},
        frozenset(("tool", "function", "action", "api", "call", "json", "value", "values", "raw", "text")),
    ),
}
"""Words of which one is in the name of a part, and those that may be beside it: ``params_as_json``."""
SPEAKERS: Final = named("role who speaker source from sender author role_name agent agent_name name")
"""Members that say who speaks."""
ENDS: Final = ("status", "outcome", "verdict", "final_status", "disposition", "result")
"""Members that may say how a run ended, where all that is in them does."""
WHOLE: Final = ("metadata", "config", "settings", "environment", "usage")
"""Members that no part of an element is looked for in."""
TITLES: Final = ("name", "title")
"""Members that name a task where no other does."""
RUN_LISTS: Final = named(
    "runs sessions episodes conversations traces trajectories rollouts trials games threads chats dialogues"
)
"""Lists of runs by their names."""
FINAL: Final = frozenset(("final", "total", "episode", "task", "score", "reward", "outcome"))
"""Words of names that are an outcome where they have no other words, and one of the last three."""
RIGHT: Final = frozenset(("pass", "passed", "success", "successful", "correct", "solved", "resolved", "em"))
"""Words in the name of a member that is true or false, by which it is an outcome."""
AROUND: Final = ("agent", "model", "version", "started")
"""Parts of a run that may be said once for all runs of a file."""
EXPECTED: Final = ("expected", "gold", "reference", "ground_truth")
"""How names of lists begin that say what should have been done."""
DEFINED: Final = named(
    "tools tool_definitions functions available_tools tool_schemas tests test_results checks"
)
"""Lists of what an agent could call, and of what was tested afterwards, not of what it did."""
WRAPPED: Final = ("message", "msg", "data", "payload", "item")
"""Members in which an element has a chat message."""
TOKENS: Final = frozenset(name for names in USAGE.values() for name in names)
"""Names of tokens, by which an object is known to hold them."""
ACTING: Final = named(
    "tool tool_name function action tool_calls actions observation tool_input tool_invocations act obs"
)
CALLS: Final = named(
    "tool_calls actions calls function_calls tool_invocations tool_uses invocations tools functions"
)
"""Lists of calls in an element."""
LISTED: Final = ("action", "tool_call", "function_call")
"""Names of one call that some give to a list of calls in an element."""
SEEN: Final = ("observation", "obs", "state", "screen", "page")
"""What an agent sees of where it is: before it acts, or afterwards."""
RESULTS: Final = named(
    "tool_results tool_outputs tool_responses function_results results result observations responses outputs"
)
"""Lists of what calls gave, beside the list of calls in an element."""
STEPS: Final = named(
    "steps stages phases turns rounds iterations nodes spans events exchanges interactions messages history "
    "transcript conversation dialogue log logs"
)
"""Lists whose elements are parts of one run, whatever lists they have."""
STEP_COUNTERS: Final = named(
    "step step_id step_number step_num step_idx step_index turn turn_id seq sequence round iteration"
)
COUNTERS: Final = (*STEP_COUNTERS, "index", "idx", "t", "i", "n", "order", "position", "pos")
"""Members that count the events of a run: the first where nothing names the run, too."""
_SESSIONS: Final = named(
    "run session sess conversation convo conv dialogue dialog thread episode trajectory traj rollout chat "
    "trace"
)
SHARED: Final = (
    *(name + end for end in ("_id", "_uuid", "_key", "") for name in _SESSIONS),
    *("sid", "job_id", "correlation_id", "key"),
)
"""Names of what events of one run share, where they have no id of a run."""
INPUT: Final = (*USAGE["input_tokens"], "tokens_in", "total_input_tokens", "total_prompt_tokens")
OUTPUT: Final = (*USAGE["output_tokens"], "tokens_out", "total_output_tokens", "total_completion_tokens")
"""Names of what was read and written, where they are members of their own."""
OK: Final = ("ok", "success", "succeeded", "is_success")
"""Members of a call or its answer that are true where it worked."""
NODES: Final = ("node", "node_name", "component", "block", "activity", "span_name", "step_name", "step")
"""Names of what ran, where it has what it was given and what it gave."""
FAILED: Final = ("is_error", "failed", "has_error", "errored")
"""Members of an answer that are true where the call did not work."""
DEEDS: Final = ("action_type", "action_name")
"""Kinds of elements that are the name of what was called."""
SPOKEN_WORDS: Final = frozenset(("text", "message", "msg", "said", "reply", "response", "utterance", "input"))
"""Words that are in the name of what somebody said, beside who: ``user_text``, ``bot_reply``."""
SYSTEM: Final = frozenset(("system", "developer", "environment"))
ASSISTANTS: Final = frozenset(("assistant", "agent", "bot", "ai", "reply"))
USERS: Final = frozenset(("user", "human", "question", "input", "prompt", "customer"))
TOOLS: Final = frozenset(("tool", "tools", "function", "action", "command", "api"))
CALLING: Final = frozenset(("call", "calls", "invoke", "invoked", "invocation"))
GIVEN: Final = frozenset(("return", "returned", "result", "results"))
"""Words that by themselves are the kind of a call, and of what it gave."""
THOUGHTS: Final = frozenset(("thought", "thoughts", "thinking", "reasoning"))
BEGINS: Final = frozenset(("start", "started", "begin", "began", "begun", "open", "opened"))
MODELS: Final = frozenset(("llm", "model", "chat", "completion", "generation"))
RUNS: Final = frozenset(("agent", "session", "run", "episode", "task", "trace", "conversation", "workflow"))
_ENDED: Final = ("end", "ended", "finish", "finished", "complete", "completed", "done")
ANSWERED: Final = frozenset(
    (
        *_ENDED,
        "result",
        "output",
        "response",
        "return",
        "returned",
        "post",
        "after",
        "observation",
        "error",
        "failure",
    )
)
BOUNDS: Final = frozenset(
    (*_ENDED, "start", "started", "begin", "stop", "stopped", "exit", "close", "closed", "session", "run")
)
"""Words of the kind of an element: who speaks, what it is of, whether it begins or ends it."""
# ``HTTPCall`` is `HTTP` and `Call`.
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def like(name: str, names: Iterable[str]) -> bool:
    """Whether a name is one of these, however it is written: ``taskId``, ``task_id``, ``Task-ID``."""
    return _bare(name) in {_bare(each) for each in names}


def words(name: str) -> frozenset[str]:
    """The words of a name, however it is written: ``toolCall``, ``tool.call``, ``TOOL_CALL``."""
    return frozenset(word.lower() for word in _WORD.findall(name))


def _bare(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
