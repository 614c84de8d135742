"""The clients for HTTP, each with a connection that it keeps from one request to the next."""

from __future__ import annotations

import asyncio
import http.client
import ssl
import urllib.request
import xmlrpc.client
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import aiohttp_retry
import httpx
import httpx_retries
import kubernetes.client
import requests.adapters
import tenacity
import urllib3

from httpxes import HTTPX
from outlast import Result
from outlast._call.answers import retry_after

Ask = Callable[[str, bool], Any]
"""Asks at an address, by POST if it is a write; the answer, or what gives it."""

Open = Callable[[str, bool], Any]
"""Gives an :data:`Ask` for a while.

Args:
    trusted: A file with the certificate to be trusted, or ``""``.
    again: Whether the client shall try once more by itself.
"""


class Answered(Exception):
    """A status of a client that has no exception for it."""

    def __init__(self, status: int, headers: Any) -> None:
        super().__init__(status)
        self.status, self.headers = status, headers


def result_of(error: Exception) -> Result | None:
    if not isinstance(error, Answered):
        return None
    after = retry_after(error.headers.get("Retry-After"))
    return Result(http_status=error.status, message="answered", retry_after=after)


def twice(again: bool, ask: Ask) -> Ask:
    """For a client that does not try again by itself."""
    if not again:
        return ask
    return tenacity.retry(stop=tenacity.stop_after_attempt(2), reraise=True)(ask)


def context(trusted: str) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=trusted or None)


@contextmanager
def by_urllib(trusted: str, again: bool) -> Iterator[Ask]:
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context(trusted))
    )

    def ask(url: str, write: bool) -> bytes:
        with opener.open(url, data=b"x" if write else None, timeout=5) as answer:
            data: bytes = answer.read()
        return data

    yield twice(again, ask)


@contextmanager
def by_http_client(trusted: str, again: bool) -> Iterator[Ask]:
    kept: dict[str, http.client.HTTPConnection] = {}

    def ask(url: str, write: bool) -> bytes:
        to = urlsplit(url)
        connection = kept.get(to.netloc)
        if connection is None:
            options: Any = {"context": context(trusted)} if to.scheme == "https" else {}
            kind = http.client.HTTPSConnection if options else http.client.HTTPConnection
            connection = kept[to.netloc] = kind(to.netloc, timeout=5, **options)
        try:
            connection.request("POST" if write else "GET", to.path, b"x" if write else None)
            answer = connection.getresponse()
            data = answer.read()
        except Exception:
            connection.close()
            raise
        if answer.status == 307:
            return ask(answer.headers["Location"], write)
        if answer.status != 200:
            raise Answered(answer.status, answer.headers)
        return data

    yield twice(again, ask)
    for connection in kept.values():
        connection.close()


@contextmanager
def by_xmlrpc(trusted: str, _again: bool) -> Iterator[Ask]:
    with ExitStack() as stack:
        kept: dict[str, Any] = {}

        def ask(url: str, _write: bool) -> Any:
            to = urlsplit(url)
            if to.netloc not in kept:
                secure: Any = {"context": context(trusted)} if to.scheme == "https" else {}
                proxy = xmlrpc.client.ServerProxy(f"{to.scheme}://{to.netloc}/", **secure)
                kept[to.netloc] = stack.enter_context(proxy)
            return getattr(kept[to.netloc], to.path.strip("/") or "apply")()

        yield ask


@contextmanager
def by_requests(trusted: str, again: bool) -> Iterator[Ask]:
    with requests.Session() as session:
        session.trust_env = False
        session.verify = trusted or True
        if again:
            tries = urllib3.Retry(1, allowed_methods=None)
            adapter = requests.adapters.HTTPAdapter(max_retries=tries)
            session.mount("http://", adapter)

        def ask(url: str, write: bool) -> bytes:
            answer = session.request("POST" if write else "GET", url, data=b"x", timeout=5)
            answer.raise_for_status()
            return answer.content

        yield ask


@contextmanager
def by_urllib3(trusted: str, again: bool) -> Iterator[Ask]:
    with urllib3.PoolManager(ssl_context=context(trusted)) as pool:
        tries = urllib3.Retry(1, allowed_methods=None, status=0) if again else None

        def ask(url: str, write: bool) -> bytes:
            # Without tries of its own choice a pool makes three.
            answer = pool.request("POST" if write else "GET", url, timeout=5, retries=tries)
            if answer.status != 200:
                raise Answered(answer.status, answer.headers)
            return answer.data

        yield ask


@contextmanager
def by_kubernetes(trusted: str, again: bool) -> Iterator[Ask]:
    with ExitStack() as stack:
        kept: dict[str, Any] = {}
        kubernetes.client.CoreV1Api(kubernetes.client.ApiClient())  # which loads it, at last

        def api(host: str) -> Any:
            if host not in kept:
                settings = kubernetes.client.Configuration()
                settings.host, settings.ssl_ca_cert = host, trusted or None
                if again:
                    settings.retries = urllib3.Retry(1, allowed_methods=None)
                client = stack.enter_context(kubernetes.client.ApiClient(settings))
                kept[host] = kubernetes.client.CoreV1Api(client)
            return kept[host]

        def ask(url: str, write: bool) -> bytes:
            host, _, name = url.rpartition("/")
            if write:
                body, make = kubernetes.client.V1ConfigMap(), api(host).create_namespaced_config_map
                answer = make(name or "x", body, _preload_content=False)
            else:
                answer = api(host).list_namespaced_pod(name or "x", _preload_content=False)
            data: bytes = answer.data
            return data

        yield ask


def by_httpx(of: Any, two: bool) -> Open:
    """By httpx or httpx2."""

    @contextmanager
    def opened(trusted: str, again: bool) -> Iterator[Ask]:
        transport: Any = of.HTTPTransport(
            verify=context(trusted), http1=not two, http2=two, trust_env=False
        )
        if again:
            transport = tries_twice(transport, "handle_request")
        with of.Client(transport=transport, follow_redirects=True) as client:

            def ask(url: str, write: bool) -> bytes:
                answer = client.request("POST" if write else "GET", url, content=b"x")
                data: bytes = answer.raise_for_status().content
                return data

            yield ask

    return opened


def tries_twice(transport: Any, name: str) -> Any:
    """For httpx there is a transport that does; httpx2 has none."""
    if isinstance(transport, (httpx.HTTPTransport, httpx.AsyncHTTPTransport)):
        retry = httpx_retries.Retry(total=1, backoff_factor=0, allowed_methods=["GET", "POST"])
        return httpx_retries.RetryTransport(transport=transport, retry=retry)
    again = tenacity.retry(stop=tenacity.stop_after_attempt(2), reraise=True)
    setattr(transport, name, again(getattr(transport, name)))
    return transport


class AsyncAsk:
    """Asks in an event loop, which its client belongs to."""

    def __init__(self, client: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._client, self.loop = client, loop

    async def __call__(self, url: str, write: bool) -> bytes:
        method, client = "POST" if write else "GET", self._client
        data: bytes
        if type(client).__module__ in HTTPX:
            answer = await client.request(method, url, content=b"x")
            data = answer.raise_for_status().content
        else:
            async with client.request(method, url, data=b"x" if write else None) as answer:
                answer.raise_for_status()
                data = await answer.read()
        return data


def in_asyncio(opened: Callable[[str, bool], Any]) -> Open:
    @contextmanager
    def sync(trusted: str, again: bool) -> Iterator[Ask]:
        loop = asyncio.new_event_loop()
        client = loop.run_until_complete(opened(trusted, again))
        try:
            yield AsyncAsk(client, loop)
        finally:
            close = getattr(client, "aclose", None) or client.close
            loop.run_until_complete(close())
            loop.run_until_complete(asyncio.sleep(0.01))  # what is closed is told of
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    return sync


async def open_httpx(of: Any, trusted: str, again: bool) -> Any:
    transport: Any = of.AsyncHTTPTransport(verify=context(trusted), trust_env=False)
    if again:
        transport = tries_twice(transport, "handle_async_request")
    return of.AsyncClient(transport=transport, follow_redirects=True)


async def open_aiohttp(trusted: str, again: bool) -> Any:
    connector = aiohttp.TCPConnector(ssl=context(trusted))
    session = aiohttp.ClientSession(connector=connector)
    if again:
        options = aiohttp_retry.ExponentialRetry(attempts=2, start_timeout=0.01)
        return aiohttp_retry.RetryClient(client_session=session, retry_options=options)
    return session


CLIENTS: dict[str, Any] = {
    "urllib": by_urllib,
    "http.client": by_http_client,
    "xmlrpc": by_xmlrpc,
    "requests": by_requests,
    "urllib3": by_urllib3,
    **{name: by_httpx(of, two=False) for name, of in HTTPX.items()},
    **{f"{name} async": in_asyncio(partial(open_httpx, of)) for name, of in HTTPX.items()},
    **{f"{name} h2": by_httpx(of, two=True) for name, of in HTTPX.items()},
    "aiohttp": in_asyncio(open_aiohttp),
    "kubernetes": by_kubernetes,
}
