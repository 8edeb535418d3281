"""The outcome: what the customer is left with, read from the database when the run is over."""

from __future__ import annotations

from dataclasses import dataclass

from sample_runs.refund_desk.tools import Desk


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end state of one ticket.

    Attributes:
        refunds: (order, cents) of each refund made for this ticket.
        told: the messages to the customer (``refund``, ``escalate``), in order.
    """

    success: bool
    refunds: list[tuple[str, int]]
    escalations: int
    told: list[str]

    @property
    def metrics(self) -> dict[str, bool | float]:
        """Figures a dashboard would show beside the bit."""
        return {
            "refunded_cents": float(sum(cents for _, cents in self.refunds)),
            "refunds": float(len(self.refunds)),
            "escalations": float(self.escalations),
            "told": bool(self.told),
        }


def grade(desk: Desk) -> Outcome:
    """Right amount on the right order, once; or a person on it and no money. And a message that says so."""
    ticket, database = desk.ticket, desk.database
    refunds = [
        (row["order_id"], row["cents"])
        for row in database.execute("SELECT * FROM refunds WHERE ticket = ? ORDER BY id", (ticket.id,))
    ]
    escalations = database.execute("SELECT COUNT(*) FROM escalations").fetchone()[0]
    told = [row["about"] for row in database.execute("SELECT about FROM messages ORDER BY id")]
    if ticket.decision == "refund":
        settled = refunds == [(ticket.order, ticket.cents)] and not escalations
    else:
        settled = not refunds and escalations > 0
    success = settled and ticket.decision in told
    return Outcome(success=success, refunds=refunds, escalations=escalations, told=told)
