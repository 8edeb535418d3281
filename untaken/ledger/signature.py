"""Tells a ledger, whole or broken, from a file that was never one (`interface.md` §1)."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from typing import Final, get_args

from untaken.errors import UntakenError, Where
from untaken.ledger import events as e

LINES: Final = 100
"""Lines looked at: a ledger whose beginning is destroyed still shows itself by the lines after it."""
_TYPES: Final = "|".join(map(e.event_type, get_args(e.AnyEvent)))
_ZIP: Final = b"PK\x03\x04"
_TYPE: Final = re.compile(rb'"type"\s{0,8}:\s{0,8}"(?:' + _TYPES.encode() + rb')"')


def has_event_signature(head: bytes) -> bool:
    """True where one of the first lines is, or was meant as, a ledger event.

    Args:
        head: the first bytes of the content, decompressed; its last line may be cut.

    An event names its ``type`` and ``run_id``, and besides ``seq``, ``prev`` or a type of this program. What
    lacks that is no broken ledger but another file.
    """
    if head.startswith(_ZIP) or is_tar(head):  # its members may show through, where they are not compressed
        return False
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # then the reader can say that this is what is wrong
        head = head.decode("utf-16", errors="ignore").encode(errors="ignore")
    return any(_is_event(line) for line in head.split(b"\n", LINES)[:LINES])


def is_tar(head: bytes) -> bool:
    """True for the first bytes of a tar archive."""
    return head[257:262] == b"ustar"


def _is_event(line: bytes) -> bool:
    if b'"type"' not in line or b'"run_id"' not in line:
        return False
    if not line.lstrip(b"\xef\xbb\xbf \t\r").startswith(b"{"):
        return False
    return b'"seq"' in line or b'"prev"' in line or _TYPE.search(line) is not None


def not_a_ledger(name: str) -> UntakenError:
    """The finding for a file without the signature, from a reader that knows no other formats."""
    return UntakenError(
        "not-a-ledger",
        "not a ledger: none of its first lines is an event of a run",
        where=Where(file=name),
        hint="Run `untaken verify` to identify it, or `untaken convert` to convert other traces.",
    )
