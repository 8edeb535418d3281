"""The review of a run, independent of the database."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

ReviewStatus = Literal["new", "in review", "explained", "fixed"]
STATUSES: Final[tuple[ReviewStatus, ...]] = ("new", "in review", "explained", "fixed")
REVIEWED: Final[frozenset[ReviewStatus]] = frozenset({"explained", "fixed"})


class Review(Struct, frozen=True, kw_only=True):
    """The review of one run; a run without a review is ``new`` at revision 0.

    Attributes:
        run: the run's digest; `run_id` its own id.
        assignee: who looks into it; empty for nobody (untrusted, as are the tags).
        revision: how many times it was changed.
        updated_at, updated_by: the last change.
    """

    run: str
    run_id: str
    status: ReviewStatus = "new"
    assignee: str = ""
    tags: tuple[str, ...] = ()
    revision: int = 0
    updated_at: datetime | None = None
    updated_by: str = ""

    @property
    def reviewed(self) -> bool:
        """Whether somebody came to an end with it: explained or fixed."""
        return self.status in REVIEWED


class ReviewChange(Struct, frozen=True, kw_only=True):
    """One change of a review: `field` is ``status``, ``assignee`` or ``tags``."""

    run: str
    author: str
    ts: datetime
    field: str
    before: str
    after: str


class ReviewConflict(Struct, frozen=True, kw_only=True):
    """Nothing was changed: somebody else changed the review after it was read; `now` is what it is now."""

    seen: Review
    now: Review
