"""Tables and figures on a page, each with a download that is safe to open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from components.shared import state, text
from components.shared.panels import panel
from components.shared.styles import style
from untaken.numbers import p_value, percent, points, significant
from untaken.views import FORMATS, MEANINGS, TITLES, csv_text

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from pandas.io.formats.style import Styler

MIME: Final = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "yaml": "application/yaml",
    "zip": "application/zip",
}
"""What a download is, by the ending of its file."""
FIGURE_CONFIG: Final[dict[str, Any]] = {
    "displaylogo": False,
    "displayModeBar": "hover",
    "modeBarButtonsToRemove": [
        "select2d",
        "lasso2d",
        "autoScale2d",
        "zoom2d",
        "pan2d",
        "zoomIn2d",
        "zoomOut2d",
    ],
    "toImageButtonOptions": {"format": "png", "scale": 2},
    "responsive": True,
}

_DRAWN: Final[ContextVar[list[tuple[str, go.Figure]] | None]] = ContextVar("figures drawn", default=None)
ROOM: Final = 876
"""Pixels for a table on a screen 1,280 wide, beside the sidebar."""
CHARACTER: Final = 7.2
LEAST_WIDTH: Final = 150
WIDEST: Final = 500
NAMED_WIDTHS: Final = {"small": 75, "medium": 200, "large": 400}
"""Pixels of Streamlit's own widths; `WIDEST` is its limit for columns without one."""
WRITTEN: Final[Mapping[str, Callable[[Any], str]]] = {
    "p": p_value,
    "percent": percent,
    "points": partial(points, digits=0),
    "significant": partial(significant, digits=3),
}
"""Numbers as text by the format that their table declares; they still sort as numbers."""
MOST_WRITTEN: Final = 20_000
"""Cells of a table whose numbers are written so: pandas takes a fifth of a second for 10,000."""
TRUTHS: Final = {True: "✓", False: "no"}
"""Truths in words: check boxes look as if one could change them."""
SPELLED: Final = {"sub_goal": "sub-goal", "p_holm": "p (Holm)", "tau_b": "τ-b"}
"""Headings that differ from the name of their column by more than spaces."""
MEASURED: Final = 100
"""Rows that a column's width is judged by."""
SIDEWAYS: Final = (
    ".st-key-scroll-%(key)s {overflow-x: auto} "
    '.st-key-scroll-%(key)s [data-testid="stElementContainer"]:has(.js-plotly-plot) {min-width: %(least)dpx} '
    ".st-key-scroll-%(key)s {container-type: inline-size} "
    "@container (max-width: %(less)dpx) {.st-key-scroll-%(key)s::before {"
    "content: '↔ Scroll sideways to see all'; "
    "position: sticky; left: 0; width: max-content; font-size: 0.875rem; opacity: 0.8}}"
)
"""Figures wider than a small screen scroll sideways instead of being squeezed, and say so there."""


def csv(frame: pd.DataFrame) -> bytes:
    """The table as CSV that no spreadsheet takes for formulas, marked as UTF-8."""
    return csv_text(frame).encode("utf-8-sig")


@panel
def folded(
    words: str, draw: Callable[[], object], *, key: str, icon: str | None = None, opened: bool = False
) -> None:
    """A part of a page that is drawn once somebody opens it, or at once where a link leads into it."""
    part = st.expander(words, expanded=opened, key=f"{key}-open", on_change="rerun", icon=icon)
    if part.open:
        with part:
            draw()


@panel
def table(
    frame: pd.DataFrame,
    *,
    key: str,
    name: str,
    columns: Mapping[str, Any] | None = None,
    selectable: bool = False,
    height: int | str = "auto",
    alt: str | None = None,
    most: int | None = None,
    row_height: int | None = None,
    whole: Callable[[], pd.DataFrame] | None = None,
) -> int | None:
    """Show a table with its CSV download.

    Args:
        frame: what to show; text in it is shown as text. Columns without any value are left to the download.
        key: unique on the page.
        name: what the table holds, in words; also the stem of the file's name. Not from a ledger.
        columns: column settings as `st.dataframe` takes them; ``None`` for a name leaves the column to the
            download.
        selectable: let one row be chosen, by a click in it.
        height: pixels, or ``"auto"``.
        alt: the description for screen readers.
        most: rows to show at the most; download the table to see all.
        row_height: pixels; in rows of more than one line, text is wrapped.
        whole: where `frame` is a part, makes all of it for the download.

    Returns:
        The position of the chosen row in `frame`, or ``None``.
    """
    if most is not None and len(frame) > most:
        st.caption(f"The first {most:,} of {len(frame):,} rows; download the table to see all.")
    shown = frame.drop(columns=[c for c, how in (columns or {}).items() if how is None and c in frame])
    shown = _ticked(_filled(shown if most is None else shown.head(most)))
    st.dataframe(  # type: ignore[call-overload]
        _written(shown),
        hide_index=True,
        height=height,
        row_height=row_height,
        column_config=_fitted(shown, _headed(shown, _plain_text(shown, columns or {}))),
        key=key,
        on_select="rerun" if selectable else "ignore",
        selection_mode="single-cell",  # a click anywhere in a row chooses it
        placeholder="–",
        alt=alt or name,
    )
    download(
        lambda: csv(frame if whole is None else whole()),
        label=f"{name} (CSV)",
        file=f"{text.file_name(name)}.csv",
        key=key,
    )
    return picked(key, len(frame)) if selectable else None


def height_of(rows: int, *, most: int = 420) -> int:
    """Pixels that so many rows of one line take with their heading; a table scrolls beyond `most`."""
    return min(38 + 35 * rows, most)


@panel
def runs_table(frame: pd.DataFrame, *, key: str, name: str, **more: Any) -> None:
    """A table of runs by their ``digest``: a click in a row opens the run. `more` as `table` takes it."""
    row = table(frame, key=key, name=name, selectable=True, columns={"digest": None}, **more)
    if row is not None:
        state.open_run(str(frame["digest"].iloc[row]))


def folded_table(words: str, make: Callable[[], pd.DataFrame], *, key: str, name: str, **more: Any) -> None:
    """A table that is made and drawn once somebody opens it. `more` as `table` takes it."""
    folded(words, lambda: table(make(), key=key, name=name, **more), key=key)


def picked(key: str, rows: int) -> int | None:
    """The position of the row chosen in a selectable table of so many rows, also before it is drawn."""
    chosen = st.session_state.get(key) or {}
    # Chosen while the table was longer.
    found = [row for row, _ in chosen.get("selection", {}).get("cells", ())]
    return int(found[0]) if found and found[0] < rows else None


def _filled(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without columns that hold nothing in any row."""
    return (
        frame.loc[:, [bool((frame[c].notna() & (frame[c] != "")).any()) for c in frame]]
        if len(frame)
        else frame
    )


def _ticked(frame: pd.DataFrame) -> pd.DataFrame:
    truths = (c for c in frame if frame[c].dtype.kind == "b")
    return frame.assign(**{str(c): frame[c].map(TRUTHS).astype("string") for c in truths})


def _plain_text(frame: pd.DataFrame, columns: Mapping[str, Any]) -> dict[str, Any]:
    import pandas as pd  # noqa: PLC0415 (slow)

    strings = (c for c in frame.columns if pd.api.types.is_string_dtype(frame[c]))
    return {str(c): st.column_config.TextColumn() for c in strings} | dict(columns)


def heading(column: str) -> str:
    """The name of a column as its heading: ``task_repeat`` is *task repeat*."""
    for name, words in SPELLED.items():
        column = column.replace(name, words)
    return column.replace("_", " ")


def _written(frame: pd.DataFrame) -> pd.DataFrame | Styler:
    """The table with its numbers as sentences have them, where it declares how it writes some of them."""
    formats = frame.attrs.get(FORMATS, {})
    figures = [name for name in frame.columns if frame[name].dtype.kind == "f"]
    if not 0 < frame.size <= MOST_WRITTEN or not any(formats.get(name) in WRITTEN for name in figures):
        return frame
    asked = {name: formats.get(name) or "significant" for name in figures}
    writers = {name: WRITTEN[form] for name, form in asked.items() if form in WRITTEN}
    return frame.style.format(writers, na_rep="–")  # type: ignore[arg-type]


def _headed(frame: pd.DataFrame, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Column settings with a heading in words, and what the column means where the mouse rests on it.

    Columns are headed and numbers written as their table declares, where the page does not say otherwise.
    """
    meanings, formats, titles = (frame.attrs.get(kept, {}) for kept in (MEANINGS, FORMATS, TITLES))
    settings = {}
    for name in map(str, frame.columns):
        how = columns.get(name) or {}
        asked = {"label": how} if isinstance(how, str) else how
        shown = formats.get(name)
        written = st.column_config.NumberColumn(format=shown) if shown and shown not in WRITTEN else {}
        given = {k: v for each in (written, asked) for k, v in each.items() if v is not None}
        # Once: the ends of its interval are beside it.
        unit = ", points" if shown == "points" and name not in ("low", "high") else ""
        label = f"{titles.get(name) or heading(name)}{unit}"
        settings[name] = {"label": label, "help": meanings.get(name), **given}
    return settings


def _fitted(frame: pd.DataFrame, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Column settings with which a table fits a page: columns of text that need most room get less."""
    import pandas as pd  # noqa: PLC0415 (slow)

    fixed = {name: how["width"] for name, how in columns.items() if how.get("width")}
    needs = {str(name): _width(frame[name]) for name in frame.columns if name not in fixed}
    room = ROOM - sum(NAMED_WIDTHS.get(width, width) for width in fixed.values())
    texts = [name for name in needs if pd.api.types.is_string_dtype(frame[name])]
    room -= sum(width for name, width in needs.items() if name not in texts)
    if room >= sum(needs[name] for name in texts):
        return dict(columns)
    widths: dict[str, int] = {}
    # Narrow columns first: what they do not need is left to the wide ones.
    for left, name in zip(range(len(texts), 0, -1), sorted(texts, key=needs.__getitem__), strict=True):
        widths[name] = min(needs[name], max(LEAST_WIDTH, room // left))
        room -= widths[name]
    return dict(columns) | {name: {**columns[name], "width": widths[name]} for name in texts}


def _width(cells: pd.Series[Any]) -> int:
    """Pixels that a column takes by itself, judged by its first cells."""
    import pandas as pd  # noqa: PLC0415 (slow)

    found = cells.head(MEASURED)
    # A number is rounded to about six characters.
    longest = max(map(len, found.dropna().astype(str)), default=0)
    numbers = pd.api.types.is_numeric_dtype(found)
    return min(
        WIDEST, round(CHARACTER * max(len(str(cells.name)), min(longest, 6) if numbers else longest)) + 18
    )


def download(
    data: bytes | Callable[[], bytes], *, label: str, file: str, key: str, mime: str | None = None
) -> None:
    """A small download button; a function is called only when it is pressed.

    It is called outside of the session: whatever it needs of `state` is asked for before, not in it.
    """
    st.download_button(
        f"⤓ {label}",
        data,
        file_name=file,
        mime=mime or MIME[file.rpartition(".")[2]],
        key=f"{key}-download",
        type="tertiary",
        on_click="ignore",  # a download needs no new run of the page
    )


@panel
def figure(
    make: Callable[[], go.Figure] | go.Figure,
    *,
    key: str,
    name: str,
    alt: str | None = None,
    on_pick: Callable[[str], None] | None = None,
    of: tuple[str | None, ...] | None = None,
    about: str = "",
    controls: Callable[[], object] | None = None,
    table: Callable[[], pd.DataFrame] | None = None,
) -> None:
    """Show a figure under its heading, with a menu that downloads it as one HTML file, and its table as CSV.

    Args:
        make: a figure of `components.figures`, or what makes it: where that fails, the panel alone is lost.
        key: unique on the page.
        name: what it shows, in words: its heading, and the stem of the file's name. Not from a ledger.
        alt: the description for screen readers.
        on_pick: called with what a clicked mark carries, where marks carry something.
        of: what the figure shows beside the runs compared, the rules and the theme; given, `make` is called
            once for it, not on every rerun.
        about: a caption below the heading; our own markdown.
        controls: draws what decides what the figure shows, between the two.
        table: what the figure shows, as a table to download.
    """
    # The heading is in the figure, too (`frame.css` hides it there): a picture saved from it has a title.
    drawn = (
        _named(make, name)
        if of is None
        else state.drawn(lambda: serialised(_named(make, name)), key, name, *of)
    )
    if (page := _DRAWN.get()) is not None:  # none, where a part of a page alone is drawn again
        page.append((name, drawn))
    stem = text.file_name(name)
    config = FIGURE_CONFIG | {"toImageButtonOptions": {"format": "png", "scale": 2, "filename": stem}}
    with st.container(horizontal=True, vertical_alignment="center", key=f"head-{key}"):
        st.subheader(name, anchor=False, width="stretch")
        with st.popover("⤓", type="tertiary", help=f"Download: {name}"):
            download(
                lambda: _page_of(drawn, name, config), label=f"{name} (HTML)", file=f"{stem}.html", key=key
            )
            if table is not None:
                download(lambda: csv(table()), label=f"{name} (CSV)", file=f"{stem}.csv", key=f"{key}-rows")
    if about:
        st.caption(about)
    if controls is not None:
        controls()
    with st.container(key=f"scroll-{key}", gap=None):
        least = (drawn.layout.meta or {}).get("least_width")
        if least:
            style(SIDEWAYS % {"key": key, "least": int(least), "less": int(least) - 1})
        st.plotly_chart(
            drawn,
            theme=None,  # the figure has the theme of the app already
            key=key,
            config=config,
            alt=alt or name,
            on_select=(lambda: _picked(key, on_pick)) if on_pick else "ignore",
            selection_mode="points",
        )


@contextmanager
def collected() -> Iterator[None]:
    """A page whose figures, drawn inside, can be taken along in one archive; offered below them."""
    drawn: list[tuple[str, go.Figure]] = []
    before = _DRAWN.set(drawn)
    try:
        yield
    finally:
        _DRAWN.reset(before)
    if drawn:
        download(
            lambda: _archive_of(drawn), label="Figures of this page (ZIP)", file="figures.zip", key="figures"
        )


def _named(make: Callable[[], go.Figure] | go.Figure, name: str) -> go.Figure:
    from components.figures.theme import titled  # noqa: PLC0415 (slow: plotly)

    return titled(make() if callable(make) else make, name)


def _page_of(figure: go.Figure, name: str, config: Mapping[str, Any]) -> bytes:
    from components.figures.page import figure_page  # noqa: PLC0415 (slow: Jinja)

    return figure_page(figure, name, config=config).encode()


def _archive_of(figures: Sequence[tuple[str, go.Figure]]) -> bytes:
    from components.figures.page import figures_zip  # noqa: PLC0415 (slow: Jinja)

    return figures_zip(figures, config=FIGURE_CONFIG)


def serialised(figure: go.Figure) -> go.Figure:
    """A figure that is drawn again and again, and no longer changed: it becomes a mapping once."""
    whole = figure.to_dict()
    figure.to_dict = lambda: whole  # type: ignore[method-assign]
    return figure


def _picked(key: str, on_pick: Callable[[str], None]) -> None:
    carried = [point.get("customdata") for point in st.session_state[key]["selection"]["points"]]
    if carried and carried[0]:
        on_pick(str(carried[0][0]))
