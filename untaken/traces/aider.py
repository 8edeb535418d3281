"""The chat history of Aider (`.aider.chat.history.md`): sessions in Markdown, one after the other.

What the user typed begins with ``####``, what Aider printed with ``>``, the rest is the model's answer. Aider
applies edits itself: each file it says it changed is a call of `edit`, and that line its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.sample import Sample
from untaken.traces.spending import Amounts, spend, with_cost
from untaken.traces.task_texts import described
from untaken.traces.trace_file import text_converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance

STARTED: Final = "# aider chat started at "
USER: Final = "####"
PRINTED: Final = ">"
MARKS: Final = {"user": USER, "aider": PRINTED}
EDITED: Final = "Applied edit to "
_BEGINS: Final = re.compile(rf"{STARTED}[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} [0-9:]{{5,8}}\s*\Z")
_MODEL: Final = re.compile(r"(?:Models?|Main model): ([^\s,]{1,200})")
_VERSION: Final = re.compile(r"Aider v([0-9][^\s]{0,40})")
_SPENT: Final = re.compile(r"Tokens: ([0-9.]{1,12})([kM]?) sent[^.]{0,80}?, ([0-9.]{1,12})([kM]?) received")
_COST: Final = re.compile(r"Cost: \$([0-9.]{1,12}) (?:message|send)")
_UNITS: Final = {"": 1, "k": 1_000, "M": 1_000_000}


def recognise(sample: Sample) -> bool:
    """A line that begins a session."""
    return any(_BEGINS.match(line) for line in sample.text[:10_000].splitlines())


def _sessions(written: str, stem: str, findings: Findings) -> Iterator[TraceRun]:
    lines: list[str] = []
    began: str | None = None
    for line in (*written.splitlines(), STARTED):  # one more beginning ends the last session
        if line == STARTED or _BEGINS.match(line):
            if began is not None and (run := _run(began, lines, stem, findings)) is not None:
                yield run
            began, lines = line.removeprefix(STARTED).strip(), []
        else:
            lines.append(line)


def _run(began: str, lines: Sequence[str], stem: str, findings: Findings) -> TraceRun | None:
    """The run of a session; ``None`` where nobody asked anything."""
    blocks = list(_blocks(lines))
    printed = "\n".join(words for who, words in blocks if who == "aider")
    asked = next((words for who, words in blocks if who == "user"), None)
    if asked is None:
        return None
    model, version = (
        found[1] if (found := pattern.search(printed)) else None for pattern in (_MODEL, _VERSION)
    )
    started = _moment(began)
    run_id = f"aider/{stem}/{began}"
    spent = spend(list(_spent(printed)), run=run_id, findings=findings)
    return TraceRun(
        run_id=run_id,
        agent=f"aider/{model}" if model else "aider",
        task_id=run_id,
        record=list(lines),
        origin={},
        model=model,
        version=version,
        items=[item for who, words in blocks for item in _items(who, words)],
        started=started,
        cost=spent.cost,
        steps=sum(who == "assistant" for who, _ in blocks),
        metrics=spent.tokens,
        metadata={"format": "aider", **described(asked)},
    )


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Who wrote which lines: those of one writer together. Inside of a code block all is the model's."""
    who, fenced = "assistant", False
    block: list[str] = []
    for line in lines:
        if line.startswith("```") and (fenced or who == "assistant"):  # what others write may begin so, too
            fenced = not fenced
        writer = "assistant" if fenced else _writer(line, who)
        if writer != who:
            if words := "\n".join(block).strip():
                yield who, words
            who, block = writer, []
        block.append(line.removeprefix(MARKS[who]).strip(" ") if who in MARKS else line)
    if words := "\n".join(block).strip():
        yield who, words


def _writer(line: str, before: str) -> str:
    if line.startswith(USER):
        return "user"
    if line.startswith(PRINTED):
        return "aider"
    return before if not line.strip() else "assistant"  # a blank line is of who wrote before


def _items(who: str, words: str) -> Iterator[Item]:
    if who != "aider":
        yield Utterance(role=who, content=words)
        return
    for line in words.splitlines():
        if line.startswith(EDITED):
            yield Called(tool="edit", arguments={"file": line.removeprefix(EDITED).strip()})
            yield Answered(content=line, ok=True)
    yield Utterance(role="aider", content=words)


def _spent(printed: str) -> Iterator[Amounts]:
    """What each call of the model used, as it is printed after it."""
    for line in printed.splitlines():
        if (used := _SPENT.search(line)) is None:
            continue
        cost = _COST.search(line)
        try:
            counts = {
                "input_tokens": float(used[1]) * _UNITS[used[2]],
                "output_tokens": float(used[3]) * _UNITS[used[4]],
            }
            yield with_cost(counts, float(cost[1]) if cost else None)
        except ValueError:  # two points in a number
            continue


def _moment(began: str) -> datetime | None:
    """When a session began, as the machine's clock had it: without a zone it is taken for UTC."""
    try:
        return datetime.fromisoformat(began).replace(tzinfo=UTC)
    except ValueError:
        return None


IMPORTER: Final = importer(
    name="aider",
    title="Aider chat history",
    extensions=(".aider.chat.history.md", "aider.chat.history.md"),
    what="Sessions of Aider from its Markdown history: what was asked, answered, edited and spent.",
    recognise=recognise,
    convert=text_converter(_sessions, "no session of Aider begins in it"),
    agent=("(Models: in what Aider prints)",),
    model=("(Models: in what Aider prints)",),
    version=("(Aider v… in what it prints)",),
    task=("(the session)",),
    task_text=("(what the user typed first)",),
    tokens=("(Tokens: in what Aider prints)",),
    cost=("(Cost: in what Aider prints)",),
    time=("(the first line of a session)",),
)
