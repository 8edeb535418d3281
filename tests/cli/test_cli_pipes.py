"""Files on a command line that a shell writes as ``<(…)``: they can be read only once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import desk
import pytest

from untaken.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no /dev/fd here")


@pytest.mark.parametrize("verb", [["verify"], ["convert", "-o", "out"]], ids=["ledgers", "traces"])
def test_the_output_of_a_command_as_a_file_is_named_a_pipe_with_what_to_do(
    verb: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader, writer = os.pipe()
    try:
        os.write(writer, desk.careful(1).ledger())
        os.close(writer)
        assert main([*verb, f"/dev/fd/{reader}"]) == 2
    finally:
        os.close(reader)
    said = capsys.readouterr().err
    assert "this is a pipe" in said
    assert "Write what it gives to a file" in said
