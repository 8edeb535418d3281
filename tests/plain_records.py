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
    "vscode-chat": {
        "chat.json": {
            "responderUsername": "GitHub Copilot", "initialLocation": "panel", "sessionId": "s",
            "creationDate": 1767225600000, "lastMessageDate": 1767225609000, "customTitle": "A task",
            "requests": [
                {"requestId": "r1", "message": {"text": "Go.", "parts": []}, "timestamp": 1767225600000,
                 "modelId": "copilot/m", "agent": {"id": "a", "extensionVersion": "0.31"},
                 "response": [{"value": "Done."}],
                 "result": {"timings": {"totalElapsed": 1}, "errorDetails": {"message": "Stopped."},
                            "metadata": {
                     "sessionId": "s", "resolvedModel": "m", "promptTokens": 5, "outputTokens": 2,
                     "toolCallRounds": [
                         {"response": "I look.", "thinking": {"text": "Look."}, "toolCalls": [
                             {"id": "c1", "name": "look", "arguments": "{\"day\": 1}"}]},
                         {"response": "Done.", "toolCalls": []}],
                     "toolCallResults": {"c1": {"content": [{"value": "monday"}]}}}}},
                {"requestId": "r2", "message": {"text": "More."}, "timestamp": 1767225605000, "response": [
                    {"kind": "thinking", "value": "Hm."}, {"value": "I write."},
                    {"kind": "toolInvocationSerialized", "toolId": "edit", "toolCallId": "c2",
                     "invocationMessage": {"value": "Editing"}, "pastTenseMessage": {"value": "Edited"}},
                    {"kind": "markdownContent", "content": {"value": "Written."}}]}]}
    },
    "cline": {
        "1769/api_conversation_history.json": [
            {"role": "user", "ts": 1767225600000, "content": [
                {"type": "text", "text": "<task>\nGo.\n</task>"},
                {"type": "text", "text": "<environment_details>\nx\n</environment_details>"}]},
            {"role": "assistant", "ts": 1767225601000, "modelInfo": {"modelId": "m"}, "content": [
                {"type": "text", "text": "I look.\n<look>\n<day>1</day>\n</look>"}]},
            {"role": "user", "ts": 1767225602000, "content": [
                {"type": "text", "text": "[look for '1'] Result:"}, {"type": "text", "text": "monday"}]},
            {"role": "assistant", "ts": 1767225603000, "content": [
                {"type": "tool_use", "id": "t1", "name": "attempt_completion",
                 "input": {"result": "Done."}}]}],
        "1769/ui_messages.json": [
            {"ts": 1767225600000, "type": "say", "say": "text", "text": "Go."},
            {"ts": 1767225600500, "type": "say", "say": "api_req_started", "text": json.dumps(
                {"request": "Go.", "tokensIn": 5, "tokensOut": 2, "cacheReads": 3, "cost": 0.5})},
            {"ts": 1767225601000, "type": "ask", "ask": "tool", "partial": False,
             "text": json.dumps({"tool": "look", "day": 1})},
            {"ts": 1767225602000, "type": "say", "say": "condense_context",
             "contextCondense": {"cost": 0.1}}],
        "1769/task_metadata.json": {
            "files_in_context": [], "model_usage": [{"model_id": "m"}],
            "environment_history": [{"cline_version": "3.51"}]},
    },
    "cursor": {
        "chat.md": (
            "# A task\n_Exported on 5/15/2025 at 17:47:04 PDT from Cursor (0.50.4)_\n\n---\n\n"
            "**User**\n\nGo.\n\n---\n\n**Cursor**\n\nDone.\n"
        )
    },
    "langchain-events": {
        "events.jsonl": [
            {"event": "on_chain_start", "run_id": "r", "name": "LangGraph", "tags": ["a"], "parent_ids": [],
             "metadata": {"thread_id": "s", "task_id": "7", "graph_id": "clerk", "assistant_id": "clerk",
                          "lc_agent_name": "clerk"},
             "data": {"input": {"messages": [GO]}}},
            {"event": "on_chat_model_start", "run_id": "m1", "name": "m", "parent_ids": ["r"],
             "metadata": {"ls_model_name": "m"}, "data": {"input": {"messages": [[GO]]}}},
            {"event": "on_chat_model_end", "run_id": "m1", "name": "m", "parent_ids": ["r"],
             "metadata": {"ls_model_name": "m"}, "data": {"output": {
                 "type": "ai", "content": "I look.", "tool_calls": [
                     {"id": "c1", "name": "look", "args": {"day": 1}}],
                 "usage_metadata": {"input_tokens": 5, "output_tokens": 2},
                 "response_metadata": {"model_name": "m"}}}},
            {"event": "on_tool_start", "run_id": "t1", "name": "look", "parent_ids": ["r"],
             "metadata": {}, "data": {"input": {"day": 1}}},
            {"event": "on_tool_end", "run_id": "t1", "name": "look", "parent_ids": ["r"], "metadata": {},
             "data": {"output": {"type": "tool", "content": "monday", "tool_call_id": "c1",
                                 "status": "success"}}},
            {"event": "on_chat_model_stream", "run_id": "m2", "name": "m", "parent_ids": ["r"],
             "metadata": {}, "data": {"chunk": {"type": "AIMessageChunk", "content": "Done."}}}]
    },
    "adk-eval": {
        "desk.evalset_result.json": {
            "eval_set_result_id": "e", "eval_set_id": "desk", "creation_timestamp": 1767225700.0,
            "eval_case_results": [
                {"eval_set_id": "desk", "eval_id": "a", "final_eval_status": 1, "session_id": "s1",
                 "overall_eval_metric_results": [{"metric_name": "response_match_score", "score": 0.9}],
                 "eval_metric_result_per_invocation": [],
                 "session_details": {"id": "s1", "app_name": "clerk", "last_update_time": 1767225609.0,
                                     "events": [
                     {"author": "user", "timestamp": 1767225600.0,
                      "content": {"role": "user", "parts": [{"text": "Go."}]}},
                     {"author": "clerk", "timestamp": 1767225601.0, "model_version": "m",
                      "content": {"role": "model", "parts": [
                          {"function_call": {"id": "c1", "name": "look", "args": {"day": 1}}}]},
                      "usage_metadata": {"prompt_token_count": 5, "candidates_token_count": 2}},
                     {"author": "clerk", "timestamp": 1767225602.0, "content": {"role": "user", "parts": [
                         {"function_response": {"id": "c1", "name": "look",
                                                "response": {"result": "monday"}}}]}},
                     {"author": "clerk", "timestamp": 1767225603.0,
                      "content": {"role": "model", "parts": [{"text": "Done."}]}}]}},
                {"eval_set_id": "desk", "eval_id": "b", "final_eval_status": 2, "session_id": "s2",
                 "session_details": None, "eval_metric_result_per_invocation": [{"actual_invocation": {
                     "user_content": {"role": "user", "parts": [{"text": "Go."}]},
                     "final_response": {"role": "model", "parts": [{"text": "Done."}]},
                     "creation_timestamp": 1767225600.0, "intermediate_data": {
                         "tool_uses": [{"id": "c1", "name": "look", "args": {"day": 1}}],
                         "tool_responses": [{"id": "c1", "name": "look", "response": {"r": 1}}],
                         "invocation_events": [{"author": "clerk", "content": {
                             "parts": [{"text": "I look."}]}}]}}}]}]}
    },
    "adk-evalset": {
        "desk.evalset.json": {
            "eval_set_id": "desk", "creation_timestamp": 1767225700.0, "eval_cases": [
                {"eval_id": "a", "session_input": {"app_name": "clerk", "user_id": "u", "state": {}},
                 "creation_timestamp": 1767225690.0, "conversation": [{
                     "user_content": {"role": "user", "parts": [{"text": "Go."}]},
                     "final_response": {"role": "model", "parts": [{"text": "Done."}]},
                     "creation_timestamp": 1767225600.0, "intermediate_data": {
                         "tool_uses": [{"id": "c1", "name": "look", "args": {"day": 1}}]}}]}]}
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
                "total_input_tokens": 5, "total_output_tokens": 2,
                "trial_started_at": at(0), "trial_ended_at": at(3)}]},
        "run_metadata.json": {"run_id": "r", "agent_name": "clerk", "model_name": "m"},
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
