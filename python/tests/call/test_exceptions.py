"""Which results common exceptions stand for, with exceptions that really happen."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import aiohttp
import anyio
import httpx
import pytest
import requests

import outlast
from conftest import CAP
from outlast import Call, Policy, Result, Retry, Stop
from outlast._call.exceptions import retry_after

READ = Call(remote=True, write=False)
WRITE = Call(remote=True, write=True)


def closed_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def server(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """A server that answers each connection so, and its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                answer(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        listener.shutdown(socket.SHUT_RDWR) if sys.platform == "linux" else None
        listener.close()
        thread.join(5)


def hang_up(connection: socket.socket) -> None:
    connection.recv(1)  # a part of the request has been read: it may do its work
    connection.recv(65536)


def garbage(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"220 smtp.example ESMTP\r\n\r\n")


def cut_off(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")


def busy(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(
        b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy"
    )


def silent(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.settimeout(5)
    connection.recv(1)


def by_httpx(url: str) -> Any:
    with httpx.Client(timeout=0.5, trust_env=False) as client:
        return client.get(url).raise_for_status()


def by_httpx_async(url: str) -> Any:
    async def main() -> Any:
        async with httpx.AsyncClient(timeout=0.5, trust_env=False) as client:
            return (await client.get(url)).raise_for_status()

    return asyncio.run(main())


def by_requests(url: str) -> Any:
    with requests.Session() as session:
        session.trust_env = False
        response = session.get(url, timeout=0.5)
        response.raise_for_status()
        return response


def by_urllib(url: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=0.5) as answer:
        return answer.read()


def by_aiohttp(url: str) -> Any:
    async def main() -> Any:
        limit = aiohttp.ClientTimeout(0.5)
        session = aiohttp.ClientSession(timeout=limit, raise_for_status=True)
        async with session, session.get(url) as answer:
            return await answer.read()

    return asyncio.run(main())


def error_of(function: Callable[[str], Any], url: str) -> Exception:
    try:
        function(url)
    except Exception as e:
        error: Exception = e
        if hasattr(error, "close"):
            error.close()
        return error
    raise AssertionError("it succeeded")


def kind_of(error: Exception, call: Call) -> tuple[str, str]:
    """What the default policy makes of an exception: the kind and what follows."""
    result = outlast.result_of(error)
    assert result is not None, repr(error)
    action = Policy().session(call).next(result, 0.0)
    if isinstance(action, Retry):
        return action.kind, "retry"
    assert isinstance(action, Stop)
    return action.outcome.kind, action.outcome.effects


CLIENTS = [by_httpx, by_httpx_async, by_requests, by_urllib, by_aiohttp]


@pytest.mark.parametrize("client", CLIENTS)
def test_refused(client: Callable[[str], Any]) -> None:
    error = error_of(client, f"http://127.0.0.1:{closed_port()}/path?token=s3cr3t")
    assert kind_of(error, READ) == kind_of(error, WRITE) == ("unavailable", "retry")
    result = outlast.result_of(error)
    assert result is not None
    assert result.sent == "no"
    assert "tcp connect error" in str(result.stderr)
    if client in (by_httpx, by_httpx_async, by_requests):
        assert "/path)" in str(result.stderr)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_name_that_does_not_resolve(client: Callable[[str], Any]) -> None:
    error = error_of(client, "http://no-such-host.invalid/")
    assert kind_of(error, WRITE) == ("unavailable", "retry")
    result = outlast.result_of(error)
    assert result is not None
    assert "dns error" in str(result.stderr)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("how", [hang_up, cut_off])
def test_a_connection_that_broke(client: Callable[[str], Any], how: Any) -> None:
    with server(how) as url:
        error = error_of(client, url)
    assert kind_of(error, READ) == ("interrupted", "retry")
    assert kind_of(error, WRITE) == ("interrupted", "unknown")


@pytest.mark.parametrize("client", [by_httpx, by_requests, by_urllib])
def test_what_does_not_speak_http(client: Callable[[str], Any]) -> None:
    with server(garbage) as url:
        error = error_of(client, url)
    assert kind_of(error, WRITE) in (("unreadable", "unknown"), ("interrupted", "unknown"))


@pytest.mark.parametrize("client", CLIENTS)
def test_no_answer_in_time(client: Callable[[str], Any]) -> None:
    with server(silent) as url:
        error = error_of(client, url)
    assert kind_of(error, READ) == ("timed_out", "retry")
    assert kind_of(error, WRITE) == ("timed_out", "unknown")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_status(client: Callable[[str], Any]) -> None:
    with server(busy) as url:
        error = error_of(client, url)
    result = outlast.result_of(error)
    assert result is not None
    assert (result.http_status, result.retry_after) == (429, 7.0)
    assert kind_of(error, WRITE) == ("admission_cap", "retry")
    if client in (by_httpx, by_requests):
        assert result.message == "busy"


@pytest.fixture(scope="module")
def tls() -> Iterator[int]:
    """A server whose certificate nobody trusts: none at all."""

    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with server(answer) as url:
        yield int(url.rsplit(":", 1)[1].rstrip("/"))


@pytest.mark.parametrize("client", [by_httpx, by_requests])
def test_a_handshake_that_fails_is_not_waited_for(client: Callable[[str], Any], tls: int) -> None:
    error = error_of(client, f"https://127.0.0.1:{tls}/")
    assert kind_of(error, WRITE) == ("failed", "none")


@pytest.mark.parametrize(
    ("error", "read", "write"),
    [
        (ConnectionRefusedError(111, "x"), ("unavailable", "retry"), ("unavailable", "retry")),
        (socket.gaierror(-2, "x"), ("unavailable", "retry"), ("unavailable", "retry")),
        (ssl.SSLCertVerificationError(1, "bad"), ("failed", "none"), ("failed", "none")),
        (ConnectionResetError(104, "x"), ("interrupted", "retry"), ("interrupted", "unknown")),
        (BrokenPipeError(32, "x"), ("interrupted", "retry"), ("interrupted", "unknown")),
        (TimeoutError("x"), ("timed_out", "retry"), ("timed_out", "unknown")),
        (asyncio.TimeoutError(), ("timed_out", "retry"), ("timed_out", "unknown")),
        (http.client.BadStatusLine("x"), ("unreadable", "none"), ("unreadable", "unknown")),
        (
            urllib.error.URLError(ConnectionRefusedError(111, "x")),
            ("unavailable", "retry"),
            ("unavailable", "retry"),
        ),
        (
            httpx.ProxyError("503 Service Unavailable"),
            ("unavailable", "retry"),
            ("unavailable", "retry"),
        ),
        (
            httpx.ProxyError("407 Proxy Authentication Required"),
            ("failed", "none"),
            ("failed", "none"),
        ),
        (
            subprocess.CalledProcessError(75, "omnigraph", b"", b"actor in-flight count cap 1"),
            ("admission_cap", "retry"),
            ("admission_cap", "unknown"),  # a line of a report that was cut proves nothing
        ),
        (
            subprocess.CalledProcessError(75, "omnigraph", b"", CAP),
            ("admission_cap", "retry"),
            ("admission_cap", "retry"),
        ),
        (
            subprocess.CalledProcessError(-9, "omnigraph"),
            ("crashed", "none"),
            ("crashed", "unknown"),
        ),
        (
            subprocess.TimeoutExpired("omnigraph", 3, b"half", None),
            ("timed_out", "retry"),
            ("timed_out", "unknown"),
        ),
    ],
)
def test_exceptions(error: Exception, read: tuple[str, str], write: tuple[str, str]) -> None:
    assert kind_of(error, READ) == read
    assert kind_of(error, WRITE) == write


@pytest.mark.parametrize(
    "error",
    [
        ValueError("tcp connect error"),
        KeyError("ConnectionRefusedError"),
        FileNotFoundError(2, "No such file"),
        OSError(28, "No space left on device"),
        OSError(113, "No route to host"),  # of a connection that stands, perhaps
        ssl.SSLError(1, "in the middle"),
        httpx.PoolTimeout("x"),
        httpx.UnsupportedProtocol("x"),
        httpx.InvalidURL("x"),
        requests.exceptions.InvalidURL("x"),
        requests.exceptions.TooManyRedirects("x"),
        urllib.error.URLError("unknown url type"),
        KeyboardInterrupt(),
    ],
)
def test_what_stands_for_no_result(error: BaseException) -> None:
    assert outlast.result_of(error) is None


def test_several_addresses_in_asyncio_and_anyio() -> None:
    port = closed_port()

    async def connect(host: str) -> None:
        await asyncio.open_connection(host, port)

    async def any_connect() -> None:
        await anyio.connect_tcp("localhost", port)

    for error in (
        OSError(
            "Multiple exceptions: [Errno 111] Connect call failed ('::1', 1, 0, 0), "
            "[Errno 111] Connect call failed ('127.0.0.1', 1)"
        ),
        error_of(lambda _: asyncio.run(connect("localhost")), ""),
        error_of(lambda _: asyncio.run(any_connect()), ""),
    ):
        assert kind_of(error, WRITE) == ("unavailable", "retry"), repr(error)
    assert outlast.result_of(OSError("Multiple exceptions: [Errno 5] other")) is None


def test_a_text_of_several_lines_cannot_pretend_to_be_a_report() -> None:
    error = ConnectionResetError("x\nError: \n   0: error sending request for url (u)\n   1: y\n")
    assert kind_of(error, WRITE) == ("interrupted", "unknown")


def test_nothing_secret_of_an_address_is_kept() -> None:
    request = httpx.Request("GET", "https://zoe:s3cr3t@example.org:8443/q?token=t0k3n#f")
    result = outlast.result_of(httpx.ConnectError("refused", request=request))
    assert result is not None
    assert "(https://example.org:8443/q)" in str(result.stderr)
    assert "s3cr3t" not in str(result.stderr)
    assert "t0k3n" not in str(result.stderr)


def test_a_response_that_was_not_read_is_not_read_now() -> None:
    def stuck(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 503 Away\r\nContent-Length: 10\r\n\r\n")
        connection.settimeout(10)
        connection.recv(1)

    with server(stuck) as url:
        with requests.Session() as session:
            session.trust_env = False
            response = session.get(url, stream=True, timeout=5)
            with pytest.raises(requests.HTTPError) as raised:
                response.raise_for_status()
            result = outlast.result_of(raised.value)
            assert result == Result(http_status=503, message="Away")
            response.close()
        with httpx.Client(trust_env=False) as client, client.stream("GET", url) as answer:
            with pytest.raises(httpx.HTTPStatusError) as failed:
                answer.raise_for_status()
            assert outlast.result_of(failed.value) == Result(http_status=503, message="Away")


@pytest.mark.parametrize(
    ("header", "want"),
    [
        (None, None),
        ("60", 60.0),
        (" 1.5 ", 1.5),
        ("-1", None),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("٣", None),
    ],
)
def test_retry_after(header: str | None, want: float | None) -> None:
    assert retry_after(header) == want


def test_retry_after_as_a_date() -> None:
    seconds = retry_after("Fri, 31 Dec 9999 23:59:59 GMT")
    assert seconds is not None
    assert seconds > 1e11
