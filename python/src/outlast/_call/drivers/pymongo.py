"""PyMongo. Where it tries again by itself and then finds no server, it raises what the
first try raised; so that no server was found is of an operation that was never sent.
That a connection was lost is so only if it was being made, in the first try.
"""

from __future__ import annotations

from typing import Any

from ..known import frames, is_a, passed
from ..result import Result
from ..words import Word, failed

TRIED = ("PyMongo 4.20", "FerretDB 1.24")

_POOLS = ("pymongo.synchronous.pool", "pymongo.asynchronous.pool")
_CLIENTS = ("pymongo.synchronous.mongo_client", "pymongo.asynchronous.mongo_client")


def result(error: Any) -> Result | None:
    """The result that an exception of its stands for. What a replica set says of its
    roles was not tried, and stays the caller's.
    """
    return failed(_word(error), error)


def _word(error: Any) -> Word | None:
    if is_a(error, "pymongo", "ServerSelectionTimeoutError"):
        return "unconnected"
    if is_a(error, "pymongo", "NetworkTimeout"):
        return "timed_out"
    if type(error).__name__ != "AutoReconnect":
        return None
    connecting = passed(error, *_POOLS, function="_get_conn")
    return "unconnected" if connecting and _first_try(error) else "broke"


def _first_try(error: Any) -> bool:
    tries = [
        getattr(frame.f_locals.get("self"), "_attempt_number", 1)
        for frame in frames(error)
        if frame.f_globals.get("__name__") in _CLIENTS and frame.f_code.co_name == "run"
    ]
    return tries == [0]
