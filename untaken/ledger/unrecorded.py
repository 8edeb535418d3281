"""What could not be recorded: raised, or, for agents in production, kept as findings and noted in the run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import msgspec
from msgspec import Struct

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger.events import Message, RunFinished, RunStarted, event_type
from untaken.ledger.run import Draft

OnError = Literal["raise", "warn"]
ROLE: Final = "untaken"
"""The role of the messages in which a run says what could not be recorded of it."""
_LISTED: Final = 1_000
_LOG: Final = logging.getLogger("untaken.ledger")


class FailedWrite(Struct):
    """One thing tried, and why it failed."""

    error: Exception | None = None


class Unrecorded:
    """Decides how to handle an error, and records it.

    Attributes:
        warns: true where errors are kept instead of raised.
        findings: at most the first thousand of them.
    """

    def __init__(self, path: Path, on_error: OnError) -> None:
        if on_error not in ("raise", "warn"):
            raise ValueError(f"on_error is {on_error!r}; it is 'raise' or 'warn'")
        self.warns = on_error == "warn"
        self.findings: list[Finding] = []
        self._path = path

    @contextmanager
    def guard(self, what: str, run_id: str | None = None, *, silent: bool = False) -> Iterator[FailedWrite]:
        """Lets errors pass, or keeps them; interruptions always pass.

        Args:
            what: is tried, in words.
            run_id: the run it is about.
            silent: for what is tried after a first failure, which has been kept already.
        """
        attempt = FailedWrite()
        try:
            yield attempt
        except Exception as error:
            if not self.warns:
                raise
            attempt.error = error
            if not silent:
                self._keep(what, run_id, error)

    def note(self, run_id: str) -> Callable[[str, str], None]:
        """Keeps the places of values that were written as text (see `untaken.ledger.encoding.plain`)."""

        def noted(place: str, written: str) -> None:
            message = f"{place}: not a JSON value; written as the text {written!r}"
            self._list("ledger-value-as-text", message, run_id, "note")

        return noted

    def _keep(self, what: str, run_id: str | None, error: Exception) -> None:
        if not isinstance(error, UntakenError):
            error = UntakenError("ledger-not-written", f"{what}: {_words(error)}")
        self._list(error.code, error.message, run_id, "error")
        _LOG.warning("%s: not recorded: %s", self._path, error.message)

    def _list(self, code: str, message: str, run_id: str | None, severity: Literal["error", "note"]) -> None:
        if len(self.findings) < _LISTED:
            # Agents may pass anything, whatever the signature says.
            where = Where(file=str(self._path), run=run_id if isinstance(run_id, str) else repr(run_id))
            self.findings.append(Finding(code=code, message=message, where=where, severity=severity))


class ClosedFile(Struct):
    """Replaces a ledger that could not be opened: nothing can be appended to it."""

    path: Path
    findings: list[Finding] = msgspec.field(default_factory=list)

    def append(self, run_id: str, *_: object) -> NoReturn:
        """Refuses."""
        raise UntakenError(
            "ledger-closed", "the ledger could not be opened", where=Where(file=str(self.path), run=run_id)
        )

    def checkpoint(self) -> None:
        """There is nothing to do."""

    def close(self) -> None:
        """There is nothing to do."""


def run_ids(run_id: str) -> Iterator[str]:
    """The id, then ids for further runs under it."""
    yield run_id
    yield from (f"{run_id}~{n}" for n in range(2, limits.EVENTS_PER_RUN))


def salvaged(draft: Draft, error: Exception | None) -> Iterator[Draft]:
    """What is written in place of an event that could not be: a note; the run's beginning and end survive."""
    name = event_type(draft.event)
    if draft.event is RunStarted:
        given = {key: draft.fields.get(key) for key in ("agent", "task_id")}
        names = {key: "unknown" if each in (None, "") else str(each) for key, each in given.items()}
        yield Draft(RunStarted, {key: _fit(each, limits.NAME_CHARS) for key, each in names.items()})
    message = error.message if isinstance(error, UntakenError) else _words(error)
    yield Draft(Message, {"role": ROLE, "content": {"not_recorded": name, "message": _fit(message)}})
    if draft.event is RunFinished:
        yield Draft(RunFinished, _outcome(draft.fields, message))


def _outcome(fields: Any, message: str) -> dict[str, Any]:
    """The part of an outcome that is sure to be writable."""
    success, steps = fields.get("success"), fields.get("steps")
    sound = isinstance(steps, int) and 0 <= steps < limits.EVENTS_PER_RUN
    return {
        "success": success if isinstance(success, bool) else None,
        "steps": int(steps) if sound else None,
        "error": _fit(str(fields.get("error") or f"not recorded as given: {message}")),
    }


def _fit(text: str, most: int = 1_000) -> str:
    return text.encode("utf-8", "replace").decode()[:most]  # half a surrogate pair cannot be written


def _words(error: Exception | None) -> str:
    return f"{type(error).__name__}: {error}"
