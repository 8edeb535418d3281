"""The taxonomy that a workspace keeps."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from untaken.failure_modes.editing import TaxonomyEdit
from untaken.failure_modes.files import parse_taxonomy, taxonomy_yaml
from untaken.failure_modes.model import Taxonomy
from untaken.kept_file import change_file

FILE: Final = "failure_modes.yaml"


def kept_taxonomy(folder: Path) -> Taxonomy:
    """The taxonomy of the workspace in `folder`; an empty one where none was kept yet.

    Raises:
        UntakenError: ``taxonomy-invalid`` for a file changed by hand.
    """
    try:
        data = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return Taxonomy()
    return _parsed(data)


@lru_cache(maxsize=4)
def _parsed(data: bytes) -> Taxonomy:
    """Pages ask for it each time they are drawn."""
    return parse_taxonomy(data, name=FILE)


def change_taxonomy(folder: Path, change: TaxonomyEdit) -> Taxonomy:
    """Changes the workspace's taxonomy in one step, safe against concurrent changes.

    Raises:
        UntakenError: as `change` and `kept_taxonomy`; then nothing is written.
    """
    return change_file(
        folder / FILE, lambda: kept_taxonomy(folder), change, lambda found: taxonomy_yaml(found).encode()
    )
