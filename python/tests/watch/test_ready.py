"""Watching a server, and calls that are woken by what is seen."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import trio

import outlast
from conftest import REFUSED
from outlast import Call, Policy, Result, ready
from outlast import events as e
from outlast._plugin import file
from outlast._watch import look as looking
from outlast._watch import watcher
from outlast._watch.closing import closes
from outlast._watch.readiness import Seen
from outlast._watch.target import Level, Target, parse
from outlast.ready import Server

READ = Call(remote=True, write=False)
WRITE = Call(remote=True, write=True)
AWAY = Result(exit_code=1, stderr=REFUSED)
OK = Result(exit_code=0)

LONG = 30.0
"""Seconds that a test waits for what must come."""


def eventually(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "it never comes"
        time.sleep(0.005)


def free_port() -> int:
    """A port where nobody listens, and none of those that systems give to
    connections, one of which could take it before the test's server does.
    """
    while True:
        port = random.randrange(10000, 30000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextlib.contextmanager
def listening(port: int) -> Iterator[None]:
    with socket.create_server(("127.0.0.1", port), reuse_port=False):
        yield


class Health(ThreadingHTTPServer):
    """A server whose health check has a status."""

    daemon_threads = True

    def __init__(self, port: int, status: int = 200) -> None:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, dict(self.headers)))
                self.send_response(server.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.status = status
        self.asked: list[tuple[str, dict[str, str]]] = []
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def __exit__(self, *args: Any) -> None:
        self.shutdown()
        super().__exit__(*args)


def nothing() -> None:
    pass


@pytest.fixture(autouse=True)
def no_watcher_is_left() -> Iterator[None]:
    yield
    assert len(watcher._watchers._by_target) == 0
    eventually(lambda: not any(t.name == "outlast-ready" for t in threading.enumerate()))


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("tcp://graph:8080", Target("tcp", "graph", 8080)),
        ("tcp://[::1]:8080/", Target("tcp", "::1", 8080)),
        ("http://graph", Target("http", "graph", 80, "/healthz")),
        ("https://graph/", Target("https", "graph", 443, "/healthz")),
        ("https://graph:1/up?a=b", Target("https", "graph", 1, "/up?a=b")),
        ("http://graph:1/up#200,204", Target("http", "graph", 1, "/up", (200, 204))),
    ],
)
def test_targets(text: str, target: Target) -> None:
    assert parse(text) == target


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "schemes"),
        ("graph:8080", "schemes"),
        ("ftp://graph", "schemes"),
        ("tcp://graph", "no port"),
        ("tcp://:1", "no host"),
        ("tcp://graph:1/x", "more than a host"),
        ("http://graph:x", "not a URL"),
        ("http://graph:0", "port 0"),
        ("http://graph/#ok", "status 'ok'"),
        ("http://graph/#100", "status '100'"),
        ("http://me:secret@graph", "user name"),
    ],
)
def test_what_is_no_target(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as raised:
        Server(text)
    assert "expected tcp://" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_port_comes_back() -> None:
    port = free_port()
    watch = Server(f"tcp://127.0.0.1:{port}").watch(True, nothing)
    try:
        eventually(lambda: watch.seen() == Seen(down=True))
        with listening(port):
            eventually(lambda: watch.seen() == Seen("accepting"))
    finally:
        watch.stop()
        watch.stop()


@pytest.mark.parametrize("scheme", ["tcp", "http"])
def test_what_closes_at_once_is_no_server(scheme: str) -> None:
    """Such as a proxy of TCP whose server is away."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    listener.accept()[0].close()

        threading.Thread(target=serve, daemon=True).start()
        to = parse(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}")
        for quick in (False, True):
            assert looking.look(to, quick=quick) == Level.UNANSWERED
        listener.shutdown(socket.SHUT_RDWR)


def test_a_quick_look_waits_for_an_answer_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is answered has seen that its connection lasts."""
    monkeypatch.setattr(looking, "STEADY", LONG)
    port = free_port()
    with Health(port) as server:
        began = time.monotonic()
        assert looking.look(parse(f"http://127.0.0.1:{port}"), quick=True) == Level.HEALTHY
        assert time.monotonic() - began < LONG / 2
        assert len(server.asked) == 1


@pytest.mark.parametrize("says", [b"", b"hello"])
def test_a_quick_look_at_what_does_not_speak_http(says: bytes) -> None:
    """It accepts, and does not end a connection on which nothing is said."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    with listener.accept()[0] as connection:
                        connection.recv(1)
                        connection.sendall(says)

        threading.Thread(target=serve, daemon=True).start()
        to = parse(f"http://127.0.0.1:{listener.getsockname()[1]}")
        for quick in (False, True):
            assert looking.look(to, quick=quick) == Level.ACCEPTING
        listener.shutdown(socket.SHUT_RDWR)


def test_what_speaks_first_is_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as connection:
                connection.sendall(b"220 hello\r\n")

        threading.Thread(target=serve, daemon=True).start()
        assert not closes((socket.AF_INET, listener.getsockname()), 5)
    assert not closes((socket.AF_INET, ("127.0.0.1", free_port())), 5)


def test_health_is_confirmed() -> None:
    port = free_port()
    watch = Server(f"http://127.0.0.1:{port}").watch(True, nothing)
    try:
        eventually(lambda: watch.seen() == Seen(down=True))
        with Health(port, 500) as server:
            eventually(lambda: watch.seen() == Seen("accepting"))
            server.status = 200
            before = len(server.asked)
            eventually(lambda: watch.seen() == Seen("ready"))
            assert len(server.asked) >= before + 2
    finally:
        watch.stop()


def test_a_server_that_was_never_away_does_not_come_back() -> None:
    port = free_port()
    with Health(port) as server:
        watch = Server(f"http://127.0.0.1:{port}").watch(True, nothing)
        try:
            eventually(lambda: len(server.asked) > 5)
            assert watch.seen() == Seen()
        finally:
            watch.stop()


def test_what_a_look_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    port = free_port()
    target = parse(f"http://127.0.0.1:{port}/up?a=b")
    with Health(port) as server:
        for status, want in (
            (200, Level.HEALTHY),
            (204, Level.HEALTHY),
            (302, Level.ACCEPTING),
            (401, Level.ACCEPTING),
            (500, Level.ACCEPTING),
            (503, Level.LOADING),
        ):
            server.status = status
            assert looking.look(target) == want
        assert len(server.asked) == 6
        for path, headers in server.asked:
            assert path == "/up?a=b"
            assert headers["Host"] == f"127.0.0.1:{port}"
            assert headers["User-Agent"] == "outlast"
            assert not {"Authorization", "Cookie"} & headers.keys()
        server.status = 401
        assert looking.look(parse(f"http://127.0.0.1:{port}/#401")) == Level.HEALTHY
        server.status = 503
        assert looking.look(parse(f"http://127.0.0.1:{port}/#503")) == Level.HEALTHY


def test_all_addresses_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    there = (socket.AF_INET, ("127.0.0.1", port))
    six = (socket.AF_INET6, ("::1", port, 0, 0))
    other = (socket.AF_INET, ("127.0.0.1", free_port()))
    target = parse(f"http://graph:{port}")
    for addresses, want in (
        ([six, there], Level.HEALTHY),
        ([other, six, there], Level.HEALTHY),
        ([other, six], Level.DOWN),
    ):
        monkeypatch.setattr(looking, "_resolve", lambda _, found=addresses: found)
        with Health(port):
            assert looking.look(target) == want


def test_sockets_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """For want of files; or of a family that the machine does not have, which is no way."""

    def none_of(number: int) -> Callable[..., Any]:
        def make(*_: Any) -> Any:
            raise OSError(number, "no")

        return make

    addresses = [(family, ("", 1)) for family in (socket.AF_INET, socket.AF_INET6)]
    for number, want in (
        (errno.EAFNOSUPPORT, Level.DOWN),
        (errno.EMFILE, Level.UNANSWERED),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(looking, "_resolve", lambda _: addresses)
            patch.setattr(socket, "socket", none_of(number))
            assert looking.look(parse("tcp://graph:1")) == want
            assert not closes(addresses[0], 5)


class NoThreads:
    """Threads of a name cannot be started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: set[str] = set()
        self.refused = 0
        start = threading.Thread.start

        def maybe(thread: threading.Thread) -> None:
            if thread.name in self.names:
                self.refused += 1
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", maybe)


@pytest.mark.parametrize("name", ["outlast-ready", "outlast-look", "outlast-share"])
def test_where_there_can_be_no_more_threads_a_later_look_has_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, port = NoThreads(monkeypatch), free_port()
    threads.names.add(name)
    shared = name == "outlast-share"
    refused = pytest.raises(RuntimeError, match="can't start new thread")
    with refused if name == "outlast-ready" else contextlib.nullcontext():
        first = Server(f"tcp://127.0.0.1:{port}").watch(True, nothing)
    eventually(lambda: threads.refused > 0 or (shared and sys.platform != "linux"))
    threads.names.clear()
    second = Server(f"tcp://127.0.0.1:{port}").watch(True, nothing)
    eventually(lambda: second.seen() == Seen(down=True))
    second.stop()
    if name != "outlast-ready":
        first.stop()
    assert len(watcher._watchers._by_target) == 0


def test_what_cannot_look_does_not_end_the_call(
    monkeypatch: pytest.MonkeyPatch, events: list[e.Event]
) -> None:
    NoThreads(monkeypatch).names.add("outlast-ready")
    results = iter([AWAY, AWAY, OK])
    at = Server(f"tcp://127.0.0.1:{free_port()}")
    assert policy("10ms").run(lambda: next(results), READ, ready=at).ok
    told = [event.why for event in events if isinstance(event, e.Unwatched)]
    assert told == ["nobody looks at the server: RuntimeError: can't start new thread"]


def test_a_call_that_is_thrown_away_ends_wherever_it_is_collected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also while this thread begins to watch the same server for another."""
    watchers, target = watcher.Watchers(), parse(f"tcp://127.0.0.1:{free_port()}")
    thrown = [watchers.join(target, True, nothing)]
    init = watcher.View.__init__

    def collects(view: watcher.View, *args: Any) -> None:
        if thrown:
            watchers.leave(thrown.pop())
        init(view, *args)

    monkeypatch.setattr(watcher.View, "__init__", collects)
    views: list[watcher.View] = []
    begins = threading.Thread(
        target=lambda: views.append(watchers.join(target, True, nothing)), daemon=True
    )
    begins.start()
    begins.join(5)
    assert views, "it waits for itself"
    eventually(lambda: views[0].seen() == Seen(down=True))
    watchers.leave(views[0])


def test_a_connection_to_itself_is_none() -> None:
    with socket.socket() as alone:
        alone.bind(("127.0.0.1", 0))
        alone.connect(alone.getsockname())
        assert looking._is_itself(alone)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as other,
    ):
        assert not looking._is_itself(other)


def test_a_name_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, want in (
        (socket.EAI_NONAME, Level.DOWN),
        (socket.EAI_AGAIN, Level.UNANSWERED),
    ):

        def resolve(_: Target, number: int = number) -> list[Any]:
            raise socket.gaierror(number, "no")

        monkeypatch.setattr(looking, "_resolve", resolve)
        assert looking.look(parse("tcp://graph:1")) == want


def test_many_share_the_looks() -> None:
    port = free_port()
    with Health(port, 503) as server:
        began = time.monotonic()
        watches = [Server(f"http://127.0.0.1:{port}").watch(True, nothing) for _ in range(500)]
        assert len(watcher._watchers._by_target) == 1
        eventually(lambda: len(server.asked) > 3)
        for watch in watches:
            watch.stop()
        assert len(server.asked) <= (time.monotonic() - began) / watcher.SHORTEST + 1


class Eyes:
    """A Readiness that sees what it is told to, after so many seconds."""

    def __init__(self, seen: Seen, after: float = 0.0) -> None:
        self._seen = seen
        self._after = after
        self.open = 0
        self.eager: list[bool] = []

    def watch(self, eager: bool, news: Callable[[], None]) -> ready.Watch:
        self.open += 1
        self.eager.append(eager)
        self._at = time.monotonic() + self._after
        timer = threading.Timer(self._after, news)
        timer.daemon = True
        timer.start()
        return self

    def seen(self) -> Seen:
        return self._seen if time.monotonic() >= self._at else Seen()

    def stop(self) -> None:
        self.open -= 1


def policy(base: str, window: str = "60s", cap: str = "") -> Policy:
    """One whose first wait is so long, without jitter and without spread."""
    return Policy(
        {
            "version": 1,
            "name": "steady",
            "budgets": {
                "away": {
                    "max_wait": window,
                    "backoff": {"type": "linear", "base": base, "cap": cap or base},
                    "wake": {
                        "reads": "accepting",
                        "writes": "ready",
                        "spread": "1us",
                        "hold_off": "1s",
                        "max_vain": 3,
                    },
                }
            },
            "rules": [{"kind": "away", "then": [{"retry": "away"}]}],
        }
    )


Drive = Callable[..., outlast.Outcome]


def by_asyncio(chosen: Policy, attempt: Callable[[], Result], call: Call, **more: Any) -> Any:
    async def once() -> Result:
        return attempt()

    return asyncio.run(chosen.arun(once, call, **more))


def by_trio(chosen: Policy, attempt: Callable[[], Result], call: Call, **more: Any) -> Any:
    async def once() -> Result:
        return attempt()

    async def main() -> outlast.Outcome:
        return await chosen.arun(once, call, **more)

    return trio.run(main)


DRIVERS = [Policy.run, Policy.run_in_plugin, by_asyncio, by_trio]


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_wait_is_cut_short(drive: Drive, events: list[e.Event]) -> None:
    results = iter([AWAY, OK])
    eyes = Eyes(Seen("ready"), 0.1)
    began = time.monotonic()
    outcome = drive(policy("60s"), lambda: next(results), WRITE, ready=eyes)
    assert outcome.ok
    assert outcome.attempts == 2
    assert time.monotonic() - began < LONG
    assert (eyes.open, eyes.eager) == (0, [True])
    woken = [event for event in events if isinstance(event, e.Woken)]
    assert [event.by for event in woken] == ["ready"]
    waits = [event for event in events if isinstance(event, e.Waiting)]
    assert (waits[0].watched, waits[0].again) == ("ready", False)


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_write_is_not_woken_by_a_connection(drive: Drive, events: list[e.Event]) -> None:
    results = iter([AWAY, OK])
    eyes = Eyes(Seen("accepting"))
    assert drive(policy("50ms"), lambda: next(results), WRITE, ready=eyes).ok
    assert not any(isinstance(event, e.Woken) for event in events)
    assert eyes.open == 0


@pytest.mark.parametrize("seen", [Seen(down=True), Seen(not_ready=True)])
@pytest.mark.parametrize("drive", DRIVERS)
def test_attempts_in_vain_are_left_out(drive: Drive, seen: Seen, events: list[e.Event]) -> None:
    results = iter([AWAY, AWAY])
    eyes = Eyes(seen)
    outcome = drive(policy("10ms", "100ms", "1s"), lambda: next(results), READ, ready=eyes)
    assert (outcome.type, outcome.attempts) == ("exhausted", 2)  # the deadline's is made
    left = [event for event in events if isinstance(event, e.LeftOut)]
    assert left
    assert all(event.not_ready == seen.not_ready for event in left)
    waits = [event for event in events if isinstance(event, e.Waiting)]
    assert [wait.again for wait in waits] == [False] + [True] * (len(waits) - 1)
    assert eyes.open == 0


@pytest.mark.parametrize("seen", [Seen(down=True), Seen(not_ready=True)])
def test_of_counted_attempts_none_is_left_out(seen: Seen, events: list[e.Event]) -> None:
    def ask() -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    options: dict[str, Any] = {"policy": policy("10ms", cap="1s"), "ready": Eyes(seen)}
    with pytest.raises(outlast.Exhausted) as raised:
        outlast.retry(remote=True, write=False, attempts=3, **options)(ask)()
    assert (raised.value.outcome.attempts, raised.value.outcome.reason) == (3, "attempts")
    assert not any(isinstance(event, e.LeftOut) for event in events)


@pytest.mark.parametrize("drive", DRIVERS)
def test_an_older_plugin_is_told_what_it_knows(
    drive: Drive, events: list[e.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlast.Plugin, "knows", lambda _, minor: minor <= 1)
    chosen = policy("10ms", "100ms", "1s")
    outcome = drive(chosen, lambda: AWAY, READ, ready=Eyes(Seen(not_ready=True)))
    assert outcome.attempts >= 2
    assert not any(isinstance(event, e.LeftOut) for event in events)
    results = iter([AWAY, OK])
    one = replace(WRITE, one_request=True)
    assert drive(policy("10ms"), lambda: next(results), one).ok
    for call in (replace(WRITE, one_request=False), replace(WRITE, repeatable=True)):
        with pytest.raises(outlast.PluginError, match="before 1.2") as raised:
            drive(policy("10ms"), lambda: AWAY, call)
        assert raised.value.result is not None


def test_a_plugin_of_a_file_is_asked_what_it_knows() -> None:
    plugin = outlast.Plugin(file.find())
    assert (plugin.knows(2), plugin.knows(10**6)) == (True, False)
    assert outlast.Plugin().knows(2)


def test_nobody_watches_in_virtual_time() -> None:
    results = iter([AWAY, OK])
    eyes = Eyes(Seen("ready"))
    with outlast.testing.virtual_time() as clock:
        assert policy("5s").run(lambda: next(results), READ, ready=eyes).ok
    assert clock.slept == [5.0]
    assert eyes.eager == []


def test_a_cancelled_wait_is_not_watched_any_more() -> None:
    eyes = Eyes(Seen())

    async def away() -> Result:
        return AWAY

    async def main() -> None:
        task = asyncio.create_task(policy("60s").arun(away, READ, ready=eyes))
        while not eyes.open:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert eyes.open == 0


def test_a_decorated_function_rides_out_a_real_outage() -> None:
    port = free_port()
    attempts = 0

    @outlast.retry(remote=True, write=True, ready=Server(f"http://127.0.0.1:{port}"))
    def fetch() -> str:
        nonlocal attempts
        attempts += 1
        with socket.create_connection(("127.0.0.1", port)):
            return "answer"

    fetched: list[str] = []
    thread = threading.Thread(target=lambda: fetched.append(fetch()))
    thread.start()
    time.sleep(1.2)
    with Health(port):
        thread.join(LONG)
    assert fetched == ["answer"]
    # A third is made if this machine stands still for a second.
    assert attempts <= 3
