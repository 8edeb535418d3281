"""Chats that Cursor exports as Markdown: what was asked and answered, without calls, times or the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

from untaken.traces.importer import importer
from untaken.traces.sample import Sample
from untaken.traces.sessions import session_run
from untaken.traces.task_texts import described
from untaken.traces.trace_file import text_converter
from untaken.traces.trace_run import TraceRun, Utterance

_EXPORTED: Final = re.compile(r"_Exported on [^\n_]{1,100} from Cursor \(([0-9][^\n()]{0,40})\)_\s*\Z")
SPEAKERS: Final = {"**User**": "user", "**Cursor**": "assistant"}
RULE: Final = "---"


def recognise(sample: Sample) -> bool:
    """The line under the title says that Cursor exported it."""
    return any(_EXPORTED.match(line) for line in sample.text[:10_000].splitlines())


def _chats(written: str, *_: object) -> Iterator[TraceRun]:
    """The chats of a file, which may have several one after the other."""
    title, version = "", None
    lines: list[str] = []
    for line in [*written.splitlines(), ""]:
        if exported := _EXPORTED.match(line):
            # The title is the line before.
            above = lines.pop() if lines and lines[-1].startswith("# ") else ""
            if version is not None:
                yield from _run(title, version, lines)
            title, version, lines = above.removeprefix("# ").strip(), exported[1], []
        else:
            lines.append(line)
    if version is not None:
        yield from _run(title, version, lines)


def _run(title: str, version: str, lines: Sequence[str]) -> Iterator[TraceRun]:
    """The run of a chat; none where nobody said anything."""
    found = list(_spoken(lines))
    if not found:
        return
    # Chats without a title must not share an id.
    name = title or sha256("\n".join(lines).encode(errors="replace")).hexdigest()[:16]
    asked = next((each.content for each in found if each.role == "user"), None)
    yield session_run(
        "cursor",
        name,
        found,
        model=None,
        about=described(asked),
        record=list(lines),
        origin={},
        version=version,
        steps=sum(each.role == "assistant" for each in found),
    )


def _spoken(lines: Sequence[str]) -> Iterator[Utterance]:
    """Who said what: a rule, then the speaker on a line by itself, begin a turn."""
    role: str | None = None
    words: list[str] = []
    for number, line in enumerate(lines):
        # A blank line may lie between.
        above = next((each for each in reversed(lines[max(0, number - 2) : number]) if each.strip()), "")
        if line.strip() in SPEAKERS and above.strip() == RULE:
            if role is not None and (spoken := _unruled(words)):
                yield Utterance(role=role, content=spoken)
            role, words = SPEAKERS[line.strip()], []
        else:
            words.append(line)
    if role is not None and (spoken := _unruled(words)):
        yield Utterance(role=role, content=spoken)


def _unruled(words: Sequence[str]) -> str:
    return "\n".join(words).strip().removesuffix(RULE).strip()


IMPORTER: Final = importer(
    name="cursor",
    title="Cursor chats",
    extensions=(".md",),
    what="Chats that Cursor exports as Markdown: one run a chat, with what was said.",
    recognise=recognise,
    convert=text_converter(_chats, "no chat of Cursor begins in it"),
    agent=("(always cursor)",),
    version=("(of Cursor, under the title)",),
    task=("(the title)",),
    task_text=("(what the user said first)",),
)
