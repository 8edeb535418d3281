"""Facts opened: their tables as DataFrames, and questions to them in SQL."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

import duckdb
import msgspec
import pandas as pd

from untaken.errors import UntakenError, Where
from untaken.facts.columns import MEANINGS, Meanings
from untaken.facts.kept import workspace_facts
from untaken.facts.parts import OWN_CODE, FactManifest, literal
from untaken.facts.tables import FACTS_VERSION, MANIFEST, TABLES
from untaken.workspace import FACTS, FOLDER, Workspace, is_workspace

THREADS: Final = 2
MEMORY: Final = "2GB"
AGAIN: Final = "Export again, with this version."
_READING: Final = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
_TYPES: Final = {
    "BIGINT": "Int64",
    "INTEGER": "Int64",
    "HUGEINT": "Float64",  # what SQL makes of a sum of whole numbers
    "DOUBLE": "Float64",
    "BOOLEAN": "boolean",
    "VARCHAR": "string",
}
"""Nullable pandas types of what SQL gives: what is unscored is ``NA``, never NaN."""


class Facts:
    """The tables of some runs; close it, or use it in a ``with`` block.

    Attributes:
        tables: their names.
        manifest: what is known about all of them.
    """

    def __init__(
        self, folder: Path, manifest: FactManifest, *, held: TemporaryDirectory[str] | None = None
    ) -> None:
        """Use `open` instead.

        Args:
            folder: with the manifest.
            manifest: as it is in the folder.
            held: a temporary folder that goes with this object.

        Raises:
            UntakenError: ``facts-not-found`` where a part cannot be read.
        """
        self.tables = tuple(TABLES)
        self.manifest = manifest
        self._held = held
        allowed = [str(folder), *([held.name] if held else [])]
        self._database = duckdb.connect(
            ":memory:", config={**OWN_CODE, "threads": str(THREADS), "memory_limit": MEMORY}
        )
        for name in self.tables:
            files = ", ".join(literal(str(folder / part)) for part in manifest.parts[name])
            try:
                self._database.execute(f"CREATE VIEW {name} AS FROM read_parquet([{files}])")
            except duckdb.Error as error:
                self._database.close()
                what = f"a part of {name} cannot be read: {str(error).splitlines()[0]}"
                raise UntakenError(
                    "facts-not-found", what, where=Where(file=str(folder)), hint=AGAIN
                ) from None
        # In this order: what is allowed is set before all else is forbidden, and then nothing can be set.
        for setting in (
            f"allowed_directories = [{', '.join(map(literal, allowed))}]",
            "enable_external_access = false",
            # Without this, a query could name variables of this program as tables.
            "python_enable_replacements = false",
            "lock_configuration = true",
        ):
            self._database.execute(f"SET {setting}")

    def table(self, name: str) -> pd.DataFrame:
        """A table, in the order in which the runs were read; what is unscored is ``NA``.

        Its ``attrs`` say what each column means.

        Raises:
            UntakenError: ``facts-unknown-table``.
        """
        if name not in TABLES:
            raise UntakenError(
                "facts-unknown-table", f"no table {name!r}", hint=f"The tables are {', '.join(TABLES)}."
            )
        made, columns = self.sql(f"FROM {name}"), TABLES[name].columns
        for key, column in columns.items():
            if column.dtype == "datetime64[us, UTC]":
                made[key] = made[key].dt.tz_localize("UTC")  # the files hold UTC, without saying so
        made.attrs[MEANINGS] = Meanings((key, column.meaning) for key, column in columns.items())
        return made

    def sql(self, text: str, parameters: Sequence[object] = ()) -> pd.DataFrame:
        """What a query gives, with nullable types.

        Args:
            text: one SELECT in DuckDB's SQL. It reads these tables and no file, and writes nothing.
            parameters: values for ``?`` in it.

        Raises:
            UntakenError: ``facts-query``.
        """
        found = self._asked(text, parameters)
        types = {str(column[0]): str(column[1]) for column in found.description or ()}
        read = pd.DataFrame(found.fetchnumpy())
        for name, kind in types.items():
            if kind in _TYPES:
                read[name] = read[name].astype(_TYPES[kind])
        return read

    def rows(self, text: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The same as plain rows, for computing: ``None`` stays ``None``.

        Raises:
            UntakenError: as `sql`.
        """
        return self._asked(text, parameters).fetchall()

    def _asked(self, text: str, parameters: Sequence[object]) -> duckdb.DuckDBPyConnection:
        cursor = self._database.cursor()  # one for each question: threads cannot share a connection
        try:
            statements = cursor.extract_statements(text)  # a second one, after a harmless first, might write
            if len(statements) != 1 or statements[0].type not in _READING:
                raise UntakenError("facts-query", "not one SELECT", hint="Facts are read, never changed.")
            return cursor.execute(statements[0], list(parameters) or None)
        except duckdb.Error as error:
            raise UntakenError(
                "facts-query", str(error), hint="`tables` names the tables, the documentation their columns."
            ) from None

    def close(self) -> None:
        """Ends the database; a temporary folder goes with it."""
        self._database.close()
        if self._held is not None:
            self._held.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Facts: {self.manifest.runs:,} runs, {', '.join(self.tables)}>"


def open(path: str | os.PathLike[str]) -> Facts:
    """The facts of a folder that ``untaken export --to parquet`` has written, or of a workspace.

    Those of a workspace are kept in it, in parts; a part with a ledger that has changed is made again now.

    Raises:
        UntakenError: ``facts-not-found``; ``facts-version`` where another version made them; as
            `workspace_facts`.
    """
    folder = Path(path)
    if (folder / MANIFEST).is_file():
        return Facts(folder, read_manifest(folder))
    if not is_workspace(folder):
        raise UntakenError(
            "facts-not-found",
            "neither a folder of facts nor a workspace",
            where=Where(file=str(folder)),
            hint="Make one: untaken export LEDGERS --graphs GRAPHS --to parquet -o FOLDER.",
        )
    held = TemporaryDirectory(prefix="untaken-facts-")
    try:
        with Workspace(folder) as workspace:
            manifest = workspace_facts(workspace, Path(held.name))
        return Facts(folder / FOLDER / FACTS, manifest, held=held)
    except BaseException:
        held.cleanup()
        raise


def read_manifest(folder: Path) -> FactManifest:
    """What a folder of facts says it holds.

    Raises:
        UntakenError: ``facts-not-found`` where that cannot be read, or names a file that is not a part of it;
            ``facts-version``.
    """
    where = Where(file=str(folder / MANIFEST))
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=FactManifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise UntakenError("facts-not-found", str(error), where=where, hint=AGAIN) from None
    if manifest.version != FACTS_VERSION:
        other = f"these are facts of version {manifest.version}, not {FACTS_VERSION}"
        raise UntakenError("facts-version", other, where=where, hint=AGAIN)
    for name in TABLES:
        for part in manifest.parts.get(name) or ("",):
            inside = Path(part).parent == Path(name) and (folder / part).is_file()
            if not inside:
                raise UntakenError("facts-not-found", f"no part {part!r} of {name}", where=where, hint=AGAIN)
    return manifest
