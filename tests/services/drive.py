"""Makes the calls that stdin names, by Python's clients: one line of JSON for each.

Usage: drive.py URL
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import outlast
import requests
import urllib3
from httpx_retries import Retry, RetryTransport

URL = sys.argv[1]
OPTIONS: Any = {"ready": "/readyz", "honours_key": "POST /orders/*"}
RETRY: Any = {"total": 10, "backoff_factor": 0.5}
"""Of httpx-retries and urllib3, which by themselves do not wait at all."""

Call = dict[str, Any]


def headers(call: Call) -> dict[str, str]:
    return {"Idempotency-Key": call["key"]} if call["key"] else {}


def body(call: Call) -> bytes | None:
    return b"x" if call["method"] in ("PUT", "POST") else None


def by_httpx(client: httpx.Client) -> Callable[[Call], str]:
    def send(call: Call) -> str:
        url = URL + call["path"]
        return client.request(call["method"], url, headers=headers(call), content=body(call)).text

    return send


def by_requests() -> Callable[[Call], str]:
    session = requests.Session()
    session.mount("http://", outlast.clients.requests.HTTPAdapter(**OPTIONS))

    def send(call: Call) -> str:
        url = URL + call["path"]
        return session.request(call["method"], url, headers=headers(call), data=body(call)).text

    return send


def by_urllib3() -> Callable[[Call], str]:
    pool = urllib3.PoolManager(retries=urllib3.Retry(**RETRY))

    def send(call: Call) -> str:
        url = URL + call["path"]
        return pool.request(
            call["method"], url, headers=headers(call), body=body(call)
        ).data.decode()

    return send


SYNC: dict[str, Callable[[], Callable[[Call], str]]] = {
    "httpx": lambda: by_httpx(httpx.Client(transport=outlast.clients.httpx.Transport(**OPTIONS))),
    "requests": by_requests,
    "httpx-retries": lambda: by_httpx(httpx.Client(transport=RetryTransport(retry=Retry(**RETRY)))),
    "urllib3 Retry": by_urllib3,
    "httpx alone": lambda: by_httpx(httpx.Client()),
}


def tell(call: Call, began: float, text: str, error: BaseException | None) -> None:
    said: dict[str, Any] = {"outcome": "answered", "message": ""}
    if error is not None:
        outcome = outlast.outcome_of(error)
        doubt = outcome is not None and outcome.type == "indeterminate"
        said = {"outcome": "indeterminate" if doubt else "raised", "message": repr(error)}
    elif call["id"] not in text:
        said = {"outcome": "raised", "message": text}
    times = {"from": int(began * 1000), "to": int(time.time() * 1000)}
    sys.stdout.write(json.dumps({"id": call["id"], **said, **times}) + "\n")  # whole, by any thread


def in_threads(name: str, calls: list[Call]) -> None:
    """The calls, each at its time, in as many threads as have to wait."""
    send = SYNC[name]()

    def make(call: Call) -> None:
        began = time.time()
        try:
            text = send(call)
        except Exception as error:
            tell(call, began, "", error)
        else:
            tell(call, began, text, None)

    with ThreadPoolExecutor(1000) as pool:
        for call in calls:
            time.sleep(max(0, call["at"] / 1000 - time.time()))
            pool.submit(make, call)


async def in_tasks(calls: list[Call], send: Callable[[Call], Awaitable[str]]) -> None:
    async def make(call: Call) -> None:
        await asyncio.sleep(max(0, call["at"] / 1000 - time.time()))
        began = time.time()
        try:
            text = await send(call)
        except Exception as error:
            tell(call, began, "", error)
        else:
            tell(call, began, text, None)

    await asyncio.gather(*[make(call) for call in calls])


async def coroutines(by_httpx_calls: list[Call], aiohttp_calls: list[Call]) -> None:
    transport = outlast.clients.httpx.AsyncTransport(**OPTIONS)
    async with (
        httpx.AsyncClient(transport=transport) as client,
        outlast.clients.aiohttp.session(**OPTIONS) as session,
    ):

        async def httpx_send(call: Call) -> str:
            url = URL + call["path"]
            options: Any = {"headers": headers(call), "content": body(call)}
            return (await client.request(call["method"], url, **options)).text

        async def aiohttp_send(call: Call) -> str:
            url = URL + call["path"]
            options: Any = {"headers": headers(call), "data": body(call)}
            async with session.request(call["method"], url, **options) as answer:
                text: str = await answer.text()
                return text

        await asyncio.gather(
            in_tasks(by_httpx_calls, httpx_send), in_tasks(aiohttp_calls, aiohttp_send)
        )


def main() -> None:
    logging.disable()
    calls: dict[str, list[Call]] = defaultdict(list)
    for line in sys.stdin:
        call = json.loads(line)
        calls[call["client"]].append(call)
    with ThreadPoolExecutor() as pool:
        running = [pool.submit(in_threads, name, calls[name]) for name in SYNC if calls[name]]
        asyncio.run(coroutines(calls["httpx, async"], calls["aiohttp"]))
        for one in running:
            one.result()


main()
