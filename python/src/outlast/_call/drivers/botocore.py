"""botocore, and boto3 with it. Its requests pass through http.client, so what it sent
before by its own tries is seen.
"""

from __future__ import annotations

from typing import Any

from ..known import is_a
from ..result import Result
from ..words import Word, failed

TRIED = ("botocore 1.44", "moto 5.2")


def result(error: Any) -> Result | None:
    """The result that an exception of its stands for."""
    return failed(_word(error), error)


def _word(error: Any) -> Word | None:
    if is_a(error, "botocore", "EndpointConnectionError", "ConnectTimeoutError"):
        return "unconnected"
    if is_a(error, "botocore", "ReadTimeoutError"):
        return "timed_out"
    return "broke" if is_a(error, "botocore", "ConnectionClosedError") else None
