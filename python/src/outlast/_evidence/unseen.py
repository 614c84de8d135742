"""What a program may use that no Python code can watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

IN_C = {
    "_mysql_connector": "mysql-connector's C extension",
    "MySQLdb": "mysqlclient",
    "_awscrt": "awscrt",
    "_pulsar": "pulsar-client",
    "_pylibmc": "pylibmc",
    "aerospike": "aerospike",
    "confluent_kafka": "confluent-kafka",
    "couchbase": "couchbase",
    "curl_cffi": "curl_cffi",
    "cx_Oracle": "cx_Oracle",
    "deltalake": "deltalake",
    "glide": "valkey-glide",
    "glide_sync": "valkey-glide",
    "grpc": "grpc",
    "lancedb": "lancedb",
    "psycopg": "psycopg",
    "psycopg2": "psycopg2",
    "primp": "primp",
    "pyarrow._flight": "pyarrow.flight",
    "pyarrow._fs": "pyarrow.fs",
    "pycurl": "pycurl",
    "pymssql": "pymssql",
    "pyodbc": "pyodbc",
    "rnet": "rnet",
    "temporalio.bridge": "temporalio",
    "tls_client": "tls_client",
    "uvloop": "uvloop",
    "winloop": "winloop",
    "zmq": "pyzmq",
}
"""Packages that write to sockets by themselves, by a module that is loaded once
they can. What they send, and in whose name, cannot be told."""

_IN_C = IN_C.keys()

unwatched: set[str] = set()
"""Why something is not watched that should be, for a person."""


def not_known(name: str) -> None:
    """A module is of another release than those whose methods are known."""
    unwatched.add(f"{name} is of a release that is not known, and cannot be watched")


def unseen(modules: Mapping[str, Any]) -> str:
    """What is loaded that can send without being seen; ``""`` if nothing is."""
    if not _IN_C.isdisjoint(modules.keys()):  # each request asks, so it is a quick one
        name = next(name for name in IN_C if name in modules)
        return f"{IN_C[name]} is loaded, and cannot be watched"
    why = _thick(modules) or _green(modules) or _loop(modules)
    return why or next(iter(unwatched), "")


def _thick(modules: Mapping[str, Any]) -> str:
    """Oracle's driver, where it leaves the network to a library."""
    driver = modules.get("oracledb")
    if driver is None or driver.is_thin_mode():
        return ""
    return "oracledb's thick mode is on, and cannot be watched"


def _green(modules: Mapping[str, Any]) -> str:
    """Green threads, which run one another's code, in contexts of their own."""
    for name, patcher, patched in (
        ("gevent", "gevent.monkey", "is_module_patched"),
        ("eventlet", "eventlet.patcher", "is_monkey_patched"),
    ):
        monkey = modules.get(patcher)
        if monkey is not None and getattr(monkey, patched)("socket"):
            return f"{name}'s sockets are in place of Python's, and cannot be watched"
    hub = modules.get("gevent._hub_local")
    if "gevent.socket" in modules or (hub is not None and hub.get_hub_if_exists() is not None):
        return "gevent is in use, and cannot be watched"
    hubs = modules.get("eventlet.hubs")
    if hubs is not None and hasattr(hubs._threadlocal, "hub"):
        return "eventlet is in use, and cannot be watched"
    return ""


def _loop(modules: Mapping[str, Any]) -> str:
    """An event loop that writes to sockets by itself, such as uvloop's."""
    events, selector = modules.get("asyncio.events"), modules.get("asyncio.selector_events")
    loop = None if events is None else events._get_running_loop()
    if loop is None or (selector and isinstance(loop, selector.BaseSelectorEventLoop)):
        return ""
    return f"the event loop is {type(loop).__module__}'s, and cannot be watched"
