"""Adds uploaded files to a workspace: ledgers, heads, plan graphs, records, traces, archives of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import Finding, UntakenError, Where
from untaken.garbage import seldom_collected
from untaken.ledger import HeldLedgers, Integrity, heads_path
from untaken.traces import (
    Archive,
    Conversion,
    FileLoss,
    Findings,
    InMemory,
    OnDisk,
    Sample,
    Source,
    convert,
    formats,
    importers,
    likeness,
    own_importers,
    recognise,
    recognise_files,
    sample_of,
    stem_of,
    usable_importers,
)
from untaken.working import step
from untaken.workspace.adding_many import Incoming, KeptTrace
from untaken.workspace.batches import batches
from untaken.workspace.content import digest_of, source_identity
from untaken.workspace.content import sniff as sniff_native
from untaken.workspace.mapping_files import own_mappings
from untaken.workspace.stored_file import Added
from untaken.workspace.workspace import Workspace

Progress = Callable[[int, int, str], None]
"""Called with (done, total, name). What it raises cancels what is left."""

HEADS: Final = ".heads.json"
PLANNING: Final = "planning"
"""Kind of a record of planning (`untaken.simulator.record`), kept beside the ledger of its run."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._ +=,-]+")
_PART_CHARS: Final = 120
_DEPTH: Final = 12
SMALL_BYTES: Final = 64 << 10
UNPACKED_BYTES: Final = 64 << 20
"""Bytes of an archive's small members that are kept in memory: each file is opened several times."""


class UploadResult(Struct, frozen=True, kw_only=True):
    """The result for one file.

    Attributes:
        name: as uploaded; inside an archive ``archive/member`` (untrusted text).
        kind: ``ledger``, ``graph``, ``heads``, ``planning``, ``archive``, or the name of a foreign format;
            ``None`` where it is nothing known.
        new: false where nothing of it was new.
        runs, graphs: how many of each it gave; a broken run is none.
        integrity: the verdict on each run of a ledger.
        run_ids: the runs of the ledgers that it is, or was converted to.
        loss: for a foreign trace, what the conversion kept and what it could not carry over.
        findings: what was noticed, with the next step.
    """

    name: str
    kind: str | None
    new: bool = False
    runs: int = 0
    graphs: int = 0
    integrity: tuple[Integrity, ...] = ()
    run_ids: tuple[str, ...] = ()
    loss: FileLoss | None = None
    findings: tuple[Finding, ...] = ()


Placed = list[tuple[int, UploadResult]]
"""Rows of files that were added together, each with the position of its file."""


class IntakeFile(Struct, frozen=True, kw_only=True):
    """One uploaded file and its recognised kind; `archive` is the position of the archive that it is in."""

    position: int
    name: str
    data: bytes | Path
    kind: str | None = None
    archive: int | None = None


class ImportContext(Struct, frozen=True, kw_only=True):
    """Where things are taken in: the workspace they go to, and what is needed on the way."""

    workspace: Workspace
    agent: str | None
    scratch: Path
    report: Callable[[str], None]


@seldom_collected()
def take_in(
    workspace: Workspace,
    files: Iterable[tuple[str, bytes | Path]],
    *,
    agent: str | None = None,
    progress: Progress | None = None,
    each: Callable[[list[UploadResult]], None] | None = None,
) -> list[UploadResult]:
    """Adds files of any known kind to a workspace; a bad one never stops the good ones.

    Heads sidecars are matched with their ledgers by name. Foreign traces of one format are converted
    together, so that plans and judgements that belong together meet.

    Args:
        workspace: where ledgers, graphs and traces are kept.
        files: (name, content) of each; names are shown, and never become paths.
        agent: the agent's name for foreign traces that do not record it.
        progress: called before and after each file; the total is 0 until the files are sorted by kind.
        each: called with some rows as soon as what they are about is added; with those of archives last.

    Returns:
        One row per file, in upload order, each archive followed by its members.
    """
    own = usable_importers(own_mappings(workspace.path).values())
    with TemporaryDirectory(prefix="untaken-") as scratch, own_importers(own):
        rows: dict[int, UploadResult] = {}
        arrived: list[IntakeFile] = []

        def report(name: str) -> None:
            if progress:
                # Rows of archives exist before `arrived` is filled.
                progress(min(len(rows), len(arrived)), len(arrived), name)

        context = ImportContext(workspace=workspace, agent=agent, scratch=Path(scratch), report=report)
        arrived += _with_kinds(_arriving(context, files, rows))
        archives = list(rows.values())
        for part in chain(_native(context, arrived), _foreign(context, arrived)):
            if each:
                each([row for _, row in part])
            for position, row in part:
                rows[position] = row
                report(row.name)
        if each:
            each(archives)
    return [rows[position] for position in sorted(rows)]


def _arriving(
    context: ImportContext, files: Iterable[tuple[str, bytes | Path]], rows: dict[int, UploadResult]
) -> Iterator[IntakeFile]:
    """Every file and every archive member, by kind; an archive gets its row immediately."""
    position = 0
    for name, data in files:
        context.report(name)
        sample = sample_of(name, data)
        if sample.shape != "zip" or recognise(sample) is not None:  # some formats of traces are zip files
            yield IntakeFile(position=position, name=name, data=data)
            position += 1
            continue
        own, position = position, position + 1
        folder = context.scratch / f"archive{own}"
        members, findings = _unpacked(name, data, folder)
        for member, path in members:
            yield IntakeFile(position=position, name=member, data=path, archive=own)
            position += 1
        rows[own] = UploadResult(name=name, kind="archive", new=bool(members), findings=findings)


def _with_kinds(arrived: Iterable[IntakeFile]) -> list[IntakeFile]:
    """The files with what they are: by their content, by the files beside them, then by their name."""
    files: list[IntakeFile] = []
    own: list[str | None] = []

    def samples() -> Iterator[Sample]:
        for one in arrived:
            step()
            sample = sample_of(one.name, one.data)
            files.append(one)
            own.append(_own_kind(sample))
            yield sample

    formats = recognise_files(samples())
    foreign = (None if format == "native" else format for format in formats)
    kinds = (ours or format for ours, format in zip(own, foreign, strict=True))
    return [one if kind is None else replace(one, kind=kind) for one, kind in zip(files, kinds, strict=True)]


def _own_kind(sample: Sample) -> str | None:
    """What a file of our own is."""
    from untaken.simulator import looks_like_planning  # noqa: PLC0415 (loads the simulator)

    return PLANNING if looks_like_planning(sample.head) else sniff_native(sample.name, sample.head)


def _unpacked(
    name: str, data: bytes | Path, folder: Path
) -> tuple[list[tuple[str, bytes | Path]], tuple[Finding, ...]]:
    """The members of an archive, the first small ones in memory, others as files; and what was refused."""
    folder.mkdir()
    noted = Findings(name)
    members: list[tuple[str, bytes | Path]] = []
    room = UNPACKED_BYTES
    try:
        opened = Archive(data) if isinstance(data, Path) else Archive(Path(name), data)
        with closing(opened) as archive:
            for member in archive.members(noted):
                step()
                target: bytes | Path
                try:
                    if member.file_size <= min(room, SMALL_BYTES):
                        target = archive.read(member)
                        room -= len(target)
                    else:
                        target = folder / f"{len(members)}"  # numbered: names of members are untrusted
                        with target.open("wb") as stream:
                            stream.writelines(archive.pieces(member))
                except UntakenError as error:
                    noted.add(
                        error.code, f"{member.filename}: {error.message}", hint=error.hint, severity="error"
                    )
                    continue
                members.append((f"{name}/{member.filename}", target))
    except UntakenError as error:
        noted.add(error.code, error.message, hint=error.hint, severity="error")
    return members, noted.all()


def _native(context: ImportContext, arrived: Sequence[IntakeFile]) -> Iterator[Placed]:
    """Ledgers with their heads, graphs, heads that came alone, and what nobody knows."""
    heads = {b.name.removesuffix(HEADS): b for b in arrived if b.kind == "heads"}
    ledgers = {b.name for b in arrived if b.kind == "ledger"}

    def row(one: IntakeFile, added: Mapping[int, Added]) -> UploadResult:
        if one.kind == "heads" and one.name.removesuffix(HEADS) in ledgers:
            return UploadResult(name=one.name, kind="heads", new=True)  # it went in with its ledger
        return _row(one, added[one.position]) if one.position in added else _planning(context, one)

    def add(part: Sequence[IntakeFile]) -> list[UploadResult]:
        for one in part:
            context.report(one.name)
        own = [
            one
            for one in part
            if one.kind != PLANNING and not (one.kind == "heads" and one.name.removesuffix(HEADS) in ledgers)
        ]
        sidecars = (heads.get(one.name) if one.kind == "ledger" else None for one in own)
        given = [
            Incoming(name=one.name, data=one.data, heads=sidecar.data if sidecar else None)
            for one, sidecar in zip(own, sidecars, strict=True)
        ]
        added = dict(zip((one.position for one in own), context.workspace.add_all(given), strict=True))
        return [row(one, added) for one in part]

    own = [one for one in arrived if one.kind in (None, "ledger", "graph", "heads", PLANNING)]
    for part in batches(own, lambda one: _size(one.data)):
        yield list(zip((one.position for one in part), add(part), strict=True))


def _size(data: bytes | Path) -> int:
    return len(data) if isinstance(data, bytes) else data.stat().st_size


def _row(one: IntakeFile, added: Added) -> UploadResult:
    return UploadResult(
        name=one.name,
        kind=added.kind,
        new=added.new,
        runs=len([verdict for verdict in added.integrity if verdict.run_id and not verdict.broken]),
        graphs=int(added.graph_id is not None),
        integrity=added.integrity,
        run_ids=_run_ids((added,)),
        findings=added.findings if added.kind else (_unknown(one),),
    )


def _planning(context: ImportContext, one: IntakeFile) -> UploadResult:
    """Keeps a record of planning that is exactly of its form; one that is not says why."""
    from untaken.simulator import parse_planning  # noqa: PLC0415 (loads the simulator)

    data = one.data if isinstance(one.data, bytes) else one.data.read_bytes()
    try:
        parse_planning(data, where=Where(file=one.name))
    except UntakenError as error:
        return UploadResult(name=one.name, kind=PLANNING, findings=(error.finding(),))
    (new,) = context.workspace.keep_traces([KeptTrace(name=one.name, data=data, kind=PLANNING)])
    return UploadResult(name=one.name, kind=PLANNING, new=new)


def _unknown(one: IntakeFile) -> Finding:
    looks = likeness(sample_of(one.name, one.data))
    hint = f"{looks.use} Ledgers end in .jsonl, plan graphs in .plan.yaml."
    return Finding(
        code="file-not-recognised",
        message=f"not a ledger, plan graph or known trace format: looks like {looks.what}",
        where=Where(file=one.name),
        hint=looks.use if looks.failed else hint,
        severity="error",
    )


def _foreign(context: ImportContext, arrived: Sequence[IntakeFile]) -> Iterator[Placed]:
    """The foreign traces, converted format by format."""
    known = {info.name for info in formats()}
    for format in dict.fromkeys(one.kind for one in arrived if one.kind in known):
        if format is not None:
            batch = [one for one in arrived if one.kind == format]
            yield from _converted(context, format, batch)


def _converted(context: ImportContext, format: str, batch: Sequence[IntakeFile]) -> Iterator[Placed]:
    """One row per trace: converted with the others of its format, and added to the workspace."""
    scratch = context.scratch / format
    scratch.mkdir()
    sources: list[Source] = []
    staged: dict[str, IntakeFile] = {}
    for one in batch:
        root = one.position if one.archive is None else one.archive  # members of an archive stay together
        source = _source(f"{root:06}", one, format)
        if source.name in staged:  # two names that differ only in what is not safe
            source = _source(f"{one.position:06}-again", one, format)
        sources.append(source)
        staged[source.name] = one
    earlier: dict[str, str] = {}
    # Files about one run may come in several uploads: earlier ones are converted again, with the new ones.
    if importers()[format].joins:
        for kept in context.workspace.sources(format):
            if kept.origin == context.agent and kept.path:
                known = IntakeFile(position=len(sources), name=kept.name, data=kept.path)
                source = _source(f"{len(sources):06}-earlier", known, format)
                sources.append(source)
                earlier[source.name] = kept.digest
    held: HeldLedgers = {}
    try:
        done = convert(
            format,
            sources,
            scratch / "out",
            held=held,
            agent=context.agent,
            progress=lambda _done, _total, place: context.report(
                staged[place].name if place in staged else place
            ),
        )
    except UntakenError as error:
        failed = (error.finding(),)
        yield [(b.position, UploadResult(name=b.name, kind=format, findings=failed)) for b in batch]
        return
    made_from = [source_identity(one.name, digest_of(one.data)) for one in batch] + list(earlier.values())
    added, general = _add_conversion(context.workspace, done, held, made_from)
    losses = {loss.name: loss for loss in done.losses}
    for place, digest in earlier.items():
        if place in losses:
            context.workspace.link_source(digest, [one.digest for one in _results(losses[place], added)])
    for part in batches(staged.items(), lambda item: _size(item[1].data)):
        traces = [(one, losses.get(place)) for place, one in part]
        first, *others = _kept(context, format, traces, added)
        rows = [replace(first, findings=(*first.findings, *general)), *others]
        general = ()  # what is true of the conversion as a whole is said once
        yield list(zip((one.position for one, _ in traces), rows, strict=True))


def _results(loss: FileLoss, added: Mapping[str, Added]) -> list[Added]:
    """The ledgers that a trace's runs went to."""
    return [added[name] for name in loss.ledgers if name in added]


def _run_ids(ledgers: Iterable[Added]) -> tuple[str, ...]:
    return tuple(verdict.run_id for one in ledgers for verdict in one.integrity if not verdict.broken)


def _kept(
    context: ImportContext,
    format: str,
    traces: Sequence[tuple[IntakeFile, FileLoss | None]],
    added: Mapping[str, Added],
) -> list[UploadResult]:
    """Stores converted traces and their loss reports under their uploaded names."""
    rows = [_converted_row(one, format, loss) for one, loss in traces]
    read = [number for number, row in enumerate(rows) if row.runs or row.graphs or _waits(row)]
    kept = [
        KeptTrace(
            name=rows[n].name,
            data=traces[n][0].data,
            kind=format,
            agent=context.agent,
            findings=rows[n].findings,
            loss=loss.lines(),
            results=[one.digest for one in _results(loss, added)],
        )
        for n in read
        if (loss := rows[n].loss) is not None
    ]
    for number, new in zip(read, context.workspace.keep_traces(kept), strict=True):
        loss = rows[number].loss
        run_ids = _run_ids(_results(loss, added)) if loss else ()
        rows[number] = replace(rows[number], new=new, run_ids=run_ids)
    return rows


def _waits(row: UploadResult) -> bool:
    """True for labels: what they are about may be added later."""
    return any(finding.code == "label-without-run" for finding in row.findings)


def _converted_row(one: IntakeFile, format: str, loss: FileLoss | None) -> UploadResult:
    """The result for one trace, under its uploaded name."""
    if loss is None:
        return UploadResult(name=one.name, kind=format, findings=(_not_read(one, format),))
    findings = tuple([finding.about(one.name) for finding in loss.findings])
    account = replace(loss, name=one.name, findings=findings)
    return UploadResult(
        name=one.name, kind=format, runs=loss.runs, graphs=loss.graphs, loss=account, findings=findings
    )


def _not_read(one: IntakeFile, format: str) -> Finding:
    """About a file that was recognised by its fields or its folder, and not needed for any run."""
    alone = one.archive is None
    return Finding(
        code="file-not-read",
        message=f"nothing was added: no run of {format} was made from it",
        where=Where(file=one.name),
        hint="Add its whole folder as one zip archive." if alone else "",
        severity="error" if alone else "note",
    )


def _add_conversion(
    workspace: Workspace, done: Conversion, held: HeldLedgers, made_from: Collection[str]
) -> tuple[dict[str, Added], tuple[Finding, ...]]:
    """Puts ledgers and graphs into the workspace.

    Returns:
        Each ledger by its file's name, and what no single trace is to blame for.
    """
    ledgers: dict[str, Added] = {}
    findings = [f for f in done.findings if f.where.file is None and f.code != "no-runs"]  # each row says it
    traces = frozenset(made_from)

    def add(given: Iterable[Incoming]) -> Iterator[tuple[str, Added]]:
        for part in batches(given, lambda one: _size(one.data)):
            names = (one.name.rpartition("/")[2] for one in part)
            yield from zip(names, workspace.add_all(part), strict=True)

    def incoming(path: Path) -> Incoming:
        name, origin = f"{done.format}/{path.name}", done.format
        if short := held.get(path.name):
            return Incoming(name=name, data=short.content, heads=short.heads, origin=origin, made_from=traces)
        heads = heads_path(path)
        beside = heads if heads.exists() else None
        return Incoming(name=name, data=path, heads=beside, origin=origin, made_from=traces)

    for name, added in add(map(incoming, done.ledgers)):
        ledgers[name] = added
        findings += added.findings
    for _, added in add(map(incoming, done.graphs)):
        findings += [finding for finding in added.findings if finding.severity == "error"]
    return ledgers, tuple(findings)


def _source(root: str, one: IntakeFile, format: str) -> Source:
    """A trace as the importer sees it: its name with nothing harmful in it.

    Folders are kept, because some formats say by folder whose run a file speaks of. Files of one archive have
    one root, any other file has its own, so that no two can meet; it ends in a word that no importer takes
    for the name of an agent.
    """
    place = PurePosixPath(one.name.replace("\\", "/"))
    parts = [part for part in map(_safe, place.parts) if part]
    *folders, last = parts[-_DEPTH:] or ["trace"]  # the nearest folders say what a file is
    endings = importers()[format].info.extensions
    # Files are recognised by content, but importers select them by their ending.
    if not last.lower().removesuffix(".gz").removesuffix(".zst").endswith(endings):
        last += endings[0]
    folders = [root, "benchmark", *folders]
    data = one.data
    return Source(
        name="/".join((*folders, last)),
        stem=stem_of(last),
        folders=tuple(folders),
        place=OnDisk(path=data) if isinstance(data, Path) else InMemory(content=data),
    )


def _safe(part: str) -> str:
    return _UNSAFE.sub("_", part)[-_PART_CHARS:].strip(" .")  # the end has what importers look for
