"""The tools of the desk: each a query or a change on the order database, each able to fail for a moment."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from random import Random
from typing import Any
from weakref import finalize

from sample_runs.refund_desk.tickets import Decision, Ticket
from sample_runs.refund_desk.world import open_database

OUTAGE = {
    "search_orders": 0.12,
    "read_policy": 0.10,
    "check_eligibility": 0.10,
    "issue_refund": 0.12,
    "escalate": 0.08,
    "list_refunds": 0.08,
    "send_confirmation": 0.10,
    "identify_intent": 0.03,
}
"""How often a tool times out. A customer who does not reply is no outage."""

WRITES = frozenset({"issue_refund", "escalate", "send_confirmation"})
COMMITTED_BEFORE_TIMEOUT = 0.5
"""Half of the writes that time out were carried out all the same: who repeats one blindly does it twice."""

NO_REPLY = 0.25

KEYWORDS = {
    "damaged": ("broken", "crack", "damaged", "spoiled"),
    "wrong_item": ("wrong item", "instead of"),
    "not_received": ("never arrived", "lost"),
    "delivery_question": ("where is", "when will"),
    "changed_mind": ("return", "refund", "mind", "no longer", "too small", "too big", "don't like"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool gave back."""

    content: Any
    ok: bool = True
    transient: bool = False


class Refusal(Exception):
    """The tool understood and says no (no such order, nothing found, …)."""


def judge(order: sqlite3.Row, policy: sqlite3.Row, vip: bool, refunded: bool) -> tuple[Decision, int, str]:
    """The desk's rules: refund or escalate, how many cents, and why.

    The days of a policy run from delivery, its last day included; lost parcels have none.
    """
    topic, days = policy["id"], order["days_since_delivery"]
    goods_at_fault = topic in ("damaged", "wrong_item", "not_received")
    fee = policy["opened_fee_percent"] if order["opened"] else 0
    cents = order["cents"] * (100 - fee) // 100
    if not policy["refundable"]:
        return "escalate", 0, "not refundable here"
    if refunded:
        return "escalate", 0, "refunded before"
    if order["final_sale"] and not goods_at_fault:
        return "escalate", 0, "final sale"
    if topic == "not_received" and days is not None:
        return "escalate", 0, "carrier says delivered"
    if days is not None and days > policy["vip_days" if vip else "days"]:
        return "escalate", 0, "outside the window"
    if cents > policy["vip_limit_cents" if vip else "limit_cents"]:
        return "escalate", 0, "above the limit"
    return "refund", cents, "within the policy"


class Desk:
    """One ticket's view of the database, with the tools an agent may call."""

    def __init__(self, ticket: Ticket, weather: str) -> None:
        """Open a fresh database; `weather` seeds the outages, the same ones for every agent."""
        self.ticket = ticket
        self.database = open_database([(ticket.id, ticket.customer, ticket.order_ref, ticket.body)])
        finalize(self, self.database.close)
        self._weather = weather
        self._calls: dict[str, int] = {}

    def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """Call a tool by name: its answer, its refusal, or a timeout."""
        times = self._calls[tool] = self._calls.get(tool, 0) + 1
        luck = Random(f"{self._weather}:{tool}:{times}")
        timed_out = luck.random() < OUTAGE.get(tool, 0.0)
        if timed_out and not (tool in WRITES and luck.random() < COMMITTED_BEFORE_TIMEOUT):
            return Answer(content="timeout", ok=False, transient=True)
        try:
            content = getattr(self, tool)(luck, **arguments)
            self.database.commit()
        except Refusal as refusal:
            return Answer(content=str(refusal), ok=False)
        return Answer(content="timeout", ok=False, transient=True) if timed_out else Answer(content=content)

    def read_ticket(self, _luck: Random) -> dict[str, Any]:
        """Who writes, and which order they name."""
        query = "SELECT * FROM tickets JOIN customers ON customers.id = customer WHERE tickets.id = ?"
        row = self._row(query, self.ticket.id)
        return {"order_ref": row["order_ref"], "email": row["email"], "vip": bool(row["vip"])}

    def identify_intent(self, _luck: Random, text: str) -> dict[str, Any]:
        """The intent with the most keywords in the text; the first listed wins a tie."""
        hits = {intent: sum(word in text.lower() for word in words) for intent, words in KEYWORDS.items()}
        best = max(hits, key=lambda intent: hits[intent])
        return {"intent": best if hits[best] else "unknown", "hits": hits[best]}

    def ask_customer(self, luck: Random, question: str) -> dict[str, Any]:
        """The customer knows what they want, but does not always reply."""
        if luck.random() < NO_REPLY:
            raise Refusal("no reply")
        return {"asked": question, "intent": self.ticket.intent}

    def search_orders(
        self, _luck: Random, order_id: str | None = None, email: str | None = None
    ) -> list[dict[str, Any]]:
        """Orders by number, or all of a customer's."""
        rows = self.database.execute(
            "SELECT orders.*, email FROM orders JOIN customers ON customers.id = customer"
            " WHERE orders.id = ? OR email = ? ORDER BY orders.id",
            (order_id, email),
        ).fetchall()
        if not rows:
            raise Refusal("no order found")
        shown = ("id", "email", "item", "category", "cents", "days_since_delivery")
        return [{name: row[name] for name in shown} for row in rows]

    def read_policy(self, _luck: Random, topic: str) -> dict[str, Any]:
        """A policy in full."""
        return dict(self._row("SELECT * FROM policies WHERE id = ?", topic))

    def check_eligibility(self, _luck: Random, order_id: str, policy: str) -> dict[str, Any]:
        """The desk's rules applied to an order."""
        order = self._row("SELECT * FROM orders WHERE id = ?", order_id)
        vip = self._row("SELECT vip FROM customers WHERE id = ?", self.ticket.customer)["vip"]
        refunded = bool(self.list_refunds(_luck, order_id))
        rules = self._row("SELECT * FROM policies WHERE id = ?", policy)
        decision, cents, why = judge(order, rules, vip, refunded)
        return {"decision": decision, "cents": cents, "why": why}

    def record_decision(self, _luck: Random, decision: str, cents: int, why: str) -> str:
        """A decision reached without the rules engine, noted for the file."""
        return f"noted: {decision} {cents}, {why}"

    def issue_refund(self, _luck: Random, order_id: str, cents: int) -> dict[str, Any]:
        """Pay back. Nothing stops a second refund: that is the agent's business."""
        self._row("SELECT * FROM orders WHERE id = ?", order_id)
        if cents <= 0:
            raise Refusal("no amount given")
        self.database.execute(
            "INSERT INTO refunds (order_id, cents, ticket) VALUES (?,?,?)", (order_id, cents, self.ticket.id)
        )
        return {"refunded": cents}

    def list_refunds(self, _luck: Random, order_id: str) -> list[int]:
        """Refunds on an order, in cents."""
        rows = self.database.execute("SELECT cents FROM refunds WHERE order_id = ? ORDER BY id", (order_id,))
        return [row["cents"] for row in rows]

    def escalate(self, _luck: Random, queue: str) -> dict[str, Any]:
        """Hand the ticket to a person."""
        self.database.execute("INSERT INTO escalations (ticket, queue) VALUES (?,?)", (self.ticket.id, queue))
        return {"queue": queue}

    def offer_voucher(self, luck: Random, cents: int) -> str:
        """A voucher instead of money."""
        self.send_confirmation(luck, "email", "voucher")
        return f"voucher over {cents} offered"

    def send_confirmation(self, _luck: Random, channel: str, about: str) -> str:
        """Tell the customer what was done."""
        self.database.execute(
            "INSERT INTO messages (ticket, channel, about) VALUES (?,?,?)", (self.ticket.id, channel, about)
        )
        return "sent"

    def _row(self, query: str, key: str) -> sqlite3.Row:
        row = self.database.execute(query, (key,)).fetchone()
        if row is None:
            raise Refusal(f"not found: {key}")
        return row
