"""The taxonomy that a workspace keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from filelock import FileLock

from untaken.failure_modes.editing import TaxonomyEdit
from untaken.failure_modes.files import load_taxonomy, save_taxonomy
from untaken.failure_modes.model import Taxonomy

FILE: Final = "failure_modes.yaml"


def kept_taxonomy(folder: Path) -> Taxonomy:
    """The taxonomy of the workspace in `folder`; an empty one where none was kept yet.

    Raises:
        UntakenError: ``taxonomy-invalid`` for a file changed by hand.
    """
    file = folder / FILE
    return load_taxonomy(file) if file.exists() else Taxonomy()


def change_taxonomy(folder: Path, change: TaxonomyEdit) -> Taxonomy:
    """Changes the workspace's taxonomy in one step, whoever else changes it meanwhile.

    Raises:
        UntakenError: as `change` and `kept_taxonomy`; then nothing is written.
    """
    with FileLock(folder / f".{FILE}.lock"):
        before = kept_taxonomy(folder)
        changed = change(before)
        if changed != before:
            save_taxonomy(changed, folder / FILE)
    return changed
