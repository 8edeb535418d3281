"""The command line: a thin shell over the engine, with the same numbers as the app."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from untaken.cli.console import Console, plain
from untaken.cli.inputs import UsageError
from untaken.errors import UntakenError

OK: Final = 0
CHECK_FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

_AS_GIVEN: Final = frozenset(
    {
        "agent-unknown",
        "backup-exists",
        "compare-too-few",
        "crafter-extra-missing",
        "criteria-missing",
        "format-unknown",
        "ledger-compressed",
        "memory-missing",
        "metric-unknown",
        "model-extra-missing",
        "model-key-missing",
        "model-not-named",
        "model-unknown",
        "output-not-a-folder",
        "policy-option-invalid",
        "replies-missing",
        "requirement-invalid",
        "restore-not-empty",
        "reward-unknown",
        "run-unknown",
        "scores-missing",
        "source-not-found",
        "store-driver-missing",
        "store-other-folder",
        "store-url-invalid",
        "sub-goal-unknown",
        "threshold-invalid",
        "weights-invalid",
    }
)
"""Codes of the engine that speak of the command, not of what it found."""
_VERBS: Final = (
    "app",
    "formats",
    "convert",
    "verify",
    "score",
    "rank",
    "triage",
    "compare",
    "gate",
    "report",
    "judge",
    "agree",
    "review",
    "memory",
    "counterfactual",
    "criteria",
    "crafter",
    "graph",
    "workspace",
    "schema",
)
"""Every verb; the module of that name here carries it out."""


def parser(verb: str | None = None) -> argparse.ArgumentParser:
    """The grammar of the command line; with a verb, only what it needs is loaded."""
    top = argparse.ArgumentParser(
        prog="untaken",
        description="Reviews recorded runs of LLM agents: learning from the paths not taken.",
        epilog="Exit codes: 0 ok, 1 a check failed, 2 the command cannot be carried out as given.",
    )
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in [verb] if verb in _VERBS else _VERBS:
        import_module(f"{__name__}.{name}").add_to(verbs)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        argv: the words after the program's name; those of the process when not given.

    Returns:
        The exit code: 0 ok, 1 a check failed, 2 usage.
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        args = parser(words[0] if words else None).parse_args(words)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else USAGE
    console = Console.of_process(json=getattr(args, "json", False))
    try:
        code: int = args.run(args, console)
        sys.stdout.flush()
    except UntakenError as error:
        console.error(error)
        return USAGE if isinstance(error, UsageError) or error.code in _AS_GIVEN else CHECK_FAILED
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        console.warn(f"error: {plain(error)}")
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _reader_left() -> int:
    """Whoever read our output had enough (`| head`): no fault, and what is still buffered goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return OK
