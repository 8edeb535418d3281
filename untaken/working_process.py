"""What the processes that work for the app share: their environment, their output, and when they end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from threading import Thread
from typing import IO


def environment() -> dict[str, str]:
    """The environment of a process that imports this program."""
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PYTHONPATH": path}


def output_to_app() -> IO[bytes]:
    """In a process that works for the app: where its messages go. It leaves the processor to pages."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no message
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if hasattr(os, "nice"):
        os.nice(10)
    return output


def end_with_app() -> None:
    """In such a process, once it has its job: it ends when the app does."""
    Thread(target=_end_with_parent, args=(sys.stdin.fileno(),), daemon=True).start()


def _end_with_parent(stream: int) -> None:
    """Ends the process when nobody is left to ask it to: the app was stopped or killed."""
    os.read(stream, 1)  # nothing more is written: it returns when the other end is closed
    os.kill(os.getpid(), signal.SIGTERM)
