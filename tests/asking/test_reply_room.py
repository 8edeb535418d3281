"""No answer that has the form asked for is cut: the room for a reply follows from the form."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

import msgspec
import pytest

from untaken.judging.asking import Question, Template
from untaken.judging.asking.question import REPLY_TOKENS
from untaken.judging.criteria.critic import CriticAnswer, Proposed
from untaken.judging.questions import Citation, JudgeAnswer
from untaken.simulator.state_causality.prompted import AnsweredEdge, Inferred, Named

LONGEST = [
    (3140, CriticAnswer(criteria=[Proposed(name="n" * 40, description="d" * 160, accepted_values=["v" * 30] * 5)] * 6)),
    (3196, Inferred(edges=[AnsweredEdge(cause="c" * 40, effect="e" * 40, by="policy", reason="r" * 80)] * 12)),
    (REPLY_TOKENS[0], Named(names=["n" * 40] * 16)),
    (1177, JudgeAnswer(evidence=[Citation(seq=10_000_000, quote="q" * 160)] * 3, verdict="unscored", code="c" * 40, reason="r" * 240)),
]  # fmt: skip


@pytest.mark.parametrize(("room", "answer"), LONGEST, ids=lambda case: type(case).__name__)
def test_the_longest_answer_in_a_form_has_room_at_a_token_for_each_character(
    room: int, answer: msgspec.Struct
) -> None:
    text = msgspec.json.encode(answer).decode()
    msgspec.json.decode(text, type=type(answer))
    asked = Question(template=Template(name="t", version=1, text="Answer."), prompt="?", output=type(answer))
    assert len(text) <= asked.max_tokens == room  # on which the key of a stored reply depends
