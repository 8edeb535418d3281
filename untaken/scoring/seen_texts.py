"""What an agent had been shown at any moment of a run: messages, instructions and answers of tools (§4).

Nothing else shows it anything: a STATE is the environment's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal

from msgspec import Struct

from untaken.caching import cached_property
from untaken.ledger import Message, Observation, Run, ToolCall, readable
from untaken.plans import text_of

ValueKind = Literal["id", "word", "date", "amount", "choice"]
"""``choice``: true, false or nothing, which no text says as such."""
AGENT_ROLES: Final = frozenset({"assistant", "agent", "ai", "model"})
SYSTEM_ROLES: Final = frozenset({"system", "developer"})
_WORDS: Final = re.compile(r"[^\W_]+")
_BETWEEN_WORDS: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_NUMBER: Final = re.compile(r"(?<![\w.])[-−]?\$?\d[\d,]*(?:\.\d+)?(?![\w])")
_ID_NAMES: Final = re.compile(
    r"(?:^|_)(?:ids?|code|number|no|zip|phone|key|sku|ref)(?:$|_|s$)", re.IGNORECASE
)
_DATE_CHARS: Final = 40
"""Most characters of a value that is a date."""
_BETWEEN_SIGNS: Final = r"[ .()/#_+-]{0,3}"
"""What people put between the parts of a number or an id: ``(555) 123-4567``, ``HAT 276``."""
_SPELT_CHARS: Final = (5, 40)
_SPELT_DIGITS: Final = 3
"""Characters, and least digits, of what is found in any spelling: ``12A`` is in ``12 a day``."""
_NAME: Final = re.compile(r"([^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*){0,2})(,?) ([^\W\d_][\w'’-]*)")
_BEFORE_NAME: Final = re.compile(r"(?:[,&]|\b[^\W\d_a-z][\w.'’-]*)\s*$")
_AFTER_NAME: Final = re.compile(r"\s*(?:[,&]|and\b|[^\W\d_a-z])")
"""Words of other names beside a name: in ``Tom Lee, Ann Smith`` nobody is called *Ann Lee*."""
_NEAR: Final = 40
_LONG: Final = 6
"""Digits from which a number is likelier an id than an amount."""
_MONTHS: Final = {
    name: at
    for at, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), start=1)
    for name in names.split()
}  # fmt: skip
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))  # `january` before `jan`
_DAY: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_DATES: Final = (
    ("ymd", re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")),
    ("mdy", re.compile(rf"\b({_MONTH})\.?\s+{_DAY}(?:\s*,?\s*(\d{{4}}))?\b", re.IGNORECASE)),
    ("dmy", re.compile(rf"\b{_DAY}\s+(?:of\s+)?({_MONTH})\.?(?:\s*,?\s*(\d{{4}}))?\b", re.IGNORECASE)),
    ("both", re.compile(r"(?<!\d)(\d{1,2})[/.](\d{1,2})[/.](\d{4})(?!\d)")),
    ("both", re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{2})(?![\d/])")),
)
TEXT_CHARS: Final = 200_000
"""Characters of one text that are looked through."""
RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:next|last|this|coming|following|previous)\s+(?:day|week|month|year|weekend)"
    r"|(?:days?|weeks?|months?)\s+(?:ago|later|from|after|before|earlier)"
    r"|(?:by|in|within|for)\s+\w+\s+(?:days?|weeks?|months?)|same day)\b",
    re.IGNORECASE,
)
Day = tuple[int | None, int, int]
"""Year, month and day; a text may leave the year out."""


class SoughtValue(Struct, frozen=True, kw_only=True, gc=False):
    """A value in the forms that a text may give it.

    Attributes:
        words: its words in lower case, without signs between them; empty where it has none.
        name: first and last names, where it may be that of a person.
        number, day: where it is one.
    """

    kind: ValueKind
    words: str
    name: tuple[str, ...] = ()
    number: float | None = None
    day: Day | None = None


@dataclass(frozen=True, kw_only=True)
class ShownText:
    """A text that the agent was shown, and what showed it.

    Attributes:
        seq: of the event.
        source: ``instruction``, the role of a message, or the tool that answered.
        call: that was answered.
    """

    seq: int
    source: str
    text: str
    call: ToolCall | None = None

    @cached_property
    def _words(self) -> str:
        return f" {_words(self.text)} "  # blanks at both ends: only whole words fit

    @cached_property
    def _numbers(self) -> frozenset[float]:
        found = (_number(match[0]) for match in _NUMBER.finditer(self.text))
        return frozenset(number for number in found if number is not None)

    @cached_property
    def _days(self) -> frozenset[Day]:
        return frozenset(_days(self.text))

    @cached_property
    def _signs(self) -> str:
        return self._words.replace(" ", "")

    def says(self, value: SoughtValue) -> bool:
        """Whether it has a value's words, with whatever signs between them, or its last name first."""
        if not value.words or f" {value.words} " in self._words:
            return bool(value.words)
        return self._spells(value.words.replace(" ", ""), value.kind) or self._names(value.name)

    def _spells(self, signs: str, kind: ValueKind) -> bool:
        least, most = _SPELT_CHARS
        if kind == "amount" or not least <= len(signs) <= most or signs not in self._signs:
            return False
        if sum(map(str.isdigit, signs)) < _SPELT_DIGITS:
            return False
        pattern = _BETWEEN_SIGNS.join(map(re.escape, signs))
        text = unicodedata.normalize("NFKC", self.text).casefold()
        return re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", text) is not None

    def _names(self, name: Sequence[str]) -> bool:
        """Whether it has a name with its parts in fields of their own, or with the last name first."""
        for at in range(1, len(name)):
            given, family = " ".join(name[:at]), " ".join(name[at:])
            first, last = _words(given), _words(family)
            parts = (
                f"{first} {last}",
                f"first name {first} last name {last}",
                f"last name {last} first name {first}",
            )
            if any(f" {part} " in self._words for part in parts):
                return True
            written = f"{family}, {given}"
            if f" {last} {first} " in self._words and any(map(self._has_alone, (written, written.upper()))):
                return True
        return False

    def _has_alone(self, name: str) -> bool:
        return any(
            not _BEFORE_NAME.search(self.text[max(0, found.start() - _NEAR) : found.start()])
            and not _AFTER_NAME.match(self.text[found.end() : found.end() + _NEAR])
            for found in re.finditer(rf"\b{re.escape(name)}\b", self.text)
        )

    def shows(self, value: SoughtValue) -> bool:
        """Whether it says a value, or the same number, or the same day."""
        if self.says(value):
            return True
        if value.number is not None and value.number in self._numbers:
            return True
        if value.day is None:
            return False
        year, month, day = value.day
        return any(
            (month, day) == (at[1], at[2]) and (year is None or at[0] is None or year == at[0])
            for at in self._days
        )


def sought(value: Any, argument: str = "") -> SoughtValue:
    """An argument's value as it is looked for; the argument's name tells ids from amounts."""
    if value is None or isinstance(value, bool):
        return SoughtValue(kind="choice", words="")
    text = value if isinstance(value, str) else readable(value) or ""
    words = _words(text)
    number = _number(text)
    if number is not None:
        digits = text.strip().lstrip("#")
        # No amount begins with 0.
        long = digits.isdigit() and (len(digits) >= _LONG or (len(digits) > 1 and digits[0] == "0"))
        is_id = long or _ID_NAMES.search(argument) is not None
        return SoughtValue(kind="id" if is_id else "amount", words=words, number=number)
    if len(text) <= _DATE_CHARS and len(days := set(_days(text))) == 1:
        return SoughtValue(kind="date", words=words, day=next(iter(days)))
    has_digit = any(sign.isdigit() for sign in text)
    kind: ValueKind = "id" if has_digit and " " not in text.strip() else "word"
    return SoughtValue(kind=kind, words=words, name=_name(text.strip()))


def _name(text: str) -> tuple[str, ...]:
    """The names of what is written like a person, first names first; nothing of all else."""
    found = _NAME.fullmatch(text)
    if found is None or not all(word[:1].isupper() for word in text.split()):
        return ()
    before, comma, after = found.groups()
    return (after, *before.split()) if comma else (*before.split(), after)


class SeenTexts:
    """What a run's agent was shown, each text looked through once."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def texts(self) -> tuple[ShownText, ...]:
        """Them all, in order."""
        return tuple(_shown_texts(self.run))

    @cached_property
    def has_system_prompt(self) -> bool:
        """Whether one of them is a system prompt."""
        return any(text.source in SYSTEM_ROLES for text in self.texts)

    @cached_property
    def _arguments(self) -> list[ShownText]:
        return [
            ShownText(seq=call.seq, source=call.tool, text=readable(call.arguments) or "")
            for call in self.run.actions
        ]

    def first(self, value: SoughtValue, before: float) -> ShownText | None:
        """The first text before an event that shows a value."""
        put_in = self._put_in(value)  # an answer to a call that already had the value is an echo
        for text in self.texts:
            if text.seq >= before:
                return None
            if (text.call is None or text.call.seq < put_in) and text.shows(value):
                return text
        return None

    def relative_dates(self, before: float) -> bool:
        """Whether a text before an event speaks of a day by its distance: ``tomorrow``."""
        return any(RELATIVE.search(text.text) for text in self.texts if text.seq < before)

    def _put_in(self, value: SoughtValue) -> float:
        """`seq` of the first call that the run itself put the value into."""
        return next((given.seq for given in self._arguments if given.says(value)), float("inf"))


def _shown_texts(run: Run) -> Iterator[ShownText]:
    calls: Mapping[str, ToolCall] = {call.call_id: call for call in run.actions}
    asked = any(message.role.lower() not in AGENT_ROLES | SYSTEM_ROLES for message in run.of(Message))
    given = (run.started.metadata or {}).get("input")
    if not asked and given is not None:  # else it may be the instruction of a simulated user
        yield ShownText(seq=run.started.seq, source="instruction", text=_cut(given))
    for event in run.events:
        if event.seq >= run.own:  # what others wrote afterwards, the agent never saw
            return
        if isinstance(event, Message) and event.role.lower() not in AGENT_ROLES:
            yield ShownText(seq=event.seq, source=event.role.lower(), text=_cut(event.content))
        elif isinstance(event, Observation):
            call = calls.get(event.call_id or "")
            if call is None:
                yield ShownText(seq=event.seq, source="an observation", text=_cut(event.content))
            elif call.requestor != "user":  # else the answer is the user's
                yield ShownText(seq=event.seq, source=call.tool, text=_cut(event.content), call=call)


def _cut(content: Any) -> str:
    return (text_of(content) or "")[:TEXT_CHARS]


def _words(text: str) -> str:
    if text.isascii():  # the same several times faster: most of the time of a failed run went here
        return " ".join(text.lower().translate(_BETWEEN_WORDS).split())
    return " ".join(_WORDS.findall(unicodedata.normalize("NFKC", text).casefold()))


def _number(text: str) -> float | None:
    plain = text.strip().replace("−", "-").replace("$", "").replace(",", "")
    try:
        return float(plain) if plain.lstrip("-")[:1].isdigit() else None
    except ValueError:
        return None


def _days(text: str) -> Iterator[Day]:
    for order, pattern in _DATES:
        for match in pattern.finditer(text):
            first, second, third = match.groups()
            match order:
                case "ymd":
                    yield from _day(int(first), int(second), int(third))
                case "mdy":
                    yield from _day(third, _MONTHS[first.lower()], int(second))
                case "dmy":
                    yield from _day(third, _MONTHS[second.lower()], int(first))
                case "both":  # which number is the day, nobody can tell
                    year = int(third) + (2000 if len(third) == 2 else 0)
                    yield from _day(year, int(first), int(second))
                    yield from _day(year, int(second), int(first))


def _day(year: str | int | None, month: int, day: int) -> Iterator[Day]:
    try:
        date(int(year or 2000), month, day)  # without a year, 29 February must exist
    except ValueError:
        return
    yield (None if year is None else int(year)), month, day
