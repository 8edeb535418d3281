"""How an agent works through a ticket: choose a skill for each step, and decide what to do when it fails."""

from __future__ import annotations

from sample_runs.refund_desk.case import Case
from sample_runs.refund_desk.policies import Seen
from sample_runs.refund_desk.skills import SKILLS, look_first
from sample_runs.refund_desk.tools import KEYWORDS

SPECIAL_GOODS = frozenset({"electronics", "grocery", "gift_card", "jewellery"})
LARGE_CENTS = 30_000


def work(case: Case) -> None:
    """All steps of the policy, in order, until the ticket is done or the calls are spent."""
    case.plan(case.policy.plan)
    ticket = case.call("read_ticket", "intent").content
    case.notes.order_ref, case.notes.email = ticket["order_ref"], ticket["email"]
    for step in case.policy.steps:
        carry_out(case, step)
        if step == "eligibility" and case.policy.replans and case.notes.decision == "escalate":
            case.plan(_ahead(case, "resolution", "escalate"), "not ours to refund")


def carry_out(case: Case, step: str) -> None:
    """One step: a skill, and after each failure a choice of what to do about it."""
    skill = case.choose(list(SKILLS[step]), seen(case, step))
    carry = SKILLS[step][skill]
    times = 0
    while not carry(case):
        times += 1
        case.notes.failures += 1
        way = case.choose(_ways(step, skill), recovery_seen(step, skill, times))
        if way == "push_on":
            return
        if way == "switch_route":
            skill = next(other for other in SKILLS[step] if other != skill)
        carry = look_first if way == "look_first" else SKILLS[step][skill]
        if case.policy.replans:
            case.plan(_ahead(case, step, skill), f"{step} failed: {way}")


def _ways(step: str, skill: str) -> list[str]:
    """What can be done about a failed step."""
    looks = ["look_first"] if step == "resolution" and skill == "issue_refund" else []
    return ["retry", *looks, "switch_route", "push_on"]


def _ahead(case: Case, step: str, skill: str) -> list[str]:
    """The plan from a step on, with the route now meant."""
    steps = case.policy.steps
    ahead = steps[steps.index(step) + 1 :]
    return [f"{step} by {skill}", *ahead]


def seen(case: Case, step: str) -> Seen:
    """What an agent looks at when it chooses: coarse on purpose, so that many runs share a context."""
    notes = case.notes
    facts = {"step": step}
    match step:
        case "intent":
            clear = any(word in notes.body.lower() for words in KEYWORDS.values() for word in words)
            facts["ticket"] = "clear" if clear else "vague"
        case "order":
            facts["number"] = "given" if notes.order_ref else "missing"
        case "policy":
            category = notes.order["category"] if notes.order else "unknown"
            facts["goods"] = "special" if category in SPECIAL_GOODS else "ordinary"
        case "eligibility":
            facts["policy"] = "read" if notes.policy else "not read"
        case "resolution":
            facts["verdict"] = notes.decision or "none"
            facts["amount"] = "large" if notes.order and notes.order["cents"] > LARGE_CENTS else "small"
        case "confirmation":
            facts["trouble"] = "some" if notes.failures else "none"
    return facts


def recovery_seen(step: str, skill: str, times: int) -> Seen:
    """What an agent looks at after a failure."""
    after = skill if step in ("resolution", "confirmation") else "reading"
    return {"step": "recovery", "after": after, "times": "once" if times == 1 else "again"}
