"""Bundles: ledgers of a few kilobytes each that came out of traces, many of them in one file.

Thousands of small files take far longer to write, list and read than the runs in them. A bundle is a ledger
of many runs, and is read and appended to as one. Each ledger in it keeps its digest, by which traces refer to
it, and is taken out into a file of its own when it is treated by itself: it is removed with its trace, or
another conversion of its run arrives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Engine, Row, delete, insert, select, update

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.ledger import Integrity, heads_path, journal_path, save_heads, verify_ledger
from untaken.limits import KIB
from untaken.workspace import records
from untaken.workspace.appending import NOT_FOUND, ledger_snapshot
from untaken.workspace.content import Staged, digest_of, first_runs
from untaken.workspace.database import reading, writing
from untaken.workspace.derived import discard_tables
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.tables import appends, bundled, files, heads, removals

MOST: Final = 64
"""Ledgers of one bundle: a verdict before the next start makes that start read all of them again."""
MOST_BYTES: Final = 256 * KIB
SHORT_BYTES: Final = 16 * KIB
"""A longer ledger has a file of its own."""


class BundledLedger(Struct, frozen=True, kw_only=True):
    """A ledger in a bundle: where its bytes are, and how many runs it has."""

    bundle: str
    digest: str
    name: str
    first: int
    bytes: int
    runs: int

    @property
    def place(self) -> slice:
        """Where its bytes are in the bundle."""
        return slice(self.first, self.first + self.bytes)


def name_of(names: Sequence[str]) -> str:
    """What a bundle of these ledgers is called."""
    # 40 characters for the words that follow.
    return f"{names[0].removesuffix('.jsonl')[: limits.NAME_CHARS - 40]} and {len(names) - 1} more.jsonl"


def insert_parts(connection: Connection, parts: Iterable[BundledLedger]) -> None:
    """Writes the rows of ledgers in bundles."""
    if rows := [{name: getattr(part, name) for name in BundledLedger.__struct_fields__} for part in parts]:
        connection.execute(insert(bundled), rows)


def find_parts(connection: Connection, digests: Iterable[str]) -> dict[str, BundledLedger]:
    """Those of the ledgers that are in a bundle, by digest."""
    asked = (select(bundled).where(part) for part in records.among(bundled.c.digest, digests))
    return {row.digest: _part(row) for one in asked for row in connection.execute(one)}


def find_ledger(connection: Connection, digest: str, folder: Path) -> StoredFile | None:
    """The file of a digest; of a ledger in a bundle, the file that it would be, without a path."""
    if (file := records.find_file(connection, digest, folder)) is not None:
        return file
    part = find_parts(connection, [digest]).get(digest)
    bundle = records.find_file(connection, part.bundle, folder) if part else None
    return _own_file(part, bundle, None) if part and bundle else None


def integrity_here(
    engine: Engine, folder: Path, given: Mapping[str, bytes | Path]
) -> dict[str, tuple[Integrity, ...]]:
    """Of those ledgers that are here in a bundle, by digest: the verdict on each run, against its head."""
    with reading(engine) as connection:
        parts = find_parts(connection, given)
        gone = {row.file for row in connection.execute(records.removed_files())}
    found: dict[str, tuple[Integrity, ...]] = {}
    for bundle in dict.fromkeys(part.bundle for part in parts.values() if part.bundle not in gone):
        try:
            with ledger_snapshot(engine, folder, bundle) as now:
                verdicts = {one.run_id: one for one in verify_ledger(now.front, heads=now.heads)}
        except UntakenError as error:
            if error.code != NOT_FOUND:
                raise
            continue  # it can be added by itself
        for digest, part in parts.items():
            data = given[digest]
            content = data if isinstance(data, bytes) else data.read_bytes()
            if part.bundle == bundle:
                found[digest] = tuple(verdicts[run] for run in first_runs(content) if run in verdicts)
    return found


def take_out_runs(connection: Connection, folder: Path, run_ids: Iterable[str]) -> None:
    """Takes out the ledgers that hold these runs, as far as they are in bundles that are here."""
    wanted = set(run_ids)
    holding = (
        select(heads.c.file)
        .where(heads.c.file.in_(select(bundled.c.bundle)), ~heads.c.file.in_(records.removed_files()))
        .distinct()
    )
    asked = [holding.where(part) for part in records.among(heads.c.run_id, wanted)]
    for bundle in dict.fromkeys(digest for one in asked for digest in connection.scalars(one)):
        if (content := _content(records.find_file(connection, bundle, folder))) is not None:
            parts = _parts_of(connection, bundle)
            taken = [p.digest for p in parts if wanted.intersection(first_runs(content[p.place]))]
            take_out(connection, folder, taken)


def take_out(connection: Connection, folder: Path, digests: Iterable[str]) -> None:
    """Gives ledgers that are in bundles a file of their own; the others of each bundle stay together.

    Lines, heads and places in the order of files stay as they are. Of a bundle that is removed, the others
    stay removed. A bundle whose file is gone stays as it is.

    Raises:
        UntakenError: ``ledger-locked`` while somebody appends to a bundle.
    """
    taken = find_parts(connection, digests)
    for digest in records.known_files(connection, taken):
        del taken[digest]  # it has a file by now
    for bundle in dict.fromkeys(part.bundle for part in taken.values()):
        file = records.find_file(connection, bundle, folder)
        content = _content(file)
        if file is None or content is None:
            continue
        if connection.execute(select(appends.c.file).where(appends.c.file == bundle)).first():
            raise UntakenError(
                "ledger-locked",
                "another program is writing to this ledger",
                where=Where(file=file.name),
                hint="Try again in a moment.",
            )
        _Splitting(
            connection=connection,
            folder=folder,
            file=file,
            content=content,
            parts=_parts_of(connection, bundle),
            taken=frozenset(digest for digest in taken if taken[digest].bundle == bundle),
        ).split()
        if (left := _LEFT.get()) is not None and file.path is not None:
            left.append(file.path)


class _Splitting(Struct, frozen=True, kw_only=True):
    """A bundle that is being split: `content` is all of its file, `taken` are digests of parts."""

    connection: Connection
    folder: Path
    file: StoredFile
    content: bytes
    parts: Sequence[BundledLedger]
    taken: frozenset[str]

    def split(self) -> None:
        """Writes its ledgers into files: each of those taken into its own, the others into one."""
        # One ledger keeps the bundle's row, even if all are taken out: heads and removals refer to it.
        rest = [part for part in self.parts if part.digest not in self.taken] or [self.parts[-1]]
        alone = [part for part in self.parts if part not in rest]
        later = [  # what was appended here: `bytes` is the size when added
            (line, next(iter(first_runs(line)), ""))
            for line in self.content[self.file.bytes :].splitlines(keepends=True)
        ]
        own_files = []
        for part in alone:
            runs = first_runs(self.content[part.place])
            for some in records.among(heads.c.run_id, runs):
                of_part = update(heads).where(heads.c.file == self.file.digest, some)
                self.connection.execute(of_part.values(file=part.digest))
            appended = b"".join(line for line, run in later if run in runs)
            later = [(line, run) for line, run in later if run not in runs]
            path = self._placed(part.digest, self.content[part.place], appended)
            own_files.append(_own_file(part, self.file, path))
        self._keep_together(rest, b"".join(line for line, _ in later))
        records.insert_files(self.connection, own_files, self.folder)
        discard_tables(self.folder, self.file.digest)

    def _keep_together(self, rest: Sequence[BundledLedger], appended: bytes) -> None:
        """Writes what is left of the bundle, which takes its row and its place."""
        before, start = self.file.digest, b"".join(self.content[part.place] for part in rest)
        digest = digest_of(start)
        for table in (heads, removals):
            self.connection.execute(update(table).where(table.c.file == before).values(file=digest))
        path = self._placed(digest, start, appended)
        names = [part.name for part in rest]
        row = {
            "digest": digest,
            "path": path.relative_to(self.folder).as_posix(),
            "name": name_of(names) if len(names) > 1 else names[0],
            "bytes": len(start),
            "runs": sum(part.runs for part in rest),
        }
        self.connection.execute(update(files).where(files.c.digest == before).values(row))
        self.connection.execute(delete(bundled).where(bundled.c.bundle == before))
        if [part.digest for part in rest] != [digest]:  # a single ledger is an ordinary file
            insert_parts(self.connection, placed(rest, digest))

    def _placed(self, digest: str, start: bytes, appended: bytes) -> Path:
        """Writes a file: its lines as they were added, then what was appended to its runs."""
        path = self.folder / "ledgers" / f"{digest}.jsonl"
        whole = start + appended
        copy = Staged(content=whole, folder=self.folder, digest=digest, bytes=len(start), compression="")
        copy.keep(path)
        if appended:
            expected, _ = records.expected_heads(self.connection, [digest])[digest]
            save_heads(heads_path(path), expected)
        return path


def placed(parts: Iterable[BundledLedger], bundle: str) -> Iterator[BundledLedger]:
    """The ledgers one after the other in a bundle."""
    first = 0
    for part in parts:
        yield replace(part, bundle=bundle, first=first)
        first += part.bytes


def _own_file(part: BundledLedger, bundle: StoredFile, path: Path | None) -> StoredFile:
    return replace(bundle, digest=part.digest, name=part.name, bytes=part.bytes, path=path, runs=part.runs)


def _content(file: StoredFile | None) -> bytes | None:
    if file is None or file.path is None or not file.path.is_file():
        return None
    return file.path.read_bytes()


def _parts_of(connection: Connection, bundle: str) -> list[BundledLedger]:
    chosen = select(bundled).where(bundled.c.bundle == bundle).order_by(bundled.c.first)
    return [_part(row) for row in connection.execute(chosen)]


def _part(row: Row[Any]) -> BundledLedger:
    return BundledLedger(**{name: getattr(row, name) for name in BundledLedger.__struct_fields__})


_LEFT: Final[ContextVar[list[Path] | None]] = ContextVar("files of bundles that were split", default=None)


@contextmanager
def swept(engine: Engine, folder: Path) -> Iterator[None]:
    """The files of bundles that are split inside are deleted once that is committed."""
    if _LEFT.get() is not None:  # the outermost one deletes them, once everything is committed
        yield
        return
    left: list[Path] = []
    token = _LEFT.set(left)
    try:
        yield
    finally:
        _LEFT.reset(token)
    if left:
        with writing(engine) as connection:
            for path in set(left) - records.named_paths(connection, left, folder):
                for related in (path, heads_path(path), journal_path(path)):
                    with suppress(PermissionError):  # where a file that is being read cannot be removed
                        related.unlink(missing_ok=True)
