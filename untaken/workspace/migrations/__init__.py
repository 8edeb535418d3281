"""The steps by which the database of an earlier version becomes one of this version (Alembic)."""
