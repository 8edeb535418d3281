"""The documents of other verbs over the Model Context Protocol: the same bytes, and nothing but reading."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from untaken.cli import main, parser

mcp = pytest.importorskip("mcp", reason="the mcp extra is not installed: pip install 'untaken[mcp]'")
SAMPLES = Path(__file__).parents[2] / "sample_runs"
LEDGERS, GRAPHS = str(SAMPLES / "ledgers" / "eager-closer.jsonl"), str(SAMPLES / "graphs")
RUN = "eager-closer.refund-02.1"
ASKED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "fix_first": ({}, ["triage", LEDGERS, "--graphs", GRAPHS]),
    "packet": ({"number": 1, "of": "causes"}, ["causes", LEDGERS, "--graphs", GRAPHS, "--packet", "1"]),
    "why_run_failed": ({"run_id": RUN}, ["triage", LEDGERS, "--graphs", GRAPHS, "--run", RUN]),
    "causes": ({}, ["causes", LEDGERS, "--graphs", GRAPHS]),
    "scores": ({}, ["score", LEDGERS, "--graphs", GRAPHS, "--runs"]),
    "audit_plans": ({}, ["graph", "audit", GRAPHS, "--against", LEDGERS]),
}
REFUSED: dict[str, dict[str, Any]] = {
    "why_run_failed": {"run_id": "--help"},
    "packet": {"number": 9_999},
    "what_changed": {"first": "1", "second": "2"},
}


def test_a_client_gets_the_bytes_that_verbs_print(capsys: pytest.CaptureFixture[str]) -> None:
    async def ask() -> tuple[set[str], dict[str, str], dict[str, str]]:
        words = ["-m", "untaken", "mcp", LEDGERS, "--graphs", GRAPHS]
        server = mcp.StdioServerParameters(command=sys.executable, args=words)
        async with mcp.Client(server) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            given, refused = {}, {}
            for name, (arguments, _) in ASKED.items():
                found = await client.call_tool(name, arguments)
                assert not found.is_error, found
                given[name] = found.content[0].text
            for name, arguments in REFUSED.items():
                found = await client.call_tool(name, arguments)
                assert found.is_error
                refused[name] = found.content[0].text
        return names, given, refused

    names, given, refused = asyncio.run(ask())
    assert names == {*ASKED, "rankings", "what_changed"}
    for name, (_, words) in ASKED.items():
        main([*words, "--json"])
        assert given[name] == capsys.readouterr().out, name
    assert "there is no run '--help'" in refused["why_run_failed"]
    assert "packet-unknown" in refused["packet"]
    assert "[version" in refused["what_changed"]


def test_the_skill_names_tools_and_verbs_that_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--skill"]) == 0
    skill = capsys.readouterr().out
    assert skill.startswith("---\nname: untaken\ndescription: ")
    assert all(f"`{name}`" in skill for name in ("fix_first", "packet", "why_run_failed", "what_changed"))
    commands = [words.split() for words in re.findall("`untaken ([^`]* [^`]*)`", skill)]
    assert len(commands) > 4
    for words in commands:
        assert parser(words[:1]).parse_args(words).run
