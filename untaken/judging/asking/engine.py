"""Asks through pydantic-ai: one model, with an event loop in a thread of its own.

A connection takes no more than a reply can be: an address may be anybody's.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from hashlib import sha256
from types import TracebackType
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from anyio import fail_after
from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic_ai import (
    Agent,
    ModelRetry,
    NativeOutput,
    StructuredDict,
    UsageLimits,
    capture_run_messages,
)
from pydantic_ai import Tool as AgentTool
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelHTTPError,
    UsageLimitExceeded,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model, infer_model
from pydantic_ai.settings import ModelSettings

from untaken import limits
from untaken.errors import Unscored, UntakenError, bare_addresses
from untaken.judging.asking.local import serving
from untaken.judging.asking.question import KEY_SETTING, LOCAL, REQUESTS, Question, Unreached
from untaken.judging.asking.replies import Reply, ToolUse, without_keys

RETRIES: Final = 2
"""How often a model may correct the form of its answer."""
REFUSED: Final = (400, 413, 422)
"""What a server answers to a question that is not to its liking: another one may be."""
TIMEOUT: Final = 120.0
"""Seconds for one request."""
RAW_CHARS: Final = 16_384


class Engine:
    """A model that is being talked to; `close` it."""

    def __init__(self, model: str | Model) -> None:
        """Opens the way to the model.

        Raises:
            UntakenError: ``model-unknown``, ``model-key-missing``, ``model-extra-missing``.
        """
        self._open = ExitStack()
        try:
            self._portal: BlockingPortal = self._open.enter_context(start_blocking_portal())
            self._model, self._native = _resolved(model, self._portal, self._open)
            self._open.enter_context(self._portal.wrap_async_context_manager(self._model))
        except BaseException:  # the thread of the event loop would go on by itself
            self._open.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the connection; after an error without waiting for what is under way."""
        self._open.__exit__(kind, error, trace)

    def answer(self, question: Question[Any], name: str, *, requests: int) -> Reply | Unscored:
        """The reply, which may say that no answer had the form asked for; unscored where none came."""
        form: Any = StructuredDict(question.schema, name="answer")
        agent: Agent[None, Any] = Agent(
            self._model,
            # A server at an address holds text to the schema; small models there fail at calls of tools.
            output_type=NativeOutput(form) if self._native else form,
            instructions=question.template.text,
            tools=[AgentTool(t.call, name=t.name, description=t.description) for t in question.tools],
            retries=RETRIES,
        )
        # `StructuredDict` checks nothing: here the model can still correct its answer.
        agent.output_validator(_in_form(question))
        settings = ModelSettings(
            temperature=question.temperature,
            seed=question.seed,
            max_tokens=question.max_tokens,
            timeout=TIMEOUT,
        )
        usage = UsageLimits(request_limit=requests)

        async def run() -> Reply | Unscored:
            with capture_run_messages() as messages:
                try:
                    with fail_after(limits.MODEL_ANSWER_SECONDS):
                        result = await agent.run(question.prompt, model_settings=settings, usage_limits=usage)
                except TimeoutError:
                    return Unreached(f"{name} gave no answer within {limits.MODEL_ANSWER_SECONDS:g} seconds")
                except ModelHTTPError as error:
                    kind = Unscored if error.status_code in REFUSED else Unreached
                    return kind(f"{name} answered with an error: {_short(error)}")
                except ReplyTooLarge as error:
                    return Unscored(f"the reply of {name} could not be read: {error}")
                except ModelAPIError as error:
                    return Unreached(f"{name} could not be reached: {_short(error)}")
                except UsageLimitExceeded as error:
                    # With more room there may be an answer, so none is recorded.
                    if requests < REQUESTS:
                        return Unscored(f"the budget was used up before {name} had answered")
                    return _reply(question, name, messages, failure=f"{name} did not finish: {_short(error)}")
                except AgentRunError as error:
                    why = f"{name} gave no answer in the expected format: {_short(error)}"
                    return _reply(question, name, messages, failure=why)
            return _reply(question, name, messages, output=dict(result.output))

        return self._portal.call(run)


def _in_form(question: Question[Any]) -> Callable[[Any], Any]:
    def check(output: Any) -> Any:
        try:
            msgspec.convert(dict(output), question.output)
        except msgspec.ValidationError as error:
            raise ModelRetry(f"The answer does not have the expected format: {error}") from error
        return output

    return check


def _reply(
    question: Question[Any], name: str, messages: list[ModelMessage], *, output: Any = None, failure: str = ""
) -> Reply:
    responses = [message for message in messages if isinstance(message, ModelResponse)]
    return Reply(
        model=name,
        template=question.template.name,
        version=question.template.version,
        prompt_sha256=question.prompt_sha256,
        seed=question.seed,
        output=output,
        failure=failure,
        raw=_raw(responses[-1])[:RAW_CHARS] if responses else "",
        calls=_calls(messages, {tool.name for tool in question.tools}),
        requests=len(responses),
        input_tokens=sum(response.usage.input_tokens for response in responses),
        output_tokens=sum(response.usage.output_tokens for response in responses),
    )


def _raw(response: ModelResponse) -> str:
    """What the model itself said: its text, or the arguments of the call it answered with."""
    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    return response.text or "\n".join(calls)


def _calls(messages: list[ModelMessage], tools: set[str]) -> tuple[ToolUse, ...]:
    parts = [part for message in messages for part in message.parts]
    results = {part.tool_call_id: part for part in parts if isinstance(part, ToolReturnPart)}
    return tuple(
        ToolUse(
            tool=part.tool_name,
            arguments=part.args_as_json_str(),
            result_sha256=sha256(str(results[part.tool_call_id].content).encode()).hexdigest(),
        )
        for part in parts
        if isinstance(part, ToolCallPart) and part.tool_name in tools and part.tool_call_id in results
    )


def _resolved(model: str | Model, portal: BlockingPortal, stack: ExitStack) -> tuple[Model, bool]:
    """The model, and whether it takes a JSON Schema natively for certain."""
    if isinstance(model, Model):
        return model, False
    if model == LOCAL:
        # The client insists on some key.
        return _at_address(stack.enter_context(serving()), "none", portal, stack), True
    if model.startswith(("http://", "https://")):
        return _at_address(model, os.environ.get(KEY_SETTING, "none"), portal, stack), True
    try:
        return infer_model(model), False
    except UserError as error:
        hint = "Write it as provider:model and set the provider's key in its environment variable."
        if "Unknown" in str(error):
            raise UntakenError("model-unknown", _short(error), hint=hint) from error
        raise UntakenError("model-key-missing", _short(error), hint=hint) from error
    except ImportError as error:
        hint = "Install pydantic-ai-slim with the extra for that provider."
        raise UntakenError("model-extra-missing", _short(error), hint=hint) from error


def _at_address(address: str, key: str, portal: BlockingPortal, stack: ExitStack) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 (slow)
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    address, _, name = address.partition("#")
    url, _, query = address.partition("?")
    bounded = httpx.AsyncClient(transport=BoundedTransport(), timeout=TIMEOUT)
    client = stack.enter_context(portal.wrap_async_context_manager(bounded))
    asked = OpenAIProvider(base_url=url, api_key=key, http_client=client).client
    asked = asked.with_options(default_query=dict(parse_qsl(query)))  # the provider itself takes no query
    return OpenAIChatModel(name or "default", provider=OpenAIProvider(openai_client=asked))


def _short(error: BaseException) -> str:
    """What went wrong, on one line, without any key that a server may have sent back."""
    return without_keys(bare_addresses(" ".join(str(error).split())))[:300]


try:
    import httpx2 as httpx
except ImportError:  # what the providers' packages used before
    import httpx  # type: ignore[no-redef]


class ReplyTooLarge(Exception):
    """The body of a reply is longer than any answer, or packed so that its length cannot be known."""


class BoundedTransport(httpx.AsyncHTTPTransport):
    """Sends requests, and reads at most `limits.MODEL_REPLY_BYTES` of each reply."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The reply; reading its body raises `ReplyTooLarge` beyond the limit."""
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            await response.aclose()
            raise ReplyTooLarge("it is compressed, although compression was not requested")
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - what this transport gives
        response.stream = _Bounded(response.stream)
        return response


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for piece in self._stream:
            total += len(piece)
            if total > limits.MODEL_REPLY_BYTES:
                raise ReplyTooLarge(f"it is longer than {limits.MODEL_REPLY_BYTES // limits.MIB} MiB")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
