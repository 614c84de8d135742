"""Runs a command once."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ._result import Result
from ._stdin import Stdin

KILL_AFTER = 10.0
"""Seconds from the signal that asks a process to end to the one that makes it
(a choice, and what container runtimes use)."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command, for any number of attempts, one after another.

    Attributes:
        argv: The program and its arguments.
        stdin: Shared by all attempts.
        env: The environment; ``None``: this process's.
        cwd: The working directory; ``None``: this process's.
        timeout: Ends an attempt that takes more seconds; ``None``: no limit.
        kill_after: How many seconds a process that was asked to end may take.
    """

    argv: Sequence[Any]
    stdin: Stdin
    env: Mapping[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None
    timeout: float | None = None
    kill_after: float = KILL_AFTER

    def attempt(self) -> Result:
        """Run the command and wait for its end.

        If anything is raised meanwhile, such as KeyboardInterrupt, the process
        and all of its group are ended first.

        Raises:
            OSError: If it cannot be started.
        """
        if sys.platform != "win32":
            from ._group import Attempt

            return Attempt(self).run()
        return self._attempt_on_windows()

    def popen(self, **options: Any) -> tuple[subprocess.Popen[bytes], bytes]:
        """Start the command; and what to write to it."""
        stdin, data = self.stdin.attach()
        process = subprocess.Popen(
            self.argv,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
            cwd=self.cwd,
            bufsize=0,
            **options,
        )
        return process, data

    def _attempt_on_windows(self) -> Result:
        process, data = self.popen()
        timed_out = False
        try:
            stdout, stderr = process.communicate(data or None, self.timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            _kill_on_windows(process)
            stdout, stderr = process.communicate()
        except BaseException:
            _kill_on_windows(process)
            process.wait()
            raise
        result = Result.from_process(process.returncode & 0xFFFFFFFF, stdout, stderr)
        return replace(result, timed_out=timed_out)


def _kill_on_windows(process: subprocess.Popen[bytes]) -> None:
    warnings.warn(
        "outlast: Windows has no process groups: a command's own children are left alone",
        RuntimeWarning,
        stacklevel=2,
    )
    process.kill()
