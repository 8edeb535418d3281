"""What every importer works with: it reads sources, claims run ids, takes runs and graphs, keeps account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b, sha256
from itertools import chain
from typing import Any, Final

import msgspec

from untaken import limits
from untaken.errors import UntakenError
from untaken.ledger import Draft
from untaken.traces.format_info import Progress
from untaken.traces.graphs import GraphBook
from untaken.traces.jsontext import JsonReader, decode_text, decoded_pieces, note_not_text
from untaken.traces.losses import FileLog, Findings, clip
from untaken.traces.outcomes import Outcomes
from untaken.traces.output import Output, RunSink, ledger_name
from untaken.traces.readings import cut_name
from untaken.traces.sources import Source

UNFORESEEN: Final = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What an importer raises at a value that it did not expect; a broken disk raises something else."""


class Intake:
    """One conversion in progress.

    Attributes:
        agent: the name the caller gave for the agent, where the files do not say one.
        findings: what was noticed about the conversion as a whole.
        graphs: its plan graphs.
        logs: the account of each file, in order.
        outcomes: how its runs ended, as the caller says.
        runs: number of runs written.
    """

    def __init__(
        self,
        output: Output,
        *,
        steps: int,
        done: int = 0,
        agent: str | None,
        outcomes: Outcomes,
        findings: Findings,
        progress: Progress | None,
    ) -> None:
        self.agent = agent
        self.findings = findings
        self.graphs = GraphBook(output.write_graph)
        self.logs: list[FileLog] = []
        self.runs = 0
        self.outcomes = outcomes
        self._output = output
        self._progress = progress
        self._steps = steps
        self._done = done
        self._files: dict[str, str] = {}
        self._claimed: dict[str, dict[bytes, str]] = {}
        self._runs_of: dict[bytes, tuple[str, str]] = {}
        self._longest: dict[str, list[SessionCopy]] = {}  # copies of each session that begin no other
        self._agents: dict[str, str] = {}

    def step(self, name: str) -> None:
        """Reports that the work on a file begins."""
        if self._progress is not None:
            self._progress(self._done, self._steps, name)
        self._done += 1

    def open(self, source: Source) -> FileLog:
        """A new account for a file."""
        log = FileLog(source.name)
        self.logs.append(log)
        return log

    @contextmanager
    def contained(self, log: FileLog) -> Iterator[None]:
        """Lets an error that an importer did not foresee affect one file: it is named, and others go on."""
        try:
            yield
        except UNFORESEEN as error:
            message = f"the importer failed at a value: {type(error).__name__}: {clip(error)}"
            hint = "The rest of this file is not read. This is a fault of Untaken: please report it."
            log.findings.add("importer-failed", message, hint=hint, severity="error")

    def reader(self, source: Source, log: FileLog, *, copies: bool = False) -> JsonReader | None:
        """A reader of the file; ``None``, with a finding, where it cannot be had or its bytes came before.

        With `copies`, the same bytes may come again: two runs may have equal test reports.
        """
        try:
            content = source.short()
            text = self._examine(source, log) if content is None else self._text(content, log)
        except UntakenError as error:
            log.findings.add(error.code, error.message, hint=error.hint, severity="error")
            return None
        if text is None:
            return None
        # By name: a long file is opened twice, its tools being asked for first.
        first = self._files.setdefault(log.sha256, log.name)
        if copies or first == log.name:
            more = decoded_pieces(source.pieces()) if content is None else ()
            return JsonReader(text, log.findings, more)
        log.findings.add("duplicate-file", f"the same bytes as {clip(first)}; read once")
        return None

    def _examine(self, source: Source, log: FileLog) -> str | None:
        """Reads a long file through for its size, its digest and its faults; gives no text of it yet."""
        hasher, blank = sha256(), True

        def passing() -> Iterator[bytes]:
            nonlocal blank
            for piece in source.pieces():
                hasher.update(piece)
                log.bytes += len(piece)
                blank = blank and not piece.strip()
                yield piece

        pieces = passing()
        faults: list[tuple[int, str]] = []
        # To its end also after a fault: the digest is of all bytes.
        for _ in chain(decoded_pieces(pieces, lambda *fault: faults.append(fault)), pieces):
            pass
        log.sha256 = hasher.hexdigest()
        if blank:
            log.findings.add("empty-file", "it is empty")
            return None
        for byte, encoding in faults:
            note_not_text(log.findings, byte, encoding)
        return ""

    def text(self, source: Source, log: FileLog) -> str | None:
        """The text of a file; ``None``, with a finding, where it cannot be had."""
        try:
            content = source.read()
        except UntakenError as error:
            log.findings.add(error.code, error.message, hint=error.hint, severity="error")
            return None
        return self._text(content, log)

    def _text(self, content: bytes, log: FileLog) -> str | None:
        log.bytes = len(content)
        log.sha256 = sha256(content).hexdigest()
        if not content.strip():
            log.findings.add("empty-file", "it is empty")
            return None
        return decode_text(content, log.findings)

    def agent_name(self, name: str, log: FileLog) -> str:
        """The agent's name, fit for an event; a second spelling of it is named."""
        name = cut_name(name)
        first = self._agents.setdefault(name.casefold(), name)
        if first != name:
            message = f"the agents {clip(first)!r} and {clip(name)!r} differ only in spelling; kept separate"
            log.findings.once("agent-spelling", message)
        return name

    def claim(self, run_id: str, record: Any, log: FileLog, session: SessionCopy | None = None) -> str | None:
        """The id under which a run is kept; ``None`` for one that is there already.

        That is one whose record is there, or an earlier copy of a session; such a copy that was written
        before is taken back.
        """
        run_id = cut_name(run_id)
        print_ = _digest(record)
        claimed = self._claimed.setdefault(run_id, {})
        if print_ in claimed:
            log.findings.add("duplicate-run", "duplicate record; read once", run=run_id)
            return None
        other = None if session is None else _placed(session, self._longest.setdefault(session.key, []))
        if session is not None and other is not None:
            if session.begins(other):
                session.gives_way(run_id, other)
                return None
            other.gives_way(other.kept, session)
            self._take_back(other)
        first = next(iter(claimed.values()), log.name)
        claimed[print_] = log.name
        kept = run_id if len(claimed) == 1 else f"{run_id}~{len(claimed)}"
        if session is not None and other is not None and other.run_id == run_id:
            # The other is taken back by its id: in the same ledger, this one needs another.
            kept = other.kept if other.ledger != session.ledger else kept
        elif len(claimed) > 1:
            where = "begins twice here" if first == log.name else f"also begins in {clip(first)}"
            message = f"this run {where}; this one is kept as {clip(kept)}"
            hint = "Put the parts of one run into one file, in order; of copies, convert the latest alone."
            log.findings.add("duplicate-run", message, run=run_id, hint=hint)
        if session is not None:
            session.kept = kept
        twin, home = self._runs_of.setdefault(print_, (kept, log.name))
        if home != log.name and twin != kept and record:  # in one file, equal words may be two tries
            message = f"it holds the same as {clip(twin)} in {clip(home)}; both count"
            log.findings.add("same-record", message, run=kept, hint="Convert one of the two files alone.")
        return kept

    def _take_back(self, copy: SessionCopy) -> None:
        self._output.take_back(copy.ledger, copy.kept)
        copy.log.took_back(copy.ledger)
        self.runs -= 1

    @contextmanager
    def ledger(self, stem: str) -> Iterator[Callable[[str, Sequence[Draft], Sequence[FileLog]], None]]:
        """A function that writes runs into one new ledger; no run, no file.

        It takes an id, the events, and the accounts of the files they are of; faults go to the first.
        """
        name = ledger_name(stem)
        with self._output.ledger(name) as sink:

            def write(run_id: str, drafts: Sequence[Draft], logs: Sequence[FileLog]) -> None:
                if self._write(run_id, drafts, logs[0], sink):
                    self.runs += 1
                    for number, log in enumerate(logs):
                        log.wrote(name, shared=number > 0)

            yield write

    def copy_ledger(self, name: str, content: bytes, heads: bytes | None) -> None:
        """Takes a ledger over as it is (see `Output.copy_ledger`)."""
        self._output.copy_ledger(name, content, heads)

    def _write(self, run_id: str, drafts: Sequence[Draft], log: FileLog, sink: RunSink) -> bool:
        names = (draft.fields.get(part, "") for draft in drafts for part in ("agent", "task_id", "tool"))
        if any(len(str(name)) == limits.NAME_CHARS for name in names):  # what `cut_name` cuts to
            message = f"a name is longer than {limits.NAME_CHARS} characters; shortened, with a digest"
            log.findings.once("name-cut", message)
        if len(drafts) > limits.EVENTS_PER_RUN:
            message = f"it has {len(drafts)} events; at most {limits.EVENTS_PER_RUN} are kept"
            log.findings.add("run-too-long", message, run=run_id, severity="error")
            return False
        try:
            sink(run_id, drafts)
        except UntakenError as error:
            log.findings.add("run-not-written", error.message, run=run_id, severity="error")
            return False
        return True


def _digest(record: Any) -> bytes:
    """The digest of a record; of a list element by element, because a long one is most of a file."""
    hasher = sha256()
    for part in record if isinstance(record, list) else (record,):
        hasher.update(msgspec.json.encode(part) + b"\n")  # no two lists of parts give the same bytes
    return hasher.digest()


class SessionCopy(msgspec.Struct):
    """One export of a session.

    Attributes:
        run_id: before it is made unlike all others.
        key: what its copies have, too.
        items: a digest of each item, in order.
        ledger: where its run is written.
        log: the account of its file.
        kept: the id of its run, once it has one.
    """

    run_id: str
    key: str
    items: tuple[bytes, ...]
    ledger: str
    log: FileLog
    kept: str = ""

    def begins(self, other: SessionCopy) -> bool:
        """Whether the other says all that this one says, in the same order, and perhaps goes on."""
        return other.items[: len(self.items)] == self.items

    def gives_way(self, run_id: str, other: SessionCopy) -> None:
        """Notes that another copy is read for this one."""
        message = f"an earlier copy of a session that goes on in {clip(other.log.name)}; read there alone"
        self.log.findings.add("duplicate-run", message, run=run_id)


def _placed(copy: SessionCopy, known: list[SessionCopy]) -> SessionCopy | None:
    """Keeps a copy that begins no other; gives the one that it takes the place of, or that it begins."""
    for at, other in enumerate(known):
        if copy.begins(other):
            return other
        if other.begins(copy):
            known[at] = copy
            return other
    known.append(copy)
    return None


def digests(items: Iterable[Any]) -> tuple[bytes, ...]:
    """A digest of each item, its kind and moment included."""
    return tuple(
        # Short: only the items of one session are compared.
        blake2b(msgspec.json.encode((type(item).__name__, item), enc_hook=str), digest_size=8).digest()
        for item in items
    )
