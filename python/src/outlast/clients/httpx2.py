"""httpx2 that rides out a server's restart::

    client = httpx2.Client(transport=outlast.clients.httpx2.Transport())

All of it is as in :mod:`outlast.clients.httpx`.
"""

from __future__ import annotations

import httpx2

from .._clients.httpx_kind import AsyncioTransport, SyncTransport


class Transport(
    SyncTransport[httpx2.BaseTransport, httpx2.Request, httpx2.Response], httpx2.BaseTransport
):
    """Carries out each request by another transport, as often as the policy says.

    Args:
        transport: The other one; ``None``: ``httpx2.HTTPTransport()``.
        options: :class:`outlast.clients.ClientOptions`.

    Raises:
        TypeError: If there is no such option, or the other transport is none of httpx2's.
        PolicyError: If there is no such policy.
        ValueError: If an option is out of bounds.
    """

    _module = httpx2


class AsyncTransport(
    AsyncioTransport[httpx2.AsyncBaseTransport, httpx2.Request, httpx2.Response],
    httpx2.AsyncBaseTransport,
):
    """The same for ``httpx2.AsyncClient``, by ``httpx2.AsyncHTTPTransport()``."""

    _module = httpx2


__all__ = ["AsyncTransport", "Transport"]
