"""Runs a parsed command. A module of its own, so that ``--help`` does not load the engine."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from untaken.cli.console import Console
from untaken.cli.grammar import UsageError
from untaken.errors import UntakenError, Where, disk_trouble
from untaken.garbage import seldom_collected

OK: Final = 0
USAGE: Final = 2
INTERRUPTED: Final = 130


def carry_out(args: argparse.Namespace) -> int:
    """Runs the verb that was parsed, and gives its exit code."""
    console = Console.of_process(json=getattr(args, "json", False))
    try:
        _refuse_pipes(args)
        with seldom_collected():
            code = _with_workers(args, console)
        sys.stdout.flush()
    except UntakenError as error:
        console.findings([error.finding()])
        return USAGE  # a check that says no returns 1; whatever is raised could not run
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        console.findings([disk_trouble(error).finding()])
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _refuse_pipes(args: argparse.Namespace) -> None:
    """Opening a named pipe waits for its other end, perhaps for ever.

    Raises:
        UsageError: ``path-not-found``.
    """
    for word in _words(list(vars(args).values())):
        # Those that the shell makes are open already.
        if not word.startswith(("/dev/fd/", "/dev/stdin", "/proc/")) and _is_pipe(word):
            raise UsageError(
                "path-not-found",
                "this is a named pipe, not a file or folder",
                where=Where(file=word),
                hint="Write what it gives to a file, and name that file.",
            )


def _words(values: list[Any] | tuple[Any, ...]) -> Iterator[str]:
    """Every word of a command line, those of lists too."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _words(value)
        elif isinstance(value, str | Path):
            yield str(value)


def _is_pipe(word: str) -> bool:
    try:
        return Path(word).is_fifo()
    except OSError:  # too long for a path: perhaps the text of a note
        return False


def _with_workers(args: argparse.Namespace, console: Console) -> int:
    """Runs the verb, with who shares its work in place of the words after ``--cluster``."""
    if getattr(args, "cluster", None) is None:
        code: int = args.run(args, console)
        return code
    from untaken.facts import open_cluster  # noqa: PLC0415 (only where it is asked for)

    with open_cluster(args.cluster) as args.cluster:
        return int(args.run(args, console))


def _reader_left() -> int:
    """The reader closed our output (`| head`): not an error; discard what is still buffered."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # Else Python writes the rest as it ends, and complains that nobody reads.
    os.dup2(nowhere, sys.stdout.fileno())
    return OK
