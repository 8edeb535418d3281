"""The command line: a thin shell over the engine, with the same numbers as the app."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Final

from untaken import __version__
from untaken.cli.grammar import Parser
from untaken.cli.verbs import VERBS, overview

USAGE: Final = 2


def parser(loaded: Collection[str] = tuple(VERBS)) -> argparse.ArgumentParser:
    """The grammar of the command line."""
    top = Parser(
        prog="untaken",
        description="Review recorded runs of LLM agents: sub-goals, counterfactuals, rankings.",
        epilog="Exit codes: 0 ok, 1 a check failed, 2 the command could not run, 3 not decided yet.",
    )
    top.add_argument("--version", action="version", version=f"untaken {__version__}")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    # Only the module of the verb in use is loaded: each brings along what its verb needs of the engine.
    for name, does in VERBS.items():
        if name in loaded:
            import_module(f"{__name__}.{name}").add_to(verbs)
        else:
            verbs.add_parser(name, help=does)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command, and gives its exit code."""
    # NumPy's matrices have some hundred rows here: its threads wait for each other longer than they compute,
    # and on busy cores a hundred times as long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = sys.argv[1:] if argv is None else argv
    if not words:
        sys.stdout.write(overview() + "\n")
        return 0
    try:
        args = parser(words[:1]).parse_args(words)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else USAGE
    code: int = import_module(f"{__name__}.running").carry_out(args)
    return code
