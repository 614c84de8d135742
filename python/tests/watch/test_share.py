"""One look for all processes of a user, here played by several sets of watchers."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from outlast._watch import lead, look, meeting, share, watcher
from outlast._watch.target import Level, Target, parse
from outlast._watch.waiter import Waiter
from outlast._watch.window import LEASE, Window

from .test_ready import Health, NoThreads, eventually, free_port, nothing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is shared elsewhere")

ROOT = Path(__file__).parents[3]
CASES = json.loads((ROOT / "ready/meeting/testdata/protocol.json").read_text())
LONG = 20.0


@pytest.fixture
def where(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir="/tmp") as path:
        monkeypatch.setattr(meeting, "directory", lambda: path)
        yield path


class Caller:
    """A call that waits, of a process of its own."""

    def __init__(self, target: Target, by: str = "accepting") -> None:
        self.watchers = watcher.Watchers()
        self.heard = threading.Event()
        self.view = self.watchers.join(target, True, self.heard.set)
        self.view.waits(by, 0, 3600)  # type: ignore[arg-type]

    @property
    def follows(self) -> bool:
        return self.view.least is not None and self.view.watcher.share.follows

    def goes(self) -> None:
        self.watchers.leave(self.view)
        self.view.went("answered")


def one_looks(callers: list[Caller]) -> None:
    eventually(lambda: sum(c.follows for c in callers) == len(callers) - 1)


@pytest.mark.parametrize("line", CASES["lines"])
def test_a_line(line: str) -> None:
    assert " ".join(meeting.parse(line)) == line


@pytest.mark.parametrize("line", CASES["none"])
def test_what_is_no_line(line: str) -> None:
    with pytest.raises(ValueError):
        meeting.parse(line)


@pytest.mark.parametrize("text", CASES["targets"])
def test_the_name_of_a_target(text: str) -> None:
    assert parse(text).key == CASES["targets"][text]


@pytest.mark.usefixtures("where")
def test_one_looks_for_all_and_they_go_in_turn() -> None:
    port = free_port()
    callers = [Caller(parse(f"tcp://127.0.0.1:{port}")) for _ in range(8)]
    one_looks(callers)
    before = sum(c.view.watcher._looks for c in callers)
    time.sleep(1)
    assert sum(c.view.watcher._looks for c in callers) - before <= 22
    under, most = set[int](), []
    lock = threading.Lock()

    def call(number: int, caller: Caller) -> None:
        assert caller.heard.wait(LONG)
        with lock:
            under.add(number)
            most.append(len(under))
        time.sleep(0.01)
        with lock:
            under.remove(number)
        caller.goes()

    threads = [threading.Thread(target=call, args=c) for c in enumerate(callers)]
    with socket.create_server(("127.0.0.1", port), backlog=1000):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
    assert len(most) == len(callers)
    assert most[0] == most[1] == 1
    assert max(most) < len(callers)


@pytest.mark.usefixtures("where")
def test_the_looker_leaves() -> None:
    port = free_port()
    callers = [Caller(parse(f"tcp://127.0.0.1:{port}")) for _ in range(4)]
    one_looks(callers)
    looker = next(c for c in callers if not c.follows)
    looker.goes()
    callers.remove(looker)
    one_looks(callers)
    with socket.create_server(("127.0.0.1", port), backlog=1000):
        while callers:
            eventually(lambda: any(c.heard.is_set() for c in callers))
            turn = next(c for c in callers if c.heard.is_set())
            turn.goes()
            callers.remove(turn)


@pytest.mark.usefixtures("where")
def test_a_follower_that_can_hear_no_more_looks_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as for want of files, or without the directory."""
    port = free_port()
    callers = [Caller(parse(f"tcp://127.0.0.1:{port}")) for _ in range(2)]
    one_looks(callers)
    follower = next(c for c in callers if c.follows).view.watcher
    listen = share._listen

    def deaf(seconds: float, *socks: socket.socket) -> None:
        if len(socks) > 1:
            raise OSError(errno.EMFILE, "no more files")
        listen(seconds, *socks)

    monkeypatch.setattr(share, "_listen", deaf)
    before = follower._looks
    eventually(lambda: not follower.share.follows and follower._looks > before + 2)
    for caller in callers:
        caller.goes()
    eventually(lambda: all(caller.view.watcher.over for caller in callers))


@pytest.mark.parametrize(
    "lie",
    [
        b"",
        b"here ready 4503599627370496\n",
        b"here down 1\n",
        b"\x00\xff here\n",
        b"full\n",
        b"x" * 100,
    ],
)
def test_a_looker_that_lies(where: str, lie: bytes) -> None:
    """It costs no attempt of the schedule: the process looks itself before."""
    port = free_port()
    target = parse(f"tcp://127.0.0.1:{port}")
    name = meeting.name_of(target.key, "direct", "127.0.0.1")
    liar = socket.socket(socket.AF_UNIX)
    liar.bind(os.path.join(where, f"{name}.4503599627370496"))
    liar.listen()
    over = threading.Event()

    def lies() -> None:
        conns = []
        while not over.is_set():
            try:
                conns.append(liar.accept()[0])
                conns[-1].setblocking(False)
            except OSError:
                pass
            for conn in list(conns):
                try:
                    conn.send(lie)
                except OSError:
                    conns.remove(conn)
                    conn.close()
            over.wait(0.02)
        for conn in conns:
            conn.close()

    liar.setblocking(False)
    thread = threading.Thread(target=lies)
    thread.start()
    caller = Caller(target)
    try:
        for _ in range(2):
            caller.view.waits("accepting", 0, 1.0)
            time.sleep(1.0)
            assert caller.view.seen().down
        with socket.create_server(("127.0.0.1", port)):
            caller.view.waits("accepting", 0, 1.0)
            time.sleep(1.0)
            assert not caller.view.seen().down
    finally:
        over.set()
        thread.join()
        liar.close()
        caller.watchers.leave(caller.view)


@pytest.mark.usefixtures("where")
def test_a_looker_sees_its_followers_off() -> None:
    port = free_port()
    callers = [Caller(parse(f"tcp://127.0.0.1:{port}")) for _ in range(3)]
    one_looks(callers)
    looker = next(c for c in callers if not c.follows)
    callers.remove(looker)
    with socket.create_server(("127.0.0.1", port), backlog=1000):
        eventually(lambda: looker.view.watcher.line.up)
        looker.goes()
        time.sleep(0.3)
        assert not looker.view.watcher.over
        for caller in callers:
            caller.goes()
        eventually(lambda: looker.view.watcher.over)


def test_a_name_with_many_addresses_is_named_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver may give more than a look tries, each time in another order."""
    many = [f"127.0.0.{n}" for n in range(2 * look.MAX_ADDRESSES)]

    def resolve(*_: object, **__: object) -> list[object]:
        many.append(many.pop(0))
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, 1)) for address in many]

    target = parse("tcp://many.example:1")
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert look.addresses_of(target) == look.addresses_of(target) == ",".join(sorted(many))


def test_a_looker_whose_server_moves_begins_anew(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = "127.0.0.1"
    for module in (share, lead):
        monkeypatch.setattr(module, "addresses_of", lambda _: addresses)
    monkeypatch.setattr(lead, "MOVED", 0.05)
    target = parse(f"tcp://127.0.0.1:{free_port()}")
    callers = [Caller(target) for _ in range(2)]
    one_looks(callers)
    addresses = "127.0.0.2"
    new = meeting.name_of(target.key, "direct", addresses)
    eventually(lambda: any(name.startswith(new) for name in os.listdir(where)))
    one_looks(callers)
    for caller in callers:
        caller.goes()


@pytest.mark.usefixtures("where")
def test_who_finds_no_room_looks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lead, "_room", lambda: 0)
    target = parse(f"tcp://127.0.0.1:{free_port()}")
    callers = [Caller(target) for _ in range(2)]
    time.sleep(0.5)
    for caller in callers:
        assert not caller.follows
        assert caller.view.seen().down
        caller.goes()


class Looker:
    """One that says what a test has it say, to a single call that waits for a target."""

    def __init__(self, where: str, target: Target, answers: Callable[[list[str]], str]) -> None:
        name = meeting.name_of(target.key, "direct", "127.0.0.1")
        self._answers = answers
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.path.join(where, f"{name}.1"))
        self._listener.listen()
        self.heard: list[tuple[float, list[str]]] = []
        self.ended = 0  # connections
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                with self._listener.accept()[0] as sock, suppress(OSError):
                    self.sock = sock
                    for line in sock.makefile():
                        self.heard.append((time.monotonic(), line.split()))
                        sock.sendall(self._answers(line.split()).encode())
                self.ended += 1

    def said(self, word: str) -> list[list[str]]:
        return [words for _, words in self.heard if words[0] == word]

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def here() -> str:
    return f"here down {meeting.boot() + 300_000}\n"


def turn(number: str, level: str = "accepting", left: int = 1_000_000) -> str:
    return f"turn {number} {level} {meeting.boot() + left}\n"


@pytest.mark.parametrize("why", ["stale", "false", "too little", "no threads"])
def test_a_turn_that_is_none_is_given_back_and_asked_for_later(
    where: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    target = parse(f"http://127.0.0.1:{port}")

    def answers(words: list[str]) -> str:
        if words[0] == "ask":
            return here()
        if words[0] != "wait":
            return ""
        level = "accepting" if why == "too little" else "ready"
        return 2 * turn(words[1], level, 0 if why == "stale" else 1_000_000)

    looker = Looker(where, target, answers)
    with Health(port) if why in ("too little", "stale") else contextlib.nullcontext():
        caller = Caller(target, "ready")
        # Of threads the first are needed: later there are none for checks.
        eventually(lambda: caller.follows)
        with monkeypatch.context() as patch:
            if why == "no threads":
                NoThreads(patch).names.add("outlast-look")
            before = len(looker.said("wait"))
            time.sleep(2)
            assert 3 <= len(looker.said("wait")) - before <= 7
            assert 3 <= len(looker.said("done")) <= len(looker.said("wait"))
        assert all(words == ["done", "1", "left"] for words in looker.said("done"))
        assert not looker.said("go")
        assert not caller.heard.is_set()
        assert caller.follows
    if why == "false":
        monkeypatch.setattr(look, "STEADY", 2 * LONG)  # an answer is enough
        with Health(port) as server:
            assert caller.heard.wait(LONG)
            assert caller.view.seen().rose == "ready"
            time.sleep(0.1)
            assert len(server.asked) <= 2
    caller.goes()
    looker.close()


def followed(where: str) -> tuple[int, Looker, Caller]:
    """A port where nobody listens, who looks at it, and a call that follows."""
    port = free_port()
    target = parse(f"tcp://127.0.0.1:{port}")
    looker = Looker(where, target, lambda words: here() if words[0] == "ask" else "")
    caller = Caller(target)
    eventually(lambda: bool(looker.said("wait")) and caller.follows)
    return port, looker, caller


def test_a_call_that_is_woken_and_does_not_go_says_again_that_it_waits(where: str) -> None:
    """Its looker gives it no turn before."""
    port, looker, caller = followed(where)
    with socket.create_server(("127.0.0.1", port)):
        before = time.monotonic(), len(looker.said("wait"))
        looker.sock.sendall(turn("1").encode())
        assert caller.heard.wait(LONG)
        eventually(lambda: len(looker.said("wait")) > before[1])
        assert time.monotonic() - before[0] >= LEASE
    assert not looker.said("done")
    caller.goes()
    looker.close()


def test_a_turn_of_a_call_that_is_held_off_is_given_back_until_then(where: str) -> None:
    port, looker, caller = followed(where)
    until = time.monotonic() + 0.6
    caller.view.waits("accepting", 0.6, 3600)
    with socket.create_server(("127.0.0.1", port)):
        looker._answers = lambda words: turn("1") if words[0] == "wait" else ""
        looker.sock.sendall(turn("1").encode())
        assert caller.heard.wait(LONG)
        assert time.monotonic() >= until
    assert looker.said("done") == [["done", "1", "left"]]
    assert [at for at, words in looker.heard if words[0] == "wait"][-1] >= until
    caller.goes()
    looker.close()


@pytest.mark.parametrize("line", ["here down 9999999999\n", "turn 1 ready 1\n", "ask\n"])
def test_a_looker_that_says_more_than_it_is_asked_for_is_left(
    where: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share, "AGAIN", 0.5)
    target = parse(f"tcp://127.0.0.1:{free_port()}")
    looker = Looker(where, target, lambda _: line * 100)
    caller = Caller(target)
    before = time.monotonic()
    eventually(lambda: looker.ended >= 1)
    assert not caller.follows
    eventually(lambda: looker.ended >= 3)
    assert time.monotonic() - before >= 1.0
    assert caller.view.seen().down
    caller.goes()
    looker.close()


def test_the_directory(tmp_path: Path) -> None:
    run, temp, uid = tmp_path / "run", tmp_path / "tmp", os.geteuid()
    run.mkdir()
    temp.mkdir()
    temp.chmod(0o1777)
    own = temp / f"outlast-{uid}"
    assert meeting.directory(str(run), str(temp)) == str(own)
    for mode in (0o755, 0o777, 0o500):
        own.chmod(mode)
        with pytest.raises((meeting.AloneError, OSError)):
            meeting.directory(str(run), str(temp))
    own.rmdir()
    own.symlink_to(run)
    with pytest.raises((meeting.AloneError, OSError)):
        meeting.directory(str(run), str(temp))
    (run / str(uid)).mkdir(mode=0o700)
    assert meeting.directory(str(run), str(temp)) == str(run / str(uid) / "outlast")
    (run / str(uid)).chmod(0o755)
    with pytest.raises(meeting.AloneError):
        meeting.directory(str(run), str(temp))


def test_the_window() -> None:
    now, turns = 1000.0, Window()

    def begin() -> Waiter:
        view = Waiter(True, lambda _: None, 0)
        turns.begin(view, now)
        return view

    for _ in range(5):
        batch = [begin() for _ in range(turns.size)]
        for view in batch:
            turns.went(view, "answered", now + 0.05)
    assert turns.size == 32
    for pause in (1, 2, 4, 4):
        turns.size = 1
        turns.went(begin(), "failed", now)
        assert not turns.free(now + pause - 0.01)
        assert turns.free(now + pause)
    begin()
    turns.size = 5
    turns.expire(now + LEASE)
    assert turns.size == 4
    assert not turns.out


def test_an_attempt_takes_from_its_beginning() -> None:
    """What passes between a turn and its attempt, such as a look, is not the server's."""
    turns, now = Window(), 0.0
    for before in (0.0, 0.1):
        view = Waiter(True, lambda _: None, 0)
        turns.begin(view, now)
        now += before
        turns.begin(view, now)
        now += 0.005
        turns.went(view, "answered", now)
    assert turns.size == 3


def test_levels_are_the_protocols() -> None:
    assert [meeting.level(word) for word in meeting.WORDS] == list(Level)


def test_what_cannot_be_named_is_not_shared(
    where: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nobody reads of it in a thread's traceback."""
    monkeypatch.setattr(share, "AGAIN", 0.05)
    caller = Caller(parse(f"tcp://{'a' * 70}.example:1"))
    time.sleep(0.3)
    assert any(t.name == "outlast-share" for t in threading.enumerate())
    assert os.listdir(where) == []
    caller.goes()
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("where")
def test_sharing_that_could_not_begin_is_tried_again_by_the_next_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = parse(f"tcp://127.0.0.1:{free_port()}")
    alone = Caller(target)
    with monkeypatch.context() as patch:
        NoThreads(patch).names.add("outlast-share")
        late = Caller(target)
    assert not late.view.watcher.share.follows
    second = late.watchers.join(target, True, nothing)
    eventually(lambda: late.follows or alone.follows)
    late.watchers.leave(second)
    for caller in (alone, late):
        caller.goes()


HUNGRY = """
import os, resource, sys, threading, time
from outlast._watch import meeting, share, watcher
from outlast._watch.target import parse

meeting.directory = lambda: sys.argv[1]
share.AGAIN = 1.0
watchers, back = watcher.Watchers(), threading.Event()
view = watchers.join(parse(sys.argv[2]), True, back.set)
view.waits("accepting", 0, 3600)
print("begun", flush=True)
sys.stdin.readline()
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
files = []
end = time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:  # also those that are closed meanwhile
    try:
        files.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        time.sleep(0.001)
for file in files:
    os.close(file)
print("fed", flush=True)
print(back.wait(20) and view.seen().rose, view.watcher._flying, flush=True)
"""


@pytest.mark.parametrize("follows", [False, True])
def test_a_process_without_files_looks_again_when_it_has_some(where: str, follows: bool) -> None:
    target = parse(f"tcp://127.0.0.1:{(port := free_port())}")
    other = Caller(target) if follows else None
    if other is not None:
        eventually(lambda: any(name.startswith("look1-") for name in os.listdir(where)))
    process = subprocess.Popen(
        [sys.executable, "-c", HUNGRY, where, f"tcp://127.0.0.1:{port}", "3"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(1)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "fed\n"
        time.sleep(1.5)
        with socket.create_server(("127.0.0.1", port), backlog=100):
            assert process.stdout.readline().split() == ["accepting", "0"]
            if other is not None:
                assert other.heard.wait(LONG)
        assert process.stderr.read() == ""
    if other is not None:
        other.goes()


def follower_of(where: str, target: Target) -> socket.socket:
    """A connection to who looks at a target."""
    place = meeting.Place(where, meeting.name_of(target.key, "direct", "127.0.0.1"))
    eventually(lambda: place.highest() > 0)
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(LONG)
    sock.connect(place.path(place.highest()))
    return sock


def waits(*numbers: int) -> bytes:
    return b"".join(b"wait %d accepting down seldom\n" % number for number in numbers)


def test_a_looker_keeps_so_many_calls_of_others(where: str) -> None:
    """A connection that brings more is ended, and all of its calls are forgotten at once."""
    target = parse(f"tcp://127.0.0.1:{free_port()}")
    looker = Caller(target)
    line = looker.view.watcher.line
    with follower_of(where, target) as few, follower_of(where, target) as many:
        few.sendall(waits(1, 1, 2) + b"go 2\n")
        eventually(lambda: len(line) == 2)
        many.sendall(waits(*range(lead.CALLS - 2)))
        eventually(lambda: len(line) == lead.CALLS)
        dealt: list[int] = []
        deal = line.deal

        def counted() -> list[Waiter]:
            dealt.append(len(line))
            return deal()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(line, "deal", counted)
            many.sendall(waits(3_000_000))
            assert many.recv(100) == b"full\n"
            assert many.recv(100) == b""
            eventually(lambda: len(line) == 2)
        assert len(set(dealt)) <= 2, "a turn was given for each of its calls"
        few.sendall(b"done 2 left\nask\n" + waits(5))
        assert few.recv(100).startswith(b"here down ")
        eventually(lambda: len(line) == 3)
    looker.goes()
