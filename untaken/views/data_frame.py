"""Typed pandas tables out of plain columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd


def data_frame(dtypes: Mapping[str, str], values: dict[str, list[object]]) -> pd.DataFrame:
    """A table of columns of these types, in this order; `values` is emptied, column by column."""
    return pd.DataFrame({name: _series(dtype, values.pop(name)) for name, dtype in dtypes.items()})


def _series(dtype: str, values: list[object]) -> pd.Series:
    if dtype == "Float64":
        figures = np.array(values, dtype=np.float64)  # ``None`` becomes NaN
        return pd.Series(pd.arrays.FloatingArray(figures, np.isnan(figures)))
    return pd.Series(values, dtype=dtype)
