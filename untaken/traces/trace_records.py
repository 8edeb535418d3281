"""Records of traces that come in several places: the same one twice, or one trace in several files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from untaken.errors import UntakenError
from untaken.numbers import counted
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog, Findings
from untaken.traces.readings import mapping, text
from untaken.traces.sources import Source
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, convert_together
from untaken.traces.trace_run import TraceRun

Record = Mapping[str, Any]
_TRACE_ID: Final = re.compile(
    rb'"(?:trace_?id|context\.trace_id|root_span_id)"\s*:\s*"([^"\\]{1,128})"', re.IGNORECASE
)
"""How every format of spans names the trace of a span."""
_OVERLAP: Final = 256
_ENDS: Final = ("end_time", "endTime", "ended_at", "end_time_unix_nano", "endTimeUnixNano")
_BEGINS: Final = ("start_time", "startTime", "started_at", "start_time_unix_nano", "startTimeUnixNano")
_NOTHING: Final[tuple[Any, ...]] = (None, "", [], {})


def read_once(
    records: Sequence[Record], name: Callable[[Record], str | None], what: str, findings: Findings
) -> list[dict[str, Any]]:
    """The records, each id once, where it was first; a finding says how many came again.

    Overlapping pages, a retry or a second exporter write a record twice, others as it is when it begins and
    again when it has ended. The complete one counts; what only another has is added to it. Records with
    another name and another start are others, whatever their id.

    Args:
        records: of one trace.
        name: the id of a record; one without an id is read as it is.
        what: one of them is.
        findings: of the file.
    """
    found: dict[Any, dict[str, Any]] = {}
    again = 0
    for number, record in enumerate(records):
        key: Any = (name(record), 0)
        if key[0] is None:
            found[number] = dict(record)
            continue
        while key in found and _are_others(found[key], record):  # some programs count ids from 1 again
            key = (key[0], key[1] + 1)
        if key not in found:
            found[key] = dict(record)
        else:
            again += 1
            less, more = sorted((found[key], record), key=_completeness)
            found[key] = _filled(more, less)
    if again:
        message = f"{counted(again, what)} came again under a known id; read once, in the complete form"
        findings.add("repeated-record", message, severity="note")
    return list(found.values())


def _are_others(one: Record, other: Record) -> bool:
    began = [next((each[name] for name in _BEGINS if each.get(name)), None) for each in (one, other)]
    names = [each.get("name") for each in (one, other)]
    return all((*began, *names)) and began[0] != began[1] and names[0] != names[1]


def _completeness(record: Record) -> tuple[bool, int]:
    ended = any(record.get(name) for name in _ENDS) or bool(mapping(record.get("metrics")).get("end"))
    return ended, len(msgspec.json.encode(record))


def _filled(more: Record, less: Record) -> dict[str, Any]:
    """The record, with what only the other has."""
    filled = dict(more)
    for name, value in less.items():
        if filled.get(name) in _NOTHING:
            filled[name] = value
        elif isinstance(value, dict) and isinstance(filled[name], dict):
            filled[name] = {**value, **filled[name]}
    return filled


class TraceFiles:
    """Files that are read together, because they have records of the same trace; or one alone.

    Attributes:
        findings: of the first of them.
        place: of the file that is being read.
    """

    def __init__(self, files: Sequence[TraceFile]) -> None:
        self._files = files
        self.findings = files[0].findings
        self.place = 0

    @property
    def stem(self) -> str:
        """The name of the file that is being read, without the ending."""
        return self._files[self.place].stem

    def log(self, place: int) -> FileLog:
        """The account of one of them."""
        return self._files[place].log

    def values(self) -> Iterator[Any]:
        """The JSON values of all files, one by one."""
        for place, file in enumerate(self._files):
            self.place = place
            yield from file.values()

    def record(self, value: Any) -> Any:
        """A record of the file that is being read, tidied and counted."""
        return self._files[self.place].record(value)

    def refuse(self, message: str) -> None:
        """Says that nothing of the format is in them."""
        for file in self._files:
            file.refuse(message)


class Traces:
    """The records of each trace, in the order in which traces were first met."""

    def __init__(self, files: TraceFiles) -> None:
        self._files = files
        self._records: dict[str, list[dict[str, Any]]] = {}
        self._places: dict[str, dict[int, None]] = {}

    def __bool__(self) -> bool:
        return bool(self._records)

    def add(self, trace: str, *records: dict[str, Any]) -> None:
        """Takes records of a trace in, out of the file that is being read."""
        self._records.setdefault(trace, []).extend(records)
        self._places.setdefault(trace, {})[self._files.place] = None

    def items(self) -> Iterable[tuple[str, list[dict[str, Any]]]]:
        """Each trace with its records."""
        return self._records.items()

    def runs(
        self, read: Callable[[str, list[dict[str, Any]]], Iterable[TraceRun]], key: str, what: str
    ) -> Iterator[TraceRun]:
        """The runs that are read of each trace, whose records, named by their `key`, come once each."""
        for trace, records in self._records.items():
            once = read_once(records, lambda record: text(record.get(key)), what, self._files.findings)
            for run in read(trace, once):
                run.files = self.logs(trace)
                yield run

    def logs(self, *traces: str) -> list[FileLog]:
        """The accounts of the files that traces are in."""
        places = dict.fromkeys(place for trace in traces for place in self._places.get(trace, ()))
        return [self._files.log(place) for place in places]


def linked(sources: Sequence[Source]) -> list[list[Source]]:
    """The files, those together that name a trace in common."""
    group_of: dict[bytes, int] = {}
    groups: dict[int, list[Source]] = {}
    for number, source in enumerate(sources):
        names = _trace_ids(source) if len(sources) > 1 else set()  # a file alone is not searched
        joined = sorted({group_of[name] for name in names if name in group_of})
        home = joined[0] if joined else number
        groups[home] = [*(each for group in joined for each in groups.pop(group)), source]
        if len(joined) > 1:
            group_of = {name: home if group in joined else group for name, group in group_of.items()}
        group_of |= dict.fromkeys(names, home)
    return [groups[home] for home in sorted(groups)]


def _trace_ids(source: Source) -> set[bytes]:
    """The ids of traces that a file names; nothing of a file that cannot be read."""
    found: set[bytes] = set()
    rest = b""
    try:
        for piece in source.pieces():
            found.update(_TRACE_ID.findall(rest + piece))
            rest = piece[-_OVERLAP:]  # a name may lie across two pieces
    except (UntakenError, OSError):
        return set()
    return {name for name in found if name.strip(b"0-")}  # ids of zeros link nothing


def trace_converter(
    read: Callable[[TraceFiles], Iterable[TraceRun]], places: Places
) -> Callable[[Sequence[Source], Intake], None]:
    """The `convert` of an importer of traces: files that have a trace in common are read together."""

    def convert(sources: Sequence[Source], intake: Intake) -> None:
        for group in linked(sources):
            convert_together(group, lambda files: read(TraceFiles(files)), places, intake)

    return convert
