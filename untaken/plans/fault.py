"""What is wrong at one place of a plan graph."""

from __future__ import annotations

from dataclasses import dataclass

from untaken.errors import Finding, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A finding about one place of a graph, before the line in a file is known."""

    code: str
    message: str
    path: tuple[str | int, ...]
    hint: str = ""
    severity: Severity = "error"

    def finding(self) -> Finding:
        """The fault without a place in a file."""
        return Finding(code=self.code, message=self.message, hint=self.hint, severity=self.severity)
