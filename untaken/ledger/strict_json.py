"""JSON without its traps: duplicate keys, NaN, lone surrogates, numbers that do not fit, endless nesting.

This is the slow, exact parser that names a fault and its column. The ledger's fast path
(`untaken.ledger.decoding`) calls it only for lines it cannot clear cheaply.
"""

from __future__ import annotations

import json
import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

from untaken import limits

INTEGER_LOW = -(1 << (limits.INTEGER_BITS - 1))
INTEGER_HIGH = (1 << limits.INTEGER_BITS) - 1
"""An integer fits when 64 bits hold it, signed or unsigned."""

_BOM = "\ufeff"
_INTEGER_CHARS = len(str(INTEGER_LOW))
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""One that does not close ends with the text: failing there would begin again at every quote inside it."""
_BRACKET = re.compile(r"[\[\]{}]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


class JsonFault(ValueError):
    """Why a text is not acceptable JSON, and where.

    Attributes:
        code: ending of the error code, e.g. ``duplicate-key``.
        message: the reason in words.
        line, column: 1-based place in the text, in characters.
    """

    def __init__(self, code: str, message: str, text: str = "", at: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1


def parse_json(data: bytes, *, depth: int = limits.JSON_DEPTH, highest: int = INTEGER_HIGH) -> Any:
    """Parse one JSON document strictly.

    Raises:
        JsonFault: bytes that are not UTF-8, a byte order mark, an empty text, a syntax error, a duplicate
            key, NaN or Infinity, a number that does not fit, a lone surrogate, or more than `depth` levels.
    """
    text = _text(data)
    # Fewer brackets than levels cannot be too deep, and counting is cheap.
    if text.count("[") + text.count("{") > depth:
        _check_depth(text, depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys(text),
            parse_constant=_refuse(text, "not-finite", "{} is not a JSON number"),
            parse_int=_integer(text, highest),
            parse_float=_float(text),
        )
    except json.JSONDecodeError as error:
        raise JsonFault(
            "not-json", f"not JSON: {error.msg.lower().removesuffix(' starting at')}", text, error.pos
        ) from None
    if _SURROGATE.search(text):
        _check_surrogates(text)
    return value


def _text(data: bytes) -> str:
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise JsonFault("not-utf8", "this is UTF-16 text; save it as UTF-8", "")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise JsonFault("not-utf8", message, before, len(before)) from None
    if text.startswith(_BOM):
        raise JsonFault("byte-order-mark", "begins with a byte order mark (U+FEFF)", text)
    if not text.strip(" \t\r\n"):
        raise JsonFault("blank", "it is blank")
    return text


def _outside_strings(text: str) -> str:
    """The text with the inside of every string blanked, so that what is left is structure."""
    return _STRING.sub(lambda match: '"' + " " * (len(match[0]) - 2) + '"', text)


def _check_depth(text: str, limit: int) -> None:
    depth = 0
    for match in _BRACKET.finditer(_outside_strings(text)):
        depth += 1 if match[0] in "[{" else -1
        if depth > limit:
            raise JsonFault("too-deep", f"nested deeper than {limit} levels", text, match.start())


def _unique_keys(text: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        quoted = json.dumps(key, ensure_ascii=False)
        at = text.find(quoted, text.find(quoted) + 1)  # a guess: another object may have the key, too
        message = f"the key {quoted[:80]} occurs twice in one object"
        raise JsonFault("duplicate-key", message, text, max(at, 0))

    return build


def _refuse(text: str, code: str, message: str) -> Callable[[str], NoReturn]:
    def refuse(literal: str) -> NoReturn:
        at = _outside_strings(text).find(literal)
        raise JsonFault(code, message.format(literal[:40]), text, max(at, 0))

    return refuse


def _integer(text: str, highest: int) -> Callable[[str], int]:
    refuse = _refuse(text, "number-too-large", "{} does not fit in 64 bits")

    def integer(literal: str) -> int:
        # The length comes first: int() of a million digits is an attack in itself.
        if len(literal) > _INTEGER_CHARS or not INTEGER_LOW <= int(literal) <= highest:
            refuse(literal)
        return int(literal)

    return integer


def _float(text: str) -> Callable[[str], float]:
    refuse = _refuse(text, "number-too-large", "{} does not fit in a double")

    def real(literal: str) -> float:
        value = float(literal)
        if not math.isfinite(value):
            refuse(literal)
        return value

    return real


def _check_surrogates(text: str) -> None:
    r"""Refuse a ``\ud800`` that is not half of a pair: encoding it later would raise."""
    high: re.Match[str] | None = None
    for match in _ESCAPE.finditer(text):
        unit = int(match[1], 16) if match[1] else 0
        low = 0xDC00 <= unit < 0xE000
        if high is not None and not (low and match.start() == high.end()):
            break
        if low and high is None:  # a second half without a first
            high = match
            break
        high = match if 0xD800 <= unit < 0xDC00 else None
    if high is not None:
        raise JsonFault("lone-surrogate", f"{high[0]} is half of a surrogate pair", text, high.start())
