"""The full record of each format: it reads what it declares, and no value at any place stops it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from foreign_files import codes, converted
from mutated_values import mutations
from trace_pieces import CALL, DONE, GO
from trace_records import RECORDS, put_record, written

from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.traces import Intake, convert, importers, sample_of
from untaken.traces.format_info import RUN_FIELDS, RunField
from untaken.traces.intake import UNFORESEEN
from untaken.traces.mapped.mapped_importer import built_in_mappings
from untaken.traces.resembling import likeness
from untaken.traces.tidy import Tidier

FAR: Final = 1_935_705_600
"""A moment in 2031, in seconds."""
MANY: Final = 1_000_000
OUTCOMES: Final = (True, False, 1, 0, 2, "C", "I")
"""Values that some format or other writes an outcome with."""
PROBES: Final[dict[str, tuple[Any, ...]]] = {
    "tokens": (MANY,), "cost": (MANY,), "outcome": OUTCOMES,
    "time": ("2031-05-05T00:00:00Z", FAR, FAR * 10**3, FAR * 10**9),
}  # fmt: skip
FLAT: Final = ("attributes", "trace_metadata", "tags")
"""Members whose names have dots in them."""
MISSING: Final = object()
STEERING: Final = ("type", "Type", "role", "kind", "parent")
"""How names of members end that decide how others are read: they are marked by themselves."""
MAPPED: Final = {"swe-agent", *(importer.info.name for importer in built_in_mappings())}
"""Their kept places are the compiled paths."""
LOOKED_AT: Final = {
    "devai": {"name", "query", "requirements[].category"},  # of a verdict sheet: compared with the plan
    "tau2-bench": {"simulations[].messages[].cost"},  # whether the model has a price at all
    "claude-code": {"leafUuid", "summary"},  # copied with their line
    "pi": {"cwd", "version"},  # copied with their line
    "braintrust": {"id"},  # which rows are one
}
"""Places that decide how others are read, and reach no run."""
INSTEAD: Final = {
    "inspect": {"events[].function"}, "goose": {"conversation[].id"},
    "opencode": {"messages[].info.id", "messages[].info.sessionID", "messages[].parts[].id"},
    "promptfoo": {"response.cost"}, "vscode-chat": {"requests[].result.errorDetails.message"},
    "cline": {"partial"}, "otel": {"resource.service.name"}, "terminal-bench": {"id"},
}  # fmt: skip
"""Places that are read where another one is not there, or another value is."""


def places_in(value: Any, at: str = "") -> Iterator[str]:
    """The places of a record's values."""
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else (("[]", each) for each in value)
        for name, each in members:
            yield from places_in(each, at + name if name == "[]" else f"{at}.{name}".lstrip("."))
    elif value is not None:
        yield at


def changed_at(value: Any, places: Collection[str], change: Callable[[Any], Any], at: str = "") -> Any:
    """The record with every value at these places changed."""
    if isinstance(value, dict):
        return {k: changed_at(v, places, change, f"{at}.{k}".lstrip(".")) for k, v in value.items()}
    if isinstance(value, list):
        return [changed_at(each, places, change, f"{at}[]") for each in value]
    return change(value) if at in places and value is not None else value


def marked(value: Any) -> Any:
    """A value that is known again wherever it ends up."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"2031{value[4:]}" if value[:2] == "20" and "T" in value else f"{value}probe"
    unit = next((unit for unit in (1, 10**3, 10**6, 10**9) if FAR / 2 < value / unit < FAR), None)
    return 1 - value if value in (0, 1) else value + MANY if unit is None else FAR * unit


def put_at(value: Any, names: list[str], new: Any, inside: str = "") -> Any:
    """The value with another one at a place, wherever its parent is there; `MISSING` takes it away."""
    if isinstance(value, list):
        return [put_at(each, names, new, inside) for each in value]
    if isinstance(value, str) and value[:1] in ("{", "["):  # some formats write JSON into texts
        return json.dumps(put_at(json.loads(value), names, new, inside))
    if not isinstance(value, dict):
        return value
    if names[0] == "*":
        return {key: put_at(each, names[1:], new, key) if names[1:] else new for key, each in value.items()}
    for length in range(len(names), 0, -1):
        key, rest = ".".join(names[:length]), names[length:]
        if key not in value:
            continue
        if rest:
            return {**value, key: put_at(value[key], rest, new, key)}
        kept = {name: each for name, each in value.items() if name != key}
        encoded = isinstance(value[key], str) and value[key][:1] in ('"', "{") and inside in FLAT
        return kept if new is MISSING else {**kept, key: json.dumps(new) if encoded else new}
    if new is MISSING or "*" in names:
        return value
    if inside in FLAT:
        return {**value, ".".join(names): new}
    return {**value, names[0]: put_at({}, names[1:], new) if names[1:] else new}


def shown(run: Run, field: RunField) -> Any:
    """What a run says of a field."""
    started, finished = run.started, run.finished
    metrics = (finished.metrics or {}).items()
    timed = (started.metadata or {}).get("timestamps") != "synthesised"
    values: dict[RunField, Any] = {
        "agent": run.agent, "model": started.model, "version": started.version,
        "prompt version": started.prompt_version, "task": run.task_id,
        "task text": (started.metadata or {}).get("input"), "target": (started.metadata or {}).get("target"),
        "outcome": finished.success, "tokens": [each for name, each in metrics if "tokens" in name],
        "cost": finished.cost,
        "time": [started.ts.year, finished.ts.year] if timed and started.ts.year != 2000 else None,
    }  # fmt: skip
    return values[field]


def fed(run: Run, field: RunField, probe: str = "probe") -> bool:
    """Whether a marked value is in a field of a run: also as a part of a name, or of a sum."""
    there = shown(run, field)
    if field == "tokens":
        return any(each >= MANY for each in there)
    if field == "cost":
        return there is not None and there >= MANY
    return 2031 in (there or ()) if field == "time" else probe in (there or "")


def events_of(runs: list[Run]) -> list[list[type]]:
    """What the runs are made of: marks that leave it as it is did not hide from each other."""
    return [[type(event) for event in run.events] for run in runs]


class Shop:
    """Converts a format's record, changed, in a folder of its own."""

    def __init__(self, format: str, folder: Path) -> None:
        self.format, self.files = format, RECORDS[format]
        self._folder, self._made = folder, 0

    def runs(self, files: dict[str, Any]) -> list[Run]:
        """The runs of these files."""
        self._made += 1
        home = self._folder / str(self._made)
        return converted(self.format, home / "out", put_record(home / "in", files))[1]

    def with_values(self, wanted: Iterable[tuple[tuple[str, ...], int, Any]]) -> list[Run]:
        """The runs with a value at a place of each of these, and nothing at those that count before it."""
        files, changes = self.files, list(wanted)
        removed = [(place, MISSING) for places, number, _ in changes for place in places[:number]]
        for place, new in [*removed, *((places[number], value) for places, number, value in changes)]:
            if not place.startswith("("):
                names = place.replace("[]", "").split(".")
                files = {name: put_at(content, names, new) for name, content in files.items()}
        return self.runs(files)


def test_every_importer_declares_the_agent_and_the_task() -> None:
    for name, importer in importers().items():
        reads = importer.info.reads
        assert set(reads) <= set(RUN_FIELDS)
        assert name == "native" or {"agent", "task"} <= set(reads)


@pytest.mark.parametrize("format", RECORDS)
def test_what_is_declared_is_read(tmp_path: Path, format: str) -> None:
    shop, unread = Shop(format, tmp_path), []
    reads = importers()[format].info.reads
    for number in range(max(map(len, reads.values()))):
        left = {f: p for f, p in reads.items() if number < len(p) and not p[number].startswith("(")}
        for field in read_together(shop, left, number):
            del left[field]
        unread += [
            (f, places[number]) for f, places in left.items() if not read_alone(shop, f, places, number)
        ]
    assert unread == []


def read_together(shop: Shop, wanted: dict[RunField, tuple[str, ...]], number: int) -> set[RunField]:
    """The fields that a mark of their own reaches where all are marked at once."""
    marks: dict[RunField, Any] = {
        field: PROBES[field][0] if field in PROBES else f"probe{field.replace(' ', '')}" for field in wanted
    }
    runs = shop.with_values((places, number, marks[field]) for field, places in wanted.items())
    found = {f for f in wanted if f != "outcome" and any(fed(run, f, str(marks[f])) for run in runs)}
    if "outcome" in wanted and any(run.success is True for run in runs):
        failed = shop.with_values([(wanted["outcome"], number, False)])
        found |= {"outcome"} if any(run.success is False for run in failed) else set()
    return found


def read_alone(shop: Shop, field: RunField, places: tuple[str, ...], number: int) -> bool:
    """Whether a value at a place reaches its field, whatever of what counts before it is there."""
    found: set[Any] = set()
    removed = {0, 1, number} if field == "time" else {number}  # some times are alternatives
    for value, n in product(PROBES.get(field, ("probe",)), removed):
        runs = shop.with_values([(places[max(number - n, 0) :], min(n, number), value)])
        found |= {shown(run, field) if field == "outcome" else fed(run, field) for run in runs}
        if (field == "outcome" and {True, False} <= found) or (field != "outcome" and True in found):
            return True
    return False


@pytest.mark.parametrize("format", RECORDS)
def test_what_is_not_declared_feeds_no_field(tmp_path: Path, format: str) -> None:
    shop, undeclared = Shop(format, tmp_path), []
    reads = importers()[format].info.reads
    before = shop.runs(shop.files)
    absent = [(field, shown(run, field)) for run in before for field in set(RUN_FIELDS) - set(reads)]
    assert [each for each in absent if each[1] not in (None, [])] == []

    def probe(name: str, places: Sequence[str], known: Collection[RunField]) -> None:
        """Marks places at once, and halves of them where marks may hide from each other."""
        runs = shop.runs({**shop.files, name: changed_at(shop.files[name], places, marked)})
        found = [f for f in RUN_FIELDS if f not in ("outcome", *known) and any(fed(run, f) for run in runs)]
        if len(places) == 1:
            undeclared.extend((field, places[0]) for field in found)
        elif found or events_of(runs) != events_of(before):
            probe(name, places[: len(places) // 2], known)
            probe(name, places[len(places) // 2 :], known)

    for name, content in shop.files.items():
        groups: dict[tuple[frozenset[RunField], str], list[str]] = {}
        for place in dict.fromkeys(places_in(content)) if isinstance(content, dict | list) else ():
            known = frozenset(field for field in RUN_FIELDS if declared_at(place, reads.get(field, ())))
            alone = place if place.endswith(STEERING) else ""
            groups.setdefault((known, alone), []).append(place)
        for (known, _), places in groups.items():
            probe(name, places, known)
    assert undeclared == []


def declared_at(place: str, declared: Iterable[str]) -> bool:
    """Whether a place is one of those that are declared."""
    known = (each.rpartition(") ")[2].replace("[]", "") for each in declared)
    at = place.removeprefix("[].").replace("[]", "")
    return any(fnmatchcase(at, f"{each}*") for each in known)


class Noting(dict[str, Any]):
    """A part of a record that notes which of its members are asked for by name, and which are met."""

    def __init__(self, members: dict[str, Any], place: Callable[[str], str], notes: Notes) -> None:
        super().__init__(members)
        self._place, self._notes = place, notes

    def __getitem__(self, name: str) -> Any:
        self._notes.asked.add(self._place(name))
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._notes.asked.add(self._place(name))
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._notes.met.add(self._place(str(name)))
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:  # so that a copy asks for each member
        return super().__iter__()

    def keys(self) -> Any:
        return super().keys()

    def items(self) -> Any:
        self._notes.met.update(map(self._place, self))
        return super().items()

    def values(self) -> Any:
        self._notes.met.update(map(self._place, self))
        return super().values()


class Notes:
    """What was read of a record while it was converted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: set[str] = set()
        self.met: set[str] = set()
        self.kept: set[str] = set()
        tidied = Tidier._inside

        def noted(tidier: Tidier, value: Any, place: str, depth: int) -> Any:
            inside = tidied(tidier, value, place, depth)
            self.kept |= tidier.places.kept
            below = partial(tidier.places.below, place)
            return Noting(inside, below, self) if isinstance(inside, dict) else inside

        monkeypatch.setattr(Tidier, "_inside", noted)


@pytest.mark.parametrize("format", sorted(set(RECORDS) - MAPPED))
def test_what_the_loss_report_calls_kept_is_what_is_read(tmp_path, monkeypatch, format) -> None:
    notes = Notes(monkeypatch)
    conversion, _ = converted(format, tmp_path / "out", put_record(tmp_path / "in", RECORDS[format]))
    fields = [field for loss in conversion.losses for field in loss.fields]
    read = notes.asked | notes.met
    unread = {each.path for each in fields if each.kept and not names_of(each.path) & read}
    reads = importers()[format].info.reads.values()
    instead = tuple(place.rpartition(") ")[2] for places in reads for place in places)
    unread = {each for each in unread if not each.removeprefix("[].").startswith(instead)}
    assert unread == INSTEAD.get(format, set())
    lost = {each.path for each in fields if each.dropped and each.path[-2:] != "**"} & notes.asked
    parts = {each for each in lost if any(kept.startswith((f"{each}.", f"{each}[]")) for kept in notes.kept)}
    assert lost - parts == LOOKED_AT.get(format, set())


def names_of(place: str) -> set[str]:
    """The names under which reading a place is noted: its own, and that of what it is an element of."""
    whole = place.removesuffix(".**")
    return {place, whole, whole.removesuffix("[]"), f"{whole.removesuffix('[]')}.**"}


MUTATIONS = 25
"""Of each file, in a run of the tests; each place and each value were tried once before."""
THREAD = [
    {"type": "thread.started", "thread_id": "t"},
    *({"type": "item.completed", "item": {"id": str(number), **item}} for number, item in enumerate((
        {"type": "reasoning", "text": "Think."},
        {"type": "todo_list", "items": [{"text": "look", "completed": False}]},
        {"type": "command_execution", "command": "ls", "aggregated_output": "a", "exit_code": 0},
        {"type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"a": 1}, "result": {}},
        {"type": "file_change", "changes": [{"path": "a", "kind": "add"}], "status": "completed"},
        {"type": "web_search", "query": "q"},
    ))),
    {"type": "turn.failed", "error": {"message": "limit"}, "usage": {"input_tokens": 9}},
]  # fmt: skip
"""The log of ``codex exec --json``, which has no field that a rollout has."""
TRIED = {**RECORDS, "codex": {**RECORDS["codex"], "log.jsonl": THREAD}}
CASES = [(format, name) for format, files in TRIED.items() for name in files]


def test_every_format_has_a_record() -> None:
    assert {*RECORDS, "native"} == set(importers())


@pytest.mark.parametrize(("format", "name"), CASES, ids=str)
def test_any_value_at_any_place_is_read_or_reported(tmp_path: Path, format: str, name: str) -> None:
    files = TRIED[format]
    for number, (at, value, document) in enumerate(mutations(files[name], len(name), MUTATIONS)):
        folder = put_record(tmp_path / str(number) / "in", {**files, name: document})
        sample = sample_of(name, written(name, document))
        assert likeness(sample).what
        for importer in importers().values():
            importer.recognise(sample)
        try:
            done = convert(format, [folder], tmp_path / str(number) / "out")
        except UntakenError as error:
            pytest.fail(f"{at} = {value!r}: {error}")
        assert "importer-failed" not in codes(done), (at, value)


@pytest.mark.parametrize("value", [{"SessionStart": {}}, [1], None, 7], ids=str)
@pytest.mark.parametrize("field", ["kind", "type", "role", "id", "parent_id", "uuid", "run_type", "span_id"])
def test_a_record_with_an_object_for_a_name_never_stops_a_folder(tmp_path, field, value) -> None:
    odd = [{"timestamp": "x", field: value, "content": "Go."}]
    put_record(tmp_path / "in", {"a.jsonl": odd, "chat.json": [GO, DONE]})
    done = convert(None, [tmp_path / "in"], tmp_path / "out")
    assert done.runs >= 1
    assert any(loss.name == "chat.json" and loss.runs == 1 for loss in done.losses)


def test_an_importer_that_fails_costs_its_file_and_no_other(tmp_path, monkeypatch) -> None:
    """Whatever is still unforeseen: a claim of a run that raises, as a fault of an importer would."""
    claim = Intake.claim

    def failing(self: Intake, run_id: str, record: Any, log: Any, *session: Any) -> str | None:
        if log.name == "bad.json":
            raise UNFORESEEN[0]("unhashable type: 'dict'")
        return claim(self, run_id, record, log, *session)

    monkeypatch.setattr(Intake, "claim", failing)
    put_record(
        tmp_path / "in",
        {"bad.json": [GO, {"role": "assistant", "tool_calls": [CALL]}], "good.json": [GO, DONE]},
    )
    done = convert(None, [tmp_path / "in"], tmp_path / "out")
    assert (done.runs, codes(done)["importer-failed"]) == (1, 1)
    (said,) = [finding for finding in done.findings if finding.code == "importer-failed"]
    assert "unhashable type" in said.message
    assert said.where.file == "bad.json"


@pytest.mark.parametrize("source", ["", None, 0, [], {}], ids=str)
def test_a_message_of_autogen_from_nobody_is_read(tmp_path: Path, source: Any) -> None:
    team = [{"type": "TextMessage", "source": source, "content": "Go."}, {**DONE, "source": "clerk"}, GO]
    sample = sample_of("t.json", written("t.json", team))
    assert importers()["openai-messages"].recognise(sample)
    done = convert("openai-messages", [put_record(tmp_path / "in", {"t.json": team})], tmp_path / "out")
    assert (done.runs, codes(done)["importer-failed"]) == (1, 0)
