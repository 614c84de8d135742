"""aiohttp that rides out a server's restart::

    async with outlast.clients.aiohttp.session() as session:
        ...

It needs aiohttp 3.12, which brought what stands between a session and its connections.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import aiohttp

from .._clients.bodies import Body
from .._clients.options import Settings, taken
from .._clients.passing import AsyncPassing, answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .._call.result import Result


def session(**options: Any) -> aiohttp.ClientSession:
    """A session that makes each request as often as the policy says. aiohttp's own second
    try of a request whose connection broke, a PUT or DELETE too, is off in it.

    Args:
        options: As for ``aiohttp.ClientSession``, and :class:`outlast.clients.ClientOptions`.

    Raises:
        PolicyError: If there is no such policy.
        TypeError: If there is no such option, also where aiohttp is older than 3.12.
        ValueError: If an option is out of bounds.
    """
    settings = Settings(taken(options), single=True)
    middlewares = (*options.pop("middlewares", ()), _Middleware(settings))
    made = aiohttp.ClientSession(middlewares=middlewares, **options)
    made._retry_connection = False
    return made


class _Middleware:
    """Stands next to the connection: it is the last, so that each of its requests is one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def __call__(
        self,
        request: aiohttp.ClientRequest,
        handler: Callable[[aiohttp.ClientRequest], Awaitable[aiohttp.ClientResponse]],
    ) -> aiohttp.ClientResponse:
        url = request.url
        task = self._settings.task(
            request.method,
            lambda: str(url),
            request.headers,
            (url.scheme, url.host or "", url.port or 0),
            request.proxy is None and type(request.session.connector) is aiohttp.TCPConnector,
        )
        if task is None:
            return await handler(request)
        payload = _Payload(request.body)

        async def send() -> aiohttp.ClientResponse:
            try:
                return await handler(request)
            except asyncio.TimeoutError as e:
                # The limits of a connection and of a read have a class of their own.
                payload.late = not isinstance(e, aiohttp.ServerTimeoutError)
                raise

        passing = AsyncPassing(self._settings, task, send, _answered, _close, payload)
        return await passing.run()


def _answered(response: aiohttp.ClientResponse) -> Result:
    return answer(response.status, response.headers, response.reason)


async def _close(response: aiohttp.ClientResponse) -> None:
    response.close()


class _Payload(Body):
    """What a request sends, which aiohttp rewinds where it can.

    Attributes:
        late: aiohttp lets the request take no more time.
    """

    late = False

    def spent(self) -> str:
        """Why it cannot be sent again."""
        if self.late:
            return "aiohttp's time limit for the whole request is over"
        self.begun = bool(getattr(self.content, "consumed", False))
        return super().spent()


__all__ = ["session"]
