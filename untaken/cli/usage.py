"""The error of a command that cannot be carried out as it was given; loads nothing else."""

from __future__ import annotations

from untaken.errors import UntakenError


class UsageError(UntakenError):
    """The command cannot be carried out as it was given (exit code 2)."""
