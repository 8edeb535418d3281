"""Runs a parsed command. A module of its own, so that ``--help`` does not load the engine."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from untaken.cli.console import Console, plain
from untaken.cli.grammar import UsageError
from untaken.errors import UntakenError, Where

OK: Final = 0
USAGE: Final = 2
INTERRUPTED: Final = 130


@dataclass(frozen=True, slots=True)
class Refused:
    """What an operating system refuses: the code of the error, and what to do."""

    code: str
    hint: str


_FULL: Final = Refused("disk-full", "Free some space, or write to another disk; then run the command again.")
_FORBIDDEN: Final = Refused("file-not-permitted", "Check who may read and write it, or name another place.")
_FAILED: Final = Refused("disk-failed", "Check that the disk is there and works; then run the command again.")
_REFUSALS: Final = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: Refused("disk-read-only", "Name a place that can be written, or copy the folder there."),
    errno.ENOENT: Refused("file-not-found", "Check the name; the folder of a new file has to exist."),
    errno.EEXIST: Refused("file-exists", "Name another place, or move what is there out of the way."),
    errno.ENOTDIR: Refused("not-a-folder", "Name a folder, or move the file out of the way."),
    errno.EISDIR: Refused("not-a-file", "Name a file, not a folder."),
    errno.ENAMETOOLONG: Refused("file-name-too-long", "Use a shorter name."),
}


def carry_out(args: argparse.Namespace) -> int:
    """Runs the verb that was parsed.

    Returns:
        The exit code: 0 ok, 1 a check failed, 2 the command could not run, 3 not decided yet.
    """
    console = Console.of_process(json=getattr(args, "json", False))
    try:
        _refuse_pipes(args)
        code = _with_workers(args, console)
        sys.stdout.flush()
    except UntakenError as error:
        console.error(error)
        return USAGE  # a check that says no returns 1; whatever is raised could not run
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        console.error(_disk_trouble(error))
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _disk_trouble(error: OSError) -> UntakenError:
    """What the operating system refused, with the next step."""
    refusal = _REFUSALS.get(error.errno or 0, _FAILED)
    file = plain(error.filename) if error.filename else None
    message = plain(error.strerror or error)
    return UntakenError(refusal.code, message, where=Where(file=file), hint=refusal.hint)


def _refuse_pipes(args: argparse.Namespace) -> None:
    """Opening a named pipe waits for its other end, perhaps for ever; those of the shell are open already.

    Raises:
        UsageError: ``path-not-found``.
    """
    for word in _words(list(vars(args).values())):
        if not word.startswith("/dev/") and _is_pipe(word):
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
    from untaken.scaling.opening import open_cluster  # noqa: PLC0415 (only where it is asked for)

    with open_cluster(args.cluster) as args.cluster:
        return int(args.run(args, console))


def _reader_left() -> int:
    """The reader closed our output (`| head`): not an error; discard what is still buffered."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return OK
