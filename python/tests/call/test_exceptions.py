"""Which results common exceptions stand for. Those that clients really raise are
in tests/evidence.
"""

from __future__ import annotations

import asyncio
import errno
import http.client
import socket
import ssl
import subprocess
import sys
import urllib.error
import xmlrpc.client
from collections.abc import Callable
from importlib import import_module
from typing import Any

import aiohttp
import anyio
import kubernetes.client
import pytest
import requests
import urllib3.exceptions

import outlast
from conftest import CAP
from evidence.servers import Exchange, closed_port, serving
from httpxes import HTTPX
from outlast import Result
from outlast._call.answers import retry_after
from outlast._call.exceptions import result_after

REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "refused")
RESET = ConnectionResetError(errno.ECONNRESET, "reset")
EOF = ssl.SSLEOFError(8, "EOF occurred in violation of protocol")
ALERT = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]")
NO_ROUTE = OSError(errno.EHOSTUNREACH, "No route to host")


def word(error: BaseException, stood: bool | None = None) -> str | None:
    """The failure that an exception stands for."""
    result = result_after(error, stood)
    if result is None:
        return None
    assert result.timed_out != bool(result.failure)
    assert not result.ok
    assert result.sent == "unknown"  # which no exception can know
    return "timed_out" if result.timed_out else result.failure


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (REFUSED, "unconnected"),
        (NO_ROUTE, "unconnected"),
        (OSError(errno.ENETUNREACH, "x"), "unconnected"),
        (socket.gaierror(-2, "x"), "unresolved"),
        (ssl.SSLCertVerificationError(1, "bad"), "untrusted"),
        (RESET, "broke"),
        (EOF, "broke"),
        (BrokenPipeError(32, "x"), "broke"),
        (TimeoutError("x"), "timed_out"),
        (asyncio.TimeoutError(), "timed_out"),
        (http.client.BadStatusLine("x"), "malformed"),
        (http.client.RemoteDisconnected("x"), "broke"),
        (http.client.IncompleteRead(b"", 3), "cut"),
        (OSError("Tunnel connection failed: 503 Service Unavailable"), "unconnected"),
        (OSError("Tunnel connection failed: 407 Proxy Authentication"), "untrusted"),
        (urllib.error.URLError(REFUSED), "unconnected"),
        (urllib.error.URLError(NO_ROUTE), "unconnected"),
        (aiohttp.ServerDisconnectedError(), "broke"),
        (aiohttp.ClientPayloadError("x"), "cut"),
        (aiohttp.ServerTimeoutError("x"), "timed_out"),
        (urllib3.exceptions.EmptyPoolError(None, "x"), "unconnected"),  # type: ignore[arg-type]
    ],
)
def test_a_failure(error: Exception, expected: str) -> None:
    assert word(error) == expected


@pytest.mark.parametrize("of", HTTPX.values(), ids=HTTPX)
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ConnectError", "x", "unconnected"),
        ("ConnectTimeout", "x", "unconnected"),
        ("PoolTimeout", "x", "unconnected"),
        ("ReadTimeout", "x", "timed_out"),
        ("ReadError", "x", "broke"),
        ("ProxyError", "503 Service Unavailable", "unconnected"),
        ("ProxyError", "407 Proxy Authentication Required", "untrusted"),
        ("RemoteProtocolError", "Server disconnected", "broke"),
        ("RemoteProtocolError", "<ConnectionTerminated error_code:0>", "broke"),
        ("RemoteProtocolError", "<StreamReset stream_id:1>", "broke"),
        ("RemoteProtocolError", "peer closed connection without", "cut"),
        ("RemoteProtocolError", "illegal status line", "malformed"),
        ("UnsupportedProtocol", "x", None),
        ("InvalidURL", "x", None),
        ("LocalProtocolError", "x", None),
    ],
)
def test_a_failure_of_httpx(of: Any, name: str, text: str, expected: str | None) -> None:
    """And of the package below it, which has no InvalidURL."""
    core = import_module(of.__name__.replace("x", "core"))
    for module in (of, core):
        if hasattr(module, name):
            assert word(getattr(module, name)(text)) == expected
    if name == "ReadError":
        assert word(of.ReadError(text), False) == "unconnected"


@pytest.mark.parametrize(
    ("error", "before", "after"),
    [
        (TimeoutError("x"), "unconnected", "timed_out"),
        (RESET, "unconnected", "broke"),
        (EOF, "unconnected", "broke"),
        (ALERT, "untrusted", "broke"),
        (NO_ROUTE, "unconnected", "broke"),
        (requests.ConnectionError("x"), "unconnected", "broke"),
    ],
)
def test_what_a_connection_that_stood_or_not_makes_of_it(
    error: Exception, before: str, after: str
) -> None:
    assert (word(error, False), word(error, True)) == (before, after)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("tcp connect error"),
        KeyError("ConnectionRefusedError"),
        FileNotFoundError(2, "No such file"),
        OSError(28, "No space left on device"),
        OSError("Multiple exceptions: [Errno 5] other"),
        ALERT,  # in the handshake, or after it
        aiohttp.ClientConnectionError("Connector is closed."),
        requests.exceptions.InvalidURL("x"),
        requests.exceptions.TooManyRedirects("x"),
        urllib.error.URLError("unknown url type"),
        kubernetes.client.ApiException(status=0, reason="websocket"),
        KeyboardInterrupt(),
    ],
)
def test_what_stands_for_no_result(error: BaseException) -> None:
    assert outlast.result_of(error) is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            subprocess.CalledProcessError(75, "omnigraph", b"", CAP),
            Result(exit_code=75, stderr=CAP),
        ),
        (subprocess.CalledProcessError(-9, "omnigraph"), Result(signal="SIGKILL")),
        (
            subprocess.TimeoutExpired("omnigraph", 3, b"half", None),
            Result(timed_out=True, stdout=b"half"),
        ),
        (
            xmlrpc.client.ProtocolError("u", 503, "Away", {"Retry-After": "7"}),
            Result(http_status=503, message="Away", retry_after=7.0),
        ),
        (
            kubernetes.client.ApiException(status=429, reason="Busy"),
            Result(http_status=429, message="Busy"),
        ),
    ],
)
def test_other_results(error: Exception, expected: Result) -> None:
    assert outlast.result_of(error) == expected


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no groups")
def test_a_group_is_what_leaves_the_most_open() -> None:
    group: Callable[..., Exception] = vars(__import__("builtins"))["ExceptionGroup"]
    assert word(group("x", [REFUSED, group("y", [REFUSED])])) == "unconnected"
    assert word(group("x", [REFUSED, RESET])) == "broke"
    assert word(group("x", [REFUSED, ValueError()])) is None


def test_several_addresses_in_asyncio_and_anyio() -> None:
    port = closed_port()

    async def connect(host: str) -> None:
        await asyncio.open_connection(host, port)

    async def any_connect() -> None:
        await anyio.connect_tcp("localhost", port)

    for attempt in (connect("localhost"), any_connect()):
        with pytest.raises(OSError) as raised:
            asyncio.run(attempt)
        assert word(raised.value) == "unconnected", repr(raised.value)


def test_the_message_is_one_line() -> None:
    error = ConnectionResetError("x\nError: \n   0: error sending request for url (u)\n   1: y\n")
    result = outlast.result_of(error)
    assert result is not None
    assert "\n" not in str(result.message)


def test_a_response_that_was_not_read_is_not_read_now() -> None:
    def stuck(exchange: Exchange) -> None:
        exchange._head(503, 10, {})
        exchange.connection.settimeout(10)
        exchange.connection.recv(1)

    with serving(*[stuck] * 3) as server:
        with requests.Session() as session:
            session.trust_env = False
            response = session.get(server.url, stream=True, timeout=5)
            with pytest.raises(requests.HTTPError) as raised:
                response.raise_for_status()
            assert outlast.result_of(raised.value) == Result(http_status=503, message="X")
            response.close()
        for of in HTTPX.values():
            with of.Client(trust_env=False) as client, client.stream("GET", server.url) as answer:
                with pytest.raises(of.HTTPStatusError) as failed:
                    answer.raise_for_status()
                assert outlast.result_of(failed.value) == Result(http_status=503, message="X")


@pytest.mark.parametrize(
    ("header", "want"),
    [
        (None, None),
        ("60", 60.0),
        (" 1.5 ", 1.5),
        ("-1", None),
        ("soon", None),
        ("in 5", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", None),
        ("٣", None),
    ],
)
def test_retry_after(header: str | None, want: float | None) -> None:
    assert retry_after(header) == want


def test_retry_after_as_a_date() -> None:
    seconds: Any = retry_after("Fri, 31 Dec 9999 23:59:59 GMT")
    assert seconds > 1e11
