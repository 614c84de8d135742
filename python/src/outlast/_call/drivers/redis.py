"""redis-py, with a single server. It tries again by itself, ten times if nothing else is
said, and what it raises in the end is of the last try only.
"""

from __future__ import annotations

import socket
from typing import Any

from ..known import frames, is_a, passed
from ..result import Result
from ..words import Word, failed

TRIED = ("redis-py 8.1", "Redis 7.0")

_CLIENTS = ("redis.client", "redis.asyncio.client")
_POOLS = ("redis.connection", "redis.asyncio.connection")

_REFUSED = ("BusyLoadingError", "MasterDownError")
"""What a server says of a command that it did not look at."""


def result(error: Any) -> Result | None:
    """The result that an exception of its stands for."""
    if passed(error, "redis.cluster", "redis.asyncio.cluster"):
        return None  # it asks several servers, in ways that were not tried
    return failed(_word(error), error)


def _word(error: Any) -> Word | None:
    name = type(error).__name__
    if name == "TimeoutError":
        return "unconnected" if _connecting(error) else "timed_out"
    if name in _REFUSED:
        # Of a pipeline, other commands may have been carried out.
        alone = passed(error, *_CLIENTS, function="_send_command_parse_response")
        return "unconnected" if alone and not _tried_before(error) else "broke"
    if name != "ConnectionError":
        return None  # such as a password that is wrong
    if not _for_a_command(error):
        return "broke"
    if not _connecting(error):
        return None  # the pool's own limit
    return "unresolved" if isinstance(error.__context__, socket.gaierror) else "unconnected"


def _for_a_command(error: Any) -> bool:
    """Whether it came while a connection was got for a command, before all tries of it."""
    return passed(error, *_POOLS, function="get_connection")


def _connecting(error: Any) -> bool:
    return _for_a_command(error) and passed(error, *_POOLS, function="connect")


def _tried_before(error: Any) -> bool:
    """Whether an earlier try of the client's failed. The one that raised this is
    counted too, if it is one that the client tries again.
    """
    own = 1 if is_a(error, "redis", "ConnectionError") else 0
    tries = [
        frame.f_locals.get("failures", 2)
        for frame in frames(error)
        if frame.f_code.co_name == "call_with_retry"
    ]
    return not tries or max(tries) > own
