"""The six agents: what each would do next, as odds over the skills at hand.

Odds need not sum to one; a skill that is not named is never chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Seen = dict[str, str]
Odds = dict[str, float]

STEPS = ("intent", "order", "policy", "eligibility", "resolution", "confirmation")
PLAN = ("intent", "order", "policy", "eligibility", "refund", "confirmation")
ALL_CHOICES = frozenset((*STEPS, "recovery"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """An agent.

    Attributes:
        steps: what it works through; `plan`: what it says it will do.
        odds: its choice among skills, given what it sees.
        price: of one call, in US dollars.
        tags_sub_goals: names the sub-goal in each call; otherwise the plan graph's rules tell.
        checks_owner: looks whether an order found by its number is the customer's.
        logs_choices: steps whose choices it logs. `logs_odds`: with their probabilities.
        logs_intent: writes the intent into the state.
    """

    name: str
    kind: Literal["agent", "workflow"]
    model: str | None
    price: float
    odds: Callable[[Seen], Odds]
    steps: tuple[str, ...] = STEPS
    plan: tuple[str, ...] = PLAN
    replans: bool = False
    tags_sub_goals: bool = False
    checks_owner: bool = False
    repeat_reads: float = 0.0
    repeat_writes: float = 0.0
    logs_choices: frozenset[str] = ALL_CHOICES
    logs_odds: bool = False
    logs_intent: bool = True


def by_the_book(seen: Seen) -> Odds:
    """The straight path through the desk, which the others depart from."""
    match seen["step"]:
        case "intent":
            return {"classify_by_keywords": 1}
        case "order":
            return {"search_by_number": 1} if seen["number"] == "given" else {"search_by_email": 1}
        case "policy":
            return {"read_policy": 1}
        case "eligibility":
            return {"check_eligibility": 1}
        case "resolution":
            return {"issue_refund": 1} if seen["verdict"] == "refund" else {"escalate": 1}
        case "confirmation":
            return {"confirm_now": 1}
        case _:
            return {"retry": 1} if seen["times"] == "once" else {"push_on": 1}


def careful(seen: Seen) -> Odds:
    """Asks about a vague ticket, reads the policy, looks before it pays again, changes route when stuck."""
    match seen["step"]:
        case "intent" if seen["ticket"] == "vague":
            return {"ask_customer": 0.8, "classify_by_keywords": 0.2}
        case "intent":
            return {"ask_customer": 0.1, "classify_by_keywords": 0.9}
        case "order" if seen["number"] == "given":
            return {"search_by_number": 0.8, "search_by_email": 0.2}
        case "policy":
            return {"read_policy": 0.97, "recall_policy": 0.03}
        case "eligibility":
            return {"check_eligibility": 0.95, "judge_by_hand": 0.05}
        case "resolution" if seen["amount"] == "large":
            return {"escalate": 0.3, **by_the_book(seen)}
        case "confirmation":
            return {"verify_first": 0.6, "confirm_now": 0.4}
        case "recovery":
            return {"look_first": 4, "switch_route": 1, "retry": 1, "push_on": 0.1}
    return by_the_book(seen)


def eager(seen: Seen) -> Odds:
    """Wants the ticket closed: remembers the policy instead of reading it, and judges for itself."""
    match seen["step"]:
        case "policy":
            return {"recall_policy": 0.85, "read_policy": 0.15}
        case "eligibility":
            return {"judge_by_hand": 0.85, "check_eligibility": 0.15}
        case "resolution" if seen["verdict"] == "escalate":
            return {"escalate": 0.8, "issue_refund": 0.2}
        case "resolution":
            return {"issue_refund": 0.96, "offer_voucher": 0.04}
        case "recovery":
            return {"retry": 0.7, "push_on": 0.3}
    return by_the_book(seen)


def stubborn(seen: Seen) -> Odds:
    """Does every step of its plan and never another: a failure or an unwelcome answer changes nothing."""
    match seen["step"]:
        case "policy":
            return {"read_policy": 0.9, "recall_policy": 0.1}
        case "eligibility":
            return {"check_eligibility": 0.9, "judge_by_hand": 0.1}
        case "resolution" if seen["verdict"] != "refund":
            return {"issue_refund": 0.6, "escalate": 0.4}
        case "recovery":
            return {"push_on": 0.85, "retry": 0.15}
    return by_the_book(seen)


def echoing(seen: Seen) -> Odds:
    """Knows the steps, trusts no answer the first time, and repeats what failed until it works."""
    match seen["step"]:
        case "intent":
            return {"classify_by_keywords": 0.7, "ask_customer": 0.3}
        case "order" if seen["number"] == "given":
            return {"search_by_number": 0.5, "search_by_email": 0.5}
        case "policy":
            return {"read_policy": 0.65, "recall_policy": 0.35}
        case "eligibility":
            return {"check_eligibility": 0.65, "judge_by_hand": 0.35}
        case "confirmation":
            return {"confirm_now": 0.8, "verify_first": 0.2}
        case "recovery":
            return {"retry": 1}
    return by_the_book(seen)


def refund_first(seen: Seen) -> Odds:
    """A macro from quieter days: find the order, pay, write."""
    return {"issue_refund": 1} if seen["step"] == "resolution" else by_the_book(seen)


POLICIES = (
    Policy(name="careful-planner", kind="agent", model="lark-2-large", price=0.012, odds=careful,
           replans=True, tags_sub_goals=True, checks_owner=True),
    Policy(name="eager-closer", kind="agent", model="lark-2-mini", price=0.003, odds=eager, logs_odds=True,
           plan=("intent", "order", "eligibility", "refund", "confirmation")),
    Policy(name="stubborn-clerk", kind="agent", model="lark-2-mini", price=0.003, odds=stubborn,
           tags_sub_goals=True),
    Policy(name="echo-agent", kind="agent", model="finch-1", price=0.006, odds=echoing,
           repeat_reads=0.4, repeat_writes=0.1),
    Policy(name="full-workflow", kind="workflow", model="lark-2-mini", price=0.002, odds=by_the_book,
           logs_choices=frozenset({"order", "resolution", "recovery"})),
    Policy(name="quick-workflow", kind="workflow", model=None, price=0.001, odds=refund_first,
           steps=("intent", "order", "resolution", "confirmation"),
           plan=("intent", "order", "refund", "confirmation"),
           logs_choices=frozenset(), logs_intent=False),
)  # fmt: skip
