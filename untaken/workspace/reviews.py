"""The review of each run: status, assignee, tags; every change is logged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Engine, Row, insert, select, update

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.workspace.database import reading, writing
from untaken.workspace.faults import of_row, row_reader
from untaken.workspace.records import now
from untaken.workspace.review_model import STATUSES, Review, ReviewChange, ReviewConflict, ReviewStatus
from untaken.workspace.tables import review_log
from untaken.workspace.tables import reviews as table


class Reviews:
    """The reviews of a workspace, on its database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def every(self) -> dict[str, Review]:
        """The review of each run, by the run's digest; without runs that have none."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(table).order_by(table.c.position))
            return {row.run: _review(row) for row in rows}

    def change(
        self,
        seen: Iterable[Review],
        *,
        author: str,
        status: ReviewStatus | None = None,
        assignee: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> list[Review | ReviewConflict]:
        """Changes reviews that are still as they were seen; what is not given stays.

        Raises:
            UntakenError: ``review-invalid``; nothing was changed then.
        """
        what = {"status": status, "assignee": assignee, "tags": tags}
        asked = {field: value for field, value in what.items() if value is not None}
        with writing(self._engine) as connection:
            return [_change(connection, one, author, asked) for one in seen]

    def history(self, runs: Iterable[str] | None = None) -> list[ReviewChange]:
        """Every change, oldest first; with `runs`, of these only (digests)."""
        chosen = select(review_log).order_by(review_log.c.position)
        if runs is not None:
            chosen = chosen.where(review_log.c.run.in_(list(runs)))
        with reading(self._engine) as connection:
            return [_logged(row) for row in connection.execute(chosen)]


def _change(
    connection: Connection, seen: Review, author: str, asked: Mapping[str, Any]
) -> Review | ReviewConflict:
    row = connection.execute(select(table).where(table.c.run == seen.run)).one_or_none()
    known = _review(row) if row is not None else Review(run=seen.run, run_id=seen.run_id)
    if known.revision != seen.revision:
        return ReviewConflict(seen=seen, now=known)
    wanted = {field: _CHECKED[field](value, seen) for field, value in asked.items()}
    changed = {field: value for field, value in wanted.items() if value != getattr(known, field)}
    if not changed:
        return known
    author, moment = _short(author, limits.AUTHOR_CHARS, seen), now()
    _write(connection, known, changed, author, moment)
    for field, value in changed.items():
        before, after = _words(getattr(known, field)), _words(value)
        values = {"run": seen.run, "author": author, "ts": moment, "field": field}
        connection.execute(insert(review_log).values({**values, "before": before, "after": after}))
    return _review(connection.execute(select(table).where(table.c.run == seen.run)).one())


def _write(connection: Connection, known: Review, changed: dict[str, Any], author: str, moment: str) -> None:
    values = {
        **changed,
        **({"tags": msgspec.json.encode(changed["tags"]).decode()} if "tags" in changed else {}),
        "revision": known.revision + 1,
        "updated_at": moment,
        "updated_by": author,
    }
    if known.revision:  # else nobody has touched it, and it has no row
        connection.execute(update(table).where(table.c.run == known.run).values(values))
        return
    unset = {"run": known.run, "run_id": known.run_id, "status": "new", "assignee": "", "tags": "[]"}
    connection.execute(insert(table).values({**unset, **values}))


@row_reader
def _logged(row: Row[Any]) -> ReviewChange:
    return of_row(ReviewChange, row)


@row_reader
def _review(row: Row[Any]) -> Review:
    return of_row(Review, row, tags=msgspec.json.decode(row.tags, type=tuple[str, ...]))


def _words(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _status(status: str, seen: Review) -> str:
    if status not in STATUSES:
        raise _invalid(f"there is no status {status!r}", f"One of: {', '.join(STATUSES)}.", seen)
    return status


def _tags(tags: Sequence[str], seen: Review) -> tuple[str, ...]:
    kept = tuple(dict.fromkeys(short for tag in tags if (short := _short(tag, limits.TAG_CHARS, seen))))
    if len(kept) > limits.TAGS_PER_RUN:
        raise _invalid(f"{len(kept)} tags", f"A run has at most {limits.TAGS_PER_RUN}.", seen)
    return kept


def _short(words: str, most: int, seen: Review) -> str:
    """The text on one line, without characters that no database can hold."""
    line = " ".join(words.encode(errors="replace").decode().split())
    if len(line) > most:
        raise _invalid(f"{line[:20]!r}… has {len(line)} characters", f"At most {most}.", seen)
    return line


def _invalid(message: str, hint: str, seen: Review) -> UntakenError:
    return UntakenError("review-invalid", message, where=Where(run=seen.run_id), hint=hint)


_CHECKED: Final[dict[str, Callable[[Any, Review], Any]]] = {
    "status": _status,
    "assignee": lambda assignee, seen: _short(assignee, limits.AUTHOR_CHARS, seen),
    "tags": _tags,
}
