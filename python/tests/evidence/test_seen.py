"""What keeps evidence whole, what takes it away, and how the watching comes and goes."""

from __future__ import annotations

import asyncio
import http.client
import logging
import logging.handlers
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import aiohttp
import anyio
import httpx
import pytest
import requests
import tenacity
import urllib3

import outlast
import outlast.testing
from httpxes import HTTPX
from outlast import Call, Policy, Result, hooks
from outlast._evidence import watch
from outlast._evidence.patches import Patches
from outlast._evidence.unseen import unseen
from outlast._evidence.unseen import unwatched as unwatched_for
from outlast.events import Event

from .clients import CLIENTS
from .servers import (
    Exchange,
    closed_port,
    closes,
    dies,
    drops,
    ok,
    quick,
    refuses,
    resets,
    serving,
)
from .test_matrix import awaited

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of failing clients


def write(**options: Any) -> Any:
    return outlast.retry(remote=True, write=True, **options)


def rides(attempt: Callable[[], Any]) -> None:
    """A write that nobody could have got, and so is made again."""
    made = write(budget=10)(attempt)
    call = (lambda: asyncio.run(made())) if asyncio.iscoroutinefunction(attempt) else made
    with outlast.testing.virtual_time(), pytest.raises(outlast.Exhausted) as raised:
        call()
    assert raised.value.outcome.attempts > 2


@pytest.fixture
def dead() -> str:
    return f"http://localhost:{closed_port()}/"


# A plain POST that is refused, in real time.


def test_every_client_rides_out_an_outage() -> None:
    """By the policy as it is, without any claim."""

    def post(name: str) -> int:
        with CLIENTS[name]("", False) as ask, serving(two=name.endswith(" h2")) as server:
            call = write()(lambda: ask(server.url, True))
            server.away(2)
            awaited(ask, call)
            return server.applied

    with ThreadPoolExecutor(len(CLIENTS)) as pool:
        assert list(pool.map(post, CLIENTS)) == [1] * len(CLIENTS)


# What is no request.


def test_logging_is_no_request(dead: str) -> None:
    with serving() as server:
        handlers: list[logging.Handler] = [
            logging.handlers.HTTPHandler(f"127.0.0.1:{server.port}", "/", "POST"),
            logging.handlers.DatagramHandler("127.0.0.1", 9),
            logging.handlers.QueueHandler(queue.Queue()),
        ]
        log = logging.getLogger("of the attempt")
        log.handlers, log.propagate = handlers, False

        def attempt() -> None:
            log.error("about to be refused")
            requests.post(dead, timeout=5)

        rides(attempt)
        assert server.applied > 2
        for handler in handlers:
            handler.close()


def test_a_thread_in_the_attempts_context(dead: str) -> None:
    async def attempt() -> None:
        await asyncio.to_thread(requests.post, dead, timeout=5)

    rides(attempt)


def test_a_thread_of_anyio(dead: str) -> None:
    async def attempt() -> None:
        await anyio.to_thread.run_sync(partial(requests.post, dead, timeout=5))

    rides(lambda: anyio.run(attempt))


def test_the_standard_streams(dead: str) -> None:
    def attempt() -> None:
        os.write(2, b"")
        with open(os.devnull, "wb") as file:
            os.write(file.fileno(), b"x")
        requests.post(dead, timeout=5)

    rides(attempt)


def test_a_loop_of_its_own(dead: str) -> None:
    """Which resolves a name on a thread, and ends that with itself."""

    async def post() -> None:
        async with aiohttp.ClientSession() as session:
            await session.post(dead)

    rides(lambda: asyncio.run(post()))


def test_tries_in_the_attempt_that_are_all_refused(dead: str) -> None:
    twice = tenacity.retry(stop=tenacity.stop_after_attempt(2), reraise=True)
    rides(twice(lambda: httpx.post(dead)))


def test_tasks_that_are_done(dead: str) -> None:
    async def attempt() -> None:
        async with httpx.AsyncClient() as client:
            both = await asyncio.gather(
                client.post(dead), client.post(dead), return_exceptions=True
            )
        raise both[0]  # type: ignore[misc]

    rides(attempt)


def test_a_call_in_an_attempt(dead: str) -> None:
    inner = write(budget=1, reraise=True)(lambda: requests.post(dead, timeout=5))
    rides(inner)


def test_a_call_in_an_attempt_that_sends() -> None:
    with serving(closes, closes) as server:

        @outlast.retry(remote=True, write=False, reraise=True, policy=Policy(quick()))
        def inner() -> requests.Response:
            return requests.get(server.url, timeout=5)

        def attempt() -> None:
            inner()
            raise ConnectionRefusedError

        with pytest.raises(outlast.Indeterminate, match="3 requests"):
            write()(attempt)()


def test_streams_of_asyncio(dead: str) -> None:
    async def attempt() -> None:
        await asyncio.open_connection("127.0.0.1", int(dead.rsplit(":", 1)[1].strip("/")))

    rides(attempt)


def test_a_function_that_gives_a_coroutine(dead: str) -> None:
    async def post() -> None:
        async with httpx.AsyncClient() as client:
            await client.post(dead)

    class Post:
        async def __call__(self) -> None:
            await post()

    async def main() -> None:
        later: Any = lambda: asyncio.ensure_future(post())  # noqa: E731
        for function in (partial(Post()), Post(), later):
            with outlast.testing.virtual_time(), pytest.raises(outlast.Exhausted) as raised:
                await write(budget=10)(function)()
            assert raised.value.outcome.attempts > 2

    asyncio.run(main())


def test_a_function_that_sends_and_gives_a_coroutine(dead: str) -> None:
    async def post() -> None:
        async with httpx.AsyncClient() as client:
            await client.post(dead)

    with serving() as server:

        def attempt() -> Any:
            requests.post(server.url, timeout=5)
            return post()

        with pytest.raises(outlast.Indeterminate):
            asyncio.run(write()(attempt)())
        assert server.applied == 1


# Programs in which something cannot be seen.


class Loop:
    """An event loop that writes by itself."""


def test_what_is_not_seen(monkeypatch: pytest.MonkeyPatch, dead: str) -> None:
    import asyncio.events as events

    monkeypatch.setitem(sys.modules, "psycopg2", ModuleType("psycopg2"))
    with pytest.raises(outlast.Indeterminate, match="psycopg2 is loaded"):
        write()(lambda: requests.post(dead, timeout=5))()
    monkeypatch.undo()
    assert unseen(sys.modules) == ""
    monkeypatch.setattr(events, "_get_running_loop", Loop)
    assert "event loop" in unseen(sys.modules)
    monkeypatch.undo()
    for name in ("gevent.monkey", "eventlet.patcher"):  # which is said, whatever else is not known
        module: Any = ModuleType(name)
        module.is_module_patched = module.is_monkey_patched = lambda what: what == "socket"
        assert "sockets are in place" in unseen({name: module})
    used: Any = SimpleNamespace(
        get_hub_if_exists=object, _threadlocal=SimpleNamespace(hub=1), is_thin_mode=lambda: False
    )
    for name in ("gevent.socket", "gevent._hub_local", "eventlet.hubs"):
        assert "is in use" in unseen({name: used})
    assert "thick mode" in unseen({"oracledb": used})


# Pools, and proxies of TCP.


def test_a_pool_of_dead_connections() -> None:
    """More of them than broken connections that a read may meet."""
    made = threading.Barrier(20)

    def together(exchange: Any) -> None:
        made.wait(10)
        ok(exchange)

    with serving(*[together] * 20, *[drops] * 20) as server, httpx.Client() as client:
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda _: client.get(server.url), range(20)))
        outcome = Policy(quick()).run(
            lambda: Result(http_status=client.get(server.url).status_code),
            outlast.Call(remote=True, write=False),
        )
    assert outcome.ok
    assert {entry.kind for entry in outcome.history} == {"stale_connection"}
    assert outcome.attempts == 21


def test_a_connection_that_was_made_after_the_first_failure() -> None:
    """It is no old one, though it was kept: it may be the read that kills the server."""
    with serving(drops) as server, requests.Session() as session:

        def attempt() -> None:
            server.script.insert(1, drops)
            session.get(server.url, timeout=5)  # makes a connection
            session.get(server.url, timeout=5)  # breaks it

        with pytest.raises(outlast.Exhausted) as raised:
            outlast.retry(remote=True, write=False, policy=Policy(quick()))(attempt)()
    assert [entry.kind for entry in raised.value.outcome.history] == ["interrupted"] * 3


def test_a_listener_that_closes_at_once() -> None:
    """Such as docker's proxy: a read waits for the server behind it."""
    with serving() as server:
        server.slams = 12
        read: Any = outlast.retry(remote=True, write=False, policy=Policy(quick()))
        read(lambda: urllib.request.urlopen(server.url, timeout=5).close())()
        server.slams = 12
        with pytest.raises(outlast.Indeterminate):
            write()(lambda: urllib.request.urlopen(server.url, b"x", timeout=5))()


def test_a_read_that_kills_its_server() -> None:
    with serving(*[closes] * 9) as server:
        read = outlast.retry(remote=True, write=False, policy=Policy(quick()))
        with pytest.raises(outlast.Exhausted) as raised:
            read(lambda: requests.get(server.url, timeout=5))()
    assert raised.value.outcome.attempts == server.applied == 3


def test_a_read_behind_a_clients_own_tries() -> None:
    import urllib3

    with serving() as server, urllib3.PoolManager() as pool:
        server.away(1.5)

        def ask() -> int:
            return pool.request("GET", server.url).status

        assert outlast.retry(remote=True, write=False, policy=Policy(quick()))(ask)() == 200


# The watching itself.


def test_it_is_taken_away_whole() -> None:
    code = (
        f"import {', '.join(name.replace('x', 'core') for name in HTTPX)}"
        + """
import anyio.streams.memory, anyio._backends._asyncio, asyncio
import ctypes.util, http.client, platform, aiohttp, urllib3, ssl, queue, trio
import xmlrpc.client, multiprocessing.queues, multiprocessing.synchronize
import concurrent.futures.thread, multiprocessing.pool, multiprocessing.connection, logging
import sys
from outlast._evidence import places, watch

wanted = {name for name in places.patches()._wanted if name != "httpcore2" or name in sys.modules}
def functions():
    for name in sorted(wanted):
        module = sys.modules[name]
        for kind in [module, *vars(module).values()]:
            if kind is module or isinstance(kind, type):
                for each, value in vars(kind).items():
                    if callable(value):
                        yield name, kind, each, value

before = {key[:3]: key[3] for key in functions()}
watch.install()
during = {key[:3]: key[3] for key in functions()}
changed = [key for key in during if during[key] is not before.get(key)]
assert len(changed) > 40, changed
assert {name for name, _, _ in changed} >= wanted, changed
watch.unwatch()
watch.install()
after = {key[:3]: key[3] for key in functions()}
assert after == before
assert not [f for f in sys.meta_path if type(f).__module__.startswith("outlast")]
"""
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_clients_that_the_attempt_loads() -> None:
    code = f"""
import importlib, outlast, outlast.testing, sys
def post(name):
    importlib.import_module(name).post("http://127.0.0.1:{closed_port()}/")
with outlast.testing.virtual_time():
    for name in {["requests", *HTTPX]}:
        assert name not in sys.modules
        try:
            outlast.retry(remote=True, write=True, budget=3)(post)(name)
        except outlast.Exhausted:
            continue
        raise AssertionError(name)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.skipif("httpx2" not in HTTPX, reason="there is no httpx2")
@pytest.mark.parametrize("first", ["", "httpx2.get; watch.install()"])
def test_httpx2_that_goes_by_the_name_of_httpx(first: str) -> None:
    """A module that has two names is watched once, and its transport is of both."""
    code = f"""
import httpx2, outlast, outlast.testing, sys
from outlast._evidence import watch
{first}
httpx2.alias_httpx()
import httpcore, httpx
from outlast._evidence.requests import Requests, Within

def post(transport):
    with httpx.Client(transport=transport) as client:
        client.post(sys.argv[1])

outlast.retry(remote=True, write=True)(post)(None)
seen = Requests()
with Within(seen):
    post(None)
assert seen.sent_one and "by httpx2" in seen.gone, seen.gone
with outlast.testing.virtual_time():
    for ours in (outlast.clients.httpx, outlast.clients.httpx2):
        try:
            post(ours.Transport(attempts=3, repeatable=True))
        except httpx2.ReadError as e:
            assert outlast.outcome_of(e).attempts == 3
        else:
            raise AssertionError
"""
    with serving(ok, ok, *[resets] * 6) as server:
        command = [sys.executable, "-W", "error", "-c", code, server.url]
        subprocess.run(command, check=True, timeout=60)
        assert server.applied == 8


def test_nothing_is_watched_before_a_call() -> None:
    code = """
import http.client, sys
send = http.client.HTTPConnection.send
import outlast
assert http.client.HTTPConnection.send is send
outlast.run_command(["true"], outlast.Call(remote=True, write=True), policy="curl")
assert http.client.HTTPConnection.send is send
outlast.retry(remote=True, write=True)(int)()
assert http.client.HTTPConnection.send is not send
assert "asyncio" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_a_release_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    from outlast._evidence import unseen

    monkeypatch.setattr(unseen, "unwatched", set())
    module = ModuleType("changed")
    monkeypatch.setitem(sys.modules, "changed", module)
    own = Patches({"changed": lambda each, what: each.replace(what.Gone, "send", lambda f: f)})
    own.install()
    own.remove()
    assert unseen.unseen({}) == "changed is of a release that is not known, and cannot be watched"


def test_what_somebody_else_put_on_top_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Client:
        def send(self) -> int:
            return 1

    module = ModuleType("client")
    module.Client = Client  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "client", module)

    def make(original: Any) -> Any:
        return lambda self: original(self) + 1

    own = Patches({"client": lambda each, what: each.replace(what.Client, "send", make)})
    own.install()
    assert Client().send() == 2
    under = Client.send
    Client.send = lambda self: under(self) + 10  # type: ignore[method-assign]
    own.remove()
    assert Client().send() == 12


@pytest.fixture
def unwatched() -> Iterator[None]:
    watch.unwatch()
    yield
    watch._off = False
    unwatched_for.clear()


def test_without_watching(unwatched: None, dead: str) -> None:
    with pytest.raises(outlast.Indeterminate):
        write()(lambda: requests.post(dead, timeout=5))()
    with outlast.testing.virtual_time(), pytest.raises(outlast.Exhausted):
        write(budget=5, only_request=True)(lambda: requests.post(dead, timeout=5))()


def test_half_a_watch(dead: str) -> None:
    """Somebody has wrapped a client's methods meanwhile, so that they stay."""

    def wrapped(original: Any) -> Any:
        def by_somebody(*args: Any) -> Any:
            return original(*args)

        return by_somebody

    watch.install()
    methods: list[tuple[Any, str]] = [
        (http.client.HTTPConnection, "send"),
        (urllib3.connection.HTTPConnection, "connect"),
    ]
    ours = [getattr(*method) for method in methods]
    for method, own in zip(methods, ours, strict=True):
        setattr(*method, wrapped(own))
    watch.unwatch()
    try:
        with pytest.raises(outlast.Indeterminate, match=r"unwatch\(\) has ended"):
            write()(lambda: requests.post(dead, timeout=5))()
    finally:
        for method, own in zip(methods, ours, strict=True):
            setattr(*method, own.__wrapped__)
        watch._off = False
        unwatched_for.clear()


def test_a_request_of_another_attempt_on_the_same_connection() -> None:
    with serving() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)

        def attempt() -> None:
            connection.request("POST", "/", b"x")
            connection.getresponse().read()

        write()(attempt)()
        server.script = [dies(0.3)]
        with pytest.raises(outlast.Indeterminate, match="a request by http.client"):
            write(policy=Policy(quick()))(attempt)()
        connection.close()
        assert server.applied == 2


# A document of a user's own from before these words.


BACKOFF = {"type": "linear", "base": "1ms", "cap": "1ms"}

OLDER = {
    "version": 1,
    "name": "older",
    "budgets": {"away": {"attempts": 3, "backoff": BACKOFF}},
    "rules": [
        {
            "kind": "away",
            "when": [
                {"text": [{"in": "cause", "at": 1, "is": ["client error (Connect)"]}]},
            ],
            "then": [{"retry": "away"}],
        },
        {"kind": "other", "then": [{"stop": {"effects": "unknown"}}]},
    ],
}


def test_an_older_document_knows_failures_by_texts(dead: str) -> None:
    policy = Policy(OLDER)
    with pytest.raises(outlast.Exhausted) as raised:
        write(policy=policy)(lambda: requests.post(dead, timeout=5))()
    assert raised.value.outcome.attempts == 3
    assert "client error (Connect)" in raised.value.outcome.last_error

    def by_hand() -> None:
        raise ConnectionRefusedError

    with pytest.raises(outlast.Indeterminate):
        write(policy=policy)(by_hand)()
    with pytest.raises(outlast.Exhausted):
        outlast.retry(remote=True, write=False, policy=policy)(by_hand)()


def test_a_plugin_that_has_no_words_for_it() -> None:
    from outlast._policy.request import told, told_result
    from outlast._wire.types import WireCall

    class Older(outlast.Plugin):
        def knows(self, minor: int) -> bool:
            return minor < 3

    call = outlast.Call(remote=True, write=False, refuses_before_acting=True)
    members: WireCall = call._members(1)
    assert "refuses_before_acting" not in told(members, Older())
    cut = Result(http_status=200, failure="cut", only_request=True, message="x")
    policy = Policy({**quick(), "name": "asks"}, check=False, plugin=Older())
    assert told_result(cut, call, policy) == {"message": "x"}
    assert told_result(cut, call, Policy()) == cut._members()


def test_clients_that_come_and_go_in_an_attempt() -> None:
    """What their loops, locks and pools do is their own affair."""

    async def by_httpx(of: Any, url: str) -> None:
        async with of.AsyncClient() as client:
            (await client.post(url)).raise_for_status()

    async def by_aiohttp(url: str) -> None:
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            await session.post(url)

    def by_requests(url: str) -> None:
        with requests.Session() as session:
            session.post(url, timeout=5).raise_for_status()

    for post in (*(partial(by_httpx, of) for of in HTTPX.values()), by_aiohttp, by_requests):
        with serving(refuses) as server:
            made = write()(post)
            with pytest.raises(outlast.Failed) as raised:
                (asyncio.run(made(server.url)) if post is not by_requests else made(server.url))
            assert raised.value.outcome.effects == "none", post


@pytest.mark.parametrize("of", HTTPX.values(), ids=HTTPX)
def test_a_connection_that_others_wait_for(of: Any) -> None:
    """Its pool tells one of them when a request is through. That hides nothing of it."""
    client = of.Client(limits=of.Limits(max_connections=1))
    pool = client._transport._pool

    def busy(exchange: Exchange) -> None:
        other.start()
        while len(pool._requests) < 2:
            time.sleep(0.01)
        exchange.respond(429, Retry_After="0")

    with client, serving(busy) as server:
        other = threading.Thread(target=client.get, args=[server.url])
        asks_again = write(refuses_before_acting=True, policy=Policy(quick()))
        asks_again(lambda: client.post(server.url).raise_for_status())()
        other.join()
        assert server.applied == 2


def away(exchange: Exchange) -> None:
    """A proxy that makes no tunnel."""
    assert exchange.request.startswith(b"CONNECT ")
    exchange.respond(503)
    exchange.stays = False


TO = "https://127.0.0.1:9/"


def by_urllib(proxy: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"https": proxy}))
    opener.open(TO, data=b"x", timeout=5)


def by_requests(proxy: str) -> None:
    requests.post(TO, proxies={"https": proxy}, timeout=5)


def by_urllib3(proxy: str) -> None:
    with urllib3.ProxyManager(proxy, retries=False) as pool:
        pool.request("POST", TO)


def by_httpx(of: Any, proxy: str) -> None:
    of.post(TO, proxy=proxy)


def by_aiohttp(proxy: str) -> None:
    async def post() -> None:
        async with aiohttp.ClientSession() as session:
            await session.post(TO, proxy=proxy)

    asyncio.run(post())


@pytest.mark.parametrize(
    "post",
    [
        by_urllib,
        by_requests,
        by_urllib3,
        by_aiohttp,
        *(partial(by_httpx, of) for of in HTTPX.values()),
    ],
)
def test_a_proxy_that_makes_no_tunnel(post: Callable[[str], None], dead: str) -> None:
    """What it is asked for is no request of the attempt's."""
    with serving(*[away] * 20) as server:
        rides(lambda: post(server.url))
    rides(lambda: post(dead))


class Sending(hooks.PerCallHook, hooks.CallHook):
    """Sends whenever it can."""

    def __init__(self, url: str) -> None:
        self._url = url

    def send(self) -> None:
        httpx.post(self._url, content=b"x")

    def begin(self, call: Call, policy: str, command: str) -> hooks.CallHook:
        self.send()
        return self

    def __call__(self, event: Event) -> None:
        self.send()

    @contextmanager
    def _around(self) -> Iterator[None]:
        self.send()
        yield
        self.send()

    def attempt(self, number: int, at: float) -> AbstractContextManager[None]:
        return self._around()

    def end(self, error: BaseException | None) -> None:
        self.send()


def test_what_a_hook_sends_is_no_part_of_an_attempt(dead: str) -> None:
    with serving() as server:

        @outlast.retry(remote=True, write=True, budget=2, observe=Sending(server.url))
        def post() -> None:
            httpx.post(dead, content=b"x")

        with outlast.testing.virtual_time(), pytest.raises(outlast.Exhausted) as raised:
            post()
        attempts = raised.value.outcome.attempts
        assert attempts > 1
        assert server.applied > attempts * 3
