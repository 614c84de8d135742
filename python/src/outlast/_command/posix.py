"""One run of a command on a system with process groups and signals."""

from __future__ import annotations

import os
import selectors
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

from .._call.result import Result
from .children import is_lost, told_of
from .command import Command

assert sys.platform != "win32"  # which has neither

DRAIN = 1.0
"""Seconds that output may still come after the process's end, from children of
its own that hold its output (a choice)."""

POLL = 0.02
"""Seconds between two looks at a process where the system cannot tell of its end
(a choice)."""

SWEEP = 1.0
"""Seconds in which killed processes must be gone (a choice)."""

CHUNK = 1 << 16

LOST = (
    "how the command ended is not known: this process ignores SIGCHLD, or another part of it "
    "waits for all of its children"
)

UNENDED = "runs on: it is another user's now, and could not be ended"


def run(command: Command) -> Result:
    """Run the command and wait for its end.

    If anything is raised meanwhile, such as KeyboardInterrupt, the process and
    all of its group are ended first.

    Raises:
        OSError: If it cannot be started.
    """
    interrupt = _Interrupt()
    try:
        with told_of():
            return Running(command).run(interrupt)
    finally:
        interrupt.let_go()


class Running:
    """A process that runs, with its group."""

    def __init__(self, command: Command) -> None:
        self._command = command
        # A terminal belongs to the foreground group: a command that reads from
        # one must stay in this process's, and then gets Ctrl-C from the terminal itself.
        self._group = not command.stdin.is_terminal
        self._process, data = command.popen(**(_own_group() if self._group else {}))
        self._left = memoryview(data)
        self._output: dict[int, bytearray] = {}
        self._selector = selectors.DefaultSelector()
        self._pidfd = _pidfd(self._process.pid)
        self._exited = False
        self._trouble = ""  # what keeps its end from being known

    def run(self, interrupt: _Interrupt) -> Result:
        process, deadline = self._process, None
        if self._command.timeout is not None:
            deadline = time.monotonic() + self._command.timeout
        try:
            try:
                interrupt.let_go()
                self._register()
                timed_out = not self._until_exit(deadline)
                if timed_out:
                    self._end(signal.SIGTERM)
                else:
                    self._drain()
            except BaseException as e:
                self._end(signal.SIGINT if isinstance(e, KeyboardInterrupt) else signal.SIGTERM)
                raise
        finally:
            self._close()
        stdout, stderr = map(bytes, self._output.values())
        if self._trouble:
            return Result(stdout=stdout, stderr=stderr, message=self._trouble, timed_out=timed_out)
        result = Result.from_process(process.returncode, stdout, stderr)
        return replace(result, timed_out=timed_out)

    def _register(self) -> None:
        process = self._process
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._output[stream.fileno()] = bytearray()
            self._selector.register(stream, selectors.EVENT_READ, self._read)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE, self._write)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ, self._forget)

    def _read(self, stream: IO[bytes]) -> None:
        try:
            chunk = os.read(stream.fileno(), CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._output[stream.fileno()] += chunk
        else:
            self._forget(stream)

    def _write(self, stream: IO[bytes]) -> None:
        try:
            written = os.write(stream.fileno(), self._left[:CHUNK]) if self._left else 0
            self._left = self._left[written:]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not read all of its input
            self._left = memoryview(b"")
        if not self._left:
            self._forget(stream)
            stream.close()

    def _forget(self, stream: Any) -> None:
        self._selector.unregister(stream)

    def _turn(self, until: float | None) -> None:
        """Move what can be moved, and see whether the process has ended."""
        wait = None if until is None else max(0.0, until - time.monotonic())
        if self._pidfd is None and not self._exited:
            wait = POLL if wait is None else min(wait, POLL)
        if self._selector.get_map():
            for key, _ in self._selector.select(wait):
                key.data(key.fileobj)
        elif wait:
            time.sleep(wait)
        self._exited = self._exited or self._has_ended()

    def _has_ended(self) -> bool:
        """Whether the process has ended. How it did is lost where somebody else has
        been told of it, or nobody; subprocess would say that it ended well.
        """
        if self._process.returncode is None and is_lost(self._process.pid):
            self._trouble = LOST
        return self._process.poll() is not None

    def _until_exit(self, deadline: float | None) -> bool:
        """Whether the process has ended by then."""
        while not self._exited:
            if deadline is not None and time.monotonic() >= deadline:
                return False
            self._turn(deadline)
        return True

    def _drain(self) -> None:
        """Read the rest of the output. A child of the process that holds it is
        not waited for, nor is it harmed.
        """
        deadline = time.monotonic() + DRAIN
        while self._reading() and time.monotonic() < deadline:
            self._turn(deadline)

    def _reading(self) -> bool:
        return any(key.data == self._read for key in self._selector.get_map().values())

    def _end(self, how: int) -> None:
        """End the process and all of its group: a signal, and what is there after
        a while is killed. Ctrl-C meanwhile kills it at once.
        """
        deadline = time.monotonic() + self._command.kill_after
        self._signal(how)
        while True:
            try:
                if not self._until_exit(deadline):
                    self._signal(signal.SIGKILL)
                    if not self._until_exit(self._patience()):
                        self._trouble = f"{self._process.pid} {UNENDED}"
                        return
                self._sweep(deadline)
                return
            except KeyboardInterrupt:
                self._signal(signal.SIGKILL)
                deadline = time.monotonic()

    def _patience(self) -> float | None:
        """Until when to wait for a process that was killed: a kill that is refused
        ends nothing.
        """
        try:
            self._process.send_signal(0)
        except PermissionError:
            return time.monotonic() + SWEEP
        return None

    def _sweep(self, deadline: float) -> None:
        """Wait until what the process left behind in its group is gone. Between
        the end of the leader and the end of the group the system keeps the
        group's number from being used again.
        """
        killed: float | None = None
        while self._group and _alive(self._process.pid):
            if killed is None and time.monotonic() >= deadline:
                self._signal(signal.SIGKILL)
                killed = time.monotonic()
            if killed is not None and time.monotonic() - killed > SWEEP:
                return  # asleep in the kernel; the kill takes effect when it wakes
            self._turn(time.monotonic() + POLL)

    def _signal(self, how: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if self._group:
                os.killpg(self._process.pid, how)
            else:
                self._process.send_signal(how)

    def _close(self) -> None:
        self._selector.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


class _Interrupt:
    """Holds Ctrl-C back until the process is known, for Popen would lose one that
    it has started. The process does not notice: a handler is not inherited.
    """

    def __init__(self) -> None:
        self._held: list[Any] = []
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler) and threading.current_thread() is threading.main_thread():
            self._handler = handler
            signal.signal(signal.SIGINT, lambda *interrupt: self._held.append(interrupt))

    def let_go(self) -> None:
        """Give back the handler, and to it what was held."""
        if handler := vars(self).pop("_handler", None):
            signal.signal(signal.SIGINT, handler)
            for interrupt in self._held:
                handler(*interrupt)


def _own_group() -> dict[str, Any]:
    """How to start a process in a group of its own."""
    if sys.version_info >= (3, 11):
        return {"process_group": 0}
    return {"start_new_session": True}


def _pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends, if there are such."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS, where only what has ended is left
        return False
    return True
