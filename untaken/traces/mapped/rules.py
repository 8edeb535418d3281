"""The rules of a mapping file that say what happened in a run: who spoke, what was called, what came back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from untaken.ledger import Plan
from untaken.plans import Path
from untaken.traces.losses import clip
from untaken.traces.mapped.terms import MappingTerms, Scope, Term, is_filled
from untaken.traces.messages import FIELDS, is_message, message_items
from untaken.traces.readings import items, moment, text
from untaken.traces.trace_run import Answered, Called, Item, Recorded, Utterance

Rule = Callable[[Scope], Iterator[Item] | None]
"""The items of an element; ``None`` where the rule does not fit it."""
RULES: Final = 200
"""Most rules of one file."""
_ACTS: Final = ("say", "call", "answer", "plan", "message")
_FREE: Final = ("content", "arguments")
_SCOPED: Final = ("each", "until", "when", "time", "items", "choose")


class Rules:
    """Compiles the rules of one mapping file.

    Attributes:
        times: the places that moments are read from.
    """

    def __init__(self, terms: MappingTerms) -> None:
        self.times: dict[str, None] = {}
        self._terms = terms
        self._count = 0

    def all(self, spec: Any, at: Path, home: str) -> Rule:
        """Rules that apply one after the other."""
        rules = self._list(spec, at, home)

        def apply(scope: Scope) -> Iterator[Item]:
            for rule in rules:
                yield from rule(scope) or ()

        return apply

    def _list(self, spec: Any, at: Path, home: str) -> list[Rule]:
        if not isinstance(spec, list):
            self._terms.refuse(at, "a list of rules is expected")
        return [self._rule(each, (*at, n), home) for n, each in enumerate(spec)]

    def _rule(self, spec: Any, at: Path, home: str) -> Rule:
        self._count += 1
        if self._count > RULES:
            self._terms.refuse(at, f"a mapping has at most {RULES} rules")
        self._terms.members(spec, at, (*_SCOPED, *_ACTS))
        acts = [name for name in ("items", "choose", *_ACTS) if name in spec]
        if len(acts) != 1:
            what = " and ".join(f"`{name}`" for name in acts) or "nothing"
            hint = f"One of: {', '.join(('items', 'choose', *_ACTS))}. Nest several under `items`."
            self._terms.refuse(at, f"a rule does one thing; this one says {what}", hint)
        elements, inner = self._terms.each(spec, at, home)
        time = self._time(spec["time"], (*at, "time"), inner) if "time" in spec else None
        act = self._act(acts[0], spec[acts[0]], (*at, acts[0]), inner)

        def apply(scope: Scope) -> Iterator[Item] | None:
            # `choose` must know whether a rule fits before any item is given, so one element is looked for.
            found = elements(scope)
            first = next(found, None)
            return None if first is None else _applied(act, time, chain((first,), found))

        return apply

    def _time(self, spec: Any, at: Path, home: str) -> Term:
        before, self._terms.places = self._terms.places, {}  # apart, to know which of them are moments
        term = self._terms.term(spec, at, home)
        self.times |= self._terms.places
        self._terms.places = before | self._terms.places
        return term

    def _act(self, name: str, spec: Any, at: Path, home: str) -> Rule:
        if name == "choose":
            return _chosen(self._list(spec, at, home))
        compiled = {
            "items": self.all,
            "say": self._say,
            "call": self._call,
            "answer": self._answer,
            "plan": self._plan,
            "message": self._message,
        }
        return compiled[name](spec, at, home)

    def _parts(self, spec: Any, at: Path, home: str, names: Sequence[str]) -> dict[str, Term]:
        """The terms of an act, of which the first is required; free content is kept with all in it."""
        self._terms.members(spec, at, names, names[:1])
        return {
            name: self._terms.term(spec.get(name), (*at, name), home, whole=name in _FREE) for name in names
        }

    def _say(self, spec: Any, at: Path, home: str) -> Rule:
        part = self._parts(spec, at, home, ("content", "role"))

        def say(scope: Scope) -> Iterator[Item]:
            if is_filled(content := part["content"](scope)):
                yield Utterance(role=text(part["role"](scope)) or "unknown", content=content, at=scope.now)

        return say

    def _call(self, spec: Any, at: Path, home: str) -> Rule:
        part = self._parts(spec, at, home, ("tool", "arguments", "id", "by"))

        def call(scope: Scope) -> Iterator[Item]:
            yield Called(
                tool=part["tool"](scope),
                arguments=part["arguments"](scope),
                source_id=text(part["id"](scope)),
                at=scope.now,
                side="user" if part["by"](scope) == "user" else "agent",
            )

        return call

    def _answer(self, spec: Any, at: Path, home: str) -> Rule:
        part = self._parts(spec, at, home, ("content", "id", "ok"))

        def answer(scope: Scope) -> Iterator[Item]:
            ok = part["ok"](scope)
            yield Answered(
                content=part["content"](scope),
                source_id=text(part["id"](scope)),
                ok=ok if isinstance(ok, bool) else None,
                at=scope.now,
            )

        return answer

    def _plan(self, spec: Any, at: Path, home: str) -> Rule:
        term = self._terms.term(spec, at, home, whole=True)

        def plan(scope: Scope) -> Iterator[Item]:
            given = term(scope)
            steps = [words for each in items(given) or [given] if (words := text(each))]
            if steps:
                yield Recorded(Plan, {"sub_goals": steps}, scope.now)

        return plan

    def _message(self, spec: Any, at: Path, home: str) -> Rule:
        is_path = isinstance(spec, str) and "{" not in spec
        term = self._terms.term(spec, at, home, whole=not is_path)
        if is_path:
            place = self._terms.path(spec, at).place(home)
            for name in FIELDS:
                self._terms.note(f"{place}.{name}" if place else name, whole=False)

        def message(scope: Scope) -> Iterator[Item]:
            given = term(scope)
            for each in given if isinstance(given, list) else [given]:
                if is_message(each):
                    yield from message_items(each, scope.now)
                elif each is not None:
                    why = f"a value at `{clip(spec, 80)}` is no message of a known form; left out"
                    scope.findings.once("not-a-message", why)

        return message


def _applied(act: Rule, time: Term | None, elements: Iterable[Scope]) -> Iterator[Item]:
    for element in elements:
        now = None if time is None else moment(time(element), element.findings, "time")
        yield from act(element if now is None else replace(element, now=now)) or ()


def _chosen(rules: Sequence[Rule]) -> Rule:
    """The first of the rules that fits."""

    def choose(scope: Scope) -> Iterator[Item]:
        for rule in rules:
            if (found := rule(scope)) is not None:
                yield from found
                return

    return choose
