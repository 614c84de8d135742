"""Makes the calls that stdin names, by Python's clients: one line of JSON for each.

Usage: drive.py URL POLICY
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
import time
import urllib.request
import xmlrpc.client
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import httpx
import requests

import outlast

URL, POLICY = sys.argv[1], outlast.Policy(sys.argv[2])
AT_ONCE = int(os.environ["FUNCTIONS_AT_ONCE"])
LIMIT = int(os.environ["FUNCTIONS_LIMIT_MS"]) / 1000

Ask = Callable[[str, bool], Any]
mine = threading.local()
"""What a thread keeps: its session, and its transport."""


def by_urllib(_kept: bool) -> Ask:
    def ask(url: str, write: bool) -> str:
        with urllib.request.urlopen(url, b"x" if write else None, LIMIT) as answer:
            text: str = answer.read().decode()
        return text

    return ask


def by_requests(kept: bool) -> Ask:
    def ask(url: str, write: bool) -> str:
        if not hasattr(mine, "session"):
            mine.session = requests.Session()
        request = mine.session.request if kept else requests.request
        data = "x" if write else None
        answer = request("POST" if write else "GET", url, data=data, timeout=LIMIT)
        answer.raise_for_status()
        text: str = answer.text
        return text

    return ask


shared = httpx.Client(timeout=LIMIT, follow_redirects=True)


def by_httpx(kept: bool) -> Ask:
    def ask(url: str, write: bool) -> str:
        client = shared if kept else httpx.Client(timeout=LIMIT, follow_redirects=True)
        try:
            method = "POST" if write else "GET"
            answer = client.request(method, url, content=b"x" if write else None)
            return answer.raise_for_status().text
        finally:
            if not kept:
                client.close()

    return ask


class Timed(xmlrpc.client.Transport):
    def make_connection(self, host: Any) -> Any:
        connection = super().make_connection(host)
        connection.timeout = LIMIT
        return connection


def by_xmlrpc(kept: bool) -> Ask:
    def ask(url: str, _write: bool) -> str:
        if not hasattr(mine, "transport"):
            mine.transport = Timed()
        transport = mine.transport if kept else Timed()
        try:
            return str(xmlrpc.client.ServerProxy(url, transport=transport).apply())
        finally:
            if not kept:
                transport.close()

    return ask


SYNC = {"urllib": by_urllib, "requests": by_requests, "httpx": by_httpx, "xmlrpc": by_xmlrpc}


async def by_httpx_async(url: str, write: bool, client: Any) -> str:
    answer = await client.request("POST" if write else "GET", url, content=b"x" if write else None)
    text: str = answer.raise_for_status().text
    return text


async def by_aiohttp(url: str, write: bool, client: Any) -> str:
    data = "x" if write else None
    async with client.request("POST" if write else "GET", url, data=data) as answer:
        answer.raise_for_status()
        text: str = await answer.text()
        return text


ASYNC: dict[str, Any] = {
    "httpx-async": (
        by_httpx_async,
        lambda: httpx.AsyncClient(timeout=LIMIT, follow_redirects=True),
    ),
    "aiohttp": (
        by_aiohttp,
        lambda: aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=LIMIT)),
    ),
}


class Making:
    """A call that is being made."""

    def __init__(self, call: dict[str, Any]) -> None:
        self.call, self.attempts = call, 0
        self.numbers = [0] if call["shape"] == "one" else [0, 1]
        self.patient = outlast.retry(
            remote=True,
            write=not call["read"],
            refuses_before_acting=call["refuses"],
            policy=POLICY,
            label=call["id"],
        )
        self.began = time.time()

    def urls(self) -> list[str]:
        """Where the next attempt asks."""
        self.attempts += 1
        return [f"{URL}{self.call['path']}/{number}/{self.attempts}" for number in self.numbers]

    def tell(self, told: str | Exception) -> None:
        line: dict[str, Any] = {"outcome": "ok", "effects": "none"}
        if isinstance(told, outlast.CallError):
            ended = told.outcome
            line = {"outcome": ended.type, "effects": ended.effects, "message": str(told)}
            line["kinds"] = [past.kind for past in ended.history]
        elif isinstance(told, Exception):
            line = {"outcome": "raised", "effects": "unknown", "message": repr(told)}
        else:
            line["seen"] = told
        line |= {"id": self.call["id"], "attempts": self.attempts}
        line |= {"from": int(self.began * 1000), "to": int(time.time() * 1000)}
        sys.stdout.write(json.dumps(line) + "\n")  # at once: other threads write too


def side_by_side(ask: Ask, urls: list[str], write: bool) -> list[str]:
    """Asks on a thread for each."""
    ended: list[Any] = [None] * len(urls)

    def one(number: int) -> None:
        try:
            ended[number] = ask(urls[number], write)
        except Exception as error:
            ended[number] = error

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(urls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for end in ended:
        if isinstance(end, Exception):
            raise end
    return ended


def make(call: dict[str, Any]) -> None:
    making, ask, write = Making(call), SYNC[call["client"]](call["kept"]), call["write"]

    def work() -> str:
        urls = making.urls()
        if call["shape"] == "both":
            return "".join(side_by_side(ask, urls, write))
        return "".join([ask(url, write) for url in urls])

    try:
        making.tell(making.patient(work)())
    except Exception as error:
        making.tell(error)


async def make_async(call: dict[str, Any], kept: Any, slots: asyncio.Semaphore) -> None:
    ask, client_of = ASYNC[call["client"]]
    async with slots:
        making = Making(call)

        async def asking(client: Any) -> str:
            urls, write = making.urls(), call["write"]
            if call["shape"] == "both":
                return "".join(await asyncio.gather(*(ask(url, write, client) for url in urls)))
            return "".join([await ask(url, write, client) for url in urls])

        async def work() -> str:
            if call["kept"]:
                return await asking(kept[call["client"]])
            async with client_of() as client:
                return await asking(client)

        try:
            making.tell(await making.patient(work)())
        except Exception as error:
            making.tell(error)


async def make_all_async(calls: list[dict[str, Any]]) -> None:
    slots = asyncio.Semaphore(AT_ONCE)
    kept = {name: client_of() for name, (_, client_of) in ASYNC.items()}
    await asyncio.gather(*(make_async(call, kept, slots) for call in calls))
    await kept["httpx-async"].aclose()
    await kept["aiohttp"].close()


def main() -> None:
    logging.getLogger("outlast").setLevel(logging.CRITICAL)
    calls = [json.loads(line) for line in sys.stdin]
    asynchronous = [call for call in calls if call["client"] in ASYNC]
    loop = threading.Thread(target=lambda: asyncio.run(make_all_async(asynchronous)))
    loop.start()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(make, [call for call in calls if call["client"] in SYNC]))
    loop.join()


main()
