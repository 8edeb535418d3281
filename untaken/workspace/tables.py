"""The tables of the workspace database, in types that SQLite and PostgreSQL share."""

from __future__ import annotations

import re

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

metadata = MetaData()


class Words(TypeDecorator[str]):
    """Untrusted text: PostgreSQL refuses U+0000 in a text, so that there it is written in two characters."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The value as the database stores it."""
        if value is None:
            return None
        value = value.encode("utf-8", "replace").decode()  # a file name may hold what is no character
        if dialect.name == "sqlite":
            return value
        # U+001A begins an escape, so one in the text itself is doubled
        return value.replace("\x1a", "\x1a\x1a").replace("\x00", "\x1a0")

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """The value as it was before."""
        if value is None or dialect.name == "sqlite" or "\x1a" not in value:
            return value
        return re.sub("\x1a([\x1a0])", lambda m: "\x00" if m[1] == "0" else "\x1a", value)


def _numbered(name: str, *columns: SchemaItem) -> Table:
    """A table whose rows are numbered in the order in which they came."""
    position = Column("position", Integer, primary_key=True, autoincrement=True)
    return Table(name, metadata, position, *columns)


files = _numbered(
    "files",
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", Words, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("added_at", String(40), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("path", Text),
    Column("runs", Integer, nullable=False),
    Column("origin", Words),
    Column("graph_id", Words),
    Column("graph_version", BigInteger),
    Column("findings", Text, nullable=False),
    Column("loss", Text, nullable=False),
)

heads = _numbered(
    "heads",
    Column("run_id", Words, nullable=False, index=True),
    Column("file", String(64), nullable=False, index=True),
    Column("events", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("accepted", Boolean, nullable=False),
    Column("superseded", Boolean, nullable=False),
    Column("recorded_at", String(40), nullable=False),
    UniqueConstraint("run_id", "file"),
)
"""The head each run of each file is compared with.

`accepted`: this row is the run's recorded head. `superseded`: it was, until another took its place."""

audit = _numbered(
    "audit",
    Column("ts", String(40), nullable=False),
    Column("code", String(80), nullable=False),
    Column("message", Words, nullable=False),
    Column("run", Words, nullable=False),
    Column("said", String(64), nullable=False, unique=True),
)
"""What happened, once for the same words about the same run: a digest of the three, in the column `said`."""

removals = _numbered(
    "removals",
    Column("file", String(64), nullable=False, index=True),
    Column("removed_at", String(40), nullable=False),
    Column("restored_at", String(40)),
    Column("purged_at", String(40)),
)
"""Every time a file was removed; it is gone while one of them has not been restored.

`purged_at`: its bytes were deleted. The rows of a file stay, and with them the heads of its runs."""

graph_versions = _numbered(
    "graph_versions",
    Column("graph_id", Words, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("file", String(64), nullable=False, index=True),
    Column("based_on", BigInteger),
    Column("author", Words, nullable=False),
    Column("message", Words, nullable=False),
    Column("saved_at", String(40), nullable=False),
    UniqueConstraint("graph_id", "version"),
)
"""Every version of every plan graph: `file` digests its bytes, `based_on` is the version it was made from."""

graph_drafts = _numbered(
    "graph_drafts",
    Column("graph_id", Words, nullable=False),
    Column("author", Words, nullable=False),
    Column("content", Words, nullable=False),
    Column("based_on", BigInteger),
    Column("updated_at", String(40), nullable=False),
    UniqueConstraint("graph_id", "author"),
)
"""What somebody is writing and has not saved."""

text_drafts = _numbered(
    "text_drafts",
    Column("author", Words, nullable=False),
    Column("place", String(64), nullable=False),
    Column("content", Words, nullable=False),
    Column("updated_at", String(40), nullable=False),
    UniqueConstraint("author", "place"),
)
"""Texts typed into fields and not saved: `place` is a digest of the field and of what it is about."""

reviews = _numbered(
    "reviews",
    Column("run", String(64), nullable=False, unique=True),
    Column("run_id", Words, nullable=False),
    Column("status", String(20), nullable=False),
    Column("assignee", Words, nullable=False),
    Column("tags", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("updated_at", String(40), nullable=False),
    Column("updated_by", Words, nullable=False),
)
"""The review of a run: `run` is `Run.digest`, `tags` a JSON list, `revision` counts changes."""

review_log = _numbered(
    "review_log",
    Column("run", String(64), nullable=False, index=True),
    Column("author", Words, nullable=False),
    Column("ts", String(40), nullable=False),
    Column("field", String(40), nullable=False),
    Column("before", Words, nullable=False),
    Column("after", Words, nullable=False),
)
"""Every change of a review."""

appends = _numbered(
    "appends",
    Column("file", String(64), nullable=False, index=True),
    Column("run_id", Words, nullable=False),
    Column("events_before", Integer, nullable=False),
    Column("sha256_before", String(64), nullable=False),
    Column("events_after", Integer, nullable=False),
    Column("sha256_after", String(64), nullable=False),
    Column("bytes_before", BigInteger, nullable=False),
    Column("created_at", String(40), nullable=False),
)
"""Appends to stored ledgers that were announced and are not done: recovery completes or undoes them."""

own_events = _numbered(
    "own_events",
    Column("run_id", Words, nullable=False, index=True),
    Column("events_before", Integer, nullable=False),
    Column("sha256_before", String(64), nullable=False),
    Column("events_after", Integer, nullable=False),
    Column("sha256_after", String(64), nullable=False),
    Column("written_at", String(40), nullable=False),
)
"""Every append that this workspace completed: everything else in a ledger came with a file."""

conversions = _numbered(
    "conversions",
    Column("source", String(64), nullable=False),
    Column("result", String(64), nullable=False, index=True),
    UniqueConstraint("source", "result"),
)
"""Which ledgers and plan graphs came out of which foreign traces (digests of `files`, or of `bundled`)."""

bundled = _numbered(
    "bundled",
    Column("bundle", String(64), nullable=False, index=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", Words, nullable=False),
    Column("first", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("runs", Integer, nullable=False),
)
"""Ledgers that are kept in one file with others: `bundle` is that file, `first` their first byte in it."""

marks = Table(
    "marks",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
"""What the workspace remembers of itself: its folder, when it was purged last."""
