"""Which recorded calls a tool-call check fits (§4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from untaken.annotating.mapping_summary import EXAMPLES, Example
from untaken.ledger import Run
from untaken.plans import ToolCallSpec, call_counts, call_matches

LOOKED_AT: Final = 20_000
"""Calls of the tool that are compared at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMatches:
    """The calls of one tool, compared with an expected call.

    Attributes:
        runs: how many hold a call that counts; `calls`: calls of the tool that were compared.
        counting: calls that match and complete the sub-goal, those without a recorded answer included.
        failed: calls that match, but whose answer does not count.
        unclear: calls that match, but whose answer is asked for and not recorded.
        examples: the first calls that count; `misses`: the first that match and do not count,
            else the first others.
    """

    runs: int
    calls: int
    counting: int
    failed: int
    unclear: int
    examples: tuple[Example, ...]
    misses: tuple[Example, ...]


def matched_calls(runs: Iterable[Run], spec: ToolCallSpec) -> CallMatches:
    """Compare the calls of the runs with an expected call of a valid graph."""
    counting: list[Example] = []
    refused: list[Example] = []
    others: list[Example] = []
    holding: set[str] = set()
    unclear = calls = 0
    for run in runs:
        for call in run.actions:
            if call.tool != spec.name or calls == LOOKED_AT:
                continue
            calls += 1
            example = Example(digest=run.digest, run_id=run.run_id, seq=call.seq, call=call)
            if not call_matches(spec, call):
                others.append(example)
                continue
            counts = call_counts(spec, run.answers.get(call.seq))
            if counts or (counts is None and spec.answer is None):
                counting.append(example)
                holding.add(run.digest)
            else:
                refused.append(example)
                unclear += counts is None
    return CallMatches(
        runs=len(holding),
        calls=calls,
        counting=len(counting),
        failed=len(refused) - unclear,
        unclear=unclear,
        examples=tuple(counting[:EXAMPLES]),
        misses=tuple((refused or others)[:EXAMPLES]),
    )
