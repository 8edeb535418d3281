"""The facts of a workspace, kept in parts: only the parts with a ledger that has changed are made again.

A part holds the runs of ledgers that follow one another. It is found by a digest of what these ledgers, their
heads and the plan graphs are, and used only where this user's programs wrote it, whole
(`untaken.workspace.derived`). Deleting all of them loses nothing; backups leave them out.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, cast

import msgspec

from untaken.errors import Finding
from untaken.facts.making import AllRuns, RunRows, rows_of, unpacked
from untaken.facts.parts import FactManifest, FactWriter, writing_database
from untaken.facts.scaling.distant import RunSource
from untaken.facts.scaling.ledger_record import Scoring
from untaken.facts.scaling.ledger_tables import rules_of
from untaken.facts.scaling.reading import made_of
from untaken.facts.tables import FACTS_VERSION
from untaken.garbage import seldom_collected
from untaken.ledger import Run, RunLines
from untaken.limits import MIB
from untaken.scoring import RunEnd
from untaken.workspace import (
    FACTS,
    FOLDER,
    StoredFile,
    Workspace,
    discard_table,
    load_table,
    own_key_of,
    save_table,
)

PART_BYTES: Final = 16 * MIB
"""Of ledgers in a part: what a verdict makes again, and some 1,000 runs."""
UNUSED_SECONDS: Final = 3600.0
"""A part that nobody has opened for so long goes: until then somebody may still be reading it."""


class KeptRun(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What a run has beside its rows.

    Attributes:
        events: in its ledger, those about it included.
        end: its place in `KeptPart.ends`.
        sound: whether it has rows.
    """

    digest: str
    run_id: str
    events: int
    end: int
    sound: bool
    findings: tuple[Finding, ...]


class KeptPart(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a part beside its rows.

    Attributes:
        files: their names below the part's folder, each with the digest of what is in it.
        runs: in the order of reading.
        ends: each once: most runs end as others do.
        findings: on its ledgers.
    """

    files: dict[str, str]
    runs: tuple[KeptRun, ...]
    ends: tuple[RunEnd, ...]
    findings: tuple[Finding, ...]


_decode_part = msgspec.msgpack.Decoder(KeptPart).decode
Copies = dict[str, tuple[int, int, int]]
"""By digest of a run, its events, and which run of which part it is."""


@seldom_collected()
def workspace_facts(store: Workspace, held: Path) -> FactManifest:
    """Where the facts of a workspace are, made as far as they are not kept.

    Args:
        store: the workspace.
        held: an empty folder, for what is not kept.

    Raises:
        UntakenError: as `errors.disk_trouble`; where the workspace cannot be read.
    """
    scoring, everything = Scoring(graphs=store.graph_set()), AllRuns()
    found = [(files, *_part(store, files, key, scoring, held)) for files, key in _parts(store, scoring)]
    copies: Copies = {}
    for number, (_, _, part) in enumerate(found):
        for place, run in enumerate(part.runs):
            if run.digest not in copies or copies[run.digest][0] < run.events:  # the one with more about it
                copies[run.digest] = run.events, number, place
    parts: dict[str, list[str]] = {}
    for number, (files, folder, part) in enumerate(found):
        others = {at for at, run in enumerate(part.runs) if copies[run.digest][1:] != (number, at)}
        if others:
            # Not kept under the key of the part: what it leaves out depends on the other parts.
            folder, part = _made(store, files, scoring, Path(mkdtemp(dir=held)), without=others)  # noqa: PLW2901
        for name in sorted(part.files):
            parts.setdefault(name.partition("/")[0], []).append(str(folder / name))
        everything.found += part.findings
        for at, run in enumerate(part.runs):
            if at not in others:
                everything.take(run.findings, part.ends[run.end])
    with writing_database() as database:
        rest = FactWriter(held, database)
        about = rest.finish(everything.findings(scoring), missing=scoring.missing, verdicts=())
    written = {name: tuple(str(held / file) for file in files) for name, files in about.parts.items()}
    runs = sum(found[number][2].runs[at].sound for _, number, at in copies.values())
    return msgspec.structs.replace(
        # A table without rows in any part has the empty file that was written here.
        about,
        runs=runs,
        parts={name: tuple(parts.get(name, ())) or files for name, files in written.items()},
    )


def _parts(store: Workspace, scoring: Scoring) -> Iterator[tuple[list[StoredFile], str | None]]:
    """The ledgers of each part, and the key of what follows from them; ``None`` while one is changed."""
    ledgers = store.ledgers()
    now = zip(ledgers, store.contents_of(ledgers), strict=True)
    files: list[StoredFile] = []
    contents: list[str | None] = []
    for file, content in now:
        if files and sum(one.bytes for one in files) + file.bytes > PART_BYTES:
            yield files, _key(contents, scoring)
            files, contents = [], []
        files.append(file)
        contents.append(content.digest if content else None)
    if files:
        yield files, _key(contents, scoring)


def _key(contents: Sequence[str | None], scoring: Scoring) -> str | None:
    return None if None in contents else own_key_of(FACTS_VERSION, contents, rules_of(scoring.graphs))


def _part(
    store: Workspace, files: Sequence[StoredFile], key: str | None, scoring: Scoring, held: Path
) -> tuple[Path, KeptPart]:
    """A part and its folder: as it is kept, or made now."""
    place = store.path / FOLDER / FACTS / (key or "")
    if key and (kept := load_table(store.path, FACTS, key)):
        with suppress(msgspec.MsgspecError, OSError):  # damaged, or gone: it is made again
            part = _decode_part(kept)
            if part.files == _digests(place, part.files):
                os.utime(place)  # in use: `_remove_unused` goes by this time
                return place, part
    if key is None or store.read_only:  # for this time alone
        return _made(store, files, scoring, Path(mkdtemp(dir=held)))
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_unused(store.path)
    folder, part = _made(store, files, scoring, Path(mkdtemp(dir=place.parent)))
    with suppress(OSError):  # another program is at it: these serve as well
        if place.exists():  # a damaged one, that somebody may still be reading
            place.rename(mkdtemp(dir=place.parent))
        folder.rename(place)
        save_table(store.path, FACTS, key, msgspec.msgpack.encode(part))  # last: only this makes a part count
        return place, part
    return folder, part


def _remove_unused(workspace: Path) -> None:
    for folder in (workspace / FOLDER / FACTS).iterdir():
        with suppress(OSError):
            if folder.stat().st_mtime < time.time() - UNUSED_SECONDS:
                discard_table(workspace, FACTS, folder.name)
                shutil.rmtree(folder, ignore_errors=True)


def _made(
    store: Workspace,
    files: Sequence[StoredFile],
    scoring: Scoring,
    folder: Path,
    *,
    without: Collection[int] = (),
) -> tuple[Path, KeptPart]:
    """A part made from its ledgers; `without` are places of runs that get no rows."""
    ends: dict[RunEnd, int] = {}
    runs: list[KeptRun] = []
    findings: list[Finding] = []
    with writing_database() as database:
        writer = FactWriter(folder, database)

        def made(_: StoredFile, some: Sequence[tuple[Run, RunLines | None]]) -> list[Any]:
            placed = [(run, lines or _not_asked) for run, lines in some]
            return made_of(placed, scoring, lambda scored: rows_of(scored, scoring))

        for read in store.read_some(files, made):
            findings += read.findings
            for run in cast("Sequence[RunRows]", read.runs):
                if run.rows and len(runs) not in without:
                    writer.take(unpacked(run.rows))
                runs.append(
                    KeptRun(
                        digest=run.digest,
                        run_id=run.run_id,
                        events=run.events,
                        end=ends.setdefault(run.end, len(ends)),
                        sound=bool(run.rows),
                        findings=run.findings,
                    )
                )
        names = writer.end()
    part = KeptPart(
        files=_digests(folder, names), runs=tuple(runs), ends=tuple(ends), findings=tuple(findings)
    )
    return folder, part


def _not_asked(_: RunSource) -> None:
    """Nothing is read again of a run whose rows are made while it is whole."""


def _digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: sha256((folder / name).read_bytes()).hexdigest() for name in names}
