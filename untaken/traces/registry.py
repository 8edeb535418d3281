"""The importers by name, and how a file's format is recognised."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import pairwise
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from untaken.errors import UntakenError, one_of
from untaken.traces.format_info import FormatInfo
from untaken.traces.importer import Importer
from untaken.traces.intake import UNFORESEEN
from untaken.traces.mapped import built_in_mappings
from untaken.traces.sample import Confidence, Sample, sample_of, shape_of

BUILT_IN: Final = (
    *("native", "devai", "agentrx", "tau_bench", "tau2_bench", "who_and_when", "agenteval", "harbor", "atif"),
    *("claude_code", "inspect", "otel", "openhands", "swe_agent", "terminal_bench", "mini_swe_agent"),
    *("codex", "gemini_cli", "copilot_cli", "goose", "opencode", "pi", "openai_agents", "langsmith"),
    *("langfuse", "braintrust", "weave", "mlflow", "promptfoo", "chatgpt", "aider", "vscode_chat", "cline"),
    *("cursor", "langchain_events", "browser_use", "openai_messages"),
)
"""Modules of this package that declare an ``IMPORTER``; of two that are equally sure, the first is taken."""
ENTRY_POINTS: Final = "untaken.formats"
"""The group of entry points by which other packages declare importers."""


_OWN: ContextVar[Mapping[str, Importer]] = ContextVar("own importers", default=MappingProxyType({}))


def importers() -> Mapping[str, Importer]:
    """Every importer by the name of its format: a user's own ones, the built-in ones, those of plug-ins."""
    return {**own, **installed_importers()} if (own := _OWN.get()) else installed_importers()


@contextmanager
def own_importers(own: Iterable[Importer]) -> Iterator[None]:
    """Lets a user's own importers be known within the block; they come first.

    Raises:
        UntakenError: ``format-name-taken``.
    """
    known = {importer.info.name: importer for importer in own}
    if taken := next((name for name in known if name in installed_importers()), None):
        message = f"the format {taken!r} is built in"
        raise UntakenError("format-name-taken", message, hint="Give your format another name.")
    token = _OWN.set({**_OWN.get(), **known})
    try:
        yield
    finally:
        _OWN.reset(token)


def usable_importers(own: Iterable[Importer | UntakenError]) -> list[Importer]:
    """Those of a user's own importers that can be known: sound ones, with a name that is free."""
    sound = (each for each in own if isinstance(each, Importer))
    return [importer for importer in sound if importer.info.name not in installed_importers()]


@cache
def installed_importers() -> Mapping[str, Importer]:
    """The built-in importers, modules first and then mapping files; then those of installed plug-ins.

    A plug-in that cannot be loaded, or that takes a name in use, is left out with a `RuntimeWarning`.
    """
    known: dict[str, Importer] = {}
    for module in BUILT_IN:
        importer: Importer = import_module(f"untaken.traces.{module}").IMPORTER
        known[importer.info.name] = importer
    for importer in built_in_mappings():
        known[importer.info.name] = importer
    # In one order, whatever was installed first: of two with one name, one is left out.
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: (entry.name, entry.value)):
        plugged = _plugged(entry)
        if plugged is not None and known.setdefault(plugged.info.name, plugged) is not plugged:
            _warn(entry, f"the format {plugged.info.name!r} exists already")
    return known


def _plugged(entry: EntryPoint) -> Importer | None:
    try:
        importer = entry.load()
    except Exception as error:  # whatever another package raises must not take this one down
        _warn(entry, f"{type(error).__name__}: {error}")
        return None
    if isinstance(importer, Importer):
        return importer
    _warn(entry, f"it is a {type(importer).__name__}, not an untaken.traces.Importer")
    return None


def _warn(entry: EntryPoint, why: str) -> None:
    message = f"format plug-in {entry.name} ({entry.value}) is left out: {why}"
    warnings.warn(message, RuntimeWarning, stacklevel=3)


def formats() -> list[FormatInfo]:
    """The formats that can be converted."""
    return [importer.info for importer in importers().values()]


def recognise(sample: Sample) -> str | None:
    """The name of the format whose recogniser is surest; ``None`` where each of them says no.

    Where the beginning of a file leaves it open, an outline of the whole is looked at.
    """
    found, best = _surest(sample)
    for later in _outlines(sample) if best < Confidence.LIKELY else ():
        if (surer := _surest(later))[1] > best:
            found, best = surer
    return found


def _outlines(sample: Sample) -> Iterator[Sample]:
    """The outline of a file, then without the records before each that is of another shape than the last."""
    outline = sample.outline()
    if outline is None:
        return
    yield outline
    for number, (before, record) in enumerate(pairwise(outline.records), start=1):
        if shape_of(record) != shape_of(before):
            yield replace(outline, records=outline.records[number:])


def _surest(sample: Sample) -> tuple[str | None, Confidence]:
    found, best = None, Confidence.NO
    for name, importer in importers().items():
        sure = _sure(importer, sample)
        if sure > best:  # of equals, the first
            found, best = name, sure
            if sure >= Confidence.CERTAIN:  # no other can be surer
                break
    return found, best


def _sure(importer: Importer, sample: Sample) -> Confidence:
    """How sure a recogniser is; one that fails at a value does not know the file."""
    try:
        return importer.recognise(sample)
    except UNFORESEEN:
        return Confidence.NO


def equally_sure(sample: Sample) -> list[str]:
    """The formats whose recognisers are surest; several where it is ambiguous, none where each says no."""
    sure = {name: _sure(importer, sample) for name, importer in importers().items()}
    best = max(sure.values())
    for outline in _outlines(sample) if best < Confidence.LIKELY else ():
        sure = {name: max(how, _sure(importers()[name], outline)) for name, how in sure.items()}
        best = max(sure.values())
    return [name for name, how in sure.items() if how is best] if best > Confidence.NO else []


def recognise_files(samples: Iterable[Sample]) -> list[str | None]:
    """The format of each of several files that lie together, in their order; ``None`` where it is unknown.

    A file that is a companion of a recognised one (`Importer.companions`) is of the same format, whatever it
    looks like by itself: a trajectory in the folder of a benchmark's trial belongs to the trial.
    """
    found = [(sample.name, recognise(sample)) for sample in samples]
    leaders = {
        PurePosixPath(name).parent: format
        for name, format in found
        if format is not None and importers()[format].companions
    }
    if not leaders:
        return [format for _, format in found]
    return [_led(PurePosixPath(name), leaders) or format for name, format in found]


def _led(path: PurePosixPath, leaders: Mapping[PurePosixPath, str]) -> str | None:
    """The format of the nearest folder above that claims the file as a companion."""
    for folder in path.parents:
        format = leaders.get(folder)
        inside = path.relative_to(folder).as_posix()
        if format and any(fnmatchcase(inside, glob) for glob in importers()[format].companions):
            return format
    return None


def sniff(name: str, start: bytes) -> str | None:
    """The format of a file by its first bytes (some 64 KiB; compressed ones are fine), else ``None``."""
    return recognise(sample_of(name, start))


def importer_named(format: str) -> Importer:
    """The importer of a format.

    Raises:
        UntakenError: ``format-unknown``.
    """
    if format in importers():
        return importers()[format]
    if format == "crafter-scores":
        message = "recorded scores of Crafter are counts by episode, no runs"
        raise UntakenError("format-unknown", message, hint="Give them to `untaken crafter score`.")
    raise UntakenError("format-unknown", f"there is no format {format!r}", hint=one_of(format, importers()))
