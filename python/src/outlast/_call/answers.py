"""Which results the exceptions stand for that tell of an answer's HTTP status."""

from __future__ import annotations

import re
from typing import Any

from .known import is_a, line
from .result import Result


def status(error: Exception) -> Result | None:
    """The result of an answer with a status that says of a failure, if the exception
    tells of one.
    """
    told: Any = error
    response: Any = getattr(error, "response", None)
    if is_a(error, "httpx", "HTTPStatusError") or is_a(error, "httpx2", "HTTPStatusError"):
        try:
            message = response.text
        except Exception:  # of a stream that has not been read
            message = response.reason_phrase
        return _http(response.status_code, response.headers, message)
    if is_a(error, "openai", "APIStatusError"):
        return _http(response.status_code, response.headers, str(error))
    if is_a(error, "requests", "HTTPError") and response is not None:
        # Asking for a text that has not been read would read it now.
        read = vars(response).get("_content") not in (False, None)
        message = response.text if read else response.reason
        return _http(response.status_code, response.headers, message)
    if is_a(error, "urllib", "HTTPError"):
        return _http(told.code, told.headers, str(told.reason))
    if is_a(error, "aiohttp", "ClientHttpProxyError"):
        return Result(
            failure="untrusted" if told.status == 407 else "unconnected",
            message=line(error),
        )
    if is_a(error, "aiohttp", "ClientResponseError"):
        if is_a(error.__cause__, "aiohttp", "HttpProcessingError"):
            # It says 400 of an answer that is none.
            return Result(failure="malformed", message=line(error))
        return _http(told.status, told.headers, told.message)
    if is_a(error, "kubernetes", "ApiException") and isinstance(told.status, int):
        return _http(told.status, told.headers, told.reason) if told.status else None
    if is_a(error, "xmlrpc", "ProtocolError"):
        return _http(told.errcode, told.headers, told.errmsg)
    return None


def _http(code: int, headers: Any, message: str | None) -> Result:
    after = headers.get("Retry-After") if headers is not None else None
    return Result(http_status=code, message=message or "", retry_after=retry_after(after))


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
