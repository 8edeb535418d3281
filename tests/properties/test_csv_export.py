"""CSV exports: whatever a table holds, no spreadsheet finds a formula in it, and numbers stay numbers."""

from __future__ import annotations

import csv
import io
import unicodedata
from time import process_time

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from untaken.csv_export import csv_line, csv_text, neutral, restored

SIGNS = "=+-@"
HOSTILE = [
    "=1+1",
    "\n=IMPORTXML(A1)",
    "\r\n\t@SUM(A1)",
    " =1+1",
    "\u00a0\u2003=1",
    "\ufeff=1",
    "\u200b\u2060-2+3",
    "\x00=1",
    "\x1f+1",
    "＝1+1",
    "＋1",
    "－1",
    "＠x",
    "−1",
    "\u3000＝1",
    "\u115f=1",
    "\ufe0f=1",
    "'=1",
    "x;=1+1",
    "x; \t＝cmd|' /C calc'!A0",
    "said\n=HYPERLINK(1)",
    "a\tb\t@c",
    "=\"a;=1\""
]  # fmt: skip
CHARACTERS = st.one_of(
    st.characters(codec="utf-8"),  # pandas holds no half characters
    st.sampled_from("=+-@＝＋－＠−﹢⁻'\";,\t\r\n \u00a0\u2003\u200b\ufeff\x00\x1b\u3164x1"),
    st.characters(categories=["Cc", "Cf", "Zs", "Zl", "Zp"]),
)
TEXTS = st.text(CHARACTERS, max_size=30)


def begins_formula(cell: str) -> bool:
    """By a reading of its own: what is left without blanks, controls and format characters, at full width."""
    shown = [c for c in cell if unicodedata.category(c) not in ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn")]
    return bool(shown) and unicodedata.normalize("NFKC", shown[0])[:1] in (*SIGNS, "−")


def cells_of(text: str, separator: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row]


@given(st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from(",;\t"))
@example(["x;=1"], ";")
@example(["said\n- item"], "\t")
def test_no_text_is_a_formula_whatever_separates_cells(texts: list[str], separator: str) -> None:
    table = pd.DataFrame({f"c{i}": [text] for i, text in enumerate(texts)})
    for written in (csv_text(table), csv_line(texts)):
        assert not [cell for cell in cells_of(written, separator) if begins_formula(cell)]


@pytest.mark.parametrize("text", HOSTILE, ids=repr)
@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_hostile_text_is_neutral_in_cells_and_headings(text: str, dtype: str) -> None:
    table = pd.DataFrame({text: pd.Series([text, "plain"], dtype=dtype)})
    for separator in ",;\t":
        assert not [cell for cell in cells_of(csv_text(table), separator) if begins_formula(cell)]


@given(TEXTS)
@example("'")
@example("''=1")
@example(";'=1")
def test_what_was_neutral_can_be_restored(text: str) -> None:
    assert restored(neutral(text)) == text


@given(st.text(st.characters(categories=["L", "N"]), max_size=20))
def test_plain_words_are_left_alone(text: str) -> None:
    assert neutral(text) == text


def test_numbers_stay_numbers() -> None:
    table = pd.DataFrame(
        {
            "float": [-1.5, float("nan"), 2e-7],
            "Int64": pd.array([-3, None, 4], dtype="Int64"),
            "mixed": [-2.5, "-12.5", None],
            "dates": pd.to_datetime(["2026-01-01 10:00", None, "2026-01-02 11:00"], utc=True),
        }
    )
    read = pd.read_csv(io.StringIO(csv_text(table)))
    assert read["float"].tolist()[::2] == [-1.5, 2e-7]
    assert read["Int64"].tolist()[::2] == [-3, 4]
    assert read["mixed"].tolist()[:2] == [-2.5, -12.5]
    assert pd.isna(read.iloc[1]["float"])
    assert pd.isna(read.iloc[2]["mixed"])
    assert read["dates"].tolist()[0] == "2026-01-01 10:00:00+00:00"


def test_what_is_no_text_is_written_as_text_that_is_neutral() -> None:
    table = pd.DataFrame({"span": pd.to_timedelta([-1, 1], unit="D"), "list": [["x;=1"], {"a": "b"}]})
    assert not [cell for cell in cells_of(csv_text(table), ";") if begins_formula(cell)]


def test_two_columns_of_one_name_are_both_written() -> None:
    table = pd.DataFrame([["=1", "=2"]], columns=["x", "x"])
    assert csv_text(table) == '"x","x"\r\n"\'=1","\'=2"\r\n'


@pytest.mark.parametrize("unit", ["\n", ";", " ", "'", "\n'", "; \t", "\u200b"], ids=repr)
def test_neutral_takes_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        begun = process_time()
        neutral(unit * length)
        return process_time() - begun

    few, many = (min(seconds(length) for _ in range(5)) for length in (20_000, 160_000))
    assert many < 40 * max(few, 1e-4)
