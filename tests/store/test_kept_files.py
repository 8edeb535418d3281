"""Which files of a workspace's folder are its ledgers and plan graphs, without its database."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from builders import a_run

from untaken.workspace.examining import kept_files

pytestmark = pytest.mark.database("sqlite")  # what it keeps are files

LEDGER, GRAPH = a_run("r1").finish().ledger(), b"schema: untaken.plan/1\nid: g\ntasks: ['*']\n"
SHA, GRAPH_SHA = sha256(LEDGER).hexdigest(), sha256(GRAPH).hexdigest()

NAMES = [
    (f"ledgers/{SHA}.jsonl", LEDGER, [("ledger", SHA, 1, "")]),
    (f"graphs/{GRAPH_SHA}.plan.yaml", GRAPH, [("graph", GRAPH_SHA, 0, "")]),
    (f"graphs/{SHA}.plan.yaml", GRAPH, [("graph", SHA, 0, "other bytes")]),
    (f"ledgers/{GRAPH_SHA}.jsonl", LEDGER, [("ledger", GRAPH_SHA, 1, "other bytes")]),
    (f"ledgers/{SHA[:-1]}.jsonl", LEDGER, []),
    ("ledgers/notes.jsonl", LEDGER, []),
    (f"ledgers/{SHA}.txt", LEDGER, []),
    (f"ledgers/{SHA}", LEDGER, []),
    (f"ledgers/{SHA}.jsonl/inside", LEDGER, []),
    (f"elsewhere/{SHA}.jsonl", LEDGER, []),
]


@pytest.mark.parametrize(("name", "content", "want"), NAMES)
def test_a_kept_file_is_a_file_named_by_a_whole_digest(
    name: str, content: bytes, want: list[tuple[str, str, int, str]], tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(content)
    assert [(file.kind, file.digest, file.runs, file.fault) for file in kept_files(tmp_path)] == want
