"""Carries out a call that is a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any

from .._call.call import Call
from .._call.outcome import Outcome
from .._call.result import Result
from .._run.policy import Policy
from .._time import clock

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._run.options import RunOptions
    from .._run.perform import Repairer

KNOWN = ("omnigraph", "omnigraph.exe")
"""The command that the built-in policies know."""

KILL_AFTER = 10.0
"""Seconds from the signal that asks a process to end to the one that makes it
(a choice, and what container runtimes use)."""


@dataclass(frozen=True)
class Completed:
    """A command that was carried out, with its last attempt's result.

    Attributes:
        argv: The program and its arguments.
        outcome: How the call ended.
        result: How its last attempt ended.
    """

    argv: tuple[Any, ...]
    outcome: Outcome
    result: Result

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.outcome.ok

    @property
    def exit_code(self) -> int | None:
        """The exit code; ``None`` if a signal ended the process."""
        return self.result.exit_code

    @property
    def signal(self) -> str:
        """The name of the signal that ended the process, or ``""``."""
        return self.result.signal

    @property
    def stdout(self) -> bytes:
        """What the last attempt printed, and nothing of the attempts before."""
        assert isinstance(self.result.stdout, bytes)
        return self.result.stdout

    @property
    def stderr(self) -> bytes:
        """Likewise, of its other stream."""
        assert isinstance(self.result.stderr, bytes)
        return self.result.stderr


def run_command(
    argv: Sequence[str | bytes | os.PathLike[str]],
    call: Call,
    *,
    policy: Policy | str | None = None,
    input: bytes | None = None,
    stdin: IO[Any] | int | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    attempt_timeout: float | None = None,
    kill_after: float = KILL_AFTER,
    repair: Repairer | None = None,
    check: bool = False,
    **options: Unpack[RunOptions],
) -> Completed:
    """Run a command, again if need be, until it succeeds or the policy stops.

    Each attempt is a process in a group of its own, with its two output streams
    apart, as bytes, in memory. If the caller gives up, for instance by Ctrl-C,
    the whole group is ended before the exception comes out: it gets SIGINT or
    SIGTERM, and *kill_after* seconds later SIGKILL; a second Ctrl-C kills at once.

    Args:
        argv: The program and its arguments. No shell is involved.
        call: What the call is.
        policy: Decides. ``None``: the default one, which only knows the command
            ``omnigraph``; for any other a policy must be named, since it is the
            command's texts that say whether anything has happened.
        input: Standard input of each attempt.
        stdin: A file or descriptor as standard input. Each attempt reads it from
            where it stood; a pipe is read to its end before the first one.
            Without it and *input* it is the null device.
        env: The environment; ``None``: this process's.
        cwd: The working directory; ``None``: this process's.
        attempt_timeout: Ends an attempt that takes more seconds, above 0.
        kill_after: How many seconds a process that was asked to end may take.
        repair: As for ``Policy.run``.
        check: Raise unless the call succeeded.
        options: :class:`outlast.RunOptions`.

    Raises:
        OSError: If the command cannot be started.
        RuntimeError: If this process ignores SIGCHLD, so that nobody is told how a
            command ends, and this is not the main thread, which can change that.
        CallError: If *check* is set and the call did not succeed.
        PluginError: If the plugin cannot be used; it has the last result.
        ValueError: If an argument is out of bounds, or a policy must be named.
        TypeError: If an argument has the wrong type.
    """
    from .._run.perform import finish
    from .._run.perform import run as perform
    from .command import Command
    from .stdin import Stdin

    if sys.platform == "win32":
        from .windows import run
    else:
        from .posix import run

    argv = _checked(argv)
    if options.get("only_request"):
        raise TypeError(
            "outlast: only_request is for functions; a Call has one_request for commands"
        )
    for name, seconds in (("attempt_timeout", attempt_timeout), ("kill_after", kill_after)):
        if seconds is not None and not 0 < seconds < float("inf"):
            raise ValueError(f"outlast: {name} is {seconds!r}, and must be above 0 s")
    command = Command(
        argv=argv,
        stdin=Stdin(input, stdin),
        env=env,
        cwd=cwd,
        timeout=attempt_timeout,
        kill_after=kill_after,
    )
    # A process's requests are seen by nobody here.
    program = PurePath(os.fsdecode(argv[0])).name
    task = _policy(policy, program)._task(call, repair, None, None, options, watched=False)
    task.command = program
    sleep = clock.current().sleep
    outcome = finish(perform(task, lambda: run(command), sleep, repair), call, check)
    assert outcome.result is not None
    return Completed(tuple(argv), outcome, outcome.result)


def _checked(argv: Sequence[Any]) -> Sequence[Any]:
    if isinstance(argv, (str, bytes)):
        raise TypeError("outlast: argv must be a list of arguments; no shell splits it")
    if not argv:
        raise ValueError("outlast: argv is empty, and must begin with a program")
    return argv


def _policy(policy: Policy | str | None, program: str) -> Policy:
    if isinstance(policy, Policy):
        return policy
    if policy is not None:
        return Policy(policy)
    if program not in KNOWN:
        raise ValueError(
            f"outlast: the command is {program!r}, and the default policy only knows what "
            "omnigraph prints: name a policy for it"
        )
    return Policy("omnigraph")
