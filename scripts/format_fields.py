"""Which fields of each format feed what of a run, as importers declare it: listed on the site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from untaken.traces import formats
from untaken.traces.format_info import RUN_FIELDS

BEGIN: Final = "<!-- fields: listed on the site -->"
SHOWN: Final = 2
"""Places listed of one field; `untaken formats --json` has all."""
FIELDS: Final = [field for field in RUN_FIELDS if field not in ("task text", "target", "time")]
"""What decides a figure or a comparison."""
END: Final = "<!-- end of fields -->"


def fields() -> str:
    """A list in Markdown: an item for each format, where fields of the same places are one."""
    return "\n".join(f"- `{info.name}`: {_fields(info.reads)}" for info in formats() if info.reads)


def _fields(reads: Mapping[str, Sequence[str]]) -> str:
    by_places: dict[str, list[str]] = {}
    for field in FIELDS:
        if field in reads:
            by_places.setdefault(_places(reads[field]), []).append(field)
    return "; ".join(f"**{', '.join(names)}** {places}" for places, names in by_places.items())


def _places(places: Sequence[str]) -> str:
    """Some places: code, but for what is in brackets."""
    shown = [f"{about}{space}`{place}`" if place else about for about, space, place in map(_parts, places)]
    return ", ".join([*shown[:SHOWN], *(["…"] if len(shown) > SHOWN else [])])


def _parts(place: str) -> tuple[str, str, str]:
    """The remark in parentheses, the space after it, and the place."""
    about, close, rest = place.partition(")") if place.startswith("(") else ("", "", place)
    return about + close, " " if close else "", rest.strip()


def with_fields(page: str, full: bool) -> str:
    """The page with the list of now, or without it in ``docs/``: ``untaken formats --json`` has it."""
    before, _, rest = page.partition(BEGIN)
    listed = f"{fields()}\n\n" if full else ""
    return f"{before}{BEGIN}\n\n{listed}{END}{rest.partition(END)[2]}"
