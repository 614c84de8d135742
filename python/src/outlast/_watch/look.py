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
from typing import Any

from .closing import stays
from .life import life
from .target import Answer, Level, Target

TIMEOUT = 1.0
"""Seconds that one look takes at most. A choice: a connection that takes longer
is no sign of a server that a call should hurry to."""

STEADY = 0.02
"""Seconds that a connection must last to count as accepted: what stands before a server
that is away may accept, and close at once (a choice, far above a round trip on a machine
or in its network)."""

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


def look(
    target: Target,
    answered: Callable[[int], None] = lambda _: None,
    *,
    quick: bool = False,
) -> Level:
    """Look at a target on all its addresses at once. The status of each answer is told.
    One that is *quick* asks at once whether the server is healthy, and sees only where it
    is not answered whether its connections last.

    Where there is a health check, a connection says nothing before that has been
    answered or the look is over: the answer may be that the server is not ready.
    """
    deadline = time.monotonic() + TIMEOUT
    try:
        addresses = _resolve(target)[:MAX_ADDRESSES]
    except OSError as e:
        return _failed(e)
    if len(addresses) == 1:
        return _at(target, addresses[0], deadline, answered, quick)
    levels: queue.SimpleQueue[Level] = queue.SimpleQueue()
    for address in addresses:
        threading.Thread(
            target=lambda a=address: levels.put(_at(target, a, deadline, answered, quick)),
            name="outlast-look",
            daemon=True,
        ).start()
    seen: list[Level] = []
    with suppress(queue.Empty):
        while len(seen) < len(addresses) and target.best not in seen:
            seen.append(levels.get(timeout=max(0.0, deadline - time.monotonic()) + 0.05))
    reached = max(seen, default=Level.UNANSWERED)
    if reached < Level.UNREADY and (len(seen) < len(addresses) or Level.UNANSWERED in seen):
        return Level.UNANSWERED  # an attempt is sure to fail only if each address says so
    return reached


Address = tuple[int, Any]


def _resolve(target: Target) -> list[Address]:
    """The addresses, looked up afresh each time: a restart may move a server."""
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses: dict[Address, None] = {(family, address): None for family, _, _, _, address in found}
    return list(addresses)


def addresses_of(target: Target) -> str:
    """The addresses that a target has now, as docs/looking.md names them: all of
    them, since a resolver may give them in another order each time.
    """
    return ",".join(sorted({str(address[0]) for _, address in _resolve(target)}))


def _failed(error: OSError) -> Level:
    """What an error of a connection says of a server."""
    if isinstance(error, socket.gaierror):
        return Level.DOWN if error.errno in NO_NAME else Level.UNANSWERED
    return Level.DOWN if error.errno in NO_WAY else Level.UNANSWERED


def _at(
    target: Target,
    to: Address,
    deadline: float,
    answered: Callable[[int], None],
    quick: bool = False,
) -> Level:
    """Look at one address."""
    family, address = to
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError as e:  # such as of a family that this machine does not have
        return _failed(e)
    with sock:
        try:
            sock.settimeout(_left(deadline))
            sock.connect(address)
        except OSError as e:
            return _failed(e)
        if _is_itself(sock):
            return Level.DOWN
        if target.omnigraph:
            return _life(target, to, sock, deadline, answered)
        quick = quick and target.scheme != "tcp"
        if not quick and not stays(sock, STEADY):
            return Level.UNANSWERED
        if target.scheme == "tcp":
            return Level.ACCEPTING
        try:
            answer = _ask(target, sock, target.path, deadline)
        except TimeoutError:
            return Level.ACCEPTING
        except (OSError, ValueError, http.client.HTTPException):
            return _at(target, to, deadline, answered) if quick else Level.ACCEPTING
        answered(answer.status)
        return target.says(answer.status)


def _life(
    target: Target,
    to: Address,
    sock: socket.socket,
    deadline: float,
    answered: Callable[[int], None],
) -> Level:
    first: list[socket.socket] = [sock]

    def ask(path: str) -> Answer:
        if first:
            answer = _ask(target, first.pop(), path, deadline)
        else:
            family, address = to
            with socket.socket(family, socket.SOCK_STREAM) as again:
                again.settimeout(_left(deadline))
                again.connect(address)
                answer = _ask(target, again, path, deadline)
        answered(answer.status)
        return answer

    return life(target, ask)


def _is_itself(sock: socket.socket) -> bool:
    """Whether a connection is to itself. Where nobody listens at a port of this
    machine, the system may give the connection that very port.
    """
    try:
        return bool(sock.getsockname() == sock.getpeername())
    except OSError:  # it is closed already
        return False


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
