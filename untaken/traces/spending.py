"""What a run spent: tokens that mean one thing in every format, and one rule by which they are added up.

`input_tokens` are all tokens that a model read, those out of a cache included; `output_tokens` all that it
wrote, reasoning included. `cached_tokens`, `cache_creation_tokens` and `reasoning_tokens` are parts of them,
beside them. Cost is in US dollars.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from math import isclose
from typing import Any, Final

from msgspec import Struct

from untaken.traces.losses import Findings
from untaken.traces.readings import amount, mapping

Amounts = Mapping[str, float]
"""Figures by name: those of `WHOLES` and `PARTS`, and ``cost``; one that is not recorded is not there."""

WHOLES: Final = ("input_tokens", "output_tokens")
PARTS: Final = {
    "cached_tokens": "input_tokens",
    "cache_creation_tokens": "input_tokens",
    "reasoning_tokens": "output_tokens",
}
"""What a part is a part of."""
USAGE: Final[Mapping[str, tuple[str, ...]]] = {
    "input_tokens": (
        *("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "promptTokenCount"),
        "prompt_token_count",
    ),
    "output_tokens": (
        *("output_tokens", "completion_tokens", "outputTokens", "completionTokens"),
        *("candidatesTokenCount", "candidates_token_count"),
    ),
    "cached_tokens": (
        *("cache_read_input_tokens", "cacheReadInputTokens", "prompt_tokens_details.cached_tokens"),
        *("input_tokens_details.cached_tokens", "input_token_details.cache_read", "cached_input_tokens"),
        *("cachedInputTokens", "inputTokenDetails.cacheReadTokens", "cachedContentTokenCount"),
        "cached_content_token_count",
        *("cache_read_tokens", "cacheReadTokens", "prompt_cache_hit_tokens", "cached_tokens"),
    ),
    "cache_creation_tokens": (
        *("cache_creation_input_tokens", "cacheWriteInputTokens", "input_token_details.cache_creation"),
        *("inputTokenDetails.cacheWriteTokens", "cache_write_tokens", "cacheWriteTokens"),
    ),
    "reasoning_tokens": (
        *("completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens"),
        *("output_token_details.reasoning", "outputTokenDetails.reasoningTokens", "reasoningTokens"),
        *("thoughtsTokenCount", "thoughts_token_count", "reasoning_output_tokens", "reasoning_tokens"),
    ),
    "total_tokens": ("total_tokens", "totalTokens", "totalTokenCount", "total_token_count"),
}
"""The figures of a model's reply, by the names that the services and their libraries give them."""
BESIDE: Final = frozenset(
    (
        *("cache_read_input_tokens", "cacheReadInputTokens", "cache_creation_input_tokens"),
        *("cacheWriteInputTokens", "thoughtsTokenCount", "thoughts_token_count"),
    )
)
"""Names that say that a part is not in its whole: those of Anthropic, Bedrock and Gemini."""
_INSIDE: Final = frozenset(("prompt_tokens", "promptTokens"))
"""Names of a whole that every library counts its parts into."""


class Spending(Struct, frozen=True, kw_only=True):
    """What was spent; `cost` is ``None`` where it is not known."""

    tokens: dict[str, float | bool]
    cost: float | None


def usage(
    counts: Mapping[str, Any],
    findings: Findings,
    names: Mapping[str, tuple[str, ...]] = USAGE,
    *,
    beside: Collection[str] = BESIDE,
    place: str = "",
) -> dict[str, float]:
    """The tokens of one reply, in the one meaning that they have here.

    A total among the names says whether the parts are in their wholes; without one, `beside` does. A part
    that is greater than its whole is beside it. Negative numbers are unknown.

    Args:
        counts: as recorded.
        findings: of the file.
        names: the names of each figure, and of its ``cost`` if it has one, dotted where they lead inside; the
            first that is there counts.
        beside: of these names, those whose figure is recorded outside of its whole.
        place: of `counts`, before the name.
    """
    read: dict[str, tuple[str, float]] = {}
    for figure, keys in names.items():
        for key in keys:
            value = amount(_inside(counts, key), findings, place + key)
            if value is not None:
                read[figure] = (key, value)
                break
    found = {figure: value for figure, (_, value) in read.items()}
    total = found.pop("total_tokens", None)
    apart = {
        whole: sum(value for figure, value in found.items() if PARTS.get(figure) == whole) for whole in WHOLES
    }
    declared = {
        whole: any(
            key in beside and PARTS.get(figure) == whole and read.get(whole, ("",))[0] not in _INSIDE
            for figure, (key, _) in read.items()
        )
        for whole in WHOLES
    }
    outside = _outside(found, apart, declared, total)
    for whole in WHOLES:
        if apart[whole] and outside[whole]:
            found[whole] = found.get(whole, 0) + apart[whole]
    return {figure: value for figure, value in found.items() if figure in (*WHOLES, *PARTS, "cost")}


def _outside(
    found: Amounts, apart: Amounts, declared: Mapping[str, bool], total: float | None
) -> dict[str, bool]:
    """Whether the parts of each whole are outside of it: as the total says, else as declared."""
    sums = sum(found.get(whole, 0) for whole in WHOLES)
    as_declared = tuple(declared[whole] for whole in WHOLES)
    # As declared first: several ways may add up to the total.
    ways = [as_declared, *(way for way in product((False, True), repeat=2) if way != as_declared)]
    for way in ways:
        if any(apart[whole] > found.get(whole, 0) for whole, out in zip(WHOLES, way, strict=True) if not out):
            continue
        counted = sum(apart[whole] for whole, out in zip(WHOLES, way, strict=True) if out)
        if total and sums + counted == total:
            return dict(zip(WHOLES, way, strict=True))
    return {whole: declared[whole] or apart[whole] > found.get(whole, 0) for whole in WHOLES}


def _inside(counts: Mapping[str, Any], key: str) -> Any:
    """The value under a name, or under the parts of a dotted one."""
    if key in counts or "." not in key:
        return counts.get(key)
    at: Any = counts
    for name in key.split("."):
        at = mapping(at).get(name)
    return at


def added(parts: Iterable[Amounts]) -> dict[str, float]:
    """The sum of each figure over the parts that record it."""
    found: dict[str, float] = {}
    for part in parts:
        for figure, value in part.items():
            found[figure] = found.get(figure, 0) + value
    return found


def spend(
    parts: Sequence[Amounts],
    total: Amounts | None = None,
    *,
    run: str,
    findings: Findings,
    priced: Sequence[Amounts] | None = None,
    apart: Sequence[Amounts] = (),
) -> Spending:
    """What the parts of a run spent together, given what is recorded of the whole.

    - Where every part records a figure, it is their sum; a total that contradicts it is named.
    - Where some do not, it is the total; without one, a cost is unknown, and tokens are the sum of those
      that are recorded. Both is named.

    Args:
        parts: each call of a model; a figure that it does not record is not in it.
        total: what is recorded of the run as a whole.
        run: its id, for findings.
        findings: of the file.
        priced: what records the costs, where it is not the same parts.
        apart: what graders and simulated users spent, which a total may include.
    """
    counted_of = partial(_counted, total=total or {}, apart=added(apart), run=run, findings=findings)
    tokens: dict[str, float | bool] = {}
    for whole in WHOLES:
        counted = counted_of(whole, parts)
        for figure in (whole, *(part for part, of in PARTS.items() if of == whole)):
            if figure in counted:
                tokens[figure] = counted[figure]
    cost = counted_of("cost", parts if priced is None else priced).get("cost")
    return Spending(tokens=tokens, cost=cost)


def _counted(
    figure: str, parts: Sequence[Amounts], *, total: Amounts, apart: Amounts, run: str, findings: Findings
) -> Amounts:
    """The sum of the parts, or the total; nothing where a figure is unknown."""
    priced = figure == "cost"
    known = [part for part in parts if (is_priced(part) if priced else part.get(figure) is not None)]
    together, whole = added(known), total.get(figure)
    summed, name = together.get(figure, 0), figure.replace("_", " ")
    if not known:  # a 0 goes on, so that it is named as unpriced
        free = priced and any(part.get("cost") == 0 for part in parts)
        return {"cost": 0, **total} if free else total
    if len(known) == len(parts):
        tolerance = 1e-3 if priced else 0  # prices are rounded
        sums = (summed, summed + apart.get(figure, 0))
        if whole and not any(isclose(whole, each, rel_tol=tolerance) for each in sums):
            message = f"the recorded total of {name} is {whole:.10g}, but its parts add up to {summed:.10g}"
            message += "; the sum of the parts is used"
            findings.add("total-contradicts-parts", message, run=run)
        return together
    missing = f"{len(parts) - len(known)} of {len(parts)} calls of a model record no {name}"
    if whole and whole >= summed:  # a total below what some of them spent is wrong
        message = f"{missing}; the recorded total is used"
        findings.add("partly-recorded", message, run=run, severity="note")
        return total
    rest = "it is unknown" if priced else "those of the others are counted"
    findings.add("partly-recorded", f"{missing}; {rest}", run=run)
    return {} if priced else together


def with_cost(used: Amounts, cost: float | None) -> Amounts:
    """What was used, with its cost where it is recorded."""
    return used if cost is None else {**used, "cost": cost}


def is_priced(used: Amounts) -> bool:
    """Whether a cost is recorded: one of 0 for tokens says that the model has no price."""
    cost = used.get("cost")
    return bool(cost) or (cost == 0 and not any(used.get(whole) for whole in WHOLES))


def amounts(spent: Spending) -> dict[str, float]:
    """Tokens and cost by name; an unknown cost is not there."""
    tokens = {figure: float(value) for figure, value in spent.tokens.items()}
    return tokens if spent.cost is None else {**tokens, "cost": spent.cost}


def left_behind(parts: Sequence[Amounts]) -> dict[str, float | bool]:
    """What was spent on branches that were left, as metrics; what is odd in it is named with the whole."""
    return named_apart("left", spend(parts, run="", findings=Findings(None)))


def named_apart(prefix: str, spent: Spending, steps: int = 0) -> dict[str, float | bool]:
    """What others than the agent did and spent, as metrics under their own names."""
    found = {**amounts(spent), **({"steps": steps} if steps else {})}
    return {f"{prefix}_{figure}": value for figure, value in found.items()}
