"""How each skill is carried out: the calls it makes, and what it leaves in the notes.

A skill returns whether it succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sample_runs.refund_desk.case import Case
from sample_runs.refund_desk.wording import closing
from sample_runs.refund_desk.world import POLICIES as POLICY_TABLE

Skill = Callable[[Case], bool]
TOPICS = frozenset(row[0] for row in POLICY_TABLE)
RECALLED_DAYS = 30


def classify_by_keywords(case: Case) -> bool:
    answer = case.call("identify_intent", "intent", text=case.notes.body)
    return answer.ok and _note_intent(case, answer.content["intent"])


def ask_customer(case: Case) -> bool:
    answer = case.call("ask_customer", "intent", question="What went wrong with it?")
    return answer.ok and _note_intent(case, answer.content["intent"])


def _note_intent(case: Case, intent: str) -> bool:
    case.notes.intent = intent
    if case.policy.logs_intent:
        case.note(intent=intent)
    return intent != "unknown"


def search_by_number(case: Case) -> bool:
    answer = case.call("search_orders", "order", order_id=case.notes.order_ref or "unknown")
    if not answer.ok:
        return False
    (order,) = answer.content
    if case.policy.checks_owner and order["email"] != case.notes.email:
        return False
    return _note_order(case, order)


def search_by_email(case: Case) -> bool:
    """Of several orders, take the one whose item the customer names, else the latest."""
    answer = case.call("search_orders", "order", email=case.notes.email)
    if not answer.ok:
        return False
    body = case.notes.body.lower()
    named = [order for order in answer.content if order["item"] in body]
    named = named or [order for order in answer.content if order["item"].split()[-1] in body]
    return _note_order(case, (named or answer.content)[-1])


def _note_order(case: Case, order: Mapping[str, Any]) -> bool:
    case.notes.order = order
    case.note(order=order["id"])
    return True


def topic(case: Case) -> str:
    """The policy a ticket falls under: its intent's, else its goods', else the general one."""
    category = case.notes.order["category"] if case.notes.order else "unknown"
    return next((name for name in (case.notes.intent, category) if name in TOPICS), "general")


def read_policy(case: Case) -> bool:
    answer = case.call("read_policy", "policy", topic=topic(case))
    if answer.ok:
        case.notes.policy = answer.content
        case.note(policy=answer.content["id"])
    return answer.ok


def recall_policy(case: Case) -> bool:
    """Thirty days, whatever the goods: what everybody remembers."""
    case.notes.recalled = True
    case.note(policy="from memory")
    return True


def check_eligibility(case: Case) -> bool:
    order, policy = case.notes.order, case.notes.policy
    answer = case.call(
        "check_eligibility",
        "eligibility",
        order_id=order["id"] if order else case.notes.order_ref or "unknown",
        policy=policy["id"] if policy else "general",
    )
    return answer.ok and _note_decision(case, answer.content["decision"], answer.content["cents"])


def judge_by_hand(case: Case) -> bool:
    """Compare the days, and forget VIP terms, limits, fees and sales."""
    order, policy = case.notes.order, case.notes.policy
    if order is None:
        decision, cents, why = "escalate", 0, "no order on file"
    else:
        allowed, days = policy["days"] if policy else RECALLED_DAYS, order["days_since_delivery"] or 0
        decision, cents = ("refund", order["cents"]) if days <= allowed else ("escalate", 0)
        why = f"{days} of {allowed} days"
    case.call("record_decision", "eligibility", decision=decision, cents=cents, why=why)
    return _note_decision(case, decision, cents)


def _note_decision(case: Case, decision: str, cents: int) -> bool:
    case.notes.decision, case.notes.cents = decision, cents
    case.note(decision=decision)
    return True


def issue_refund(case: Case) -> bool:
    order = case.notes.order
    cents = case.notes.cents or (order["cents"] if order else 0)
    order_id = order["id"] if order else case.notes.order_ref or "unknown"
    answer = case.call("issue_refund", "refund", order_id=order_id, cents=cents)
    return answer.ok and _note_refund(case, cents)


def look_first(case: Case) -> bool:
    """Before paying again: was it paid after all?"""
    order = case.notes.order
    if order is None:
        return issue_refund(case)
    cents = case.notes.cents or order["cents"]
    answer = case.call("list_refunds", "refund", order_id=order["id"])
    if answer.ok and cents in answer.content:
        return _note_refund(case, cents)
    return answer.ok and issue_refund(case)


def _note_refund(case: Case, cents: int) -> bool:
    case.notes.decision = "refund"
    case.note(refunded_cents=cents)
    return True


def escalate(case: Case) -> bool:
    policy = case.notes.policy
    answer = case.call("escalate", "escalate", queue=policy["queue"] if policy else "returns")
    if answer.ok:
        case.notes.decision = "escalate"
        case.note(escalated=True)
    return answer.ok


def offer_voucher(case: Case) -> bool:
    return case.call("offer_voucher", None, cents=case.notes.cents).ok


def confirm_now(case: Case) -> bool:
    about = case.notes.decision or "refund"
    answer = case.call("send_confirmation", "confirmation", channel="email", about=about)
    if answer.ok:
        case.say("assistant", closing(about, case.tone))
    return answer.ok


def verify_first(case: Case) -> bool:
    """See that the money has gone out before saying so."""
    return (case.notes.decision != "refund" or look_first(case)) and confirm_now(case)


SKILLS: dict[str, dict[str, Skill]] = {
    "intent": {"classify_by_keywords": classify_by_keywords, "ask_customer": ask_customer},
    "order": {"search_by_number": search_by_number, "search_by_email": search_by_email},
    "policy": {"read_policy": read_policy, "recall_policy": recall_policy},
    "eligibility": {"check_eligibility": check_eligibility, "judge_by_hand": judge_by_hand},
    "resolution": {"issue_refund": issue_refund, "escalate": escalate, "offer_voucher": offer_voucher},
    "confirmation": {"confirm_now": confirm_now, "verify_first": verify_first},
}
