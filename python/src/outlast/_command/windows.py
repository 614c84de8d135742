"""One run of a command on Windows, which has no process groups."""

from __future__ import annotations

import subprocess
import warnings
from dataclasses import replace

from .._call.result import Result
from .command import Command


def run(command: Command) -> Result:
    """Run the command and wait for its end."""
    process, data = command.popen()
    timed_out = False
    try:
        stdout, stderr = process.communicate(data or None, command.timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        _kill(process)
        stdout, stderr = process.communicate()
    except BaseException:
        _kill(process)
        process.wait()
        raise
    result = Result.from_process(process.returncode & 0xFFFFFFFF, stdout, stderr)
    return replace(result, timed_out=timed_out)


def _kill(process: subprocess.Popen[bytes]) -> None:
    warnings.warn(
        "outlast: Windows has no process groups: a command's own children are left alone",
        RuntimeWarning,
        stacklevel=2,
    )
    process.kill()
