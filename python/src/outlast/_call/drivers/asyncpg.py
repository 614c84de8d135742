"""asyncpg. A connection that could not be made for want of a server is the system's own
exception there, which is known as such.
"""

from __future__ import annotations

from typing import Any

from ..known import is_a, passed
from ..result import Result
from ..words import Word, failed
from .postgres import CONNECT_NOW, ENDED, PGBOUNCER, TOO_MANY

TRIED = ("asyncpg 0.32", "PostgreSQL 15", "pgbouncer 1.18")


def result(error: Any) -> Result | None:
    """The result that an exception of its stands for."""
    return failed(_word(error), error) if is_a(error, "asyncpg", "PostgresError") else None


def _word(error: Any) -> Word | None:
    connecting = passed(error, "asyncpg.connect_utils")
    if is_a(error, "asyncpg", "ConnectionDoesNotExistError"):
        return "unconnected" if connecting else "broke"
    # PgBouncer has no severity that is in English whatever the server's language is.
    if (error.severity_en or error.severity) != "FATAL":
        return None
    if error.sqlstate in (CONNECT_NOW, TOO_MANY):
        return "unconnected"
    if connecting:
        return "unconnected" if str(error).startswith(PGBOUNCER) else None
    return "broke" if error.sqlstate in ENDED else None
