"""The memory file (`*.memory.jsonl`): one observation a line, read strictly, written atomically.

A line's canonical form is what `line_of` writes; a file may be formatted otherwise (a person's script may
have made it), but every line must be one well-formed observation with no unknown, missing or repeated field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from untaken.counterfactual.memory.lines import encode, numbered, parse, replace_lines
from untaken.counterfactual.memory.record import Observed
from untaken.counterfactual.memory.sums import WEIGHTS
from untaken.errors import UntakenError, Where

_HINT: Final = "rebuild the memory from its ledgers with `untaken memory build`"
_AT_ONCE: Final = 4096
_decoder = msgspec.json.Decoder(Observed)
_encode_lines = msgspec.json.Encoder().encode_lines


def line_of(observed: Observed) -> bytes:
    """The observation as one canonical line, newline included."""
    return encode(observed) + b"\n"


def checked(observed: Observed, where: Where | None = None) -> Observed:
    """The observation as its own line reads back, in UTC: what is stored is what will be loaded.

    Raises:
        UntakenError: ``memory-invalid`` where a field is out of range, or does not survive being written
            (NaN).
    """
    try:
        stored = _decoder.decode(encode(observed))
    except (msgspec.MsgspecError, UnicodeError, TypeError) as error:
        raise _invalid(f"an observation cannot be stored: {error}", where) from error
    # NaN is written as null, which reads back as a cost that nobody recorded.
    if stored != observed:
        raise _invalid("an observation has a number that JSON cannot hold", where)
    return _in_form(stored, where)


def all_checked(observations: Iterable[Observed]) -> Iterator[list[Observed]]:
    """`checked` of each, in order; many at a time are written and read back at once.

    Those that read back as they are stay the objects that they are: they share their texts with their run.
    """
    coming = iter(observations)
    while some := list(islice(coming, _AT_ONCE)):
        yield from [some] if _in_form_already(some) else ([checked(one)] for one in some)


def _in_form_already(some: list[Observed]) -> bool:
    try:
        lines = _encode_lines(some)
        stored = _decoder.decode_lines(lines)
    except (msgspec.MsgspecError, UnicodeError, TypeError):  # each alone then: that names the one at fault
        return False
    # By identity: the same moment in another zone is equal, and is written otherwise.
    in_form = all(o.weight == WEIGHTS[o.kind] and o.ts.tzinfo is UTC for o in some)
    # 1 equals 1.0, and is written otherwise.
    return in_form and stored == some and _encode_lines(stored) == lines


def parse_line(line: bytes, where: Where) -> Observed:
    """The observation on one line.

    Raises:
        UntakenError: ``memory-malformed`` for bytes that are no observation, ``memory-invalid`` for wrong
            figures.
    """
    return _in_form(parse(line, _decoder, where, what="an observation", hint=_HINT), where)


def read_log(path: Path) -> Iterator[tuple[Observed, Where]]:
    """Every observation of a file with its place, in file order, in bounded memory.

    Raises:
        UntakenError: ``memory-missing``, ``memory-too-large``, ``memory-malformed``, ``memory-invalid``.
    """
    try:
        file = path.open("rb")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UntakenError(
            "memory-missing",
            "no policy memory found",
            where=Where(file=str(path)),
            hint="build one with `untaken memory build`",
        ) from error
    with file:
        for line, where in numbered(file, path.name):
            yield parse_line(line, where), where


def write_log(path: Path, log: Iterable[Observed]) -> None:
    """Replace the file by these observations, as canonical lines."""
    replace_lines(path, map(line_of, log))


def _in_form(observed: Observed, where: Where | None) -> Observed:
    if observed.weight != WEIGHTS[observed.kind]:
        raise _invalid(f"the weight of a {observed.kind} record is {WEIGHTS[observed.kind]}", where)
    if observed.ts.tzinfo is UTC:
        return observed
    try:
        return msgspec.structs.replace(observed, ts=observed.ts.astimezone(UTC))
    except OverflowError as error:
        raise _invalid("the time is outside the supported range in UTC", where) from error


def _invalid(message: str, where: Where | None) -> UntakenError:
    hint = "an observation has success 0..1, cost and steps ≥ 0 or null, and a moment with a time zone"
    return UntakenError("memory-invalid", message, where=where, hint=hint)
