"""httpx that rides out a server's restart::

    client = httpx.Client(transport=outlast.clients.httpx.Transport())

A client with a transport of its own takes no proxy from the environment: that is httpx's
rule. ``extensions={"outlast": {"budget": 5}}`` says what one request shall have, as
:class:`outlast.CallOptions` has it.
"""

from __future__ import annotations

import httpx

from .._clients.httpx_kind import AsyncioTransport, SyncTransport


class Transport(
    SyncTransport[httpx.BaseTransport, httpx.Request, httpx.Response], httpx.BaseTransport
):
    """Carries out each request by another transport, as often as the policy says.

    Args:
        transport: The other one; ``None``: ``httpx.HTTPTransport()``.
        options: :class:`outlast.clients.ClientOptions`.

    Raises:
        TypeError: If there is no such option, or the other transport is none of httpx's.
        PolicyError: If there is no such policy.
        ValueError: If an option is out of bounds.
    """

    _module = httpx


class AsyncTransport(
    AsyncioTransport[httpx.AsyncBaseTransport, httpx.Request, httpx.Response],
    httpx.AsyncBaseTransport,
):
    """The same for ``httpx.AsyncClient``, by ``httpx.AsyncHTTPTransport()``."""

    _module = httpx


__all__ = ["AsyncTransport", "Transport"]
