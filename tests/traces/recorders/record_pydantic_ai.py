"""Records Pydantic AI message histories: ``pip install pydantic-ai-slim``."""

from __future__ import annotations

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from refund_desk import ANSWER, CALLS, INSTRUCTIONS, QUESTION, RECORDED, look_up, refund


def reply(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """The reply whose turn it is."""
    turn = sum(isinstance(message, ModelResponse) for message in messages)
    if turn == len(CALLS):
        return ModelResponse(parts=[TextPart(ANSWER)])
    tool, arguments = CALLS[turn]
    thought = [ThinkingPart("First look.")] if turn == 0 else []
    return ModelResponse(parts=[*thought, ToolCallPart(tool, arguments)])


def careful_refund(order: str, amount: int) -> str:
    """Pays an amount back."""
    try:
        return refund(order, amount)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


agent = Agent(FunctionModel(reply), instructions=INSTRUCTIONS, retries=2)
agent.tool_plain(look_up)
agent.tool_plain(name="refund")(careful_refund)
(RECORDED / "pydantic_ai.json").write_bytes(agent.run_sync(QUESTION).all_messages_json())
