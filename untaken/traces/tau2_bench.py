"""tau2-bench results: one JSON object {timestamp, info, tasks, simulations}.

Success is a reward of 1 (within 1e-6); a run that an infrastructure error ended has none. The expected
actions of a task become sub-goals without dependencies. One is met by a call of the same tool, by the
agent or the simulated user, whose arguments agree on the call's own keys (or on `compare_args`). The
benchmark's own recorded checks are kept as verdicts by ``test``. Only calls the assistant requested are
the agent's, and only those are decisions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.jsontext import Element, JsonReader
from untaken.traces.losses import FileLog
from untaken.traces.readings import amount, mapping, objects, text
from untaken.traces.recording import tool_name
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.tau2_runs import Simulations, Tau2Document, read_document, requestor
from untaken.traces.tidy import Places, Tidier, under
from untaken.traces.trace_run import TraceRun, write_traces

_CHECKED: Final = "simulations[].reward_info.action_checks[].action.**"
"""Repeats the expected action and is dropped; where the file lacks the task it is the plan, and kept."""
PLACES: Final = Places(
    kept=[
        *under("info.", "git_commit user_info.llm environment_info.domain_name"),
        *under("info.agent_info.", "implementation llm llm_args.**"),
        *under("tasks[].", "id description.purpose user_scenario.instructions.reason_for_call"),
        "tasks[].evaluation_criteria.actions",
        *under("tasks[].evaluation_criteria.actions[].", "action_id requestor name"),
        *under("tasks[].evaluation_criteria.actions[].", "arguments.** compare_args.**"),
        *under("simulations[].", "id task_id trial seed start_time end_time duration termination_reason"),
        *under("simulations[].", "timestamp agent_cost user_cost"),
        *under("simulations[].reward_info.", "reward db_check.db_match reward_breakdown.**"),
        *under("simulations[].reward_info.", "action_checks[].action_match env_assertions[].met"),
        *under("simulations[].reward_info.", "nl_assertions[].met communicate_checks[].met"),
        *under("simulations[].messages[].", "role content.** timestamp id error"),
        *under("simulations[].messages[].tool_messages[].", "role content.** timestamp id error"),
        *under("simulations[].messages[].usage.", "prompt_tokens completion_tokens"),
        *under("simulations[].messages[].tool_calls[].", "id name arguments.** requestor"),
    ],
    dropped=[
        *("info.user_info.llm_args.**", "info.environment_info.tool_defs.**", "tasks[].initial_state.**"),
        "tasks[].evaluation_criteria.env_assertions.**",
        _CHECKED,
        *under("simulations[].", "messages[].raw_data.** reward_info.env_assertions[].env_assertion.**"),
        *under("simulations[].", "reward_info.info.** info.** ticks.**"),
    ],
)


_RUNS: Final = "simulations[]"


def _recognise(sample: Sample) -> Confidence:
    if sample.shape not in ("object", "lines"):
        return Confidence.NO
    infos = ("user_info", "agent_info", "environment_info", "num_trials")
    if sample.mentions("simulations") or sum(sample.mentions(name) for name in infos) >= 2:
        return Confidence.LIKELY
    return Confidence.LIKELY if sample.mentions("task_id", "termination_reason") else Confidence.NO


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    # What must be known of all files before the first run is written.
    tools: defaultdict[str, set[str]] = defaultdict(set)
    documents: dict[str, list[Tau2Document]] = {}
    for source in sources:
        intake.step(source.name)
        ignored = FileLog(source.name)  # the second reading names what is wrong
        with intake.contained(ignored):
            for document in _look(source, intake, tools, ignored):
                documents.setdefault(source.name, []).append(document)
    for source in sources:
        intake.step(source.name)
        log = intake.open(source)
        with intake.contained(log):
            _write(source, intake, tools, documents.get(source.name, ()), log)


def _look(
    source: Source, intake: Intake, tools: defaultdict[str, set[str]], ignored: FileLog
) -> Iterator[Tau2Document]:
    reader = intake.reader(source, ignored)
    if reader is None:
        return
    tidier = Tidier(PLACES, ignored.findings)
    called: defaultdict[str, set[str]] = defaultdict(set)
    costs: set[float | None] = set()
    spoke = False
    for part in _parts(reader, ignored):
        if not isinstance(part, Element):
            tidied, _ = tidier.record(part, "")
            # Every recorded cost of the agent is 0, although it was called.
            unpriced = spoke and costs - {None} == {0}
            document = read_document(tidied, source.stem, unpriced=unpriced, log=ignored)
            for source_task, names in called.items():
                tools[document.task_id(source_task)] |= names
            yield document
            called, costs, spoke = defaultdict(set), set(), False
            continue
        simulation = mapping(tidier.record(part.value, _RUNS)[0])
        messages = objects(simulation.get("messages"))
        called[text(simulation.get("task_id")) or ""].update(
            tool_name(call.get("name"))
            for message in messages
            for call in objects(message.get("tool_calls"))
            if requestor(call, message) == "agent"
        )
        costs.add(amount(simulation.get("agent_cost"), ignored.findings, "agent_cost"))
        for message in messages:
            if message.get("role") == "assistant":
                spoke = True
                costs.add(amount(message.get("cost"), ignored.findings, "cost"))


def _write(
    source: Source,
    intake: Intake,
    tools: Mapping[str, set[str]],
    documents: Sequence[Tau2Document],
    log: FileLog,
) -> None:
    reader = intake.reader(source, log)
    if reader is None:
        return
    tidier = Tidier(PLACES, log.findings)

    def runs() -> Iterator[TraceRun]:
        shared = [Simulations(one, source.stem, intake, log) for one in documents]
        for part in _parts(reader, log):
            if not isinstance(part, Element):
                tidied, held = tidier.record(part, "")
                if part:  # beside a simulation of its own a file says nothing
                    log.count(held, PLACES.kept)
                read_document(tidied, log.name, unpriced=False, log=log)  # for its findings alone
                del shared[0]  # the next one is of the next document
                continue
            simulation, held = tidier.record(part.value, _RUNS)
            log.records += 1
            if not isinstance(simulation, dict) or text(simulation.get("task_id")) is None:
                log.count(held, frozenset())
                log.findings.add("not-this-format", f"run {part.index} names no task", severity="error")
                continue
            log.count(held, PLACES.kept if shared[0].has_task(simulation) else PLACES.kept | {_CHECKED})
            if (run := shared[0].run(simulation)) is not None:
                yield run

    write_traces(runs(), f"{source.stem}-{log.sha256[:8]}", intake=intake, log=log, tools=tools)


def _parts(reader: JsonReader, log: FileLog) -> Iterator[Element | dict[str, Any]]:
    """Of each results object its runs, one by one as they are read, then the rest of it."""
    while first := reader.peek():
        if first != "{":
            log.findings.add("not-this-format", "a results file holds one JSON object", severity="error")
            return
        header: dict[str, Any] = {}
        runs = 0
        for name in reader.members():
            if name == "simulations" and reader.peek() == "[":
                for element in reader.elements():
                    yield element
                    runs += 1
            else:
                header[name] = reader.member(name)
        if "messages" in header and "task_id" in header:  # the object is one simulation
            yield Element(0, header, 0)
            header, runs = {}, 1
        if not runs:
            log.findings.add("no-simulations", "it holds no simulations")
        yield header


IMPORTER: Final = importer(
    name="tau2-bench",
    title="τ²-bench results",
    what="Customer-service runs with rewards and action checks; expected actions become plan graphs.",
    left_out=PLACES.dropped,
    recognise=_recognise,
    convert=_convert,
    passes=2,
    agent=("info.agent_info.llm", "info.agent_info.implementation"),
    model=("info.agent_info.llm",),
    version=("info.git_commit",),
    task=("info.environment_info.domain_name", "simulations[].task_id"),
    task_text=("tasks[].user_scenario.instructions.reason_for_call",),
    outcome=("simulations[].reward_info.reward",),
    tokens=(
        "simulations[].messages[].usage.prompt_tokens",
        "simulations[].messages[].usage.completion_tokens",
    ),
    cost=("simulations[].agent_cost",),
    time=("simulations[].start_time", "simulations[].end_time", "simulations[].messages[].timestamp"),
)
