"""The workspace: a folder that remembers ledgers, plan graphs and the head of every run it has seen."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import AnyEvent, Chain, Clock, Draft, Head, Run, verify_ledger
from untaken.workspace import adding_many, bundles, records, removing
from untaken.workspace.adding import (
    Arrival,
    GivenHeads,
    add_graph,
    add_heads,
    add_ledger,
    placing,
    read_heads,
)
from untaken.workspace.adding_many import Incoming, KeptTrace
from untaken.workspace.appending import append_to_run, extended_here, ledger_snapshot, settle_all
from untaken.workspace.backing_up import Backup, back_up
from untaken.workspace.batches import take_found
from untaken.workspace.confirming import Extension, confirm, waiting
from untaken.workspace.content import (
    LEDGERS,
    Staged,
    clear_staged,
    ledgers_and_graphs,
    peek,
    sniff,
    staged,
)
from untaken.workspace.database import LOCAL, STORE, one_connection, open_engine, reading, writing
from untaken.workspace.diagnosing import Diagnosis, diagnose
from untaken.workspace.faults import TROUBLE
from untaken.workspace.file_lists import FileLists
from untaken.workspace.graph_store import GraphStore, activity
from untaken.workspace.ledger_snapshots import current_content, is_whole
from untaken.workspace.readings import (
    FileReading,
    LedgerContent,
    LedgerState,
    Make,
    contents_of,
    joined,
    keys_of,
    look_through,
    read_files,
)
from untaken.workspace.reviews import Reviews
from untaken.workspace.run_now import run_now
from untaken.workspace.schema import DATABASE, is_workspace, make_rooms, prepare
from untaken.workspace.stored_file import Added, StoredFile
from untaken.workspace.text_drafts import TextDrafts

Progress = Callable[[int, int, str], None]
"""Called with (done, total, name) while files are worked through."""


class Workspace(GraphStore, FileLists):
    """A folder with ``ledgers/``, ``graphs/`` and ``untaken.sqlite3``; safe for several processes at once.

    Files are kept under their content digest, so adding the same bytes again changes nothing and an uploaded
    name never becomes a path. A file is on disk, whole, before its row is committed. What a file says wrongly
    is a finding in the answer; a disk or a database that fails raises.

    Args:
        path: the folder; made where it does not exist. One that cannot be written is opened to be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        url = None if (self.path / LOCAL).exists() else os.environ.get(STORE)
        self.read_only = not url and is_workspace(self.path) and not os.access(self.path, os.W_OK)
        if not self.read_only:
            make_rooms(self.path)
        self._engine = open_engine(self.path / DATABASE, url, read_only=self.read_only)
        self.reviews = Reviews(self._engine)
        self.text_drafts = TextDrafts(self._engine)
        self.ledger_state = LedgerState(self._engine, self.path)
        try:
            prepare(self._engine, self.path)
            if not self.read_only:
                self._purge_daily()
                settle_all(self._engine, self.path)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open_folder(
        cls,
        folder: str | Path,
        *more: str | Path,
        at: str | Path | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """A workspace that holds every ledger and plan graph found under plain folders.

        Args:
            folder: searched recursively; heads sidecars beside ledgers are used, and what a writer announced
                that is at work or was interrupted. Nothing found is changed. A ledger whose journal is
                damaged, or a file that is no ledger, is not added; the audit log says so. Without `at`, a
                folder that is a workspace itself, or holds nothing to add, is opened as one.
            more: folders to search as well.
            at: where the workspace is kept; default ``<folder>/.untaken``.
            progress: called after each file.

        Raises:
            UntakenError: where disk or database fails; it names the first file that was not added.
        """
        source = Path(folder)
        if at is None and is_workspace(source):
            return cls(source)
        found = [(each, path) for each in (source, *map(Path, more)) for path in ledgers_and_graphs(each)]
        if at is None and not found:
            return cls(source)
        place = Path(at if at is not None else source / ".untaken")
        new = not (place / DATABASE).exists()
        workspace = cls(place)
        with ExitStack() as failing:
            failing.callback(workspace.close)
            together = workspace.together if new else nullcontext  # nobody else waits for a new one
            take_found(found, workspace._take_found, together, workspace._engine, progress)
            failing.pop_all()
        return workspace

    def _take_found(self, name: str, path: Path) -> None:
        """Adds a file that was found in a folder."""
        try:
            data, heads = current_content(path)
        except UntakenError as error:  # without its journal, a cut of it could not be seen
            self.audit(error.code, f"{name} was not added: {error.message}")
            return
        # Not `add`: what was removed stays away, and a run that went on is its owner's.
        added = self._take(name, data, heads, None, back=False)
        if added.kind is None:
            for finding in added.findings:
                self.audit(finding.code, f"{name} was not added: {finding.message}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the database."""
        self._engine.dispose()

    def add(
        self,
        name: str,
        data: bytes | Path,
        *,
        heads: GivenHeads | None = None,
        origin: str | None = None,
        made_from: Collection[str] = (),
    ) -> Added:
        """Adds a ledger, a plan graph or a heads sidecar; idempotent by content.

        A ledger that comes without heads is UNANCHORED now, and anchored here from now on.
        Events that follow a run's recorded head wait in `extensions`, whatever heads come with them.

        Args:
            name: what to call it in messages (untrusted).
            data: its bytes, or the file that holds them.
            heads: the heads sidecar that came with a ledger, or what it would say.
            origin: the foreign format a ledger or graph was converted from.
            made_from: the traces (`source_identity`) that went into that conversion. It takes the place of an
                earlier one of the same run ids where all that went into that one is among them and nobody
                wrote about the run here; otherwise it waits in `extensions`.

        Returns:
            What was found. Where `Added.kind` is ``None`` the file is none of these; a finding says so.
            A file that was removed is restored, and is new again.

        Raises:
            UntakenError: one of `faults.TROUBLE`; OSError, where the disk fails.
        """
        return self._take(name, data, heads, origin, back=True, made_from=frozenset(made_from))

    def add_all(self, incoming: Sequence[Incoming]) -> list[Added]:
        """`add` for each of many small files, in one transaction: all of them or none.

        Other writers wait meanwhile.
        """
        if len(incoming) == 1:  # a large file takes long to read: others may write meanwhile
            (one,) = incoming
            return [self.add(one.name, one.data, heads=one.heads, origin=one.origin, made_from=one.made_from)]
        with self.together():
            new = adding_many.add_new_ledgers(self._engine, self.path, incoming)
            return [
                new.get(number)
                or self.add(one.name, one.data, heads=one.heads, origin=one.origin, made_from=one.made_from)
                for number, one in enumerate(incoming)
            ]

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is added or kept inside is one transaction: for many small files, of which each is soon done.

        Other writers wait meanwhile.
        """
        with adding_many.one_transaction(self._engine, self.path):
            yield

    def _take(
        self,
        name: str,
        data: bytes | Path,
        heads: GivenHeads | None,
        origin: str | None,
        *,
        back: bool,
        made_from: frozenset[str] = frozenset(),
    ) -> Added:
        name = name[: limits.NAME_CHARS]
        kind = sniff(name, peek(data))
        if kind is None and heads is not None and name.lower().endswith(LEDGERS):
            kind = "ledger"  # its heads say that it was one, whatever is left of it
        if kind is None:
            return Added(name=name, digest="", kind=None, new=False, findings=(_unknown(name),))
        with staged(data, self.path) as copy:
            with reading(self._engine) as connection:
                known = records.find_file(connection, copy.digest, self.path)
            if known is not None:
                restored = self._restore(known, copy, back=back)
                return replace(self._again(known, name), new=restored)
            if kind == "ledger" and (
                again := adding_many.add_bundled(self._engine, self.path, copy, back=back)
            ):
                return replace(again, name=name)
            # A copy that was taken from here comes back.
            if kind == "ledger" and (later := extended_here(self._engine, self.path, copy)) is not None:
                return self._again(later, name)
            arrival = Arrival(
                name=name,
                copy=copy,
                folder=self.path,
                engine=self._engine,
                origin=origin,
                trusted=not back,
                made_from=made_from,
            )
            try:
                with placing(self._engine, self.path), bundles.swept(self._engine, self.path):
                    if kind == "ledger":
                        return self._add_ledger(arrival, heads)
                    return add_graph(arrival) if kind == "graph" else add_heads(arrival)
            except UntakenError as error:
                if error.code in TROUBLE:  # not the file's fault
                    raise
                return arrival.answer(kind, new=False, findings=(error.finding(),))

    def keep_traces(self, traces: Sequence[KeptTrace]) -> list[bool]:
        """Keeps foreign traces beside their conversion, so that they can be joined with traces added later.

        Returns:
            For each, false if the same content was already stored under this name; its loss report is then
            updated.
        """
        with self.together():
            return adding_many.keep_traces(self._engine, self.path, traces)

    def link_source(self, source: str, results: Sequence[str]) -> None:
        """Remembers that a kept trace's runs went to these ledgers too (digests of each)."""
        with writing(self._engine) as connection:
            removing.link(connection, {source: results})

    def remove(self, digest: str) -> bool:
        """Takes a file out of the workspace: its runs or its plan graph are no longer read.

        Nothing is deleted for thirty days. `restore`, or adding the file again, restores it; opening the
        folder it came from does not. The recorded heads of its runs stay recorded, so that another chain
        under their run ids still shows. A run that the file had taken over from an earlier one is read from
        that one again; of a plan graph, the version before it. With a foreign trace go the ledgers that
        came out of it and of no other trace that is still here (`goes_with`), and come back with it; plan
        graphs stay.

        Args:
            digest: of the file (`StoredFile.digest`).

        Returns:
            False where no such file, or it was removed before. Otherwise the audit log says so.
        """
        settle_all(self._engine, self.path)  # bundles cannot be split while an append is open
        with adding_many.taking_out(self._engine, self.path) as connection:
            return removing.remove(connection, digest, self.path)

    def goes_with(self, digest: str) -> list[StoredFile]:
        """The files that are removed with a foreign trace."""
        with reading(self._engine) as connection:
            going = removing.goes_with(connection, digest)
            found = (bundles.find_ledger(connection, one, self.path) for one in going)
            return [file for file in found if file is not None]

    def restore(self, digest: str) -> bool:
        """Restores a removed file; false if it is not removed, or was purged. The audit log records it."""
        with adding_many.taking_out(self._engine, self.path) as connection:
            return removing.restore(connection, digest, self.path)

    def purge(self, moment: datetime | None = None) -> list[StoredFile]:
        """Deletes the bytes of what was removed more than thirty days before `moment` (default: now).

        The recorded heads stay, and the audit log says what was deleted. Opening a workspace does this once
        a day.

        Returns:
            What was given up now.
        """
        moment = moment or datetime.now(UTC)
        with writing(self._engine) as connection:
            removing.mark_purged(connection, moment)
            expired = removing.expire(connection, self.path, moment - timedelta(days=removing.KEPT_DAYS))
        with writing(self._engine) as connection:  # not before it is known that they are given up
            removing.sweep(connection, self.path)
        clear_staged(self.path, moment - timedelta(days=1))  # newer ones may be in use
        return expired

    def read_runs(self, progress: Progress | None = None) -> tuple[list[Run], list[Finding]]:
        """Reads every run again from disk and compares it with its recorded head.

        Returns:
            The runs, each chain once, and what was noticed. A broken run is among them, with its verdict.
        """
        return joined(self.read_files(progress).values())

    def read_files(
        self,
        progress: Progress | None = None,
        *,
        known: Mapping[str, FileReading] | None = None,
        make: Make | None = None,
        position: int | None = None,
    ) -> dict[str, FileReading]:
        """Reads every ledger, by the file's digest; of those `known`, what has changed since.

        Args:
            progress: called with (ledgers read, ledgers, name).
            known: by the file's digest, as `make` made them.
            make: what is made of their runs while they are at hand; without it they stay whole.
            position: as for `ledgers`.
        """
        found: dict[str, FileReading] = {}
        ledgers = self.ledgers(position)
        with self.one_connection():
            if known:
                with reading(self._engine) as connection:
                    keys = keys_of(connection, [file for file in ledgers if file.digest in known])
                found = {one: known[one] for one, key in keys.items() if known[one].content.key == key}
            new = [file for file in ledgers if file.digest not in found]
            fresh = read_files(self._engine, self.path, new, make, known or {})
            for done, file in enumerate(ledgers, start=1):
                # `fresh` yields them in the order of `ledgers`.
                found[file.digest] = found[file.digest] if file.digest in found else next(fresh)
                if progress:
                    progress(done, len(ledgers), file.name)
        return {file.digest: found[file.digest] for file in ledgers}

    def one_connection(self) -> AbstractContextManager[None]:
        """For reading many files: to connect to the database takes longer than to ask it about one."""
        return one_connection(self._engine)

    def read_some(self, files: Sequence[StoredFile], make: Make | None = None) -> Iterator[FileReading]:
        """Reads these of `ledgers`, in order; `make` as for `read_files`."""
        return read_files(self._engine, self.path, files, make)

    def look_through(
        self, files: Sequence[StoredFile], look: Callable[[Chain, Sequence[AnyEvent]], None]
    ) -> Iterator[Chain]:
        """The chain of every run of these of `ledgers`; `look` is called with its events, which go then."""
        return look_through(self._engine, self.path, files, look)

    def contents_of(self, files: Sequence[StoredFile]) -> Iterator[LedgerContent | None]:
        """The `FileReading.content` that reading each of these of `ledgers` would have now.

        ``None`` for one that is gone, or that changes just now.
        """
        return contents_of(self._engine, self.path, files)

    def append_events(self, run: Run, drafts: Sequence[Draft], *, clock: Clock | None = None) -> Head:
        """Appends events to the stored ledger of a run, all or none even in a crash; gives its new head.

        What the ledger holds already is not written again: a note of the same words by the same author, a
        verdict that its author's latest one says already.

        Args:
            run: as read from this workspace; others may have appended to it since.
            drafts: the events, such as `Verdict` and `ReviewNote`.
            clock: gives each event's `ts`; the time of day when not given.

        Raises:
            UntakenError: ``ledger-broken-run``, ``ledger-torn-line``, ``run-unknown``, ``ledger-locked``,
                ``ledger-unwritable``; nothing was written then.
        """
        return append_to_run(self._engine, self.path, run, drafts, clock=clock)

    def run_now(self, run: Run) -> Run:
        """The run with what was appended to it since it was read, as `untaken.workspace.run_now` finds it."""
        return run_now(self._engine, self.path, run)

    def extensions(self) -> list[Extension]:
        """Events of added files that follow a recorded head, and wait for a person to confirm them."""
        return waiting(self._engine, self.path)

    def confirm(self, extension: Extension, *, author: str) -> bool:
        """Moves the recorded head to the end of an extension; false where it follows no more.

        Args:
            extension: one of `extensions`.
            author: who confirms it; the audit log names them.
        """
        return confirm(self._engine, self.path, extension, author)

    def activity(self) -> str:
        """Changes with every draft and every review, which change no score; cheap to ask for."""
        with reading(self._engine) as connection:
            return activity(connection)

    def backup(self, target: str | Path, *, progress: Progress | None = None) -> Backup:
        """Writes everything the workspace holds to one archive, while it is in use; whole or not at all.

        Args:
            target: the archive; in a folder it is named after the moment.
            progress: called after each file.

        Raises:
            UntakenError: ``backup-exists``, ``workspace-busy``.
        """
        return back_up(self._engine, self.path, Path(target), progress)

    def diagnose(self, progress: Progress | None = None) -> Diagnosis:
        """Compares every stored file with what was recorded of it, and looks for what else may be wrong."""
        return diagnose(self._engine, self.path, progress)

    def _purge_daily(self) -> None:
        with reading(self._engine) as connection:
            due = removing.purge_is_due(connection, datetime.now(UTC))
        if due:
            self.purge()

    def _restore(self, known: StoredFile, copy: Staged, *, back: bool) -> bool:
        """Puts the bytes back that are damaged or gone; with `back`, a removed file too: then true."""
        with reading(self._engine) as connection:
            removed = records.is_removed(connection, known.digest)
        if not removed:
            if known.path is not None and not is_whole(known):
                copy.keep(known.path)
            return False
        if not back:
            return False
        with writing(self._engine) as connection:  # also while the copy is placed: it could be purged
            if known.path is not None and not is_whole(known):
                copy.keep(known.path)
            return removing.restore(connection, known.digest, self.path)

    def _again(self, known: StoredFile, name: str) -> Added:
        answer = Added(
            name=name,
            digest=known.digest,
            kind=known.kind,
            new=False,
            graph_id=known.graph_id,
            findings=known.findings,
        )
        if known.kind != "ledger" or known.path is None or not known.path.is_file():
            return answer  # its bytes are there unless it was purged
        with ledger_snapshot(self._engine, self.path, known.digest) as now:
            return replace(answer, integrity=tuple(verify_ledger(now.front, heads=now.heads, name=name)))

    def _add_ledger(self, arrival: Arrival, heads: GivenHeads | None) -> Added:
        """A sidecar that cannot be read is a finding; the ledger is then added as one without heads."""
        if heads is None:
            return add_ledger(arrival, {})
        try:
            return add_ledger(arrival, read_heads(heads, name=f"{arrival.name}.heads.json"))
        except UntakenError as error:
            added = add_ledger(arrival, {})
            return replace(added, findings=(error.finding(), *added.findings))


def _unknown(name: str) -> Finding:
    return Finding(
        code="file-not-recognised",
        message="not a run ledger, plan graph or heads sidecar",
        where=Where(file=name),
        hint="Ledgers end in .jsonl (.gz, .zst), plan graphs in .plan.yaml or .plan.json.",
        severity="error",
    )
