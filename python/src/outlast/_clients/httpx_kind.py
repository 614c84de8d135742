"""What the transports for httpx and for httpx2 have in common: all but the module, since httpx2
has httpx's classes as its own.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from .._call.known import packages
from .._call.result import Result
from .._watch.target import DEFAULT_PORTS
from .bodies import Body
from .options import Settings
from .passing import AsyncPassing, Passing, answer

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack

    from .options import ClientOptions
    from .task import RequestTask

OPTION = "outlast"

KINDS = ("httpx", "httpx2")
"""The modules."""

WEB_SOCKETS = {"ws": "http", "wss": "https"}
"""What a server is asked by for each kind of WebSocket."""

T = TypeVar("T")
"""A transport of the module's."""

Q = TypeVar("Q")
"""A request of the module's."""

R = TypeVar("R")
"""A response of the module's."""


class _Transport(Generic[T]):
    """What both sorts have: the one for a client, and the one for an asynchronous client.

    Args:
        transport: The one that carries out a request.
        options: :class:`outlast.clients.ClientOptions`.
    """

    _module: Any
    _sort: str
    """What the names of the sort's classes begin with."""

    _foreign: tuple[str, ...]
    """What a client of the other sort asks a transport for."""

    def __init__(self, transport: T | None = None, **options: Unpack[ClientOptions]) -> None:
        module, base = self._module.__name__, f"{self._sort}BaseTransport"
        default = getattr(self._module, f"{self._sort}HTTPTransport")
        if transport is not None and not isinstance(transport, getattr(self._module, base)):
            raise TypeError(
                f"outlast: {_ours(module, self._sort)} takes an {module}.{base}, "
                f"not {type(transport)}"
            )
        self._inner: Any = default() if transport is None else transport
        own = type(self._inner) is default
        self._direct = own and _is_direct(self._inner)
        self._settings = Settings(options, single=own)

    def _task(self, request: Any) -> RequestTask | None:
        if not isinstance(request, self._module.Request):
            # That the response is none of its own, a client would find once it has one.
            for kind in packages(request).intersection(KINDS):
                raise TypeError(self._wrong(kind, self._sort))
        url = request.url
        scheme = WEB_SOCKETS.get(url.scheme, url.scheme)
        return self._settings.task(
            request.method,
            lambda: str(url),
            request.headers,
            (scheme, url.host, url.port or DEFAULT_PORTS.get(scheme, 0)),
            self._direct,
            request.extensions.get(OPTION),
        )

    def _body(self, request: Any) -> Body | None:
        if isinstance(request.stream, self._module.ByteStream):
            return None
        body = cast(Body, _stream(self._module)(request.stream))
        request.stream = body.content
        return body

    def _wrong(self, kind: str, sort: str) -> str:
        """That the transport is not for a client of some module and sort, and which one is."""
        own = self._module.__name__
        return (
            f"outlast: {_ours(own, self._sort)} is for {own}.{self._sort}Client; "
            f"for {kind}.{sort}Client there is {_ours(kind, sort)}"
        )

    if not TYPE_CHECKING:  # to which there is nothing else

        def __getattr__(self, name: str) -> Never:
            if name not in self._foreign:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            asks = str(sys._getframe(1).f_globals.get("__name__")).partition(".")[0]
            kind = asks if asks in KINDS else self._module.__name__
            raise AttributeError(self._wrong(kind, "" if self._sort else "Async"))


class SyncTransport(_Transport[T], Generic[T, Q, R]):
    """For a client."""

    _sort = ""
    _foreign = ("handle_async_request", "aclose", "__aenter__", "__aexit__")

    def handle_request(self, request: Q) -> R:
        """Make a request.

        Raises:
            TypeError: If it is another module's.
        """
        task = self._task(request)
        if task is None:
            return cast(R, self._inner.handle_request(request))
        return Passing[R](
            self._settings,
            task,
            lambda: self._inner.handle_request(request),
            _answered,
            self._module.Response.close,
            self._body(request),
        ).run()

    def close(self) -> None:
        """Close the other transport."""
        self._inner.close()


class AsyncioTransport(_Transport[T], Generic[T, Q, R]):
    """For an asynchronous one."""

    _sort = "Async"
    _foreign = ("handle_request", "close", "__enter__", "__exit__")

    async def handle_async_request(self, request: Q) -> R:
        """Make a request.

        Raises:
            TypeError: If it is another module's.
        """
        task = self._task(request)
        if task is None:
            return cast(R, await self._inner.handle_async_request(request))
        return await AsyncPassing[R](
            self._settings,
            task,
            lambda: self._inner.handle_async_request(request),
            _answered,
            self._module.Response.aclose,
            self._body(request),
        ).run()

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()


def _ours(module: str, sort: str) -> str:
    return f"outlast.clients.{module}.{sort}Transport"


def _is_direct(transport: Any) -> bool:
    """Whether it leads to the request's own address: by no proxy, nor a Unix socket."""
    pool = transport._pool
    kind = type(pool).__name__
    return kind in ("ConnectionPool", "AsyncConnectionPool") and pool._uds is None


def _answered(response: Any) -> Result:
    return answer(response.status_code, response.headers, response.reason_phrase)


class _Stream(Body):
    """A body that the client would read a second time to its end, and send nothing of."""

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


@cache
def _stream(module: Any) -> type:
    """The same as a module's clients take it."""
    return type("_Stream", (_Stream, module.SyncByteStream, module.AsyncByteStream), {})
