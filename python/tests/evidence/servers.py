"""Servers on real sockets that count what they apply, and fail as they are told to,
with HTTP/1.1 or HTTP/2.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import h2.config
import h2.connection
import h2.events
import h2.exceptions

POLICY = Path(__file__).parents[3] / "plugin" / "policy" / "builtin" / "network.json"

BODY = (
    b"<?xml version='1.0'?><methodResponse><params><param><value><int>1</int></value></param>"
    b"</params></methodResponse>"
)


def quick(window: str = "20s") -> dict[str, Any]:
    """The policy for functions, in less time."""
    document: dict[str, Any] = json.loads(POLICY.read_text())
    document["name"] = "network-quick"
    document.pop("measured", None)
    budgets = document["budgets"]
    budgets["unavailable"].update(max_wait=window)
    budgets["unavailable"]["backoff"].update(base="50ms", cap="200ms")
    budgets["busy"]["backoff"].update(base="50ms", cap="200ms")
    return document


def closed_port() -> int:
    """A port at which nobody listens, and that is given once: none of those that
    systems give to connections, one of which could take it before a server does.
    """
    while True:
        port = 10_000 + next(_ports) % 20_000
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


_ports = itertools.count(os.getpid() * 997)


class Exchange:
    """A request that was read whole, and its connection."""

    def __init__(self, server: Server, connection: socket.socket, request: bytes) -> None:
        self.server = server
        self.connection = connection
        self.stays = False
        self.request = request
        tag = re.search(rb"tag-\d+", request)
        self._tag = tag.group() if tag else b""

    def apply(self) -> None:
        """It takes effect."""
        self.server.apply(self._tag)

    def respond(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        """Answer, and keep the connection."""
        self._head(status, len(body), headers)
        self.connection.sendall(body)
        self.stays = True

    def half(self) -> None:
        """A part of an answer, and no more."""
        self._head(200, 1000, {})
        self.connection.sendall(b"half")

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} X", "Content-Type: text/xml", f"Content-Length: {length}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.connection.sendall("\r\n".join([*lines, "", ""]).encode())

    def goaway(self, last: int) -> None:
        """End the connection, and say which request was the last that was looked at."""
        raise NotImplementedError


class Exchange2(Exchange):
    """The same with HTTP/2."""

    def __init__(
        self,
        server: Server,
        sock: socket.socket,
        request: bytes,
        h2c: h2.connection.H2Connection,
        stream: int,
    ) -> None:
        super().__init__(server, sock, request)
        self.h2, self.stream = h2c, stream

    def respond(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        self._begin(status, headers)
        self.h2.send_data(self.stream, body, end_stream=True)
        self._flush()
        self.stays = True

    def half(self) -> None:
        self._begin(200, {})
        self.h2.send_data(self.stream, b"half")
        self._flush()

    def goaway(self, last: int) -> None:
        self.h2.close_connection(0, last_stream_id=last)
        self._flush()

    def _begin(self, status: int, headers: dict[str, str]) -> None:
        told = [(name.replace("_", "-").lower(), value) for name, value in headers.items()]
        self.h2.send_headers(
            self.stream, [(":status", str(status)), ("content-type", "text/xml"), *told]
        )

    def _flush(self) -> None:
        self.connection.sendall(self.h2.data_to_send())


Answer = Callable[[Exchange], object]
"""Answers a request."""


class Server:
    """Answers one request after another by its script, and well after that.

    Attributes:
        port: Where it listens, when it does.
        script: How the next requests are answered.
        tags: Of the requests that have taken effect, one after another.
        slams: How many of the next connections are closed at once.
    """

    def __init__(self, *script: Answer, tls: ssl.SSLContext | None = None, two: bool = False):
        self.script = list(script)
        self.port = closed_port()
        self.tags: list[bytes] = []
        self.slams = 0
        self._tls, self._two = tls, two
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._timer: threading.Timer | None = None
        self._open: set[socket.socket] = set()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}/"

    def start(self) -> Server:
        """Listen."""
        listener = self._listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Listen no more, and end each connection."""
        if self._timer is not None:
            self._timer.cancel()
        listener, self._listener = self._listener, None
        if listener is not None:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for connection in list(self._open):
            with suppress(OSError):
                _reset_at_close(connection)
                # Its own thread closes it: what that still writes would go to whoever has
                # the number by then.
                connection.shutdown(socket.SHUT_RDWR)

    def away(self, seconds: float) -> Server:
        """Stop, and come back after so many seconds."""
        self.stop()
        self._timer = threading.Timer(seconds, self.start)
        self._timer.start()
        return self

    @property
    def applied(self) -> int:
        """How many requests have taken effect."""
        return len(self.tags)

    def apply(self, tag: bytes) -> None:
        self.tags.append(tag)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            if self.slams > 0:
                self.slams -= 1
                if self._tls is not None:  # closed in the handshake, not before it
                    connection.recv(65536)
                connection.close()
            else:
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            self._open.add(connection)
            for exchange in (_two if self._two else _one)(self, connection):
                with self._lock:
                    answer = self.script.pop(0) if self.script else ok
                answer(exchange)
                if not exchange.stays:
                    break
        except (OSError, EOFError, h2.exceptions.H2Error):
            pass  # the client is gone
        finally:
            self._open.discard(connection)
            connection.close()


def _one(server: Server, connection: socket.socket) -> Iterator[Exchange]:
    """The requests on a connection of HTTP/1.1."""
    while True:
        data = b""
        while b"\r\n\r\n" not in data:
            data += _some(connection)
        head, _, body = data.partition(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                while len(body) < int(line[15:]):
                    body += _some(connection)
            if line == b"transfer-encoding: chunked":
                while not body.endswith(b"0\r\n\r\n"):
                    body += _some(connection)
        yield Exchange(server, connection, head + b"\r\n\r\n" + body)


def _two(server: Server, connection: socket.socket) -> Iterator[Exchange]:
    """The requests on a connection of HTTP/2."""
    h2c = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    h2c.initiate_connection()
    connection.sendall(h2c.data_to_send())
    paths: dict[int | None, bytes] = {}
    while True:
        for event in h2c.receive_data(_some(connection)):
            if isinstance(event, h2.events.RequestReceived):
                paths[event.stream_id] = dict(event.headers or ())[b":path"]
            if isinstance(event, h2.events.StreamEnded):
                assert event.stream_id is not None
                path = paths[event.stream_id]
                yield Exchange2(server, connection, path, h2c, event.stream_id)
        connection.sendall(h2c.data_to_send())


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise EOFError
    return data


def reset(connection: socket.socket) -> None:
    """End a connection as a process does that dies with something unread."""
    with suppress(OSError):
        _reset_at_close(connection)
    connection.close()


def _reset_at_close(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# Answers.


def ok(exchange: Exchange) -> None:
    """Apply it, and say so."""
    exchange.apply()
    exchange.respond(200, BODY)


def resets(exchange: Exchange) -> None:
    """Apply it, and die."""
    exchange.apply()
    reset(exchange.connection)


def closes(exchange: Exchange) -> None:
    """Apply it, and close the connection."""
    exchange.apply()


def drops(exchange: Exchange) -> None:
    """Do not look at it, and die: the connection had been kept for too long."""
    reset(exchange.connection)


def cuts(exchange: Exchange) -> None:
    """Apply it, and break off in the answer."""
    exchange.apply()
    exchange.half()


def says(status: int, **headers: Any) -> Answer:
    """Apply it, and answer so."""

    def answer(exchange: Exchange) -> None:
        exchange.apply()
        exchange.respond(status, **headers)

    return answer


def refuses(exchange: Exchange) -> None:
    """Answer that there is no such thing, before anything is done."""
    exchange.respond(404)


def dies(seconds: float) -> Answer:
    """Apply it, and be away for so many seconds."""

    def answer(exchange: Exchange) -> None:
        exchange.apply()
        exchange.server.away(seconds)

    return answer


def goes(last: int) -> Answer:
    """Say by HTTP/2 that requests beyond one are not looked at; one that is not is applied."""

    def answer(exchange: Exchange) -> None:
        assert isinstance(exchange, Exchange2)
        if exchange.stream <= last:
            exchange.apply()
        exchange.goaway(last)

    return answer


def certificate(folder: Path, two: bool = False) -> tuple[str, ssl.SSLContext]:
    """A certificate for 127.0.0.1, and a server's context with it."""
    made, key = folder / "certificate.pem", folder / "key.pem"
    if not made.exists():
        command = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=t"]
        subject = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(made)]
        subprocess.run(["openssl", *command, *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    context.set_alpn_protocols(["h2"] if two else ["http/1.1"])
    return str(made), context


@contextmanager
def serving(*script: Answer, **options: Any) -> Iterator[Server]:
    """A server for a while."""
    server = Server(*script, **options).start()
    try:
        yield server
    finally:
        server.stop()
