"""Python's own sockets, and what writes to them later: below all clients that are
watched, and all there is of the others.
"""

from __future__ import annotations

import os
import stat
import time
from operator import attrgetter
from types import ModuleType
from typing import Any

from .patches import Patches
from .requests import Connection, Within, connections, current


def sockets(patches: Patches, module: ModuleType) -> None:
    """The module ``socket``."""
    _connecting(patches, module.socket, "connect")
    _connecting(patches, module.socket, "connect_ex")
    for name in ("send", "sendall", "sendto", "sendmsg", "sendfile"):
        if hasattr(module.socket, name):  # Windows has no sendmsg
            _writing(patches, module.socket, name)


def descriptors(patches: Patches, module: ModuleType) -> None:
    """The module ``os``, whose functions write to sockets and pipes by their number."""
    for name, place in (("write", 0), ("writev", 0), ("sendfile", 0), ("splice", 1)):
        if hasattr(module, name):
            _by_number(patches, module, name, place)


def _by_number(patches: Patches, module: ModuleType, name: str, place: int) -> None:
    def make(original: Any) -> Any:
        def write(*args: Any, **kwargs: Any) -> Any:
            attempt = current.get()
            if attempt is not None and (len(args) <= place or _is_way_out(args[place])):
                attempt.attempt.sends("bytes were written to a socket or a pipe by its number")
            return original(*args, **kwargs)

        return write

    patches.replace(module, name, make)


def _is_way_out(number: Any) -> bool:
    """Whether a descriptor leads to somebody else, and is no standard stream."""
    if number in (1, 2):
        return False
    try:
        mode = os.fstat(number).st_mode
    except (OSError, TypeError):  # nothing is written
        return False
    return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)


def tls(patches: Patches, module: ModuleType) -> None:
    """The module ``ssl``, whose sockets write by themselves."""
    for name in ("send", "write"):
        _writing(patches, module.SSLSocket, name)

    def shake(original: Any) -> Any:
        def do_handshake(self: Any, *args: Any, **kwargs: Any) -> Any:
            value = original(self, *args, **kwargs)
            connections[self] = Connection(time.monotonic())
            return value

        return do_handshake

    patches.replace(module.SSLSocket, "do_handshake", shake)


def transports(patches: Patches, module: ModuleType) -> None:
    """The module ``asyncio.selector_events``: what is written may wait there for
    what was written before.
    """
    for name in ("write", "writelines"):
        _writing(patches, module._SelectorSocketTransport, name, "_sock")
    patches.replace(module.BaseSelectorEventLoop, "_write_to_self", _aside)


def tls_transports(patches: Patches, module: ModuleType) -> None:
    """The module ``asyncio.sslproto``, likewise."""
    for name in ("write", "writelines"):
        _writing(patches, module._SSLProtocolTransport, name, "_ssl_protocol._transport._sock")


def trio_wakeup(patches: Patches, module: ModuleType) -> None:
    """The module ``trio._core._wakeup_socketpair``."""
    patches.replace(module.WakeupSocketpair, "wakeup_thread_and_signal_safe", _aside)


def _aside(original: Any) -> Any:
    """A loop wakes itself, by a socket of its own."""

    def wake(self: Any) -> Any:
        with Within(None):
            return original(self)

    return wake


def trio(patches: Patches, module: ModuleType) -> None:
    """The module ``trio._socket``, which has kept sockets' own methods."""
    for name in ("send", "sendto", "sendmsg"):
        if hasattr(module._SocketType, name):
            _writing(patches, module._SocketType, name, "_sock")


def _connecting(patches: Patches, owner: Any, name: str) -> None:
    def make(original: Any) -> Any:
        def connect(self: Any, address: Any, *args: Any) -> Any:
            attempt = current.get()
            connections[self] = Connection(time.monotonic())
            if attempt is None:
                return original(self, address, *args)
            attempt.connects(self, address)
            with Within(None):
                return original(self, address, *args)

        return connect

    patches.replace(owner, name, make)


def _writing(patches: Patches, owner: Any, name: str, inner: str = "") -> None:
    below = attrgetter(inner) if inner else None

    def make(original: Any) -> Any:
        def write(self: Any, *args: Any, **kwargs: Any) -> Any:
            attempt = current.get()
            if attempt is None:
                return original(self, *args, **kwargs)
            try:  # noqa: SIM105  as for Within
                attempt.writes(self if below is None else below(self))
            except AttributeError:  # it is closed, and nothing is written
                pass
            if attempt.attempt is not attempt:  # a client's own, which may write on as it likes
                return original(self, *args, **kwargs)
            with Within(None):
                return original(self, *args, **kwargs)

        return write

    patches.replace(owner, name, make)
