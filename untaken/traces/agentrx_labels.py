"""AgentRx' label files: the steps at which people say that runs went wrong, for runs of whatever format.

A file is a JSON list of {trajectory_id, failures [{failure_id, step_number, step_reason, failure_category,
failed_agent}], root_cause {failure_id, reason_for_root_cause}}. `trajectory_id` is the `task_id` of a
tau-bench record or the `question_ID` of a Who&When record. `step_number` counts the messages of the
trajectory from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from untaken.ledger import (
    BLAMED,
    Draft,
    Evidence,
    Message,
    ModeAssignment,
    Observation,
    ReviewNote,
    ToolCall,
    Verdict,
)
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog, clip
from untaken.traces.readings import cut_name, mapping, objects, text, whole
from untaken.traces.recording import EPOCH, TICK
from untaken.traces.sources import Source
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import TraceRun
from untaken.traces.who_and_when_texts import first_line

AUTHOR: Final = "human:agentrx"
MODES: Final = {
    "instruction adherence failure": "instruction-not-followed",
    "instruction/plan adherence failure": "instruction-not-followed",
    "invention of new information": "information-invented",
    "invalid invocation": "invalid-call",
    "misinterpretation of tool output": "tool-output-misread",
    "intent plan misalignment": "wrong-plan",
    "intent-plan misalignment": "wrong-plan",
    "underspecified user intent": "request-unclear",
    "intent not supported": "request-unsupported",
    "guardrails triggered": "guardrail-triggered",
    "system failure": "system-failure",
}
"""Categories, in the spellings of the label files, and the ids of the preset `agentrx` of failure modes."""
QUOTE_CHARS: Final = 200
LABELS: Final = Places(
    kept=[
        "[].trajectory_id",
        *under("[].failures[].", "failure_id step_number step_reason failure_category failed_agent"),
        *under("[].root_cause.", "failure_id reason_for_root_cause"),
    ],
    dropped=["[].failures[].category_reason", "[].failure_summary"],
)


class AgentRxLabels(Struct):
    """The labels of all files, by task; `met` names those with a run."""

    by_task: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    logs: dict[str, FileLog] = msgspec.field(default_factory=dict)
    met: set[str] = msgspec.field(default_factory=set)

    def read(self, sources: Iterable[Source], intake: Intake) -> list[Source]:
        """Takes the label files in, and returns the others: labels are events after the end of a run."""
        others = []
        for source in sources:
            intake.step(source.name)
            if self._is_read(source, intake):
                intake.step(source.name)  # the pass over runs, of which it has none
            else:
                others.append(source)
        return others

    def _is_read(self, source: Source, intake: Intake) -> bool:
        """Takes a label file in; false for a file that is none."""
        # Under an account that no report lists: it may be no label file.
        peeked = intake.reader(source, FileLog(source.name))
        first = next(iter(peeked.values()), None) if peeked else None
        if first is None or "trajectory_id" not in mapping(first.value):
            return False
        file = TraceFile.opened(source, intake, LABELS)
        if file is None:
            return True
        refusal = "label {} names no run"
        for record in file.records_that(lambda one: bool(text(one.get("trajectory_id"))), refusal, "[]"):
            task = text(record["trajectory_id"]) or ""
            if task not in self.by_task:
                self.by_task[task], self.logs[task] = record, file.log
                continue
            same = "the same labels" if self.by_task[task] == record else "other labels, which count,"
            message = f"{same} of {clip(task)} are in {clip(self.logs[task].name)}"
            file.findings.add("duplicate-label", message)
        return True

    def add_to(
        self,
        run: TraceRun,
        task: str | None,
        items: Sequence[int],
        log: FileLog,
        *,
        spelled: Callable[[str], str] = str,
    ) -> None:
        """Adds the labels of a run, after its end; nothing where it has none.

        Args:
            run: a run.
            task: what labels call it.
            items: of each message, the number of its first item.
            log: of its file.
            spelled: an agent's name as the run spells it.
        """
        if task is not None and (label := self.by_task.get(task)) is not None:
            self.met.add(task)
            run.files = [log, self.logs[task]]

            def labelled(drafts: Sequence[Draft], places: Sequence[int]) -> Iterator[Draft]:
                at = [places[item] for item in items]
                return _labelled(run, label, drafts, at, spelled)

            run.closing.append(labelled)

    def unmet(self) -> None:
        """Names, in each file, the labels without a run."""
        # A file's log is there for each task.
        for log in {id(each): each for each in self.logs.values()}.values():
            left = [task for task, its in self.logs.items() if its is log and task not in self.met]
            if left:
                message = (
                    f"{len(left)} labels speak of no run that was read ({', '.join(map(clip, left[:3]))})"
                )
                log.findings.add("label-without-run", message, hint="Convert labels and runs together.")


def _labelled(
    run: TraceRun,
    label: dict[str, Any],
    drafts: Sequence[Draft],
    places: Sequence[int],
    spelled: Callable[[str], str],
) -> Iterator[Draft]:
    """Each labelled step as a failure mode and a note at its event; the root cause as a verdict instead."""
    log = run.files[0]
    root = whole(mapping(label.get("root_cause")).get("failure_id"), log.findings, "root_cause.failure_id")
    now = (drafts[-1].ts or EPOCH) + TICK
    for failure in objects(label.get("failures")):
        step = whole(failure.get("step_number"), log.findings, "[].failures[].step_number")
        category = text(failure.get("failure_category")) or "no category"
        reason = text(failure.get("step_reason")) or "no reason given"
        mode = MODES.get(category.casefold())
        evidence = None
        if step is not None and 1 <= step <= len(places):  # label files count from 1
            evidence = [_evidence(drafts, places[step - 1])]
        else:
            message = f"step_number {clip(step)} is no message of the trajectory (1 to {len(places)})"
            log.findings.add("label-out-of-range", message, run=run.run_id)
        at = {"event": evidence[0].seq} if evidence else {}
        if failure.get("failure_id") != root:
            words = reason if mode else f"{category}: {reason}"  # the mode says the category already
            yield Draft(ReviewNote, {"author": AUTHOR, "text": f"Step {step}: {words}", **at}, now)
        if mode is not None:
            yield Draft(ModeAssignment, {"mode": mode, "by": AUTHOR, "reason": reason, **at}, now)
        if failure.get("failure_id") == root:
            blamed = spelled(text(failure.get("failed_agent")) or "the agent")
            verdict = {
                "sub_goal": cut_name(f"{BLAMED}{blamed}"),
                "passed": False,
                "by": AUTHOR,
                "evidence": evidence,
                "reason": f"{category}: {reason}",
            }
            yield Draft(Verdict, verdict, now)


def _evidence(drafts: Sequence[Draft], place: int) -> Evidence:
    """The message at a place, or the call that it made."""
    for seq, draft in enumerate(drafts[place:], start=place):
        if draft.event is ToolCall:
            return Evidence(seq=seq, quote=draft.fields["tool"])
        if draft.event in (Message, Observation):
            content = draft.fields["content"]
            return Evidence(seq=seq, quote=first_line(content, QUOTE_CHARS))
    return Evidence(seq=place, quote="")
