"""witan-core's client rides out the restart of a server, to be run as it is:

    pip install outlast witan-core
    python witan_core_restart.py

It asks a port that nobody listens on, and starts a server there three seconds
later. No omnigraph is needed: a command that does nothing stands in for it.
"""

from __future__ import annotations

import http.server
import json
import os
import socket
import tempfile
import threading
import time
from pathlib import Path

import outlast.hooks
import outlast.witan
from outlast.events import Event, Waiting


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each query with one row."""

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"rows": [{"p.slug": "ada"}], "columns": ["p.slug"]}).encode()
        self.send_response(200)
        self.send_header("Omnigraph-Http-Api", "0.13")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of it."""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def start_later(port: int, seconds: float) -> None:
    """Start a server after a while."""

    def start() -> None:
        http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()

    timer = threading.Timer(seconds, start)
    timer.daemon = True
    timer.start()


def tell(event: Event) -> None:
    """Say what is waited for."""
    if isinstance(event, Waiting):
        print(f"{event.kind}: attempt {event.attempt} in {event.delay:.1f} s")


def main() -> None:
    """Ask a server that is not there yet."""
    outlast.witan.install()
    outlast.hooks.set_hooks([tell])
    from witan_core.omnigraph import OmnigraphClient

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "people.gq").write_text("query everybody() { Person { slug } }\n")
        (home / "omnigraph").write_text("#!/bin/sh\nexit 1\n")
        (home / "omnigraph").chmod(0o755)
        os.environ["PATH"] = f"{home}{os.pathsep}{os.environ['PATH']}"

        port = free_port()
        start_later(port, 3.0)
        client = OmnigraphClient(f"http://127.0.0.1:{port}", home, graph_id="people")
        began = time.monotonic()
        rows = client.read("people.gq", "everybody", {})
        print(f"{rows} after {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
