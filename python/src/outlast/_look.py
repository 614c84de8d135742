"""One look at a server: does it accept a connection, and is it healthy?"""

from __future__ import annotations

import errno
import http.client
import io
import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from urllib.parse import urlsplit

TIMEOUT = 1.0
"""Seconds that one look takes at most. A choice: a connection that takes longer
is no sign of a server that a call should hurry to."""

MAX_ADDRESSES = 8
"""How many addresses of a name one look tries. A choice: a server with more has
others to be found by."""

NO_WAY = {
    getattr(errno, name)
    for name in (
        "ECONNREFUSED",
        "EHOSTUNREACH",
        "EHOSTDOWN",
        "ENETUNREACH",
        "ENETDOWN",
        # A family of addresses that this machine does not have.
        "EADDRNOTAVAIL",
        "EAFNOSUPPORT",
    )
    if hasattr(errno, name)
}
"""The errors of a connection that was refused, or had no way to its address."""

NO_NAME = {getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA") if hasattr(socket, name)}
"""The errors of a name that does not exist."""


class Level(IntEnum):
    """What a look saw of a server, in the order of readiness."""

    UNANSWERED = 0
    """No answer in time, or a failure that says nothing."""
    DOWN = 1
    """Refused, no way to it, or no such name."""
    LOADING = 2
    """It says that it is not ready yet, and will be by itself."""
    UNREADY = 3
    """Of omnigraph: another answer that is no sign of readiness, or none."""
    ACCEPTING = 4
    """It accepted a connection."""
    HEALTHY = 5
    """It answered its health check as expected."""


@dataclass(frozen=True)
class Target:
    """What is looked at: a port, an HTTP health check, or a server of omnigraph's.

    Attributes:
        scheme: ``"tcp"``, ``"http"`` or ``"https"``.
        host: A name or an address.
        port: The port.
        path: Of HTTP, with a query if it has one; of omnigraph, what stands
            before its own paths.
        statuses: Of HTTP, that say ready; none: 200 to 299.
        omnigraph: A server of omnigraph's, which says itself what it is doing.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    statuses: tuple[int, ...] = ()
    omnigraph: bool = False

    @property
    def best(self) -> Level:
        """The most that a look can see."""
        return Level.ACCEPTING if self.scheme == "tcp" else Level.HEALTHY

    def expects(self, status: int) -> bool:
        """Whether a status says ready."""
        return status in self.statuses if self.statuses else 200 <= status <= 299


FORMS = "tcp://host:port or http(s)://host[:port][/path][#status,...]"

SERVER_FORMS = "http(s)://host[:port][/path]"


def parse_omnigraph(text: str) -> Target:
    """Read the URL of a server of omnigraph's. Its path is kept, for a proxy's
    prefix; a user name, a query and a fragment are not.

    Raises:
        ValueError: If it is none.
    """
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise _bad(text, "is not a URL", SERVER_FORMS) from None
    if url.scheme not in ("http", "https"):
        raise _bad(text, "has no scheme http or https", SERVER_FORMS)
    if not url.hostname or any(c.isspace() for c in url.netloc):
        raise _bad(text, "has no host", SERVER_FORMS)
    if port == 0:
        raise _bad(text, "has the port 0, which is not from 1 to 65535", SERVER_FORMS)
    default = 443 if url.scheme == "https" else 80
    return Target(url.scheme, url.hostname, port or default, url.path.rstrip("/"), omnigraph=True)


def parse(text: str) -> Target:
    """Read a target. Without a path /healthz is asked for.

    Raises:
        ValueError: If it is none.
    """
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise _bad(text, "is not a URL") from None
    if url.scheme not in ("tcp", "http", "https"):
        raise _bad(text, "has none of the schemes tcp, http and https")
    if "@" in url.netloc:
        raise _bad(text, "has a user name: a look at the server sends none")
    if not url.hostname or any(c.isspace() for c in url.netloc):
        raise _bad(text, "has no host")
    if port == 0:
        raise _bad(text, "has the port 0, which is not from 1 to 65535")
    if url.scheme == "tcp":
        if port is None:
            raise _bad(text, "has no port")
        if url.path.strip("/") or url.query or url.fragment:
            raise _bad(text, "has more than a host and a port")
        return Target("tcp", url.hostname, port)
    path = url.path or "/"
    if url.query:
        path += "?" + url.query
    if path == "/":
        path = "/healthz"
    default = 443 if url.scheme == "https" else 80
    return Target(url.scheme, url.hostname, port or default, path, _statuses(text, url.fragment))


def _statuses(text: str, words: str) -> tuple[int, ...]:
    statuses = []
    for word in words.split(",") if words else ():
        if not word.strip().isdecimal() or not 200 <= int(word) <= 599:
            # A long one may be a piece of a secret that has a # in it.
            told = f"the status {word!r}, which" if len(word) <= 3 else "a status behind the # that"
            raise _bad(text, f"has {told} is not from 200 to 599")
        statuses.append(int(word))
    return tuple(statuses)


def _bad(text: str, why: str, forms: str = FORMS) -> ValueError:
    return ValueError(f"outlast: {shown(text)!r} {why}; expected {forms}")


def shown(text: str) -> str:
    """A target without what may be a secret in it: a user name and password, a
    query. An @ behind a ? may end either.
    """
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "", text
    rest, query, hidden = rest.partition("?")
    if "@" in hidden or "@" in scheme or "?" in scheme:
        return "…"
    _, at, end = rest.rpartition("@")
    rest = ("…@" + end if at else end) + ("?…" if query else "")
    return scheme + mark + rest


def look(target: Target, connected: Callable[[], None]) -> Level:
    """Look at a target on all its addresses at once. A connection is told as soon
    as there is one, where there is more to see.
    """
    deadline = time.monotonic() + TIMEOUT
    try:
        addresses = _resolve(target)
    except OSError as e:
        return _failed(e)
    if len(addresses) == 1:
        return _at(target, addresses[0], deadline, connected)
    levels: queue.SimpleQueue[Level] = queue.SimpleQueue()
    for address in addresses:
        threading.Thread(
            target=lambda a=address: levels.put(_at(target, a, deadline, connected)),
            name="outlast-look",
            daemon=True,
        ).start()
    seen: list[Level] = []
    with suppress(queue.Empty):
        while len(seen) < len(addresses) and target.best not in seen:
            seen.append(levels.get(timeout=max(0.0, deadline - time.monotonic()) + 0.05))
    reached = max(seen, default=Level.UNANSWERED)
    if reached < Level.UNREADY and (len(seen) < len(addresses) or Level.UNANSWERED in seen):
        return Level.UNANSWERED  # an attempt is in vain only if each address says so
    return reached


Address = tuple[int, Any]


def _resolve(target: Target) -> list[Address]:
    """The addresses, looked up afresh each time: a restart may move a server."""
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses: dict[Address, None] = {(family, address): None for family, _, _, _, address in found}
    return list(addresses)[:MAX_ADDRESSES]


def _failed(error: OSError) -> Level:
    """What an error of a connection says of a server."""
    if isinstance(error, socket.gaierror):
        return Level.DOWN if error.errno in NO_NAME else Level.UNANSWERED
    return Level.DOWN if error.errno in NO_WAY else Level.UNANSWERED


def _at(target: Target, to: Address, deadline: float, connected: Callable[[], None]) -> Level:
    """Look at one address."""
    family, address = to
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        try:
            sock.settimeout(_left(deadline))
            sock.connect(address)
        except OSError as e:
            return _failed(e)
        if _is_itself(sock):
            return Level.DOWN
        if target.scheme == "tcp":
            return Level.ACCEPTING
        if target.omnigraph:
            return _life(target, to, sock, deadline)
        connected()
        try:
            answer = _ask(target, sock, target.path, deadline)
        except (OSError, ValueError, http.client.HTTPException):
            return Level.ACCEPTING
        return Level.HEALTHY if target.expects(answer.status) else Level.ACCEPTING


def _life(target: Target, to: Address, sock: socket.socket, deadline: float) -> Level:
    from ._life import life

    first: list[socket.socket] = [sock]

    def ask(path: str) -> Answer:
        if first:
            return _ask(target, first.pop(), path, deadline)
        family, address = to
        with socket.socket(family, socket.SOCK_STREAM) as again:
            again.settimeout(_left(deadline))
            again.connect(address)
            return _ask(target, again, path, deadline)

    return life(target, ask)


def _is_itself(sock: socket.socket) -> bool:
    """Whether a connection is to itself. Where nobody listens at a port of this
    machine, the system may give the connection that very port.
    """
    try:
        return bool(sock.getsockname() == sock.getpeername())
    except OSError:  # it is closed already
        return False


@dataclass(frozen=True)
class Answer:
    """What a request came to.

    Attributes:
        status: The status.
        body: ``None`` where it is too long or did not come whole in time; only
            omnigraph's are read.
    """

    status: int
    body: bytes | None = None


MAX_BODY = 64 << 10
"""How much of an answer is read. A choice: omnigraph's are of some hundred bytes."""


class _Timed(io.RawIOBase):
    """What a socket receives, in time."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._sock.recv_into(buffer)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """As http.client has it of a socket."""
        return io.BufferedReader(self)


def _ask(target: Target, sock: socket.socket, path: str, deadline: float) -> Answer:
    """Send one request on a connection. No token, no cookie, no redirect, no proxy."""
    sock.settimeout(_left(deadline))
    if target.scheme == "https":
        sock = ssl.create_default_context().wrap_socket(sock, server_hostname=target.host)
        sock.settimeout(_left(deadline))
    with sock:
        connection = http.client.HTTPConnection(_bracketed(target.host), target.port)
        connection.sock = sock
        headers = {"User-Agent": "outlast", "Connection": "close"}
        connection.putrequest("GET", path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        with http.client.HTTPResponse(_Timed(sock, deadline), method="GET") as response:  # type: ignore[arg-type]
            response.begin()
            return Answer(response.status, _body(response) if target.omnigraph else None)


def _body(response: http.client.HTTPResponse) -> bytes | None:
    try:
        body = response.read(MAX_BODY + 1)
    except (OSError, ValueError, http.client.HTTPException):
        return None
    whole = len(body) <= MAX_BODY and response.length in (0, None)
    return body if whole else None


def _bracketed(host: str) -> str:
    try:
        six = ipaddress.ip_address(host).version == 6
    except ValueError:
        return host
    return f"[{host}]" if six else host


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())
