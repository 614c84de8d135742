"""A write that a server may have got before the request that failed: never again."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import aiohttp
import httpx
import pytest
import requests
import requests.adapters
import urllib3

import outlast
import outlast.testing


def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


@contextlib.contextmanager
def server(answer: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Reads each request whole, answers and closes; gives its address and the requests."""
    got: list[bytes] = []
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(50)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                data = connection.recv(65536)
                while b"\r\n\r\nx" not in data and (more := connection.recv(65536)):
                    data += more
                got.append(data)
                connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/", got
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def by_urllib(url: str) -> object:
    return urllib.request.urlopen(url, data=b"x").read()


def by_httpx(url: str) -> object:
    return httpx.post(url, content=b"x", follow_redirects=True)


def by_requests(url: str) -> object:
    return requests.post(url, data=b"x", timeout=5)


def by_aiohttp(url: str) -> object:
    async def post() -> None:
        async with aiohttp.ClientSession() as session, session.post(url, data=b"x"):
            pass

    return asyncio.run(post())


CLIENTS: list[Callable[[str], object]] = [by_urllib, by_httpx, by_requests, by_aiohttp]


def write(client: Callable[[str], object], url: str) -> None:
    """A write through the decorator, that may not have been applied for sure."""
    with outlast.testing.virtual_time(), pytest.raises(outlast.Indeterminate):
        outlast.retry(remote=True, write=True, budget=5)(lambda: client(url))()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_redirect_to_nowhere(client: Callable[[str], object]) -> None:
    nowhere = f"http://127.0.0.1:{closed_port()}/"
    head = f"HTTP/1.1 303 See Other\r\nLocation: {nowhere}\r\n"
    answer = (head + "Content-Length: 0\r\nConnection: close\r\n\r\n").encode()
    with server(answer) as (url, got):
        write(client, url)
        assert len(got) == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_another_failure_is_being_handled(client: Callable[[str], object]) -> None:
    nowhere = f"http://127.0.0.1:{closed_port()}/"
    with server(b"") as (url, got):
        try:
            client(nowhere)
        except Exception:  # whatever the client calls it
            write(client, url)
        assert len(got) == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_a_fallback_in_the_attempt(client: Callable[[str], object]) -> None:
    nowhere = f"http://127.0.0.1:{closed_port()}/"

    def both(url: str) -> object:
        try:
            return client(nowhere)
        except Exception:  # whatever the client calls it
            return client(url)

    with server(b"") as (url, got):
        write(both, url)
        assert len(got) == 1


def test_a_client_that_tries_again_by_itself() -> None:
    tries = urllib3.Retry(2, allowed_methods=None, backoff_factor=0)
    with requests.Session() as session:
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=tries))
        with pytest.raises(requests.ConnectionError) as caught:
            session.post(f"http://127.0.0.1:{closed_port()}/", data=b"x", timeout=5)
    result = outlast.result_of(caught.value)
    assert result is not None
    assert result.sent != "no"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_plain_refused_connection_is_tried_again(client: Callable[[str], object]) -> None:
    nowhere = f"http://127.0.0.1:{closed_port()}/"
    with outlast.testing.virtual_time(), pytest.raises(outlast.Exhausted) as caught:
        outlast.retry(remote=True, write=True, budget=5)(lambda: client(nowhere))()
    assert caught.value.outcome.attempts > 2


def test_a_stream_with_a_bad_status() -> None:
    answer = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 1\r\n\r\nx"
    with (
        server(answer) as (url, _),
        pytest.raises(httpx.HTTPStatusError) as caught,
        httpx.stream("POST", url, content=b"x") as response,
    ):
        response.raise_for_status()
    result = outlast.result_of(caught.value)
    assert result is not None
    assert result.http_status == 503


def test_a_retry_after_beyond_all_dates() -> None:
    from outlast._call.exceptions import retry_after

    assert retry_after("Mon, 01 Jan 99999999999 00:00:00 GMT") is None


def test_one_secret_is_no_list() -> None:
    with pytest.raises(TypeError, match="secrets must be a list"):
        outlast.retry(remote=True, write=False, secrets="abc")(by_urllib)


def test_modules_that_are_loaded_when_asked_for() -> None:
    import subprocess
    import sys

    code = "import outlast; outlast.testing; outlast.hooks; outlast.events"
    subprocess.run([sys.executable, "-c", code], check=True)
