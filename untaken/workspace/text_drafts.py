"""Text that a person typed and has not saved, kept per person and by what it is about."""

from __future__ import annotations

from hashlib import sha256

from sqlalchemy import Engine, delete, select

from untaken import limits
from untaken.errors import UntakenError
from untaken.workspace.database import reading, writing
from untaken.workspace.records import now, put
from untaken.workspace.tables import text_drafts as table


class TextDrafts:
    """The unsaved texts of a workspace, on its database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, author: str, about: tuple[str, ...], content: str) -> None:
        """Writes a draft in the place of the author's earlier one; an empty text deletes it.

        Raises:
            UntakenError: ``text-too-large``; the earlier draft stays then.
        """
        if len(content) > limits.TEXT_DRAFT_CHARS:
            raise UntakenError(
                "text-too-large",
                f"the text has {len(content):,} characters",
                hint=f"At most {limits.TEXT_DRAFT_CHARS:,}; nothing was saved.",
            )
        with writing(self._engine) as connection:
            if content:
                put(connection, table, _key(author, about), {"content": content, "updated_at": now()})
            else:
                connection.execute(delete(table).filter_by(**_key(author, about)))

    def find(self, author: str, about: tuple[str, ...]) -> str:
        """The author's draft; empty if there is none."""
        with reading(self._engine) as connection:
            chosen = select(table.c.content).filter_by(**_key(author, about))
            return connection.execute(chosen).scalar_one_or_none() or ""

    def places(self, author: str) -> frozenset[str]:
        """`place_of` everything that the author has a draft about."""
        with reading(self._engine) as connection:
            chosen = select(table.c.place).filter_by(author=author[: limits.AUTHOR_CHARS])
            return frozenset(connection.execute(chosen).scalars())


def place_of(about: tuple[str, ...]) -> str:
    """Where a text is kept: a digest, as names from a ledger may be too long for an index."""
    # With their lengths, so that no two lists of parts give the same text.
    named = "\0".join(f"{len(part)}:{part}" for part in about)
    return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()


def _key(author: str, about: tuple[str, ...]) -> dict[str, str]:
    return {"author": author[: limits.AUTHOR_CHARS], "place": place_of(about)}
