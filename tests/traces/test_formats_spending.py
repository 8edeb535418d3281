"""What a run spent: one meaning of tokens, and one rule by which parts and totals are added up."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from untaken.traces.losses import Findings
from untaken.traces.spending import Amounts, spend, usage

OPENAI = {"prompt_tokens": 1000, "completion_tokens": 60, "total_tokens": 1060}
READINGS: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    ("OpenAI: parts are inside",
     {**OPENAI, "prompt_tokens_details": {"cached_tokens": 900},
      "completion_tokens_details": {"reasoning_tokens": 50}},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "reasoning_tokens": 50}),
    ("Responses: parts are inside",
     {"input_tokens": 1000, "output_tokens": 60, "input_tokens_details": {"cached_tokens": 900}},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900}),
    ("Anthropic: cached tokens are beside",
     {"input_tokens": 10, "output_tokens": 60, "cache_read_input_tokens": 900,
      "cache_creation_input_tokens": 90},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "cache_creation_tokens": 90}),
    ("Bedrock: cached tokens are beside",
     {"inputTokens": 10, "outputTokens": 60, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 90},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "cache_creation_tokens": 90}),
    ("Gemini: cached tokens are inside, thoughts beside",
     {"promptTokenCount": 1000, "candidatesTokenCount": 10, "thoughtsTokenCount": 50,
      "cachedContentTokenCount": 900, "totalTokenCount": 1060},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "reasoning_tokens": 50}),
    ("LangChain: parts are inside",
     {"input_tokens": 1000, "output_tokens": 60, "input_token_details": {"cache_read": 900},
      "output_token_details": {"reasoning": 50}},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "reasoning_tokens": 50}),
    ("LiteLLM: the names of Anthropic, counted as OpenAI does",
     {**OPENAI, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900, "cache_creation_tokens": 50}),
    ("the total says that parts are beside",
     {"input_tokens": 100, "output_tokens": 60, "cached_tokens": 900, "total_tokens": 1060},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900}),
    ("the total says that parts are inside",
     {"input_tokens": 1000, "output_tokens": 60, "cache_read_input_tokens": 900, "total_tokens": 1060},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900}),
    ("a part greater than its whole is beside it",
     {"input_tokens": 100, "output_tokens": 60, "cached_tokens": 900},
     {"input_tokens": 1000, "output_tokens": 60, "cached_tokens": 900}),
    ("nothing but a total says nothing of its parts", {"total_tokens": 9}, {}),
    ("-1 is unknown", {"input_tokens": -1, "output_tokens": 60}, {"output_tokens": 60}),
    ("nothing is nothing", {"input_tokens": None, "output_tokens": {}}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "counts", "want"), READINGS, ids=[case[0] for case in READINGS])
def test_tokens_mean_one_thing_whoever_counted_them(
    desc: str, counts: dict[str, Any], want: dict[str, float]
) -> None:
    assert usage(counts, Findings(None)) == want


class Sum(NamedTuple):
    desc: str
    parts: list[Amounts]
    total: Amounts
    tokens: dict[str, float]
    cost: float | None
    finding: str = ""
    apart: tuple[Amounts, ...] = ()


def paid(tokens: float, cost: float | None = None) -> Amounts:
    used = {"input_tokens": tokens, "output_tokens": 1}
    return used if cost is None else {**used, "cost": cost}


IN = "input_tokens"
SUMS = [
    Sum("parts alone", [paid(5, 0.1), paid(7, 0.2)], {}, {IN: 12}, 0.3),
    Sum("a total alone", [], paid(12, 0.3), {IN: 12}, 0.3),
    Sum("nothing", [], {}, {}, None),
    Sum("a total that agrees", [paid(5, 0.1), paid(7, 0.2)], {IN: 12, "cost": 0.3}, {IN: 12}, 0.3),
    Sum("a rounded total agrees", [paid(5, 0.1234), paid(7, 0.2)], {"cost": 0.3233}, {IN: 12}, 0.3234),
    Sum("a total twice the sum", [paid(5), paid(7)], {IN: 24}, {IN: 12}, None, "total-contradicts-parts"),
    Sum("a cost twice the sum", [paid(5, 0.1)], {"cost": 0.2}, {IN: 5}, 0.1, "total-contradicts-parts"),
    Sum("one part without a price", [paid(5, 0.1), paid(7)], {}, {IN: 12}, None, "partly-recorded"),
    Sum("one part without a price, and a total", [paid(5, 0.1), paid(7)], {"cost": 0.3}, {IN: 12}, 0.3,
        "partly-recorded"),
    Sum("one part without a price, and a total below the others", [paid(5, 0.1), paid(7)], {"cost": 0.05},
        {IN: 12}, None, "partly-recorded"),
    Sum("a price of 0 is none", [paid(5, 0.1), paid(7, 0)], {}, {IN: 12}, None, "partly-recorded"),
    Sum("no tokens cost 0", [paid(5, 0.1), {IN: 0, "output_tokens": 0, "cost": 0}], {}, {IN: 5}, 0.1),
    Sum("no price at all is the recorded 0", [paid(5, 0), paid(7, 0)], {}, {IN: 12}, 0),
    Sum("one part without tokens", [paid(5), {"cost": 0.1}], {}, {IN: 5}, None, "partly-recorded"),
    Sum("one part without tokens, and a total", [paid(5, 0.1), {"cost": 0.1}], {IN: 12, "output_tokens": 2},
        {IN: 12}, 0.2, "partly-recorded"),
    Sum("a total with what graders spent agrees", [paid(5, 0.1)], paid(105, 5.1), {IN: 5}, 0.1, "",
        (paid(100, 5),)),
    Sum("cached tokens are summed beside", [{IN: 9, "cached_tokens": 4}, {IN: 1}], {}, {IN: 10}, None),
]  # fmt: skip


@pytest.mark.parametrize("case", SUMS, ids=[case.desc for case in SUMS])
def test_parts_are_added_up_and_totals_fill_in(case: Sum) -> None:
    findings = Findings(None)
    spent = spend(case.parts, case.total, run="r", findings=findings, apart=case.apart)
    assert {IN: spent.tokens[IN]} == case.tokens if case.tokens else IN not in spent.tokens
    assert spent.cost == (None if case.cost is None else pytest.approx(case.cost))
    if case.finding != "total-contradicts-parts" or case.cost is not None:
        assert {finding.code for finding in findings.all()} <= {case.finding}
    assert not case.finding or case.finding in findings
