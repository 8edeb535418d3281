"""Team work: versions and drafts of plan graphs, reviews, announced appends, purging, PostgreSQL's types."""

from __future__ import annotations

from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NAMES = {"uq": "%(table_name)s_%(column_0_N_name)s_key"}
"""How PostgreSQL names a constraint that was given no name."""


def upgrade() -> None:
    """Makes the new tables, and fills what follows from the old ones."""
    _widen_files()
    _say_once_by_digest()
    with op.batch_alter_table("removals") as removals:
        removals.add_column(sa.Column("purged_at", sa.String(40)))
    _graphs()
    _reviews()
    _appends()
    _number_graphs()


def _widen_files() -> None:
    with op.batch_alter_table("files") as files:
        files.alter_column("origin", type_=sa.Text, existing_type=sa.String(40))
        files.alter_column("bytes", type_=sa.BigInteger, existing_type=sa.Integer, existing_nullable=False)
        files.alter_column("graph_version", type_=sa.BigInteger, existing_type=sa.Integer)


def _say_once_by_digest() -> None:
    """An index over a whole message is more than PostgreSQL takes."""
    op.add_column("audit", sa.Column("said", sa.String(64)))
    connection = op.get_bind()
    for row in connection.execute(sa.text("SELECT position, code, message, run FROM audit")).all():
        connection.execute(
            sa.text("UPDATE audit SET said = :said WHERE position = :position"),
            {"said": _key(row.code, row.message, row.run), "position": row.position},
        )
    with op.batch_alter_table("audit", naming_convention=NAMES) as audit:
        audit.drop_constraint("audit_code_message_run_key", type_="unique")
        audit.alter_column("said", existing_type=sa.String(64), nullable=False)
        audit.create_unique_constraint("audit_said_key", ["said"])


def _key(*words: str) -> str:
    return sha256("\0".join(words).encode(errors="surrogatepass")).hexdigest()


def _graphs() -> None:
    op.create_table(
        "graph_versions",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("graph_id", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("file", sa.String(64), nullable=False, index=True),
        sa.Column("based_on", sa.BigInteger),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("saved_at", sa.String(40), nullable=False),
        sa.UniqueConstraint("graph_id", "version"),
    )
    op.create_table(
        "graph_drafts",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("graph_id", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("based_on", sa.BigInteger),
        sa.Column("updated_at", sa.String(40), nullable=False),
        sa.UniqueConstraint("graph_id", "author"),
    )


def _reviews() -> None:
    op.create_table(
        "reviews",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run", sa.String(64), nullable=False, unique=True),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("assignee", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.String(40), nullable=False),
        sa.Column("updated_by", sa.Text, nullable=False),
    )
    op.create_table(
        "review_log",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run", sa.String(64), nullable=False, index=True),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("ts", sa.String(40), nullable=False),
        sa.Column("field", sa.String(40), nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("after", sa.Text, nullable=False),
    )


def _appends() -> None:
    op.create_table(
        "appends",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("file", sa.String(64), nullable=False, index=True),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("events_before", sa.Integer, nullable=False),
        sa.Column("sha256_before", sa.String(64), nullable=False),
        sa.Column("events_after", sa.Integer, nullable=False),
        sa.Column("sha256_after", sa.String(64), nullable=False),
        sa.Column("bytes_before", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.String(40), nullable=False),
    )
    op.create_table(
        "conversions",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("source", sa.String(64), nullable=False),
        sa.Column("result", sa.String(64), nullable=False, index=True),
        sa.UniqueConstraint("source", "result"),
    )
    op.create_table(
        "marks",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )


def _number_graphs() -> None:
    """Graphs added so far get the version they state, or where another graph has it the next free one."""
    connection = op.get_bind()
    numbers: dict[str, set[int]] = {}
    graphs = sa.text("SELECT * FROM files WHERE kind = 'graph' ORDER BY position")
    for row in connection.execute(graphs).all():
        taken = numbers.setdefault(row.graph_id, set())
        version = row.graph_version if row.graph_version not in taken else max(taken) + 1
        taken.add(version)
        values = {"graph_id": row.graph_id, "version": version, "file": row.digest, "saved_at": row.added_at}
        connection.execute(
            sa.text(
                "INSERT INTO graph_versions (graph_id, version, file, author, message, saved_at)"
                " VALUES (:graph_id, :version, :file, 'upload', '', :saved_at)"
            ),
            values,
        )
        connection.execute(sa.text("UPDATE files SET graph_version = :version WHERE digest = :file"), values)
