"""Names of files and text of cells are untrusted, whatever they are."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given
from hypothesis import strategies as st

from untaken.cli.console import plain
from untaken.workspace.intake import IntakeFile, _source


@given(st.text(max_size=300))
@example("../../etc/passwd")
@example("C:\\windows\\system32")
@example("/")
@example("..")
@example("a" * 5000)
@example("nul\0byte/\u202e")
def test_a_name_never_leads_out_of_its_folder(name: str) -> None:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "in"
        folder.mkdir()
        source = _source("000007", IntakeFile(position=7, name=name, data=b"{}"), "devai")
        assert source.read() == b"{}"
        assert (folder / source.name).resolve().is_relative_to(folder.resolve() / "000007")
        assert Path(source.stem).name == source.stem


@given(st.text(max_size=50))
def test_shown_text_is_printable_and_plain_text_is_kept(text: str) -> None:
    assert plain(text).isprintable()
    if text.isprintable():
        assert plain(text) == text
