"""Files, the heads of their runs, the audit log, removals: the tables before there were migrations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Makes the tables."""
    op.create_table(
        "files",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("added_at", sa.String(40), nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("path", sa.Text),
        sa.Column("runs", sa.Integer, nullable=False),
        sa.Column("origin", sa.String(40)),
        sa.Column("graph_id", sa.Text),
        sa.Column("graph_version", sa.Integer),
        sa.Column("findings", sa.Text, nullable=False),
        sa.Column("loss", sa.Text, nullable=False),
    )
    op.create_table(
        "heads",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.Text, nullable=False, index=True),
        sa.Column("file", sa.String(64), nullable=False, index=True),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("accepted", sa.Boolean, nullable=False),
        sa.Column("superseded", sa.Boolean, nullable=False),
        sa.Column("recorded_at", sa.String(40), nullable=False),
        sa.UniqueConstraint("run_id", "file"),
    )
    op.create_table(
        "audit",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("ts", sa.String(40), nullable=False),
        sa.Column("code", sa.String(80), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("run", sa.Text, nullable=False),
        sa.UniqueConstraint("code", "message", "run"),
    )
    op.create_table(
        "removals",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("file", sa.String(64), nullable=False, index=True),
        sa.Column("removed_at", sa.String(40), nullable=False),
        sa.Column("restored_at", sa.String(40)),
    )
