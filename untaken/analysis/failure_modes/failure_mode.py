"""Failure modes, and the taxonomy that holds them (§9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict

from untaken import limits

ModeStatus = Literal["active", "merged", "split", "retired"]
ModeId = Annotated[str, Meta(min_length=1, max_length=80, pattern=r"^\w[\w.-]*$")]
Label = Annotated[str, Meta(min_length=1, max_length=limits.MODE_NAME_CHARS)]
Words = Annotated[str, Meta(max_length=limits.MODE_WORDS)]
Colour = Annotated[str, Meta(pattern="^#[0-9a-f]{6}$")]

COLOURS: Final = (
    *("#0b5c94", "#b34e00", "#00695c", "#8e3b8b", "#7a6a00", "#a3243b", "#3b5ba9", "#4e6b1f"),
    *("#6b4a2b", "#5e35b1", "#00708a", "#94461c"),
)
"""Assigned to modes in order; readable on white and on near-black, and never the only sign of a mode."""


class ModeContent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a change of a mode may change.

    Attributes:
        into: of a merged mode the one that took it over; of a split one those that it became.
    """

    name: Label
    definition: Words = ""
    examples: Annotated[list[Words], Meta(max_length=limits.MODE_EXAMPLES)] = []
    colour: Colour = COLOURS[0]
    status: ModeStatus = "active"
    into: list[ModeId] = []


class ModeChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody did to a mode: in which version of the taxonomy, who, when (RFC 3339), what and why."""

    version: int
    author: Label
    at: Label
    what: Words
    why: Words = ""
    before: ModeContent | None = None


class FailureMode(ModeContent, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One way in which runs go wrong.

    Attributes:
        id: what ledgers name it by; it never changes and is never used again.
        origin: the preset it came with; empty for one that a person wrote.
        history: every change, oldest first.
    """

    id: ModeId
    origin: str = ""
    history: list[ModeChange] = []

    @property
    def content(self) -> ModeContent:
        """What a change may change, as it is now."""
        known = asdict(self)
        return ModeContent(**{name: known[name] for name in ModeContent.__struct_fields__})

    @property
    def active(self) -> bool:
        """Whether it may be assigned."""
        return self.status == "active"


class Taxonomy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The failure modes of a workspace; `version` grows by one with every change. Modes are never deleted."""

    schema: Literal["untaken.failure-modes/1"] = "untaken.failure-modes/1"
    version: Annotated[int, Meta(ge=0, le=2**53)] = 0
    modes: Annotated[list[FailureMode], Meta(max_length=limits.FAILURE_MODES)] = []

    @property
    def active(self) -> list[FailureMode]:
        """Those that may be assigned, in order."""
        return [mode for mode in self.modes if mode.active]

    @property
    def by_id(self) -> Mapping[str, FailureMode]:
        """Every mode, past ones too."""
        return {mode.id: mode for mode in self.modes}

    def current(self, mode_id: str) -> str:
        """The id under which an assignment counts now.

        Merged modes count as the one that took them over. A retired mode, a split one (nobody knows which of
        its parts was meant) and one that is not in this taxonomy count as themselves.
        """
        known: dict[str, Any] = {mode.id: mode for mode in self.modes if mode.status == "merged"}
        while mode_id in known:  # it ends: a taxonomy with a circle is refused
            mode_id = known[mode_id].into[0]
        return mode_id

    def name(self, mode_id: str) -> str:
        """What a mode is called; the id of one that is not in this taxonomy. Untrusted text."""
        found = self.by_id.get(mode_id)
        return mode_id if found is None else found.name
