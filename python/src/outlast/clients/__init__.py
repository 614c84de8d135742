"""Clients of HTTP that ride out a server's restart, a line each::

    httpx.Client(transport=outlast.clients.httpx.Transport())
    httpx2.Client(transport=outlast.clients.httpx2.Transport())
    session.mount("https://", outlast.clients.requests.HTTPAdapter())
    outlast.clients.urllib3.PoolManager()
    outlast.clients.aiohttp.session()

Each takes :class:`ClientOptions`. A client is imported by its own module only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._clients.options import ClientOptions
from .._clients.routes import ClientRequest

if TYPE_CHECKING:
    from . import aiohttp as aiohttp
    from . import httpx as httpx
    from . import httpx2 as httpx2
    from . import requests as requests
    from . import urllib3 as urllib3


def __getattr__(name: str) -> Any:
    """The clients' modules, loaded when asked for."""
    if name in ("aiohttp", "httpx", "httpx2", "requests", "urllib3"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["ClientOptions", "ClientRequest"]
