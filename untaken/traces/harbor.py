"""Harbor trial folders: what was asked, the trajectory, the reward, and the tests as sub-goals.

A trial is a folder with ``result.json``; beside it lie ``config.json``, ``agent/trajectory.json`` (ATIF), the
agent's own log, ``verifier/reward.txt`` and ``verifier/ctrf.json``, any of which may be missing. Of a trial
without a result ``config.json`` says what it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from untaken.ledger import Verdict
from untaken.plans import PlanGraph
from untaken.traces import atif, claude_code
from untaken.traces.graphs import task_globs
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog
from untaken.traces.readings import (
    amount,
    cut_name,
    first_text,
    mapping,
    moment,
    number,
    objects,
    text,
    totals,
)
from untaken.traces.recording import SAME
from untaken.traces.sample import Confidence, Sample, source_sample
from untaken.traces.sources import Source
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Called, Recorded, TraceRun, verdict_graph, write_traces

RESULT: Final = "result.json"
CONFIG: Final = "config.json"
AGENT_LOG: Final = "agent/claude-code.txt"
SUCCESS_WITHIN: Final = 1e-9
REASON_CHARS: Final = 2_000
TOKENS: Final = {
    "n_input_tokens": "input_tokens",
    "n_output_tokens": "output_tokens",
    "n_cache_tokens": "cached_tokens",
}
STATUSES: Final = {"passed": True, "failed": False}
"""A CTRF test that was skipped, is pending or other is undecided."""
PLACES: Final = Places(
    kept=[
        *("task_name", "source", "started_at", "finished_at"),
        *under("agent_info.", "name version model_info.name model_info.provider"),
        *("config.agent.model_name", "agent.model_name", "agent.name", "task.name", "task.path"),
        *(f"agent_result.{name}" for name in (*TOKENS, "cost_usd")),
        "verifier_result.rewards.reward",
        "exception_info.exception_type",
        "exception_info.exception_message",
        *under("results.tests[].", "name status message trace"),
    ],
    dropped=["config.**", "exception_info.exception_traceback", "rollout_details.**", "results.summary.**"],
)


def recognise(sample: Sample) -> Confidence:
    """The result of a trial is certain; the files beside it are claimed as its companions."""
    if {"trial_name", "task_name"} <= sample.first.keys() or {
        "task_name",
        "verifier_result",
    } <= sample.first.keys():
        return Confidence.CERTAIN
    return Confidence.LIKELY if sample.has("trial_name", "task", "agent", "verifier") else Confidence.NO


class _Trial:
    """Reads the files of a trial folder, which it has by their path; the account goes to its result."""

    def __init__(self, folder: PurePosixPath, intake: Intake) -> None:
        self.name = folder.name or "trial"
        self.files: dict[str, Source] = {}
        self.intake = intake
        self.logs: dict[str, FileLog] = {}

    @property
    def main(self) -> str:
        """The file that the account of the trial goes to."""
        return RESULT if RESULT in self.files else CONFIG

    def log(self, name: str) -> FileLog:
        """The account of a file of the trial."""
        if name not in self.logs:
            self.intake.step(self.files[name].name)
            self.logs[name] = self.intake.open(self.files[name])
        return self.logs[name]

    def document(self, name: str, places: Places = PLACES) -> dict[str, Any]:
        """A JSON file of the trial, tidied; empty where it is missing or cannot be read."""
        if name not in self.files:
            return {}
        log, copies = self.log(name), name != self.main  # two trials may have equal test reports
        file = TraceFile.opened(self.files[name], self.intake, places, log, copies=copies)
        return mapping(next(file.records(), None)) if file else {}

    def reward(self, result: dict[str, Any]) -> float | None:
        """The reward in the result, else in the verifier's own file."""
        findings = self.log(self.main).findings
        recorded = number(
            mapping(mapping(result.get("verifier_result")).get("rewards")).get("reward"), findings, "reward"
        )
        if recorded is None and "verifier/reward.txt" in self.files:
            written = self.intake.text(self.files["verifier/reward.txt"], self.log("verifier/reward.txt"))
            recorded = number(_written_number(written or ""), findings, "verifier/reward.txt")
        return recorded

    def trace_run(self) -> TraceRun | None:
        """What the agent did: its trajectory, else its own log."""
        name = next((n for n in self.files if n.startswith("agent/") and n.endswith("trajectory.json")), None)
        if name is not None:
            parts = list(self._parts(name))
            if parts and atif.is_trajectory(parts[0]):
                run = atif.trajectory_run(parts, self.name, self.log(name).findings)
                self._compare(run, self._own_log(FileLog(AGENT_LOG)))
                return run
        return next(iter(self._own_log(self.log(AGENT_LOG))), None) if AGENT_LOG in self.files else None

    def _own_log(self, log: FileLog) -> list[TraceRun]:
        """The runs of the agent's own log, with an account of it; none where it is missing."""
        if AGENT_LOG not in self.files:
            return []
        file = TraceFile.opened(self.files[AGENT_LOG], self.intake, claude_code.PLACES, log, copies=True)
        lines = [line for line in file.records() if isinstance(line, dict)] if file else []
        return claude_code.session_runs(lines, log.findings)

    def _compare(self, run: TraceRun, logged: Sequence[TraceRun]) -> None:
        """Names the calls that the trajectory lost: it is made of the log, and mixes up ids that repeat."""
        made, known = sum(map(_calls, logged)), _calls(run)
        if made > known:
            message = f"the trajectory has {known} of the {made} calls in {AGENT_LOG}"
            hint = f"Convert {AGENT_LOG} by itself to see them all."
            self.log(self.main).findings.add("trajectory-lacks-calls", message, run=self.name, hint=hint)

    def _parts(self, name: str | None) -> Iterator[dict[str, Any]]:
        seen: set[str] = set()
        # References may form a ring.
        while name is not None and name in self.files and name not in seen:
            seen.add(name)
            document = self.document(name, atif.PLACES)
            yield document
            following = text(document.get("continued_trajectory_ref"))
            name = (PurePosixPath(name).parent / following).as_posix() if following else None


def _trials(sources: Sequence[Source], intake: Intake) -> list[_Trial]:
    """One for each folder with a result; other files belong to the trial folder above them.

    The folder of a job has a ``result.json``, too, and so may a folder of an agent: where some are results of
    trials, the others are not read. A folder with its configuration and more is one without a result, too.
    """
    by_path = {PurePosixPath(source.name): source for source in sources}
    results = [path for path in by_path if path.name == RESULT]
    sure = [path for path in results if recognise(source_sample(by_path[path])) is Confidence.CERTAIN]
    begun = [
        path
        for path, source in by_path.items()
        if path.name == CONFIG
        and any(other != path and path.parent in other.parents for other in by_path)  # alone it says nothing
        and recognise(source_sample(source)) is not Confidence.NO
    ]
    # Where none is sure, each result is tried, and refused with a reason.
    folders = {path.parent: _Trial(path.parent, intake) for path in [*(sure or results), *begun]}
    for path, source in by_path.items():
        home = next((parent for parent in path.parents if parent in folders), None)  # the nearest above
        if home is not None:
            folders[home].files[path.relative_to(home).as_posix()] = source
    return list(folders.values())


def _calls(run: TraceRun) -> int:
    return sum(isinstance(item, Called) for item in run.items)


def _written_number(written: str) -> float | str:
    """A number as a text file holds it, so that it does not count as a number in quotes; else the text."""
    try:
        return float(written)
    except ValueError:
        return written.strip()


def _tests(report: dict[str, Any]) -> dict[str, Recorded]:
    """The verdict of each test of a CTRF report; of two with one name the first."""
    found: dict[str, Recorded] = {}
    for test in objects(mapping(report.get("results")).get("tests")):
        name = text(test.get("name"))
        if name is None:
            continue
        why = _failed_assertion(text(test.get("trace"))) or first_text([test], ("message", "trace"))
        passed = STATUSES.get(str(test.get("status")))
        reason = why[:REASON_CHARS] if why and passed is False else None
        verdict = {"sub_goal": cut_name(name), "passed": passed, "by": "test", "reason": reason}
        found.setdefault(name, Recorded(Verdict, verdict, SAME))
    return found


def _failed_assertion(trace: str | None) -> str:
    """What pytest says went wrong: the message of a report only says in which phase."""
    lines = (trace or "").splitlines()
    return "\n".join(line[1:].strip() for line in lines if line.startswith("E  ")).strip()


def _graph(task: str, tests: dict[str, None]) -> PlanGraph | None:
    """Tests of one file go without its name in their titles: it is the same for all of them."""
    if not tests:
        return None
    files = {name.partition("::")[0] for name in tests}
    titled = [(name, name.partition("::")[2] if len(files) == 1 else name) for name in tests]
    titled = [(name, title or name) for name, title in titled]  # a test may be named without its file
    return verdict_graph(f"harbor-{task}", titled, tasks=task_globs(task), format="harbor")


def _run(trial: _Trial, result: dict[str, Any], config: dict[str, Any]) -> TraceRun:
    log = trial.log(trial.main)
    trace_run = trial.trace_run()
    run = trace_run or TraceRun(run_id="", agent="unknown-agent", record=result)
    if trace_run is None:
        message = "there is no trajectory and no log of the agent that can be read: no actions are known"
        log.findings.add("missing-trajectory", message, run=trial.name)
    info, outcome = mapping(result.get("agent_info")), mapping(result.get("agent_result"))
    agent = text(info.get("name")) or text(mapping(config.get("agent")).get("name")) or run.agent
    configured = mapping(mapping(result.get("config")).get("agent")), mapping(config.get("agent"))
    model = text(mapping(info.get("model_info")).get("name")) or first_text(configured, ("model_name",))
    model = model or run.model
    reward = trial.reward(result)
    exception = mapping(result.get("exception_info"))
    raised = text(exception.get("exception_type"))
    run.run_id = trial.name
    run.record = run.origin = result
    run.agent = f"{agent}/{model}" if model else agent
    run.model = model
    run.version = text(info.get("version")) or run.version
    task = mapping(config.get("task"))
    task_name = text(task.get("name")) or PurePosixPath(text(task.get("path")) or "").name
    run.task_id = text(result.get("task_name")) or task_name or trial.name
    run.success = None if reward is None else abs(reward - 1) < SUCCESS_WITHIN
    run.cost = amount(outcome.get("cost_usd"), log.findings, "agent_result.cost_usd")
    run.started = moment(result.get("started_at"), log.findings, "started_at") or run.started
    run.finished = moment(result.get("finished_at"), log.findings, "finished_at") or run.finished
    run.error = ": ".join(p for p in (raised, text(exception.get("exception_message"))) if p) or None
    run.limit = "time" if raised and "Timeout" in raised else None
    run.metrics |= totals([outcome], TOKENS, log.findings, "agent_result.")
    run.metrics |= {} if reward is None else {"reward": reward}
    run.metadata = {"format": "harbor", "source": text(result.get("source")) or "", **run.metadata}
    run.metadata["format"] = "harbor"  # the trajectory has one of its own
    return run


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    read: list[tuple[_Trial, TraceRun]] = []
    tests: dict[str, dict[str, None]] = defaultdict(dict)
    for trial in _trials(sources, intake):
        with intake.contained(trial.log(trial.main)):
            if (run := _trial_run(trial)) is not None:
                verdicts = _tests(trial.document("verifier/ctrf.json"))
                if not verdicts:
                    message = "no test report: only the reward records the outcome"
                    trial.log(trial.main).findings.add("missing-test-report", message, severity="note")
                run.items += verdicts.values()
                tests[run.task_id] |= dict.fromkeys(verdicts)  # all trials of a task have one plan
                read.append((trial, run))
    for trial, run in read:
        log = trial.log(trial.main)
        with intake.contained(log):
            run.graph = _graph(run.task_id, tests[run.task_id])
            others = [other for other in trial.logs.values() if other is not log]
            write_traces([run], trial.name, intake=intake, log=log, about=others)


def _trial_run(trial: _Trial) -> TraceRun | None:
    """The run of a trial; ``None``, with a finding, for what is no trial."""
    log = trial.log(trial.main)
    result, config = trial.document(RESULT), trial.document(CONFIG)
    if not text(result.get("task_name")):
        if not text(config.get("trial_name")):
            log.findings.add("not-this-format", "no task name: not a Harbor trial result", severity="error")
            return None
        message = "no result of the trial: its configuration names task and agent"
        log.findings.add("missing-result", message, run=trial.name)
    return _run(trial, result, config)


IMPORTER: Final = importer(
    name="harbor",
    title="Harbor trials",
    extensions=(".json", ".txt", ".jsonl"),
    what="Trial folders: trajectory, reward and exception; the tests of the verifier are the sub-goals.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=_convert,
    companions=(CONFIG, "trial.log", "exception.txt", "agent/*", "verifier/*"),
    agent=("agent_info.name", "agent_info.model_info.name"),
    model=("agent_info.model_info.name", "config.agent.model_name"),
    version=("agent_info.version", "(the trajectory's)"),
    task=("task_name",),
    outcome=("verifier_result.rewards.reward",),
    tokens=("agent_result.n_input_tokens", "agent_result.n_output_tokens"),
    cost=("agent_result.cost_usd",),
    time=("started_at", "finished_at"),
)
