"""What was seen of an attempt, as its result says it."""

from __future__ import annotations

from typing import Any

from .._call.result import Failure, Result
from .requests import Requests


def evidence_of(result: Result, seen: Requests, since: float, claimed: bool) -> dict[str, Any]:
    """The members of a failed attempt's result that tell what was seen of it.

    Args:
        result: What is known of it otherwise.
        seen: Its requests.
        since: When the call's first failure was, on :func:`time.monotonic`.
        claimed: Its caller says that it makes one request and no other.
    """
    only = result.only_request or seen.sent_one or (claimed and not seen.belies(1))
    sent = result.sent
    unsent = claimed and result.failure in UNSENT and not seen.belies(0)
    if sent == "unknown" and (unsent or seen.sent_nothing):
        sent = "no"
    return {"sent": sent, "only_request": only, "failure": _stale(result, seen, since)}


UNSENT = ("unresolved", "unconnected", "untrusted")
"""The failures that come before anything is sent."""


def _stale(result: Result, seen: Requests, since: float) -> Failure:
    """A connection that broke is one thing, and one that had broken before is another."""
    last = seen.last
    if result.failure != "broke" or last is None or last.made is None:
        return result.failure
    if last.answered:
        return "cut"
    return "stale" if last.left and last.made < since else "broke"


def missing(seen: Requests) -> str:
    """What keeps a write from being repeated, in words for its caller."""
    if seen.gone:
        return f"{seen.gone} had left; repeatable=True is for a write that may be applied twice"
    return (
        f"nobody saw that nothing was sent: {seen.hidden}. Watched are http.client (so urllib, "
        "requests, urllib3, xmlrpc, kubernetes), httpx, httpx2, aiohttp and Python's sockets; "
        "only_request=True claims that an attempt makes one request and no other"
    )
