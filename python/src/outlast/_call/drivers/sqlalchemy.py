"""SQLAlchemy, which wraps the exceptions of the client that it goes by."""

from __future__ import annotations

from typing import Any

from ..known import is_a
from ..result import Result
from . import of_driver

TRIED = ("SQLAlchemy 2.1", "psycopg 3.3", "asyncpg 0.32", "PyMySQL 1.2")


def result(error: Any) -> Result | None:
    """The result that what it wraps stands for. In place of asyncpg's exceptions it has
    its own, whose cause is asyncpg's.
    """
    if is_a(error, "sqlalchemy", "DBAPIError"):
        return of_driver(error.orig)
    cause = error.__cause__
    return None if cause is None else of_driver(cause)
