"""The words of a message. Nobody writes the same one twice, so no two runs are copies of each other."""

from __future__ import annotations

from random import Random

OPENINGS = (
    "{}",
    "Hello. {}",
    "Hi there. {}",
    "Good day. {}",
    "{} Thank you.",
    "{} Thanks in advance.",
)
"""How a customer puts a request. The request itself is always there, word for word."""

CLOSINGS = {
    "refund": (
        "Your refund is on its way.",
        "We have sent you your refund.",
        "The refund has been issued to you.",
    ),
    "escalate": (
        "A colleague will write to you.",
        "One of my colleagues will get in touch with you.",
        "I have passed this on to a colleague, who will write to you.",
    ),
}
"""What an agent says at the end, by what it did."""


def opening(request: str, ticket: str, repeat: int, seed: int) -> str:
    """A customer's first message: the same for every agent, another each time (`repeat` counts from 1)."""
    ways = Random(f"{seed}:{ticket}:opening").sample(OPENINGS, len(OPENINGS))
    return ways[(repeat - 1) % len(ways)].format(request)


def closing(about: str, luck: Random) -> str:
    """An agent's last message."""
    return luck.choice(CLOSINGS[about])
