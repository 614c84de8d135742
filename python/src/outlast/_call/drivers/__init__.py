"""What the exceptions of clients of databases and queues stand for.

Each client has a module of its name, which is loaded once an exception of the client's
is met, and so only in programs that have loaded the client. ``TRIED`` has the releases
that it was seen with; the tests let each meet real servers.

``unconnected`` is said only where the client itself tells a connection that it could
not make from one that broke: a write may be repeated on it if its caller claims that
an attempt makes one request. What a server's answer could imitate is no such thing.
"""

from __future__ import annotations

from importlib import import_module

from ..known import packages
from ..result import Result

CLIENTS = (
    "asyncpg",
    "botocore",
    "grpc",
    "psycopg",
    "pymongo",
    "pymysql",
    "redis",
    "sqlalchemy",
)
"""Each is the name of a package and of the module here that knows it."""


def of_driver(error: BaseException) -> Result | None:
    """The result that the exception of such a client stands for."""
    found = packages(error)
    for name in CLIENTS:
        if name in found:
            known: Result | None = import_module(f".{name}", __name__).result(error)
            return known
    return None
