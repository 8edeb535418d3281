"""What the entries of a Who&When history say: who spoke, whom the orchestrator chose, its ledger, its plans.

All of it is free text that a program (Magentic-One, AutoGen) wrote around a model's output. Anything that is
not understood stays a message.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct

from untaken.traces.jsontext import Broken, JsonReader
from untaken.traces.losses import Findings, clip
from untaken.traces.readings import mapping, text, truth

FLAGS: Final = ("is_request_satisfied", "is_in_loop", "is_progress_being_made")
"""The questions that the orchestrator answers with yes or no before each choice."""
MOST_MEMBERS: Final = 64
"""Most members of a team: more names in one text are no team."""
ORCHESTRATOR: Final = "orchestrator"
# Possessive, so that no role costs more than one pass.
_CHOICE: Final = re.compile(r"orchestrator\s*+\(\s*+->([^)]++)\)", re.IGNORECASE)
_UPDATE: Final = "updated ledger"
_PLANS: Final = ("initial plan", "new plan")
_TEAM: Final = "following team:"
_FACTS: Final = "fact sheet to consider:"
_STEPS: Final = "here is the plan to follow as best as possible:"
_MEMBER: Final = re.compile(r"([A-Za-z][\w .-]{0,60}):\s")
_ITEM: Final = re.compile(r"(?:[-*•]|\d{1,4}[.)]|#+)\s+(\S.*)")
_EXIT: Final = re.compile(r"(?:exitcode|unix exit code):\s*(-?\d+)", re.IGNORECASE)
_FENCED: Final = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_TERMINAL: Final = "computerterminal"


class Progress(Struct, frozen=True, kw_only=True):
    """The orchestrator's ledger: its flags and whom it names next; ``None`` for what it does not say."""

    flags: dict[str, bool | None]
    next_speaker: str | None


class TaskPlan(Struct, frozen=True, kw_only=True):
    """A plan as announced.

    Attributes:
        kind: ``initial plan`` or ``new plan``.
        team: names of the agents it has; empty where it names none.
        steps: the lines of its lists, else all its lines; `facts`: the fact sheet it rests on.
    """

    kind: str
    team: tuple[str, ...]
    steps: tuple[str, ...]
    facts: str


UNREAD: Final = Progress(flags=dict.fromkeys(FLAGS), next_speaker=None)
"""A ledger that cannot be read."""


def speaker_of(role: str) -> str:
    """Who speaks: ``Orchestrator (thought)`` is the orchestrator."""
    return role.split(" (", 1)[0].strip()


def chosen_by(role: str) -> str | None:
    """The agent that ``Orchestrator (-> X)`` hands over to."""
    found = _CHOICE.fullmatch(role.strip())
    return (found.group(1).strip() or None) if found else None


def is_terminal(speaker: str) -> bool:
    """True for the computer terminal, however it is spelled."""
    return re.sub(r"[\W_]", "", speaker).casefold() == _TERMINAL


def exit_code(answer: str) -> int | None:
    """The exit code a terminal reports in its first line; ``None`` where it ran nothing."""
    found = _EXIT.search(answer.split("\n", 1)[0])
    return int(found.group(1)[:9]) if found else None  # a text may have thousands of digits


def code_in(content: str) -> str | None:
    """The code blocks of a message; ``None`` if there is none."""
    return "\n".join(_FENCED.findall(content)) or None


def is_update(thought: str) -> bool:
    """True for a thought that holds the orchestrator's ledger."""
    return thought[: len(_UPDATE)].lower() == _UPDATE


def progress_in(thought: str, findings: Findings) -> Progress | None:
    """The ledger in a thought; ``None`` where its JSON is broken."""
    start = thought.find("{")
    if start < 0:
        return None
    try:
        answered = JsonReader(thought[start:], findings).value()  # text may follow it
    except Broken:
        return None
    answers = {key: mapping(answered).get(key) for key in (*FLAGS, "next_speaker")}
    plain = {key: value.get("answer") if isinstance(value, dict) else value for key, value in answers.items()}
    named = text(plain["next_speaker"])
    return Progress(
        flags={key: truth(plain[key], findings, key) for key in FLAGS},
        next_speaker=None if named is None else clip(named),
    )


def plan_in(thought: str) -> TaskPlan | None:
    """The plan a thought announces, if any."""
    kind, colon, rest = thought.partition(":")
    if not colon or kind.strip().lower() not in _PLANS:
        return None
    before, marker, after = _split_at(rest, _STEPS)
    opening, _, facts = _split_at(before, _FACTS)
    steps = after if marker else rest
    lines = [line.strip() for line in steps.splitlines() if line.strip()]
    listed = [item.group(1) for line in lines if (item := _ITEM.fullmatch(line))]
    return TaskPlan(
        # A plan may be sentences without a list.
        kind=kind.strip().lower(),
        team=_team(opening),
        steps=tuple(listed or lines),
        facts=facts.strip(),
    )


def _team(opening: str) -> tuple[str, ...]:
    """Names before a colon, one a line, up to a gap of two empty lines."""
    _, marker, after = _split_at(opening, _TEAM)
    section = after.strip("\n").split("\n\n\n", 1)[0] if marker else ""
    found = (_MEMBER.match(line) for line in section.splitlines())
    names = tuple(dict.fromkeys(match.group(1).strip() for match in found if match))
    return names if len(names) <= MOST_MEMBERS else ()


def _split_at(whole: str, marker: str) -> tuple[str, str, str]:
    """The text before and after a marker, in whatever case; all of it before if there is none."""
    at = whole.lower().find(marker)
    if at < 0:
        return whole, "", ""
    return whole[:at], marker, whole[at + len(marker) :]


def first_line(content: Any, chars: int) -> str:
    """The first line with something in it, cut; empty for what is no text."""
    return content.strip().split("\n", 1)[0][:chars] if isinstance(content, str) else ""
