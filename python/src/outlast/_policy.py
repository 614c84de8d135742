"""Policies."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _clock, _wire
from ._call import Call
from ._clock import AsyncSleep, Now, Sleep
from ._errors import Fault, OutlastError, PolicyError, error_of
from ._plugin import AnswerError, Plugin, default_plugin

if TYPE_CHECKING:
    from ._drive import Ended
    from ._outcome import Outcome
    from ._run import AsyncAttempter, AsyncRepairer, Attempter, Repairer
    from ._session import Session
    from ._task import ResultOf, Task
    from .hooks._registry import Hook
    from .ready import Readiness

BUILT_IN = ("omnigraph", "witan-core")
"""The policies that the plugin carries."""


class Policy:
    """A policy: which failures there are, what is done about each, for how long.

    Args:
        source: The name of a built-in policy, ``"omnigraph"`` or
            ``"witan-core"``; the path of a document in JSON, which as a ``str``
            ends in ``.json`` or has a directory; or a document as a mapping.
        check: Let the plugin check a document at once, so that its faults show
            now and not in an outage. That loads the plugin, which takes 50 ms
            where its compiled code is cached and seconds where it is not.
            ``False`` checks it at the first failure. A built-in policy needs no
            check.
        plugin: The plugin that decides; ``None``: the one that this package
            carries.

    Raises:
        PolicyError: If there is no such policy, or the document has faults.
        PluginError: If the plugin cannot be loaded for the check.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any] = "omnigraph",
        *,
        check: bool = True,
        plugin: Plugin | None = None,
    ) -> None:
        self._plugin = plugin or default_plugin()
        self._text = ""  # of a document that has not been checked
        self._whole = b""  # the same once it has been: normalised
        self._reference = b""  # what names the policy in a request
        self._digest = ""
        self._from(source)
        if check and not self._reference:
            self.check()

    def _from(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        if isinstance(source, Mapping):
            self._name = str(source.get("name", "document"))
            self._text = _document(source, self._name)
        elif isinstance(source, str) and not _is_path(source):
            self._name = source
            if source not in BUILT_IN:
                raise PolicyError(
                    source,
                    "unknown_policy",
                    f"there is no such policy; built in are {' and '.join(BUILT_IN)}, and the "
                    "path of a document ends in .json",
                )
            self._reference = self._whole = _wire.dumps(source)
        elif isinstance(source, (str, os.PathLike)):
            self._name = os.fspath(source)
            self._text = _read(Path(source))
        else:
            raise TypeError(
                f"outlast: policy is of type {type(source).__name__}, and must be a name, a path "
                "or a mapping"
            )

    def check(self) -> Policy:
        """Let the plugin check the document, if that has not been done, and get
        the policy itself.

        Raises:
            PolicyError: If the document has faults; all are listed.
            PluginError: If the plugin cannot be loaded.
        """
        if self._reference:
            return self
        try:
            ok = self._plugin.ask("check", self._text.encode())
        except AnswerError as e:
            faults = e.faults or (Fault(e.field, e.message),)
            count = f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"
            raise PolicyError(self._name, e.code, f"the document has {count}", faults) from e
        self._whole = _wire.dumps(ok["policy"])
        self._digest = ok["digest"]
        self._name = ok["policy"]["name"]
        self._reference = _wire.dumps(self._digest)
        return self

    @property
    def name(self) -> str:
        """What the policy calls itself."""
        return self._name

    @property
    def plugin(self) -> Plugin:
        """The plugin that decides."""
        return self._plugin

    @property
    def digest(self) -> str:
        """Identifies the policy: equal policies have equal digests. Loads the
        plugin.
        """
        if not self._digest:
            self.check()
        if not self._digest:
            policies = self._plugin.ask("describe", b"")["policies"]
            self._digest = next(p["digest"] for p in policies if p["name"] == self._name)
        return self._digest

    @property
    def document(self) -> dict[str, Any] | None:
        """A document with every default filled in; ``None`` for a built-in
        policy. Loads the plugin.
        """
        self.check()
        if self._reference == self._whole:
            return None
        document: dict[str, Any] = json.loads(self._whole)
        return document

    def session(self, call: Call, seed: int | None = None, *, state: str = "") -> Session:
        """Start a call that is driven step by step, by a loop of the caller's.

        Args:
            call: What the call is.
            seed: Of the jitter, from 0 to 2**53 - 1; ``None``: a random one.
            state: Of a session to be continued, as that had it; it must have
                had the same policy.

        Raises:
            TypeError: If *call* is no :class:`Call`, or *seed* no integer.
            ValueError: If *seed* is out of bounds.
        """
        from ._session import Session

        return Session(self, call, seed, state=state)

    def run(
        self,
        attempt: Attempter,
        call: Call,
        *,
        repair: Repairer | None = None,
        clock: Now | None = None,
        sleep: Sleep | None = None,
        seed: int | None = None,
        result_of: ResultOf | None = None,
        observe: Hook | None = None,
        secrets: Sequence[str] = (),
        ready: Readiness | None = None,
        check: bool = False,
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
            seed: Of the jitter, from 0 to 2**53 - 1; ``None``: a random one.
            result_of: Maps further exceptions, and is asked first.
            observe: Is told of the call's events, besides the hooks.
            secrets: Texts that no hook and no outcome's message may show.
            ready: Sees whether the server is back, for waits that the policy lets
                it cut short, such as ``outlast.ready.Server(url)``; ``None``: they
                are slept through. It watches in real time only: not with a *sleep*
                of your own, nor on the clock of :mod:`outlast.testing`.
            check: Raise unless the call succeeded.

        Returns:
            How the call ended, with the last attempt's result.

        Raises:
            CallError: If *check* is set and the call did not succeed.
            PluginError: If the plugin cannot be used; it has the last result.
            PolicyError: If the policy's document has faults.
        """
        from . import _run

        task = self._task(
            call, repair, clock, seed, result_of, observe, secrets, None if sleep else ready
        )
        how = sleep or _clock.current().sleep
        return finish(_run.run(task, attempt, how, repair), call, check)

    async def arun(
        self,
        attempt: AsyncAttempter,
        call: Call,
        *,
        repair: AsyncRepairer | None = None,
        clock: Now | None = None,
        sleep: AsyncSleep | None = None,
        seed: int | None = None,
        result_of: ResultOf | None = None,
        observe: Hook | None = None,
        secrets: Sequence[str] = (),
        ready: Readiness | None = None,
        check: bool = False,
    ) -> Outcome:
        """Carry out a call in this task of asyncio, or of trio if anyio is
        installed. It is :meth:`run` with coroutines for *attempt*, *repair* and
        *sleep*.

        Thousands of tasks may wait at the same time on a few instances of the
        plugin; one decision takes a tenth of a millisecond of the event loop.
        Loading is done on a thread. A task that is cancelled ends at once.
        """
        from . import _run

        task = self._task(
            call, repair, clock, seed, result_of, observe, secrets, None if sleep else ready
        )
        how = sleep or _clock.current().asleep
        return finish(await _run.arun(task, attempt, how, repair), call, check)

    def run_in_plugin(
        self,
        attempt: Attempter,
        call: Call,
        clock: Now | None = None,
        sleep: Sleep | None = None,
        *,
        repair: Repairer | None = None,
        seed: int | None = None,
        result_of: ResultOf | None = None,
        observe: Hook | None = None,
        secrets: Sequence[str] = (),
        ready: Readiness | None = None,
        check: bool = False,
    ) -> Outcome:
        """Carry out a call as :meth:`run` does, but let the plugin drive: it
        calls back for the time, for sleep and for each attempt.

        The call holds an instance of the plugin (4 MB) as long as it lasts, so
        :meth:`run` is the one to use; this one shows that both decide alike.
        """
        from . import _run_in_plugin

        task = self._task(
            call, repair, clock, seed, result_of, observe, secrets, None if sleep else ready
        )
        how = sleep or _clock.current().sleep
        return finish(_run_in_plugin.run_in_plugin(task, attempt, how, repair), call, check)

    def _task(
        self,
        call: Call,
        repair: object,
        clock: Now | None,
        seed: int | None,
        result_of: ResultOf | None,
        observe: Hook | None,
        secrets: Sequence[str],
        ready: Readiness | None,
    ) -> Task:
        from ._exceptions import mapper
        from ._task import Task

        return Task(
            policy=self,
            call=call,
            now=clock or _clock.current().now,
            result_of=mapper(result_of),
            seed=seed,
            repairs=repair is not None,
            observe=observe,
            secrets=secret_texts(secrets),
            ready=ready if _clock.is_real() else None,
        )

    def __repr__(self) -> str:
        return f"Policy({self._name!r})"

    # What a request needs.

    def _reference_text(self) -> bytes:
        """What names the policy in a request: a built-in by its name, a document
        by its digest, which an instance knows once it has met the document.
        """
        if not self._reference:
            self.check()
        return self._reference

    def _whole_text(self) -> bytes:
        """The same with the document itself."""
        if not self._reference:
            self.check()
        return self._whole


def finish(ended: Ended, call: Call, check: bool) -> Outcome:
    """What a driver gives to its caller: an outcome, or an exception."""
    error = ended.error
    if isinstance(error, OutlastError) and ended.raised is not None:
        raise error from ended.raised
    if error is not None:
        raise error
    assert ended.outcome is not None
    if check and not ended.outcome.ok:
        raise error_of(ended.outcome, call.label) from ended.raised
    return ended.outcome


def _is_path(source: str) -> bool:
    return source.endswith(".json") or os.path.basename(source) != source


def _document(source: Mapping[str, Any], name: str) -> str:
    try:
        text = json.dumps(dict(source), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as e:
        raise PolicyError(name, "invalid_policy", f"the document is not JSON: {e}") from e
    return _bounded(text, name)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_wire.MAX_DOCUMENT_BYTES + 1)
        return _bounded(data.decode(), str(path))
    except (OSError, UnicodeDecodeError) as e:
        raise PolicyError(str(path), "unreadable", f"cannot read the document: {e}") from e


def _bounded(text: str, name: str) -> str:
    if len(text.encode()) > _wire.MAX_DOCUMENT_BYTES:
        raise PolicyError(
            name, "invalid_policy", f"the document has more than {_wire.MAX_DOCUMENT_BYTES} bytes"
        )
    return text


def secret_texts(secrets: Sequence[str]) -> tuple[str, ...]:
    """The texts that must not be shown. One text alone would be taken letter by letter."""
    if isinstance(secrets, (str, bytes)):
        raise TypeError("outlast: secrets must be a list of texts, not one text")
    return tuple(secrets)
