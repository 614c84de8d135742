"""A journal's files: locked, written to the disk, and told apart by the machine's start."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

from ._errors import JournalError

POLL = 0.02
"""Seconds between two tries for a lock (a choice)."""


def lock(path: Path, timeout: float | None) -> int:
    """Open a record and wait for its lock."""
    import fcntl

    until = None if timeout is None else time.monotonic() + timeout
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            info = os.fstat(fd)
            if (
                not stat.S_ISREG(info.st_mode)
                or info.st_uid != os.geteuid()
                or info.st_mode & 0o022
            ):
                raise JournalError(
                    f"outlast: the journal's record {path} is not a file of this user's alone"
                )
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if until is not None and time.monotonic() >= until:
                        raise JournalError(
                            f"outlast: another run holds the journal's record {path}"
                        ) from None
                    time.sleep(POLL)
            if path.exists() and os.path.samestat(path.lstat(), info):
                _self_test(path)
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # its last holder has removed it


def _self_test(path: Path) -> None:
    """See that a lock which is held keeps another from being taken."""
    import fcntl

    second = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    finally:
        os.close(second)
    raise JournalError(
        f"outlast: the journal's record {path}: its file system grants one lock to two at a time"
    )


def to_disk(fd: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fsync(fd)


BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def since_boot() -> tuple[str, int]:
    """Which start of the machine this is, and the microseconds since then."""
    if sys.platform != "linux":
        return "", 0
    try:
        return BOOT_ID.read_text().strip(), time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    except OSError:
        return "", 0
