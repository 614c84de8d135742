"""Policies, with the ways to carry out a call."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._policy.document import Document
from .._policy.followed import Followed
from .._time import clock as clocks

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._call.call import Call
    from .._call.outcome import Outcome
    from .._plugin.plugin import Plugin
    from .._policy.session import Session
    from .._time.clock import AsyncSleep, Now, Sleep
    from .options import RunOptions
    from .perform import AsyncAttempter, AsyncRepairer, Attempter, Repairer
    from .task import Task


class Policy(Document):
    """A policy: which failures there are, what is done about each, for how long.

    Args:
        source: The name of a built-in policy, ``"network"`` (for functions that call
            any server), ``"omnigraph"`` or ``"witan-core"``, or of one that comes
            with outlast for a common command, such as ``"curl"``; the path of a
            document in JSON, which as a ``str`` ends in ``.json`` or has a directory;
            or a document as a mapping.
        check: Let the plugin check a document at once, so that its faults show
            now and not in an outage. That loads the plugin, which takes 50 ms
            where its compiled code is cached and seconds where it is not.
            ``False`` checks it at the first failure. A policy that comes with
            outlast needs no check.
        plugin: The plugin that decides; ``None``: the one that this package
            carries.

    Raises:
        PolicyError: If there is no such policy, or the document has faults.
        PluginError: If the plugin cannot be loaded for the check.
    """

    @staticmethod
    def follow(
        folder: str | os.PathLike[str],
        name: str,
        *,
        check: bool = True,
        plugin: Plugin | None = None,
    ) -> Policy:
        """A policy that others keep: that of a name in a folder which ``outlast policy
        pull`` writes. It may be used wherever a policy may.

        The folder is looked at between calls: a call goes by what is in force at its first
        failure, to its end. While the file is faulty, older than what is in force, gone, or
        can have been written by others, what is in force stays so. Where nothing could be
        taken yet, that is the policy of this name that comes with outlast.

        Each call's first failure is followed by the event ``events.PolicyInForce``.
        ``release``, ``digest`` and ``document`` are those of what is in force now.

        Args:
            folder: The folder.
            name: The policy's.
            check: Look at once. That loads the plugin, if there is a file. ``False`` looks
                at the first failure.
            plugin: As for a policy.

        Raises:
            PolicyError: If nothing can be used, neither in the folder nor of what comes
                with outlast; its cause says what is wrong with the file.
        """
        followed = FollowedPolicy(Policy, os.fspath(folder), name, plugin)
        if check:
            followed.in_force()
        return followed

    def session(
        self,
        call: Call,
        seed: int | None = None,
        *,
        state: str = "",
        only_request: bool = False,
    ) -> Session:
        """Start a call that is driven step by step, by a loop of the caller's.

        Args:
            call: What the call is.
            seed: Of the jitter, from 0 to 2**53 - 1; ``None``: a random one.
            state: Of a session to be continued, as that had it; it must have
                had the same policy.
            only_request: As in :class:`outlast.RunOptions`: nobody watches the
                requests of a loop of the caller's.

        Raises:
            TypeError: If *call* is no :class:`Call`, or *seed* no integer.
            ValueError: If *seed* is out of bounds.
        """
        from .._policy.session import Session

        return Session(self, call, seed, state=state, only_request=only_request)

    def run(
        self,
        attempt: Attempter,
        call: Call,
        *,
        repair: Repairer | None = None,
        clock: Now | None = None,
        sleep: Sleep | None = None,
        check: bool = False,
        **options: Unpack[RunOptions],
    ) -> Outcome:
        """Carry out a call on this thread: Python drives, and asks the plugin
        after each failure. The plugin is not loaded before the first one.

        Ctrl-C in an attempt or a wait comes out at once, as KeyboardInterrupt.

        Args:
            attempt: Makes one attempt and gives its result. An exception that
                stands for a result, as :func:`outlast.result_of` has it, is
                taken for that; any other ends the call and comes out of it.
            call: What the call is.
            repair: Repairs what the policy asks for, with force if it is given
                ``True``, and gives the result of that; ``None``: a repair that
                is asked for has failed.
            clock: Gives seconds since some moment; ``None``: the real time.
            sleep: Waits for so many seconds; ``None``: in real time. With a
                clock of your own it should move that.
            check: Raise unless the call succeeded.
            options: :class:`outlast.RunOptions`.

        Returns:
            How the call ended, with the last attempt's result.

        Raises:
            CallError: If *check* is set and the call did not succeed.
            PluginError: If the plugin cannot be used; it has the last result.
            PolicyError: If the policy's document has faults.
        """
        from . import perform

        task = self._task(call, repair, clock, sleep, options)
        ended = perform.run(task, attempt, sleep or clocks.current().sleep, repair)
        return perform.finish(ended, call, check)

    async def arun(
        self,
        attempt: AsyncAttempter,
        call: Call,
        *,
        repair: AsyncRepairer | None = None,
        clock: Now | None = None,
        sleep: AsyncSleep | None = None,
        check: bool = False,
        **options: Unpack[RunOptions],
    ) -> Outcome:
        """Carry out a call in this task of asyncio, or of trio if anyio is
        installed. It is :meth:`run` with coroutines for *attempt*, *repair* and
        *sleep*.

        Thousands of tasks may wait at the same time on a few instances of the
        plugin; one decision takes a tenth of a millisecond of the event loop.
        Loading is done on a thread. A task that is cancelled ends at once.
        """
        from . import perform

        task = self._task(call, repair, clock, sleep, options)
        ended = await perform.arun(task, attempt, sleep or clocks.current().asleep, repair)
        return perform.finish(ended, call, check)

    def run_in_plugin(
        self,
        attempt: Attempter,
        call: Call,
        clock: Now | None = None,
        sleep: Sleep | None = None,
        *,
        repair: Repairer | None = None,
        check: bool = False,
        **options: Unpack[RunOptions],
    ) -> Outcome:
        """Carry out a call as :meth:`run` does, but let the plugin drive: it
        calls back for the time, for sleep and for each attempt.

        The call holds an instance of the plugin (4 MB) as long as it lasts, so
        :meth:`run` is the one to use; this one shows that both decide alike.
        """
        from . import in_plugin, perform

        task = self._task(call, repair, clock, sleep, options)
        ended = in_plugin.run(task, attempt, sleep or clocks.current().sleep, repair)
        return perform.finish(ended, call, check)

    def _task(
        self,
        call: Call,
        repair: object,
        clock: Now | None,
        sleep: object,
        options: RunOptions,
        watched: bool = True,
    ) -> Task:
        from .task import Task

        if sleep is not None:
            options["ready"] = None
        repairs = repair is not None
        return Task(self, call, clock=clock, repairs=repairs, watched=watched, options=options)


class FollowedPolicy(Followed, Policy):
    """A followed policy with the ways to carry out a call."""
