"""A mapping file: a format said in YAML, read strictly and compiled to an importer.

Nothing in it is evaluated: paths lead down, values are looked up, conditions compare. Its places are known
before a record is read, so that the loss report and the list of what feeds a run follow from the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Final

from msgspec import Struct

from untaken import limits
from untaken.errors import UntakenError, Where
from untaken.plans import Document, Path, read_yaml
from untaken.traces.format_info import RUN_FIELDS, FormatInfo, RunField
from untaken.traces.losses import Findings, clip
from untaken.traces.mapped.rules import Rule, Rules
from untaken.traces.mapped.terms import Elements, MappingTerms, Scope, Term, Test
from untaken.traces.sample import Confidence, Sample
from untaken.traces.spending import USAGE
from untaken.traces.tables import first_rows, is_table
from untaken.traces.tidy import Places

SUFFIX: Final = ".mapping.yaml"
FILE_BYTES: Final = 64 * limits.KIB
TOP: Final = ("format", "title", "what", "files", "recognise", "runs", "run", "items", "left_out")
ONE: Final[tuple[str, ...]] = (
    *("id", "agent", "model", "version", "prompt_version", "task", "repeat", "task_text", "target"),
    *("success", "cost", "steps", "started", "finished", "error", "limit", "session"),
)
"""Members of `run` that have one value."""
NAMED: Final[tuple[str, ...]] = ("metrics", "metadata")
"""Members of `run` that have values by name."""
TOTAL: Final = "total_tokens"
SURE: Final = {name.lower(): Confidence[name] for name in ("POSSIBLE", "LIKELY", "CERTAIN")}
READS: Final[Mapping[str, RunField]] = {
    "agent": "agent",
    "model": "model",
    "version": "version",
    "prompt_version": "prompt version",
    "task": "task",
    "task_text": "task text",
    "target": "target",
    "success": "outcome",
    "usage": "tokens",
    "calls.usage": "tokens",
    "cost": "cost",
    "calls.cost": "cost",
    "started": "time",
    "finished": "time",
}
"""What of a run each member of `run` feeds."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,40}\Z")
_ENDING: Final = re.compile(r"\.[a-z0-9]{1,12}(\.[a-z0-9]{1,12})?\Z")


class Recogniser(Struct, frozen=True, kw_only=True):
    """When a file is of the format: a record that has these names and fits."""

    sure: Confidence
    names: frozenset[str]
    test: Test | None

    def of(self, sample: Sample, *, members: bool = False) -> Confidence:
        """How sure it is of a file, whose records' `members` may be the runs."""
        records = first_rows(sample) if is_table(sample.name) else sample.records
        if members:
            records = [each for record in records if isinstance(record, dict) for each in record.values()]
        for record in records:
            if self.names <= (record.keys() if isinstance(record, dict) else frozenset()):
                scope = Scope(here=record, root=record, findings=Findings(None), file=sample.name)
                if self.test is None or self.test(scope):
                    return self.sure
        return Confidence.NO


class FormatMapping(Struct, frozen=True, kw_only=True):
    """A compiled mapping file.

    Attributes:
        info: of the format.
        recognisers: any of which may know a file.
        each: the runs of a record, ``None`` where it is one.
        lines: whether all records of a file are one run; `by`: what records of one run share.
        members: whether each member of a record is a run.
        lists: where a run's list is in a record that is none; lines that are neither are one together.
        terms: the members of `run`; `metrics` and `metadata` by name; `usage`; `calls`: the elements
            that are calls of a model, with what each of them used and cost.
        items: what happened.
        places: what is read.
    """

    info: FormatInfo
    recognisers: tuple[Recogniser, ...]
    each: Elements | None
    lines: bool
    lists: tuple[str, ...]
    members: bool
    by: Term | None
    terms: Mapping[str, Term]
    metrics: Mapping[str, Term]
    metadata: Mapping[str, Term]
    usage: Term | None
    calls: tuple[Elements, Term, Term] | None
    items: Rule
    places: Places


def read_mapping(path: FilePath | str) -> FormatMapping:
    """The mapping of a file.

    Raises:
        UntakenError: ``mapping-invalid`` with the line; ``mapping-too-large``; ``mapping-not-found``.
    """
    file = FilePath(path)
    try:
        data = file.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        hint = "`untaken mapping draft` writes one from your data."
        raise UntakenError("mapping-not-found", f"there is no mapping file {clip(file)}", hint=hint) from None
    return parse_mapping(data, file.name)


def parse_mapping(data: str | bytes, name: str) -> FormatMapping:
    """The mapping of a text; errors as in `read_mapping`."""
    where = Where(file=name)
    if len(data) > FILE_BYTES:
        message = f"the file has {len(data):,} bytes; a mapping may have {FILE_BYTES:,}"
        raise UntakenError("mapping-too-large", message, where=where, hint="Name a mapping file.")
    try:
        written = data.decode("utf-8") if isinstance(data, bytes) else data
        document = read_yaml(written.removeprefix("\ufeff"), name)  # a mark that editors on Windows put first
    except UnicodeError:
        message = "the file is not UTF-8 text"
        raise UntakenError("mapping-invalid", message, where=where, hint="Save it as UTF-8.") from None
    except UntakenError as error:
        hint = error.hint or "Correct the YAML at this place."
        raise UntakenError("mapping-invalid", error.message, where=error.where, hint=hint) from None
    return _Reader(document).mapping()


class _Reader:
    """Compiles one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._terms = MappingTerms(document)
        self._reads: dict[RunField, dict[str, None]] = {}

    def mapping(self) -> FormatMapping:
        terms = self._terms
        spec = terms.members(self._document.value, (), TOP, ("format", "run", "items"))
        known = enumerate(self._list(spec, "recognise"))
        recognisers = tuple(self._recogniser(each, ("recognise", n)) for n, each in known)
        runs = terms.members(
            spec.get("runs", {}), ("runs",), ("each", "when", "lines", "lists", "members", "by")
        )
        if len({"each", "lines", "lists", "members", "by"} & runs.keys()) > 1:
            terms.refuse(("runs",), "`runs` is one of: each, lines, lists, members, by")
        lists = self._names(runs, ("runs",), "lists")
        together = bool(runs.get("lines")) or "by" in runs
        by = terms.term(runs["by"], ("runs", "by"), "[]" if together else "") if "by" in runs else None
        home = lists[0] if lists else ""
        each, home = terms.each(runs, ("runs",), home) if {"each", "when"} & runs.keys() else (None, home)
        run = terms.members(spec["run"], ("run",), (*ONE, *NAMED, "usage", "calls"))
        single: dict[str, Term] = {
            name: self._one(name, run[name], ("run", name), home) for name in ONE if name in run
        }
        by_name = {name: self._named(run.get(name, {}), ("run", name), home) for name in NAMED}
        usage = self._one("usage", run["usage"], ("run", "usage"), home) if "usage" in run else None
        calls = self._calls(run["calls"], ("run", "calls"), home) if "calls" in run else None
        rules = Rules(terms)
        items = rules.all(spec["items"], ("items",), home)
        self._feeds("time", rules.times)
        left_out = [
            f"{terms.path(path, ('left_out', n)).place('')}.**"
            for n, path in enumerate(self._list(spec, "left_out"))
        ]
        return FormatMapping(
            info=self._info(spec, left_out),
            recognisers=recognisers,
            each=each,
            lines=bool(runs.get("lines")),
            lists=lists,
            members=bool(runs.get("members")),
            by=by,
            terms=single,
            metrics=by_name["metrics"],
            metadata=by_name["metadata"],
            usage=usage,
            calls=calls,
            items=items,
            places=Places(
                kept=_everywhere(terms.conditions | terms.places, lists), dropped=_everywhere(left_out, lists)
            ),
        )

    def _info(self, spec: Mapping[str, Any], left_out: Iterable[str]) -> FormatInfo:
        name = spec["format"]
        if not isinstance(name, str) or not _NAME.match(name):
            self._terms.refuse(
                ("format",), "a format's name has small letters, digits and hyphens, 41 at most"
            )
        endings = self._list(spec, "files") or [".json", ".jsonl"]
        for n, ending in enumerate(endings):
            if not isinstance(ending, str) or not _ENDING.match(ending):
                self._terms.refuse(("files", n), "the ending of a file is written like `.json`")
        title, what = (str(spec.get(key) or "")[:200] for key in ("title", "what"))
        reads = {field: tuple(self._reads[field]) for field in RUN_FIELDS if field in self._reads}
        return FormatInfo(
            name=name,
            title=title or name,
            extensions=tuple(endings),
            what=what or "Read by a mapping file.",
            reads=reads,
            left_out=tuple(left_out),
        )

    def _list(self, spec: Mapping[str, Any], name: str) -> list[Any]:
        value = spec.get(name)
        if value is not None and not isinstance(value, list):
            self._terms.refuse((name,), f"`{name}` is a list")
        return value or []

    def _names(self, spec: Mapping[str, Any], at: Path, member: str) -> tuple[str, ...]:
        names = spec.get(member, [])
        if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            self._terms.refuse((*at, member), f"`{member}` is a list of names")
        return tuple(names)

    def _recogniser(self, spec: Any, at: Path) -> Recogniser:
        self._terms.members(spec, at, ("sure", "names", "where"), ("sure",))
        if spec["sure"] not in tuple(SURE):  # it may be a list, which has no hash
            self._terms.refuse((*at, "sure"), f"`sure` is one of: {', '.join(SURE)}")
        names = self._names(spec, at, "names")
        if not names and "where" not in spec:
            self._terms.refuse(at, "it would recognise every file: give `names` or `where`")
        before = dict(self._terms.conditions)  # what a recogniser looks at reaches no run
        test = self._terms.test(spec["where"], (*at, "where"), "") if "where" in spec else None
        self._terms.conditions = before
        return Recogniser(sure=SURE[spec["sure"]], names=frozenset(names), test=test)

    def _one(self, name: str, spec: Any, at: Path, home: str) -> Term:
        before, self._terms.places = self._terms.places, {}  # apart, to know which of them feed this
        if name in ("usage", "calls.usage") and isinstance(spec, dict) and spec.keys() <= USAGE.keys():
            terms: dict[str, Term] = {}
            for figure in sorted(spec, key=lambda each: each != TOTAL):
                terms[figure] = self._terms.term(spec[figure], (*at, figure), home)
                if figure == TOTAL:  # it says what the others include, and feeds nothing itself
                    before, self._terms.places = {**before, **self._terms.places}, {}
            # By names that `spending.usage` knows.
            named = {name if name in USAGE[name] else USAGE[name][-1]: term for name, term in terms.items()}
            term: Term = lambda scope: {name: term(scope) for name, term in named.items()}  # noqa: E731
        else:
            term = self._terms.term(
                spec, at, home, whole=name in ("usage", "calls.usage", "task_text", "target")
            )
        if (field := READS.get(name)) is not None and spec is not None:
            literal = isinstance(spec, str) and spec[:1] == "'"
            what = f"always {clip(spec[1:-1], 60)}" if literal else "file name"
            self._feeds(field, self._terms.places or [f"({what})"])
        self._terms.places = {**before, **self._terms.places}
        return term

    def _feeds(self, field: RunField, places: Iterable[str]) -> None:
        for place in places:
            self._reads.setdefault(field, {})[place.removesuffix(".**").removeprefix("[].")] = None

    def _named(self, spec: Any, at: Path, home: str) -> dict[str, Term]:
        fields = self._terms.members(spec, at, spec if isinstance(spec, dict) else ())
        return {
            name: self._terms.term(each, (*at, name), home, whole=at[-1] == "metadata")
            for name, each in fields.items()
        }

    def _calls(self, spec: Any, at: Path, home: str) -> tuple[Elements, Term, Term]:
        self._terms.members(spec, at, ("each", "when", "usage", "cost"), ("each",))
        each, inner = self._terms.each(spec, at, home)
        usage, cost = (
            self._one(f"calls.{name}", spec.get(name), (*at, name), inner) for name in ("usage", "cost")
        )
        return each, usage, cost


def _everywhere(places: Iterable[str], lists: Sequence[str]) -> Iterator[str]:
    """The places below the first of the lists, below every other, and of a list that is the record."""
    for place in places:
        below = place.removeprefix(lists[0]) if lists else place
        yield from (f"{name}{below}" for name in (*lists, "")) if below != place else (place,)
