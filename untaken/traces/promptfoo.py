"""Results of promptfoo: each prompt and provider on each test is a run, graded by its assertions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.messages import asked, message_items, replied
from untaken.traces.readings import (
    amount,
    first_text,
    items,
    mapping,
    moment,
    number,
    objects,
    parsed,
    text,
    totals,
)
from untaken.traces.sample import Sample
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import TraceRun

TOKENS: Final = {"prompt": "input_tokens", "completion": "output_tokens"}
EXPECTED: Final = ("expected", "expected_output", "target", "answer", "ground_truth")
"""Variables of a test that are commonly the answer."""
EQUALS: Final = ("equals", "icontains", "contains")
"""Assertions whose value is the answer."""
MARKS: Final = frozenset(("gradingResult", "promptIdx", "testIdx", "namedScores"))
"""Names of which a result has two at least."""
OLDER: Final = frozenset(("prompt", "vars", "success", "score"))
"""What a result has in older forms, too."""
_RESULT: Final = (
    *("id", "promptIdx", "testIdx", "provider", "provider.id", "provider.label", "prompt.raw", "vars.**"),
    *("response.output.**", "response.tokenUsage.prompt", "response.tokenUsage.completion", "response.cost"),
    *("response.error", "response.metadata.messages.**", "metadata.messages.**", "success", "score", "cost"),
    *("latencyMs", "namedScores.**", "error", "description", "testCase.description", "testCase.assert.**"),
)
PLACES: Final = Places(
    kept=[*_RESULT, "evalId", "timestamp"],
    dropped=["gradingResult.**", "testCase.**", "response.raw", "response.**", "prompt.**"],
)


def recognise(sample: Sample) -> bool:
    """A table of results under the id of an evaluation, or a result on each line."""
    return any(_is_result(each) for record in sample.records for each in _results(record))


def _is_result(record: Any) -> bool:
    result = mapping(record)
    return (
        "response" in result
        and "provider" in result
        and (len(MARKS & result.keys()) > 1 or result.keys() >= OLDER)
    )


def _results(record: Any) -> list[Any]:
    """The results in a document, of the present form or an older one; a result by itself as it is."""
    document = mapping(record)
    inner = document.get("results")
    found = items(mapping(inner).get("results")) or items(inner)
    return found or items(document.get("outputs")) or [record]


def _run(result: Mapping[str, Any], about: Mapping[str, Any], stem: str, findings: Findings) -> TraceRun:
    provider, response, case = (mapping(result.get(name)) for name in ("provider", "response", "testCase"))
    model = text(provider.get("id")) or text(result.get("provider"))
    evaluation = text(about.get("evalId")) or stem
    place = "-".join(text(result.get(name)) or "0" for name in ("testIdx", "promptIdx"))
    title = text(result.get("description")) or text(case.get("description"))
    raw = parsed(mapping(result.get("prompt")).get("raw"))
    spoken = objects(mapping(result.get("metadata")).get("messages"))
    spoken = spoken or objects(mapping(response.get("metadata")).get("messages"))
    # A conversation says more than its ends.
    messages = spoken or [*asked(raw), *_replies(response.get("output"))]
    began = moment(about.get("timestamp"), findings, "timestamp")
    metrics = totals([mapping(response.get("tokenUsage"))], TOKENS, findings, "response.tokenUsage.")
    scores = {"score": result.get("score"), **mapping(result.get("namedScores"))}
    metrics |= {n: each for n, v in scores.items() if (each := number(v, findings, "score")) is not None}
    if (took := amount(result.get("latencyMs"), findings, "latencyMs")) is not None:
        metrics["total_time"] = took / 1000
    costs = (amount(part.get("cost"), findings, "cost") for part in (result, response))
    target = _target(result, case)
    return TraceRun(
        run_id=f"promptfoo/{evaluation}/{text(result.get('id')) or place}",
        agent=text(provider.get("label")) or model or "unknown-agent",
        model=model,
        task_id=title or f"{stem}-{text(result.get('testIdx')) or place}",  # a number is of its file alone
        record=result,
        items=[item for message in messages for item in message_items(message)],
        started=began,
        success=result["success"] if isinstance(result.get("success"), bool) else None,
        cost=next((cost for cost in costs if cost is not None), None),
        steps=sum(message.get("role") == "assistant" for message in messages) or None,
        # With a response, `error` may only say which assertion failed: that is the outcome, not an error.
        error=text(response.get("error")) or (text(result.get("error")) if not response else None),
        metrics=metrics,
        metadata={"format": "promptfoo", **described(raw, target)},
    )


def _replies(output: Any) -> list[dict[str, Any]]:
    """What a provider gave: a text, calls of tools, or messages."""
    given = parsed(output)
    calls = objects(given if isinstance(given, list) else [given])
    if calls and all("function" in call for call in calls):
        return [{"role": "assistant", "content": None, "tool_calls": calls}]
    found = replied(given) or replied(output if isinstance(output, str) else None)
    return found or ([{"role": "assistant", "content": given}] if given else [])


def _target(result: Mapping[str, Any], case: Mapping[str, Any]) -> str | None:
    """The answer that the test expects, where a variable or an assertion says it."""
    known = first_text([mapping(result.get("vars")), mapping(case.get("vars"))], EXPECTED)
    equal = [each for each in objects(case.get("assert")) if each.get("type") in EQUALS]
    return known or first_text(equal, ("value",))


def _read(file: TraceFile) -> Iterator[TraceRun]:
    for value in file.values():
        document = mapping(value)
        about = {"timestamp": mapping(document.get("results")).get("timestamp"), **document}
        for each in _results(value):
            result = mapping(file.record(each))
            if _is_result(result):
                yield _run(result, about, file.stem, file.findings)
            else:
                file.refuse("a record is no result of promptfoo")


IMPORTER: Final = importer(
    name="promptfoo",
    title="promptfoo results",
    what="Results of promptfoo's evaluations: one run per test, prompt and provider.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=converter(_read, PLACES),
    agent=("results.results[].provider.label", "results.results[].provider.id"),
    model=("results.results[].provider.id",),
    task=("results.results[].description", "results.results[].testIdx"),
    task_text=("results.results[].prompt.raw",),
    target=("results.results[].vars.expected",),
    outcome=("results.results[].success",),
    tokens=(
        "results.results[].response.tokenUsage.prompt",
        "results.results[].response.tokenUsage.completion",
    ),
    cost=("results.results[].cost",),
    time=("results.timestamp",),
)
