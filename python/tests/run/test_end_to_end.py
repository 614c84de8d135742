"""A real server on a real socket that is closed for three seconds, and a real
command that prints what omnigraph prints. Nothing is virtual here.
"""

from __future__ import annotations

import asyncio
import http.server
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import outlast
from outlast import Call

if sys.platform == "win32":
    pytest.skip("the command is a script with a shebang", allow_module_level=True)

AWAY = 3.0

COMMAND = """#!{python}
import http.client, sys

port = int(sys.argv[1])
data = sys.stdin.buffer.read()
url = f"http://127.0.0.1:{{port}}/query"
try:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/query", data)
    sys.stdout.buffer.write(connection.getresponse().read())
except ConnectionRefusedError as e:
    sys.stdout.write("half a row")
    sys.stderr.write(
        "Error: \\n"
        f"   0: \\x1b[91merror sending request for url ({{url}})\\x1b[0m\\n"
        "   1: \\x1b[91mclient error (Connect)\\x1b[0m\\n"
        "   2: \\x1b[91mtcp connect error\\x1b[0m\\n"
        f"   3: \\x1b[91mConnection refused (os error {{e.errno}})\\x1b[0m\\n"
        "\\nLocation:\\n   crates/omnigraph-cli/src/client.rs:1\\n"
    )
    sys.exit(1)
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers what it was sent."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """Lets all knock at once that waited for it."""

    request_queue_size = 512


class Restarting:
    """A server that is away, and comes back on its port after a while."""

    def __init__(self) -> None:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = int(s.getsockname()[1])
        self.back = 0.0
        self._server: Server | None = None
        self._timer = threading.Timer(AWAY, self._start)

    def go_away(self) -> None:
        self.back = time.monotonic() + AWAY
        self._timer.start()

    def _start(self) -> None:
        self._server = Server(("127.0.0.1", self.port), Handler)
        self._server.serve_forever(0.05)

    def close(self) -> None:
        self._timer.cancel()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        self._timer.join(10)


@pytest.fixture
def server() -> Iterator[Restarting]:
    restarting = Restarting()
    yield restarting
    restarting.close()


@pytest.fixture
def omnigraph(tmp_path: Path) -> str:
    path = tmp_path / "omnigraph"
    path.write_text(COMMAND.format(python=sys.executable))
    path.chmod(0o755)
    return str(path)


def rode_it_out(outcome: outlast.Outcome) -> None:
    assert outcome.ok
    # 0, 0.5, 1.5 and 3.5 s, each wait at most a tenth longer; the command takes time too.
    assert 3 <= outcome.attempts <= 6
    assert outcome.elapsed >= AWAY - 0.2


def test_a_command_survives_a_restart(server: Restarting, omnigraph: str) -> None:
    call = Call(remote=True, write=True, label="mutate")
    server.go_away()
    done = outlast.run_command(
        [omnigraph, str(server.port)], call, input=b"a row\r\n\xff", check=True
    )
    rode_it_out(done.outcome)
    assert done.stdout == b"a row\r\n\xff"  # once, whole, of the last attempt only
    assert done.stderr == b""


def test_twenty_commands_survive_a_restart(server: Restarting, omnigraph: str) -> None:
    call = Call(remote=True, write=True)
    server.go_away()

    def work(number: int) -> outlast.Completed:
        data = f"row {number}".encode()
        return outlast.run_command([omnigraph, str(server.port)], call, input=data)

    with ThreadPoolExecutor(20) as pool:
        done = list(pool.map(work, range(20)))
    assert [d.stdout.decode() for d in done] == [f"row {n}" for n in range(20)]
    assert all(d.ok for d in done)


def test_a_function_survives_a_restart(server: Restarting) -> None:
    made = []

    @outlast.retry(remote=True, write=True)
    def post(text: str) -> str:
        made.append(time.monotonic())
        url = f"http://127.0.0.1:{server.port}/query"
        return httpx.post(url, content=text, trust_env=False).raise_for_status().text

    server.go_away()
    assert post("hello") == "hello"
    assert 3 <= len(made) <= 6


def test_two_hundred_tasks_survive_a_restart(server: Restarting) -> None:
    async def ask(number: int) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        body = str(number).encode()
        writer.write(b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return int(answer.rsplit(b"\r\n", 1)[1])

    patient = outlast.retry(remote=True, write=True)(ask)

    async def main() -> list[int]:
        server.go_away()
        return await asyncio.gather(*(patient(n) for n in range(200)))

    assert asyncio.run(main()) == list(range(200))
