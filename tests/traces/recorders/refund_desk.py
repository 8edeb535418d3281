"""What every recorder lets its agent do: look an order up, refund too much (which fails), refund the rest.

Recorders are run by hand, in an environment with the library they record (`pip install` line in each), and
write into ``tests/traces/recorded``. No model is asked: the replies are written down here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent.parent / "recorded"
INSTRUCTIONS = "Refund what was paid, not more."
QUESTION = "Please refund order A7."
ANSWER = "Order A7 is refunded: 30."
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("look_up", {"order": "A7"}),
    ("refund", {"order": "A7", "amount": 40}),
    ("refund", {"order": "A7", "amount": 30}),
)


def look_up(order: str) -> str:
    """What was paid for an order."""
    return f"{order}: paid 30"


def refund(order: str, amount: int) -> str:
    """Pays an amount back."""
    if amount > 30:
        raise ValueError("more than was paid")
    return f"refunded {amount} for {order}"
