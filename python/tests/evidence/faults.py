"""What goes wrong, as a server that does so, or an address that leads nowhere."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from .servers import (
    Answer,
    Exchange,
    Server,
    closed_port,
    closes,
    cuts,
    dies,
    drops,
    goes,
    ok,
    refuses,
    resets,
    says,
)

AWAY = 1.0
"""Seconds that a server is away which dies."""


@dataclass
class World:
    """What a case is run in.

    Attributes:
        tls: A server's context with a certificate.
        two: The servers speak HTTP/2.
        urls: Where the next attempts go; the last one stays.
        servers: All that there are.
        begins: What happens when all is made.
        returns: What happens before the third attempt.
    """

    tls: ssl.SSLContext
    two: bool
    urls: list[str] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    begins: list[Callable[[], object]] = field(default_factory=list)
    returns: list[Callable[[], object]] = field(default_factory=list)
    stack: ExitStack = field(default_factory=ExitStack)

    def server(self, *script: Answer, tls: bool = False, away: bool = False) -> Server:
        """A server, which the next attempts go to."""
        server = Server(*script, tls=self.tls if tls else None, two=self.two)
        self.stack.callback(server.stop)
        self.servers.append(server)
        self.urls.append(server.url)
        if away:
            self.returns.append(server.start)
            return server
        return server.start()

    @property
    def applied(self) -> int:
        return sum(server.applied for server in self.servers)


@dataclass(frozen=True)
class Fault:
    """What goes wrong.

    Attributes:
        name: What it is called in the table.
        make: Makes the servers.
        warm: A request is made before the call, on a connection that is kept.
        again: The client tries once more by itself.
        trusted: The client trusts the certificate.
        only: The clients that can meet it; none: all.
    """

    name: str
    make: Callable[[World], Any]
    warm: bool = False
    again: bool = False
    trusted: bool = True
    only: tuple[str, ...] = ()


TWO = ("httpx h2", "httpx2 h2")
"""The clients that speak HTTP/2."""

NO_ROUTE = "224.0.0.1"
"""An address of no single machine: TCP has no way there."""


def nowhere(url: str) -> Callable[[World], None]:
    def make(world: World) -> None:
        world.urls += [url, url]
        world.server()

    return make


def slams(world: World) -> None:
    server = world.server(tls=True)
    server.slams = 2


def closing(world: World) -> None:
    """Such as a proxy of TCP whose server is away."""
    server = world.server()
    world.begins.append(lambda: setattr(server, "slams", 12))


def nonsense(exchange: Exchange) -> None:
    """Apply it, and answer in another language."""
    exchange.apply()
    exchange.connection.sendall(b"220 smtp.example ESMTP\r\n\r\n")


def gone(world: World) -> None:
    """The connection is kept; the server has forgotten it when the next request comes."""
    world.server(ok, drops)


FAULTS = [
    Fault("refused", lambda w: w.server(away=True)),
    Fault("no route", nowhere(f"http://{NO_ROUTE}:9/")),
    Fault("no such name", nowhere("http://nosuch.invalid/")),
    Fault("TLS closed in the handshake", slams),
    Fault("accepted, and closed at once", closing),
    Fault("certificate not trusted", lambda w: w.server(tls=True), trusted=False),
    Fault("reset after the request", lambda w: w.server(resets)),
    Fault("closed before the answer", lambda w: w.server(closes)),
    Fault("cut within the answer", lambda w: w.server(cuts)),
    Fault("an answer that is no HTTP", lambda w: w.server(nonsense)),
    Fault("429, Retry-After: 1", lambda w: w.server(says(429, Retry_After="1"))),
    Fault("503, Retry-After: 1", lambda w: w.server(says(503, Retry_After="1"))),
    Fault("503", lambda w: w.server(says(503))),
    Fault("500", lambda w: w.server(says(500))),
    Fault("404", lambda w: w.server(refuses)),
    Fault("409", lambda w: w.server(says(409))),
    Fault(
        "redirect to a dead port",
        lambda w: w.server(says(307, Location=f"http://127.0.0.1:{closed_port()}/")),
    ),
    Fault("the client tries again by itself", lambda w: w.server(dies(AWAY)), again=True),
    Fault("a kept connection is gone", gone, warm=True),
    Fault("GOAWAY before the request", lambda w: w.server(goes(0)), only=TWO),
    Fault("GOAWAY after the request", lambda w: w.server(goes(1)), only=TWO),
]
