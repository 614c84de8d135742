"""What a type checker knows of what the decorator has decorated. Two checkers read this
file, and nobody runs it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar, overload

import aiohttp
import httpx
import httpx2
import requests
from typing_extensions import assert_type

import outlast

T = TypeVar("T")


@outlast.retry(remote=True, write=False)
def plain(url: str, *, depth: int = 1) -> list[bytes]:
    return [url.encode()] * depth


@outlast.retry(remote=True, write=False)
def anything(url: str) -> Any:
    return url


@outlast.retry(remote=True, write=False)
def generic(value: T, others: list[T]) -> T:
    return others[0] if others else value


@outlast.retry(remote=True, write=False)
async def coroutine(value: T) -> T:
    return value


@outlast.retry(remote=True, write=False)
async def any_coroutine(url: str) -> Any:
    return url


@overload
def overloaded(value: int) -> int: ...
@overload
def overloaded(value: str) -> str: ...
@outlast.retry(remote=True, write=False)
def overloaded(value: int | str) -> int | str:
    return value


class Client:
    @outlast.retry(remote=True, write=True, label="put")
    def put(self, key: str) -> bool:
        return bool(key)

    @outlast.retry(remote=True, write=False)
    async def get(self, key: str) -> bytes:
        return key.encode()

    @classmethod
    @outlast.retry(remote=True, write=False)
    def made(cls, url: str) -> Client:
        return cls()

    @outlast.retry(remote=True, write=False)
    @staticmethod
    def double(value: int) -> int:
        return 2 * value


def later(value: T) -> Awaitable[T]:
    raise NotImplementedError


async def uses(client: Client) -> None:
    assert_type(plain("u", depth=2), list[bytes])
    assert_type(anything("u"), Any)
    assert_type(generic(1, [2]), int)
    assert_type(generic("a", ["b"]), str)
    assert_type(await coroutine(1.5), float)
    as_it_was: Callable[[str], Coroutine[Any, Any, str]] = coroutine
    await as_it_was("s")
    assert_type(await any_coroutine("u"), Any)
    assert_type(overloaded(1), int)
    assert_type(overloaded("s"), str)
    assert_type(client.put("k"), bool)
    assert_type(await client.get("k"), bytes)
    assert_type(Client.made("u"), Client)
    assert_type(Client.double(1), int)
    assert_type(await outlast.retry(remote=True, write=False)(later)(1), int)
    function: Callable[[str], Any] = anything
    function("u")
    for attempt in outlast.attempts(remote=True, write=False, budget=5):
        with attempt:
            assert_type(attempt.number, int)
    async for attempt in outlast.attempts(remote=True, write=False, on=(KeyError,)):
        with attempt:
            assert_type(attempt.number, int)
    with outlast.options(budget=5, spread=5, attempts=2):
        plain("u")
    assert_type(outlast.Policy("network").with_max_wait(60), outlast.Policy)
    assert_type(outlast.Policy("network").with_spread(5), outlast.Policy)
    transport = outlast.clients.httpx.Transport(max_wait=60, repeatable=["PUT /notes/*"])
    httpx.Client(transport=transport)
    httpx2.Client(transport=outlast.clients.httpx2.Transport(httpx2.HTTPTransport(), attempts=2))
    httpx2.AsyncClient(transport=outlast.clients.httpx2.AsyncTransport(ready="/readyz"))
    request, two = httpx.Request("GET", "u"), httpx2.Request("GET", "u")
    assert_type(transport.handle_request(request), httpx.Response)
    assert_type(outlast.clients.httpx2.Transport().handle_request(two), httpx2.Response)
    requests.Session().mount("https://", outlast.clients.requests.HTTPAdapter(attempts=2))
    async with outlast.clients.aiohttp.session(budget=5) as session:
        assert_type(session, aiohttp.ClientSession)
    assert_type(outlast.clients.urllib3.PoolManager().request("GET", "u").status, int)
    outlast.retry(remote=True, write=True, ready=outlast.ready.Server("http://graph:8080"))


def wrong(client: Client) -> None:
    plain(1)  # wrong: an argument of another type
    plain("u", width=2)  # wrong: there is no such argument
    anything()  # wrong: an argument is missing
    overloaded(b"")  # wrong: no overload takes it
    client.put()  # wrong: an argument of a method is missing
    coroutine(1).upper()  # wrong: a coroutine is no value
    outlast.retry(write=False)  # wrong: remote must be said
    outlast.clients.httpx.Transport(retries=5)  # wrong: there is no such option
    outlast.clients.httpx.Transport(httpx2.HTTPTransport())  # wrong: httpx2's within httpx's
    outlast.clients.httpx2.AsyncTransport(httpx2.HTTPTransport())  # wrong: another sort within
    httpx2.Client(transport=outlast.clients.httpx.Transport())  # wrong: httpx's in httpx2's
    httpx.Client(transport=outlast.clients.httpx2.Transport())  # wrong: httpx2's in httpx's
    httpx.AsyncClient(transport=outlast.clients.httpx.Transport())  # wrong: another sort
    httpx2.Client(transport=outlast.clients.httpx2.AsyncTransport())  # wrong: another sort
    outlast.clients.httpx.Transport().aclose()  # wrong: there is no such method
    outlast.clients.requests.HTTPAdapter(max_retries=5)  # wrong: nor such a one
    outlast.options(budgets=5)  # wrong: there is no such option
