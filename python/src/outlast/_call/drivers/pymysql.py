"""PyMySQL. A statement can raise any of the server's numbers, so they count only where
the connection was being made.
"""

from __future__ import annotations

import socket
from typing import Any

from ..known import is_a, passed
from ..result import Result
from ..words import Word, failed

TRIED = ("PyMySQL 1.2", "MariaDB 10.11")

TOO_MANY, NO_WAY, GONE, LOST = 1040, 2003, 2006, 2013
"""Of these the first is the server's, the others are the client's."""


def result(error: Any) -> Result | None:
    """The result that an exception of its stands for."""
    return failed(_word(error), error) if is_a(error, "pymysql", "OperationalError") else None


def _word(error: Any) -> Word | None:
    number = error.args[0] if error.args else 0
    if passed(error, "pymysql.connections", function="connect"):
        if isinstance(error.__context__, socket.gaierror):
            return "unresolved"
        return "unconnected" if number in (TOO_MANY, NO_WAY, GONE, LOST) else None
    return "broke" if number in (GONE, LOST) else None
