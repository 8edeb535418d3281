"""One full record of each foreign format, written by hand: every field that its importer reads is in it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

from foreign_files import (
    ACTION,
    FILES,
    SHEETS,
    generated_record,
    maths_record,
    put,
    tau2_document,
    tau2_simulation,
    tau_record,
)
from plain_records import PLAIN_RECORDS
from trace_pieces import (
    CALL,
    DONE,
    GO,
    LOOK,
    SEEN,
    USE,
    USED,
    agents_span,
    at,
    claude_line,
    mlflow_span,
    node,
    observation,
    otel_span,
    row,
    weave_call,
)

RECORDS: Final[dict[str, dict[str, Any]]] = {
    "devai": SHEETS,
    "agentrx": FILES["agentrx"],
    "tau-bench": {"gpt-9-airline.json": [tau_record()]},
    "tau2-bench": {"r.json": tau2_document(simulations=[tau2_simulation(ACTION)])},
    "who-and-when": {"1.json": generated_record()},
    "agenteval": {"algebra/1.json": maths_record()},
    "harbor": {
        "t__1/result.json": {
            "task_name": "fix",
            "trial_name": "t__1",
            "source": "bench",
            "agent_info": {"name": "oracle", "version": "2", "model_info": {"name": "m"}},
            "config": {"agent": {"model_name": "m"}},
            "agent_result": {"n_input_tokens": 7, "n_output_tokens": 3, "cost_usd": 0.5},
            "verifier_result": {"rewards": {"reward": 1.0}},
            "exception_info": None,
            "started_at": at(0),
            "finished_at": at(9),
        },
        "t__1/verifier/ctrf.json": {"results": {"tests": [{"name": "builds", "status": "passed"}]}},
    },
    "atif": {
        "t.json": {
            "schema_version": "ATIF-v1.5",
            "session_id": "s1",
            "agent": {"name": "clerk", "version": "1", "model_name": "m"},
            "steps": [
                {"step_id": 1, "source": "user", "message": "Go.", "timestamp": at(1)},
                {
                    "step_id": 2,
                    "source": "agent",
                    "message": "I look.",
                    "timestamp": at(2),
                    "tool_calls": [{"tool_call_id": "c1", "function_name": "look", "arguments": {"day": 1}}],
                    "observation": {"results": [{"source_call_id": "c1", "content": "monday"}]},
                    "metrics": {"prompt_tokens": 5, "completion_tokens": 2, "cost_usd": 0.5},
                },
            ],
            "final_metrics": {
                "total_prompt_tokens": 5,
                "total_completion_tokens": 2,
                "total_cost_usd": 0.5,
                "total_steps": 2,
            },
        }
    },
    "claude-code": {
        "s.jsonl": [
            {"type": "summary", "summary": "A desk", "leafUuid": "u2"},
            claude_line(0, "user", "Go."),
            claude_line(1, "assistant", [USE], usage={"input_tokens": 5, "output_tokens": 2}),
            claude_line(2, "user", [USED]),
            {"type": "result", "subtype": "success", "total_cost_usd": 0.5, "num_turns": 1},
        ]
    },
    "inspect": {
        "log.json": {
            "eval": {"task": "desk", "model": "m", "solver": "clerk", "run_id": "R"},
            "status": "success",
            "results": {"scores": [{"name": "match"}]},
            "samples": [
                {
                    "id": 1,
                    "epoch": 1,
                    "input": "Go.",
                    "target": "monday",
                    "messages": [
                        GO,
                        {**LOOK, "tool_calls": [{"id": "c1", "function": "look", "arguments": {"day": 1}}]},
                        SEEN,
                    ],
                    "scores": {"match": {"value": "C"}},
                    "model_usage": {"m": {"input_tokens": 5, "output_tokens": 2}},
                    "role_usage": {"solver": {"input_tokens": 5, "output_tokens": 2}},
                    "events": [{"event": "tool", "id": "c1", "function": "look", "timestamp": at(1)}],
                    "error": None,
                    "limit": None,
                    "total_time": 2.5,
                }
            ],
        }
    },
    "otel": {
        "t.jsonl": [
            otel_span(1, "invoke_agent", gen_ai__agent__name="clerk", task__id="7"),
            otel_span(
                2,
                "chat",
                gen_ai__request__model="m",
                gen_ai__input__messages=json.dumps([GO]),
                gen_ai__output__messages=json.dumps([LOOK]),
                gen_ai__usage__input_tokens=5,
                gen_ai__usage__output_tokens=2,
                gen_ai__usage__cost=0.5,
            ),
            {
                **otel_span(3, "execute_tool", gen_ai__tool__name="look", gen_ai__tool__call__id="c1"),
                "events": [
                    {
                        "name": "gen_ai.evaluation.result",
                        "attributes": {
                            "gen_ai.evaluation.name": "success",
                            "gen_ai.evaluation.score.value": 1,
                        },
                    }
                ],
            },
        ]
    },
    "openhands": {
        "output.jsonl": [
            {
                "instance_id": "box",
                "history": [
                    {"id": 0, "timestamp": at(0), "source": "user", "action": "message",
                     "args": {"content": "Go."}},
                    {"id": 1, "timestamp": at(1), "source": "agent", "action": "run",
                     "args": {"command": "ls"}},
                    {"id": 2, "timestamp": at(2), "source": "agent", "observation": "run", "content": "a.py",
                     "cause": 1, "extras": {"metadata": {"exit_code": 0}}},
                ],
                "metadata": {"llm_config": {"model": "m"}},
                "metrics": {"accumulated_cost": 0.25},
                "report": {"resolved": False},
                "error": None,
            }
        ]
    },
    "swe-agent": {
        "m__x/1.traj": {
            "environment": "swe",
            "trajectory": [{"thought": "Look.", "action": "ls", "observation": "a.py", "execution_time": 1}],
            "history": [{"role": "system", "content": "Help."}],
            "info": {
                "exit_status": "submitted",
                "submission": "diff",
                "model_stats": {
                    "instance_cost": 0.5,
                    "tokens_sent": 5,
                    "tokens_received": 2,
                    "api_calls": 1,
                },
            },
        }
    },
    "mini-swe-agent": {
        "1.traj.json": {
            "info": {
                "mini_version": "2.0.0",
                "config": {"model": {"model_name": "m"}},
                "exit_status": "Submitted",
                "submission": "diff",
                "model_stats": {"instance_cost": 0.5, "api_calls": 1},
            },
            "instance_id": "box",
            "messages": [
                GO,
                {"role": "assistant", "content": "x\n```bash\nls\n```", "extra": {
                    "actions": [{"command": "ls"}], "timestamp": 1754000000.5,
                    "response": {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}}},
                {"role": "user", "content": "a.py", "extra": {"returncode": 0}},
            ],
            "trajectory_format": "mini-swe-agent-1.1",
        }
    },
    "codex": {
        "rollout-1.jsonl": [
            {"timestamp": at(0), "type": "session_meta",
             "payload": {"id": "s1", "timestamp": at(0), "cwd": "/r", "cli_version": "1", "source": "cli"}},
            {"timestamp": at(1), "type": "turn_context", "payload": {"model": "m", "cwd": "/r"}},
            {"timestamp": at(2), "type": "response_item", "payload": {
                "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}},
            {"timestamp": at(3), "type": "response_item", "payload": {
                "type": "function_call", "name": "look", "arguments": "{}", "call_id": "c1"}},
            {"timestamp": at(4), "type": "response_item", "payload": {
                "type": "function_call_output", "call_id": "c1", "output": "monday"}},
            {"timestamp": at(5), "type": "event_msg", "payload": {"type": "token_count", "info": {
                "total_token_usage": {"input_tokens": 5, "output_tokens": 2}}}},
        ]
    },
    "gemini-cli": {
        "session-1.json": {
            "sessionId": "s",
            "projectHash": "f0",
            "startTime": at(0),
            "messages": [
                {"id": "m1", "timestamp": at(1), "type": "user", "content": "Go."},
                {
                    "id": "m2",
                    "timestamp": at(2),
                    "type": "gemini",
                    "content": "I look.",
                    "model": "m",
                    "thoughts": [{"subject": "Plan", "description": "look"}],
                    "tokens": {"input": 5, "output": 2, "cached": 1, "thoughts": 1},
                    "toolCalls": [{"id": "c1", "name": "look", "args": {"day": 1}, "status": "success",
                                   "result": [{"functionResponse": {"response": {"output": "monday"}}}]}],
                },
            ],
        }
    },
    "copilot-cli": {
        "s/events.jsonl": [
            {"type": "session.start", "id": "e0", "timestamp": at(0),
             "data": {"sessionId": "s", "selectedModel": "m", "startTime": at(0)}},
            {"type": "user.message", "id": "e1", "timestamp": at(1), "data": {"content": "Go."}},
            {"type": "assistant.message", "id": "e2", "timestamp": at(2), "data": {
                "content": "I look.", "model": "m", "inputTokens": 5, "outputTokens": 2,
                "toolRequests": [{"toolCallId": "c1", "name": "look", "arguments": {"day": 1}}]}},
            {"type": "tool.execution_complete", "id": "e3", "timestamp": at(3), "data": {
                "toolCallId": "c1", "success": True, "result": {"content": "monday"}}},
            {"type": "session.shutdown", "id": "e4", "timestamp": at(4), "data": {
                "modelMetrics": {"m": {"usage": {"inputTokens": 5, "outputTokens": 2}}}}},
        ]
    },
    "goose": {
        "session.jsonl": [
            {
                "id": "1",
                "working_dir": "/x",
                "created_at": at(0),
                "message_count": 2,
                "conversation": [
                    {"id": "m1", "role": "user", "created": 1767225600,
                     "content": [{"type": "text", "text": "Go."}]},
                    {"id": "m2", "role": "assistant", "created": 1767225601, "content": [
                        {"type": "toolRequest", "id": "c1", "toolCall": {
                            "status": "success", "value": {"name": "look", "arguments": {"day": 1}}}}],
                     "metadata": {"inference": {"requestedModel": "m"},
                                  "usage": {"inputTokens": 5, "outputTokens": 2, "cost": 0.5}}},
                    {"id": "m3", "role": "user", "created": 1767225602, "content": [
                        {"type": "toolResponse", "id": "c1", "toolResult": {
                            "status": "success",
                            "value": {"content": [{"type": "text", "text": "monday"}], "isError": False}}}]},
                ],
            }
        ]
    },
    "opencode": {
        "export.json": {
            "info": {"id": "ses_1", "version": "1.0", "time": {"created": 1767225600000}},
            "messages": [
                {"info": {"id": "m1", "sessionID": "ses_1", "role": "user", "time": {"created": 1.7e12}},
                 "parts": [{"id": "p1", "type": "text", "text": "Go."}]},
                {"info": {"id": "m2", "sessionID": "ses_1", "role": "assistant", "modelID": "m", "cost": 0.5,
                          "tokens": {"input": 5, "output": 2, "reasoning": 0, "cache": {"read": 0}},
                          "time": {"created": 1767225600002}},
                 "parts": [{"id": "p2", "type": "tool", "callID": "c1", "tool": "look", "state": {
                     "status": "completed", "input": {"day": 1}, "output": "monday",
                     "time": {"start": 1767225600003, "end": 1767225600004}}},
                           {"id": "p3", "type": "step-finish", "cost": 0.5, "tokens": {
                               "input": 5, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}}]},
            ],
        }
    },
    "pi": {
        "s.jsonl": [
            {"type": "session", "id": "s", "timestamp": at(0), "cwd": "/x", "version": 3},
            {"type": "model_change", "id": "e0", "parentId": None, "timestamp": at(1), "modelId": "m"},
            {"type": "message", "id": "e1", "parentId": "e0", "timestamp": at(1), "message": GO},
            {"type": "message", "id": "e2", "parentId": "e1", "timestamp": at(2), "message": {
                "role": "assistant", "model": "m",
                "content": [{"type": "toolCall", "id": "c1", "name": "look", "arguments": {"day": 1}}],
                "usage": {"input": 5, "output": 2, "cost": {"total": 0.5}}, "stopReason": "toolUse"}},
            {"type": "message", "id": "e3", "parentId": "e2", "timestamp": at(3), "message": {
                "role": "toolResult", "toolCallId": "c1", "isError": False,
                "content": [{"type": "text", "text": "monday"}]}},
        ]
    },
    "pydantic-ai": {
        "h.json": {"messages": [
            {"kind": "request", "timestamp": at(0), "run_id": "r", "parts": [
                {"part_kind": "user-prompt", "content": "Go.", "timestamp": at(1)}]},
            {"kind": "response", "model_name": "m", "timestamp": at(2), "parts": [
                {"part_kind": "tool-call", "tool_name": "look", "args": '{"day": 1}', "tool_call_id": "c1"}],
             "usage": {"input_tokens": 5, "output_tokens": 2, "cost": 0.5}},
            {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "look",
                                           "content": "monday", "tool_call_id": "c1", "outcome": "success"}]},
        ]}
    },
    "smolagents": {
        "m.json": {
            "steps": [
                {"task": "Go."},
                {"step_number": 1, "timing": {"start_time": 1767225600.5, "end_time": 1767225601.5},
                 "model_output": "I look.", "observations": "monday", "action_output": None, "error": None,
                 "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": {"day": 1}}}],
                 "token_usage": {"input_tokens": 5, "output_tokens": 2}},
            ],
            "state": "success",
        }
    },
    "openai-agents": {
        "t.jsonl": [
            {"object": "trace", "id": "t", "workflow_name": "desk", "group_id": "g",
             "metadata": {"task_id": "7"}},
            agents_span(1, "agent", name="clerk", tools=["look"]),
            agents_span(2, "generation", input=[GO], output=[LOOK], model="m",
                        usage={"input_tokens": 5, "output_tokens": 2}),
            agents_span(3, "function", name="look", input='{"day": 1}', output="monday"),
        ]
    },
    "langsmith": {
        "t.jsonl": [
            node(1, "chain", inputs={"messages": [GO]}, outputs={"output": "Done."}, total_cost=0.5,
                 prompt_tokens=5, completion_tokens=2, feedback_stats={"success": {"avg": 1, "n": 1}},
                 extra={"metadata": {"task_id": "7", "thread_id": "s"}}),
            node(2, "llm", inputs={"messages": [GO]}, outputs={"choices": [{"message": LOOK}]},
                 extra={"metadata": {"ls_model_name": "m"}, "invocation_params": {"model": "m"}}),
            node(3, "tool", inputs={"day": 1}, outputs={"output": "monday"}),
        ]
    },
    "langfuse": {
        "t.json": {
            "id": "t",
            "name": "clerk",
            "sessionId": "s",
            "metadata": {"task_id": "7"},
            "input": "Go.",
            "output": "Done.",
            "totalCost": 0.5,
            "scores": [{"name": "success", "value": 1, "dataType": "NUMERIC"}],
            "observations": [
                observation(1, "AGENT"),
                observation(2, "GENERATION", model="m", input=[GO], output=LOOK,
                            usageDetails={"input": 5, "output": 2}, costDetails={"total": 0.5}),
                observation(3, "TOOL", input={"day": 1}, output="monday"),
            ],
        }
    },
    "braintrust": {
        "t.jsonl": [
            row(1, "task", input="Go.", output="Done.", scores={"success": 1}, metadata={"task_id": "7"}),
            row(2, "llm", input=[GO], output=[{"index": 0, "message": LOOK}], metadata={"model": "m"},
                metrics={"start": 1767225600, "end": 1767225601, "prompt_tokens": 5, "completion_tokens": 2,
                         "estimated_cost": 0.5}),
            row(3, "tool", input={"day": 1}, output="monday", error=None),
        ]
    },
    "weave": {
        "t.jsonl": [
            weave_call(1, "desk", inputs={"q": "Go."}, output="Done.", attributes={"task_id": "7"}),
            weave_call(2, "chat", inputs={"messages": [GO], "model": "m"},
                       output={"choices": [{"message": LOOK}], "model": "m"},
                       summary={"usage": {"m": {"prompt_tokens": 5, "completion_tokens": 2}}, "weave": {
                           "status": "success", "costs": {"m": {
                               "prompt_tokens_total_cost": 0.25, "completion_tokens_total_cost": 0.25}}}}),
            weave_call(3, "look", inputs={"day": 1}, output="monday", attributes={"weave": {"kind": "tool"}}),
        ]
    },
    "mlflow": {
        "t.json": {
            "info": {
                "trace_id": "tr",
                "trace_metadata": {"mlflow.trace.session": "s", "task_id": "7",
                                   "mlflow.trace.tokenUsage": '{"input_tokens": 5, "output_tokens": 2}',
                                   "mlflow.trace.cost": '{"total_cost": 0.5}'},
                "tags": {},
                "assessments": [
                    {"assessment_name": "success", "feedback": {"value": True}},
                    {"assessment_name": "expected_response", "expectation": {"value": "monday"}},
                ],
            },
            "data": {
                "spans": [
                    mlflow_span(1, "AGENT", {"question": "Go."}, "Done."),
                    mlflow_span(2, "CHAT_MODEL", {"messages": [GO], "model": "m"},
                                {"choices": [{"message": LOOK}]},
                                **{"mlflow.chat.tokenUsage": {"input_tokens": 5, "output_tokens": 2}}),
                    mlflow_span(3, "TOOL", {"day": 1}, "monday"),
                ]
            },
        }
    },
    "promptfoo": {
        "results.json": {
            "evalId": "e",
            "results": {"version": 3, "timestamp": at(0), "results": [{
                "id": "r1", "promptIdx": 0, "testIdx": 0, "provider": {"id": "openai:m", "label": "clerk"},
                "prompt": {"raw": "Go.", "label": "p"}, "vars": {"expected": "monday"}, "success": True,
                "response": {"output": [CALL], "tokenUsage": {"prompt": 5, "completion": 2}, "cost": 0.5},
                "score": 1, "namedScores": {"polite": 0.5}, "latencyMs": 800, "cost": 0.5,
                "gradingResult": {"pass": True, "score": 1}, "testCase": {"vars": {}, "assert": []}}]},
        }
    },
    "openai-messages": {
        "chat.json": {"id": "s", "model": "m", "success": True, "cost": 0.5, "created_at": at(1),
                      "metadata": {"agent": "clerk", "task_id": "7"}, "messages": [GO, LOOK, SEEN, DONE],
                      "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    },
    **PLAIN_RECORDS,
}  # fmt: skip
"""By format, files by their names; a list in a ``.jsonl`` or ``.csv`` file is its lines."""


def written(name: str, content: Any) -> bytes:
    """The bytes of a file of a record."""
    if name.endswith(".md"):
        return str(content).encode(errors="replace")
    if name.endswith(".csv") and isinstance(content, list) and all(isinstance(row, dict) for row in content):
        table = io.StringIO()
        rows = csv.DictWriter(table, list(dict.fromkeys(key for row in content for key in row)))
        rows.writeheader()
        rows.writerows(content)
        return table.getvalue().encode(errors="replace")
    if name.endswith(".jsonl") and isinstance(content, list):
        return "".join(json.dumps(each) + "\n" for each in content).encode()
    return json.dumps(content).encode()


def put_record(folder: Path, files: dict[str, Any]) -> Path:
    """Writes the files of a record into a folder."""
    for name, content in files.items():
        put(folder / name, written(name, content))
    return folder
