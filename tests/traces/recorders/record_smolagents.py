"""Records the memory of a smolagents agent: ``pip install smolagents``."""

from __future__ import annotations

import json
from typing import Any

from refund_desk import ANSWER, CALLS, INSTRUCTIONS, QUESTION, RECORDED, look_up, refund
from smolagents import ChatMessage, ChatMessageToolCall, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessageToolCallFunction
from smolagents.monitoring import TokenUsage


class LookUp(Tool):
    """What was paid for an order."""

    name = "look_up"
    description = "What was paid for an order."
    inputs = {"order": {"type": "string", "description": "The order."}}  # noqa: RUF012
    output_type = "string"

    def forward(self, order: str) -> str:
        """Looks it up."""
        return look_up(order)


class Refund(Tool):
    """Pays an amount back."""

    name = "refund"
    description = "Pays an amount back."
    inputs = {  # noqa: RUF012
        "order": {"type": "string", "description": "The order."},
        "amount": {"type": "integer", "description": "How much."},
    }
    output_type = "string"

    def forward(self, order: str, amount: int) -> str:
        """Refunds."""
        return refund(order, amount)


class Scripted(Model):
    """Replies in turn."""

    turn = 0

    def generate(self, messages: list[Any], **_: Any) -> ChatMessage:
        """The reply whose turn it is."""
        turns = [*CALLS, ("final_answer", {"answer": ANSWER})]
        name, arguments = turns[self.turn]
        self.turn += 1
        call = ChatMessageToolCall(
            id=f"call_{self.turn}",
            type="function",
            function=ChatMessageToolCallFunction(name=name, arguments=arguments),
        )
        return ChatMessage(
            role="assistant", content="Next.", tool_calls=[call], token_usage=TokenUsage(100, 10), raw=None
        )


agent = ToolCallingAgent([LookUp(), Refund()], Scripted(model_id="scripted"), instructions=INSTRUCTIONS)
result = agent.run(QUESTION, return_full_result=True)
recorded = {**result.dict(), "steps": agent.memory.get_succinct_steps()}  # without the prompts of the library
(RECORDED / "smolagents.json").write_text(json.dumps(recorded, indent=1))
