"""Looking for others; docs/looking.md has the protocol."""

from __future__ import annotations

import selectors
import socket
import sys
import time
from contextlib import suppress

from . import meeting
from .line import HOLDS
from .look import addresses_of
from .sharer import Sharer
from .waiter import Waiter
from .window import LEASE

EACH = 0.15
MOVED = 1.0
"""Seconds between two looks at the name, and at the server's addresses."""

MOST = 2000
"""Connections of a looker."""

CALLS = 10_000
"""Calls of others that a looker keeps (a choice): each takes memory, and time at each look."""


def _room() -> int:
    """How many followers a looker takes: a quarter of the files that it may have."""
    if sys.platform == "win32":
        return 0
    import resource

    return min(MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)


def _lease() -> str:
    """Until when a turn holds that is given now."""
    return str(meeting.boot() + int(LEASE * 1e6))


class Lead:
    """Looks for others, until another follows this process, or its server moves."""

    def __init__(
        self,
        watcher: Sharer,
        seat: meeting.Seat,
        addresses: str,
        poked: socket.socket,
        sockets: set[socket.socket],
    ) -> None:
        self._watcher = watcher
        self._seat = seat
        self._addresses = addresses
        self._poked = poked
        self._sockets = sockets  # that the child of a fork closes
        self._conns: dict[socket.socket, tuple[meeting.Conn, dict[str, Waiter]]] = {}
        self._calls = 0  # in them
        self._room = _room()

    def run(self) -> None:
        """Serve followers."""
        checked = moved = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self._seat.sock, selectors.EVENT_READ)
            selector.register(self._poked, selectors.EVENT_READ)
            try:
                while not self._watcher.over:
                    for key, _ in selector.select(EACH):
                        self._serve(selector, key.fileobj)  # type: ignore[arg-type]
                    now = time.monotonic()
                    if now - checked >= EACH:
                        checked = now
                        if self._seat.taken():
                            break
                    if now - moved >= MOVED:
                        moved = now
                        if self._moved():
                            break
            finally:
                self._seat.leave(any(views for _, views in self._conns.values()))
                for sock in list(self._conns):
                    self._lose(selector, sock)

    def _moved(self) -> bool:
        with suppress(OSError):
            return addresses_of(self._watcher.target) != self._addresses
        return False

    def _serve(self, selector: selectors.BaseSelector, sock: socket.socket) -> None:
        if sock is self._poked:
            with suppress(OSError):
                sock.recv(1 << 10)
        elif sock is self._seat.sock:
            self._accept(selector)
        else:
            conn, views = self._conns[sock]
            for words in conn.hear():
                if not self._hear(conn, views, words):
                    conn.over = True
                    break
            if conn.over:
                self._lose(selector, sock)

    def _accept(self, selector: selectors.BaseSelector) -> None:
        try:
            sock, _ = self._seat.sock.accept()
        except OSError:  # gone, or there are no more files
            time.sleep(0.01)
            return
        conn = meeting.Conn(sock)
        if len(self._conns) >= self._room:
            conn.say("full")
            conn.close()
            return
        self._sockets.add(sock)
        self._conns[sock] = conn, {}
        selector.register(sock, selectors.EVENT_READ)

    def _hear(self, conn: meeting.Conn, views: dict[str, Waiter], words: list[str]) -> bool:
        """Take what a follower says. The value is whether it is heard any more."""
        watcher = self._watcher
        if words[0] == "ask":
            with watcher.lock:
                until = str(watcher.looked + int(HOLDS * 1e6))
                conn.say("here", meeting.WORDS[watcher.level], until)
        elif words[0] == "wait":
            self._forget(views, words[1])
            if self._calls >= CALLS:
                conn.say("full")
                return False
            self._calls += 1
            least = None if words[3] == "unseen" else meeting.level(words[3])
            views[words[1]] = watcher.take(
                words[4] == "eager",
                meeting.level(words[2]),
                least,
                lambda level: conn.say("turn", words[1], meeting.WORDS[level], _lease()),
            )
        elif words[0] == "go" and words[1] in views:
            watcher.remove(views[words[1]])
        elif words[0] == "done" and words[1] in views:
            watcher.went(views[words[1]], words[2])  # type: ignore[arg-type]
            self._forget(views, words[1])
        else:
            return words[0] in ("go", "done")  # of a call that is known no more
        return True

    def _forget(self, views: dict[str, Waiter], number: str) -> None:
        if number in views:
            self._calls -= 1
            self._watcher.lose([views.pop(number)])

    def _lose(self, selector: selectors.BaseSelector, sock: socket.socket) -> None:
        conn, views = self._conns.pop(sock)
        selector.unregister(sock)
        self._sockets.discard(sock)
        conn.close()
        self._calls -= len(views)
        self._watcher.lose(views.values())
