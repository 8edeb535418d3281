"""What some work enters of the engine: who follows it has to hold that much in the head."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ENGINE = Path(__file__).parents[1] / "untaken"


def entered(work: Callable[[], object]) -> tuple[set[str], set[str]]:
    """The engine's files, and its classes, of which functions are called."""
    files, classes = set[str](), set[str]()

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ENGINE)):
            name = Path(code.co_filename).relative_to(ENGINE).as_posix()
            files.add(name)
            owner, _, method = code.co_qualname.partition(".")
            if method and not method.startswith("<"):
                classes.add(f"{name}:{owner}")

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files, classes
