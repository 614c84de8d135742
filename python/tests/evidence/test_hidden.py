"""Attempts whose last request was never sent, and that did something before, or
elsewhere, all the same: none is made again as a write.
"""

from __future__ import annotations

import _socket
import asyncio
import concurrent.futures
import contextvars
import functools
import multiprocessing
import multiprocessing.connection
import os
import queue
import socket
import subprocess
import sys
import threading
import xmlrpc.client
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import aiohttp
import anyio
import httpx
import httpx_retries
import pytest
import requests
import tenacity
import trio
import urllib3

import outlast
import outlast.testing
from outlast import Policy
from outlast._evidence.handing import audit
from outlast._evidence.requests import current

from .servers import Server, closed_port, closes, dies, ok, quick, says, serving


def write(**options: Any) -> Any:
    """Makes a function a write."""
    return outlast.retry(remote=True, write=True, **options)


FORK = multiprocessing.get_context("fork")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as one:
        yield one


@pytest.fixture
def dead() -> str:
    return f"http://127.0.0.1:{closed_port()}/"


def indeterminate(attempt: Callable[[], Any], why: str, **options: Any) -> None:
    """A write that ends after one attempt, and says what was no evidence."""
    made = write(budget=60, **options)(attempt)
    call = (lambda: asyncio.run(made())) if asyncio.iscoroutinefunction(attempt) else made
    with outlast.testing.virtual_time(), pytest.raises(outlast.Indeterminate) as raised:
        call()
    outcome = raised.value.outcome
    assert outcome.attempts == 1
    assert why in outcome.evidence
    assert ("repeatable" if "left" in why else "only_request=True") in str(raised.value)


# What was seen to be applied twice, or twenty times.


def test_a_kept_connection_of_xmlrpc(server: Server) -> None:
    with xmlrpc.client.ServerProxy(server.url) as proxy:
        proxy.first()
        server.script = [dies(0.3)]
        with pytest.raises(outlast.Indeterminate):
            write(policy=Policy(quick()))(lambda: proxy.second(2))()
    assert server.applied == 2


def test_xmlrpc_makes_a_request_once(server: Server) -> None:
    """Its connection breaks, and a server that is there would take it a second time."""
    with xmlrpc.client.ServerProxy(server.url) as proxy:
        proxy.first()
        server.script = [closes]
        indeterminate(lambda: proxy.second(2), "left")
        assert server.applied == 2
        proxy.third(3)  # outside of an attempt it does as ever


def test_two_requests(server: Server, dead: str) -> None:
    def both() -> None:
        httpx.post(server.url, content=b"x")
        httpx.post(dead, content=b"x")

    indeterminate(both, f"a request by httpx to 127.0.0.1:{server.port} had left")
    assert server.applied == 1


@pytest.mark.parametrize("slow", [0.0, 0.3])
def test_two_requests_at_once(server: Server, dead: str, slow: float) -> None:
    """The first is on its way, or has not begun, when the second is refused."""

    async def first(client: httpx.AsyncClient) -> None:
        await asyncio.sleep(slow)
        await client.post(server.url, content=b"x")

    async def both() -> None:
        async with httpx.AsyncClient() as client:
            a = asyncio.ensure_future(first(client))
            await asyncio.sleep(0 if slow else 0.2)
            await asyncio.gather(a, client.post(dead, content=b"x"))

    indeterminate(both, "still runs" if slow else "left")
    assert server.applied == (0 if slow else 1)


def redirected(server: Server, dead: str) -> Callable[[], Any]:
    server.script = [says(307, Location=dead)]
    return functools.partial(httpx.post, server.url, content=b"x", follow_redirects=True)


def test_a_redirect_in_a_pool_of_processes(server: Server, dead: str) -> None:
    post = redirected(server, dead)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=FORK) as pool:
        indeterminate(lambda: pool.submit(post).result(), "another thread or process")
    assert server.applied == 1


def test_a_redirect_by_hand(server: Server, dead: str) -> None:
    server.script = [says(307, Location=dead)]

    def by_hand() -> None:
        answer = requests.post(server.url, data=b"x", allow_redirects=False, timeout=5)
        requests.post(answer.headers["Location"], data=b"x", timeout=5)

    indeterminate(by_hand, f"a request by http.client to 127.0.0.1:{server.port} had left")
    assert server.applied == 1


def test_a_redirect_without_a_traceback(server: Server, dead: str) -> None:
    post = redirected(server, dead)

    def bare() -> None:
        error = None
        try:
            post()
        except httpx.ConnectError as e:
            error = httpx.ConnectError(str(e))
        assert error is not None
        raise error

    indeterminate(bare, "left")
    assert server.applied == 1


def test_a_client_that_tries_again_after_a_status(server: Server) -> None:
    server.script = [says(503), dies(0.3)]
    retry = httpx_retries.Retry(total=2, backoff_factor=0, allowed_methods=["POST"])
    with httpx.Client(transport=httpx_retries.RetryTransport(retry=retry)) as client:
        indeterminate(lambda: client.post(server.url, content=b"x"), "left")
    assert server.applied == 2  # within the one attempt


def test_tries_in_the_attempt(server: Server) -> None:
    server.script = [dies(0.3)]
    twice = tenacity.retry(stop=tenacity.stop_after_attempt(2), reraise=True)
    indeterminate(twice(lambda: httpx.post(server.url, content=b"x")), "left")
    assert server.applied == 1


def test_a_pool_that_follows_redirects(server: Server, dead: str) -> None:
    server.script = [says(307, Location=dead)]
    retries = urllib3.Retry(connect=0, redirect=5, total=5)
    with urllib3.PoolManager(retries=retries) as pool:
        indeterminate(lambda: pool.request("POST", server.url, body=b"x"), "left")
    assert server.applied == 1


# Where work may go that is seen by nobody.


def refused(dead: str) -> None:
    requests.post(dead, data=b"x", timeout=5)


def thread(_: str) -> None:
    threading.Thread(target=int).start()


def job(_: str) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()


def jobs_of_a_pool_of_threads(_: str) -> None:
    POOL.apply(int)


def process(_: str) -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def fork(_: str) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def spawn(_: str) -> None:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def shell(_: str) -> None:
    os.system("true")


def queued(_: str) -> None:
    JOBS.put("job")


def piped(_: str) -> None:
    one, two = multiprocessing.Pipe()
    with one, two:
        one.send("job")


def event(_: str) -> None:
    EVENT.set()


def condition(_: str) -> None:
    with CONDITION:
        CONDITION.notify()


def semaphore(_: str) -> None:
    threading.Semaphore().release()


def told_by_a_signal(_: str) -> None:
    os.kill(os.getpid(), 0)


def between_processes(_: str) -> None:
    FORK.Event().set()


def raw(url: str) -> None:
    sock = _socket.socket()
    sock.connect(("127.0.0.1", int(url.rsplit(":", 1)[1].strip("/"))))
    sock.close()


def datagram(_: str) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", ("127.0.0.1", 9))


def stacked(_: str) -> None:
    jobs: queue.Queue[str] = queue.LifoQueue()
    jobs.put("job")


def numbered(write: Callable[[int], Any]) -> Callable[[str], Any]:
    """Bytes on a socket that was there before, by its number."""

    def hand(url: str) -> None:
        with socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1].strip("/")))) as one:
            write(one.fileno())

    hand.__name__ = write.__name__
    return hand


def os_write(number: int) -> None:
    os.write(number, b"x")


def os_writev(number: int) -> None:
    os.writev(number, [b"x"])


def os_sendfile(number: int) -> None:
    with Path(__file__).open("rb") as file:
        os.sendfile(number, file.fileno(), 0, 1)


def os_splice(number: int) -> None:
    one, two = os.pipe()
    os.close(two)
    os.splice(one, number, 1)
    os.close(one)


def os_write_to_a_pipe(_: str) -> None:
    one, two = os.pipe()
    os.write(two, b"x")
    os.close(one)
    os.close(two)


EVENT = threading.Event()
CONDITION = threading.Condition()
JOBS: queue.Queue[str] = queue.Queue()
POOL: Any = None


@pytest.fixture(autouse=True, scope="module")
def pool() -> Iterator[None]:
    global POOL
    from multiprocessing.pool import ThreadPool

    with ThreadPool(1) as POOL:
        yield


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    ("hand", "why"),
    [
        (thread, "a thread was started"),
        (job, "another thread or process"),
        (jobs_of_a_pool_of_threads, "pool of processes or threads"),
        (process, "a process was started"),
        (fork, "a process was started"),
        (spawn, "a process was started"),
        (shell, "a process was started"),
        (queued, "put on a queue"),
        (stacked, "put on a queue"),
        (piped, "sent to a process"),
        (numbered(os_write), "by its number"),
        (numbered(os_writev), "by its number"),
        (numbered(os_sendfile), "by its number"),
        (numbered(os_splice), "by its number"),
        (os_write_to_a_pipe, "by its number"),
        (event, "others were told"),
        (condition, "others were told"),
        (semaphore, "others were told"),
        (told_by_a_signal, "another process"),
        (between_processes, "others were told"),
        (raw, "a connection was made that was not watched"),
        (datagram, "bytes were written to a socket"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_work_that_goes_elsewhere(
    hand: Callable[[str], Any], why: str, server: Server, dead: str
) -> None:
    def attempt() -> None:
        hand(server.url)
        refused(dead)

    indeterminate(attempt, why)


def test_a_socket_that_was_there_before(server: Server, dead: str) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as kept:

        def attempt() -> None:
            kept.sendall(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            kept.recv(1000)
            refused(dead)

        indeterminate(attempt, "bytes were written to a socket")
    assert server.applied == 1


def test_a_stream_that_was_there_before(server: Server, dead: str) -> None:
    async def main() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)

        async def attempt() -> None:
            writer.write(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            async with aiohttp.ClientSession() as session:
                await session.post(dead, data=b"x")

        with outlast.testing.virtual_time(), pytest.raises(outlast.Indeterminate):
            await write(budget=60)(attempt)()
        writer.close()
        await writer.wait_closed()

    asyncio.run(main())
    assert server.applied == 1


def test_a_queue_of_asyncio(dead: str) -> None:
    async def attempt() -> None:
        jobs: asyncio.Queue[str] = asyncio.Queue()
        await jobs.put("job")
        async with httpx.AsyncClient() as client:
            await client.post(dead)

    indeterminate(attempt, "put on a queue")


def test_another_threads_loop(dead: str) -> None:
    loop = asyncio.new_event_loop()
    other = threading.Thread(target=loop.run_forever)
    other.start()

    def attempt() -> None:
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
        refused(dead)

    indeterminate(attempt, "another thread or process")
    loop.call_soon_threadsafe(loop.stop)
    other.join()
    loop.close()


async def task_of_trio() -> None:
    trio.lowlevel.current_task().parent_nursery.start_soon(trio.sleep, 0)  # type: ignore[union-attr]


async def system_task_of_trio() -> None:
    trio.lowlevel.spawn_system_task(trio.sleep, 0)


async def channel_of_trio() -> None:
    into, out = trio.open_memory_channel[str](1)
    async with into, out:
        await into.send("job")


async def channel_of_anyio() -> None:
    into, out = anyio.create_memory_object_stream[str](1)
    async with into, out:
        await into.send("job")


async def task_in_another_context() -> None:
    made = contextvars.Context().run(contextvars.copy_context)
    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 11):
        await loop.create_task(asyncio.sleep(0), context=made)
    else:
        pytest.skip("tasks have no context of their own")


async def call_of_another_context() -> None:
    loop = asyncio.get_running_loop()
    loop.call_soon_threadsafe(int, context=contextvars.Context())


async def call_soon() -> None:
    asyncio.get_running_loop().call_soon(lambda: None)


async def call_later() -> None:
    asyncio.get_running_loop().call_later(0.01, lambda: None)


async def task_without_the_loop() -> None:
    TASKS.append(asyncio.Task(asyncio.sleep(0.01)))


async def callback_of_a_future() -> None:
    future = asyncio.get_running_loop().create_future()
    future.add_done_callback(lambda _: None)
    future.set_result(None)


TASKS: list[Any] = []


@pytest.mark.parametrize(
    ("runs", "hand", "why"),
    [
        (trio.run, task_of_trio, "a task was begun"),
        (trio.run, system_task_of_trio, "a task was begun"),
        (trio.run, channel_of_trio, "sent on a channel"),
        (trio.run, channel_of_anyio, "sent on a channel"),
        (anyio.run, channel_of_anyio, "sent on a channel"),
        (anyio.run, task_in_another_context, "in another context"),
        (anyio.run, call_of_another_context, "from outside of it"),
        (anyio.run, call_soon, "still to run"),
        (anyio.run, call_later, "still to run"),
        (anyio.run, task_without_the_loop, "still to run"),
        (anyio.run, callback_of_a_future, "still to run"),
    ],
)
def test_work_that_an_event_loop_gets(runs: Any, hand: Any, why: str, dead: str) -> None:
    async def attempt() -> None:
        async with httpx.AsyncClient() as client:
            try:
                await client.post(dead)
            finally:
                await hand()

    async def main() -> None:
        with outlast.testing.virtual_time(), pytest.raises(outlast.Indeterminate) as raised:
            await write(budget=60)(attempt)()
        assert why in raised.value.outcome.evidence

    runs(main)


def test_what_is_sent_after_the_attempt(server: Server, dead: str) -> None:
    """In its context, which somebody keeps: then the next attempt is not made."""
    made, contexts = [], list[contextvars.Context]()

    async def main() -> None:
        loop, tasks = asyncio.get_running_loop(), set[Any]()
        async with httpx.AsyncClient() as client:

            def late() -> None:
                tasks.add(loop.create_task(client.post(server.url, content=b"late")))

            async def attempt() -> None:
                made.append(1)
                try:
                    await client.post(dead, content=b"x")
                finally:
                    contexts.append(contextvars.copy_context())

            async def after_the_first() -> None:
                while not contexts:
                    await asyncio.sleep(0.01)
                contexts[0].run(late)

            tasks.add(loop.create_task(after_the_first()))
            await write()(attempt)()

    with pytest.raises(outlast.Indeterminate, match="after that had ended: a request by httpx"):
        asyncio.run(main())
    assert len(made) == 1


BUSY = outlast.Result(http_status=503, only_request=True)


def test_what_is_sent_after_the_attempt_and_a_value_that_is_judged(dead: str) -> None:
    """The value is of an attempt before the one that was not made, so it is not the call's."""
    first: list[Any] = []

    @outlast.retry(
        remote=True,
        write=True,
        refuses_before_acting=True,
        judge=lambda busy: BUSY if busy else None,
    )
    def ask() -> bool:
        if not first:
            first.append(current.get())
            httpx.post(dead, content=b"x")
        first[0].sends("something late")
        return True

    in_doubt = pytest.raises(outlast.Indeterminate, match="after that had ended: something late")
    with outlast.testing.virtual_time(), in_doubt:
        ask()


def test_an_event_of_asyncio(dead: str) -> None:
    async def attempt() -> None:
        asyncio.Event().set()
        async with httpx.AsyncClient() as client:
            await client.post(dead)

    indeterminate(attempt, "others were told")


# A claim, and what belies it.


def by_hand() -> None:
    raise ConnectionRefusedError


def test_a_claim() -> None:
    with outlast.testing.virtual_time(), pytest.raises(outlast.Exhausted):
        write(only_request=True, budget=10)(by_hand)()
    indeterminate(by_hand, "makes no request that is watched")


def test_a_function_that_may_send_what_is_not_seen(dead: str) -> None:
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()

    def attempt() -> None:
        jobs.put("job")
        refused(dead)

    indeterminate(attempt, "may make several requests", one_request=False)
    assert jobs.qsize() == 1


def test_a_claim_that_is_belied(server: Server, dead: str) -> None:
    def both(method: str) -> None:
        httpx.request(method, server.url)
        httpx.post(dead)

    indeterminate(lambda: both("POST"), "left", only_request=True)
    assert server.applied == 1
    # It is a claim of requests that may change something.
    with outlast.testing.virtual_time(), pytest.raises(outlast.Exhausted):
        write(only_request=True, budget=3)(lambda: both("GET"))()


def test_the_only_request_of_an_attempt(server: Server) -> None:
    def post(times: int) -> None:
        for _ in range(times - 1):
            httpx.post(server.url)
        httpx.post(server.url).raise_for_status()

    server.script = [says(404)]
    with pytest.raises(outlast.Failed) as raised:
        write()(lambda: post(1))()
    assert raised.value.outcome.effects == "none"
    server.script = [ok, says(404)]
    indeterminate(
        lambda: post(2), f"2 requests (a request by httpx to 127.0.0.1:{server.port}) had left"
    )


@pytest.mark.parametrize(
    ("status", "error"),
    [(409, outlast.Conflict), (412, outlast.PreconditionFailed), (422, outlast.Failed)],
)
def test_a_server_that_refuses_before_it_acts(
    server: Server, status: int, error: type[Exception]
) -> None:
    def post() -> None:
        httpx.post(server.url).raise_for_status()

    server.script = [says(status)] * 2
    with pytest.raises(error):
        write(refuses_before_acting=True, surface_conflict=True)(post)()
    indeterminate(post, "left")


def test_a_server_that_refuses_before_it_acts_is_asked_again(server: Server) -> None:
    server.script = [says(429), says(503, Retry_After="0")]
    with outlast.testing.virtual_time():
        write(refuses_before_acting=True)(lambda: httpx.post(server.url).raise_for_status())()
    assert server.applied == 3


def test_what_the_interpreter_does_at_its_end_is_no_error() -> None:
    """Its modules' names are None by then."""
    bare = FunctionType(
        audit.__code__, dict.fromkeys(audit.__globals__), "audit", audit.__defaults__
    )
    for event in ("open", "os.fork"):
        bare(event, ())
