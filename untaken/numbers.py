"""Numbers as people read them, in one style: ``62%``, ``0.12 to 0.34``, ``p < 0.001``, ``1,234 runs``.

Only this module formats them; what cannot be known is written as `unknown`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from untaken.errors import Unscored

Number = float | Unscored | None

UNSCORED: Final = "unscored"
_OF_ONE: Final = {"are": "is", "were": "was", "have": "has", "do": "does", "do not": "does not"}
SMALLEST_P: Final = 0.001
"""A smaller p is not worth its digits."""


def percent(share: Number, digits: int = 0, *, unknown: str = UNSCORED) -> str:
    """A share of 1: ``62%``."""
    return unknown if share is None or isinstance(share, Unscored) else f"{share:.{digits}%}"


def decimal(value: Number, digits: int = 2, *, unknown: str = UNSCORED) -> str:
    """The number with its decimals, a true minus, and no sign on what rounds to 0: ``0.62``, ``−0.33``."""
    return signed(value, digits, unknown=unknown).removeprefix("+")


def signed(value: Number, digits: int = 2, *, unknown: str = UNSCORED) -> str:
    """A difference with its sign: ``+0.60``, ``−0.33``, ``0.00``."""
    if value is None or isinstance(value, Unscored):
        return unknown
    words = f"{value:+,.{digits}f}"
    # What rounds to 0 has no sign: `-0.00` would claim a direction.
    return words.replace("-", "−") if words.strip("+-0.") else words[1:]


def points(difference: Number, digits: int = 1, *, sign: bool = True, unknown: str = UNSCORED) -> str:
    """A difference of two shares in percentage points: ``+5.6``."""
    if difference is None or isinstance(difference, Unscored):
        return unknown
    return (signed if sign else decimal)(100 * difference, digits)


def chance(probability: Number, *, unknown: str = UNSCORED) -> str:
    """A probability from resamples: never quite 0 or 100%, which no number of resamples shows."""
    if probability is None or isinstance(probability, Unscored):
        return unknown
    # `percent` would round these to 100% and 0%.
    return "> 99%" if probability > 0.995 else "< 1%" if probability < 0.005 else percent(probability)


def interval(
    low: Number,
    high: Number,
    write: Callable[..., str] = decimal,
    digits: int | None = None,
    *,
    unknown: str = UNSCORED,
) -> str:
    """Both ends, as `write` writes them: ``0.12 to 0.34``; `unknown` unless both are known."""
    if any(end is None or isinstance(end, Unscored) for end in (low, high)):
        return unknown
    places = () if digits is None else (digits,)
    return f"{write(low, *places)} to {write(high, *places)}"


def significant(value: Number, digits: int = 4, *, unknown: str = UNSCORED) -> str:
    """The shortest form with that many digits, or all before the point: ``0.25``, ``−1,234``."""
    if value is None or isinstance(value, Unscored):
        return unknown
    words = f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:,.{digits}g}"
    return f"−{words[1:]}" if words.startswith("-") else words


def p_value(p: Number, name: str = "", *, unknown: str = UNSCORED) -> str:
    """A p or q value, by its name if one is given: ``0.012``, ``<0.001``, ``p = 0.012``, ``q < 0.001``."""
    if p is None or isinstance(p, Unscored):
        return unknown
    small = p < SMALLEST_P
    figure = f"{SMALLEST_P if small else p:.3f}"
    return f"{name} {'<' if small else '='} {figure}" if name else f"{'<' if small else ''}{figure}"


def money(cost: Number, unit: str, *, unknown: str = "not recorded") -> str:
    """A cost with its unit: ``$0.25``, ``12 eur``; of dollars, two decimals at least."""
    if cost is None or isinstance(cost, Unscored):
        return unknown
    if unit != "usd":
        return f"{significant(cost)} {unit}".rstrip()
    size = significant(abs(cost), 3)
    whole = abs(cost) >= 1 or len(size.partition(".")[2]) < 2
    return f"{'−' * (cost < 0)}${f'{abs(cost):,.2f}' if whole else size}"


def counted(number: int, noun: str, verb: str = "") -> str:
    """A number with its noun (as of one), and the verb (as of many) that agrees: ``1 run differs``."""
    if number == 1:
        does = _OF_ONE.get(verb) or verb + ("es" if verb.endswith(("ch", "sh", "ss")) else "s")
        return f"1 {noun} {does}" if verb else f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun.endswith(("ly", "py")) else f"{noun}s"  # `day` and `key` take an s
    return f"{number:,} {many} {verb}".rstrip()
