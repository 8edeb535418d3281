"""What the command line prints: aligned tables on stdout, the rest on stderr."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

from msgspec import Struct

from untaken import numbers
from untaken.errors import Finding, Score, Unscored
from untaken.numbers import Number

if TYPE_CHECKING:
    from untaken.views import Document, Part

CELL_CHARS: Final = 72
SHOWN_OF_A_KIND: Final = 3
NOTHING: Final = "–"
Row = TypeVar("Row")


def plain(text: object, limit: int | None = None) -> str:
    """Text that cannot steer a terminal: control and direction characters are spelled out."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))
    return shown if limit is None or len(shown) <= limit else shown[: limit - 1] + "…"


def rate(value: Score, *, of: str = "") -> str:
    """A rate with what it rests on; ``–`` where it is unscored."""
    return f"{decimal(value)} {of if not isinstance(value, Unscored) else ''}".rstrip()


def span(low: Score, high: Score, digits: int = 3) -> str:
    """Both ends of an interval; ``–`` where one is unscored."""
    return numbers.interval(low, high, decimal, digits, unknown=NOTHING)


def decimal(value: Number, digits: int = 3) -> str:
    """A number with its decimals."""
    # A hyphen for its minus: other tools then read a number.
    return numbers.decimal(value, digits, unknown=NOTHING).replace("−", "-")


def signed(value: Number, digits: int = 3) -> str:
    """A difference with its sign; its minus is a hyphen."""
    return numbers.signed(value, digits, unknown=NOTHING).replace("−", "-")


class Console(Struct, frozen=True, kw_only=True):
    """Where output goes."""

    json: bool = False  # one document on stdout, and nothing else there
    out: TextIO
    err: TextIO

    @classmethod
    def of_process(cls, *, json: bool = False) -> Console:
        """The process's own streams, as they are now."""
        return cls(json=json, out=sys.stdout, err=sys.stderr)

    def say(self, text: str = "") -> None:
        """A line for a human reader."""
        if not self.json:
            self.out.write(text + "\n")

    def document(self, document: Document | Part) -> None:
        """The document, where ``--json`` asked for it; in either mode its findings, on stderr."""
        # In either mode: a person sees what is wrong even if a program reads the document.
        self.findings(getattr(document, "findings", ()))
        if self.json:
            from untaken.views import dump  # noqa: PLC0415 (slow: most of the engine)

            self.out.write(dump(document))

    def write(self, text: str) -> None:
        """Text that is the answer itself, such as an exported graph; a file gets it as it is."""
        # Pipes and files get the bytes as they are.
        self.out.write("\n".join(map(plain, text.split("\n"))) if self.out.isatty() else text)

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Aligned columns: numbers to the right, text to the left."""
        if self.json:
            return
        cells = [[plain(cell, CELL_CHARS) for cell in row] for row in rows]
        widths = [max(len(row[i]) for row in [list(headings), *cells]) for i in range(len(headings))]
        right = [bool(cells) and all(_is_figure(row[i]) for row in cells) for i in range(len(headings))]
        for row in [list(headings), *cells]:
            padded = (
                cell.rjust(width) if flush else cell.ljust(width)
                for cell, width, flush in zip(row, widths, right, strict=True)
            )
            self.say("  ".join(padded).rstrip())

    def columns(self, rows: Iterable[Row], *columns: str | tuple[str, Callable[[Row], object]]) -> None:
        """A table of one row each.

        Args:
            rows: of the table.
            columns: the heading with the value of a row; or ``"heading=place, name"``, of values that a row
                holds, under another name or their own, as `shown` writes them.
        """
        every: list[tuple[str, Callable[[Row], object]]] = []
        for column in columns:
            for word in column.split(", ") if isinstance(column, str) else (column,):
                every.append(_declared(word) if isinstance(word, str) else word)
        self.table([name for name, _ in every], [[value(row) for _, value in every] for row in rows])

    def warn(self, text: str) -> None:
        """A line on stderr, in either mode."""
        self.err.write(text + "\n")

    def findings(self, findings: Iterable[Finding]) -> None:
        """Errors and warnings on stderr, the first few of each kind, each next step once."""
        listed = [finding for finding in findings if finding.severity != "note"]  # these are in the document
        seen: Counter[str] = Counter()
        hints: set[str] = set()
        for finding in listed:
            seen[finding.code] += 1
            if seen[finding.code] <= SHOWN_OF_A_KIND:
                where = plain(finding.where)
                place = f"{where}: " if where else ""
                self.warn(f"{finding.severity}: {place}{plain(finding.message)} [{finding.code}]")
                if finding.hint and finding.hint not in hints:
                    hints.add(finding.hint)
                    self.warn(f"  → {plain(finding.hint)}")
        for code, count in seen.items():
            if count > SHOWN_OF_A_KIND:
                self.warn(f"… and {count - SHOWN_OF_A_KIND} more [{code}]; --json lists them all")

    def progress(self, done: int, total: int, what: str) -> None:
        """How far the work is, on a terminal only."""
        if self.err.isatty():
            end = "\n" if done == total else ""
            self.err.write(f"\r\x1b[K{plain(what, CELL_CHARS)} {done}/{total}{end}")
            self.err.flush()


def _declared(column: str) -> tuple[str, Callable[[object], str]]:
    heading, _, place = column.rpartition("=")
    return heading or place.partition(":")[0], partial(shown, place=place)


def shown(row: object, place: str) -> str:
    """What a row holds at a place, as a table shows it; ``–`` where there is nothing.

    ``a.b`` is the `b` of the `a`, ``low…high`` an interval, ``a/b`` both, ``a b/c`` also what `a` rests on.
    The format follows a colon: of numbers ``.2`` decimals (three by default), with a sign ``+`` or ``+.2``,
    ``p`` for a p-value; of text and times as Python's own.
    """
    place, _, how = place.partition(":")
    first, _, of = place.partition(" ")
    low, _, high = first.partition("…")
    if high:
        write = partial(_written, how=how)
        return numbers.interval(attrgetter(low)(row), attrgetter(high)(row), write, unknown=NOTHING)
    value = "/".join(_written(attrgetter(name)(row), how) for name in first.split("/"))
    return f"{value} {shown(row, of)}" if of and value != NOTHING else value


def _written(value: Any, how: str) -> str:
    if value is None or isinstance(value, Unscored) or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or NOTHING
    if how == "p":
        return numbers.p_value(value)
    if how.startswith("+"):
        return signed(value, int(how[2:] or 3))
    if isinstance(value, float) or (how and isinstance(value, int)):
        return decimal(value, int(how[1:] or 3))
    return f"{value:{how}}"


def _is_figure(cell: str) -> bool:
    return cell == NOTHING or cell[:1].isdigit() or (cell[:1] in "+-<" and cell[1:2].isdigit())
