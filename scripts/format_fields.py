"""Writes into docs/formats.md which fields of each format feed what of a run, as the importers declare it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from untaken.formats import formats
from untaken.formats.format_info import RUN_FIELDS

PAGE: Final = Path(__file__).parents[1] / "docs" / "formats.md"
BEGIN: Final = "<!-- fields: written by scripts/format_fields.py -->"
END: Final = "<!-- end of fields -->"


def table() -> str:
    """The table in Markdown: a row for each format and field."""
    rows = ["| importer | of a run | from, the first that is there |", "|---|---|---|"]
    for info in formats():
        for field in (field for field in RUN_FIELDS if field in info.reads):
            places = (p if p.startswith("(") else f"`{p}`" for p in info.reads[field])
            rows.append(f"| `{info.name}` | {field} | {', '.join(places)} |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """The page with the table of now."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
