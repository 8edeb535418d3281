"""Views of the app that somebody named: a page with its filters and selection, for all of a workspace."""

from __future__ import annotations

from typing import Final

import msgspec
from sqlalchemy import Connection, Engine, select

from untaken import limits
from untaken.errors import UntakenError
from untaken.store.database import reading, writing
from untaken.store.records import put
from untaken.store.tables import marks

KEY: Final = {"name": "saved_views"}


class SavedView(msgspec.Struct, frozen=True, kw_only=True):
    """A page under a name.

    Attributes:
        name: unique in a workspace (untrusted).
        page: stem of the page's file, such as ``review``.
        query: names and values of its address, in order (untrusted).
    """

    name: str
    page: str
    query: tuple[tuple[str, str], ...] = ()


class SavedViews:
    """The saved views of a workspace, on its database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def every(self) -> list[SavedView]:
        """All views by name."""
        with reading(self._engine) as connection:
            return _read(connection)

    def save(self, view: SavedView) -> None:
        """Keeps a view, in the place of one of the same name.

        Raises:
            UntakenError: ``view-invalid``; nothing is saved then.
        """
        size = sum(len(name) + len(value) for name, value in view.query)
        if not view.name.strip() or len(view.name) > limits.VIEW_NAME_CHARS or size > limits.VIEW_CHARS:
            raise UntakenError(
                "view-invalid",
                f"the view has a name of {len(view.name):,} and an address of {size:,} characters",
                hint=f"Names have 1 to {limits.VIEW_NAME_CHARS} characters, addresses at most "
                f"{limits.VIEW_CHARS:,}. Nothing was saved.",
            )
        with writing(self._engine) as connection:
            others = [one for one in _read(connection) if one.name != view.name]
            if len(others) >= limits.VIEWS:
                raise UntakenError(
                    "view-invalid",
                    f"the workspace has {len(others)} saved views",
                    hint="Delete one you no longer need. Nothing was saved.",
                )
            _write(connection, [*others, view])

    def delete(self, name: str) -> None:
        """Deletes a view for good; no error if there is none."""
        with writing(self._engine) as connection:
            _write(connection, [one for one in _read(connection) if one.name != name])


def _read(connection: Connection) -> list[SavedView]:
    kept = connection.execute(select(marks.c.value).filter_by(**KEY)).scalar_one_or_none()
    return msgspec.json.decode(kept, type=list[SavedView]) if kept else []


def _write(connection: Connection, views: list[SavedView]) -> None:
    ordered = sorted(views, key=lambda view: (view.name.casefold(), view.name))
    put(connection, marks, KEY, {"value": msgspec.json.encode(ordered).decode()})
