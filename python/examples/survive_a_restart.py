"""A function that rides out the restart of a server, to be run as it is:

    python survive_a_restart.py

It starts a server, takes it away for three seconds, and asks it meanwhile.
"""

from __future__ import annotations

import http.server
import threading
import time
import urllib.request

import outlast


@outlast.retry(remote=True, write=False)
def ask(port: int) -> str:
    """Ask the server."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/") as answer:
        return str(answer.read().decode())


class Handler(http.server.BaseHTTPRequestHandler):
    """Says hello."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        """Say nothing of it."""


def start(port: int = 0) -> http.server.ThreadingHTTPServer:
    """Start a server."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


def stop(server: http.server.ThreadingHTTPServer) -> None:
    """Stop a server."""
    server.shutdown()
    server.server_close()


def main() -> None:
    """Ask, take the server away, and ask again."""
    server = start()
    port = server.server_address[1]
    print(f"the server is there: {ask(port)}")

    stop(server)
    print("the server goes away for three seconds")
    came_back: list[http.server.ThreadingHTTPServer] = []
    timer = threading.Timer(3.0, lambda: came_back.append(start(port)))
    timer.start()

    began = time.monotonic()
    answer = ask(port)
    print(f"asked, and answered after {time.monotonic() - began:.1f} s: {answer}")
    timer.join()
    stop(came_back[0])


if __name__ == "__main__":
    main()
