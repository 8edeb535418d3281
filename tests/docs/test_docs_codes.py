"""Every code that a user can see is on the page of errors, and no other is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import programs
import pytest
from doc_pages import ROOT, names, page
from source_codes import Codes, codes_in

from untaken.analysis.failure_modes import PRESETS
from untaken.traces import formats

NO_CODES = {
    "score-create",
    *("node-link", *(info.name for info in formats())),
    *("memory-queue", "memory-preview", "memory-apply", "memory-verify"),  # schemas
    *("modes-list", "modes-notes", "modes-suggest", "modes-agree"),
    *("criteria-verify", "graph-audit", "graph-check", "graph-diff", "graph-discover", "graph-draw"),
    *("criteria-proposal", "mapping-check"),
    *("workspace-backup", "workspace-restore", "workspace-doctor"),
    "policy-mediated",  # a kind of edge
    *("crafter-score", "crafter-scores", "crafter-run", "crafter-ablation", "crafter-win"),
    *(mode_id for preset in PRESETS.values() for mode_id, _, _ in preset),
    *("hand-crafted", "algorithm-generated"),  # sets of records
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"),
    *("system-prompt", "user-prompt", "tool-call", "tool-return", "retry-prompt"),  # parts of Pydantic AI
    "retry-feedback",
    *("tool-result", "output-available", "output-error", "execution-denied", "step-start"),  # the AI SDK
    "step-finish",  # opencode
    "qwen-code",  # a program
    "local-llm",  # an extra
    *("sub-goal", "sub-goals", "untaken-workspace", "untaken-replies", "smollm2-135m"),
}
"""Texts in the program that look like codes and are none."""
KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")


@pytest.fixture(scope="module")
def found() -> Codes:
    return codes_in(ROOT / "untaken", ROOT / "components")


def documented() -> set[str]:
    items = [line.partition(":")[0] for line in page("docs/errors.md").splitlines() if line.startswith("- `")]
    return {code for item in items for code in names(item)}


def test_every_code_in_the_program_is_documented(found: Codes) -> None:
    assert sorted(found.codes - documented()) == []


def test_every_documented_code_is_in_the_program(found: Codes) -> None:
    assert sorted(documented() - found.codes) == []


def test_every_code_can_be_read_from_the_source(found: Codes) -> None:
    assert found.unread == []


def test_no_text_that_looks_like_a_code_was_overlooked(found: Codes) -> None:
    texts = {
        node.value
        for path in (ROOT / "untaken").rglob("*.py")
        for node in programs.nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and KEBAB.fullmatch(node.value)
    }
    known = found.codes | {code.removeprefix("ledger-") for code in found.codes}
    assert sorted(texts - known - NO_CODES) == []


@pytest.mark.parametrize("folder", ["components", "pages"])
def test_the_app_has_no_codes_of_its_own(folder: str) -> None:
    assert codes_in(ROOT / folder).codes == set()


def test_a_code_given_to_a_new_helper_is_found(tmp_path: Path) -> None:
    """The search goes by signatures, so a helper of tomorrow is no hiding place."""
    (tmp_path / "room.py").write_text(
        "class Findings:\n"
        "    def add(self, code, message): ...\n"
        "class Fault(UntakenError): ...\n"
        "class Note(NamedTuple):\n"
        "    place: str\n"
        "    code: str\n"
        "def refuse(place, code, *, hint=''): ...\n"
        "findings.add('by-method', 'words')\n"
        "findings.add('one-way' if x else 'other-way', 'words')\n"
        "raise Fault('by-subclass', 'words')\n"
        "Note('here', 'by-field')\n"
        "refuse('here', 'by-position')\n"
        "refuse('here', code='by-keyword')\n"
        "late = 'by-variable'\n"
        "refuse('here', late)\n"
        "refuse('here', words_of(x))\n"
    )
    found = codes_in(tmp_path)
    wanted = {"by-method", "one-way", "other-way", "by-subclass", "by-field", "by-position", "by-keyword"}
    assert found.codes == wanted | {"by-variable"}
    assert found.unread == ["room.py:16: words_of(x)"]
