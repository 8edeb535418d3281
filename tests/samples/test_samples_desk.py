"""The refund desk does what its annotations say, and its tools really change a database."""

from __future__ import annotations

from collections import Counter

import pytest

from sample_runs.refund_desk.grading import grade
from sample_runs.refund_desk.policies import POLICIES, STEPS
from sample_runs.refund_desk.tickets import TICKETS, Ticket
from sample_runs.refund_desk.tools import OUTAGE, Desk, judge

BY_ID = {ticket.id: ticket for ticket in TICKETS}


@pytest.fixture(autouse=True)
def no_outages(monkeypatch: pytest.MonkeyPatch) -> None:
    for tool in OUTAGE:
        monkeypatch.setitem(OUTAGE, tool, 0.0)


def desk(ticket: str) -> Desk:
    return Desk(BY_ID[ticket], weather="calm")


@pytest.mark.parametrize("ticket", TICKETS, ids=lambda t: t.id)
def test_the_annotated_answer_follows_from_the_rules(ticket: Ticket) -> None:
    at = Desk(ticket, weather="calm")
    order = at.database.execute("SELECT * FROM orders WHERE id = ?", (ticket.order,)).fetchone()
    policy = at.database.execute("SELECT * FROM policies WHERE id = ?", (ticket.policy,)).fetchone()
    vip = at.database.execute("SELECT vip FROM customers WHERE id = ?", (ticket.customer,)).fetchone()["vip"]
    refunded = bool(at.list_refunds(None, ticket.order))  # type: ignore[arg-type]
    assert order["customer"] == ticket.customer
    assert judge(order, policy, vip, refunded)[:2] == (ticket.decision, ticket.cents)


def test_there_are_six_agents_two_of_them_workflows_and_tickets_of_both_kinds() -> None:
    assert Counter(ticket.decision for ticket in TICKETS) == {"refund": 16, "escalate": 8}
    assert Counter(policy.kind for policy in POLICIES) == {"agent": 4, "workflow": 2}
    assert all(set(policy.steps) <= set(STEPS) for policy in POLICIES)


def test_the_right_refund_and_a_word_to_the_customer_is_a_success() -> None:
    at = desk("refund-01")
    at.call("issue_refund", {"order_id": "A1001", "cents": 5990})
    assert not grade(at).success
    at.call("send_confirmation", {"channel": "email", "about": "refund"})
    assert grade(at).success


OUTCOMES = [
    ("paid twice", "refund-01", [("issue_refund", {"order_id": "A1001", "cents": 5990})] * 2, False),
    ("the full price of an opened article", "refund-19",
     [("issue_refund", {"order_id": "A1019", "cents": 8000})], False),
    ("somebody else's order", "refund-13", [("issue_refund", {"order_id": "A1031", "cents": 38000})], False),
    ("paid and escalated", "refund-01",
     [("issue_refund", {"order_id": "A1001", "cents": 5990}), ("escalate", {"queue": "returns"})], False),
    ("nothing done", "refund-01", [], False),
    ("the opened article less the fee", "refund-19",
     [("issue_refund", {"order_id": "A1019", "cents": 6800})], True),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "ticket", "calls", "want"), OUTCOMES, ids=[o[0] for o in OUTCOMES])
def test_the_outcome_is_what_the_customer_is_left_with(
    desc: str, ticket: str, calls: list[tuple[str, dict[str, object]]], want: bool
) -> None:
    at = desk(ticket)
    for tool, arguments in calls:
        at.call(tool, dict(arguments))
    at.call("send_confirmation", {"channel": "email", "about": "refund"})
    assert grade(at).success is want


def test_outages_are_the_same_for_every_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OUTAGE, "search_orders", 0.5)

    def weather() -> list[bool]:
        at = Desk(BY_ID["refund-01"], weather="storm")
        return [at.call("search_orders", {"order_id": "A1001"}).transient for _ in range(50)]

    assert weather() == weather()
    assert set(weather()) == {True, False}


def test_a_write_that_timed_out_may_have_happened_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OUTAGE, "issue_refund", 1.0)
    done = set()
    for seed in range(20):
        at = Desk(BY_ID["refund-01"], weather=str(seed))
        answer = at.call("issue_refund", {"order_id": "A1001", "cents": 5990})
        assert (answer.ok, answer.transient, answer.content) == (False, True, "timeout")
        done.add(len(grade(at).refunds))
    assert done == {0, 1}
