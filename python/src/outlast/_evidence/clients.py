"""The clients whose requests are seen where they pass."""

from __future__ import annotations

import inspect
from functools import partial
from types import ModuleType
from typing import Any

from .patches import Patches
from .requests import Request, Within, current

KEY = "_outlast_request"
"""Where a connection of http.client has its request."""


def http_client(patches: Patches, module: ModuleType) -> None:
    """The module ``http.client``, and so urllib, xmlrpc, urllib3, requests and
    kubernetes.
    """
    connection = module.HTTPConnection
    connecting(patches, connection)
    connecting(patches, module.HTTPSConnection)
    patches.replace(connection, "putrequest", _putrequest)
    patches.replace(connection, "send", _send)
    patches.replace(connection, "getresponse", _getresponse)


def urllib3(patches: Patches, module: ModuleType) -> None:
    """The module ``urllib3.connection``, which connects in its own way."""
    connecting(patches, module.HTTPConnection)
    connecting(patches, module.HTTPSConnection)


def xmlrpc(patches: Patches, module: ModuleType) -> None:
    """The module ``xmlrpc.client``, which makes a request again by itself where its
    connection breaks, whatever that does at the server. An attempt makes it once.
    """

    def make(original: Any) -> Any:
        def request(self: Any, *args: Any, **kwargs: Any) -> Any:
            if current.get() is None:
                return original(self, *args, **kwargs)
            return self.single_request(*args, **kwargs)

        return request

    patches.replace(module.Transport, "request", make)


def connecting(patches: Patches, owner: Any) -> None:
    """A class of http.client's connections that makes them in its own way."""

    def make(original: Any) -> Any:
        def connect(self: Any, *args: Any, **kwargs: Any) -> Any:
            attempt = current.get()
            if attempt is None:
                return original(self, *args, **kwargs)
            with Within(_request(self, attempt)):
                return original(self, *args, **kwargs)

        return connect

    patches.replace(owner, "connect", make)


def _request(connection: Any, attempt: Any, method: str = "") -> Request:
    """The request that a connection carries, or is made for."""
    known = vars(connection).get(KEY)
    if isinstance(known, Request) and known.attempt is attempt.attempt:
        return known
    host, port = getattr(connection, "host", ""), getattr(connection, "port", 0)
    request: Request = attempt.begin("http.client", host, port, method)
    setattr(connection, KEY, request)
    return request


def _putrequest(original: Any) -> Any:
    def putrequest(self: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        vars(self).pop(KEY, None)
        attempt = current.get()
        if attempt is not None:
            _request(self, attempt, method)
        return original(self, method, *args, **kwargs)

    return putrequest


def _send(original: Any) -> Any:
    def send(self: Any, data: Any) -> Any:
        attempt = current.get()
        request = None if attempt is None else _request(self, attempt)
        if request is None or attempt is request:  # a proxy is asked for a tunnel
            return original(self, data)
        with Within(request):
            if self.sock is None and self.auto_open:
                self.connect()
            if not request.left:
                request.leaves()
            return original(self, data)

    return send


def _getresponse(original: Any) -> Any:
    def getresponse(self: Any, *args: Any, **kwargs: Any) -> Any:
        answer = original(self, *args, **kwargs)
        request = vars(self).get(KEY)
        if request is not None:
            request.answered = True
        return answer

    return getresponse


def httpcore(patches: Patches, module: ModuleType) -> None:
    """The module ``httpcore``, and so httpx; or ``httpcore2``, and so httpx2."""
    client = module.__name__.replace("core", "x")
    patches.replace(module.ConnectionPool, "handle_request", partial(_handle, client))
    patches.replace(module.AsyncConnectionPool, "handle_async_request", partial(_ahandle, client))


def _handle(client: str, original: Any) -> Any:
    def handle_request(self: Any, request: Any) -> Any:
        attempt = current.get()
        if attempt is None:
            return original(self, request)
        seen = _begin(attempt, client, request)
        given = request.extensions.get("trace")

        def trace(name: str, info: Any) -> Any:
            if _traced(seen, name, info) and given is None:
                extensions.pop("trace", None)
            return None if given is None else given(name, info)

        extensions = request.extensions = {**request.extensions, "trace": trace}
        with Within(seen):
            try:
                response = original(self, request)
                seen.answered = seen.left
                return response
            except Exception as e:
                _ended(seen, e)
                raise

    return handle_request


def _ahandle(client: str, original: Any) -> Any:
    async def handle_async_request(self: Any, request: Any) -> Any:
        attempt = current.get()
        if attempt is None:
            return await original(self, request)
        seen = _begin(attempt, client, request)
        given = request.extensions.get("trace")

        async def trace(name: str, info: Any) -> None:
            if _traced(seen, name, info) and given is None:
                extensions.pop("trace", None)
            if given is not None and inspect.isawaitable(told := given(name, info)):
                await told

        extensions = request.extensions = {**request.extensions, "trace": trace}
        with Within(seen):
            try:
                response = await original(self, request)
                seen.answered = seen.left
                return response
            except Exception as e:
                _ended(seen, e)
                raise

    return handle_async_request


def _begin(attempt: Any, client: str, request: Any) -> Request:
    url, method = request.url, request.method.decode("latin-1")
    seen: Request = attempt.begin(client, url.host.decode("latin-1"), url.port, method)
    return seen


def _traced(seen: Request, name: str, info: Any) -> bool:
    """What httpcore tells of a request, and whether the rest of that says nothing more: it
    tells of ten things, and with HTTP/1.1 this is the last that counts. CONNECT asks a
    proxy for a tunnel.
    """
    if name.endswith(".send_request_headers.started") and info["request"].method != b"CONNECT":
        seen.leaves(info.get("stream_id", 0))
        return name.startswith("http11.")
    if name.endswith(".failed"):
        _ended(seen, info["exception"])
    return False


def _ended(seen: Request, error: BaseException) -> None:
    """A request has failed. With HTTP/2 the server's GOAWAY names the last request
    that it looks at; httpcore makes one that is beyond it again by itself.
    """
    last = getattr(error.args[0], "last_stream_id", None) if error.args else None
    beyond = isinstance(last, int) and seen.stream > last
    if seen.stream and (beyond or type(error).__name__ == "ConnectionNotAvailable"):
        seen.unsent()


def aiohttp(patches: Patches, module: ModuleType) -> None:
    """The module ``aiohttp.client``."""
    request, response = module.ClientRequest, module.ClientResponse
    patches.replace(module.BaseConnector, "connect", _aconnect)
    patches.replace(request, "_send" if hasattr(request, "_send") else "send", _asend)
    patches.replace(response, "start", _start)


def _aconnect(original: Any) -> Any:
    async def connect(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
        attempt = current.get()
        if attempt is None:
            return await original(self, req, *args, **kwargs)
        with Within(attempt.begin("aiohttp", req.url.host, req.url.port)):
            return await original(self, req, *args, **kwargs)

    return connect


def _asend(original: Any) -> Any:
    async def send(self: Any, *args: Any, **kwargs: Any) -> Any:
        attempt = current.get()
        if attempt is None or self.method == "CONNECT":  # which asks a proxy for a tunnel
            return await original(self, *args, **kwargs)
        request = attempt.begin("aiohttp", self.url.host, self.url.port, self.method)
        with Within(request):
            request.leaves()
            response = await original(self, *args, **kwargs)
        setattr(response, KEY, request)
        return response

    return send


def _start(original: Any) -> Any:
    async def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        response = await original(self, *args, **kwargs)
        request = vars(self).get(KEY)
        if request is not None:
            request.answered = True
        return response

    return start
