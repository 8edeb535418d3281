"""Runs say which version of the agent, and of its prompt, they were made with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_files import FILES, converted, put

META = {"type": "session_meta", "payload": {"id": "s", "cli_version": "0.60.0"}}
CODEX_META = {"timestamp": "2026-01-01T00:00:00Z", **META}
HANDBOOK = {"kind": "handbook", "version": 3}
"""What a person writes into the metadata of a trace."""

PINNED = {"task": "t", "model": "m", "task_version": 4, "packages": {"inspect_ai": "0.3.9"}}
LINKED = {"mlflow.linkedPrompts": '[{"name": "desk", "version": "4"}]'}
COMMITTED = {"trace_id": "tr-1", "tags": LINKED, "trace_metadata": {"mlflow.source.git.commit": "fe0"}}


def evaluated(**revision: Any) -> dict[str, Any]:
    return {"eval": {"task": "t", "model": "m", "revision": revision}}


def noted(**metadata: Any) -> dict[str, Any]:
    return {"extra": {"metadata": metadata}}


RECORDED: list[tuple[str, Any, str | None, str | None]] = [
    ("atif", {"agent": {"name": "a", "version": "1.2"}}, "1.2", None),
    ("harbor", {"agent_info": {"name": "a", "version": "2"}}, "2", None),
    ("claude-code", {"version": "2.0.1"}, "2.0.1", None),
    ("opencode", {"info": {"id": "ses_1", "version": "1.0.3"}}, "1.0.3", None),
    ("mini-swe-agent", {"info": {"mini_version": "2.1"}}, "2.1", None),
    ("swe-agent", {"info": {"swe_agent_version": "1.1", "swe_agent_hash": "c0ffee"}}, "c0ffee", None),
    ("tau2-bench", {"info": {"git_commit": "beef", "agent_info": {"llm": "m"}}}, "beef", None),
    ("copilot-cli", {"data": {"content": "hi", "copilotVersion": "0.0.4"}}, "0.0.4", None),
    ("inspect", evaluated(commit="ab1"), "ab1", None),
    ("inspect", evaluated(commit="ab1", dirty=True), "ab1+changes", None),
    ("inspect", {"eval": PINNED}, "inspect_ai 0.3.9", None),
    ("langsmith", noted(revision_id="r9", lc_hub_commit_hash="h1"), "r9", "h1"),
    ("langsmith", noted(**HANDBOOK), "3", None),
    ("langfuse", {"version": "v7", "release": "r1"}, "v7", None),
    ("langfuse", {"release": "r1"}, "r1", None),
    ("braintrust", {"metadata": {"agent_version": 5, "prompt": {"version": "p2"}}}, "5", "p2"),
    ("weave", {"op_name": "weave:///us/desk/op/answer:d1g35t"}, "d1g35t", None),
    ("mlflow", {"info": COMMITTED}, "fe0", "4"),
]


@pytest.mark.parametrize(("format", "changes", "version", "prompt_version"), RECORDED)
def test_an_importer_keeps_the_version_of_the_agent_and_of_its_prompt(
    tmp_path: Path, format: str, changes: dict[str, Any], version: str | None, prompt_version: str | None
) -> None:
    ((name, content),) = FILES[format].items()
    sources = put(tmp_path / name, {**content, **changes})
    _, (run, *_) = converted(format, tmp_path / "out", sources)
    assert (run.version, run.prompt_version) == (version, prompt_version)


def test_the_version_of_codex_is_in_the_line_before_the_conversation(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(line) for line in (CODEX_META, FILES["codex"]["rollout-1.jsonl"]))
    _, (run,) = converted("codex", tmp_path / "out", put(tmp_path / "rollout-1.jsonl", lines))
    assert run.version == "0.60.0"


SPANS = [
    ({"gen_ai.agent.version": "4"}, {}, "4", None),
    ({}, {"service.name": "desk", "service.version": "9"}, "9", None),
    ({"gen_ai.agent.version": "4"}, {"service.version": "9"}, "4", None),
    ({"llm.prompt_template.version": "p3"}, {}, None, "p3"),
    ({"telemetry.sdk.version": "1.9"}, {"telemetry.sdk.version": "1.9"}, None, None),
]


@pytest.mark.parametrize(("attributes", "resource", "version", "prompt_version"), SPANS)
def test_spans_name_the_version_of_agent_or_service_and_that_of_the_telemetry_is_none(
    tmp_path: Path,
    attributes: dict[str, Any],
    resource: dict[str, Any],
    version: str | None,
    prompt_version: str | None,
) -> None:
    (span,) = FILES["otel"]["t.json"]["spans"]
    span = {**span, "attributes": {**span["attributes"], **attributes}}
    span["resource"] = {"attributes": resource}
    _, (run,) = converted("otel", tmp_path / "out", put(tmp_path / "t.json", {"spans": [span]}))
    assert (run.version, run.prompt_version) == (version, prompt_version)


def test_the_version_of_a_log_format_is_no_version_of_the_agent(tmp_path: Path) -> None:
    line = {
        **FILES["claude-code"]["s.jsonl"],
        "type": "assistant",
        "message": {"role": "assistant", "content": "hi"},
    }
    entry = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}
    pi = "\n".join(map(json.dumps, (entry, *FILES["pi"].values())))
    for format, content in (
        ("atif", {**FILES["atif"]["t.json"], "agent": {"name": "a"}}),
        ("pi", pi),
        ("claude-code", line),
        ("copilot-cli", {**FILES["copilot-cli"]["s/events.jsonl"], "data": {"content": "hi", "version": 1}}),
    ):
        name = next(iter(FILES[format]))
        _, (run,) = converted(format, tmp_path / f"{format}-out", put(tmp_path / format / name, content))
        assert run.version is None, format
