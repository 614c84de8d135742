"""What a program may use that no Python code can watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

IN_C = {
    "_mysql_connector": "mysql-connector's C extension",
    "MySQLdb": "mysqlclient",
    "confluent_kafka": "confluent-kafka",
    "curl_cffi": "curl_cffi",
    "grpc": "grpc",
    "lancedb": "lancedb",
    "psycopg": "psycopg",
    "psycopg2": "psycopg2",
    "pycurl": "pycurl",
    "pymssql": "pymssql",
    "pyodbc": "pyodbc",
    "zmq": "pyzmq",
}
"""Packages that write to sockets by themselves, by a module that is loaded once
they can. What they send, and in whose name, cannot be told."""

not_known: set[str] = set()
"""Modules of a release that is not known, so that they are not watched."""


def unseen(modules: Mapping[str, Any]) -> str:
    """What is loaded that can send without being seen; ``""`` if nothing is."""
    for name, what in IN_C.items():
        if name in modules:
            return f"{what} is loaded, and cannot be watched"
    for name in not_known:
        return f"{name} is of a release that is not known, and cannot be watched"
    return _patched(modules) or _loop(modules)


def _patched(modules: Mapping[str, Any]) -> str:
    """Green threads, which run one another's code."""
    monkey = modules.get("gevent.monkey")
    if monkey is not None and monkey.is_module_patched("socket"):
        return "gevent's sockets are in place of Python's, and cannot be watched"
    patcher = modules.get("eventlet.patcher")
    if patcher is not None and patcher.is_monkey_patched("socket"):
        return "eventlet's sockets are in place of Python's, and cannot be watched"
    return ""


def _loop(modules: Mapping[str, Any]) -> str:
    """An event loop that writes to sockets by itself, such as uvloop's."""
    events, selector = modules.get("asyncio.events"), modules.get("asyncio.selector_events")
    loop = None if events is None else events._get_running_loop()
    if loop is None or (selector and isinstance(loop, selector.BaseSelectorEventLoop)):
        return ""
    return f"the event loop is {type(loop).__module__}'s, and cannot be watched"
