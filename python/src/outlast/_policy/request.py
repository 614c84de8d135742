"""A call and a result as a request says them to the plugin."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._call.errors import PluginError
from .._wire import values as wire

if TYPE_CHECKING:
    from .._call.call import Call
    from .._call.result import Result
    from .._plugin.plugin import Plugin
    from .._wire.types import WireCall, WireResult
    from .document import Document

MINOR_CLAIMS = 2
"""The minor version of the contract that brought a call's ``repeatable`` and
``one_request``."""

MINOR_REQUESTS = 3
"""The one that brought what was seen of a request: a result's ``failure`` and
``only_request``, and a call's ``refuses_before_acting``."""


def told(members: WireCall, plugin: Plugin) -> WireCall:
    """A call in words that a plugin knows.

    Raises:
        PluginError: If it has none for what must not go unsaid: that the write
            may be repeated in doubt, or must not be on what it reports.
    """
    if "refuses_before_acting" in members and not plugin.knows(MINOR_REQUESTS):
        members = members.copy()
        del members["refuses_before_acting"]
    claims = {"one_request", "repeatable"} & members.keys()
    if not claims or plugin.knows(MINOR_CLAIMS):
        return members
    if members["write"] and ("repeatable" in claims or members.get("one_request") is False):
        raise PluginError(
            "deciding",
            f"the plugin is of a contract before 1.{MINOR_CLAIMS}, which has no word for a write "
            "that is repeatable or may make several requests",
        )
    known = members.copy()
    known.pop("one_request", None)
    known.pop("repeatable", None)
    return known


def told_result(result: Result, call: Call, policy: Document) -> WireResult:
    """A result in words that a policy and its plugin know.

    A document that asks for no failures knows those of requests by the texts of
    omnigraph's command, so it gets the report that this would print. Until nobody
    has seen that nothing was sent, a write's is that of a connection that broke.
    """
    members = result._members()
    plugin = policy.plugin
    if not (result.failure or result.only_request):
        return members
    if result.failure and not policy.asks_failures:
        word = result.failure
        if call.write and result.sent != "no" and word in _UNSENT:
            word = "broke"
        for name in ("failure", "message", "message_head", "message_tail"):
            members.pop(name, None)  # type: ignore[misc]
        members["stderr"] = report(word, result.message)
    if not plugin.knows(MINOR_REQUESTS):
        members.pop("failure", None)
        members.pop("only_request", None)
        if result.failure and members.get("http_status", 0) // 100 == 2:
            del members["http_status"]  # the answer was cut: it is no success
    return members


_UNSENT = ("unresolved", "unconnected", "untrusted")

_CONNECT = "client error (Connect)"
_SEND = "client error (SendRequest)"
_REPORTS = {
    "unresolved": (_CONNECT, "dns error"),
    "unconnected": (_CONNECT, "tcp connect error"),
    "untrusted": (_CONNECT, "invalid peer certificate or handshake"),
    "broke": (_SEND, "connection closed before message completed"),
    "stale": (_SEND, "connection closed before message completed"),
    "cut": ("error decoding response body", "error reading a body from connection"),
    "malformed": (_SEND, "invalid HTTP version parsed"),
}


def report(failure: str, message: str | bytes) -> str:
    """What omnigraph's command prints of a failure. The message is one line of it:
    of several it might be read as something else.
    """
    causes = [*_REPORTS[failure], " ".join(wire.utf8(message).split())]
    if failure != "cut":
        causes.insert(0, "error sending request for url ()")
    lines = "".join(f"{number:4}: {cause}\n" for number, cause in enumerate(causes))
    return f"Error: \n{lines}\n"


def random_seed(seed: int | None) -> int:
    """The seed of the jitter. A random one if the caller has none: else all
    callers that a restart met together would come back together.
    """
    if seed is None:
        return int.from_bytes(os.urandom(8), "big") % wire.SEED_RANGE
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"outlast: seed is {seed!r}, and must be an int")
    if not 0 <= seed < wire.SEED_RANGE:
        raise ValueError(f"outlast: seed is {seed}, and must be from 0 to {wire.SEED_RANGE - 1}")
    return seed
