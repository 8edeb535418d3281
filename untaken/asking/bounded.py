"""A connection to a model's address that takes no more than a reply can be: an address may be anybody's."""

from __future__ import annotations

from collections.abc import AsyncIterator

from untaken import limits

try:
    import httpx2 as httpx
except ImportError:  # what the providers' packages used before
    import httpx  # type: ignore[no-redef, import-not-found]


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


def bounded_client(timeout: float) -> httpx.AsyncClient:
    """A client whose replies are bounded; `timeout` in seconds is for one step of a request."""
    return httpx.AsyncClient(transport=BoundedTransport(), timeout=timeout)
