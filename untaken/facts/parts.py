"""Tables of facts as Parquet files, and the manifest that names them; DuckDB writes both kinds of files.

A folder of facts holds a folder for each table, with its parts, and the manifest. A part holds the rows of
many runs: with one run each, opening the files would take longer than what is asked of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from errno import EIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import duckdb
import msgspec
import numpy as np

from untaken.errors import Finding, UntakenError, Where, disk_trouble, refusal_in
from untaken.facts.columns import Dtype, joined
from untaken.facts.tables import FACTS_VERSION, MANIFEST, SHARED, TABLES, Parts, columns_of

if TYPE_CHECKING:
    import pandas as pd

PART_RUNS: Final = 2_000
"""Runs of a part."""
OWN_CODE: Final = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""DuckDB as it is installed: it loads nothing else."""
# numpy has no lists and no time zones: they come as JSON and as microseconds.
_READ: Final[Mapping[Dtype, str]] = {
    "object": 'from_json("{}", \'["VARCHAR"]\')',
    "datetime64[us, UTC]": 'make_timestamp("{}")',
}
"""How a column comes from what numpy holds of it."""
_AS_IT_IS: Final = '"{}"'
_KINDS: Final[Mapping[Dtype, type]] = {
    "boolean": np.bool_,
    "Int64": np.int64,
    "Float64": np.float64,
    "datetime64[us, UTC]": np.int64,
}
_list = msgspec.json.Encoder().encode


class FactManifest(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="untaken.facts/1"):
    """What a folder of facts holds.

    Attributes:
        version: `FACTS_VERSION` of the program that made it.
        runs: how many there are.
        missing, verdicts: the rules in force.
        parts: by table, the names of its files, in order, below the folder.
    """

    version: int
    runs: int
    missing: str
    verdicts: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]


class FactWriter:
    """Writes facts into a folder, run by run.

    Attributes:
        runs: how many were taken; `results`: how many rows of that table.
    """

    def __init__(self, folder: Path, database: duckdb.DuckDBPyConnection) -> None:
        """Begins in a folder that is there and empty; `database`: a `writing_database`."""
        self.runs = self.results = 0
        self._folder, self._database, self._waiting = folder, database, list[Parts]()
        self._parts: dict[str, list[str]] = {name: [] for name in TABLES}

    @property
    def files(self) -> tuple[str, ...]:
        """The manifest and the parts, below the folder."""
        return MANIFEST, *(file for files in self._parts.values() for file in files)

    def take(self, run: Parts) -> None:
        """One more run, as `facts_of` gives it."""
        self._waiting.append(run)
        self.runs += 1
        self.results += len(run["results"][0]) if "results" in run else 0
        if len(self._waiting) >= PART_RUNS:
            self._write()

    def end(self) -> tuple[str, ...]:
        """Writes what waits, and gives the names of the parts; a table without rows has none."""
        self._write()
        return self.files[1:]  # without the manifest

    def finish(self, findings: Iterable[Finding], *, missing: str, verdicts: tuple[str, ...]) -> FactManifest:
        """Writes what waits, the findings and, last, the manifest."""
        self._write()
        columns = columns_of(TABLES["findings"].columns.values(), findings)
        self._part("findings", _arrays("findings", columns))
        for name, files in self._parts.items():
            if not files:  # SQL needs a file to know the columns of a table without rows
                self._part(name, _arrays(name, [[] for _ in TABLES[name].columns]))
        manifest = FactManifest(
            version=FACTS_VERSION,
            runs=self.runs,
            missing=missing,
            verdicts=verdicts,
            parts={name: tuple(files) for name, files in self._parts.items()},
        )
        (self._folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
        return manifest

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        of_runs: dict[str, Any] = {}
        for name, table in TABLES.items():
            some = [run[name] for run in waiting if name in run]
            if not some:
                continue
            times = [len(run[name][0]) if name in run else 0 for run in waiting]
            own = iter(joined(some))
            held = {
                key: of_runs[key].repeat(times) if key in SHARED[name] else _array(column.dtype, next(own))
                for key, column in table.columns.items()
            }
            of_runs = of_runs or held  # `runs` is the first table
            self._part(name, held)

    def _part(self, name: str, held: Mapping[str, Any]) -> None:
        """One more part of a table: its columns as numpy arrays."""
        file = f"{name}/{len(self._parts[name]):05}.parquet"
        dtypes = {key: column.dtype for key, column in TABLES[name].columns.items()}
        chosen = ", ".join(
            f'{_READ.get(dtype, _AS_IT_IS).format(key)} AS "{key}"' for key, dtype in dtypes.items()
        )
        (self._folder / name).mkdir(exist_ok=True)
        self._database.register("held", dict(held))
        _copy(self._database, f"SELECT {chosen} FROM held", self._folder / file, dtypes)  # noqa: S608 - declared
        self._parts[name].append(file)


def write_frames(file: Path, frames: Iterable[pd.DataFrame]) -> int:
    """Writes a table that comes in at least one part as Parquet; gives the number of its rows.

    Raises:
        UntakenError: as `errors.disk_trouble`.
    """
    dtypes: dict[str, Any] = {}
    parts: list[str] = []
    with writing_database() as database, TemporaryDirectory(prefix="untaken-") as held:
        for part in frames:
            database.register("part", part)
            dtypes = dtypes or {str(name): str(dtype) for name, dtype in part.dtypes.items()}
            place = Path(held) / f"{len(parts)}.parquet"  # waits on the disk: only one part is in memory
            _copy(database, "FROM part", place, dtypes)
            parts.append(literal(str(place)))
        whole = f"FROM read_parquet([{', '.join(parts)}])"
        _copy(database, whole, file, dtypes)
        [(rows,)] = database.execute(f"SELECT count(*) {whole}").fetchall()
    return int(rows)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """An empty folder that takes the place of `folder` where all of the block went well.

    Else nothing is left.

    Raises:
        UntakenError: ``output-not-a-folder``; ``output-not-facts`` where it holds anything but facts.
    """
    if folder.exists() and not folder.is_dir():
        raise UntakenError(
            "output-not-a-folder",
            "the output is a file",
            where=Where(file=str(folder)),
            hint="Name a folder.",
        )
    if folder.exists() and {each.name for each in folder.iterdir()} - {MANIFEST, *TABLES}:
        raise UntakenError(
            "output-not-facts",
            "the folder holds other files, which would be removed",
            where=Where(file=str(folder)),
            hint="Name a new folder, or one that an earlier export has written.",
        )
    fresh, old = (folder.with_name(f"{folder.name}.{end}") for end in ("new", "old"))
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        yield fresh
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            folder.replace(old)
        try:
            fresh.replace(folder)
        except OSError:
            if old.exists():  # else what was there before would go with this
                old.replace(folder)
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def literal(text: str) -> str:
    """A text inside SQL."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def writing_database() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database that writes Parquet files."""
    # One thread: else equal rows do not always give equal files.
    with duckdb.connect(":memory:", config={**OWN_CODE, "threads": "1"}) as database:
        database.execute("SET pandas_analyze_sample = 0")  # a column of objects is text, whatever is in it
        yield database


def _copy(database: duckdb.DuckDBPyConnection, query: str, file: Path, dtypes: Mapping[str, str]) -> None:
    # pandas alone would read nullable columns as floats and objects.
    about = literal(msgspec.json.encode(_for_pandas(dtypes)).decode())
    try:
        database.execute(
            f"COPY ({query}) TO {literal(str(file))} "
            f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{pandas: {about}}})"
        )
    except duckdb.IOException as error:
        # DuckDB gives the number of the refusal in JSON, or not at all
        refused = refusal_in(str(error), str(file)) or OSError(EIO, str(error).splitlines()[0], str(file))
        raise disk_trouble(refused) from None


def _for_pandas(dtypes: Mapping[str, str]) -> dict[str, Any]:
    """What pandas reads in a Parquet file to give columns their nullable types again."""
    return {
        "index_columns": [],
        "column_indexes": [],
        "columns": [
            {"name": name, "field_name": name, "pandas_type": dtype, "numpy_type": dtype, "metadata": None}
            for name, dtype in dtypes.items()
            if dtype != "object" and not dtype.startswith("datetime")
        ],
    }


def _arrays(table: str, columns: list[list[Any]]) -> dict[str, Any]:
    pairs = zip(TABLES[table].columns.items(), columns, strict=True)
    return {key: _array(column.dtype, values) for (key, column), values in pairs}


def _array(dtype: Dtype, values: list[Any]) -> Any:
    """A numpy array that DuckDB reads as the type, what is missing masked."""
    if dtype == "object":
        values = [None if value is None else _list(value).decode() for value in values]
    kind = _KINDS.get(dtype)
    if kind is None:
        return np.array(values, dtype=object)
    if None not in values:
        return np.ma.masked_array(np.array(values, dtype=kind), np.zeros(len(values), dtype=bool))
    return np.ma.masked_array(
        np.array([kind() if value is None else value for value in values], dtype=kind),
        [value is None for value in values],
    )
