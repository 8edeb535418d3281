"""Which short ledgers are kept in one file."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Makes their table."""
    op.create_table(
        "bundled",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("bundle", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("runs", sa.Integer, nullable=False),
    )
    op.create_index("ix_bundled_bundle", "bundled", ["bundle"])
