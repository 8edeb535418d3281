"""How long a test waits for what has to come before it fails."""

from __future__ import annotations

import os

IDLE_SECONDS = 60
"""On a machine with nothing else to do; as much longer as more work waits for each of its cores."""


def patience(most: float = 120) -> float:
    """Seconds, at most `most`: a busy machine is slow, and no failed claim."""
    busy = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return min(most, IDLE_SECONDS * max(1.0, busy))
