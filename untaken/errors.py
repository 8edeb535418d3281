"""One error base, one finding, one way to say "unscored"."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, Final, Literal, NoReturn

from msgspec import Struct
from msgspec.structs import force_setattr

_ALIGNMENT: Final = re.compile(r"(?:(.)?([<>^]))?[-+ ]?0?(\d{0,4})")
_ADDRESS: Final = re.compile(r"\b(\w{2,12}:/{1,2})(?:[^\s/?#@]*@)?([^\s?#\"'<>]*)(?:\?[^\s#\"'<>]*)?")
Severity = Literal["error", "warning", "note"]


def bare_addresses(text: str) -> str:
    """The text, with no user, password or query in any address in it."""
    return _ADDRESS.sub(r"\1\2", text)


class Where(Struct, frozen=True, kw_only=True):
    """The place that a message refers to; every part is optional. Of an address, nothing secret is in it."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    run: str | None = None

    def __post_init__(self) -> None:
        # No message may give away the password in the address of a store.
        if self.file is not None and ":/" in self.file:
            force_setattr(self, "file", bare_addresses(self.file))

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        if self.column is not None:
            place += f":{self.column}" if self.line is not None else f" column {self.column}"
        run = f"run {self.run}" if self.run is not None else ""
        return ", ".join(part for part in (place, run) if part)


class UntakenError(Exception):
    """What went wrong, where, and what to do next.

    Attributes:
        code: stable kebab-case name of the fault, e.g. ``ledger-duplicate-key``.
        message: what went wrong, in words.
        where: file, line, column and run, as far as they are known.
        hint: the next step for the person who reads this.
    """

    def __init__(self, code: str, message: str, *, where: Where | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where or Where()
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the error, so that it can come from another process."""
        return partial(type(self), where=self.where, hint=self.hint), (self.code, self.message)

    def __str__(self) -> str:
        place = str(self.where)
        head = f"{place}: {self.message}" if place else self.message
        return f"{head} [{self.code}]" + (f"\n  → {self.hint}" if self.hint else "")

    def finding(self, severity: Severity = "error") -> Finding:
        """The same words as a finding, for lenient readers."""
        return Finding(
            code=self.code, message=self.message, where=self.where, hint=self.hint, severity=severity
        )


class Finding(Struct, frozen=True, kw_only=True):
    """Something noticed that did not stop the work (same parts as `UntakenError`)."""

    code: str
    message: str
    where: Where = Where()
    hint: str = ""
    severity: Severity = "warning"

    def as_error(self) -> UntakenError:
        """The same words as an error, where nothing else is left to work with."""
        return UntakenError(self.code, self.message, where=self.where, hint=self.hint)

    def about(self, file: str) -> Finding:
        """The same about a file that goes by another name."""
        where = self.where
        return Finding(
            code=self.code,
            message=self.message,
            where=Where(file=file, line=where.line, column=where.column, run=where.run),
            hint=self.hint,
            severity=self.severity,
        )


class Unscored(Struct, frozen=True):
    """A value for which there is no evidence: never 0, never a pass (§0.2).

    Attributes:
        reason: why there is no number, in words a reviewer can act on.
    """

    reason: str

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"unscored is neither true nor false ({self.reason}); "
            "ask isinstance(value, Unscored), or untaken.errors.number(value) is None"
        )

    def __format__(self, spec: str) -> str:
        """``unscored``, aligned as asked; what a specification says about numbers does not apply."""
        align = _ALIGNMENT.match(spec)
        fill, side, width = align.groups() if align else ("", "", "")
        return format("unscored", f"{fill or ''}{side or ('>' if width else '')}{width or ''}")


Score = float | Unscored


def first_few(names: Sequence[str], most: int, apart: str = ", ") -> str:
    """The first names, and how many more there are: ``a, b and 3 more``, or ``a; b; and 3 more``."""
    shown, left = apart.join(names[:most]), len(names) - most
    return f"{shown}{apart.rstrip(', ')} and {left:,} more" if left > 0 else shown


def number(value: Score | int | None) -> float | None:
    """The number for a file or a table: ``None`` where the value is unscored."""
    return None if value is None or isinstance(value, Unscored) else float(value)


def reason(value: Score | int | None) -> str | None:
    """Why a value is unscored; ``None`` where it is a number."""
    return value.reason if isinstance(value, Unscored) else None


class Refused(Struct, frozen=True):
    """What an operating system refuses: the code of the error, and what to do."""

    code: str
    hint: str


_FULL: Final = Refused("disk-full", "Free some space, or use another disk; then try again.")
_FORBIDDEN: Final = Refused("file-not-permitted", "Check who may read and write it, or name another place.")
_FAILED: Final = Refused("disk-failed", "Check that the disk is there and works; then try again.")
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


def one_of(asked: str, known: Collection[str]) -> str:
    """The hint about a name that is none of those known, with the one that may be meant."""
    # By a part of the name, else by nearly the name, else by nearly its start.
    near = [name for name in known if asked in name] or get_close_matches(asked, known, n=1)
    near = near or [name for name in known if get_close_matches(asked, [name[: len(asked)]])]
    return f"{f'Did you mean {near[0]}? ' if near else ''}One of: {', '.join(known)}."


def disk_trouble(error: OSError) -> UntakenError:
    """What the operating system refused, with the next step."""
    refused = _REFUSALS.get(error.errno or 0, _FAILED)
    file = str(error.filename) if error.filename else None
    return UntakenError(refused.code, str(error.strerror or error), where=Where(file=file), hint=refused.hint)


def refusal_in(words: str, file: str) -> OSError | None:
    """The refusal of the operating system that a library passes on in words only."""
    found = next((number for number in _REFUSALS if os.strerror(number) in words), None)
    return None if found is None else OSError(found, os.strerror(found), file)
