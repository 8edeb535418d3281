"""What a file that is no ledger looks like, and what to do with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from untaken.errors import Finding, Severity, Where, first_few
from untaken.ledger import is_tar
from untaken.traces.jsontext import JsonReader, decode_text
from untaken.traces.losses import Findings, clip
from untaken.traces.other_tools import other_tool
from untaken.traces.readings import items, objects
from untaken.traces.registry import importers, recognise
from untaken.traces.sample import Sample, sample_of
from untaken.traces.sources import HEAD_BYTES

NAMED: Final = 3
"""Files, or fields of one, that a message names; the others are counted."""
_TABLES: Final = "; export its rows as JSON Lines"
_ZIP: Final = ", which is not opened: pack its files as a zip archive"
_MAGIC: Final = (
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PAR1", f"a Parquet table{_TABLES}"),
    (b"ARROW1", f"an Arrow table{_TABLES}"),
    (b"\x7fELF", "a program"),
    (b"BZh", "a bzip2 file, which is not opened: decompress it, or use gzip or Zstandard"),
    (b"\xfd7zXZ", "an xz file, which is not opened: decompress it, or use gzip or Zstandard"),
    (b"7z\xbc\xaf\x27\x1c", f"a 7z archive{_ZIP}"),
    (b"Rar!", f"a RAR archive{_ZIP}"),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "an XML document"),
)
_PARTS: Final = (
    (
        ("subtype", "session_id", "result", "num_turns"),
        "the result of `claude -p` alone; `--output-format stream-json --verbose` records its calls, too",
    ),
    (("resourceLogs",), "OTLP logs without their spans; convert both in one file"),
    (("resourceMetrics",), "OTLP metrics, which are of no run"),
)
"""Fields of a part of a trace that is no run by itself, what it is, and what to do."""
_OURS: Final = (
    (".heads.json", "the recorded heads of a ledger", "Name the ledger; its heads are read with it."),
    (".memory.jsonl", "a policy memory", "`untaken memory show` reads it; verbs take it with --memory."),
    (".signals.jsonl", "the queue of weak signals of a memory", "`untaken memory queue` reads it."),
)


class Likeness(Struct, frozen=True, kw_only=True):
    """What a file looks like.

    Attributes:
        what: a noun phrase, with the name of the format where it is a known one.
        use: the next step for who wanted a ledger.
        failed: true for what an export or a download that failed leaves behind.
    """

    what: str
    use: str
    failed: bool = False


def likeness(sample: Sample) -> Likeness:
    """What a file looks like that is no ledger."""
    name = sample.name.lower()
    for ending, what, use in _OURS:
        if name.endswith(ending):
            return Likeness(what=what, use=use)
    format = recognise(sample)
    if format == "native":
        return Likeness(what="a plan graph", use="Pass it with --graphs.")
    if format is not None:
        what = f"{importers()[format].info.title} ({format})"
        return Likeness(what=what, use=f"`untaken convert --from {format}` converts it to ledgers.")
    schema = sample.first.get("schema")
    if isinstance(schema, str) and schema.startswith("untaken."):
        return Likeness(what=f"a document {clip(schema, 60)}", use="Name the ledgers it was made from.")
    if (tool := other_tool(sample)) is not None:
        return Likeness(what=tool.what, use=tool.hint)
    faults = _faults(sample)
    what = _shape(sample) + (", cut short" if "truncated-file" in faults else "")
    if not sample.records:
        what += next((f"; {f.message}" for f in faults.all() if f.code == "unreadable-record"), "")
    if sample.records and len(sample.head) < HEAD_BYTES:  # all of it: a part may end inside of a character
        decode_text(sample.head, coded := Findings(None))
        if coded.all():
            return Likeness(what=f"{what}; its text is not UTF-8", use="Save it as UTF-8 and try again.")
    if what in ("an empty file", "an HTML page") or ", cut short" in what:
        return Likeness(what=what, use="The export or the download failed: repeat it.", failed=True)
    return Likeness(what=what, use="`untaken formats` lists the traces that can be converted.")


def _faults(sample: Sample) -> Findings:
    """What is wrong with the JSON of a file that the sample holds as a whole."""
    findings = Findings(None)
    if len(sample.head) < HEAD_BYTES and sample.shape in ("object", "array", "lines"):
        deque(JsonReader(sample.text, findings).values(), maxlen=0)  # for the findings alone
    return findings


def _shape(sample: Sample) -> str:
    start = sample.head[:64].lstrip().lower()
    magic = next((what for mark, what in _MAGIC if start.startswith(mark.lower())), None)
    if is_tar(sample.head):
        return f"a tar archive{_ZIP}"
    fields = _fields(sample.first)
    if part := next((what for names, what in _PARTS if sample.first.keys() >= set(names)), None):
        return part
    if any(_only_names(trace) for trace in objects(sample.first.get("data"))[:1]):
        return "a list of Langfuse's traces that only names their observations; export each trace, or these"
    if sample.shape == "text" and sample.name.lower().endswith(".csv"):
        columns = sample.text.partition("\n")[0].split(",")
        return f"a CSV table{_fields(column.strip() for column in columns)}{_TABLES}"
    return (
        magic
        or {
            "empty": "an empty file",
            "zip": "a zip archive" if sample.members else "a zip archive, cut short or empty",
            "binary": "binary data",
            "text": "text",
            "object": f"a JSON object{fields}",
            "array": f"a JSON list{fields}",
            "lines": f"JSON Lines{fields}",
        }[sample.shape]
    )


def _only_names(trace: Mapping[str, object]) -> bool:
    """Whether the observations of a trace are their ids alone, as Langfuse lists traces."""
    listed = items(trace.get("observations"))
    return bool(listed) and all(isinstance(each, str) for each in listed)


def _fields(record: Iterable[object]) -> str:
    names = [clip(name, 40) for name in record]
    return f" with the fields {first_few(names, NAMED)}" if names else ""


def not_a_ledger(file: Path, *, severity: Severity = "error") -> Finding:
    """The finding about a file that holds no line of a ledger."""
    looks = likeness(sample_of(file.name, file))
    return Finding(
        code="not-a-ledger",
        message=f"not a ledger: looks like {looks.what}",
        where=Where(file=str(file)),
        hint=looks.use,
        severity=severity,
    )


def ignored(files: Iterable[Path]) -> str:
    """The files that were not read, in words: their number, and of the first ones what they look like."""
    paths = list(files)
    if not paths:
        return "it holds no file"
    names = [f"{clip(p.name, 80)} ({likeness(sample_of(p.name, p)).what})" for p in paths[:NAMED]]
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return f"{len(paths)} {'file' if len(paths) == 1 else 'files'} ignored: {', '.join(names)}{more}"
