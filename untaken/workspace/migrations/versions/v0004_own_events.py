"""Which events the workspace appended itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Makes their table."""
    op.create_table(
        "own_events",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("events_before", sa.Integer, nullable=False),
        sa.Column("sha256_before", sa.String(64), nullable=False),
        sa.Column("events_after", sa.Integer, nullable=False),
        sa.Column("sha256_after", sa.String(64), nullable=False),
        sa.Column("written_at", sa.String(40), nullable=False),
    )
    op.create_index("ix_own_events_run_id", "own_events", ["run_id"])
