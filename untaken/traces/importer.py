"""What a format is to the registry: a description, a recogniser and a converter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from untaken.traces.format_info import RUN_FIELDS, FormatInfo
from untaken.traces.intake import Intake
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source

_FIELDS: Final = {field.replace(" ", "_"): field for field in RUN_FIELDS}


class Importer(Struct, frozen=True, kw_only=True):
    """One foreign format: what its module declares as ``IMPORTER``, a plug-in as an entry point.

    Attributes:
        info: what it is.
        recognise: how surely a file is of the format. It sees hostile files: it must neither raise nor take
            more than linear time.
        convert: reads the sources and writes their runs and graphs through the intake.
        passes: how often `convert` calls ``intake.step`` for each source, for reporting progress.
        companions: globs of files that belong to a recognised one, by their path from its folder, whatever
            they look like by themselves: ``("verifier/*", "agent/*.json")``; a star crosses folders.
        joins: true where several files speak of one run, so that a file added later is converted together
            with those added before it.
        archives: true where a zip archive whose name ends in one of ``info.extensions`` is one file of the
            format, not a folder of files.
    """

    info: FormatInfo
    recognise: Callable[[Sample], Confidence]
    convert: Callable[[Sequence[Source], Intake], None]
    passes: int = 1
    companions: tuple[str, ...] = ()
    joins: bool = False
    archives: bool = False

    def may_be_companion(self, name: str) -> bool:
        """Whether a file of this path can belong to a recognised one in some folder above it."""
        if not self.companions:
            return False
        parts = PurePosixPath(name).parts
        tails = ["/".join(parts[i:]) for i in range(len(parts))]
        return any(fnmatchcase(tail, glob) for tail in tails for glob in self.companions)


def importer(
    *,
    name: str,
    title: str,
    what: str,
    recognise: Callable[[Sample], Confidence | bool],
    convert: Callable[[Sequence[Source], Intake], None],
    extensions: tuple[str, ...] = (".json", ".jsonl"),
    left_out: tuple[str, ...] = (),
    passes: int = 1,
    companions: tuple[str, ...] = (),
    joins: bool = False,
    archives: bool = False,
    **reads: tuple[str, ...],
) -> Importer:
    """A built-in importer; `reads` are those of its `FormatInfo`, with ``_`` for blanks in their names.

    A recogniser that is certain or not at all may answer true or false.
    """

    def sure(sample: Sample) -> Confidence:
        known = recognise(sample)
        return known if isinstance(known, Confidence) else Confidence.CERTAIN if known else Confidence.NO

    by_field = {_FIELDS[field]: places for field, places in reads.items()}
    return Importer(
        info=FormatInfo(
            name=name, title=title, extensions=extensions, what=what, reads=by_field, left_out=left_out
        ),
        recognise=sure,
        convert=convert,
        passes=passes,
        companions=companions,
        joins=joins,
        archives=archives,
    )
