"""Texts that people typed and have not saved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Makes their table."""
    op.create_table(
        "text_drafts",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("place", sa.String(64), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("updated_at", sa.String(40), nullable=False),
        sa.UniqueConstraint("author", "place"),
    )
