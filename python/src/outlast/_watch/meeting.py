"""Where the processes of a user meet that look at the same server, on Linux.

docs/looking.md has the protocol, which Go and Node speak too.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
import stat
import sys
import time
from contextlib import suppress

from .target import Level

LOCAL = {"tmpfs", "ramfs", "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "overlay", "zfs"}
"""The file systems on which a directory is this machine's alone."""

FORGOTTEN = 60.0
"""Seconds after which the file of a socket is removed that was never given its name."""

TRIES = 10
MAX_TERM = 1 << 52
MAX_ID = (1 << 31) - 1
MAX_LINE = 64


class AloneError(Exception):
    """Nothing is shared here."""


def boot() -> int:
    """Microseconds since the machine was started, also while it slept."""
    if sys.platform != "linux":
        raise AloneError
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def directory(run: str = "/run/user", temp: str = "/tmp") -> str:  # noqa: S108 - no variable names it
    """The user's directory, made if it is not there.

    Raises:
        AloneError: If it is not the user's alone, or not on this machine.
        OSError: If it cannot be looked at, or made.
    """
    if sys.platform != "linux":
        raise AloneError
    uid = os.geteuid()
    session = os.path.join(run, str(uid))
    if os.path.lexists(session):
        _check(session, uid)
        return _made(os.path.join(session, "outlast"), uid)
    parent = os.lstat(temp)
    open_to_others = parent.st_mode & 0o022 and not parent.st_mode & stat.S_ISVTX
    if not stat.S_ISDIR(parent.st_mode) or parent.st_uid not in (0, uid) or open_to_others:
        raise AloneError
    return _made(os.path.join(temp, f"outlast-{uid}"), uid)


def _made(path: str, uid: int) -> str:
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    _check(path, uid)
    return path


def _check(path: str, uid: int) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    if found.st_uid != uid or stat.S_IMODE(found.st_mode) != 0o700 or not _is_local(path):
        raise AloneError


def _is_local(path: str) -> bool:
    path, best, kind = os.path.realpath(path), "", ""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
        for line in mounts:
            before, _, after = line.partition(" - ")
            point = re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), before.split(" ")[4])
            under = path == point or path.startswith(point.rstrip("/") + "/")
            if under and len(point) >= len(best):  # the last of those at one point is in force
                best, kind = point, after.split(" ")[0]
    return kind in LOCAL


def name_of(*parts: str) -> str:
    """What the sockets of a place are called, without a term.

    Raises:
        OSError: If the boot or the network namespace is not known.
    """
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        first = file.read().strip()
    text = "\n".join((first, os.readlink("/proc/self/ns/net"), *parts))
    return "look1-" + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


class Place:
    """Where those meet who want to know the same."""

    def __init__(self, directory: str, name: str) -> None:
        self._directory = directory
        self.name = name

    def enter(self, gone: int) -> tuple[Seat | socket.socket, int]:
        """Connect to who looks, or take the seat. *gone* is the highest term whose
        looker is known to be dead or silent.
        """
        for _ in range(TRIES):
            highest = self.highest()
            if highest <= gone:
                with suppress(FileExistsError):
                    return self._take(gone + 1), gone + 1
                continue
            sock = socket.socket(socket.AF_UNIX)
            try:
                sock.setblocking(False)  # a full backlog is an error, and no wait
                sock.connect(self.path(highest))
                return sock, highest
            except FileNotFoundError:  # it has just been removed
                sock.close()
            except ConnectionRefusedError:
                sock.close()
                gone = highest
            except OSError:
                sock.close()
                raise
        raise AloneError

    def highest(self) -> int:
        """The highest term of a socket; 0: there is none."""
        return max((term for _, term in self._terms()), default=0)

    def _terms(self) -> list[tuple[str, int]]:
        begins = self.name + "."
        found = []
        for name in os.listdir(self._directory):
            rest = name[len(begins) :]
            if name.startswith(begins) and re.fullmatch(r"[1-9]\d{0,15}", rest, re.ASCII):
                found.append((name, int(rest)))
        return [(name, term) for name, term in found if term <= MAX_TERM]

    def path(self, term: int) -> str:
        """The socket of a term."""
        return os.path.join(self._directory, f"{self.name}.{term}")

    def _take(self, term: int) -> Seat:
        """Listen, and give the socket its name only then."""
        hidden = os.path.join(self._directory, f".{self.name}.{secrets.token_hex(6)}")
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.setblocking(False)
            sock.bind(hidden)
            sock.listen(4096)
            file = os.lstat(hidden)
            os.link(hidden, self.path(term))
        except BaseException:
            sock.close()
            raise
        finally:
            with suppress(OSError):
                os.unlink(hidden)
        self._clear(term)
        return Seat(self, sock, term, (file.st_dev, file.st_ino))

    def _clear(self, term: int) -> None:
        """Remove what lookers before have left."""
        for name, lower in self._terms():
            if lower < term:
                self._remove(name)
        for name in os.listdir(self._directory):
            with suppress(OSError):
                file = os.lstat(os.path.join(self._directory, name))
                if name.startswith(f".{self.name}.") and time.time() - file.st_mtime > FORGOTTEN:
                    self._remove(name)

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(self._directory, name))


class Seat:
    """The looker's, for as long as nobody has followed it."""

    def __init__(self, place: Place, sock: socket.socket, term: int, file: tuple[int, int]) -> None:
        self.sock = sock
        self._place = place
        self._term = term
        self._file = file

    def taken(self) -> bool:
        """Whether another has followed, or the socket was removed."""
        try:
            return not self._mine() or self._place.highest() > self._term
        except OSError:
            return True

    def _mine(self) -> bool:
        try:
            file = os.lstat(self._place.path(self._term))
        except OSError:
            return False
        return (file.st_dev, file.st_ino) == self._file

    def leave(self, followers: bool) -> None:
        """Listen no more. The name stays where somebody follows."""
        if not followers and self._mine():
            with suppress(OSError):
                os.unlink(self._place.path(self._term))
        self.sock.close()


WORDS = ("unanswered", "down", "loading", "unready", "accepting", "ready")
"""The levels as the protocol has them."""

_ID = r"(0|[1-9]\d{0,9})"
_TIME = r"(0|[1-9]\d{0,15})"
_LINE = re.compile(
    rf"wait {_ID} (?:accepting|ready) (?:unseen|{'|'.join(WORDS)}) (?:eager|seldom)"
    rf"|go {_ID}|done {_ID} (?:answered|failed|left)|ask|full"
    rf"|here (?:{'|'.join(WORDS)}) {_TIME}|turn {_ID} (?:accepting|ready) {_TIME}",
    re.ASCII,
)


def parse(line: str) -> list[str]:
    """The words of a line.

    Raises:
        ValueError: If it is none of the protocol.
    """
    found = _LINE.fullmatch(line)
    words = line.split(" ")
    if found is None:
        raise ValueError(line)
    number = words[1] if words[0] in ("wait", "go", "done", "turn") else "0"
    until = words[-1] if words[0] in ("here", "turn") else "0"
    if int(number) > MAX_ID or int(until) > MAX_TERM:
        raise ValueError(line)
    return words


def level(word: str) -> Level:
    """The level that a word stands for."""
    return Level(WORDS.index(word))


class Conn:
    """Says and hears lines, and waits for neither."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.over = False
        self._heard = b""

    def hear(self) -> list[list[str]]:
        """The lines that have come. It sets *over* at the end, and at nonsense."""
        try:
            came = self.sock.recv(1 << 12)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            came = b""
        self.over = self.over or not came
        *lines, self._heard = (self._heard + came).split(b"\n")
        words = []
        try:
            words = [parse(line.decode("ascii")) for line in lines]
        except ValueError:
            self.over = True
        if len(self._heard) >= MAX_LINE:
            self.over = True
        return words

    def say(self, *words: str) -> None:
        """Say a line, or end the connection: who does not listen is not waited for."""
        line = " ".join(words).encode() + b"\n"
        try:
            whole = self.sock.send(line) == len(line)
        except OSError:
            whole = False
        self.over = self.over or not whole

    def close(self) -> None:
        """End the connection."""
        self.sock.close()
