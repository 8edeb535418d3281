"""What was planned, step by step, as a file: to be looked at without the simulator (§7).

A ledger says what an agent did. This is the planning record: the view at each step, the alternatives tried
in clones and their rewards, and the causal graphs of the state. One file per run, JSON, compressed or
not. It has no pictures: a view is the numbers of its 9 × 7 fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import zstandard
from msgspec import Meta, Struct

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import JsonFault, parse_json
from untaken.simulator.crafter.names import ACTION_PATTERN, ACTIONS, MATERIALS, OBJECTS
from untaken.simulator.crafter.world import VIEW, Rows
from untaken.simulator.loop import Turn
from untaken.simulator.state_causality import CausalState
from untaken.simulator.state_causality.causal_state import require_known_names
from untaken.simulator.win import WhatIfNot
from untaken.traces import clip, decompressed

ENDING: Final = ".planning.json.zst"
_LETTERS: Final = "abcdefghijklmnopqrs"
"""One for each number in `Observation.semantic`: ``a`` beyond the edge, then `MATERIALS`, then `OBJECTS`."""
_FIELDS: Final = VIEW[0] * VIEW[1]
_LEVEL: Final = 19
_HEAD_BYTES: Final = 64 * limits.KIB

Text = Annotated[str, Meta(max_length=limits.NAME_CHARS)]
Action = Annotated[str, Meta(pattern=ACTION_PATTERN)]
View = Annotated[str, Meta(pattern="^[a-s]*$", min_length=_FIELDS, max_length=_FIELDS)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Amounts = Annotated[dict[Text, Count], Meta(max_length=64)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class PlannedStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step: the state as it was seen, what was asked about it, and what was done.

    Attributes:
        action: what was done.
        view: a letter a field, row by row (`fields_of`).
        facing: direction of the player, as (x, y).
        items: amounts by item, needs among them; achievements are not repeated.
        aim: the achievement that the policy pursued.
        begun: the skill that started at this step.
        reward: the environment's own, of what was done.
        unlocked: achievements reached for the first time.
        asked: the What-If-Not evaluation of the first answer.
        causes: the causal representation, at decision points.
        unanswered, unanswered_again: why a language model gave no usable answer, the first time and when it
            was asked again; the action is then to wait.
    """

    action: Action
    view: View
    facing: tuple[int, int]
    items: Amounts
    daylight: Share
    reward: float
    sleeping: bool = False
    aim: Text | None = None
    begun: Text | None = None
    unlocked: Annotated[tuple[Text, ...], Meta(max_length=64)] = ()
    asked: WhatIfNot | None = None
    causes: CausalState | None = None
    unanswered: Text = ""
    unanswered_again: Text = ""

    def __post_init__(self) -> None:
        if self.causes is not None:
            require_known_names(self.causes)
        if self.asked is not None:
            named = {self.asked.action, *self.asked.others}
            if not named <= set(ACTIONS) or len(self.asked.terms) > len(ACTIONS):
                raise ValueError(f"an action that there is not: {sorted(named - set(ACTIONS))}")


def planned_step(turn: Turn) -> PlannedStep:
    """What is kept of a turn."""
    seen = turn.seen
    return PlannedStep(
        action=turn.action,
        view=view_of(seen.semantic),
        facing=seen.facing,
        items={name: amount for name, amount in seen.inventory.items() if amount},
        daylight=round(seen.daylight, 3),
        reward=round(turn.outcome.reward, 6),
        sleeping=seen.sleeping,
        aim=turn.aim,
        begun=turn.selection.skill if turn.selection else None,
        unlocked=turn.outcome.unlocked,
        asked=turn.win,
        # A graph is far larger than the rest of a step; between decisions the same skill goes on.
        causes=turn.causes if turn.selection else None,
        unanswered=turn.unanswered or "",
        unanswered_again=turn.unanswered_again or "",
    )


class PlanningRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All steps of a run, and the settings they were made with.

    Attributes:
        run_id: the run of the ledger that this belongs to.
        settings: as in the metadata of the run.
    """

    schema: Literal["untaken.planning/1"] = "untaken.planning/1"
    run_id: Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARS)]
    agent: Text
    task: Text | None
    seed: int
    settings: Annotated[dict[Text, Any], Meta(max_length=64)]
    steps: Annotated[tuple[PlannedStep, ...], Meta(max_length=limits.PLANNED_STEPS)]


class PlanningHead(Struct, frozen=True, kw_only=True):
    """What a record of planning is of, without its steps; attributes as in `PlanningRecord`."""

    schema: Literal["untaken.planning/1"]
    run_id: Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARS)]
    settings: Annotated[dict[Text, Any], Meta(max_length=64)]


def view_of(semantic: Rows) -> str:
    """The view of an observation (`Observation.semantic`) as text: a letter a field, row by row."""
    return "".join(_LETTERS[column[y]] for y in range(VIEW[1]) for column in semantic)


def fields_of(view: str) -> tuple[tuple[str, ...], ...]:
    """A view's rows, top to bottom, each field by the name of its object or terrain.

    ``edge`` is beyond the map. The player is in the middle.
    """
    names = ("edge", *MATERIALS, *OBJECTS)
    fields = [names[_LETTERS.index(letter)] for letter in view]
    return tuple(tuple(fields[start : start + VIEW[0]]) for start in range(0, len(fields), VIEW[0]))


def write_planning(record: PlanningRecord, path: Path) -> None:
    """Writes a record, packed; equal records give equal bytes under the same packer."""
    path.write_bytes(zstandard.ZstdCompressor(level=_LEVEL).compress(planning_bytes(record)))


def planning_bytes(record: PlanningRecord) -> bytes:
    """The record as JSON, not packed."""
    return msgspec.json.encode(record, order="deterministic") + b"\n"


def read_planning(path: str | Path) -> PlanningRecord:
    """A record from its file; whatever is not exactly of the form is refused.

    Raises:
        UntakenError: ``planning-missing``, ``planning-invalid``; ``file-too-large``, ``compression-ratio``
            and ``unreadable-file`` as for any packed file.
    """
    file = Path(path)
    where = Where(file=str(file))
    return parse_planning(_stored(file, where), where=where)


def read_planning_head(path: str | Path) -> PlanningHead:
    """What a record is of; its steps are not looked at.

    Raises:
        UntakenError: as `read_planning`.
    """
    where = Where(file=str(path))
    try:
        # Not the strict reader: it skips the steps, and a record is read strictly before any of it is shown.
        return msgspec.json.decode(_unpacked(_stored(Path(path), where), where), type=PlanningHead)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _invalid(clip(error), where) from error


def _stored(file: Path, where: Where) -> bytes:
    try:
        # Asked for its size first: a file of any length would be read whole.
        stored = file.read_bytes() if file.stat().st_size <= limits.PLANNING_BYTES else None
    except OSError as error:
        hint = "`untaken crafter run -o FOLDER` writes one beside each ledger's runs."
        raise UntakenError("planning-missing", "there is no such record", where=where, hint=hint) from error
    if stored is None:
        raise _invalid("it is too large", where)
    return stored


def _unpacked(data: bytes, where: Where) -> bytes:
    # A small file may unpack to any size, so it is unpacked to the limit at most.
    content = decompressed(data, where.file or "", most=limits.PLANNING_BYTES)
    if len(content) > limits.PLANNING_BYTES:
        raise _invalid("it is too large", where)
    return content


def looks_like_planning(head: bytes) -> bool:
    """Whether unpacked content begins as a record of planning does."""
    return head.lstrip().startswith(b"{") and b'"untaken.planning/1"' in head[:_HEAD_BYTES]


def parse_planning(data: bytes, *, where: Where) -> PlanningRecord:
    """A record from the content of a file, packed or not.

    Raises:
        UntakenError: as `read_planning`, but for ``planning-missing``.
    """
    try:
        return msgspec.convert(parse_json(_unpacked(data, where)), PlanningRecord)
    except JsonFault as fault:
        place = Where(file=where.file, line=fault.line, column=fault.column)
        raise _invalid(fault.message, place) from fault
    except msgspec.ValidationError as error:
        raise _invalid(clip(error), where) from error


def _invalid(why: str, where: Where) -> UntakenError:
    hint = f"At most {limits.PLANNING_BYTES // limits.MIB} MiB, as `untaken crafter run` writes it."
    return UntakenError("planning-invalid", f"no record of planning: {why}", where=where, hint=hint)


class RecordIndex(Struct, frozen=True, kw_only=True):
    """Records of planning by run id.

    Attributes:
        records: the file of each run's record; of several, the last one given.
        evaluated: the runs whose actions What-If-Not evaluated, by their settings.
        findings: why other files are no records.
    """

    records: Mapping[str, Path]
    evaluated: frozenset[str]
    findings: tuple[Finding, ...]


def records_under(folder: Path) -> list[Path]:
    """The files under a folder that are named like records of planning, in a stable order."""
    return sorted(path for path in folder.rglob(f"*{ENDING}") if path.is_file())


def index_records(files: Iterable[Path]) -> RecordIndex:
    """Looks at the head of each file; one that cannot be read is a finding and costs only itself."""
    records: dict[str, Path] = {}
    evaluated: set[str] = set()
    findings: list[Finding] = []
    for file in files:
        try:
            head = read_planning_head(file)
        except UntakenError as error:
            findings.append(error.finding())
            continue
        records[head.run_id] = file
        evaluated.discard(head.run_id)  # what another file of this run said
        if head.settings.get("win"):
            evaluated.add(head.run_id)
    return RecordIndex(records=records, evaluated=frozenset(evaluated), findings=tuple(findings))
