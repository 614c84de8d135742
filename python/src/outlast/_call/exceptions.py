"""Which results common exceptions stand for.

An exception is put into one of the contract's words for a request that failed, with
what its client says as the message. Whether nothing was sent no exception can tell:
that is seen where requests pass, or unknown.

Nothing is imported for this: the name of an exception's class and of its module tell
what it is.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from typing import Any

from .answers import status
from .drivers import of_driver
from .known import is_a, is_of
from .result import Failure, Result
from .words import Word, failed

ResultOf = Callable[[Exception], Result | None]


def result_of(error: BaseException) -> Result | None:
    """The result that an exception stands for; ``None`` if it stands for none,
    because it does not say that an attempt to reach a server failed.

    Known are, as far as they speak of a connection, a time limit, an HTTP status
    or a process's exit code, the exceptions of the standard library (sockets,
    ssl, http.client, urllib, xmlrpc, asyncio, subprocess), of httpx and httpx2, of
    requests and urllib3, of aiohttp, of the kubernetes client, of psycopg, SQLAlchemy,
    asyncpg, redis-py, PyMySQL, PyMongo, botocore and grpcio, and groups of these.
    """
    return result_after(error, None)


def result_after(error: BaseException, stood: bool | None) -> Result | None:
    """The same, where it is known whether the request that failed had a connection,
    which stood: some errors mean one thing before that and another after.
    """
    if not isinstance(error, Exception):
        return None
    several = getattr(error, "exceptions", None)
    if is_a(error, "openai", "APIConnectionError"):
        return result_after(error.__cause__, stood) if error.__cause__ else None
    if is_a(error, "builtins", "ExceptionGroup") or is_a(error, "exceptiongroup", "ExceptionGroup"):
        return _group([result_after(each, stood) for each in several or ()])
    known = _process(error) or status(error) or of_driver(error)
    return known or failed(_client(error, stood) or _standard(error, stood), error)


def _group(results: list[Result | None]) -> Result | None:
    """What several failures at once come to: all must be known, and the one that
    leaves the most open counts.
    """
    known = [result for result in results if result is not None]
    if not known or len(known) < len(results):
        return None
    return min(known, key=_openness)


def _openness(result: Result) -> int:
    return _LEAVES_OPEN.index(result.failure) if result.failure in _LEAVES_OPEN else -1


_LEAVES_OPEN = ("malformed", "cut", "broke", "stale", "untrusted", "unconnected", "unresolved")


def _process(error: Exception) -> Result | None:
    ended: Any = error
    if is_a(error, "subprocess", "CalledProcessError"):
        return Result.from_process(ended.returncode, ended.stdout or b"", ended.stderr or b"")
    if is_a(error, "subprocess", "TimeoutExpired"):
        return Result(timed_out=True, stdout=ended.stdout or b"", stderr=ended.stderr or b"")
    return None


def _client(error: Exception, stood: bool | None) -> Word | None:
    """What the packages for HTTP raise."""
    of_httpx = is_a(error, "httpx", "TransportError") or is_a(error, "httpx2", "TransportError")
    if of_httpx or is_of(error, "httpcore", "httpcore2"):
        return _httpx(error, stood)
    if is_a(error, "requests", "RequestException") or is_a(error, "urllib3", "HTTPError"):
        return _urllib3(error, stood)
    if is_a(error, "aiohttp", "ClientConnectionError", "ClientPayloadError"):
        return _aiohttp(error, stood)
    return None


def _httpx(error: Exception, stood: bool | None) -> Word | None:
    match type(error).__name__:
        case "ConnectError":
            return _connecting(error)
        case "ConnectTimeout" | "PoolTimeout":
            return "unconnected"
        case "ProxyError":
            return _proxy(error)
        case "ReadTimeout" | "WriteTimeout":
            return "timed_out"
        case "ReadError" | "WriteError" | "CloseError":
            return _broke(stood)
        case "RemoteProtocolError" | "LocalProtocolError":
            return _protocol(error)
    return None


def _protocol(error: Exception) -> Failure | None:
    """What httpcore makes of a conversation that goes wrong. A server that ends a
    connection of HTTP/2, or a stream on it, is none that speaks another protocol.
    """
    text = str(error)
    if "peer closed connection" in text:
        return "cut"
    ended = ("disconnected", "ConnectionTerminated", "StreamReset", "ConnectionState.CLOSED")
    if any(word in text for word in ended):
        return "broke"
    return "malformed" if type(error).__name__ == "RemoteProtocolError" else None


def _urllib3(error: Exception, stood: bool | None) -> Word | None:
    chain = list(_chain(error))
    if any(is_a(each, "urllib3", "ProxyError") for each in chain):
        unconnected = any(is_a(each, "urllib3", "NewConnectionError") for each in chain)
        return "unconnected" if unconnected else _proxy(error)
    if any(is_a(each, "urllib3", *_UNCONNECTED) for each in chain):
        return _connecting(error)
    if any(is_a(each, "urllib3", "ReadTimeoutError") for each in chain):
        return "timed_out"
    if any(is_a(each, "http", "IncompleteRead") for each in chain):
        return "cut"
    for cause in chain[1:]:
        if isinstance(cause, OSError) or is_a(cause, "http", "HTTPException"):
            word = _standard(cause, stood)
            if word is not None:
                return word
    if is_a(error, "requests", "SSLError"):
        return "untrusted"
    return _broke(stood) if is_a(error, "requests", "ConnectionError") else None


_UNCONNECTED = (
    "NewConnectionError",
    "ConnectTimeoutError",
    "NameResolutionError",
    "EmptyPoolError",
)


def _aiohttp(error: Exception, stood: bool | None) -> Word | None:
    if is_a(error, "aiohttp", "ClientConnectorError", "ConnectionTimeoutError"):
        return _connecting(error)
    if is_a(error, "aiohttp", "ClientPayloadError"):
        return "cut"
    if is_a(error, "aiohttp", "ServerTimeoutError"):
        return "timed_out"
    if is_a(error, "aiohttp", "ServerDisconnectedError", "ClientOSError"):
        return _broke(stood)
    return None


def _connecting(error: BaseException) -> Failure:
    """No connection came to be: for want of an address or of a way there, or because
    the two sides do not trust or understand each other.
    """
    for each in _chain(error):
        if is_a(each, "socket", "gaierror") or is_a(each, "urllib3", "NameResolutionError"):
            return "unresolved"
        if is_a(each, "aiohttp", "ClientConnectorDNSError"):
            return "unresolved"
        if is_a(each, "ssl", "SSLError") or is_a(each, "ssl", "CertificateError"):
            return _handshake(each)
    return "unconnected"


def _handshake(error: BaseException) -> Failure:
    """One that is closed in the middle is a server that is away, or its proxy."""
    closed = is_a(error, "ssl", "SSLEOFError", "SSLZeroReturnError") or "EOF" in str(error)
    return "unconnected" if closed else "untrusted"


def _proxy(error: BaseException) -> Failure:
    """A proxy made no tunnel. That it wants to know who asks does not pass by itself."""
    return "untrusted" if "407" in str(error) else "unconnected"


def _broke(stood: bool | None) -> Failure:
    """A connection broke; before it stood, that is one which could not be made."""
    return "unconnected" if stood is False else "broke"


_SEVERAL = re.compile(
    r"Multiple exceptions: (\[Errno -?\d+\] Connect call failed [^\[]*)+"
    r"|All connection attempts failed"
)
"""How asyncio and anyio say that they tried several addresses."""

_NO_WAY = {
    getattr(errno, name)
    for name in ("EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "EADDRNOTAVAIL")
    if hasattr(errno, name)
}


def _standard(error: BaseException, stood: bool | None) -> Word | None:
    """What the standard library raises."""
    reason = getattr(error, "reason", None)
    if is_a(error, "urllib", "URLError") and isinstance(reason, Exception):
        return _standard(reason, stood)
    if is_a(error, "socket", "gaierror"):
        return "unresolved"
    if isinstance(error, ConnectionRefusedError):
        return "unconnected"
    if is_a(error, "ssl", "SSLError"):
        return _tls(error, stood)
    if is_a(error, "http", "RemoteDisconnected"):
        return "broke"
    if is_a(error, "http", "IncompleteRead"):
        return "cut"
    if is_a(error, "http", "BadStatusLine", "LineTooLong", "UnknownProtocol"):
        return "malformed"
    if isinstance(error, TimeoutError) or is_a(error, "asyncio", "TimeoutError"):
        return "unconnected" if stood is False else "timed_out"
    if isinstance(error, ConnectionError):
        return _broke(stood)
    return _system(error, stood) if isinstance(error, OSError) else None


def _tls(error: BaseException, stood: bool | None) -> Word | None:
    if is_a(error, "ssl", "SSLCertVerificationError"):
        return "untrusted"
    if stood is False:
        return _handshake(error)
    if stood or _handshake(error) == "unconnected":
        return "broke"
    return None  # in the handshake or after it


def _system(error: OSError, stood: bool | None) -> Word | None:
    """What the system says without a class of its own."""
    if error.errno in _NO_WAY:
        return "broke" if stood else "unconnected"
    text = str(error)
    if type(error) is OSError and _SEVERAL.fullmatch(text):
        return "unconnected"
    return _proxy(error) if text.startswith("Tunnel connection failed") else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and what it wraps. Its context, which happened to be handled
    when it was raised, is left out: that may be of another request.
    """
    seen: set[int] = set()
    left: list[object] = [error]
    while left:
        each = left.pop(0)
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        left += [*each.args, getattr(each, "reason", None), each.__cause__]
