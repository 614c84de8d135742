"""grpcio. All that it tells of a call is the status, and a server may answer with any
status and any text: what it heard of a server behind it reads as if no connection
could be made. So that is taken for the answer of 503 that gRPC's UNAVAILABLE is in HTTP.
"""

from __future__ import annotations

from typing import Any

from ..known import is_a, line
from ..result import Result
from ..words import failed

TRIED = ("grpcio 1.85", "grpcio 1.85")

_NO_WAY = ("failed to connect to all addresses", "errors resolving ")


def result(error: Any) -> Result | None:
    """The result that an exception of its stands for."""
    if not is_a(error, "grpc", "RpcError") or not hasattr(error, "code"):
        return None
    match error.code().name:
        case "UNAVAILABLE" if (error.details() or "").startswith(_NO_WAY):
            return Result(http_status=503, message=line(error))
        case "UNAVAILABLE":
            return failed("broke", error)
        case "DEADLINE_EXCEEDED":
            return failed("timed_out", error)
    return None
