"""httpx that rides out a server's restart::

    client = httpx.Client(transport=outlast.clients.httpx.Transport())

A client with a transport of its own takes no proxy from the environment: that is httpx's
rule. ``extensions={"outlast": {"budget": 5}}`` says what one request shall have, as
:class:`outlast.CallOptions` has it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

import httpx

from .._clients.bodies import Body
from .._clients.options import Settings
from .._clients.passing import AsyncPassing, Passing, answer
from .._watch.target import DEFAULT_PORTS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._call.result import Result
    from .._clients.options import ClientOptions
    from .._clients.task import RequestTask

OPTION = "outlast"


class Transport(httpx.BaseTransport):
    """Carries out each request by another transport, as often as the policy says.

    Args:
        transport: The other one; ``None``: ``httpx.HTTPTransport()``.
        options: :class:`outlast.clients.ClientOptions`.

    Raises:
        TypeError: If there is no such option.
        PolicyError: If there is no such policy.
        ValueError: If an option is out of bounds.
    """

    def __init__(
        self, transport: httpx.BaseTransport | None = None, **options: Unpack[ClientOptions]
    ) -> None:
        self._inner = httpx.HTTPTransport() if transport is None else transport
        own = type(self._inner) is httpx.HTTPTransport
        self._direct = own and _is_direct(self._inner)
        self._settings = Settings(options, single=own)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Make a request."""
        task = _task(self._settings, request, self._direct)
        if task is None:
            return self._inner.handle_request(request)
        return Passing(
            self._settings,
            task,
            lambda: self._inner.handle_request(request),
            _answered,
            httpx.Response.close,
            _body(request),
        ).run()

    def close(self) -> None:
        """Close the other transport."""
        self._inner.close()


class AsyncTransport(httpx.AsyncBaseTransport):
    """The same for ``httpx.AsyncClient``, by ``httpx.AsyncHTTPTransport()``."""

    def __init__(
        self, transport: httpx.AsyncBaseTransport | None = None, **options: Unpack[ClientOptions]
    ) -> None:
        self._inner = httpx.AsyncHTTPTransport() if transport is None else transport
        own = type(self._inner) is httpx.AsyncHTTPTransport
        self._direct = own and _is_direct(self._inner)
        self._settings = Settings(options, single=own)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Make a request."""
        task = _task(self._settings, request, self._direct)
        if task is None:
            return await self._inner.handle_async_request(request)
        return await AsyncPassing(
            self._settings,
            task,
            lambda: self._inner.handle_async_request(request),
            _answered,
            httpx.Response.aclose,
            _body(request),
        ).run()

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()


def _task(settings: Settings, request: httpx.Request, direct: bool) -> RequestTask | None:
    url = request.url
    return settings.task(
        request.method,
        lambda: str(url),
        request.headers,
        (url.scheme, url.host, url.port or DEFAULT_PORTS.get(url.scheme, 0)),
        direct,
        request.extensions.get(OPTION),
    )


def _is_direct(transport: Any) -> bool:
    """Whether it leads to the request's own address: by no proxy, nor a Unix socket."""
    pool = transport._pool
    kind = type(pool).__name__
    return kind in ("ConnectionPool", "AsyncConnectionPool") and pool._uds is None


def _answered(response: httpx.Response) -> Result:
    return answer(response.status_code, response.headers, response.reason_phrase)


def _body(request: httpx.Request) -> Body | None:
    if isinstance(request.stream, httpx.ByteStream):
        return None
    body = _Stream(request.stream)
    request.stream = body.content
    return body


class _Stream(Body, httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that httpx would read a second time to its end, and send nothing of."""

    def __init__(self, stream: Any) -> None:
        super().__init__(self)
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        self.begun = True
        yield from self._stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.begun = True
        async for part in self._stream:
            yield part


__all__ = ["AsyncTransport", "Transport"]
