"""Writes what the program declares into its documentation: ``python -m scripts.reference``.

Columns into docs/tables.md, names of options into docs/cli.md, keys of documents into
docs/interface.md. The site explains each (``scripts/docs_site.py``).
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from scripts import document_keys, format_fields, verb_options
from untaken import views
from untaken.facts import TABLES as FACTS
from untaken.facts.columns import Columns
from untaken.views.exporting.evaluations import RESULTS

DOCS: Final = Path(__file__).parents[1] / "docs"
PARTS: Final[dict[str, Callable[[str, bool], str]]] = {
    "cli.md": verb_options.with_options,
    "formats.md": format_fields.with_fields,
    "tables.md": lambda _, full: tables_page(full),
    "interface.md": lambda page, full: document_keys.with_documents(page, full, _names_of_columns()),
}
"""Pages of which a part is written, and what writes it: briefly in ``docs/``, in full on the site."""
OFTEN: Final = 3
"""Tables that share a column before the page explains it once for all of them."""
ALIKE: Final = 3
"""Columns in a row, not explained at the top, that an earlier table has, before the page leads there."""
HEAD: Final = """\
# Tables: their columns

The [facts](facts.md) (Parquet) and the tables of `untaken.views` (DataFrames, CSV).
Written by `python -m scripts.reference` from the declared columns.

- Columns are listed in their order. Times are UTC.
- What is unscored is missing, never 0. `?` after a name: the column `NAME_reason` says why.
- In square brackets after a name: the ends of its 95% interval, as in `value` [`low`, `high`].
"""
SHARED: Final = "## Columns of many tables\n\nBelow they are listed by name alone.\n"
VIEWS: Final = """\
## Tables of `untaken.views`

Each DataFrame says what its columns mean: `frame.attrs["meanings"]`. The app shows it at the head
of a column, the site (`make docs`) lists it."""
CSV: Final = "One row per run and result: [`untaken export --to csv`](cli.md#untaken-export)."
FACTS_HEAD: Final = "## Facts\n\nWhat [`untaken export --to parquet`](cli.md#untaken-export) writes."


Keys = set[tuple[str, str]]


class Line(NamedTuple):
    """What the page says about a column, or about the two ends of an interval."""

    name: str
    meaning: str
    marked: str
    """The name or names as shown."""

    @property
    def key(self) -> tuple[str, str]:
        """What is equal where tables share a column."""
        return self[:2]

    def __str__(self) -> str:
        return f"- {self.marked}: {self.meaning}"


def written() -> Iterator[tuple[Path, str]]:
    """Each page with what the program declares now."""
    for name, renewed in PARTS.items():
        yield DOCS / name, renewed((DOCS / name).read_text("utf-8"), False)


def tables_page(full: bool) -> str:
    """The page of all tables; in ``docs/`` names alone of those of `untaken.views`: frames say the rest."""
    tables = views_tables()
    explained = [(name, f"A row is {each.meaning}.", each.columns) for name, each in FACTS.items()]
    explained.append(("Results as CSV", CSV, RESULTS))
    explained += [(name, *each) for name, each in tables.items() if full]
    every = [line for _, _, columns in explained for line in lines(columns)]
    often = Counter(line.key for line in every)
    unmarked = {line.key: line._replace(marked=line.marked.replace("?", "")) for line in every}
    most = {key[0]: unmarked[key] for key, count in reversed(often.most_common()) if count >= OFTEN}
    shared = {line.key for line in most.values()}

    before: dict[str, Keys] = {}

    def described(name: str, words: str, columns: Columns[Any]) -> str:
        own = list(lines(columns))
        keys = {line.key for line in own}
        home = max(before, key=lambda other: len(keys & before[other] - shared), default="")
        items = _items(own, shared, home, before.get(home, set()))
        before[name] = keys
        level = "###" if name in FACTS else "##"
        return "\n".join([f"{level} {name}\n\n{words}\n", *items])

    parts = [HEAD + "\n" + "\n".join([SHARED, *map(str, sorted(most.values()))]), FACTS_HEAD]
    parts += [described(*each) for each in explained[: len(FACTS) + 1]]
    parts += [VIEWS, *(described(*each) for each in explained[len(FACTS) + 1 :])]
    if not full:
        parts += [
            f"## {name}\n\n{words}\n\n{_names(lines(columns))}" for name, (words, columns) in tables.items()
        ]
    return "\n\n".join(parts) + "\n"


def views_tables() -> dict[str, tuple[str, Columns[Any]]]:
    """Each documented table of `untaken.views`: what a row is, and its columns, which its docstring names."""
    found = {}
    for name, table in inspect.getmembers(views, inspect.isfunction):
        if said := re.search(r"(.*?) ?\(columns: `([A-Z_]+)`", table.__doc__ or ""):
            found[name] = (f"{said[1]}.", getattr(inspect.getmodule(table), said[2]))
    return found


def _names_of_columns() -> dict[str, set[str]]:
    """The columns of each table, without those that are marks."""
    return {
        name: {column for column in columns if not _is_reason(column, columns)}
        for name, (_, columns) in views_tables().items()
    }


def lines(columns: Columns[Any]) -> Iterator[Line]:
    """The lines of a table: reasons are marks, and an interval is on the line of what it is about."""
    before: Line | None = None
    for line in _separate(columns):
        if before and line.meaning in ("its interval", f"the {before.name}'s interval"):
            before = before._replace(marked=f"{before.marked} [{line.marked}]")
            continue
        if before:
            yield before
        before = line
    if before:
        yield before


def _separate(columns: Columns[Any]) -> Iterator[Line]:
    """The lines of a table, with intervals on lines of their own."""
    names = [name for name in columns if not _is_reason(name, columns)]
    for name, before, after in zip(names, ["", *names], [*names[1:], ""], strict=False):
        column = columns[name]
        if name == _other_end(before):
            continue
        mark = "?" * _is_reason(f"{name}_reason", columns)
        meaning = column.meaning.replace("95% interval", "interval")
        if after == _other_end(name):
            meaning = meaning.removeprefix("lower end of ")
        both = f", `{after}`" if after == _other_end(name) else ""
        yield Line(name, meaning, f"`{name}`{mark}{both}")


def _other_end(name: str) -> str | None:
    """The upper end of an interval of which this is the lower one."""
    return re.sub(r"low$", "high", name) if name.endswith("low") else None


def _is_reason(name: str, columns: Columns[Any]) -> bool:
    """Whether a column says only why another one is unscored."""
    meaning = columns[name].meaning if name in columns else ""
    about = name.removesuffix("_reason") in columns
    return about and meaning.startswith("why ") and meaning.endswith(" unscored")


def _items(of: Iterable[Line], shared: Keys, home: str, there: Keys) -> Iterator[str]:
    """List items: columns in a row are one that the table ``home`` explains, or the top of the page."""
    places: list[tuple[Line, str | None]] = []
    for inside, group in groupby(of, lambda line: line.key in there):
        some = list(group)
        led = inside and sum(line.key not in shared for line in some) >= ALIKE
        places += [(line, home if led else "" if line.key in shared else None) for line in some]
    for place, group_of in groupby(places, lambda each: each[1]):
        same = [line for line, _ in group_of]
        if place is None:
            yield from map(str, same)
        else:
            yield f"- as in [{place}](#{place}): {_names(same)}" if place else f"- {_names(same)}"


def _names(of: Iterable[Line]) -> str:
    return ", ".join(line.marked for line in of)


if __name__ == "__main__":
    for path, text in written():
        path.write_text(text, "utf-8")
