"""One simulation of a tau2-bench file as a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct

from untaken.ledger import GENESIS, Draft, ToolCall, Verdict
from untaken.plans import PlanGraph, SubGoal, call_matches, comparing_sub_goal
from untaken.traces.graphs import Expected, action_graph
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog, clip
from untaken.traces.readings import amount, cut_name, items, mapping, moment, number, objects, text, truth
from untaken.traces.recording import EPOCH, SAME, tool_name, trial_number
from untaken.traces.task_texts import described
from untaken.traces.trace_run import Answered, Called, Item, Recorded, TraceRun, Utterance

_DOMAIN: Final = re.compile(r"(?:^|[^a-z])(airline|retail|telecom|banking|mock)(?:[^a-z]|$)", re.IGNORECASE)
_FINE_TUNED: Final = re.compile(r"ft:([^:]+):[^:]*:[^:]*:([^:]+)")
_DATED: Final = re.compile(r"-\d{4}-\d{2}-\d{2}$")
_ORDINARY: Final = "llm_agent"
"""The implementation that is not worth naming."""

SUCCESS_WITHIN: Final = 1e-6
NOT_THE_AGENT: Final = frozenset({"infrastructure_error"})
"""Ways to end that say nothing about the agent: such a run has no success, and is in no rate."""
ORDINARY: Final = frozenset({"user_stop", "agent_stop"})
LIMITS: Final = frozenset({"max_steps", "timeout", "context_window_exceeded"})
_TOKENS: Final = {
    "assistant": {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"},
    "user": {"prompt_tokens": "user_input_tokens", "completion_tokens": "user_output_tokens"},
}
_ASSERTED: Final = ("env_assertions", "nl_assertions", "communicate_checks")


class Simulations:
    """Turns the simulations of one document into runs.

    Args:
        document: what they share.
        stem: of the file, used as the name of an agent that is not recorded.
    """

    def __init__(
        self,
        document: Tau2Document,
        stem: str,
        intake: Intake,
        log: FileLog,
    ) -> None:
        self._document = document
        self._intake = intake
        self._log = log
        self._trials: Counter[str] = Counter()
        self._nothing: set[str] = set()
        named = intake.agent or document.agent
        self._agent = intake.agent_name(named or stem, log)
        if named is None:
            log.findings.once("unknown-agent", f"no agent is recorded; assuming {clip(stem)!r}")

    def has_task(self, simulation: Mapping[str, Any]) -> bool:
        """True where the file says itself what the task of a simulation expected."""
        return (text(simulation.get("task_id")) or "") in self._document.expected

    def run(self, simulation: dict[str, Any]) -> TraceRun | None:
        """The run of one simulation; ``None`` for one that is there already."""
        log, document = self._log, self._document
        source_task = text(simulation.get("task_id")) or ""
        recorded = simulation.get("trial")
        trial = trial_number(recorded, self._trials, source_task, log, "simulations[].trial")
        base = f"tau2-bench/{self._agent}/{document.domain}/{source_task}/{trial}"
        run_id = self._intake.claim(base, simulation, log)
        if run_id is None:
            return None
        begun = self._begun(simulation)
        expected = self._expected(simulation, source_task, run_id)
        if expected == () and source_task not in self._nothing:
            self._nothing.add(source_task)
            message = f"nothing was expected of task {clip(source_task)}; its runs are unscored"
            log.findings.add("nothing-expected", message, severity="note")
        own = {
            "source_task_id": source_task,
            "source_run_id": text(simulation.get("id")),
            "seed": simulation.get("seed"),
        }
        log.run_id = run_id
        if not isinstance(simulation.get("messages"), list):
            log.findings.add("missing-trajectory", "there are no messages", run=run_id)
        messages = _flat(simulation.get("messages"))
        items = [item for each in messages for item in self._items(each, recorded=begun is not None)]
        reward_info = mapping(simulation.get("reward_info"))
        reward = number(reward_info.get("reward"), log.findings, "simulations[].reward_info.reward")
        ended = text(simulation.get("termination_reason"))
        if reward is None and ended not in NOT_THE_AGENT:
            log.findings.add("missing-reward-info", "no reward is recorded; success is unknown", run=run_id)
        verdicts = list(self._judged(run_id, simulation, expected))
        for goal, met in verdicts:
            items.append(Recorded(Verdict, {"sub_goal": goal.id, "passed": met, "by": "test"}, SAME))
        return TraceRun(
            run_id=run_id,
            agent=self._agent,
            record=simulation,
            task_id=document.task_id(source_task),
            task_repeat=trial,
            graph=None if expected is None else document.graph(source_task, expected),
            model=document.model,
            version=document.metadata.get("git_commit"),
            items=items,
            started=begun,
            finished=moment(simulation.get("end_time"), log.findings, "simulations[].end_time"),
            success=None if reward is None or ended in NOT_THE_AGENT else abs(reward - 1) < SUCCESS_WITHIN,
            cost=self._cost(simulation),
            steps=sum(text(message.get("role")) == "assistant" for message in messages),
            metrics=self._metrics(simulation, reward_info, reward),
            limit=ended if ended in LIMITS else None,
            error=ended if ended not in LIMITS | ORDINARY else None,
            metadata={
                **document.metadata,
                "timestamps": "recorded" if begun else "synthesised",
                **{key: value for key, value in own.items() if value is not None},
                **described(mapping(document.task_metadata.get(source_task)).get("reason_for_call")),
            },
            closing=[lambda drafts, _: self._compare(run_id, verdicts, drafts)],
            claimed=True,
        )

    def _begun(self, simulation: Mapping[str, Any]) -> datetime | None:
        findings = self._log.findings
        first = next((m for m in objects(simulation.get("messages")) if m.get("timestamp")), {})
        for value in (simulation.get("start_time"), first.get("timestamp"), simulation.get("timestamp")):
            read = moment(value, findings, "simulations[].start_time")
            if read is not None:
                return read
        message = "runs record no time; generated so that trials follow one another"
        findings.once("synthetic-timestamps", message, severity="note")
        return None

    def _expected(
        self, simulation: Mapping[str, Any], source_task: str, run_id: str
    ) -> tuple[Expected, ...] | None:
        expected = self._document.expected.get(source_task)
        if expected is not None:
            return expected
        checks = mapping(simulation.get("reward_info")).get("action_checks")
        if isinstance(checks, list):
            message = (
                f"task {clip(source_task)} is not in the file; its plan graph is built from the recorded "
                "checks"
            )
            self._log.findings.add("plan-from-verdicts", message, run=run_id)
            return expected_actions(
                [mapping(check).get("action") for check in checks], source_task, self._log
            )
        message = f"nothing says what task {clip(source_task)} expected; it has no plan graph"
        self._log.findings.add("no-expected-actions-recorded", message, run=run_id)
        return None

    def _items(self, message: Mapping[str, Any], *, recorded: bool) -> Iterator[Item]:
        findings, at = self._log.findings, None
        if recorded:
            at = moment(message.get("timestamp"), findings, "simulations[].messages[].timestamp")
        role, content = text(message.get("role")) or "unknown", message.get("content")
        if role == "tool":
            failed = truth(message.get("error"), findings, "simulations[].messages[].error")
            ok = None if failed is None else not failed
            yield Answered(content=content, source_id=text(message.get("id")), ok=ok, at=at)
            return
        yield Utterance(role=role, content=content, at=at)
        for call in objects(message.get("tool_calls")):
            yield Called(
                tool=call.get("name"),
                arguments=call.get("arguments"),
                source_id=text(call.get("id")),
                at=SAME,
                side=requestor(call, message),
            )

    def _judged(
        self, run_id: str, simulation: Mapping[str, Any], expected: tuple[Expected, ...] | None
    ) -> Iterator[tuple[SubGoal, bool | None]]:
        """The sub-goals with a recorded check, and whether they were met."""
        findings = self._log.findings
        judged: set[int] = set()
        checks = objects(mapping(simulation.get("reward_info")).get("action_checks"))
        for position, check in enumerate(checks):
            index = _checked_index(position, mapping(check.get("action")), expected or ())
            if index is None or index in judged:
                message = f"check {position} matches no expected action, or one already checked; left out"
                findings.add("verdict-without-sub-goal", message, run=run_id)
                continue
            judged.add(index)
            passed = truth(check.get("action_match"), findings, "action_match")
            if expected:
                yield expected[index].sub_goal(index, "call_keys"), passed
        left = len(expected or ()) - len(judged)
        if left:
            message = f"{left} of {len(expected or ())} expected actions have no recorded check"
            findings.add("missing-verdicts", message, run=run_id)

    def _compare(
        self, run_id: str, verdicts: Sequence[tuple[SubGoal, bool | None]], drafts: Sequence[Draft]
    ) -> Iterable[Draft]:
        """Notes where the rule says otherwise than the recorded checks."""
        calls = [
            # Only tool and arguments are compared.
            ToolCall(run_id="-", seq=0, ts=EPOCH, prev=GENESIS, **draft.fields)
            for draft in drafts
            if draft.event is ToolCall
        ]
        for sub_goal, passed in verdicts:
            check = comparing_sub_goal(sub_goal).check  # the benchmark compares free text, too
            spec = check.tool_call if check else None
            met = spec is not None and any(call_matches(spec, call) for call in calls)
            if passed is not None and passed != met:
                message = f"{clip(sub_goal.id)} is recorded as {passed}, by the rule it is {met}"
                message += "; the rule is used"
                self._log.findings.add("verdict-contradicts-rule", message, run=run_id)
        return ()

    def _cost(self, simulation: Mapping[str, Any]) -> float | None:
        cost = amount(simulation.get("agent_cost"), self._log.findings, "simulations[].agent_cost")
        if self._document.unpriced and cost is not None:
            message = "the agent's cost is 0 in every run: an unpriced model; its cost is unknown"
            self._log.findings.once("unpriced-cost", message)
            cost = None
        if cost is None:
            self._log.defaulted["RUN_FINISHED.cost"] += 1
        return cost

    def _metrics(
        self, simulation: Mapping[str, Any], reward_info: Mapping[str, Any], reward: float | None
    ) -> dict[str, bool | float]:
        findings = self._log.findings
        read: dict[str, bool | float | None] = {
            "reward": reward,
            "user_cost": amount(simulation.get("user_cost"), findings, "simulations[].user_cost"),
            "duration": amount(simulation.get("duration"), findings, "simulations[].duration"),
            "db_match": truth(mapping(reward_info.get("db_check")).get("db_match"), findings, "db_match"),
            **_tokens(simulation),
        }
        for part, value in mapping(reward_info.get("reward_breakdown")).items():
            read[f"reward_{part}"] = number(value, findings, "reward_breakdown")
        for kind in _ASSERTED:
            met = [check.get("met") is True for check in objects(reward_info.get(kind))]
            if met:
                read[kind], read[f"{kind}_met"] = float(len(met)), float(sum(met))
        return {key: value for key, value in read.items() if value is not None}


def _tokens(simulation: Mapping[str, Any]) -> dict[str, float]:
    """Tokens of the agent's and of the simulated user's messages, where any says how many."""
    sums: dict[str, float] = {}
    for message in objects(simulation.get("messages")):
        whose = _TOKENS.get(str(message.get("role")), {})
        for kind, name in whose.items():
            count = mapping(message.get("usage")).get(kind)
            if isinstance(count, int | float):
                sums[name] = sums.get(name, 0.0) + count
    return sums


def _flat(messages: Any) -> list[dict[str, Any]]:
    """The messages; one that bundles the answers to several calls is replaced by those."""
    flat = []
    for message in objects(messages):
        bundled = items(message.get("tool_messages"))
        flat.extend(objects(bundled) if bundled else [message])
    return flat


def _checked_index(position: int, action: Mapping[str, Any], expected: tuple[Expected, ...]) -> int | None:
    """Which expected action a recorded check is of: the one with its id, else the one at its position."""
    source_id = text(action.get("action_id"))
    same = [i for i, one in enumerate(expected) if source_id is not None and one.source_id == source_id]
    if len(same) == 1:  # an id that comes twice names none
        return same[0]
    fits = position < len(expected) and expected[position].name == text(action.get("name"))
    return position if fits else None


class Tau2Document(Struct, frozen=True, kw_only=True):
    """What all runs of one results object share.

    Attributes:
        agent: short name; ``None`` where none is recorded.
        model: the model as recorded.
        expected: per task (its id in the source) the reference path; a task that is not here recorded none.
        said: per task, what its description says, for the graph.
        unpriced: the agent's cost is stored as 0 throughout, although it made calls.
    """

    agent: str | None
    model: str | None
    domain: str
    metadata: Mapping[str, Any]
    expected: Mapping[str, tuple[Expected, ...]]
    task_metadata: Mapping[str, Mapping[str, str]]
    unpriced: bool

    def task_id(self, source_task: str) -> str:
        """The id of a task: the same in every file of its domain."""
        return cut_name(f"tau2-bench-{self.domain}-{source_task}")

    def graph(self, source_task: str, expected: tuple[Expected, ...]) -> PlanGraph:
        """The plan graph of a task."""
        title = f"tau2-bench {self.domain} {source_task}"
        metadata = {"format": "tau2-bench", **self.task_metadata.get(source_task, {})}
        return action_graph(
            self.task_id(source_task), title, expected, "call_keys", metadata, domain=self.domain
        )


def read_document(header: Mapping[str, Any], stem: str, *, unpriced: bool, log: FileLog) -> Tau2Document:
    """The document, from its members without the runs."""
    info = mapping(header.get("info"))
    agent_info = mapping(info.get("agent_info"))
    model = text(agent_info.get("llm"))
    implementation = text(agent_info.get("implementation"))
    expected: dict[str, tuple[Expected, ...]] = {}
    task_metadata: dict[str, dict[str, str]] = {}
    for task in objects(header.get("tasks")):
        source_task = text(task.get("id"))
        criteria = mapping(task.get("evaluation_criteria"))
        if source_task is None:
            log.findings.add("malformed-task", "a task has no id; left out", severity="error")
            continue
        if source_task in expected:
            log.findings.add("duplicate-task", f"task {clip(source_task)} is listed twice; the first is used")
            continue
        # Criteria without actions expect none; without criteria nothing is known.
        if isinstance(criteria.get("actions"), list) or task.get("evaluation_criteria") is not None:
            expected[source_task] = expected_actions(items(criteria.get("actions")), source_task, log)
        task_metadata[source_task] = _metadata_of(task)
    return Tau2Document(
        agent=agent_name(model, implementation),
        model=model,
        domain=_domain(info, stem),
        metadata=_metadata(info, agent_info),
        expected=expected,
        task_metadata=task_metadata,
        unpriced=unpriced,
    )


def expected_actions(actions: list[Any], source_task: str, log: FileLog) -> tuple[Expected, ...]:
    """The reference path; an action without a name is named and left out."""
    read = []
    for action in actions:
        named = text(mapping(action).get("name"))
        if named is None:
            message = f"task {clip(source_task)} expects an action without a name; left out"
            log.findings.add("malformed-action", message)
            continue
        compared = action.get("compare_args")
        read.append(
            Expected(
                name=tool_name(named),
                arguments=mapping(action.get("arguments")),
                compare_args=tuple(str(key) for key in compared) if isinstance(compared, list) else None,
                source_id=text(action.get("action_id")),
                requestor=text(action.get("requestor")),
            )
        )
    return tuple(read)


def requestor(call: Mapping[str, Any], message: Mapping[str, Any]) -> Literal["agent", "user"]:
    """Who made the call: as recorded, else the sender of the message."""
    role = text(call.get("requestor")) or text(message.get("role"))
    return "user" if role == "user" else "agent"


def agent_name(model: str | None, implementation: str | None) -> str | None:
    """A short name that is the same wherever the same model and implementation ran.

    ``openai/gpt-4.1`` → ``gpt-4.1``; ``ft:gpt-4.1-2025-04-14:org:suffix:BzrY`` → ``ft-gpt-4.1-BzrY`` (the
    last part tells fine-tunes of one model apart). An implementation other than the ordinary one follows
    in brackets.
    """
    if model is None:
        return implementation
    tuned = _FINE_TUNED.fullmatch(model)
    short = (
        f"ft-{_DATED.sub('', tuned.group(1))}-{tuned.group(2)}"
        if tuned
        else model.rsplit("/", 1)[-1] or model
    )
    return short if implementation in (None, _ORDINARY) else f"{short} ({implementation})"


def _domain(info: Mapping[str, Any], stem: str) -> str:
    recorded = text(mapping(info.get("environment_info")).get("domain_name"))
    if recorded:
        return recorded
    named = _DOMAIN.search(stem)
    return named.group(1).lower() if named else "unknown"


def _metadata(info: Mapping[str, Any], agent_info: Mapping[str, Any]) -> dict[str, Any]:
    fields = {
        "format": "tau2-bench",
        "implementation": text(agent_info.get("implementation")),
        "llm_args": agent_info.get("llm_args"),
        "user_llm": text(mapping(info.get("user_info")).get("llm")),
        "git_commit": text(info.get("git_commit")),
    }
    return {key: value for key, value in fields.items() if value}


def _metadata_of(task: Mapping[str, Any]) -> dict[str, str]:
    instructions = mapping(mapping(task.get("user_scenario")).get("instructions"))
    fields = {
        "purpose": text(mapping(task.get("description")).get("purpose")),
        "reason_for_call": text(instructions.get("reason_for_call")),
    }
    return {key: value for key, value in fields.items() if value}
