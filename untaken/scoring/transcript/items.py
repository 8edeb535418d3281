"""What a transcript is made of."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

MarkKind = Literal[
    "attempted",
    "completed",
    "plan",
    "plan_change",
    "decisive",
    "verdict",
    "note",
    "failure_mode",
    "injection",
]
ItemKind = Literal["message", "call", "result", "plan", "decision", "state", "verdict", "start", "end"]
Speaker = Literal["agent", "user", "system", "tool", "environment"]


class Mark(Struct, frozen=True, kw_only=True, gc=False):
    """Something to be seen in the margin of an event; its words may be untrusted.

    Attributes:
        sub_goal: id of the sub-goal that it is about; empty where it is about none.
    """

    kind: MarkKind
    words: str
    sub_goal: str = ""


class TranscriptResult(Struct, frozen=True, kw_only=True, gc=False):
    """What came back from a call; `ok` as recorded."""

    seq: int
    ok: bool | None
    text: str
    cut: bool
    transient: bool


class TranscriptItem(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that was said or done; names and texts are untrusted.

    Attributes:
        seq: of its event; the results of a call have their own.
        speaker: who it was by; `name` as the ledger says it (the role of a message).
        title: the tool of a call, the choice of a decision, what a verdict says and by whom; empty for words.
        text: what was said, at most as many characters as the transcript gives each text; `cut` where there
            is more.
        arguments: of a call, each as text.
        results: what came back from it, in order.
    """

    seq: int
    kind: ItemKind
    speaker: Speaker
    name: str
    title: str = ""
    text: str = ""
    cut: bool = False
    arguments: tuple[tuple[str, str], ...] = ()
    results: tuple[TranscriptResult, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a result of it is recorded as a failure, or the run ended as one."""
        return any(result.ok is False or result.transient for result in self.results)


class Transcript(Struct, frozen=True, kw_only=True):
    """A run as a conversation, in the order of its ledger.

    Attributes:
        items: what was said and done; a result is part of its call. Of a long run, one part of it.
        parts: `seq` of the event that each part of the run begins with; `part` is which of them this is.
    """

    digest: str
    items: tuple[TranscriptItem, ...]
    parts: tuple[int, ...]
    part: int
