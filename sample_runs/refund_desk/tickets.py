"""The twenty-four tickets, each with what a supervisor says should come of it.

The annotation (`intent` … `cents`) is what a run is graded by; no agent ever sees it. A test holds it against
the desk's own rules, so that the two cannot drift apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Decision = Literal["refund", "escalate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A customer's message and the right answer to it.

    Attributes:
        order_ref: the order number the customer typed, which may be missing or wrong.
        intent, order, policy, decision, cents: the annotated answer; `cents` is 0 for no refund.
        why: the reason for the answer, in words.
    """

    id: str
    customer: str
    order_ref: str | None
    body: str
    intent: str
    order: str
    policy: str
    decision: Decision
    cents: int
    why: str

    @property
    def expected(self) -> dict[str, str | int]:
        """The annotation as state fields, for the checks of the plan graph."""
        return {
            "expected_intent": self.intent,
            "expected_order": self.order,
            "expected_policy": self.policy,
            "expected_decision": self.decision,
            "expected_cents": self.cents,
        }


ROWS = [
    ("C01", "A1001", "The linen shirt is too small, I would like to return it.",
     "changed_mind", "A1001", "general", "refund", 5990, "12 days, within 30"),
    ("C02", "A1002", "These headphones do not suit me, please refund them.",
     "changed_mind", "A1002", "electronics", "escalate", 0, "20 days, electronics have 14"),
    ("C04", "A1003", "I no longer need the jacket. Can I return it?",
     "changed_mind", "A1003", "general", "escalate", 0, "45 days, outside 30"),
    ("C05", "A1004", "The kettle has cracked on its own.",
     "damaged", "A1004", "damaged", "refund", 3990, "41 days, damage has 60"),
    ("C07", "A1005", "I changed my mind about the gift card, money back please.",
     "changed_mind", "A1005", "gift_card", "escalate", 0, "gift cards are not refundable"),
    ("C03", "A1006", "The coat is too big, I would like to return it.",
     "changed_mind", "A1006", "general", "refund", 18900, "44 days, VIP customers have 60"),
    ("C08", "A1070", "I don't like the summer dress after all and want to return it.",
     "changed_mind", "A1007", "general", "refund", 7900, "wrong order number, but 9 days"),
    ("C01", "A1008", "I returned the running shoes and still want my refund.",
     "changed_mind", "A1008", "general", "escalate", 0, "was refunded already"),
    ("C02", "A1009", "The laptop is too big for me. I want to return it, unopened.",
     "changed_mind", "A1009", "electronics", "escalate", 0, "above the desk's limit"),
    ("C04", "A1010", "My cook book never arrived.",
     "not_received", "A1010", "not_received", "refund", 2450, "lost by the carrier"),
    ("C05", "A1011", "The board game has not arrived, please refund.",
     "not_received", "A1011", "not_received", "escalate", 0, "the carrier says it was delivered"),
    ("C07", "A1012", "I got a blue lamp instead of the green lamp.",
     "wrong_item", "A1012", "wrong_item", "refund", 4500, "10 days, wrong items have 30"),
    ("C08", "A1031", "I'd like to return the leather belt, too small.",
     "changed_mind", "A1013", "general", "refund", 2500, "the number typed is somebody else's order"),
    ("C01", "A1014", "I don't like the silk scarf from the sale. Return it?",
     "changed_mind", "A1014", "general", "escalate", 0, "final sale"),
    ("C02", "A1015", "The cheese box arrived spoiled.",
     "damaged", "A1015", "damaged", "refund", 3200, "2 days, damage has 60"),
    ("C04", "A1016", "I no longer want the coffee beans, please refund.",
     "changed_mind", "A1016", "grocery", "refund", 1800, "2 days, groceries have 3"),
    ("C05", None, "I would like to return my rain boots, they are too small.",
     "changed_mind", "A1017", "general", "refund", 6400, "no order number, but 20 days"),
    ("C07", None, "The grey sweater has a hole in the sleeve, it came like that.",
     "damaged", "A1018", "damaged", "refund", 4900, "no order number, two sweaters on file"),
    ("C08", "A1019", "I tried the earbuds and don't like them. Refund please.",
     "changed_mind", "A1019", "electronics", "refund", 6800, "opened electronics: 15% fee"),
    ("C06", "A1020", "The evening bag is too small, I want to return it.",
     "changed_mind", "A1020", "general", "refund", 65000, "above 500, but VIP customers have 1,000"),
    ("C01", "A1021", "The yoga mat is not what I hoped for. Please sort this out.",
     "changed_mind", "A1021", "general", "refund", 4200, "8 days, vaguely worded"),
    ("C02", "A1022", "Where is my bike pump? When will it come?",
     "delivery_question", "A1022", "delivery_question", "escalate", 0, "a question for logistics"),
    ("C04", "A1023", "I'd like to return the camping tent, unused.",
     "changed_mind", "A1023", "general", "refund", 21000, "25 days, within 30"),
    ("C05", "A1024", "I want to return the trousers, they don't fit.",
     "changed_mind", "A1024", "general", "refund", 6900, "the thirtieth day still counts"),
]  # fmt: skip

FIELDS = ("customer", "order_ref", "body", "intent", "order", "policy", "decision", "cents", "why")

TICKETS = [
    Ticket(id=f"refund-{number:02}", **dict(zip(FIELDS, row, strict=True)))  # type: ignore[arg-type]
    for number, row in enumerate(ROWS, start=1)
]
