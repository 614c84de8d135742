"""Real servers, which a test starts, stops and kills. Debian's are unpacked into a cache
where they are not installed, which leaves the system as it is.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from evidence.servers import closed_port

ROOT = os.getuid() == 0
CACHE = Path("/var/cache" if ROOT else Path.home() / ".cache") / "outlast-tests" / "databases"
"""What is unpacked there can be run by another user than root, too."""

FERRETDB = Path(__file__).parents[3] / "tests" / "ferretdb"

SERVE = FERRETDB.parent / "databases" / "serve.sh"
"""Gets the packages, for the tests in the other languages too."""

PLACES = ("usr/bin", "usr/sbin", "usr/lib/postgresql/*/bin")
PATIENCE = 120.0
"""Seconds for a server to come up, on a machine that is busy (a choice)."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Only one process at a time makes what is in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def debian(program: str) -> str:
    """The path of a program of the packages; skips the test if it cannot be had."""
    if not (CACHE / "done").exists():
        made([str(SERVE), "get"], SERVE.parent)
    for root in (CACHE / "root", Path("/")):
        for place in PLACES:
            for found in sorted(root.glob(f"{place}/{program}"), reverse=True):
                return str(found)
    return pytest.skip(f"{program} is in none of Debian's packages")


def ferretdb() -> str:
    """The path of FerretDB, built by the go command; skips the test if there is none."""
    with alone(CACHE):
        tags = "-tags=ferretdb_no_postgresql"
        made(["go", "build", tags, "-o", str(CACHE / "ferretdb"), "."], FERRETDB)
    return str(CACHE / "ferretdb")


def made(argv: list[str], folder: Path) -> None:
    """Run a command that gets a program, or skip the test and say why."""
    try:
        subprocess.run(argv, cwd=folder, check=True, capture_output=True, timeout=550)
    except (OSError, subprocess.SubprocessError) as e:
        said = getattr(e, "stderr", None) or b""
        pytest.skip(f"cannot be had: {e} {said.decode()[-300:]}")


def environment() -> dict[str, str]:
    """With the libraries that were unpacked, and with texts in English."""
    libraries = (CACHE / "root").glob("usr/lib/*-linux-gnu")
    return {**os.environ, "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": ":".join(map(str, libraries))}


class Server:
    """A server's processes and folder.

    Args:
        argv: Its command; ``{port}`` and ``{data}`` stand for its own.
        up: Raises until it answers at a port.
        stop: The signal that ends it in good order.
        nobody: It refuses to run as root.
    """

    def __init__(
        self,
        argv: list[str],
        up: Callable[[int], object],
        stop: signal.Signals = signal.SIGTERM,
        nobody: bool = False,
    ) -> None:
        self.argv, self._up, self._stop = argv, up, stop
        self._as = "nobody" if nobody and ROOT else None
        self.port = closed_port()
        self.data = Path(tempfile.mkdtemp(prefix="outlast-"))
        self._log = self.data.with_suffix(".log")
        self.own(self.data)
        self.process: subprocess.Popen[bytes] | None = None

    def own(self, path: Path) -> None:
        """Give a file to the user that the server runs as."""
        path.chmod(0o700)
        if self._as:
            shutil.chown(path, self._as)

    def _command(self, argv: list[str]) -> subprocess.Popen[bytes]:
        words = [each.format(port=self.port, data=self.data) for each in argv]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(),
                cwd=self.data,
                user=self._as,
                start_new_session=True,
            )

    def run(self, argv: list[str]) -> None:
        """Run a command to its end, as the server's user."""
        if self._command(argv).wait() != 0:
            raise RuntimeError(self._said())

    def _said(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]

    def start(self, *more: str, wait: bool = True) -> None:
        """Start it, and wait until it answers, or, without *wait*, listens."""
        self.process = self._command([*self.argv, *more])
        self.until((lambda: self._up(self.port)) if wait else self._listens)

    def _listens(self) -> None:
        socket.create_connection(("127.0.0.1", self.port), 5).close()

    def until(self, done: Callable[[], object]) -> None:
        """Wait until something raises no more."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                done()
                return
            except Exception:
                if time.monotonic() > end or not self.process or self.process.poll() is not None:
                    raise RuntimeError(self._said()) from None
                time.sleep(0.05)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to its first process."""
        assert self.process is not None
        self.process.send_signal(number)

    def stop(self) -> None:
        """End it in good order."""
        if self.process is not None:
            self.send(self._stop)
            self.process.wait(PATIENCE)
            self.process = None

    def freeze(self) -> None:
        """Hold it where it is: connections and requests arrive, and nobody reads them."""
        self._all(signal.SIGSTOP)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self.process is None:
            return
        left = self._all(signal.SIGKILL)
        self.process.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while any(running(pid) for pid in left) and time.monotonic() < end:
            time.sleep(0.01)
        self.process = None

    def _all(self, number: signal.Signals) -> list[int]:
        """Send a signal to its processes; those that it was sent to."""
        assert self.process is not None
        found = [self.process.pid, *children(self.process.pid)]
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return found

    def asked(self) -> None:
        """Wait until a request has arrived that nobody reads."""
        end = time.monotonic() + PATIENCE
        while not any(unread(self.port)):
            if time.monotonic() > end:
                raise TimeoutError("no request has arrived")
            time.sleep(0.01)

    def close(self) -> None:
        """Kill it, and remove its folder."""
        self.kill()
        shutil.rmtree(self.data, ignore_errors=True)
        self._log.unlink(missing_ok=True)


def unread(port: int) -> Iterator[int]:
    """How many bytes wait at each connection that a server has accepted at a port."""
    for table in ("tcp", "tcp6"):
        for row in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, queues, *_ = row.split()
            if local.endswith(f":{port:04X}") and state == "01":
                yield int(queues.split(":")[1], 16)


def running(pid: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(parent: int) -> list[int]:
    """The processes that a process has begun and not waited for."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(path.parent.name))
    return found
