"""Servers on real sockets that count what they apply, and fail as they are told to."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

POLICY = Path(__file__).parents[3] / "plugin" / "policy" / "builtin" / "network.json"

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s"
BODY = (
    b"<?xml version='1.0'?><methodResponse><params><param><value><int>1</int></value></param>"
    b"</params></methodResponse>"
)

Answer = Callable[["Server", socket.socket, bytes], bool]
"""Answers a request. ``True``: the connection stays."""


def quick(window: str = "5s") -> dict[str, Any]:
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
    """A port at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Server:
    """Answers one request after another by its script, and by "ok" after that.

    Attributes:
        port: Where it listens.
        applied: How many requests it has read whole.
        connections: How many it has accepted.
    """

    def __init__(self, *script: Answer, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.script = list(script)
        self.port = port or closed_port()
        self.applied = 0
        self.connections = 0
        self.slams = 0  # connections that are closed at once
        self._tls = tls
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()

    def start(self) -> Server:
        """Listen."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(64)
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Listen no more, and end each connection."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for connection in list(self._open):
            reset(connection)

    def away(self, seconds: float) -> None:
        """Stop, and come back after so many seconds."""
        self.stop()
        threading.Timer(seconds, self.start).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            if self.slams > 0:
                self.slams -= 1
                connection.close()
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            self._open.add(connection)
            stays = True
            while stays and (request := read(connection)):
                with self._lock:
                    answer = self.script.pop(0) if self.script else ok
                stays = answer(self, connection, request)
        self._open.discard(connection)
        connection.close()


def read(connection: socket.socket) -> bytes:
    """A request, with its body; nothing if it does not come whole."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            while len(body) < int(line[15:]):
                body += connection.recv(65536)
        if line == b"transfer-encoding: chunked":
            while not body.endswith(b"0\r\n\r\n"):
                body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def reset(connection: socket.socket) -> None:
    """End a connection as a process does that dies with something unread."""
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


# Answers.


def ok(server: Server, connection: socket.socket, _: bytes) -> bool:
    """Apply it, and say so."""
    server.applied += 1
    connection.sendall(OK % (len(BODY), BODY))
    return True


def resets(server: Server, connection: socket.socket, _: bytes) -> bool:
    """Apply it, and die."""
    server.applied += 1
    reset(connection)
    return False


def closes(server: Server, _: socket.socket, __: bytes) -> bool:
    """Apply it, and close the connection."""
    server.applied += 1
    return False


def drops(_: Server, connection: socket.socket, __: bytes) -> bool:
    """Do not look at it, and die: the connection had been kept for too long."""
    reset(connection)
    return False


def cuts(server: Server, connection: socket.socket, _: bytes) -> bool:
    """Apply it, and break off in the answer."""
    server.applied += 1
    connection.sendall(OK % (1000, b"<half"))
    return False


def says(status: int, *headers: str) -> Answer:
    """Apply it, and answer so."""

    def answer(server: Server, connection: socket.socket, _: bytes) -> bool:
        server.applied += 1
        lines = [f"HTTP/1.1 {status} X", "Content-Length: 0", *headers, "", ""]
        connection.sendall("\r\n".join(lines).encode())
        return True

    return answer


def dies(seconds: float, first: Answer = closes) -> Answer:
    """Answer so, then be away for so many seconds."""

    def answer(server: Server, connection: socket.socket, request: bytes) -> bool:
        first(server, connection, request)
        server.away(seconds)
        return False

    return answer


# Certificates.


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1, and a server's context with it."""
    made = folder / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=t"]
        + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(made) + ".key", "-out", made],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, str(made) + ".key")
    return made, context


@contextmanager
def serving(*script: Answer, **options: Any) -> Iterator[Server]:
    """A server for a while."""
    server = Server(*script, **options).start()
    try:
        yield server
    finally:
        server.stop()


def until(true: Callable[[], bool], seconds: float = 5) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
