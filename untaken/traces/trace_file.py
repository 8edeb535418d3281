"""The conversion of formats whose files stand alone: what they share, so that an importer only reads.

Each file is opened once; its records are counted, tidied and read into runs; the runs become one ledger.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from untaken import limits
from untaken.traces.intake import Intake
from untaken.traces.jsontext import JsonReader
from untaken.traces.losses import FileLog, Findings
from untaken.traces.sources import Source
from untaken.traces.tidy import Places, Tidier
from untaken.traces.trace_run import TraceRun, tools_by_task, write_traces

_READ_TWICE_FROM: Final = 8 * limits.MIB
"""Longer files are read twice, so that their runs need not be in memory together."""


@dataclass(frozen=True)
class TraceFile:
    """A file during its conversion.

    Attributes:
        source: where it comes from.
        reader: of its JSON values, untidied.
        log: its account.
        tidier: of its records.
        named: by its folder, where that tells it from others; see `run_names`.
    """

    source: Source
    reader: JsonReader
    log: FileLog
    tidier: Tidier
    named: str | None = None

    @classmethod
    def opened(
        cls,
        source: Source,
        intake: Intake,
        places: Places,
        log: FileLog | None = None,
        *,
        copies: bool = False,
    ) -> TraceFile | None:
        """A file, ready to be read; ``None``, with a finding, where it cannot be (`Intake.reader`).

        Args:
            source: the file.
            intake: the conversion.
            places: of the format.
            log: its account; by default a new one of the conversion.
            copies: whether the same bytes may come again.
        """
        log = intake.open(source) if log is None else log
        reader = intake.reader(source, log, copies=copies)
        return None if reader is None else cls(source, reader, log, Tidier(places, log.findings))

    @property
    def stem(self) -> str:
        """What names a run of it that nothing else names: its name without the ending, or its folder's."""
        return self.named or self.source.stem

    @property
    def ledger(self) -> str:
        """The stem of the ledger that its runs go to."""
        return f"{self.source.stem}-{self.log.sha256[:8]}"  # other folders may have a file of this name

    @property
    def findings(self) -> Findings:
        """What to report about it."""
        return self.log.findings

    def values(self) -> Iterator[Any]:
        """Its JSON values, one by one."""
        return (element.value for element in self.reader.values())

    def wholes(self, parts: Callable[[Any], list[Any]]) -> Iterator[Any]:
        """Each value that is a run: one that has `parts`, or all lines that are a part each."""
        loose: list[Any] = []
        while self.reader.peek() == "[":
            whole = [element.value for element in self.reader.elements()]
            # A list of runs, or the parts of one.
            yield from whole if whole and all(map(parts, whole)) else [whole]
        for value in self.values():
            if parts(value):
                yield value
            else:
                loose.append(value)
        if loose:
            yield loose

    def record(self, value: Any) -> Any:
        """A record, tidied and counted."""
        self.log.records += 1
        record, held = self.tidier.record(value, "")
        self.log.count(held, self.tidier.places.kept)
        return record

    def records(self) -> Iterator[Any]:
        """Its values as records, where each value is one."""
        return map(self.record, self.values())

    def records_that(
        self, fits: Callable[[dict[str, Any]], bool], refusal: str, root: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Its objects that are records of the format; of another value nothing is kept, and it is named.

        Args:
            fits: whether an object is one.
            refusal: what to say of another value; ``{}`` in it is its number.
            root: the place of a record.
        """
        for element in self.reader.values():
            record, held = self.tidier.record(element.value, root)
            is_record = isinstance(record, dict) and fits(record)
            self.log.records += 1
            self.log.count(held, self.tidier.places.kept if is_record else frozenset())
            if is_record:
                yield record
            else:
                self.refuse(refusal.format(element.index))

    def leave(self, value: Any) -> None:
        """Counts values that are in no record."""
        self.log.count(self.tidier.record(value, "")[1], frozenset())

    def refuse(self, message: str) -> None:
        """Says that something in it is not of the format."""
        self.findings.add("not-this-format", message, severity="error")


def run_names(sources: Sequence[Source]) -> dict[str, str]:
    """The folders of files of one name that are each alone in theirs (``task-1/chat.json``), by the files.

    Such a name says what a file is; which run it is of is said by the folder that differs.
    """
    alone = Counter(source.folders for source in sources)
    alike: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.folders and alone[source.folders] == 1:
            alike[source.stem].append(source)
    found: dict[str, str] = {}
    for group in filter(lambda each: len(each) > 1, alike.values()):
        levels = zip(*(source.folders[::-1] for source in group), strict=False)
        names = next((level for level in levels if len(set(level)) > 1), ())
        found |= dict(zip((source.name for source in group), names, strict=False))
    return found


def converter(
    read: Callable[[TraceFile], Iterable[TraceRun]], places: Places
) -> Callable[[Sequence[Source], Intake], None]:
    """The `convert` of an importer that reads the runs of one file at a time."""

    def convert(sources: Sequence[Source], intake: Intake) -> None:
        names = run_names(sources)
        for source in sources:
            named = names.get(source.name)
            convert_together([source], lambda files: read(files[0]), places, intake, named=named)

    return convert


def convert_together(
    sources: Sequence[Source],
    read: Callable[[list[TraceFile]], Iterable[TraceRun]],
    places: Places,
    intake: Intake,
    *,
    named: str | None = None,
    stem: str | None = None,
) -> None:
    """Writes the runs of files that are read together into one ledger.

    Args:
        sources: the files.
        read: gives the runs; it is asked twice where the files are long.
        places: of the format.
        intake: the conversion.
        named: as `TraceFile.named`.
        stem: what the ledger is named after; by default the first file.
    """
    for source in sources:
        intake.step(source.name)

    def opened(*, quiet: bool) -> list[TraceFile]:
        logs = [FileLog(source.name) if quiet else None for source in sources]
        each = zip(sources, logs, strict=True)
        files = (TraceFile.opened(source, intake, places, log) for source, log in each)
        return [replace(file, named=named) for file in files if file is not None]

    files = opened(quiet=False)
    if not files:
        return
    log, *others = (file.log for file in files)
    with intake.contained(log):
        tools = None
        if sum(file.log.bytes for file in files) > _READ_TWICE_FROM:
            # Tools are known before the runs are read again: none of them is kept in memory. With logs of
            # their own nothing is reported twice.
            tools = tools_by_task(read(opened(quiet=True)))
        name = f"{stem}-{log.sha256[:8]}" if stem else files[0].ledger
        write_traces(read(files), name, intake=intake, log=log, about=others, tools=tools)


def text_converter(
    read: Callable[[str, str, Findings], Iterable[TraceRun]], nothing: str
) -> Callable[[Sequence[Source], Intake], None]:
    """The `convert` of an importer of texts: `read` is given the text, its stem and what to report to."""

    def convert(sources: Sequence[Source], intake: Intake) -> None:
        for source in sources:
            intake.step(source.name)
            log = intake.open(source)
            written, stem = intake.text(source, log), source.stem.strip(".")
            if written is None:
                continue
            with intake.contained(log):
                runs = list(read(written, stem, log.findings))
                log.records += len(runs)
                if not runs:
                    log.findings.add("not-this-format", nothing, severity="error")
                write_traces(runs, f"{stem}-{log.sha256[:8]}", intake=intake, log=log)

    return convert
