"""Full records of formats without spans: chats, benchmarks' results and tables (see `trace_records`)."""

from __future__ import annotations

import json
from typing import Any, Final

from trace_pieces import CALL, DONE, GO, LOOK, SEEN, at

PLAIN_RECORDS: Final[dict[str, dict[str, Any]]] = {
    "chatgpt": {
        "conversations.json": [{
            "conversation_id": "c", "id": "c", "title": "A task", "create_time": 1.7e9, "current_node": "4",
            "default_model_slug": "m",
            "mapping": {
                "0": {"id": "0", "message": None, "parent": None, "children": ["1"]},
                "1": {"id": "1", "parent": "0", "children": ["2", "9"], "message": {
                    "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Go."]},
                    "create_time": 1.7e9, "recipient": "all"}},
                "2": {"id": "2", "parent": "1", "children": ["3"], "message": {
                    "author": {"role": "assistant"}, "content": {"content_type": "code", "text": "look(1)"},
                    "create_time": 1.7e9, "recipient": "python", "metadata": {"model_slug": "m"}}},
                "3": {"id": "3", "parent": "2", "children": ["4"], "message": {
                    "author": {"role": "tool", "name": "python"}, "recipient": "all",
                    "content": {"content_type": "execution_output", "text": "Seen."}}},
                "4": {"id": "4", "parent": "3", "children": [], "message": {
                    "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Done."]},
                    "recipient": "all", "metadata": {"model_slug": "m"}}},
                "9": {"id": "9", "parent": "1", "children": [], "message": {
                    "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["No."]},
                    "recipient": "all"}}}}]
    },
    "aider": {
        ".aider.chat.history.md": (
            "# aider chat started at 2026-01-01 10:00:00\n\n> Aider v0.40.0\n"
            "> Models: m with diff edit format\n\n"
            "#### Go.\n\nDone.\n\n> Tokens: 2.3k sent, 250 received. Cost: $0.02 message, $0.05 session.\n"
            "> Applied edit to foo.py\n"
        )
    },
    "agentdojo": {
        "injection_task_0.json": {
            "suite_name": "workspace", "pipeline_name": "clerk", "model_name": "m",
            "user_task_id": "user_task_0",
            "domain": "workspace", "task_id": "t0", "run_id": "r0", "agentdojo_package_version": "0.1",
            "attack_type": "direct", "injection_task_id": "injection_task_0", "injections": {"mail": "Pay!"},
            "messages": [
                {"role": "user", "content": [{"type": "text", "content": "Go."}]},
                {"role": "assistant", "content": None,
                 "tool_calls": [{"function": "look", "args": {"at": 1}, "id": "c1"}]},
                {"role": "tool", "content": "Seen.", "tool_call_id": "c1", "error": None},
                {"role": "assistant", "content": "Done.", "tool_calls": []}],
            "error": None, "utility": True, "security": False, "duration": 1.5,
            "evaluation": {"utility": True},
        }
    },
    "toolbench": {
        "7_ChatGPT_DFS.json": {
            "win": True, "try_count": 1, "tree": {"size": 2}, "forward_args": {"answer": 1},
            "answer_generation": {
                "query": "Go.", "query_count": 2, "total_tokens": 9, "final_answer": "Done.", "function": [],
                "train_messages": [[GO], [GO, LOOK, SEEN, DONE]]},
        }
    },
    "terminal-bench": {
        "results.json": {
            "id": "x", "n_resolved": 1, "n_unresolved": 0, "accuracy": 1.0, "pass_at_k": {"1": 1.0},
            "results": [{
                "id": "t1", "trial_name": "fix.1-of-1", "task_id": "fix", "instruction": "Go.",
                "is_resolved": True, "failure_mode": "unset", "parser_results": {"test_a": "passed"},
                "agent_name": "clerk", "total_input_tokens": 5, "total_output_tokens": 2,
                "trial_started_at": at(0), "trial_ended_at": at(3)}]},
    },
    "message-table": {
        "chat.csv": [
            {"conversation_id": "c", "role": "user", "content": "Go.", "agent": "clerk",
             "agent_name": "clerk",
             "model": "m", "task_id": "7", "task": "7", "expected": "monday", "timestamp": at(0)},
            {"conversation_id": "c", "role": "assistant", "content": "", "timestamp": at(1),
             "tool_calls": json.dumps([CALL]), "input_tokens": 5, "output_tokens": 2, "cost": 0.5},
            {"conversation_id": "c", "role": "tool", "content": "Seen.", "tool_call_id": "c1",
             "timestamp": at(2), "success": "true", "passed": "true", "resolved": "true"}]},
}  # fmt: skip
