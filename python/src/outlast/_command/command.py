"""A command, for any number of attempts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .stdin import Stdin


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
    env: Mapping[str, str] | None
    cwd: str | os.PathLike[str] | None
    timeout: float | None
    kill_after: float

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
