"""What a transport does besides what becomes of a fault: bodies, responses, options."""

from __future__ import annotations

import array
import asyncio
import base64
import gc
import hashlib
import io
import os
import pickle
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import aiohttp
import httpx
import pytest
import requests
import urllib3
from typing_extensions import Never

import outlast
import outlast.clients
from evidence.faults import NO_ROUTE
from evidence.servers import (
    Exchange,
    Server,
    closed_port,
    closes,
    ok,
    quick,
    resets,
    says,
    serving,
)
from httpxes import HTTPX
from outlast import Policy
from outlast import events as e
from outlast._watch.target import Target
from outlast.testing import VirtualClock, no_retries

from .kinds import CLIENTS, REFUSED

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of failing clients

of_each = pytest.mark.parametrize("of", HTTPX.values(), ids=HTTPX)
"""With httpx, and with httpx2."""


def ours(of: Any) -> Any:
    """The module with its transports."""
    return getattr(outlast.clients, of.__name__)


each = pytest.mark.parametrize("client", list(CLIENTS))

READ_WHOLE = ("requests", "urllib3")
"""The clients whose answers are read to their end, and their connections kept."""

PUT = {"repeatable": True}


def returns(server: Server, after: int = 2) -> Callable[[e.Event], None]:
    """Lets a server come back once so many attempts have ended."""

    def told(event: e.Event) -> None:
        if isinstance(event, e.AttemptEnded) and event.attempt == after:
            server.start()

    return told


class Keeps:
    """Answers by a script, and keeps the bodies that came."""

    def __init__(self, *statuses: int) -> None:
        self.statuses, self.got = list(statuses), list[bytes]()

    def __call__(self, exchange: Exchange) -> None:
        _, _, body = exchange.request.partition(b"\r\n\r\n")
        self.got.append(body)
        exchange.apply()
        exchange.respond(self.statuses.pop(0) if self.statuses else 200)


@pytest.fixture(autouse=True, scope="module")
def collected() -> Iterator[None]:
    """httpcore leaves a Unix socket open that found nobody: its warning belongs here, not to
    the test that happens to run when it is collected.
    """
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def quiet(events: list[e.Event]) -> list[e.Event]:
    return events


# What comes out in the end.


@each
def test_the_clients_own_exception_comes_out(client: str, clock: VirtualClock) -> None:
    url = f"http://127.0.0.1:{closed_port()}/"
    with CLIENTS[client](budget=5) as ask, pytest.raises(REFUSED[client]) as raised:
        ask("POST", url, b"x")
    outcome = outlast.outcome_of(raised.value)
    assert outcome is not None
    assert (outcome.type, outcome.reason) == ("exhausted", "call")
    assert clock.now() == pytest.approx(5)
    assert any(
        "gave up after" in note for note in getattr(raised.value, "__notes__", ["gave up after"])
    )


@each
def test_a_call_error_for_whoever_wants_that(client: str, clock: VirtualClock) -> None:
    url = f"http://127.0.0.1:{closed_port()}/"
    gave_up = pytest.raises(outlast.Exhausted, match="POST 127.0.0.1: gave up")
    with CLIENTS[client](attempts=2, reraise=False) as ask, gave_up as raised:
        ask("POST", url, b"x")
    assert isinstance(raised.value.__cause__, REFUSED[client])


@each
def test_the_last_response_comes_out_readable(client: str, clock: VirtualClock) -> None:
    answers = [says(503, body=b"no %d" % n) for n in range(3)]
    with serving(*answers) as server, CLIENTS[client](attempts=2) as ask:
        got = ask("GET", server.url)
    assert (got.status, got.text, server.applied) == (503, b"no 1", 2)
    outcome = outlast.outcome_of(got.response)
    assert outcome is not None
    assert (outcome.type, outcome.reason) == ("exhausted", "attempts")


@each
def test_a_write_that_a_status_leaves_in_doubt(client: str, clock: VirtualClock) -> None:
    with serving(says(503)) as server, CLIENTS[client]() as ask:
        got = ask("PUT", server.url, b"x")
    assert (got.status, server.applied) == (503, 1)
    assert getattr(outlast.outcome_of(got.response), "type", "") == "indeterminate"


@each
def test_answers_that_no_rule_waits_for_are_the_callers(
    client: str, clock: VirtualClock, quiet: list[e.Event]
) -> None:
    with serving(says(404), says(500), says(409)) as server, CLIENTS[client]() as ask:
        for status in (404, 500, 409, 200):
            got = ask("POST", server.url, b"x")
            assert got.status == status
            assert outlast.outcome_of(got.response) is None
    assert not [event for event in quiet if isinstance(event, (e.Loaded, e.Waiting))]
    ends = [event.outcome.type for event in quiet if isinstance(event, e.Stopped)]
    assert ends == ["ok"] * 4


@each
def test_a_redirect_is_a_success_after_an_outage_too(
    client: str, clock: VirtualClock, quiet: list[e.Event]
) -> None:
    for method in ("GET", "POST"):
        for status in (303, 304):
            server = Server(says(status))
            with CLIENTS[client](observe=returns(server)) as ask:
                got = ask(method, server.url)
            server.stop()
            outcome = outlast.outcome_of(got.response)
            assert outcome is not None
            assert (got.status, outcome.type, outcome.attempts) == (status, "ok", 3)


@pytest.mark.parametrize("client", [name for name in CLIENTS if name not in READ_WHOLE])
def test_what_is_dropped_is_closed_before_the_wait(client: str) -> None:
    """A server that drains waits for the connections that it has."""
    left, found = threading.Event(), list[bool]()

    def refuse(exchange: Exchange) -> None:
        with suppress(ConnectionError):  # what the client has not read, its end resets
            exchange.respond(503, b"x" * 500_000)
            while exchange.connection.recv(65536):
                pass
        exchange.stays = False
        left.set()

    def again(exchange: Exchange) -> None:
        found.append(left.is_set())
        exchange.respond()

    with serving(refuse, again) as server, CLIENTS[client](policy=Policy(quick())) as ask:
        assert ask("GET", server.url).status == 200
    assert found == [True]


# Bodies.


@each
def test_bytes_are_sent_again(client: str, clock: VirtualClock) -> None:
    keeps = Keeps(503, 503)
    with serving(keeps, keeps, keeps) as server, CLIENTS[client](**PUT) as ask:
        assert ask("PUT", server.url, b"all of it").status == 200
    assert keeps.got == [b"all of it"] * 3


def parts() -> Iterator[bytes]:
    yield b"one"
    yield b"two"


@each
def test_a_stream_that_was_read_is_not_sent_again(client: str, clock: VirtualClock) -> None:
    keeps = Keeps(503)
    with serving(keeps, keeps) as server, CLIENTS[client](**PUT) as ask:
        got = ask("PUT", server.url, parts())
    assert (got.status, len(keeps.got)) == (503, 1)
    outcome = outlast.outcome_of(got.response)
    assert outcome is not None
    assert "not tried again, since it cannot be repeated" in outcome.message
    assert "can be read only once, and was read" in outcome.evidence


@each
def test_a_stream_that_was_not_read_is(client: str, clock: VirtualClock) -> None:
    keeps = Keeps()
    server = Server(keeps)
    with CLIENTS[client](observe=returns(server)) as ask:
        assert ask("POST", server.url, parts()).status == 200
    server.stop()
    (body,) = keeps.got
    assert b"one" in body
    assert b"two" in body


@pytest.mark.parametrize("client", ["requests", "urllib3", "aiohttp"])
def test_a_file_is_sent_from_where_it_stood(client: str, clock: VirtualClock) -> None:
    keeps, file = Keeps(503), io.BytesIO(b"not this, but this")
    file.seek(len(b"not this, "))
    with serving(keeps, keeps) as server, CLIENTS[client](**PUT) as ask:
        assert ask("PUT", server.url, file).status == 200
    assert [b"but this" in body and b"not" not in body for body in keeps.got] == [True, True]


def test_a_pipe_cannot_be_sent_again(clock: VirtualClock) -> None:
    keeps, (reads, writes) = Keeps(503), os.pipe()
    with open(writes, "wb") as pipe:
        pipe.write(b"piped")
    with (
        serving(keeps, keeps) as server,
        CLIENTS["urllib3"](**PUT) as ask,
        open(reads, "rb") as file,
    ):
        assert ask("PUT", server.url, file).status == 503
    assert len(keeps.got) == 1


class Ahead:
    """Knows where it stands, and reads only ahead."""

    def __init__(self, content: bytes) -> None:
        self._file = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def tell(self) -> int:
        return self._file.tell()


@pytest.mark.parametrize("client", ["requests", "urllib3"])
@pytest.mark.parametrize("kind", ["answer", "file"])
def test_what_reads_only_ahead_is_sent_once(client: str, kind: str, clock: VirtualClock) -> None:
    """Such as another server's answer, which is passed on."""
    keeps = Keeps(200, 503)
    with serving(*[says(200, body=b"passed on")] * 2) as other, serving(keeps, keeps) as server:
        for status in (200, 503):
            with (
                requests.get(other.url, stream=True, timeout=5) as given,
                CLIENTS[client](**PUT) as ask,
            ):
                body = given.raw if kind == "answer" else Ahead(b"passed on")
                assert ask("PUT", server.url, body).status == status
    assert len(keeps.got) == 2
    assert all(b"passed on" in body for body in keeps.got)


def test_any_buffer_is_sent_again(clock: VirtualClock) -> None:
    for given in (array.array("b", b"all"), bytearray(b"all"), memoryview(b"all")):
        keeps = Keeps(503)
        with serving(keeps, keeps) as server, CLIENTS["urllib3"](**PUT) as ask:
            assert ask("PUT", server.url, given).status == 200
        assert [b"all" in body for body in keeps.got] == [True, True]


# Which writes are repeated.


@each
def test_a_put_is_a_write(client: str, clock: VirtualClock) -> None:
    """aiohttp by itself would make it twice."""
    for method in ("PUT", "DELETE", "PATCH"):
        with serving(ok, closes, closes) as server, CLIENTS[client]() as ask:
            ask("GET", server.url)
            with pytest.raises(Exception) as raised:
                ask(method, server.url)
        assert getattr(outlast.outcome_of(raised.value), "type", "") == "indeterminate"
        assert server.applied == 2


@each
@pytest.mark.parametrize(
    ("options", "headers", "applied"),
    [
        ({"repeatable": True}, {}, 2),
        ({"repeatable": "PUT /items/*"}, {}, 2),
        ({"repeatable": ["DELETE /**", "PUT /items/*/name"]}, {}, 1),
        ({"repeatable": lambda request: request.url.endswith("/items/7")}, {}, 2),
        ({"repeatable": lambda request: request.method == "PATCH"}, {}, 1),
        ({"honours_key": "PUT /items/*"}, {"idempotency-key": "k"}, 2),
        ({"honours_key": "PUT /items/*"}, {}, 1),
        ({"honours_key": "PUT http://elsewhere.example/items/*"}, {"Idempotency-Key": "k"}, 1),
    ],
)
def test_which_are_repeated(
    client: str, options: Any, headers: Any, applied: int, clock: VirtualClock
) -> None:
    with serving(resets) as server, CLIENTS[client](**options) as ask:
        if applied == 2:
            assert ask("PUT", server.url + "items/7", b"x", headers).status == 200
        else:
            with pytest.raises(Exception) as raised:
                ask("PUT", server.url + "items/7", b"x", headers)
            assert getattr(outlast.outcome_of(raised.value), "type", "") == "indeterminate"
    assert server.applied == applied


@each
def test_a_server_that_refuses_before_it_acts(client: str, clock: VirtualClock) -> None:
    answers = [says(429), says(503)]
    with serving(*answers) as server, CLIENTS[client](refuses_before_acting="POST /**") as ask:
        assert ask("POST", server.url, b"x").status == 200


@pytest.mark.parametrize("route", ["/items", "put /items", "PUT items", "PUT  /items", ""])
def test_routes_that_cannot_be(route: str) -> None:
    with pytest.raises(ValueError, match="repeatable has the route"):
        outlast.clients.httpx.Transport(repeatable=route)


# Options.


@each
def test_options_that_cannot_be(client: str) -> None:
    for options, error in (
        ({"budget": 0}, ValueError),
        ({"attempts": 0}, ValueError),
        ({"max_wait": 0}, ValueError),
        ({"spread": 3601}, ValueError),
        ({"ready": "nowhere"}, ValueError),
        ({"policy": "nosuch"}, outlast.PolicyError),
    ):
        with pytest.raises(error), CLIENTS[client](**options):
            pass
    with pytest.raises(TypeError, match="retries"):
        outlast.clients.httpx.Transport(retries=3)  # type: ignore[call-arg]


@each
def test_options_of_single_requests(client: str, clock: VirtualClock) -> None:
    url = f"http://127.0.0.1:{closed_port()}/"
    with CLIENTS[client]() as ask:
        with outlast.options(attempts=2), pytest.raises(REFUSED[client]) as raised:
            ask("GET", url)
        assert getattr(outlast.outcome_of(raised.value), "attempts", 0) == 2
        with no_retries(), pytest.raises(REFUSED[client]) as raised:
            ask("GET", url)
        assert getattr(outlast.outcome_of(raised.value), "attempts", 0) == 1
        with outlast.options(max_wait=3), pytest.raises(REFUSED[client]) as raised:
            ask("GET", url)
        assert getattr(outlast.outcome_of(raised.value), "reason", "") == "window"


@of_each
def test_options_in_a_request_of_httpx(of: Any, clock: VirtualClock) -> None:
    with serving(resets) as server, of.Client(transport=ours(of).Transport()) as client:
        own = {"outlast": {"repeatable": True, "label": "put"}}
        assert client.put(server.url, content=b"x", extensions=own).status_code == 200
        with pytest.raises(TypeError, match="'retries' is none of outlast.CallOptions"):
            client.get(server.url, extensions={"outlast": {"retries": 1}})


@each
def test_labels_and_secrets(client: str, clock: VirtualClock, quiet: list[e.Event]) -> None:
    with serving(ok, ok) as server:
        with CLIENTS[client]() as ask:
            ask("GET", server.url + "people?token=s3cret")
        with CLIENTS[client](label=lambda request: request.url, secrets=["s3cret"]) as ask:
            ask("GET", server.url + "people?token=s3cret")
    labels = [event.call.label for event in quiet if isinstance(event, e.Stopped)]
    assert labels == ["GET 127.0.0.1", f"{server.url}people?token=[redacted]"]


@each
def test_a_program_that_cannot_be_watched(
    client: str, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client is known, and makes one request: no connection means that nothing was sent."""
    monkeypatch.setitem(sys.modules, "uvloop", ModuleType("uvloop"))
    server = Server()
    with CLIENTS[client](observe=returns(server)) as ask:
        assert ask("POST", server.url, b"x").status == 200
    server.stop()
    broken = pytest.raises(Exception)
    with serving(closes) as server, CLIENTS[client]() as ask, broken as raised:
        ask("POST", server.url, b"x")
    assert getattr(outlast.outcome_of(raised.value), "type", "") == "indeterminate"
    assert server.applied == 1


@each
def test_an_attempt_around_it_is_the_one_that_is_made_again(
    client: str, clock: VirtualClock, quiet: list[e.Event]
) -> None:
    server = Server()
    with CLIENTS[client]() as ask:

        @outlast.retry(remote=True, write=True, observe=returns(server))
        def call() -> int:
            status: int = ask("POST", server.url, b"x").status
            return status

        assert call() == 200
    server.stop()
    assert [type(event) for event in quiet].count(e.Stopped) == 1
    assert server.applied == 1


def returns_in_a_wait(server: Server) -> Callable[[e.Event], None]:
    """Lets a server come back in the middle of the first wait that is long."""

    def told(event: e.Event) -> None:
        if isinstance(event, e.Waiting) and event.delay > 3:
            threading.Timer(0.3, server.start).start()

    return told


@each
def test_it_is_woken_when_its_server_accepts(client: str, quiet: list[e.Event]) -> None:
    """By the request's own address: reads do not sleep through the return."""
    server = Server()
    with CLIENTS[client](policy=AWAY, observe=returns_in_a_wait(server)) as ask:
        assert ask("GET", server.url).status == 200
    server.stop()
    assert [event.by for event in quiet if isinstance(event, e.Woken)] == ["accepting"]


@pytest.mark.parametrize("ready", ["/readyz", "{url}readyz", "server"])
def test_a_health_check_wakes_writes(ready: str, quiet: list[e.Event]) -> None:
    server = Server()
    check: Any = ready.replace("{url}", server.url)
    if ready == "server":
        check = outlast.ready.Server(server.url)
    options = {"policy": AWAY, "observe": returns_in_a_wait(server), "ready": check}
    with CLIENTS["httpx"](**options) as ask:
        assert ask("POST", server.url, b"x").status == 200
    server.stop()
    assert [event.by for event in quiet if isinstance(event, e.Woken)] == ["ready"]


@each
def test_a_read_waits_while_its_server_is_not_ready(client: str, quiet: list[e.Event]) -> None:
    """Only the looks meet its 503."""
    met: list[bytes] = []

    def not_ready(exchange: Exchange) -> None:
        met.append(exchange.request.split()[1])
        exchange.respond(503)

    server = Server(*[not_ready] * 6)
    options = {"policy": AWAY, "observe": returns_in_a_wait(server), "ready": "/readyz"}
    with CLIENTS[client](**options) as ask:
        assert ask("GET", server.url).status == 200
    server.stop()
    assert met == [b"/readyz"] * 6
    assert [event.by for event in quiet if isinstance(event, e.Woken)] == ["accepting"]


def test_what_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another server's health says nothing of this one, and one may want nobody to look."""
    looked: list[str] = []

    def join(target: Target, *_: object) -> Never:
        looked.append(f"{target.scheme} {target.host} {target.port} {target.path}")
        raise RuntimeError

    monkeypatch.setattr("outlast._watch.watcher.join", join)
    port = closed_port()
    for ready, target in (
        (None, f"tcp 127.0.0.1 {port} "),
        ("off", None),
        ("/up#204", f"http 127.0.0.1 {port} /up"),
        ("http://127.0.0.1:1/up", "http 127.0.0.1 1 /up"),
        ("http://elsewhere.example/up", f"tcp 127.0.0.1 {port} "),
    ):
        looked.clear()
        with CLIENTS["urllib3"](ready=ready, max_wait=0.1) as ask, pytest.raises(Exception):  # noqa: B017
            ask("GET", f"http://127.0.0.1:{port}/")
        assert looked[:1] == ([] if target is None else [target])


@of_each
def test_what_is_watched_of_a_websocket(of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Target] = []

    def join(target: Target, *_: object) -> Never:
        looked.append(target)
        raise RuntimeError("seen enough")

    monkeypatch.setattr("outlast._watch.watcher.join", join)
    for ready in (None, "/up"):
        transport = ours(of).Transport(ready=ready, max_wait=0.1, attempts=2)
        for scheme in ("ws", "wss"):
            with (
                of.Client(transport=transport) as client,
                pytest.raises(of.ConnectError),
            ):
                client.get(f"{scheme}://{NO_ROUTE}/")
    assert looked == [
        Target("tcp", NO_ROUTE, 80),
        Target("tcp", NO_ROUTE, 443),
        Target("http", NO_ROUTE, 80, "/up"),
        Target("https", NO_ROUTE, 443, "/up"),
    ]


def away() -> Policy:
    """A policy that soon waits for long."""
    document = quick("150s")
    document["budgets"]["unavailable"]["backoff"].update(base="100ms", multiplier=40, cap="30s")
    return Policy(document)


AWAY = away()


@of_each
def test_behind_a_proxy_nobody_watches(of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that would be looked at is not the one that is asked."""
    looked: list[Any] = []
    monkeypatch.setattr("outlast._watch.watcher.join", lambda *args: looked.append(args))
    dead, policy = f"http://127.0.0.1:{closed_port()}", Policy(quick("200ms"))
    proxied = of.HTTPTransport(proxy=dead)
    session = requests.Session()
    session.mount("http://", outlast.clients.requests.HTTPAdapter(policy=policy))
    pool = outlast.clients.urllib3.ProxyManager(dead, policy=policy)
    by_path = of.HTTPTransport(uds="/nonexistent/socket")
    with (
        of.Client(transport=ours(of).Transport(proxied, policy=policy)) as one,
        of.Client(transport=ours(of).Transport(by_path, policy=policy)) as two,
        session,
        pool,
    ):
        for ask in (
            lambda: one.get("http://server.example/"),
            lambda: two.get("http://server.example/"),
            lambda: session.get("http://server.example/", proxies={"http": dead}),
            lambda: pool.request("GET", "http://server.example/"),
        ):
            with pytest.raises(Exception) as raised:
                ask()
            assert getattr(outlast.outcome_of(raised.value), "type", "") == "exhausted"
    assert looked == []


# Single clients.


def test_a_session_can_be_pickled(clock: VirtualClock) -> None:
    session = requests.Session()
    session.mount("http://", outlast.clients.requests.HTTPAdapter(repeatable="PUT /**"))
    again = pickle.loads(pickle.dumps(session))
    with serving(resets) as server:
        assert again.put(server.url, data=b"x").status_code == 200


def test_urllib3_follows_as_many_redirects_as_ever(clock: VirtualClock) -> None:
    def on(exchange: Exchange) -> None:
        exchange.respond(302, Location="/again")

    with serving(*[on] * 9) as server, outlast.clients.urllib3.PoolManager() as pool:
        with pytest.raises(urllib3.exceptions.MaxRetryError, match="too many redirects"):
            pool.request("GET", server.url)
        assert len(server.script) == 9 - 4
        assert pool.request("GET", server.url, redirect=False).status == 302
        assert pool.request("GET", server.url, retries=urllib3.Retry(redirect=9)).status == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_requests_follow_a_redirect_whose_body_is_faulty(method: str, clock: VirtualClock) -> None:
    faulty = {"Location": "/there", "Content_Encoding": "gzip", "body": b"no gzip"}
    with serving(says(302, **faulty)) as server, CLIENTS["requests"]() as ask:
        got = ask(method, server.url)
        assert (got.status, got.response.url) == (200, f"{server.url}there")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_aiohttps_limit_for_a_whole_request_ends_it(method: str) -> None:
    over = threading.Event()

    def hang(exchange: Exchange) -> None:
        exchange.apply()
        over.wait(5)

    with serving(hang) as server:

        async def main() -> BaseException:
            limit = aiohttp.ClientTimeout(total=0.2)
            async with outlast.clients.aiohttp.session(timeout=limit) as session:
                with pytest.raises(asyncio.TimeoutError) as raised:
                    await session.request(method, server.url)
                return raised.value

        outcome = outlast.outcome_of(asyncio.run(main()))
        over.set()
    assert outcome is not None
    assert (outcome.type, outcome.attempts) == (
        "failed" if method == "GET" else "indeterminate",
        1,
    )
    assert server.applied == 1


def test_urllib3_tries_nothing_again_by_itself(clock: VirtualClock) -> None:
    for retries in (None, 5, urllib3.Retry(5, allowed_methods=None, status_forcelist=[500])):
        with serving(*[says(500)] * 3) as server, outlast.clients.urllib3.PoolManager() as pool:
            assert pool.request("POST", server.url, retries=retries).status == 500
            assert server.applied == 1
        with serving(closes, closes) as server, outlast.clients.urllib3.PoolManager() as pool:
            with pytest.raises(urllib3.exceptions.HTTPError):
                pool.request("POST", server.url, retries=retries)
            assert server.applied == 1


def test_a_transport_of_somebody_else_is_believed_as_far_as_it_is_seen(
    clock: VirtualClock,
) -> None:
    class Twice(httpx.BaseTransport):
        """Tries again by itself, and where nobody sees it."""

        def __init__(self, url: str) -> None:
            self.url = url

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            host, port = self.url.removeprefix("http://").strip("/").split(":")
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
                connection.recv(100)
            raise httpx.ConnectError("at the second try", request=request)

    with serving() as server:
        transport = outlast.clients.httpx.Transport(Twice(server.url))
        with (
            httpx.Client(transport=transport) as client,
            pytest.raises(httpx.ConnectError) as raised,
        ):
            client.post(server.url)
    assert getattr(outlast.outcome_of(raised.value), "type", "") == "indeterminate"
    assert server.applied == 1


# Clients that a transport is not for.

SORTS = [(of, sort) for of in HTTPX.values() for sort in ("", "Async")]


@pytest.mark.parametrize("asks", ["asks", "opens"])
@pytest.mark.parametrize(("of", "sort"), SORTS)
@pytest.mark.parametrize(("other", "another"), SORTS)
def test_a_client_of_another_kind(
    of: Any, sort: str, other: Any, another: str, asks: str, clock: VirtualClock
) -> None:
    """It is told which transport is for it, before anything is sent."""
    transport = getattr(ours(of), f"{sort}Transport")()
    client = getattr(other, f"{another}Client")(transport=transport)

    async def main() -> None:
        async with client if asks == "opens" else nullcontext():
            await client.post(server.url, content=b"x")

    def carried_out() -> None:
        if another:
            asyncio.run(main())
            return
        with client if asks == "opens" else nullcontext():
            client.post(server.url, content=b"x")

    with serving() as server:
        if (of, sort) == (other, another):
            carried_out()
        else:
            right = rf"for {other.__name__}\.{another}Client there is (\S+)$"
            with pytest.raises((TypeError, AttributeError), match=right) as raised:
                carried_out()
            found = re.search(right, str(raised.value))
            assert found
            assert found[1] == f"outlast.clients.{other.__name__}.{another}Transport"
        assert server.applied == ((of, sort) == (other, another))


@pytest.mark.parametrize(("of", "sort"), SORTS)
@pytest.mark.parametrize(("other", "another"), SORTS)
def test_a_transport_of_another_kind_within(of: Any, sort: str, other: Any, another: str) -> None:
    make = getattr(ours(of), f"{sort}Transport")
    within = getattr(other, f"{another}HTTPTransport")()
    if (of, sort) == (other, another):
        make(within)
        return
    expected = rf"takes an {of.__name__}\.{sort}BaseTransport, not .*{other.__name__}\."
    with pytest.raises(TypeError, match=expected):
        make(within)


@pytest.mark.parametrize(("of", "sort"), SORTS)
def test_what_it_has_not_is_missing_as_ever(of: Any, sort: str) -> None:
    transport = getattr(ours(of), f"{sort}Transport")()
    assert not hasattr(transport, "handle_request" if sort else "handle_async_request")
    with pytest.raises(AttributeError, match="'(Async)?Transport' object has no attribute 'pool'"):
        transport.pool  # noqa: B018


@pytest.mark.skipif("httpx2" not in HTTPX, reason="there is no httpx2")
def test_a_websocket_of_httpx2(clock: VirtualClock) -> None:
    """Its handshake is a read."""

    def accept(exchange: Exchange) -> None:
        key = re.search(rb"(?i)sec-websocket-key: (\S+)", exchange.request)
        assert key
        proof = hashlib.sha1(key[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        exchange.respond(
            101,
            Connection="Upgrade",
            Upgrade="websocket",
            Sec_WebSocket_Accept=base64.b64encode(proof).decode(),
        )
        exchange.connection.sendall(b"\x81\x05hello")  # a text
        exchange.connection.recv(100)

    server, attempts = Server(says(503), accept), []

    def told(event: e.Event) -> None:
        returns(server)(event)
        attempts.append(type(event) is e.AttemptEnded)

    of = HTTPX["httpx2"]
    with (
        of.Client(transport=ours(of).Transport(observe=told)) as client,
        client.websocket(server.url.replace("http", "ws")) as socket_,
    ):
        assert socket_.receive_text() == "hello"
    server.stop()
    assert sum(attempts) == 4


def test_a_stream_is_left_alone_once_it_is_handed_out(clock: VirtualClock) -> None:
    def half(exchange: Exchange) -> None:
        exchange.apply()
        exchange.half()

    with (
        serving(half) as server,
        httpx.Client(transport=outlast.clients.httpx.Transport()) as client,
        client.stream("GET", server.url) as answer,
    ):
        got = answer.iter_raw()
        assert next(got) == b"half"
        with pytest.raises(httpx.RemoteProtocolError):
            next(got)
    assert server.applied == 1


def test_no_client_is_imported_that_nobody_asked_for() -> None:

    code = (
        "import sys, outlast; outlast.clients\n"
        "assert not {'httpx', 'httpx2', 'requests', 'urllib3', 'aiohttp'} & set(sys.modules)\n"
        "import outlast.clients.urllib3\n"
        "assert not {'httpx', 'httpx2', 'requests', 'aiohttp'} & set(sys.modules)\n"
        "import outlast.clients.httpx\n"
        "assert 'httpx2' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'curl'"):
        _ = outlast.clients.curl


def test_the_lines_of_the_readme(clock: VirtualClock) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    names: dict[str, Any] = {"httpx": httpx, "outlast": outlast}
    exec(next(block for block in blocks if "outlast.clients" in block), names)
    with serving(says(503), resets) as server, names["client"] as client:
        assert client.get(server.url).status_code == 200
        assert client.put(f"{server.url}notes/7", content=b"x").status_code == 200


def test_the_lines_of_the_page(clock: VirtualClock) -> None:
    page = (Path(__file__).parents[3] / "docs" / "http-clients.md").read_text("utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if "import openai" in block:  # test_openai.py has it
            continue
        exec(block.replace("http://graph:8080/", "http://127.0.0.1:1/"), names)
    with serving(says(503), resets) as server:
        assert names["client"].get(server.url).status_code == 200
        assert names["session"].get(server.url).status_code == 200
        assert names["pool"].request("GET", server.url).status == 200
    with serving(resets) as server, httpx.Client(transport=names["transport"]) as client:
        assert client.put(f"{server.url}orders/7/note", content=b"x").status_code == 200
    with no_retries(), pytest.raises(REFUSED["aiohttp"]):
        asyncio.run(names["people"]())
    names["client"].close()
    asyncio.run(names["coroutines"].aclose())
