"""Real processes, a real socket that is closed for a while, and real time."""

from __future__ import annotations

import http.server
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast import hooks, witan
from outlast.events import Event, Waiting
from witan.releases import Release

pytestmark = pytest.mark.usefixtures("uninstalled", "loaded")

OUTAGE = 3.0
"""Seconds for which the port is closed."""

LONG = 60.0
"""Seconds after which a test gives up. No speed is asserted."""

ROWS = json.dumps({"rows": [{"p.slug": "ada"}], "columns": ["p.slug"]})


@pytest.fixture
def port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command called omnigraph first on PATH, a query, and a folder of one's
    own for temporary files.
    """
    command = tmp_path / "bin" / "omnigraph"
    command.parent.mkdir()
    text = Path(__file__).with_name("omnigraph_like.py").read_text()
    command.write_text(text.replace("#!/usr/bin/env python3", f"#!{sys.executable} -SE"))
    command.chmod(0o755)
    (tmp_path / "q.gq").write_text("query all() { Person { slug } }\n")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    for name in [name for name in os.environ if name.startswith("WITAN_")]:
        monkeypatch.delenv(name)
    return tmp_path


class Lines(socketserver.StreamRequestHandler):
    """Answers the command."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(ROWS.encode() + b"\n")


class Posts(http.server.BaseHTTPRequestHandler):
    """Answers witan-core's HTTP transport."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Omnigraph-Http-Api", "0.13")
        self.send_header("Content-Length", str(len(ROWS)))
        self.end_headers()
        self.wfile.write(ROWS.encode())

    def log_message(self, *_args: object) -> None:
        pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def opened_late(
    port: int, handler: Callable[..., Any], begun: Callable[[], bool], seconds: float = OUTAGE
) -> Iterator[None]:
    """Listen on a port so many seconds after the outage has been noticed."""
    servers: list[Server] = []
    over = threading.Event()

    def serve() -> None:
        while not begun() and not over.wait(0.02):
            pass
        if not over.wait(seconds):
            server = Server(("127.0.0.1", port), handler)
            servers.append(server)
            server.serve_forever(0.05)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        over.set()
        for server in servers:
            server.shutdown()
            server.server_close()
        thread.join(LONG)


def client(release: Release, port: int, home: Path) -> Any:
    return release.omnigraph.OmnigraphClient(f"http://127.0.0.1:{port}", home, graph_id="people")


@pytest.fixture
def waits() -> Iterator[list[Waiting]]:
    """The waits of all calls."""
    told: list[Waiting] = []

    def hook(event: Event) -> None:
        if isinstance(event, Waiting):
            told.append(event)

    hooks.set_hooks([hook])
    yield told
    hooks.set_hooks(None)


def test_the_command_survives(
    release: Release, port: int, home: Path, waits: list[Waiting], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WITAN_OMNIGRAPH_HTTP", "0")
    with release.importable(), opened_late(port, Lines, lambda: len(waits) > 0):
        witan.install()
        began = time.monotonic()
        assert client(release, port, home).read("q.gq", "all", {}) == [{"slug": "ada"}]
        assert time.monotonic() - began >= OUTAGE
    assert {wait.kind for wait in waits} == {"unavailable"}
    assert nothing_left(home)


def test_http_survives(
    variant_with_http: Release, port: int, home: Path, waits: list[Waiting]
) -> None:
    with variant_with_http.importable(), opened_late(port, Posts, lambda: len(waits) > 0):
        witan.install()
        made = client(variant_with_http, port, home)
        assert made.read("q.gq", "all", {}) == [{"slug": "ada"}]
        made.change("q.gq", "all", {})
    assert {wait.kind for wait in waits} == {"unavailable"}


def test_twenty_threads_at_once(
    release: Release, port: int, home: Path, waits: list[Waiting], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WITAN_OMNIGRAPH_HTTP", "0")
    before = set(threading.enumerate())
    barrier = threading.Barrier(20)

    def read(_number: int) -> Any:
        made = client(release, port, home)
        barrier.wait(LONG)
        return made.read("q.gq", "all", {})

    def first() -> list[float]:
        return [wait.delay for wait in list(waits) if wait.attempt == 2]

    late = opened_late(port, Lines, lambda: len(first()) == 20)
    with release.importable(), late, ThreadPoolExecutor(20) as pool:
        witan.install()
        assert list(pool.map(read, range(20))) == [[{"slug": "ada"}]] * 20
    assert len(first()) == 20
    assert len(set(first())) > 10, "they come back in step"
    assert set(threading.enumerate()) <= before
    assert nothing_left(home)


def test_ctrl_c_in_a_wait(
    release: Release, port: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends the call as it ends witan-core's own: at once, with
    KeyboardInterrupt; and the next call is as good as any.
    """
    monkeypatch.setenv("WITAN_OMNIGRAPH_HTTP", "0")
    pressed: list[float] = []

    def hook(event: Event) -> None:
        if isinstance(event, Waiting) and event.attempt == 4:  # a wait of 2 s
            timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.daemon = True
            pressed.append(time.monotonic() + 0.3)
            timer.start()

    hooks.set_hooks([hook])
    try:
        with release.importable():
            witan.install()
            made = client(release, port, home)
            with pytest.raises(KeyboardInterrupt):
                made.read("q.gq", "all", {})
            assert time.monotonic() - pressed[0] < LONG / 2
            with opened_late(port, Lines, lambda: True, 0.0):
                assert made.read("q.gq", "all", {}) == [{"slug": "ada"}]
    finally:
        hooks.set_hooks(None)
    assert nothing_left(home)


def test_ctrl_c_gives_the_lock_back(release: Release, home: Path) -> None:
    """A local write holds its store's lock while it waits, and no longer."""
    omnigraph = release.omnigraph
    command = home / "bin" / "omnigraph"
    command.write_text("#!/bin/sh\necho 'stale view; refresh and retry' >&2\nexit 1\n")
    with release.importable():
        witan.install()
        made = omnigraph.OmnigraphClient(str(home / "store.omni"), home)
        slept: list[float] = []

        class Interrupted:
            monotonic = staticmethod(time.monotonic)

            @staticmethod
            def sleep(seconds: float) -> None:
                slept.append(seconds)
                if len(slept) == 3:
                    signal.raise_signal(signal.SIGINT)
                time.sleep(seconds)

        from differential.world import replaced

        with replaced(omnigraph, "time", Interrupted), pytest.raises(KeyboardInterrupt):
            made.change("q.gq", "all", {})
        assert len(slept) == 3
        import fcntl

        with open(home / "store.omni.lock", "w") as lock:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert nothing_left(home)


SCRIPT = """
import sys, pathlib
import outlast.witan
from outlast import hooks, events
def hook(event):
    if isinstance(event, events.Waiting):
        print("waiting", event.attempt, flush=True)
hooks.set_hooks([hook])
outlast.witan.install()
from witan_core.omnigraph import OmnigraphClient
client = OmnigraphClient(sys.argv[1], pathlib.Path(sys.argv[2]), graph_id="people")
print("ready", flush=True)
print(client.read("q.gq", "all", {}))
"""


@pytest.mark.parametrize("when", ["attempt", "wait"])
def test_ctrl_c_ends_a_program(release: Release, port: int, home: Path, when: str) -> None:
    """One signal, to the program alone, and nothing is left behind."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{Path(outlast.__file__).parents[1]}{os.pathsep}{release.folder}",
        "WITAN_OMNIGRAPH_HTTP": "0",
        "OMNIGRAPH_LIKE_SLEEPS": str(LONG) if when == "attempt" else "0",
    }
    program = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, f"http://127.0.0.1:{port}", str(home)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert program.stdout is not None
    try:
        until = "ready" if when == "attempt" else "waiting 4"
        for line in program.stdout:
            if line.startswith(until):
                break
        if when == "attempt":
            wait_for(lambda: children(program.pid) != set())
        time.sleep(0.2)
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=LONG / 2)
    finally:
        kill_group(program.pid)
        program.wait(LONG)
    assert program.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert "Exception ignored" not in errors
    assert list((home / "tmp").iterdir()) == []
    wait_for(lambda: not group_exists(program.pid))


def nothing_left(home: Path) -> bool:
    """No temporary file, and no process that nobody has waited for."""
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    return list((home / "tmp").iterdir()) == []


def children(pid: int) -> set[str]:
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return set(done.stdout.split())


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
