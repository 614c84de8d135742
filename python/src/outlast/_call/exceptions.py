"""Which results common exceptions stand for.

A connection that could not be made is told apart from one that broke: after the
first nothing was sent, and trying again is safe; after the second a write may
have been applied. Where an exception does not say which it was, it is taken for
the second.

The policies know failures by texts, so an exception becomes the report that
omnigraph's command prints of the same failure. Nothing is imported for this: the
name of an exception's class and of its module tell what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from .result import Result

ResultOf = Callable[[Exception], Result | None]


def result_of(error: BaseException) -> Result | None:
    """The result that an exception stands for; ``None`` if it stands for none,
    because it does not say that an attempt to reach a server failed.

    Known are, as far as they speak of a connection, a time limit, an HTTP status
    or a process's exit code, the exceptions of the standard library (sockets,
    ssl, http.client, urllib, asyncio, subprocess), of httpx, of requests and
    urllib3, and of aiohttp.
    """
    if not isinstance(error, Exception):
        return None
    for known in (_process, _status, _client, _standard):
        result = known(error)
        if result is not None:
            # A later request that was not sent says nothing of the one before it.
            return broke(error) if result.sent == "no" and _went_on(error) else result
    return None


def mapper(first: ResultOf | None) -> ResultOf:
    """Maps exceptions: *first*, if it is given, and then :func:`result_of`."""
    if first is None:
        return result_of

    def both(error: Exception) -> Result | None:
        result = first(error)
        return result_of(error) if result is None else result

    return both


# Results.


def connect_failed(error: BaseException, url: str = "", why: str = "") -> Result:
    """No connection could be made: nothing was sent."""
    if not why:
        why = "tcp connect error"
        for cause in _chain(error):
            if _is(cause, "socket", "gaierror") or _is(cause, "urllib3", "NameResolutionError"):
                why = "dns error"
            if _is(cause, "ssl", "SSLError"):
                why = "invalid peer certificate or handshake"  # waiting does not help
                break
    return _report(url, "client error (Connect)", why, error)


def closed(error: BaseException, url: str = "") -> Result:
    """The connection was closed before an answer came."""
    return _report(
        url, "client error (SendRequest)", "connection closed before message completed", error
    )


def broke(error: BaseException, url: str = "") -> Result:
    """The connection stood and broke."""
    return _report(url, "client error (SendRequest)", "connection error", error)


def not_http(error: BaseException, url: str = "") -> Result:
    """What answered does not speak HTTP."""
    return _report(url, "client error (SendRequest)", "invalid HTTP version parsed", error)


def cut(error: BaseException) -> Result:
    """The answer broke off."""
    causes = ("error decoding response body", "error reading a body from connection")
    return Result(stderr=_text(*causes, _line(error)))


def _report(url: str, *causes: str | BaseException) -> Result:
    first = f"error sending request for url ({_address(url)})"
    sent: Any = "no" if causes[0] == "client error (Connect)" else "unknown"
    texts = [cause if isinstance(cause, str) else _line(cause) for cause in causes]
    return Result(stderr=_text(first, *texts), sent=sent)


def _text(*causes: str) -> str:
    lines = "".join(f"{number:4}: {cause}\n" for number, cause in enumerate(causes))
    return f"Error: \n{lines}\n"


def _line(error: BaseException) -> str:
    """An exception in one line: a cause of several would be read otherwise."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _address(url: str) -> str:
    """An address without the user, the password and the query that it may have."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}{port}{parts.path}" if host else ""


# Exceptions.


def _process(error: Exception) -> Result | None:
    ended: Any = error
    if _is(error, "subprocess", "CalledProcessError"):
        return Result.from_process(ended.returncode, ended.stdout or b"", ended.stderr or b"")
    if _is(error, "subprocess", "TimeoutExpired"):
        return Result(timed_out=True, stdout=ended.stdout or b"", stderr=ended.stderr or b"")
    return None


def _status(error: Exception) -> Result | None:
    """An answer with a status that says of a failure."""
    response: Any = getattr(error, "response", None)
    if _is(error, "httpx", "HTTPStatusError"):
        try:
            message = response.text
        except Exception:  # of a stream that has not been read
            message = response.reason_phrase
        return _http(response.status_code, response.headers, message)
    if _is(error, "requests", "HTTPError") and response is not None:
        # Asking for a text that has not been read would read it now.
        read = vars(response).get("_content") not in (False, None)
        message = response.text if read else response.reason
        return _http(response.status_code, response.headers, message)
    if _is(error, "urllib", "HTTPError"):
        failed: Any = error
        return _http(failed.code, failed.headers, str(failed.reason))
    if _is(error, "aiohttp", "ClientResponseError"):
        refused: Any = error
        return _http(refused.status, refused.headers, refused.message)
    return None


def _http(status: int, headers: Any, message: str | None) -> Result:
    after = headers.get("Retry-After") if headers is not None else None
    return Result(http_status=status, message=message or "", retry_after=retry_after(after))


def retry_after(header: str | None) -> float | None:
    """A Retry-After header in seconds; ``None`` if it says nothing."""
    if header is None:
        return None
    from datetime import datetime, timezone
    from email.utils import parsedate_to_datetime

    header = header.strip()
    if re.fullmatch(r"\d+(\.\d+)?", header, re.ASCII):
        return float(header)
    try:
        when = parsedate_to_datetime(header)
    except (TypeError, ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    return max(0.0, (when - datetime.now(timezone.utc)).total_seconds())


def _client(error: Exception) -> Result | None:
    """What the packages for HTTP raise."""
    if _is(error, "httpx", "TransportError") or _is_module(error, "httpcore"):
        return _httpx(error)
    if _is(error, "requests", "RequestException") or _is(error, "urllib3", "HTTPError"):
        return _requests(error)
    if _is(error, "aiohttp", "ClientConnectorError", "ConnectionTimeoutError"):
        return connect_failed(error)
    if _is(error, "aiohttp", "ServerDisconnectedError"):
        return closed(error)
    if _is(error, "aiohttp", "ClientPayloadError"):
        return cut(error)
    if _is(error, "aiohttp", "ClientOSError"):
        return broke(error)
    return None


def _httpx(error: Exception) -> Result | None:
    url = _url(error)
    match type(error).__name__:
        case "ConnectError" | "ConnectTimeout":
            return connect_failed(error, url)
        case "ProxyError":
            return _proxy(error, url)
        case "ReadTimeout" | "WriteTimeout":
            return Result(timed_out=True, message=_line(error))
        case "ReadError" | "WriteError" | "CloseError":
            return broke(error, url)
        case "RemoteProtocolError":
            text = str(error)
            if "disconnected without" in text:
                return closed(error, url)
            return cut(error) if "peer closed connection" in text else not_http(error, url)
    return None


def _requests(error: Exception) -> Result | None:
    url = _url(error)
    chain = list(_chain(error))
    if _is(error, "requests", "SSLError") or any(_is(e, "ssl", "SSLError") for e in chain):
        return connect_failed(error, url, "invalid peer certificate or handshake")
    if any(_is(e, "urllib3", "ProxyError") for e in chain):
        unconnected = any(_is(e, "urllib3", "NewConnectionError") for e in chain)
        return connect_failed(error, url) if unconnected else _proxy(error, url)
    if any(_is(e, "urllib3", "NewConnectionError", "ConnectTimeoutError") for e in chain):
        return connect_failed(error, url)
    if any(_is(e, "urllib3", "ReadTimeoutError") for e in chain):
        return Result(timed_out=True, message=_line(error))
    if any(_is(e, "http", "IncompleteRead") for e in chain):
        return cut(error)
    for cause in chain:
        if (
            isinstance(cause, OSError) or _is(cause, "http", "HTTPException")
        ) and cause is not error:
            result = _standard(cause)
            if result is not None:
                return result
    return broke(error, url) if _is(error, "requests", "ConnectionError") else None


def _proxy(error: Exception, url: str) -> Result:
    if "407" in str(error):
        return connect_failed(error, url, "tunnel error: proxy authorization required")
    return connect_failed(error, url, "tunnel error: unsuccessful")


_SEVERAL = re.compile(
    r"Multiple exceptions: (\[Errno -?\d+\] Connect call failed [^\[]*)+"
    r"|All connection attempts failed"
)
"""How asyncio and anyio say that they tried several addresses."""


def _standard(error: BaseException) -> Result | None:
    """What the standard library raises."""
    reason = getattr(error, "reason", None)
    if _is(error, "urllib", "URLError") and isinstance(reason, Exception):
        return _standard(reason)
    if _is(error, "socket", "gaierror"):
        return connect_failed(error)
    if isinstance(error, ConnectionRefusedError):
        return connect_failed(error)
    if _is(error, "ssl", "SSLCertVerificationError"):
        return connect_failed(error)
    if _is(error, "http", "RemoteDisconnected"):
        return closed(error)
    if _is(error, "http", "IncompleteRead"):
        return cut(error)
    if _is(error, "http", "BadStatusLine"):
        return not_http(error)
    if isinstance(error, TimeoutError) or _is(error, "asyncio", "TimeoutError"):
        return Result(timed_out=True, message=_line(error))
    if isinstance(error, ConnectionError):
        return broke(error)
    if type(error) is OSError and _SEVERAL.fullmatch(str(error)):
        return connect_failed(error)
    return None


# Looking at exceptions.


def _is(error: object, package: str, *names: str) -> bool:
    """Whether an exception is of one of a package's classes, or of a subclass."""
    return any(
        kind.__name__ in names and kind.__module__.partition(".")[0] == package
        for kind in type(error).__mro__
    )


def _is_module(error: object, package: str) -> bool:
    return type(error).__module__.partition(".")[0] == package


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


def _went_on(error: BaseException) -> bool:
    """Whether the client had sent a request before the one that failed: because
    it followed a redirect, or tried again by itself. Only its traceback tells.
    """
    for each in _chain(error):
        tries = 0
        step = each.__traceback__
        while step is not None:
            frame = step.tb_frame
            name = frame.f_code.co_name
            package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            if (package, name) in _REDIRECTS:
                return True
            if (package, name) in _WITH_HISTORY and frame.f_locals.get("history"):
                return True
            if package == "urllib3" and frame.f_code.co_filename.endswith("connectionpool.py"):
                tries += name == "urlopen"  # which calls itself to try again
            step = step.tb_next
        if tries > 1:
            return True
    return False


_REDIRECTS = {("urllib", "http_error_302"), ("requests", "resolve_redirects")}
_WITH_HISTORY = {("httpx", "_send_handling_redirects"), ("aiohttp", "_request")}
"""Functions of the clients that follow redirects, by package."""


def _url(error: Exception) -> str:
    """The address that a request was for, if the exception knows it."""
    try:
        request: Any = getattr(error, "request", None)
    except RuntimeError:  # httpx, if it was not said
        return ""
    return str(getattr(request, "url", "") or "")
