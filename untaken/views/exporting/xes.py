"""Runs as an event log for process mining (XES 1.0, IEEE 1849): one trace per run, one event per action."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final
from xml.sax.saxutils import quoteattr

from untaken.ledger import ToolCall
from untaken.views.exporting.evaluations import EvaluatedRun, Evaluation

_HEAD: Final = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xes.features="nested-attributes" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
  <extension name="Organizational" prefix="org" uri="http://www.xes-standard.org/org.xesext"/>
  <extension name="Lifecycle" prefix="lifecycle" uri="http://www.xes-standard.org/lifecycle.xesext"/>
"""
_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, even escaped."""


def xes_log(runs: Iterable[EvaluatedRun]) -> Iterator[str]:
    """The parts of the log, to be written one after the other.

    The activity (``concept:name``) is the tool, ``untaken:sub_goal`` what the action served. A result with a
    number is a float with its label and its explanation inside, any other is a text; an unscored one has no
    number.
    """
    yield _HEAD
    for each in runs:
        yield "  <trace>\n"
        yield from _trace(each)
        for event in each.run.actions:
            yield "    <event>\n"
            yield from _event(event, each)
            yield "    </event>\n"
        yield "  </trace>\n"
    yield "</log>\n"


def _trace(each: EvaluatedRun) -> Iterator[str]:
    run = each.run
    yield _attribute("string", "concept:name", run.run_id)
    yield _attribute("string", "untaken:task_id", run.task_id)
    yield _attribute("string", "untaken:agent", run.agent)
    if run.finished is not None and run.finished.cost is not None:
        yield _attribute("float", "untaken:cost", run.finished.cost)
        yield _attribute("string", "untaken:cost_unit", run.finished.cost_unit)
    for result in each.evaluations:
        yield _result(result)


def _result(result: Evaluation) -> str:
    inner = "".join(
        _attribute("string", f"untaken:{name}", value, indent=8)
        for name, value in (("label", result.label), ("by", result.by), ("explanation", result.explanation))
        if value
    )
    author = f":{result.by}" if result.name.startswith("verdict:") else ""  # keys of a trace are unique
    key = f"untaken:{result.name}{author}"
    if result.value is None:
        return _attribute("string", key, result.label, inner=inner)
    return _attribute("float", key, result.value, inner=inner)


def _event(call: ToolCall, each: EvaluatedRun) -> Iterator[str]:
    answer = each.run.answers.get(call.seq)
    yield _attribute("string", "concept:name", call.tool)
    yield _attribute("date", "time:timestamp", call.ts)
    yield _attribute("string", "org:resource", each.run.agent if call.requestor != "user" else "user")
    yield _attribute("string", "lifecycle:transition", "complete")
    yield _attribute("int", "untaken:seq", call.seq)
    if call.seq in each.served:
        yield _attribute("string", "untaken:sub_goal", "; ".join(each.served[call.seq]))
    if answer is not None and answer.ok is not None:
        yield _attribute("boolean", "untaken:ok", answer.ok)


def _attribute(
    kind: str, key: str, value: str | float | bool | datetime, *, inner: str = "", indent: int = 6
) -> str:
    if isinstance(value, bool):
        value = str(value).lower()
    written = value.isoformat() if isinstance(value, datetime) else str(value)
    start = f"{' ' * indent}<{kind} key={_quoted(key)} value={_quoted(written)}"
    return f"{start}>\n{inner}{' ' * indent}</{kind}>\n" if inner else f"{start}/>\n"


def _quoted(text: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", text))
