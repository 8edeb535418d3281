"""The values and conditions of a mapping file, each a function of the element at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import fsum
from typing import Any, Final, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import UntakenError
from untaken.plans import Document, Path
from untaken.traces.losses import Findings, clip
from untaken.traces.readings import mapping, parsed, text
from untaken.traces.trace_run import content_text

PATH_CHARS: Final = 300
STEPS: Final = 20
_STEP: Final = re.compile(r'\.?(?:(\[\])|"([^"]+)"|([^.\[\]"\s/{}\']+))')

TEXT_CHARS: Final = 1_000
"""Characters of a literal or a template."""
AGGREGATES: Final = ("sum", "count", "first", "last")
KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "text": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "list": (list,),
}
_FIELD: Final = re.compile(r"\{([^{}]*)\}")
_NUMBERED: Final = ("$file", "$number")


class Scope(Struct, frozen=True, kw_only=True):
    """What a value is read from.

    Attributes:
        here: the element at hand; `root`: the whole record.
        file: the file's name without its ending; `number`: of the run in it, from 0.
        findings: of the file.
        now: the moment of the element, where one is recorded.
    """

    here: Any
    root: Any
    findings: Findings
    file: str = ""
    number: int = 0
    now: datetime | None = None

    def at(self, here: Any) -> Scope:
        """The same for another element."""
        return replace(self, here=here)


Term = Callable[[Scope], Any]
Test = Callable[[Scope], bool]
Elements = Callable[[Scope], Iterator[Scope]]


class MappingTerms:
    """Compiles the terms of one mapping file, and notes every place that they read.

    Attributes:
        places: the places of a record that are read; ``.**`` at the end takes in what is below.
        conditions: the places that decide what is read.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self.places: dict[str, None] = {}
        self.conditions: dict[str, None] = {}

    def refuse(self, at: Path, message: str, hint: str = "") -> NoReturn:
        """Refuses a part of the file.

        Raises:
            UntakenError: ``mapping-invalid``, with the line.
        """
        hint = hint or "docs/formats.md lists what a mapping file can say."
        raise UntakenError("mapping-invalid", message, where=self._document.where(at), hint=hint)

    def members(
        self, spec: Any, at: Path, known: Iterable[str], required: Iterable[str] = ()
    ) -> dict[str, Any]:
        """A mapping of the file that has these members only."""
        if not isinstance(spec, dict):
            self.refuse(at, f"{_named(at)} is {_shown(spec)}; a mapping is expected")
        known, missing = list(known), [name for name in required if name not in spec]
        if missing:
            self.refuse(at, f"{_named(at)} has no `{missing[0]}`")
        for name in spec:
            if name not in known:
                self.refuse(
                    (*at, name), f"`{clip(name, 80)}` is not known here", f"One of: {', '.join(known)}."
                )
        return spec

    def path(self, spec: Any, at: Path) -> RecordPath:
        """A path."""
        if not isinstance(spec, str):
            self.refuse(at, f"{_named(at)} is {_shown(spec)}; a path is expected")
        try:
            return read_path(spec)
        except ValueError as error:
            self.refuse(at, str(error))

    def note(self, place: str, *, whole: bool) -> None:
        """Notes a place that is read; `whole` with all that is below it."""
        if place:
            self.places[f"{place}.**" if whole else place] = None

    def term(self, spec: Any, at: Path, home: str, *, whole: bool = False) -> Term:
        """A value: a path, a list (the first that is filled), a literal, a template or an operation."""
        if isinstance(spec, list):
            each = [self.term(part, (*at, n), home, whole=whole) for n, part in enumerate(spec)]
            return lambda scope: next((v for term in each if is_filled(v := term(scope))), None)
        if isinstance(spec, dict):
            return self._operation(spec, at, home, whole)
        if spec is None or isinstance(spec, bool | int | float):
            return lambda _: spec
        if len(spec) > TEXT_CHARS:
            self.refuse(at, f"a text in a mapping has at most {TEXT_CHARS:,} characters")
        if spec[:1] == "'":
            if len(spec) < 2 or spec[-1] != "'":
                self.refuse(at, f"{_shown(spec)} has no closing quote")
            return lambda _: spec[1:-1]
        if spec in _NUMBERED:
            return (lambda scope: scope.file) if spec == "$file" else (lambda scope: scope.number)
        return self._template(spec, at, home) if "{" in spec else self._value_at(spec, at, home, whole)

    def _value_at(self, spec: str, at: Path, home: str, whole: bool) -> Term:
        path = self.path(spec, at)
        self.note(path.place(home), whole=whole)
        if path.from_root:
            return lambda scope: path.of(scope.root)
        # Most values are plain members, looked up for every element of every record.
        if path.steps and len(path.steps) == 1 and not path.is_many:
            name = path.steps[0]
            return lambda scope: scope.here.get(name) if isinstance(scope.here, dict) else None
        return lambda scope: path.of(scope.here)

    def _template(self, spec: str, at: Path, home: str) -> Term:
        """Texts with values in braces; without one of them it says nothing, unless it ends in ``?``."""
        parts = _FIELD.split(spec)  # texts, with a field between each two
        if any("{" in part or "}" in part for part in parts[::2]):
            self.refuse(at, f"the braces of {_shown(spec)} do not match")
        needed = [not name.endswith("?") for name in parts[1::2]]
        fields = [self.term(name.removesuffix("?"), at, home) for name in parts[1::2]]

        def filled(scope: Scope) -> str | None:
            read = [field(scope) for field in fields]
            one = (value[0] if isinstance(value, list) and value else value for value in read)
            found = [_key(value) if isinstance(value, bool) else text(value) for value in one]
            if any(value is None and need for value, need in zip(found, needed, strict=True)):
                return None
            return parts[0] + "".join(
                (value or "") + rest for value, rest in zip(found, parts[2::2], strict=True)
            )

        return filled

    def _operation(self, spec: dict[str, Any], at: Path, home: str, whole: bool) -> Term:
        if named := next((name for name in AGGREGATES if name in spec), None):
            return self._aggregate(named, spec, at, home, whole)
        if "if" in spec:
            self.members(spec, at, ("if", "then", "else"), ("then",))
            test = self.test(spec["if"], (*at, "if"), home)
            then, otherwise = (
                self.term(spec.get(name), (*at, name), home, whole=whole) for name in ("then", "else")
            )
            return lambda scope: then(scope) if test(scope) else otherwise(scope)
        if "of" in spec:
            self.members(spec, at, ("of", "is", "else"), ("is",))
            of = self.term(spec["of"], (*at, "of"), home)
            ways = self.members(spec["is"], (*at, "is"), spec["is"])
            terms = {key: self.term(way, (*at, "is", key), home, whole=whole) for key, way in ways.items()}
            # Without `else` a value that is not listed stays as it is.
            rest = self.term(spec["else"], (*at, "else"), home, whole=whole) if "else" in spec else of
            return lambda scope: terms.get(_key(of(scope)), rest)(scope)
        if "fields" in spec:
            self.members(spec, at, ("fields",))
            members = self.members(spec["fields"], (*at, "fields"), spec["fields"])
            parts = {
                key: self.term(part, (*at, "fields", key), home, whole=True) for key, part in members.items()
            }
            return lambda scope: {key: v for key, part in parts.items() if (v := part(scope)) is not None}
        if len(spec) == 1 and (name := next(iter(spec))) in _UNARY:
            inner = self.term(spec[name], (*at, name), home, whole=whole or name != "not")
            return _UNARY[name](inner)
        return self.refuse(
            at,
            f"{_named(at)} is no value: {_shown(spec)}",
            "A path, a list, 'a literal', \"{a}/{template}\", of/is/else, if/then/else, fields, sum, count, "
            "first, last, not, json, flat, key or value.",
        )

    def _aggregate(self, name: str, spec: dict[str, Any], at: Path, home: str, whole: bool) -> Term:
        self.members(spec, at, (name, "each", "when", "by"))
        elements, inner = self.each(spec, at, home)
        value = self.term(spec[name], (*at, name), inner, whole=whole)
        by = self.term(spec["by"], (*at, "by"), inner) if "by" in spec else None

        def values(scope: Scope) -> list[Any]:
            found: dict[Any, list[Any]] = {}
            for number, element in enumerate(elements(scope)):
                key = number if by is None else _key(by(element))
                given = value(element)
                # Of elements with one `by`, the last counts.
                found[key] = given if isinstance(given, list) else [given]
            return [each for some in found.values() for each in some if is_filled(each)]

        return lambda scope: _AGGREGATE[name](values(scope))

    def each(self, spec: Mapping[str, Any], at: Path, home: str) -> tuple[Elements, str]:
        """The elements a rule is about: those at `each`, before `until`, that fit `when`; and their place."""
        given = spec.get("each")
        reads_json = isinstance(given, dict) and given.keys() == {"json"}
        path = None if given is None else self.path(given["json"] if reads_json else given, (*at, "each"))
        inner = home
        if path is not None:
            inner = path.place(home)
            self.conditions[inner.removesuffix("[]")] = None
            if reads_json:
                self.note(inner, whole=True)
                inner = f"{inner}.**"
        test = self.test(spec["when"], (*at, "when"), inner) if "when" in spec else None
        until = self.test(spec["until"], (*at, "until"), inner) if "until" in spec else None

        def elements(scope: Scope) -> Iterator[Scope]:
            found: Iterable[Any] = (scope.here,)
            if path is not None:
                found = path.found(scope.root if path.from_root else scope.here)
                if reads_json:
                    found = [
                        each
                        for one in map(parsed, found)
                        for each in (one if isinstance(one, list) else [one])
                    ]
            for here in found:
                element = scope.at(here)
                if until is not None and until(element):
                    return
                if test is None or test(element):
                    yield element

        return elements, inner

    def test(self, spec: Any, at: Path, home: str) -> Test:
        """A condition: fields that all have to be as said."""
        fields = self.members(spec, at, spec if isinstance(spec, dict) else ())
        values, self.places = self.places, {}  # what is only compared is no value of a run
        tests = [
            self._field_test(self.term(name, (*at, name), home), wanted, (*at, name), home)
            for name, wanted in fields.items()
        ]
        self.conditions |= self.places
        self.places = values
        return lambda scope: all(test(scope) for test in tests)

    def _field_test(self, term: Term, wanted: Any, at: Path, home: str) -> Test:
        if not isinstance(wanted, dict):
            return lambda scope: _is(term(scope), wanted)
        asked = self.members(wanted, at, (*_QUESTIONS, "differs"))
        if "kind" in asked and asked["kind"] not in tuple(KINDS):  # it may be a list, which has no hash
            kind = _shown(asked["kind"])
            self.refuse((*at, "kind"), f"there is no kind {kind}", f"One of: {', '.join(KINDS)}.")
        for name in ("at_least", "at_most"):
            if name in asked and not _is_number(asked[name]):
                self.refuse((*at, name), f"`{name}` is {_shown(asked[name])}; a number is expected")
        other = self.term(asked["differs"], (*at, "differs"), home) if "differs" in asked else None
        questions = [(_QUESTIONS[name], answer) for name, answer in asked.items() if name != "differs"]
        return lambda scope: (
            all(question(term(scope), answer) for question, answer in questions)
            and (other is None or not _equal(term(scope), other(scope)))
        )


def is_filled(value: Any) -> bool:
    """Whether something is there: not null, nor an empty text, list or object."""
    return value is not None and value not in ("", [], {})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(value: Any, wanted: Any) -> bool:
    """Equal; true is not 1."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _is(value: Any, wanted: Any) -> bool:
    """What is wanted, or one of a list of that; of a list, one of its elements is."""
    given, answers = (each if isinstance(each, list) else [each] for each in (value, wanted))
    return any(_equal(each, answer) for answer in answers for each in given)


def _key(value: Any) -> str:
    """A value as a key of `is`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _sum(values: Sequence[Any]) -> float | None:
    numbers = [value for value in values if _is_number(value)]
    return fsum(numbers) if numbers else None  # the same in whatever order


_UNARY: Final[Mapping[str, Callable[[Term], Term]]] = {
    "not": lambda term: lambda scope: not value if isinstance(value := term(scope), bool | int) else None,
    "json": lambda term: lambda scope: parsed(term(scope)),
    "flat": lambda term: lambda scope: content_text(term(scope)),
    "key": lambda term: lambda scope: next(iter(mapping(term(scope))), None),
    "value": lambda term: lambda scope: next(iter(mapping(term(scope)).values()), None),
}
_AGGREGATE: Final[Mapping[str, Callable[[Sequence[Any]], Any]]] = {
    "sum": _sum,
    "count": len,
    "first": lambda values: next(iter(values), None),
    "last": lambda values: next(reversed(values), None),
}
_QUESTIONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "is": _is,
    "exists": lambda value, wanted: (value is not None) == wanted,
    "filled": lambda value, wanted: is_filled(value) == wanted,
    "starts": lambda value, wanted: isinstance(value, str) and value.startswith(str(wanted)),
    "ends": lambda value, wanted: isinstance(value, str) and value.endswith(str(wanted)),
    "kind": lambda value, wanted: (
        # `true` is an int here
        isinstance(value, KINDS[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
    ),
    "size": lambda value, wanted: isinstance(value, list) and len(value) == wanted,
    "at_least": lambda value, wanted: _is_number(value) and value >= wanted,
    "at_most": lambda value, wanted: _is_number(value) and value <= wanted,
}


def _named(at: Path) -> str:
    return f"`{'.'.join(map(str, at))}`" if at else "the file"


def _shown(value: Any) -> str:
    return clip(repr(value), 80)


class RecordPath(Struct, frozen=True, kw_only=True):
    """Where a value is: names, and ``None`` for every element of a list.

    Attributes:
        steps: from the outside in; none leads to the value itself.
        from_root: whether it begins at the whole record, not at the element at hand.
    """

    steps: tuple[str | None, ...]
    from_root: bool = False

    @property
    def is_many(self) -> bool:
        """Whether it goes through a list."""
        return None in self.steps

    def found(self, value: Any) -> list[Any]:
        """Every value there, in order; nulls are left out."""
        here = [value]
        for step in self.steps:
            if step is None:
                here = [each for one in here if isinstance(one, list) for each in one]
            else:
                here = [one[step] for one in here if isinstance(one, dict) and step in one]
        return [each for each in here if each is not None]

    def of(self, value: Any) -> Any:
        """The value there, ``None`` where there is none; of a path through a list all of them."""
        if self.is_many:
            return self.found(value) or None
        for step in self.steps:
            if not isinstance(value, dict):
                return None
            value = value.get(step)
        return value

    def place(self, home: str) -> str:
        """How the loss report calls it, below `home`."""
        place = "" if self.from_root else home
        for step in self.steps:
            place += "[]" if step is None else f".{step}" if place else step
        return place


def read_path(text: str) -> RecordPath:
    """The path that a text is: ``a.b[]."c d"``; ``.`` is the element at hand, ``/a`` begins at the record.

    Raises:
        ValueError: where it is none, says why.
    """
    if len(text) > PATH_CHARS:
        raise ValueError(f"a path has at most {PATH_CHARS} characters")
    from_root = text.startswith("/")
    rest = text[1:] if from_root else text
    steps = () if rest in ("", ".") else tuple(_steps(rest))
    if not text or len(steps) > STEPS:
        raise ValueError(f"a path has 1 to {STEPS} steps")
    if from_root and None in steps:
        raise ValueError("a path from the record (/) goes through no list")
    return RecordPath(steps=steps, from_root=from_root)


def _steps(text: str) -> Iterator[str | None]:
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or (at == 0 and text[0] == "."):
            raise ValueError(f"{text!r} is no path: names with dots between, [] for every element")
        yield None if step[1] else step[2] or step[3]
        at = step.end()
