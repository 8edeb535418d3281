"""Sessions of coding agents: what their runs have in common, whichever program kept them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from untaken.numbers import counted
from untaken.traces.intake import Intake
from untaken.traces.losses import Findings, clip
from untaken.traces.readings import text
from untaken.traces.sources import Source
from untaken.traces.spending import Amounts
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Item, TraceRun


def sessions_in(
    lines: Iterable[Mapping[str, Any]], named: Callable[[Mapping[str, Any]], str | None]
) -> Iterator[list[Mapping[str, Any]]]:
    """The lines of each session: one begins where a line names another session than the one at hand."""
    session: list[Mapping[str, Any]] = []
    at_hand: str | None = None
    for line in lines:
        name = named(line)
        if name is not None and session and name != at_hand:
            yield session
            session = []
        at_hand = name or at_hand
        session.append(line)
    yield session


def named_by_file(stem: str, findings: Findings) -> str:
    """The name of a session whose file has no line that names it: a part of one, or cut at the start."""
    message = "no line names the session, as in a part of its file; it is named after the file"
    findings.add("session-unnamed", message, hint="Put the parts into one file, in order.")
    return stem


def id_and_moment(line: Mapping[str, Any]) -> tuple[str, str] | None:
    """What names a line in every session that repeats it."""
    name, at = text(line.get("id")), text(line.get("timestamp"))
    return None if name is None or at is None else (name, at)


class Payers:
    """Which run paid for each reply of a model: a session that was resumed or forked repeats replies."""

    def __init__(self) -> None:
        self._payers: dict[Hashable, tuple[str, str | None]] = {}

    def paid(
        self, run: str, replies: Iterable[tuple[Hashable, Amounts]], findings: Findings
    ) -> list[Amounts]:
        """What each reply used; nothing where another run has paid for it, which is named.

        Args:
            run: its id.
            replies: each under a name that its copies have, too; ``None`` for one that has none.
            findings: of the file.
        """
        replies = _counted(list(replies), run, findings)
        found: list[Amounts] = []
        repeated: dict[str, int] = {}
        own = (run, findings.file)  # the same session in another file, saved before or after, is another run
        for name, used in replies:
            paying = own if name is None else self._payers.setdefault(name, own)
            if paying != own:
                repeated[paying[0]] = repeated.get(paying[0], 0) + 1
            found.append(used if paying == own else dict.fromkeys(used, 0.0))
        for payer, count in repeated.items():
            which = f"{counted(count, 'message')} repeated from {clip(payer)}"
            message = f"{which}; what was spent on them is counted there alone"
            findings.add("repeated-messages", message, run=run)
        return found


def _counted(
    replies: list[tuple[Hashable, Amounts]], run: str, findings: Findings
) -> list[tuple[Hashable, Amounts]]:
    """The replies, without their tokens where each says 0: a proxy that counts none writes that."""
    figures = {figure for _, used in replies for figure in used} - {"cost"}
    if not figures or any(used.get(figure) for _, used in replies for figure in figures):
        return replies
    message = "every reply says that it used 0 tokens: none were counted, so they are unknown"
    findings.add("uncounted-tokens", message, run=run, severity="note")
    return [(name, {"cost": used["cost"]} if "cost" in used else {}) for name, used in replies]


def session_run(
    format: str,
    session: str,
    found: Iterable[Item],
    *,
    model: str | None,
    program: str | None = None,
    started: datetime | None = None,
    finished: datetime | None = None,
    moments: Iterable[datetime | None] = (),
    about: Mapping[str, str | None] | None = None,
    **recorded: Any,
) -> TraceRun:
    """The run of a session, which is its own task; its agent is the program with its model.

    Args:
        format: name of the format.
        session: its id.
        found: what was said and done, in order.
        model: the model, where it is recorded.
        program: whose session it is; by default the program that the format is named after.
        started: when the session began; by default the first recorded moment.
        finished: when it ended; by default the last recorded moment.
        moments: recorded ones beside those of the items.
        about: further metadata; what is not recorded is left out.
        recorded: the other fields of the `TraceRun`.
    """
    items = list(found)
    times = [at for at in (*(item.at for item in items), *moments) if at is not None]
    return TraceRun(
        run_id=f"{format}/{session}",
        agent="/".join(filter(None, (program or format, model))),
        task_id=session,
        model=model,
        items=items,
        started=started or min(times, default=None),
        finished=finished or max(times, default=None),
        metadata={"format": format, **{name: each for name, each in (about or {}).items() if each}},
        **recorded,
    )


def session_converter(
    read: Callable[[TraceFile, Payers], Iterable[TraceRun]], places: Places
) -> Callable[[Sequence[Source], Intake], None]:
    """The `convert` of an importer whose sessions may repeat one another, within a file and across files."""

    def convert(sources: Sequence[Source], intake: Intake) -> None:
        payers = Payers()  # of all files: a session may repeat one in another file
        converter(lambda file: read(file, payers), places)(sources, intake)

    return convert
