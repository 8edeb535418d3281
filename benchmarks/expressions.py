"""What does an expression cost, and is the bound on its steps a bound?

First table: one ordinary check, against the same comparison written in Python by hand, and how much of it is
the library's own work. The ratio is the median over pairs that alternate in one process with the garbage
collector off.

Second table: the dearest state of each kind that the bound on steps still lets through, found by bisection,
and the time it really takes. The bound is good where no line is above about a second.

    python benchmarks/expressions.py
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import cel

from untaken.errors import Unscored
from untaken.plans import evaluate_expression

PAIRS = 15
TEXT = "ab" * 50_000
REPEATS = 2_000
STATE: dict[str, Any] = {
    "decision": "refund",
    "expected": "refund",
    "order": {"id": "o-1", "lines": [{"sku": "a", "qty": 2}, {"sku": "b", "qty": 1}]},
    "log": ["a line of text"] * 500,
}
CHECKS: list[tuple[str, Callable[[dict[str, Any]], bool]]] = [
    ("state.decision == state.expected", lambda s: s["decision"] == s["expected"]),
    ("state.order.lines.all(x, x.qty > 0)", lambda s: all(x["qty"] > 0 for x in s["order"]["lines"])),
    (
        "size(state.order.lines) == 2 && state.order.id.startsWith('o-')",
        lambda s: len(s["order"]["lines"]) == 2,
    ),
]

State = Callable[[int], dict[str, Any]]
DEAR: list[tuple[str, str, State]] = [
    ("each item sought in all", "state.a.all(x, x in state.a)", lambda n: {"a": list(range(n))}),
    ("each round compares all", "state.a.all(x, state.a == state.a)", lambda n: {"a": list(range(n))}),
    ("filter of numbers", "size(state.a.filter(x, x >= 0)) > 0", lambda n: {"a": list(range(n))}),
    (
        "filter of mappings",
        "size(state.a.filter(x, x.k0 >= 0)) > 0",
        lambda n: {"a": [{f"k{i}": i for i in range(20)}] * n},
    ),
    ("filter of texts", "size(state.a.filter(x, x != '')) > 0", lambda n: {"a": ["x" * 100] * n}),
    ("map to the whole", "size(state.a.map(x, state.a)) > 0", lambda n: {"a": list(range(n))}),
    ("map to a sum of texts", "size(state.a.map(x, x + x + x)) > 0", lambda n: {"a": ["x" * 100] * n}),
    ("long sum", f"size({'+'.join(['state.a'] * 60)}) > 0", lambda n: {"a": list(range(n))}),
    ("search in each round", "state.a.all(x, !state.s.contains('ac'))", lambda n: {"a": [1] * n, "s": TEXT}),
    ("slow regex", "!state.s.matches('[ab]*a[ab]{100}c')", lambda n: {"s": "ab" * 50 * n}),
    ("a regex in each round", r"state.a.all(x, x.matches(r'^\w{1,50}$'))", lambda n: {"a": ["word"] * n}),
]  # fmt: skip


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def repeated(once: Callable[[], object]) -> Callable[[], None]:
    def work() -> None:
        for _ in range(REPEATS):
            once()

    return work


def ordinary() -> None:
    print(f"{'check':66} µs  library  × Python")
    for expression, by_hand in CHECKS:
        program = cel.compile(expression)
        needed = {key: STATE[key] for key in STATE if f"state.{key}" in expression}
        ours, bare, python = [], [], []
        for _ in range(PAIRS):
            ours.append(seconds(repeated(lambda e=expression: evaluate_expression(e, STATE))))
            bare.append(seconds(repeated(lambda p=program, s=needed: p.execute({"state": s}))))
            python.append(seconds(repeated(lambda h=by_hand: h(STATE))))
        ratio = statistics.median(a / b for a, b in zip(ours, python, strict=True))
        library = statistics.median(b / a for a, b in zip(ours, bare, strict=True))
        cost = statistics.median(ours) / REPEATS * 1e6
        print(f"{expression:66} {cost:4.1f}  {library:6.0%}  {ratio:6.0f}")


def dearest(expression: str, state: State) -> int:
    """The largest n whose state is still decided."""
    low, high = 1, 20_000
    while low < high:
        middle = (low + high + 1) // 2
        decided = not isinstance(evaluate_expression(expression, state(middle)), Unscored)
        low, high = (middle, high) if decided else (low, middle - 1)
    return low


def bound() -> None:
    print(f"\n{'dearest state let through':32} n      seconds")
    for name, expression, state in DEAR:
        n = dearest(expression, state)
        largest = state(n)
        print(f"{name:32} {n:6d} {seconds(lambda e=expression, s=largest: evaluate_expression(e, s)):8.3f}")


if __name__ == "__main__":
    gc.disable()
    ordinary()
    bound()
