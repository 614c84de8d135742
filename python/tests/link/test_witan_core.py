"""witan-core as it is on PyPI, over a link named omnigraph to the tool: real
processes, and a stand-in for omnigraph, as the real one is on few machines.

The client runs in a process of its own, with nothing replaced in it.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from witan.releases import Release

LONG = 120.0
"""Seconds after which a test gives up. No speed is asserted."""

PROJECT = Path(__file__).parents[3]

CLIENT = """
import json, os, pathlib, sys
from witan_core import omnigraph
uri, home, verb = sys.argv[1:4]
client = omnigraph.OmnigraphClient(uri, pathlib.Path(home), graph_id="people")
try:
    if verb == "read":
        print(json.dumps(client.read("q.gq", "everybody", {})))
    elif verb == "change":
        client.change("q.gq", "add", {"name": "ada"})
    elif verb == "claim":
        client.change("q.gq", "add", {"name": "ada"}, surface_conflict=True)
    else:
        with client.hold_write_lock():
            client.change("q.gq", "add", {"name": "ada"})
            client.change("q.gq", "add", {"name": "eve"})
except RuntimeError as e:
    print(type(e).__name__, "of", type(e).__module__)
    print(e)
"""

QUERIES = """
query everybody() { match { $p: Person } return { $p.name } }
query add($name: String) { insert Person { name: $name } }
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tool and the stand-in."""
    go = shutil.which("go")
    if go is None:
        report = pytest.fail if os.environ.get("CI") else pytest.skip
        report("the tool cannot be built without Go")
    folder = tmp_path_factory.mktemp("built")
    for package in ("cmd/outlast", "tests/omnigraph/omnigraph"):
        done = subprocess.run(
            [str(go), "build", "-o", f"{folder}{os.sep}", f"./{package}"],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return folder


class House:
    """A machine on which the link stands before omnigraph."""

    def __init__(self, folder: Path, built: Path, release: Release) -> None:
        self.folder = folder
        self.release = release
        self.log = folder / "log"
        for name in ("link", "real", "home", "cache"):
            (folder / name).mkdir(mode=0o700)
        (folder / "real" / "omnigraph").symlink_to(built / "omnigraph")
        (folder / "q.gq").write_text(QUERIES)
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("WITAN_", "OUTLAST_", "OMNIGRAPH_"))
        }
        self.environment = {
            **environment,
            "PATH": os.pathsep.join(
                [str(folder / "link"), str(folder / "real"), os.environ["PATH"]]
            ),
            "HOME": str(folder / "home"),
            "PYTHONPATH": str(release.folder),
            "WITAN_OMNIGRAPH_HTTP": "0",
            "OUTLAST_CACHE_DIR": str(folder / "cache"),
            "STANDIN_LOG": str(self.log),
            "STANDIN_RELEASE": "0.10",
        }
        subprocess.run(
            [str(built / "outlast"), "link", "omnigraph", "--dir", str(folder / "link")],
            env=self.environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def client(self, uri: str, verb: str) -> str:
        """What the client's program prints."""
        done = subprocess.run(
            [sys.executable, "-c", CLIENT, uri, str(self.folder), verb],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    def calls(self) -> list[dict[str, Any]]:
        """How the stand-in was run."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def house(tmp_path: Path, built: Path, latest: Release) -> House:
    return House(tmp_path, built, latest)


@dataclass
class Server:
    """A server whose port is closed until it listens. Each write that reaches it
    is in its ledger.
    """

    port: int
    cut: bool = False
    lost_races: bool = False
    ledger: list[str] = field(default_factory=list)
    running: list[http.server.ThreadingHTTPServer] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def listen(self) -> None:
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                server.ledger.append(f"{self.path.rsplit('/', 1)[1]} {body.strip()}")
                if server.cut:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                text, status = '{"rows": [{"p.name": "ada"}], "columns": ["p.name"]}', 200
                if server.lost_races:
                    text, status = json.dumps({"error": STALE}), 409
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_args: object) -> None:
                pass

            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    super().handle()

        listening = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.running.append(listening)
        threading.Thread(target=listening.serve_forever, args=(0.05,)).start()


STALE = (
    "stale view of dataset for node type 'Person': expected published dataset version 22 "
    "but current is 23 — refresh and retry"
)
"""What omnigraph 0.10.0 says of a lost race."""


@pytest.fixture
def server() -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        made = Server(probe.getsockname()[1])
    yield made
    for running in made.running:
        running.shutdown()
        running.server_close()


def later(do: Callable[[], None], house: House) -> threading.Thread:
    """Do something once the command has failed."""

    def wait() -> None:
        for _ in range(int(LONG * 20)):
            if house.log.exists() and len(house.calls()) >= 1:
                break
            threading.Event().wait(0.05)
        do()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def parents(house: House) -> set[int]:
    """One for each time that the client ran its omnigraph: the link's process."""
    return {call["ppid"] for call in house.calls()}


def test_a_local_write_under_the_clients_lock(house: House) -> None:
    """The client holds the store's lock while it waits for the link."""
    store = house.folder / "people.omni"
    assert house.client(str(store), "change") == ""
    (call,) = house.calls()
    assert call["locked"]
    assert json.loads((store / "ledger").read_text()) == {"name": "ada"}


def test_several_local_writes_under_one_lock(house: House) -> None:
    store = house.folder / "people.omni"
    assert house.client(str(store), "both") == ""
    assert [call["locked"] for call in house.calls()] == [True, True]
    assert house.client(str(store), "read") == '[{"name": "ada"}, {"name": "eve"}]\n'


@pytest.mark.parametrize(("verb", "wanted"), [("read", '[{"name": "ada"}]\n'), ("change", "")])
def test_a_remote_call_survives(house: House, server: Server, verb: str, wanted: str) -> None:
    """The port is closed, and opens while the call goes on. The client notices
    nothing: it has run its omnigraph once.
    """
    opening = later(server.listen, house)
    assert house.client(server.url, verb) == wanted
    opening.join()
    assert len(server.ledger) == 1
    assert len(house.calls()) >= 2
    assert len(parents(house)) == 1


def test_a_write_that_landed_is_not_written_again(house: House, server: Server) -> None:
    """It is cut off before the answer. The client finds the command's own words,
    and nothing else.
    """
    server.cut = True
    server.listen()
    said = house.client(server.url, "change")
    assert [line.split()[0] for line in server.ledger] == ["mutate"]
    assert len(house.calls()) == 1
    assert "connection closed before message completed" in said
    assert "outlast" not in said
    house.environment["OUTLAST_OFF"] = "1"
    assert house.client(server.url, "change") == said


def test_a_write_that_lands_after_an_outage_is_not_written_again(
    house: House, server: Server
) -> None:
    server.cut = True
    opening = later(server.listen, house)
    said = house.client(server.url, "change")
    opening.join()
    assert [line.split()[0] for line in server.ledger] == ["mutate"]
    assert "connection closed before message completed" in said


def test_a_lost_race_is_the_callers_to_see(house: House, server: Server) -> None:
    """A caller that wants to lose a race must not win it by a second try."""
    server.lost_races = True
    server.listen()
    assert house.client(server.url, "claim").startswith("OmnigraphConflict of witan_core.omnigraph")
    assert len(server.ledger) == 1
