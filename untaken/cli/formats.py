"""``untaken formats``: the foreign formats there are importers for."""

from __future__ import annotations

import argparse

from untaken.cli.console import Console
from untaken.cli.grammar import Verbs, verb
from untaken.cli.verbs import VERBS
from untaken.formats import formats


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    verb(verbs, "formats", VERBS["formats"], list_formats)


def list_formats(_: argparse.Namespace, console: Console) -> int:
    """Prints every importer."""
    found = formats()
    for one in found:
        console.say(f"{one.name}: {one.title} ({' '.join(one.extensions)})\n  {one.what}")
    entries = [
        {"name": f.name, "title": f.title, "extensions": list(f.extensions), "what": f.what} for f in found
    ]
    console.document({"schema": "untaken.formats/1", "formats": entries})
    return 0
