"""The clients with their transports, asked in the same way."""

from __future__ import annotations

import asyncio
import inspect
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
import requests
import urllib3

import outlast
from httpxes import HTTPX
from outlast.clients import aiohttp as our_aiohttp
from outlast.clients import requests as our_requests
from outlast.clients import urllib3 as our_urllib3


@dataclass
class Answer:
    """What came of a request.

    Attributes:
        status: The status.
        text: The whole body.
        response: The client's own object.
    """

    status: int
    text: bytes
    response: Any


Ask = Callable[..., Answer]
"""Asks with a method, an address, a body and headers."""


def context(trusted: str) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=trusted or None)


@contextmanager
def in_a_loop() -> Iterator[Callable[[Any], Any]]:
    """Runs coroutines in one event loop, each in the context that it is run from."""
    loop = asyncio.new_event_loop()
    try:
        yield loop.run_until_complete
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@contextmanager
def by_httpx(name: str, trusted: str = "", two: bool = False, **options: Any) -> Iterator[Ask]:
    """By httpx or httpx2."""
    of, ours = HTTPX[name], getattr(outlast.clients, name)
    inner = of.HTTPTransport(verify=context(trusted), http1=not two, http2=two)
    transport = ours.Transport(inner, **options)
    with of.Client(transport=transport, follow_redirects=True, timeout=5) as client:

        def ask(method: str, url: str, body: Any = None, headers: Any = None) -> Answer:
            got = client.request(method, url, content=body, headers=headers)
            return Answer(got.status_code, got.content, got)

        yield ask


@contextmanager
def by_httpx_async(name: str, trusted: str = "", **options: Any) -> Iterator[Ask]:
    of, ours = HTTPX[name], getattr(outlast.clients, name)
    with in_a_loop() as run:
        transport = ours.AsyncTransport(of.AsyncHTTPTransport(verify=context(trusted)), **options)
        client = of.AsyncClient(transport=transport, follow_redirects=True, timeout=5)

        async def ask(method: str, url: str, body: Any = None, headers: Any = None) -> Answer:
            if inspect.isgenerator(body):
                body = later(body)
            got = await client.request(method, url, content=body, headers=headers)
            return Answer(got.status_code, got.content, got)

        yield lambda *args: run(ask(*args))
        run(client.aclose())


async def later(body: Iterable[Any]) -> Any:
    for part in body:
        yield part


@contextmanager
def by_requests(trusted: str = "", **options: Any) -> Iterator[Ask]:
    with requests.Session() as session:
        session.trust_env = False
        session.verify = trusted or True
        for scheme in ("http://", "https://"):
            session.mount(scheme, our_requests.HTTPAdapter(**options))

        def ask(method: str, url: str, body: Any = None, headers: Any = None) -> Answer:
            got = session.request(method, url, data=body, headers=headers, timeout=5)
            return Answer(got.status_code, got.content, got)

        yield ask


@contextmanager
def by_urllib3(trusted: str = "", **options: Any) -> Iterator[Ask]:
    with our_urllib3.PoolManager(ssl_context=context(trusted), **options) as pool:

        def ask(method: str, url: str, body: Any = None, headers: Any = None) -> Answer:
            got = pool.request(method, url, body=body, headers=headers, timeout=5)
            return Answer(got.status, got.data, got)

        yield ask


@contextmanager
def by_aiohttp(trusted: str = "", **options: Any) -> Iterator[Ask]:
    with in_a_loop() as run:

        async def opened() -> aiohttp.ClientSession:
            connector = aiohttp.TCPConnector(ssl=context(trusted))
            return our_aiohttp.session(connector=connector, **options)

        session = run(opened())

        async def ask(method: str, url: str, body: Any = None, headers: Any = None) -> Answer:
            if inspect.isgenerator(body):
                body = later(body)
            async with session.request(method, url, data=body, headers=headers) as got:
                return Answer(got.status, await got.read(), got)

        yield lambda *args: run(ask(*args))
        run(session.close())
        run(asyncio.sleep(0.01))  # what is closed is told of


CLIENTS: dict[str, Any] = {
    **{name: partial(by_httpx, name) for name in HTTPX},
    **{f"{name} async": partial(by_httpx_async, name) for name in HTTPX},
    "requests": by_requests,
    "urllib3": by_urllib3,
    "aiohttp": by_aiohttp,
}

REFUSED: dict[str, type[Exception]] = {
    **{name: of.ConnectError for name, of in HTTPX.items()},
    **{f"{name} async": of.ConnectError for name, of in HTTPX.items()},
    "requests": requests.ConnectionError,
    "urllib3": urllib3.exceptions.MaxRetryError,
    "aiohttp": aiohttp.ClientConnectorError,
}
"""What each raises, without a transport of ours too, where nobody listens."""
