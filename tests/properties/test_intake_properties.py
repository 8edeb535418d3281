"""Names of files and text of cells are untrusted, whatever they are."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given
from hypothesis import strategies as st

from untaken.cli.console import plain
from untaken.intake import _placed


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
        place = _placed(folder, name, b"{}", "devai")
        written = [path for path in Path(scratch).rglob("*") if path.is_file()]
        assert written == [folder.parent / place]
        assert written[0].resolve().is_relative_to(folder.resolve())


@given(st.text(max_size=50))
def test_shown_text_is_printable_and_plain_text_is_kept(text: str) -> None:
    assert plain(text).isprintable()
    if text.isprintable():
        assert plain(text) == text
