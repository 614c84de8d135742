"""Begins to watch, with the first attempt of a process."""

from __future__ import annotations

import sys

from . import clients, handing, sockets
from .patches import Patches
from .unseen import not_known

_off = False
_hears = False


def install() -> None:
    """Watch, unless that was ended: what is loaded now, and the rest once it is."""
    global _hears
    if patches.installed or _off:
        return
    if not _hears:
        _hears = True
        try:
            sys.addaudithook(handing.audit)  # there is no way to take one away
        except RuntimeError:  # another one does not allow it
            not_known.add("an audit hook of this program")
    patches.install()


def unwatch() -> None:
    """Take away all that watches requests, for the rest of the process.

    Attempts are made as ever, but nobody sees what they send: a write is tried
    again only where its caller says ``only_request=True``, or its result ``sent="no"``.
    """
    global _off
    _off = True
    patches.remove()


def watched() -> bool:
    """Whether requests are watched."""
    return not _off


patches = Patches(
    {
        "aiohttp.client": clients.aiohttp,
        "asyncio.base_events": handing.tasks,
        "asyncio.queues": handing.queues,
        "asyncio.selector_events": sockets.transports,
        "asyncio.sslproto": sockets.tls_transports,
        "concurrent.futures._base": handing.executors,
        "concurrent.futures.thread": handing.threads,
        "ctypes.util": handing.libraries,
        "http.client": clients.http_client,
        "httpcore": clients.httpcore,
        "logging": handing.logs,
        "multiprocessing.connection": handing.pipes,
        "multiprocessing.pool": handing.processes,
        "queue": handing.queues,
        "socket": sockets.sockets,
        "ssl": sockets.tls,
        "_thread": handing.starts,
        "threading": handing.starts,
        "trio._core._run": handing.nurseries,
        "trio._core._wakeup_socketpair": sockets.trio_wakeup,
        "trio._socket": sockets.trio,
        "urllib3.connection": clients.urllib3,
    }
)
"""What is watched, by module."""
