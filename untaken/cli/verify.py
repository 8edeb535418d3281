"""``untaken verify``: how far ledgers can be trusted."""

from __future__ import annotations

import argparse
from collections import Counter

from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import Verbs, verb
from untaken.cli.inputs import verify_file
from untaken.facts import find_ledgers
from untaken.ledger import Integrity
from untaken.numbers import counted
from untaken.views import verify_document


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    verb(verbs, "verify", verify).takes_ledgers()


def verify(args: argparse.Namespace, console: Console) -> int:
    """Prints one verdict per run; exit 1 if one is TRUNCATED, ALTERED or MALFORMED, or no ledger."""
    files, others = find_ledgers(args.paths)
    found: list[tuple[str, Integrity]] = []
    for done, file in enumerate(files, start=1):
        found += [(str(file), verdict) for verdict in verify_file(file)]
        console.progress(done, len(files), "verifying")
    broken = [(file, verdict) for file, verdict in found if verdict.broken]
    counts = Counter(verdict.verdict for _, verdict in found)
    console.columns(
        found,
        ("run", lambda one: one[1].run_id or NOTHING),
        ("verdict", lambda one: one[1].verdict),
        ("events", lambda one: one[1].head.events if one[1].head else NOTHING),
        ("file", lambda one: one[0]),
    )
    console.say()
    for name, verdict in broken:
        line = f":{verdict.line}" if verdict.line else ""
        console.say(plain(f"{verdict.verdict} {name}{line}: {verdict.reason}"))
    # A fault of a file as a whole has no run.
    runs = sum(bool(verdict.run_id) for _, verdict in found)
    console.say(f"{counted(runs, 'run')}: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    if counts["UNANCHORED"]:
        unanchored = counts["UNANCHORED"]
        console.warn(
            f"warning: {counted(unanchored, 'run')} without a recorded head: truncation cannot be detected"
        )
    console.document(verify_document(found, findings=others))
    return 1 if broken or any(other.severity == "error" for other in others) else 0
