"""Ledgers with one defect each, made from one real run: what a reader must notice, and call by its name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

Lines = list[bytes]
Heads = dict[str, dict[str, object]]
LAST = -1
PREV = re.compile(rb'"prev":"[0-9a-f]{64}"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A way to spoil a run.

    Attributes:
        spoil: from the run's lines to the file's.
        relink: repair the chain afterwards, as a careful forger would; `rehead`: record its new end too.
        line: the first bad line a reader should name, if any; `LAST` for the file's last.
    """

    name: str
    verdict: str
    what: str
    spoil: Callable[[Lines], Lines]
    relink: bool = False
    rehead: bool = False
    line: int | None = None


def relinked(lines: Lines) -> Lines:
    """The same lines with a chain that holds."""
    chained: Lines = []
    for line in lines:
        prev = sha256(chained[-1]).hexdigest() if chained else "0" * 64
        chained.append(PREV.sub(b'"prev":"%s"' % prev.encode(), line, count=1))
    return chained


def edit(number: int, old: bytes, new: bytes) -> Callable[[Lines], Lines]:
    """Replace something in one line (counted from 1)."""

    def spoil(lines: Lines) -> Lines:
        before = lines[number - 1]
        if old not in before:
            raise ValueError(f"line {number} of the source run has no {old!r}")
        return [*lines[: number - 1], before.replace(old, new, 1), *lines[number:]]

    return spoil


def insert(number: int, line: bytes) -> Callable[[Lines], Lines]:
    """Put a line before another."""
    return lambda lines: [*lines[: number - 1], line, *lines[number - 1 :]]


def after_the_end(fields: str) -> Callable[[Lines], Lines]:
    """One more event of the same run after its last, properly chained."""

    def spoil(lines: Lines) -> Lines:
        last = json.loads(lines[-1])
        event = f'"run_id":"{last["run_id"]}","seq":{last["seq"] + 1},"ts":"{last["ts"]}","prev":"{"0" * 64}"'
        kind, _, rest = fields.partition(",")
        return [*lines, f"{{{kind},{event},{rest}}}".encode()]

    return spoil


def flip_byte(lines: Lines) -> Lines:
    """One bit of one letter in a message."""
    return edit(3, b'"content":"The', b'"content":"Uhe')(lines)


def swap(lines: Lines) -> Lines:
    """Two neighbours change places."""
    return [*lines[:5], lines[6], lines[5], *lines[7:]]


def wrong_seq(lines: Lines) -> Lines:
    """A number is left out of the count."""
    return [re.sub(rb'"seq":(\d+)', lambda m: b'"seq":%d' % (int(m[1]) + (int(m[1]) > 4)), x) for x in lines]


def cost(value: bytes) -> Callable[[Lines], Lines]:
    """Another cost in the run's last line."""
    return lambda lines: [*lines[:-1], re.sub(rb'"cost":[0-9.]+', b'"cost":' + value, lines[-1])]


def without_start(lines: Lines) -> Lines:
    """Remove the first line and renumber the others."""
    return [re.sub(rb'"seq":(\d+)', lambda m: b'"seq":%d' % (int(m[1]) - 1), x) for x in lines[1:]]


def change_outcome(lines: Lines) -> Lines:
    """A success becomes a failure."""
    return edit(len(lines), b'"success":true', b'"success":false')(lines)


def unchanged(lines: Lines) -> Lines:
    """The file is as it was: the defect is beside it."""
    return lines


OK, THE, CONTENT = b'"ok":', b'"The', b'"content":'
LIST = b'["not", "an", "event"]'
BRACKETS = CONTENT + b"[" * 1_000 + b"]" * 1_000 + b',"was":'
NOTE = '"type":"REVIEW_NOTE","author":"nobody","text":"all fine"'
FINISH = '"type":"RUN_FINISHED","success":false,"steps":6'
CALL = '"type":"TOOL_CALL","call_id":"c99","tool":"issue_refund","arguments":{}'

altered = partial(Defect, verdict="ALTERED")
forged = partial(altered, relink=True)
malformed = partial(Defect, verdict="MALFORMED", relink=True, rehead=True)

DEFECTS = (
    altered(name="flipped-byte", what="one letter changed", spoil=flip_byte, line=4),
    altered(name="removed-line", what="a line is gone", spoil=lambda x: x[:5] + x[6:], line=6),
    altered(name="repeated-line", what="a line stands twice", spoil=lambda x: [*x[:6], *x[5:]], line=7),
    altered(name="swapped-lines", what="two lines changed places", spoil=swap, line=6),
    altered(name="forged-head", what="the recorded head is another's", spoil=unchanged, line=LAST),
    forged(name="wrong-seq", what="the count skips a number", spoil=wrong_seq, rehead=True, line=6),
    forged(name="rehashed-suffix", what="another outcome, chain repaired", spoil=change_outcome, line=LAST),
    forged(name="appended-line", what="a note no head counts", spoil=after_the_end(NOTE), line=LAST),
    Defect(name="cut-tail", verdict="TRUNCATED", what="the last lines are gone", spoil=lambda x: x[:-3]),
    Defect(name="no-heads", verdict="UNANCHORED", what="no head to compare with", spoil=unchanged),
    malformed(name="duplicate-key", what="one key twice", spoil=edit(6, OK, b'"ok":false,' + OK), line=6),
    malformed(name="not-a-number", what="NaN for a cost", spoil=cost(b"NaN"), line=LAST),
    malformed(name="infinity", what="a cost that fits no number", spoil=cost(b"1e999"), line=LAST),
    malformed(name="lone-surrogate", what="half a character", spoil=edit(3, THE, b'"\\ud83d'), line=3),
    malformed(name="broken-utf8", what="bytes that are no text", spoil=edit(3, THE, b'"\xff\xfe'), line=3),
    malformed(name="too-deep", what="a thousand brackets", spoil=edit(6, CONTENT, BRACKETS), line=6),
    malformed(name="unknown-event", what="a type nobody knows", spoil=edit(3, b"MESSAGE", b"OMEN"), line=3),
    malformed(name="missing-field", what="a call without a tool", spoil=edit(5, b"tool", b"loot"), line=5),
    malformed(
        name="half-a-line", what="a line stops short", spoil=lambda x: [*x[:-1], x[-1][:60]], line=LAST
    ),
    malformed(name="second-finish", what="the run ends twice", spoil=after_the_end(FINISH), line=LAST),
    malformed(name="call-after-finish", what="a call after the end", spoil=after_the_end(CALL), line=LAST),
    malformed(name="no-start", what="nobody started the run", spoil=without_start, line=1),
    Defect(name="not-an-object", verdict="MALFORMED", what="a line of no run", spoil=insert(6, LIST), line=6),
)


def head(lines: Lines) -> dict[str, object]:
    """The end of a chain, as the sidecar writes it."""
    return {"events": len(lines), "sha256": sha256(lines[-1]).hexdigest()}


def write_tampered(ledger: Path, run_id: str, folder: Path) -> None:
    """One ledger a defect, with its heads, and `expected.json` with the verdict each must get."""
    folder.mkdir(parents=True, exist_ok=True)
    marker = f'"run_id":"{run_id}"'.encode()
    lines = [line for line in ledger.read_bytes().splitlines() if marker in line]
    expected = {}
    for defect in DEFECTS:
        spoiled = defect.spoil(lines)
        spoiled = relinked(spoiled) if defect.relink else spoiled
        path = folder / f"{defect.name}.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in spoiled))
        heads: Heads = {run_id: head(spoiled if defect.rehead else lines)}
        if defect.name == "forged-head":
            heads[run_id]["sha256"] = sha256(b"somebody else's run").hexdigest()
        if defect.name != "no-heads":
            write_json(path.with_name(path.name + ".heads.json"), heads)
        line = len(spoiled) if defect.line == LAST else defect.line
        expected[path.name] = {"verdict": defect.verdict, "line": line, "what": defect.what}
    write_json(folder / "expected.json", expected)


def write_json(path: Path, value: object) -> None:
    """Readable, and the same bytes on every system."""
    path.write_bytes(json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n")
