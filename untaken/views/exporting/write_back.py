"""Results on a run in the forms in which the tools that its trace came from take them back.

Each line is the body of one request (Langfuse, Phoenix), or one edit (Inspect). What was recorded there
already, the outcome, is left out, and so is what is unscored. The same results have the same ids, so that
writing them back again replaces them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from untaken.ledger import Run
from untaken.views.exporting.evaluations import UNSCORED, EvaluatedRun, Evaluation

BATCH: Final = 100
"""Results in one request."""
LANGFUSE: Final = ("langfuse/", "otel/")
"""How ids of runs begin of which Langfuse may have the trace: it takes OpenTelemetry spans, too."""
PHOENIX: Final = ("otel/",)
HEX: Final = 32
"""Digits of a trace id of OpenTelemetry."""
_KINDS: Final = {"human": "HUMAN", "judge": "LLM"}


def trace_of(run: Run, starts: Sequence[str]) -> str | None:
    """The trace that a run was converted from, as its tool calls it; ``None`` for other runs."""
    start = next((start for start in starts if run.run_id.startswith(start)), None)
    if start is None:
        return None
    trace = run.run_id.removeprefix(start)
    as_number = trace.isdecimal() and len(trace) > HEX  # some exporters write ids as decimal numbers
    return f"{int(trace):0{HEX}x}" if as_number and start in PHOENIX else trace


def inspect_sample_of(run: Run) -> tuple[str, str, int] | None:
    """The run of Inspect, the sample and the epoch that a run was converted from."""
    kind, _, rest = run.run_id.partition("/")
    parts = rest.partition("/")
    sample, _, epoch = parts[2].rpartition("/")
    return (parts[0], sample, int(epoch)) if kind == "inspect" and sample and epoch.isdecimal() else None


def langfuse_lines(runs: Iterable[EvaluatedRun]) -> Iterator[str]:
    """Bodies for ``POST /api/public/ingestion``: scores of traces."""
    for some in _in_batches(runs, LANGFUSE, _langfuse):
        yield _line({"batch": some})


def phoenix_lines(runs: Iterable[EvaluatedRun]) -> Iterator[str]:
    """Bodies for ``POST /v1/trace_annotations``."""
    for some in _in_batches(runs, PHOENIX, _phoenix):
        yield _line({"data": some})


def inspect_lines(runs: Iterable[EvaluatedRun]) -> Iterator[str]:
    """Edits for `inspect_ai.log.edit_score`: arguments by name, with the run that they belong to.

    Inspect takes means of all scores and counts a word as 0: the diagnosis explains the completion there.
    """
    for each in runs:
        if (place := inspect_sample_of(each.run)) is not None:
            why = next(
                (f"{one.label}: {one.explanation}" for one in filter(_is_diagnosis, each.evaluations)), ""
            )
            for one in filter(has_number, each.evaluations):
                explanation = why if one.name == "completion" else one.explanation  # a diagnosis is no number
                yield _line(_inspect(*place, one, explanation))


def _in_batches(
    runs: Iterable[EvaluatedRun],
    starts: Sequence[str],
    made: Callable[[Run, str, Evaluation], dict[str, Any]],
) -> Iterator[Sequence[dict[str, Any]]]:
    found = (
        made(each.run, trace, one)
        for each in runs
        if (trace := trace_of(each.run, starts)) is not None
        for one in filter(is_written, each.evaluations)
    )
    while some := list(islice(found, BATCH)):
        yield some


def has_number(one: Evaluation) -> bool:
    """Whether a result goes back to Inspect: it was not recorded there, and it is not unscored."""
    return one.by != "ledger" and one.value is not None


def is_written(one: Evaluation) -> bool:
    """Whether a result goes back to Langfuse and Phoenix, which take words, too."""
    return has_number(one) or _is_diagnosis(one)


def _is_diagnosis(one: Evaluation) -> bool:
    return one.name == "diagnosis" and one.label != UNSCORED


def _langfuse(run: Run, trace: str, one: Evaluation) -> dict[str, Any]:
    rate = not one.label
    body: dict[str, Any] = {
        # Without the value: what is sent again replaces what was there.
        "id": sha256(f"{run.digest} {one.name} {one.by}".encode()).hexdigest()[:32],
        "traceId": trace,
        "name": one.name,
        "dataType": "CATEGORICAL" if one.value is None else "NUMERIC" if rate else "BOOLEAN",
        "value": one.label if one.value is None else one.value,
        "comment": f"{one.by}: {one.explanation}" if one.explanation else one.by,
        "metadata": _metadata(run, one),
    }
    # With it: the id of an event is for one content, by which Langfuse knows a repeat.
    event = sha256(_line(body).encode()).hexdigest()[:32]
    # The time is the run's, not now: equal runs give equal lines.
    return {"id": event, "type": "score-create", "timestamp": run.events[-1].ts.isoformat(), "body": body}


def _phoenix(run: Run, trace: str, one: Evaluation) -> dict[str, Any]:
    result = {"label": one.label, "score": one.value, "explanation": one.explanation}
    return {
        "trace_id": trace,
        "name": one.name,
        "annotator_kind": _KINDS.get(one.by.partition(":")[0], "CODE"),
        "result": {name: value for name, value in result.items() if value not in (None, "")},
        "metadata": _metadata(run, one),
        "identifier": f"untaken/{one.by}",  # sent again it replaces, per author
    }


def _inspect(run_id: str, sample: str, epoch: int, one: Evaluation, explanation: str) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "sample_id": sample,
        "epoch": epoch,
        "score_name": f"untaken/{one.name}",
        "edit": {
            "value": one.value,
            "explanation": explanation or None,
            "metadata": {"label": one.label, "seq": one.seq},
            "provenance": {"author": one.by, "reason": "written back by Untaken"},
        },
    }


def _metadata(run: Run, one: Evaluation) -> Mapping[str, Any]:
    return {
        "run_id": run.run_id,
        "digest": run.digest,
        "by": one.by,
        "sub_goal": one.sub_goal,
        "seq": one.seq,
    }


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
