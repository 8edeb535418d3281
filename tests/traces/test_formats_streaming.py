"""Files as they come from a running program: in two parts, cut off, out of order, with times without a zone.

What is read of them is what a whole file would give, or a finding says what is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, put
from trace_records import RECORDS

from untaken.ledger import Run
from untaken.traces import Conversion

Written = list[str]
LINES: dict[str, Written] = {
    format: [json.dumps(line) for line in content]
    for format, files in RECORDS.items()
    for name, content in files.items()
    if name.endswith(".jsonl") and isinstance(content, list) and len(content) > 2
}
"""The lines of the record of each format that is written line by line."""


def in_two(lines: Written) -> list[str]:
    return ["\n".join(lines[: len(lines) // 2]), "\n".join(lines[len(lines) // 2 :])]


SITUATIONS: dict[str, Callable[[Written], list[str]]] = {
    "a run in two files": in_two,
    "a part of a run that comes again": lambda lines: ["\n".join(lines), "\n".join(lines[:-1])],
    "a file still being written": lambda lines: ["\n".join(lines)[: -len(lines[-1]) // 2]],
    "records out of order": lambda lines: ["\n".join([lines[0], *lines[:0:-1]])],
    "naive times": lambda lines: ["\n".join(re.sub(r"(:\d\d(?:\.\d+)?)Z", r"\1", line) for line in lines)],
}


def read(folder: Path, format: str, contents: list[str]) -> tuple[Conversion, list[Run]]:
    files = [put(folder / "in" / f"{n}.jsonl", content) for n, content in enumerate(contents)]
    return converted(format, folder / "out", *files)


def facts(runs: list[Run]) -> list[Any]:
    """What was called and spent, and how it ended, however many files it came from."""
    return sorted(
        (run.run_id, [call.tool for call in run.actions], run.finished.metrics, run.finished.steps)
        for run in runs
        if run.finished
    )


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("format", LINES)
def test_what_comes_in_pieces_is_right_or_named(tmp_path: Path, format: str, situation: str) -> None:
    whole, runs = read(tmp_path / "whole", format, ["\n".join(LINES[format])])
    done, found = read(tmp_path / "pieces", format, SITUATIONS[situation](LINES[format]))
    named = codes(done) - codes(whole)
    assert facts(found) == facts(runs) or named


def test_the_rest_of_a_run_names_the_file_in_which_it_begins(tmp_path: Path) -> None:
    done, runs = read(tmp_path, "claude-code", in_two(LINES["claude-code"]))
    (found,) = (finding for finding in done.findings if finding.code == "duplicate-run")
    assert (found.where.file, found.where.run) == ("1.jsonl", "claude-code/s1")
    assert found.message == "this run also begins in 0.jsonl; this one is kept as claude-code/s1~2"
    assert [run.run_id for run in runs] == ["claude-code/s1", "claude-code/s1~2"]
