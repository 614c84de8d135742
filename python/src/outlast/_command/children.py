"""How this process is told of the end of its children, where it wants not to be."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

assert sys.platform != "win32"  # which has no such signals


@contextmanager
def told_of() -> Iterator[None]:
    """Has the system tell how children end, where SIGCHLD is ignored: by this process,
    or by its parent before it. The standard library would say that all end well.

    Raises:
        RuntimeError: If it is, and this is not the main thread, which can change that.
    """
    if signal.getsignal(signal.SIGCHLD) is not signal.SIG_IGN:
        yield
        return
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    except ValueError:
        raise RuntimeError(
            "outlast: this process ignores SIGCHLD, so that nobody is told how a command ends: "
            "set it to SIG_DFL, or run the command on the main thread"
        ) from None
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # who would have been forgotten meanwhile
                pass


def is_lost(pid: int) -> bool:
    """Whether somebody else has been told of a child's end, or nobody."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return False
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False
