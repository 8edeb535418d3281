"""Inspect logs: ``.eval`` archives and ``.json`` files; a sample and its epoch is a run.

An archive is read sample by sample, so a log of any size needs the memory of its largest sample. A log that
was cut off has no header of its own; its journal says what was run. Text that the log keeps apart
(attachments) is put back in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import file_digest
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from untaken.errors import UntakenError
from untaken.traces.archives import Archive
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.jsontext import Broken, JsonReader, decode_text
from untaken.traces.losses import FileLog, Findings, clip
from untaken.traces.otel_spans import below
from untaken.traces.readings import amount, items, mapping, moment, number, objects, text, whole
from untaken.traces.sample import Sample
from untaken.traces.sources import ZIP, OnDisk, Source
from untaken.traces.spending import Amounts, Spending, added, amounts, named_apart, spend, usage
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, Tidier
from untaken.traces.trace_run import (
    Answered,
    Called,
    Item,
    TraceRun,
    Utterance,
    content_text,
    tools_by_task,
    write_traces,
)

Event = Mapping[str, Any]
TOKENS: Final = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cached_tokens": ("input_tokens_cache_read",),
    "cache_creation_tokens": ("input_tokens_cache_write",),
    "reasoning_tokens": ("reasoning_tokens",),
    "total_tokens": ("total_tokens",),
    "cost": ("total_cost",),
}
BESIDE: Final = ("input_tokens_cache_read", "input_tokens_cache_write")
"""Since 2026 not in the input of any service; the recorded total says how it was before."""
USED: Final = tuple(key for keys in TOKENS.values() for key in keys)
"""What is read of a usage."""
SCORERS: Final = ("scorer", "scorers")
ROLES: Final = {
    **dict.fromkeys(("grader", "judge", "scorer", "monitor"), "grader"),
    **dict.fromkeys(("user", "user_simulator", "simulator"), "user"),
}
"""Roles of models that are not the agent's."""

EvalLog = tuple[Mapping[str, Any], Callable[[], Iterator[Any]]]
"""The header of a log, and what gives its samples, one after the other, as often as they are asked for."""
ATTACHED: Final = "attachment://"
VALUES: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's letters as it counts them: correct, partial, incorrect, no answer."""
SUCCESS: Final = {"C": True, "I": False, "N": False}
HEADERS: Final = ("header.json", "_journal/start.json")
_SAMPLE: Final = (
    *("id", "epoch", "input.**", "target.**", "error.message", "error.**", "limit.type", "total_time"),
    "uuid",
    *("messages[].role", "messages[].content.**", "messages[].tool_call_id", "messages[].error.message"),
    *(f"messages[].tool_calls[].{name}" for name in ("id", "function", "arguments.**")),
    *("scores.**", "events[].event", "events[].id", "events[].timestamp", "events[].completed"),
    *("events[].function", "events[].arguments.**", "events[].result.**", "events[].error.message"),
    *("events[].type", "events[].span_id", "events[].parent_id", "events[].role", "events[].action"),
    *("events[].cache", *(f"events[].output.usage.{name}" for name in USED)),
)
PLACES: Final = Places(
    kept=[*_SAMPLE, "model_usage.**", "role_usage.**"],
    dropped=["attachments.**", "store.**", "output.**", "metadata.**", "events[].**"],
)


class EvalInfo(Struct, frozen=True, kw_only=True):
    """The settings that all samples of a log share."""

    task: str
    agent: str
    model: str | None
    version: str | None
    scorer: str | None
    run_id: str
    status: str

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> EvalInfo:
        """The parts of a header."""
        about = mapping(header.get("eval"))
        model, solver = text(about.get("model")), text(about.get("solver"))
        scored = objects(mapping(header.get("results")).get("scores")) or objects(about.get("scorers"))
        return cls(
            task=text(about.get("task")) or "unknown",
            agent="/".join(part for part in (solver, model) if part) or "unknown-agent",
            model=model,
            version=_version(about),
            scorer=next((name for score in scored if (name := text(score.get("name")))), None),
            # One command that runs several tasks, or models, is one run of Inspect and an eval for each.
            run_id=text(about.get("eval_id")) or text(about.get("run_id")) or "log",
            status=text(header.get("status")) or "started",
        )


def _version(about: Mapping[str, Any]) -> str | None:
    """The commit of the code with task and solver; without one, the packages that are recorded."""
    revision = mapping(about.get("revision"))
    if commit := text(revision.get("commit")):
        return f"{commit}+changes" if revision.get("dirty") is True else commit
    packages = sorted(mapping(about.get("packages")).items())
    return ", ".join(f"{name} {text(number)}" for name, number in packages) or None


def recognise(sample: Sample) -> bool:
    """An archive with samples and a header or journal; or the JSON object of a log."""
    if sample.shape == "zip":
        named = set(sample.members)
        inside = any(name.startswith(("samples/", "_journal/")) for name in named)
        return inside and bool(named & {*HEADERS, "summaries.json"})
    return {"task", "model"} <= mapping(sample.first.get("eval")).keys()


def _parsed(content: bytes, findings: Findings, name: str) -> Any:
    """One JSON document; ``None``, with a finding, where it is none."""
    try:
        return JsonReader(decode_text(content, findings), findings).whole()
    except Broken as fault:
        findings.add("unreadable-record", f"{clip(name)} cannot be read: {fault}", severity="error")
        return None


def _sample_run(sample: Mapping[str, Any], about: EvalInfo, findings: Findings) -> TraceRun:
    sample_id, epoch = text(sample.get("id")) or "sample", whole(sample.get("epoch"), findings, "epoch")
    events = objects(sample.get("events"))
    moments = [at for e in events if (at := moment(e.get("timestamp"), findings, "events[].timestamp"))]
    failed = mapping(sample.get("error"))
    run_id = f"inspect/{about.run_id}/{sample_id}/{epoch or 1}"
    by_whose = events_by_whose(events)
    own = by_whose[""]
    spent = sample_spent(sample, by_whose, run_id, findings)
    return TraceRun(
        run_id=run_id,
        agent=about.agent,
        task_id=f"{about.task}/{sample_id}",
        task_repeat=epoch,
        record=[sample.get(name) for name in ("messages", "scores", "error")],
        origin=sample,
        model=about.model,
        version=about.version,
        items=_items(objects(sample.get("messages")), own, findings),
        started=moments[0] if moments else None,
        finished=moments[-1] if moments else None,
        success=_success(sample, about),
        cost=spent.cost,
        steps=len(model_calls(own)) or None,
        error=text(failed.get("message")) or (clip(failed) if failed else None),
        limit=text(mapping(sample.get("limit")).get("type")),
        metrics={**_metrics(sample, findings), **spent.tokens},
        metadata={
            "format": "inspect",
            "status": about.status,
            **described(sample.get("input"), sample.get("target")),
        },
    )


def _success(sample: Mapping[str, Any], about: EvalInfo) -> bool | None:
    """The first scorer's value: correct or 1, incorrect or 0; anything between is not decided."""
    scores = mapping(sample.get("scores"))
    score = scores.get(about.scorer) if about.scorer in scores else next(iter(scores.values()), None)
    value = mapping(score).get("value")
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return SUCCESS.get(value)
    return bool(value) if isinstance(value, int | float) and value in (0, 1) else None


def _metrics(sample: Mapping[str, Any], findings: Findings) -> dict[str, float | bool]:
    found: dict[str, float | bool] = {}
    for name, score in mapping(sample.get("scores")).items():
        value = mapping(score).get("value")
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for part, each in parts:
            read = VALUES.get(each) if isinstance(each, str) else number(each, findings, "scores")
            if read is not None:
                found[f"score:{name}.{part}" if part else f"score:{name}"] = read
    if (seconds := amount(sample.get("total_time"), findings, "total_time")) is not None:
        found["total_time"] = seconds
    return found


def _items(
    messages: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]], findings: Findings
) -> list[Item]:
    """What the messages say; calls that only the events know (of sub-agents) come after them."""
    made = {call_id: e for e in events if e.get("event") == "tool" and (call_id := text(e.get("id")))}
    found: list[Item] = []
    for message in messages:
        found += _message(message, made, findings)
    known = {item.source_id for item in found if isinstance(item, Called)}
    for call_id, event in made.items():
        if call_id not in known:
            found += _tool_event(call_id, event)
    return found


def _message(
    message: Mapping[str, Any], made: Mapping[str, Mapping[str, Any]], findings: Findings
) -> Iterator[Item]:
    role = text(message.get("role")) or "unknown"
    content = content_text(message.get("content"))
    if role == "tool":
        call_id = text(message.get("tool_call_id"))
        event = made.get(call_id or "", {})  # a message has no time of its own
        failed = mapping(message.get("error")) or mapping(event.get("error"))
        at = moment(event.get("completed"), findings, "events[].completed")
        ok = not failed if event or failed else None  # without its event, nobody knows
        yield Answered(content=content or text(failed.get("message")) or "", source_id=call_id, ok=ok, at=at)
        return
    parts = objects(message.get("content"))
    thoughts = [
        each for part in parts if part.get("type") == "reasoning" and (each := text(part.get("reasoning")))
    ]
    if thoughts:
        content = content_text([part for part in parts if part.get("type") != "reasoning"])
        yield Utterance(role="reasoning", content="\n".join(thoughts))
    yield Utterance(role=role, content=content)
    for call in objects(message.get("tool_calls")):
        call_id = text(call.get("id"))
        at = moment(made.get(call_id or "", {}).get("timestamp"), findings, "events[].timestamp")
        yield Called(tool=call.get("function"), arguments=call.get("arguments"), source_id=call_id, at=at)


def _tool_event(call_id: str, event: Mapping[str, Any]) -> Iterator[Item]:
    failed = mapping(event.get("error"))
    yield Called(tool=event.get("function"), arguments=event.get("arguments"), source_id=call_id)
    result = content_text(event.get("result"))
    yield Answered(content=result or text(failed.get("message")) or "", source_id=call_id, ok=not failed)


def _attached(value: Any, attachments: Mapping[str, Any]) -> Any:
    """The value with attachments in their place."""
    if isinstance(value, str):
        if value.startswith(ATTACHED):
            return attachments.get(value.removeprefix(ATTACHED), value)
        return value
    if isinstance(value, list):
        return [_attached(item, attachments) for item in value]
    if isinstance(value, dict):
        return {name: _attached(item, attachments) for name, item in value.items()}
    return value


@contextmanager
def _opened(source: Source, intake: Intake, log: FileLog) -> Iterator[EvalLog | None]:
    """The log in a file; ``None``, with a finding, where it cannot be had."""
    if not _is_zip(source):
        reader = intake.reader(source, log)
        document = next((element.value for element in reader.values()), None) if reader else None
        yield (document, lambda: iter(items(document.get("samples")))) if isinstance(document, dict) else None
        return
    try:
        content = None if isinstance(source.place, OnDisk) else source.stored()  # not all of it into memory
        path = source.place.path if isinstance(source.place, OnDisk) else Path(source.name)
        archive = Archive(path, content)
    except (UntakenError, OSError) as error:
        code = error.code if isinstance(error, UntakenError) else "unreadable-file"
        log.findings.add(code, str(error), severity="error")
        yield None
        return
    log.bytes = path.stat().st_size if content is None else len(content)
    with path.open("rb") if content is None else BytesIO(content) as stream:
        log.sha256 = file_digest(stream, "sha256").hexdigest()
    with closing(archive):
        yield _archived(archive, log.findings)


def _archived(archive: Archive, findings: Findings) -> EvalLog:
    """A log as an archive: its header, or its journal, and one sample after the other."""
    members = {member.filename: member for member in archive.members(findings)}

    def read(name: str) -> Any:
        try:
            return _parsed(archive.read(members[name]), findings, name)
        except UntakenError as error:
            findings.add(error.code, f"{clip(name)}: {error.message}", severity="error")
            return None

    header = next((mapping(read(name)) for name in HEADERS if name in members), {})
    # One order, however it was packed.
    return header, lambda: (read(name) for name in sorted(members) if name.startswith("samples/"))


def _is_zip(source: Source) -> bool:
    """Recognised by the first bytes, not by the name."""
    try:
        return next(source.place.pieces(), b"").startswith(ZIP)
    except (UntakenError, OSError):
        return False


def _runs(
    samples: Iterable[Any], about: EvalInfo, log: FileLog, tidier: Tidier, known: set[str] | None
) -> Iterator[TraceRun]:
    """The runs of samples; those of an earlier log, `known` by uuid, are left out: a retry copies them."""
    for sample in samples:
        if not isinstance(sample, dict):
            continue
        if known is not None and (name := text(sample.get("uuid"))) is not None:
            if name in known:
                message = "samples that a retry copied from another log are read once"
                log.findings.once("repeated-record", message, severity="note")
                log.records += 1
                continue
            known.add(name)
        tidied, held = tidier.record(_attached(sample, mapping(sample.get("attachments"))), "")
        if known is not None:  # else only the tools are asked for
            log.records += 1
            log.count(held, PLACES.kept)
        yield _sample_run(tidied, about, log.findings)


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    known: set[str] = set()
    for source in sources:
        intake.step(source.name)
        log = intake.open(source)
        with intake.contained(log), _opened(source, intake, log) as log_file:
            if log_file is not None:
                _write(log_file, source, intake, log, known)


def _write(log_file: EvalLog, source: Source, intake: Intake, log: FileLog, known: set[str]) -> None:
    header, samples = log_file
    if not mapping(header.get("eval")):
        message = "no task name: not an Inspect log, or truncated at the start"
        log.findings.add("not-this-format", message, severity="error")
        return
    about = EvalInfo.of(header)
    if about.status != "success":
        message = f"the log's status is {clip(about.status)!r}: it may not hold every sample"
        log.findings.add("log-not-complete", message)
    tidier = Tidier(PLACES, Findings(None))  # the first pass asks for tools alone; the second one tells
    tools = tools_by_task(_runs(samples(), about, FileLog(source.name), tidier, None))
    runs = _runs(samples(), about, log, Tidier(PLACES, log.findings), known)
    write_traces(runs, f"{source.stem}-{log.sha256[:8]}", intake=intake, log=log, tools=tools)
    if not log.records:
        log.findings.add("no-samples", "there are no samples in the log, only metrics")


def events_by_whose(events: Sequence[Event]) -> dict[str, list[Event]]:
    """The events of the agent, under an empty name, and those of graders and simulated users."""
    above = {
        name: text(event.get("parent_id"))
        for event in events
        if event.get("event") == "span_begin" and (name := text(event.get("id")))
    }
    tops = [
        str(event.get("id"))
        for event in events
        if event.get("event") == "span_begin" and event.get("type") in SCORERS
    ]
    graded = below(above, tops)
    found: dict[str, list[Event]] = {"": [], "grader": [], "user": []}
    steps = 0
    for event in events:
        if event.get("event") == "step" and event.get("type") in SCORERS:  # as older versions mark them
            steps += {"begin": 1, "end": -1}.get(str(event.get("action")), 0)
        scoring = steps > 0 or text(event.get("span_id")) in graded
        whose = "grader" if scoring else ROLES.get(str(event.get("role")), "")
        found[whose].append(event)
    return found


def sample_spent(
    sample: Mapping[str, Any], by_whose: Mapping[str, Sequence[Event]], run: str, findings: Findings
) -> Spending:
    """What the agent's models spent; what others did is in metrics under their names."""
    by_role: dict[str, list[Amounts]] = {}
    for role, counts in mapping(sample.get("role_usage")).items():
        by_role.setdefault(ROLES.get(role, ""), []).append(used(mapping(counts), findings))
    others = {
        whose: spend(
            _parts(events, Findings(None)) or by_role.get(whose, ()), run=run, findings=Findings(None)
        )
        for whose, events in by_whose.items()
        if whose
    }
    # It counts the others, too.
    total = added(used(mapping(each), findings) for each in mapping(sample.get("model_usage")).values())
    parts = [part for part in _parts(by_whose[""], findings) if part]
    apart = [amounts(spent) for spent in others.values()]
    if not parts:
        without = added(apart)
        # No call of the agent is recorded: what the others leave of the total is its own.
        total = {figure: max(value - without.get(figure, 0), 0) for figure, value in total.items()}
    spent = spend(parts, total, run=run, findings=findings, apart=apart)
    tokens = dict(spent.tokens)
    if tokens and total:
        tokens["total_tokens"] = tokens.get("input_tokens", 0) + tokens.get("output_tokens", 0)
    for whose, each in others.items():
        tokens |= named_apart(whose, each, len(model_calls(by_whose[whose])))
    return Spending(tokens=tokens, cost=spent.cost)


def model_calls(events: Sequence[Event]) -> list[Event]:
    """The calls of models among events."""
    return [event for event in events if event.get("event") == "model"]


def _parts(events: Sequence[Event], findings: Findings) -> list[Amounts]:
    """What each call of a model spent; a reply that was kept from before costs nothing."""
    calls = (event for event in model_calls(events) if event.get("cache") != "read")
    return [used(mapping(mapping(event.get("output")).get("usage")), findings) for event in calls]


def used(counts: Mapping[str, Any], findings: Findings) -> Amounts:
    """A usage, as Inspect writes it."""
    return usage(counts, findings, TOKENS, beside=BESIDE, place="usage.")


IMPORTER: Final = importer(
    name="inspect",
    title="Inspect logs",
    extensions=(".eval", ".json"),
    what="Samples with their messages, tool calls, scores, errors and limits; an epoch is a repeat.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=_convert,
    archives=True,
    agent=("eval.solver", "eval.model"),
    model=("eval.model",),
    version=("eval.revision.commit", "(the recorded packages)"),
    task=("eval.task", "samples[].id"),
    task_text=("samples[].input",),
    target=("samples[].target",),
    outcome=("samples[].scores.*.value",),
    tokens=("samples[].model_usage.*.input_tokens", "samples[].model_usage.*.output_tokens"),
    cost=("samples[].model_usage.*.total_cost",),
    time=("samples[].events[].timestamp",),
)
