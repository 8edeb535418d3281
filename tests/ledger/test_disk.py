"""Files that take the place of others: whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from untaken.ledger import disk


def at_once(path: Path) -> None:
    disk.replace(path, b"x", sync=False)


def bit_by_bit(path: Path) -> None:
    with disk.replacing_path(path) as fresh:
        fresh.write_bytes(b"x")


@pytest.mark.parametrize("write", [at_once, bit_by_bit])
def test_a_file_that_cannot_be_written_is_named_as_it_was_given(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    path = tmp_path / "missing" / "page.html"
    with pytest.raises(FileNotFoundError) as caught:
        write(path)
    assert caught.value.filename == str(path)
    path.parent.mkdir()
    write(path)
    assert [one.name for one in path.parent.iterdir()] == ["page.html"]
