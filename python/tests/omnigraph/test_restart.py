"""``run_command`` with the stand-in for omnigraph, as it is today: the command
and its server, real processes, through each phase of a restart.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import outlast
from outlast import Call

if sys.platform == "win32":
    pytest.skip("there is no SIGTERM", allow_module_level=True)

PROJECT = Path(__file__).parents[3]

LONG = 120.0
"""Seconds after which a test gives up. No speed is asserted."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the command and its server."""
    go = shutil.which("go")
    if go is None:
        report = pytest.fail if os.environ.get("CI") else pytest.skip
        report("the stand-in cannot be built without Go")
    folder = tmp_path_factory.mktemp("built")
    packages = [f"./tests/omnigraph/{name}" for name in ("omnigraph", "omnigraph-server")]
    done = subprocess.run(
        [str(go), "build", "-o", f"{folder}{os.sep}", *packages],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@dataclass
class House:
    """Where one server lives, again and again."""

    built: Path
    ledger: Path
    port: int
    process: subprocess.Popen[str] | None = None
    said: list[str] = field(default_factory=list)

    def start(self, *flags: str) -> None:
        process = subprocess.Popen(
            [
                str(self.built / "omnigraph-server"),
                *("-bind", f"127.0.0.1:{self.port}", "-ledger", str(self.ledger)),
                *flags,
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.process, self.said = process, []
        threading.Thread(target=self._listen, args=(process, self.said), daemon=True).start()

    @staticmethod
    def _listen(process: subprocess.Popen[str], said: list[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            said.extend(iter(process.stdout.readline, ""))

    def until(self, word: str) -> None:
        """Wait for what the server says: READY, WORK."""
        end = time.monotonic() + LONG
        while not any(line.startswith(word) for line in self.said):
            assert time.monotonic() < end, f"the server said {self.said}, and not {word}"
            time.sleep(0.02)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(LONG)

    def terminate(self) -> None:
        assert self.process is not None
        self.process.terminate()

    def again(self) -> None:
        """Start one that loads, once the one before has ended."""
        assert self.process is not None
        self.process.wait(LONG)
        self.start("-loading", "0.7s")

    def applied(self) -> int:
        return len(self.ledger.read_text().splitlines()) if self.ledger.exists() else 0


@dataclass(frozen=True)
class Story:
    """What becomes of a server while a call is made, and how the call ends."""

    before: tuple[str, ...] | None
    events: Callable[[House], None]
    write: str
    read: str = ""
    applied: int = 0


def away_then_loading(house: House) -> None:
    time.sleep(1)
    house.start("-loading", "1s")


def killed_while_loading(house: House) -> None:
    time.sleep(1)
    house.kill()
    time.sleep(0.5)
    house.start("-loading", "0.7s")


def killed_while_working(house: House) -> None:
    house.until("WORK")
    house.kill()
    house.again()


def stopped_while_working(house: House) -> None:
    house.until("WORK")
    house.terminate()
    house.again()


STORIES = {
    "away, then loading": Story(None, away_then_loading, "ok", "ok"),
    "killed while it loads": Story(("-loading", "1m"), killed_while_loading, "ok", "ok"),
    "killed when it has read": Story(("-dies", "read"), House.again, "indeterminate"),
    "killed when it has applied": Story(
        ("-dies", "applied"), House.again, "indeterminate", applied=1
    ),
    "killed in its answer": Story(("-dies", "answering"), House.again, "indeterminate", applied=1),
    "killed while it works": Story(("-work", "1m"), killed_while_working, "indeterminate", "ok"),
    "stopped, and it drains": Story(("-work", "1s"), stopped_while_working, "ok", "ok"),
}

CALLS = (("query",), ("query", "--json"), ("mutate",), ("mutate", "--json"), ("load", "--json"))


@dataclass(frozen=True)
class Played:
    """What came of a call."""

    completed: outlast.Completed
    applied: int


def play(story: Story, call: tuple[str, ...], built: Path, folder: Path) -> Played:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        house = House(built, folder / "ledger", s.getsockname()[1])
    folder.mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OMNIGRAPH_")}
    try:
        if story.before is not None:
            house.start(*story.before)
            house.until("OMNIGRAPH_LISTEN_ADDR" if "-loading" in story.before else "READY")
        events = threading.Thread(target=story.events, args=(house,))
        events.start()
        completed = outlast.run_command(
            [
                *(str(built / "omnigraph"), *call, "--params", "ada"),
                *("--server", f"http://127.0.0.1:{house.port}", "--graph", "people"),
            ],
            Call(remote=True, write=call[0] != "query", label=call[0]),
            env={**environment, "NO_PROXY": "*", "HOME": str(folder)},
        )
        events.join(LONG)
        return Played(completed, house.applied())
    finally:
        if house.process is not None:
            house.kill()


@pytest.fixture(scope="module")
def played(
    built: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str, tuple[str, ...]], Played]]:
    """All of them, at the same time: they wait most of it."""
    folder = tmp_path_factory.mktemp("played")
    futures: dict[tuple[str, tuple[str, ...]], Future[Played]] = {}
    with ThreadPoolExecutor(8) as pool:
        for name, story in STORIES.items():
            for call in CALLS:
                if call[0] != "query" or story.read:
                    place = folder / str(len(futures))
                    futures[name, call] = pool.submit(play, story, call, built, place)
        yield lambda name, call: futures[name, call].result(LONG)


@pytest.mark.parametrize(
    ("name", "call"),
    [(n, c) for n, story in STORIES.items() for c in CALLS if c[0] != "query" or story.read],
)
def test_a_restart(
    played: Callable[[str, tuple[str, ...]], Played], name: str, call: tuple[str, ...]
) -> None:
    story, came = STORIES[name], played(name, call)
    is_read = call[0] == "query"
    wanted = story.read if is_read else story.write
    outcome = came.completed.outcome
    assert outcome.type == wanted, outcome
    assert came.applied == (0 if is_read else 1 if wanted == "ok" else story.applied)
    if wanted == "ok":
        assert came.completed.stdout != b""
    else:
        assert outcome.effects == "unknown"
