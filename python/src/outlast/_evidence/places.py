"""What is watched, by module."""

from __future__ import annotations

from . import clients, handing, sockets
from .patches import Patches


def patches() -> Patches:
    """All that is to be put in place."""
    return Patches(
        {
            "_thread": handing.starts,
            "aiohttp.client": clients.aiohttp,
            "anyio._backends._asyncio": handing.workers,
            "anyio.streams.memory": handing.streams,
            "asyncio.base_events": handing.tasks,
            "asyncio.locks": handing.signals,
            "asyncio.queues": handing.queues,
            "asyncio.selector_events": sockets.transports,
            "asyncio.sslproto": sockets.tls_transports,
            "concurrent.futures._base": handing.executors,
            "concurrent.futures.thread": handing.threads,
            "ctypes.util": handing.libraries,
            "http.client": clients.http_client,
            "httpcore": clients.httpcore,
            "httpcore2": clients.httpcore,
            "logging": handing.logs,
            "multiprocessing.connection": handing.pipes,
            "multiprocessing.pool": handing.processes,
            "multiprocessing.queues": handing.queues,
            "multiprocessing.synchronize": handing.signals,
            "os": sockets.descriptors,
            "platform": handing.machines,
            "queue": handing.queues,
            "socket": sockets.sockets,
            "ssl": sockets.tls,
            "threading": handing.signals,
            "trio._channel": handing.channels,
            "trio._core._run": handing.nurseries,
            "trio._core._wakeup_socketpair": sockets.trio_wakeup,
            "trio._socket": sockets.trio,
            "trio.lowlevel": handing.system_tasks,
            "urllib3.connection": clients.urllib3,
            "xmlrpc.client": clients.xmlrpc,
        }
    )
