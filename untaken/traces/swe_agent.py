"""SWE-agent trajectories (`.traj`): one issue a file, a thought, an action and an observation a step.

A mapping file reads them; what it cannot say is here: the folder names the model, an action is a command line
whose first word is the tool, and `exit_status` says how the run ended. Whether the patch solves the issue is
not in the file.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec.structs import replace

from untaken.traces.importer import Importer
from untaken.traces.mapped import HYBRID, mapped_importer, read_mapping
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Called, TraceRun

TOOL_CHARS: Final = 80
NEWER: Final = re.compile(r"__t-[\d.]+__p-[\d.]+__c-[\d.]+___")
"""Version 1 names a folder by configuration, model, settings and source; a folder in it has one issue."""


def tool_of(action: Any) -> str:
    """The command of an action: its first word."""
    words = str(action).split(maxsplit=1)
    return words[0][:TOOL_CHARS] if words else "(nothing)"


def _agent(folder: str) -> str:
    """The model that a folder is named by: ``gpt4__repo__config…``, or ``config__gpt4__t-0.00…___source``."""
    newer = NEWER.search(folder)
    parts = (folder[: newer.start()] if newer else folder).split("__")
    model = parts[-1 if newer else 0] if len(parts) > 1 else ""
    return f"swe-agent/{model}" if model else "swe-agent"


def _complete(run: TraceRun, file: TraceFile) -> None:
    path, ended = PurePosixPath(file.source.name), run.error or ""
    folder = next((above.name for above in path.parents if above.name != path.stem), "")
    run.run_id, run.task_id, run.agent = f"swe-agent/{folder or 'run'}/{path.stem}", path.stem, _agent(folder)
    # As in `submitted (exit_cost)`.
    run.limit = next((word for word in ended.strip("()").split(" (") if word.startswith("exit_")), None)
    run.error = None if ended.startswith("submitted") else run.error  # that is its good end
    run.items = [
        replace(each, tool=tool_of(each.tool)) if isinstance(each, Called) else each for each in run.items
    ]


IMPORTER: Final[Importer] = mapped_importer(read_mapping(HYBRID / "swe-agent.mapping.yaml"), _complete)
