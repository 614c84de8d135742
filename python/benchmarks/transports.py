"""What a transport costs a request that succeeds, beside the same client without it.

    python benchmarks/transports.py

Requests of both kinds follow each other in pairs, in one process, on connections that are
kept, to a server in another process which answers with 2 bytes. Of each pair's difference
the median counts, of several processes the least: what others do on the machine only adds.
"""

from __future__ import annotations

import asyncio
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

RUNS = int(os.environ.get("RUNS", "5"))
PAIRS = int(os.environ.get("PAIRS", "2000"))
MOST = 20e-6
"""Seconds that a request may cost more, where 5 % of it are less."""

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok"


class Server(asyncio.Protocol):
    """Answers each request, which comes in one piece."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, _data: bytes) -> None:
        self.transport.write(ANSWER)


def serve() -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(main())


Ask = Callable[[], Any]


def compare(bare: Ask, ours: Ask) -> tuple[float, float]:
    """The median of the bare one, and that of the pairs' differences."""
    for _ in range(50):
        bare(), ours()
    alone, more = [], []
    for turn in range(PAIRS):
        times = {}
        for ask in (bare, ours) if turn % 2 else (ours, bare):
            began = perf_counter()
            ask()
            times[ask] = perf_counter() - began
        alone.append(times[bare])
        more.append(times[ours] - times[bare])
    return statistics.median(alone), statistics.median(more)


async def acompare(bare: Ask, ours: Ask) -> tuple[float, float]:
    """The same in an event loop."""
    for _ in range(50):
        await bare()
        await ours()
    alone, more = [], []
    for turn in range(PAIRS):
        times = {}
        for ask in (bare, ours) if turn % 2 else (ours, bare):
            began = perf_counter()
            await ask()
            times[ask] = perf_counter() - began
        alone.append(times[bare])
        more.append(times[ours] - times[bare])
    return statistics.median(alone), statistics.median(more)


def by_httpx(name: str, url: str) -> tuple[float, float]:
    """By httpx or httpx2."""
    of = import_module(name)
    bare = of.Client(transport=of.HTTPTransport())
    ours = of.Client(transport=import_module(f"outlast.clients.{name}").Transport())
    with bare, ours:
        return compare(lambda: bare.get(url), lambda: ours.get(url))


def by_httpx_async(name: str, url: str) -> tuple[float, float]:
    of = import_module(name)

    async def main() -> tuple[float, float]:
        bare = of.AsyncClient(transport=of.AsyncHTTPTransport())
        ours = of.AsyncClient(transport=import_module(f"outlast.clients.{name}").AsyncTransport())
        async with bare, ours:
            return await acompare(lambda: bare.get(url), lambda: ours.get(url))

    return asyncio.run(main())


def by_requests(url: str) -> tuple[float, float]:
    import requests

    from outlast.clients.requests import HTTPAdapter

    with requests.Session() as bare, requests.Session() as ours:
        bare.trust_env = ours.trust_env = False
        ours.mount("http://", HTTPAdapter())
        return compare(lambda: bare.get(url), lambda: ours.get(url))


def by_urllib3(url: str) -> tuple[float, float]:
    import urllib3

    from outlast.clients.urllib3 import PoolManager

    with urllib3.PoolManager() as bare, PoolManager() as ours:
        return compare(lambda: bare.request("GET", url), lambda: ours.request("GET", url))


def by_aiohttp(url: str) -> tuple[float, float]:
    import aiohttp

    from outlast.clients.aiohttp import session

    async def ask(client: aiohttp.ClientSession) -> None:
        async with client.get(url) as answer:
            await answer.read()

    async def main() -> tuple[float, float]:
        async with aiohttp.ClientSession() as bare, session() as ours:
            return await acompare(lambda: ask(bare), lambda: ask(ours))

    return asyncio.run(main())


CLIENTS: dict[str, Callable[[str], tuple[float, float]]] = {
    "httpx": partial(by_httpx, "httpx"),
    "httpx, asyncio": partial(by_httpx_async, "httpx"),
    "httpx2": partial(by_httpx, "httpx2"),
    "httpx2, asyncio": partial(by_httpx_async, "httpx2"),
    "requests": by_requests,
    "urllib3": by_urllib3,
    "aiohttp": by_aiohttp,
}


def measure(client: str) -> None:
    """One client in this process."""
    command = [sys.executable, __file__, "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            print(*CLIENTS[client](f"http://127.0.0.1:{int(server.stdout.readline())}/"))
        finally:
            server.kill()


def main() -> None:
    """Measure all and print a table; exit with 1 if one costs more than it may."""
    print(f"CPython {platform.python_version()}, {RUNS} processes, {PAIRS} pairs each\n")
    print("| client | alone | more with outlast | of it |\n|---|---|---|---|")
    worse = False
    for client in CLIENTS:
        command = [sys.executable, __file__, client]
        runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(RUNS)]
        alone, more = map(min, zip(*(map(float, run.stdout.split()) for run in runs), strict=True))
        worse = worse or more > max(MOST, alone / 20)
        figures = f"{alone * 1e6:.0f} µs | {more * 1e6:.0f} µs | {more / alone:.1%}"
        print(f"| {client} | {figures} |", flush=True)
    sys.exit(worse)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[1] == "serve":
        serve()
    else:
        measure(sys.argv[1])
