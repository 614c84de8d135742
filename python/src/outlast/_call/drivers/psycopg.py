"""psycopg 3. Its exceptions have the connection that could not be made, and no other;
libpq keeps the SQLSTATE of a refusal to itself, so why it was refused is read.
"""

from __future__ import annotations

import re
from typing import Any

from ..known import is_a
from ..result import Result
from ..words import Word, failed
from .postgres import ENDED, LIBPQ, PGBOUNCER, SERVER

TRIED = ("psycopg 3.3", "PostgreSQL 15", "pgbouncer 1.18")

_WHY = re.compile(r"connection to server (?:at|on) .*? failed: (?:FATAL:  )?(.*)")
"""Libpq's line for each address that was tried."""

_BROKE = ("consuming input failed:", "sending query failed:", "flushing failed:")


def result(error: Any) -> Result | None:
    """The result that an exception of its stands for."""
    return failed(_word(error), error) if is_a(error, "psycopg", "OperationalError") else None


def _word(error: Any) -> Word | None:
    text = str(error)
    if error.pgconn is not None:
        why = _WHY.findall(text)
        known = why and all(each.startswith((*LIBPQ, *SERVER, *PGBOUNCER)) for each in why)
        return "unconnected" if known else None
    if is_a(error, "psycopg", "ConnectionTimeout"):
        return "unconnected"
    if error.sqlstate is not None:
        told = error.diag.severity_nonlocalized or error.diag.severity
        return "broke" if told == "FATAL" and error.sqlstate in ENDED else None
    if text.startswith("failed to resolve host "):
        return "unresolved"
    return "broke" if text.startswith(_BROKE) else None
