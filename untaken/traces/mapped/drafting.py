"""A first mapping file, drafted from the names and shapes of a format's records. A person corrects it.

Lists of chat messages of a known form come first: those are read whole. Else each kind of element becomes a
rule by the names of its members. What is found is a proposal: nothing of it is used unconfirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final

from untaken.numbers import counted
from untaken.plans import flow
from untaken.traces.losses import Findings
from untaken.traces.mapped.draft_items import best_list, drafted_items, lists_by_path
from untaken.traces.mapped.draft_names import (
    AROUND,
    CALLS,
    COUNTERS,
    ENDS,
    FIELDS,
    FINAL,
    INPUT,
    KINDS,
    OUTPUT,
    PARTS,
    RESULTS,
    RIGHT,
    RUN_LISTS,
    SHARED,
    STEP_COUNTERS,
    STEPS,
    TITLES,
    like,
    words,
)
from untaken.traces.mapped.draft_shapes import (
    NAME_CHARS,
    fields_of,
    flattened,
    happened,
    is_plain,
    is_usage,
    lists_of,
    mostly,
    speaks,
    turn_of,
    values_by_path,
)
from untaken.traces.outcome_fields import outcome_from
from untaken.traces.readings import mapping, moment, number, objects

RECORDS: Final = 50
ACTORS: Final = 6
"""Names of an agent that count inside of what happened, too."""
_IN, _OUT = ("input", "prompt", "in"), ("output", "completion", "out")


def draft_mapping(records: Iterable[Any], name: str) -> str:
    """The text of a mapping file for these records.

    Args:
        records: of one file, as they come.
        name: of the format: small letters, digits and hyphens.
    """
    sample = list(islice(records, RECORDS))
    if not sample:
        sample = [{}]
    many, members = len(sample), _are_members(sample)
    if members:
        sample = [each for record in sample for each in record.values()]
    home, around = None if members else _runs_inside(sample), sample[0]
    marks = [n for n in mapping(around) if is_plain(n) and all(n in mapping(each) for each in sample)][:6]
    if home:
        sample = [
            each
            for record in sample
            for path, found in lists_of(mapping(record)).items()
            for each in (objects(found) if path == home else ())
        ]
    together = not home and not members and _are_events(sample)
    key = _session(sample) if together else None
    lines = [f"# Drafted from {counted(many, 'record')}: correct it before use.", f"format: {name}"]
    if marks:
        lines += ["recognise:", f"  - {flow({'sure': 'likely', 'names': marks})}"]
    if together:
        lines.append(f"runs: {flow({'by': key} if key else {'lines': True})}")
    elif home or members:
        lines.append(f"runs: {flow({'each': f'{home}[]'} if home else {'members': True})}")
    run = _RunDraft(sample, together=together, key=key, around=mapping(around) if home else {})
    lines += ["run:", *(f"  {line}" for line in run.lines())]
    rules = list(drafted_items(sample, together))
    lines += ["items:", *rules] if rules else ["items: []"]
    return "\n".join(lines) + "\n"


def _runs_inside(sample: Sequence[Any]) -> str | None:
    """The list of a record whose elements are runs: they have an outcome, or lists of what happened."""
    for path, found in lists_of(mapping(sample[0])).items():
        if "[]" in path:  # a mapping takes runs from a list of the record itself
            continue
        if len(found) > 1 and not _is_result(sample[0]) and mostly(map(_is_result, found)):
            return path
        last = path.rpartition(".")[2]
        if like(last, STEPS) or mostly(map(speaks, objects(found))):
            continue
        lists = [(each, within) for run in objects(found) for each, within in lists_of(run).items()]
        if like(last, RUN_LISTS) and lists:
            return path
        inner = [
            each
            for name, each in lists
            if happened(each) and not like(name.rpartition(".")[2], (*CALLS, *RESULTS))
        ]
        if inner and not happened(found):
            return path
    return None


def _are_members(sample: Sequence[Any]) -> bool:
    """Whether each member of a record is a run, by its id: objects that have names in common."""
    members = [each for record in sample for each in mapping(record).values()]
    if len(members) < 2 or not all(isinstance(each, dict) and len(each) > 1 for each in members):
        return False
    if len(members) == 2:  # two objects have names in common easily
        return all(any(map(happened, lists_of(each).values())) for each in members)
    counts = Counter(name for each in members for name in each)
    return sum(count * 10 >= len(members) * 9 for count in counts.values()) > 1


def _is_result(element: Any) -> bool:
    """Whether an element says of a task who did it, or how it was done."""
    own = {name: value for name, value in mapping(element).items() if not isinstance(value, dict | list)}
    ended = any(_says_outcome(name, value) for name, value in own.items())
    if any(like(name, FIELDS["task"]) for name in own):
        return ended or any(like(name, (*FIELDS["agent"], *FIELDS["model"])) for name in own)
    return ended and any(like(name, TITLES) for name in own)


def _says_outcome(name: str, value: Any) -> bool:
    """Whether a member is an outcome: by its name, or by a word of it where it is true or false."""
    found = words(name)
    if like(name, FIELDS["success"]) or (FINAL.issuperset(found) and found & {"score", "reward", "outcome"}):
        return True
    return isinstance(value, bool) and not RIGHT.isdisjoint(found)


def _are_events(sample: Sequence[Any]) -> bool:
    """Whether the records of a file are what happened in its runs, not a run each."""
    if len(sample) == 1 or not all(isinstance(each, dict) for each in sample):  # one record is one run
        return False
    if _are_counted(sample) or _are_exchanged(sample):
        return True
    if mostly(map(_is_result, sample)):
        return False
    # `name`, the last, is mostly no kind.
    kinds = dict.fromkeys(name for each in sample for name in each if like(name, KINDS[:-1]))
    differ = any(len({each[n] for each in sample if isinstance(each.get(n), str)}) > 1 for n in kinds)
    turns = sum(turn_of(each) is not None for each in sample)
    if any(map(lists_of, sample)):
        return differ or (turns * 2 > len(sample) and _session(sample) is not None)
    if not differ and mostly(any(_says_outcome(n, v) for n, v in e.items() if v in (0, 1)) for e in sample):
        return False
    return differ or turns * 10 < len(sample) * 8 or _session(sample) is not None


def _are_counted(sample: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the records that share the id of a run, or all, are counted: its steps."""
    key = _session(sample)
    fields = [dict(fields_of(each)) for each in sample]
    counters = COUNTERS if key else STEP_COUNTERS
    for name in dict.fromkeys(name for each in fields for name in each if like(name, counters)):
        runs: dict[Any, list[float]] = {}
        for each in fields:
            if (count := number(each.get(name), Findings(None), "")) is not None:
                runs.setdefault(each.get(key or ""), []).append(count)
        rising = [counts for counts in runs.values() if sorted(set(counts)) == counts]
        if any(len(counts) > 1 for counts in rising) and len(rising) == len(runs):
            return True
    return False


def _are_exchanged(sample: Sequence[Mapping[str, Any]]) -> bool:
    """Whether some of the records have the arguments of a call, and the others what it gave."""
    names = [{path.rpartition(".")[2] for path in flattened(each)} for each in sample]
    calls = [any(like(name, PARTS["arguments"]) for name in each) for each in names]
    answers = [any(like(name, PARTS["content"]) for name in each) for each in names]
    either = sum(call != answer for call, answer in zip(calls, answers, strict=True))
    return any(calls) and any(answers) and either * 10 >= len(sample) * 8


def _session(sample: Sequence[Mapping[str, Any]]) -> str | None:
    """The member with the id of a run: nearly every record has it, and some share it."""
    shared = []
    for path, values in values_by_path(sample).items():
        ids = [value for value in values if isinstance(value, str | int)]
        if len(set(ids)) < len(ids) and len(ids) * 10 >= len(sample) * 8:
            shared.append(path)
    names = (FIELDS["id"][:-1], *((name,) for name in SHARED))
    named = (path for some in names for path in shared if like(path.rpartition(".")[2], some))
    return next(named, None) or next((path for path in shared if _begins_again(sample, path)), None)


def _begins_again(sample: Sequence[Mapping[str, Any]], path: str) -> bool:
    """Whether a counter of steps begins again where the value of a member changes, and nowhere else."""
    fields = [dict(fields_of(each)) for each in sample]
    for name in (name for name in fields[0] if like(name, STEP_COUNTERS)):
        counts = [number(each.get(name), Findings(None), "") for each in fields]
        known = [
            (each.get(path), count) for each, count in zip(fields, counts, strict=True) if count is not None
        ]
        again = {(after[0] != before[0], after[1] <= before[1]) for before, after in pairwise(known)}
        if again == {(True, True), (False, False)}:
            return True
    return False


class _RunDraft:
    """The members of `run` that a name speaks for.

    Args:
        sample: the records, each a run or, `together`, an event of one.
        key: the member whose value the events of a run share.
        around: the record that the runs are inside of, which may say who ran, and when.
    """

    def __init__(
        self, sample: Sequence[Any], *, together: bool, key: str | None, around: Mapping[str, Any]
    ) -> None:
        self._first, self._key = mapping(sample[0]), key
        self._fields = values_by_path(sample)
        self._outside = {f"/{path}": values for path, values in values_by_path([around]).items()}
        lists = (
            {"": [each for each in sample if isinstance(each, dict)]} if together else lists_by_path(sample)
        )
        place = "" if together else best_list(lists)
        self._each = "" if place is None else f"{place}[]"
        events = [] if place is None else lists[place]
        given = PARTS["arguments"][:5]  # what somebody asks of a tool is nobody's task
        self._inside = {
            path: values
            for path, values in values_by_path(events).items()
            if not any(like(step, given) for step in path.split(".")[:-1])
        }
        # What a tool was given, too, under whatever name: beside that of the tool and what it gave.
        call = [PARTS[part] for part in ("tool", "arguments", "content")]
        others = [e for e in events if not all(any(like(name, part) for name in e) for part in call)]
        self._asked = values_by_path(others)
        of_run = [each for each in events if not any(like(name, PARTS["tool"][:3]) for name in each)]
        self._ends = values_by_path(of_run) if together else self._fields
        if together:
            self._fields = {}

    def lines(self) -> Iterator[str]:
        """A line for each member that was found."""
        for part in FIELDS:
            if part == "usage":
                yield from self._spent()
            elif part != "cost":
                value = self._value(part)
                if value is not None:
                    yield f"{part}: {flow(value)}"
                elif part == "agent":
                    yield """agent: "'unknown-agent'"  # no member is called an agent"""

    def _value(self, part: str) -> Any:
        if part == "id" and self._key:
            return {"first": f"{self._each}.{self._key}"}
        own = self._ends if part == "success" and not self._fields else self._fields
        decided = _decided(own) if part == "success" else _run_id(own) if part == "id" else None
        if part == "id" and self._fields:
            own = {path: values for path, values in own.items() if _tells_apart(values)}
        found = decided or _named(part, own) or _by_content(part, own)
        if found is None and part in AROUND:
            found = _named(part, self._outside)
        if found is not None and not (own is self._ends and not self._fields):
            # What the agent replied is not what was expected.
            return None if part == "target" and found in (turn_of(self._first) or ()) else found
        if self._fields and part not in ("model", "agent"):
            return None
        inside = {"success": self._ends, "task_text": self._asked}.get(part, self._inside)
        names = {
            "id": FIELDS["id"][:-1],
            "agent": FIELDS["agent"][:ACTORS] if self._fields else None,
            # What is said in a run may be anybody's words.
            "task_text": [name for name in FIELDS["task_text"] if not like(name, PARTS["say"])],
        }
        found = found or _named(part, inside, names.get(part))
        if found is None and not self._fields and part != "task":  # a name in it is a tool's, or a speaker's
            found = _by_content(part, inside)
        which = "last" if part == "success" else "first"
        return None if found is None else {which: f"{self._each}.{found}"}

    def _spent(self) -> Iterator[str]:
        """Tokens and cost of the run, else of the calls of a model in it."""
        usage, cost = _usage(self._fields), _named("cost", self._fields)
        if usage is None and self._each:
            usage, cost_inside = _usage(self._inside), None if cost else _named("cost", self._inside)
            paths = list(usage.values() if isinstance(usage, dict) else filter(None, [usage]))
            if any("total" in words(path.rpartition(".")[2]) for path in (*paths, cost_inside or "")):
                yield from self._totals(usage, cost_inside)
            elif given := {n: v for n, v in (("usage", usage), ("cost", cost_inside)) if v}:
                when = {(*paths, cost_inside)[0]: {"filled": True}}
                yield f"calls: {flow({'each': self._each, 'when': when, **given})}"
        elif usage is not None:
            yield f"usage: {flow(usage)}"
        if cost is not None:
            yield f"cost: {flow(cost)}"

    def _totals(self, usage: str | dict[str, str] | None, cost: str | None) -> Iterator[str]:
        """What the last event that says so says of the whole run."""
        if isinstance(usage, dict):
            last = {name: {"last": f"{self._each}.{path}"} for name, path in usage.items()}
            yield f"usage: {flow(last)}"
        elif usage is not None:
            yield f"usage: {flow({'last': f'{self._each}.{usage}'})}"
        if cost is not None:
            yield f"cost: {flow({'last': f'{self._each}.{cost}'})}"


def _run_id(fields: Mapping[str, Sequence[Any]]) -> str | None:
    """A member called after a run that has a value of its own in each: ``run``, ``conversation``."""
    if _named("id", {path: values for path, values in fields.items() if "." not in path}):
        return None
    return _named("id", {path: each for path, each in fields.items() if _tells_apart(each)}, SHARED)


def _tells_apart(values: Sequence[Any]) -> bool:
    """Whether each value is another one."""
    return len({*map(repr, values)}) == len(values)


def _usage(fields: Mapping[str, Sequence[Any]]) -> str | dict[str, str] | None:
    """The path of an object of tokens, or those of its figures."""
    if whole := _named("usage", fields):
        return whole
    if whole := next((path for path, values in fields.items() if any(map(is_usage, values))), None):
        return whole
    found: dict[str, str] = {}
    for figure, names, short in (("input_tokens", INPUT, _IN), ("output_tokens", OUTPUT, _OUT)):
        for path, values in fields.items():
            *above, last = path.split(".")
            counts = all(number(each, Findings(None), "") is not None for each in values)
            inside = like("".join(above[-1:]), FIELDS["usage"]) and like(last, short)
            if counts and (inside or like(last, names)):
                found.setdefault(figure, path)
    return found or None


def _named(part: str, fields: Mapping[str, Sequence[Any]], names: Sequence[str] | None = None) -> str | None:
    """The member that a name speaks for, the likeliest name first."""
    fitting = [path for path, values in fields.items() if any(_fits(part, value) for value in values)]
    named = (path for name in names or FIELDS[part] for path in _called(fitting, name, part))
    return next(named, None) or next((path for path in fitting if _ends_like(path, part)), None)


def _fits(part: str, value: Any) -> bool:
    """Whether a value may be that part of a run."""
    if part in ("started", "finished"):
        return moment(value, Findings(None), part) is not None
    if part == "cost":
        return not isinstance(value, bool) and number(value, Findings(None), part) is not None
    if part == "usage":
        return is_usage(value)
    if part in ("task_text", "agent", "model") and not isinstance(value, str):
        return False
    if part in ("agent", "model", "version", "id") and len(str(value)) > NAME_CHARS:
        return False
    return isinstance(value, str | int | float) and (part == "success" or not isinstance(value, bool))


def _by_content(part: str, fields: Mapping[str, Sequence[Any]]) -> str | None:
    """A member that what is in it speaks for; an agent without a name is called after its model."""
    if part == "agent":
        return _named("model", {p: vs for p, vs in fields.items() if any(isinstance(v, str) for v in vs)})
    if part == "task":
        return next(
            (path for name in TITLES for path in _called(fields, name, part) if "." not in path), None
        )
    if part != "success":
        return None
    right = (p for p, vs in fields.items() if all(_says_outcome(p.rpartition(".")[2], v) for v in vs))
    return min(right, key=lambda path: path.count("."), default=None)


def _decided(fields: Mapping[str, Sequence[Any]]) -> str | None:
    """The member that says how each run ended, in a word that decides it; one called so first."""
    decided = [
        path
        for path, values in fields.items()
        if all(outcome_from(each, Findings(None), "")[0] is not None for each in values)
        or _partly(path, values)
    ]
    names = (*FIELDS["success"], *ENDS)
    named = (path for name in names for path in _called(decided, name, "success"))
    worded = (path for path in decided if words(path.rpartition(".")[2]) & RIGHT)
    return next(named, None) or next(worded, None)


def _partly(path: str, values: Sequence[Any]) -> bool:
    """Whether a member called an end is success for some runs, and for others a word that decides nothing."""
    return like(path.rpartition(".")[2], ENDS) and any(
        isinstance(each, str) and outcome_from(each, Findings(None), "")[0] for each in values
    )


def _ends_like(path: str, part: str) -> bool:
    """Whether a member is an agent by its id, or a model of somebody: ``assistantId``, ``player_model``."""
    last = path.rpartition(".")[2]
    found = words(last)
    if part == "model":
        return len(found) == 2 and last.lower().endswith(("model", "llm"))
    actors = {"assistant", "agent", "bot"}
    return part == "agent" and bool(found & actors) and found <= actors | {"id", "name"}


def _called(fields: Iterable[str], name: str, part: str) -> list[str]:
    """The paths that end in a name, the outermost first; of an agent, a model or a task also its own name."""
    found = []
    for path in fields:
        *above, last = path.split(".")
        own = (
            part in ("agent", "model", "task")
            and last in ("name", "id", "title", "slug")
            and like("".join(above[-1:]), (name,))
        )
        if own or like(last, (name,)):
            found.append(path)
    own_names = ("id", "name", "title") if part == "task" else ("name", "slug", "title", "id")

    def order(path: str) -> tuple[int, int]:
        last = path.rpartition(".")[2]
        return path.count("."), own_names.index(last) if last in own_names else -1

    return sorted(found, key=order)
