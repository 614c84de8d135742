"""A call and what it takes to carry it out, for all the ways to drive one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import events
from .._call.exceptions import result_after
from .._call.known import line
from .._call.outcome import Outcome
from .._call.result import Result
from .._evidence import watch
from .._evidence.requests import Request, Requests, Within, current
from .._policy.document import chosen
from ..hooks._hook import CallHook
from ..hooks._outages import LogHook
from ..hooks._registry import Around, Told, begin, get_hooks, guarded, tell
from .options import OPTIONS
from .overrides import given
from .secrets import Secrets

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._call.call import Call
    from .._policy.document import Document
    from .._time.clock import Now
    from .._watch.readiness import Readiness
    from .options import RunOptions
    from .overrides import CallOptions


class Task:
    """A call and what it takes to carry it out. It tells hooks of the call's events.

    Args:
        policy: Decides.
        call: What the call is.
        clock: Gives seconds since some moment; ``None``: the clock in force.
        repairs: Whether the caller can repair.
        watched: Whether attempts make requests of their own, which can be seen.
        attempts: How many there may be, with the first; ``None``: as the policy says.
        on: Exceptions that say that the server is away.
        options: What else the caller wants.

    Raises:
        TypeError: If there is no such option, or one is of another type.
    """

    def __init__(
        self,
        policy: Document,
        call: Call,
        *,
        clock: Now | None = None,
        repairs: bool = False,
        watched: bool = True,
        attempts: int | None = None,
        on: type[Exception] | tuple[type[Exception], ...] = (),
        options: RunOptions,
    ) -> None:
        unknown = options.keys() - OPTIONS
        if unknown:
            raise TypeError(
                f"outlast: {min(unknown)!r} is no keyword of this function, nor one of "
                f"outlast.RunOptions: {', '.join(sorted(OPTIONS))}"
            )
        self.policy = policy
        self.clock = clock
        self.repairs = repairs
        self.attempts = _counted(attempts)
        self._on = on if isinstance(on, tuple) else (on,)
        for each in self._on:
            if not (isinstance(each, type) and issubclass(each, Exception)):
                raise TypeError(f"outlast: on= has {each!r}, and takes subclasses of Exception")
        if self._on and call.write and (not call.repeatable or options.get("only_request")):
            raise ValueError(
                "outlast: on= is for reads, and for writes that are repeatable and claim no "
                "only_request: an exception does not say that nothing was applied"
            )
        self.seed = options.get("seed")
        self.only_request = options.get("only_request", False)
        self._result_of = options.get("result_of")
        self._watched = watched
        self.ready = _looks(options.get("ready"))
        self._observe = options.get("observe")
        self._secrets = Secrets(options.get("secrets", ()))
        self.call = call
        self.command = ""  # base name of the program that the call runs
        self._hooks: tuple[Told, ...] = ()
        self._call_hooks: tuple[CallHook, ...] = ()  # those that are told of more than events

    @property
    def call(self) -> Call:
        """What the call is."""
        return self._call

    @call.setter
    def call(self, call: Call) -> None:
        self._call = call
        label = self._secrets.out_of(call.label)
        # A call that is made again would warn again.
        self._told = call if label == call.label else replace(call, label=label)

    def begun(self) -> Self:
        """The task of one call, with hooks for it: other calls may have this one."""
        task = object.__new__(type(self))
        task.__dict__.update(self.__dict__)  # copy() takes five times as long
        hooks = get_hooks() if self._observe is None else (*get_hooks(), self._observe)
        task._hooks = begin(hooks, self._told, self.policy.name, self.command)
        task._call_hooks = tuple([hook for hook in task._hooks if isinstance(hook, CallHook)])
        return task

    def as_wanted(self) -> Self:
        """The task as :func:`outlast.options` would have it here. Within an attempt
        that holds for the call around it.
        """
        wanted = given.get(None)
        if wanted is None or current.get() is not None:
            return self
        return self.with_options(wanted)

    def with_options(self, options: CallOptions) -> Self:
        """The task with what a caller wants of one call."""
        task = copy(self)
        wanted: dict[str, Any] = {**options}
        policy = wanted.pop("policy", task.policy)
        task.policy = chosen(policy, wanted.pop("max_wait", None), wanted.pop("spread", None))
        task.attempts = _counted(wanted.pop("attempts", task.attempts))
        task.ready = _looks(wanted.pop("ready", task.ready))
        task._observe = wanted.pop("observe", task._observe)
        if "secrets" in wanted:
            task._secrets = Secrets(wanted.pop("secrets"))
        task.call = replace(task._call, **wanted)
        return task

    def settles(self, result: Result) -> bool:
        """Whether a first attempt with this result is all that there is to the call."""
        return result.ok

    def by_what_is_in_force(self) -> Task:
        """The task of a call that meets its first failure: it goes by what is in force
        now, to its end. Tells of that, if the policy is followed.
        """
        policy, why = self.policy.in_force()
        if policy is self.policy:
            return self
        task = copy(self)
        task.policy = policy
        digest = policy.published.digest
        task.tell(events.PolicyInForce, digest=digest, release=policy.release, why=why)
        return task

    def look_on(self, outer: Requests | Request | None) -> Requests | None:
        """Begin to look at what the next attempt sends. It is the attempt's around it too."""
        if not self._watched:
            return None
        watch.install()
        return Requests(outer)

    def result_of(self, error: Exception, seen: Requests | None) -> Result | None:
        """The result that an attempt's exception stands for. One of the mapping's own
        has the attempt's as its cause.

        Raises:
            TypeError: If the caller's mapping gives no result.
        """
        if isinstance(error, self._on):
            return Result(failure="unconnected", message=line(error))
        if self._result_of is not None:
            try:
                given = self._result_of(error)
            except Exception as e:
                raise e from (e.__cause__ or error)
            if given is not None and not isinstance(given, Result):
                raise TypeError(
                    f"outlast: result_of gave a {type(given).__name__}, and must give a Result "
                    "or None"
                ) from error
            if given is not None:
                return given
        last = None if seen is None else seen.last
        try:
            return result_after(error, None if last is None else last.left)
        except Exception:  # by a property or a text of its own: then it says nothing
            return None

    @property
    def is_quiet(self) -> bool:
        """Whether nobody hears of a call whose first attempt succeeds: there is no line of
        it in a log.
        """
        return self._observe is None and all(isinstance(hook, LogHook) for hook in get_hooks())

    def tell(self, kind: Callable[..., events.Event], /, **details: Any) -> None:
        """Tell hooks of an event."""
        if self._hooks:
            event = kind(call=self._told, policy=self.policy.name, command=self.command, **details)
            tell(event, self._hooks)

    def around(self, number: int, at: float, seen: Requests | None) -> AbstractContextManager[None]:
        """Tell hooks that an attempt begins, and get what it runs in."""
        contexts = []
        for hook in self._call_hooks:
            context = guarded("an attempt's begin", hook.attempt, number, at)
            if context is not None:
                contexts.append(context)
        inner = _NOTHING if seen is None else Within(seen)
        return Around(contexts, inner) if contexts else inner

    def ended(self, error: BaseException | None) -> None:
        """Tell hooks that nothing more comes of a call."""
        for hook in self._call_hooks:
            guarded("a call's end", hook.end, error)

    def tell_attempt(self, attempt: int, result: Result, at: float) -> None:
        """Tell of an attempt that ended."""
        self.tell(
            events.AttemptEnded,
            attempt=attempt,
            at=at,
            ok=self.settles(result),
            result=self._clean(result),
        )

    def tell_replaced(self, error: Exception) -> None:
        """Tell of an instance that failed."""
        self.tell(events.InstanceReplaced, error=error)

    def tell_loading(self) -> None:
        """Tell how the plugin was loaded, if this call is the first to know."""
        loading = self.policy.plugin.take_loading()
        if loading is not None:
            self.tell(events.Loaded, cache=loading.cache, why=loading.why, took=loading.took)

    def stopped(self, outcome: Outcome, at: float) -> Outcome:
        """The call's end: tells of it, and gives the outcome to the caller."""
        told = outcome
        if self._secrets:
            names = ("message", "evidence", "last_error")
            clean = {name: self._secrets.out_of(getattr(outcome, name)) for name in names}
            result = outcome.result
            outcome = replace(outcome, **clean)
            told = replace(outcome, result=result and self._clean(result))
        self.tell(events.Stopped, outcome=told, at=at)
        return outcome

    def succeeded(self, result: Result, at: float) -> Outcome:
        """The end of a call whose first attempt succeeded. The plugin is not
        asked: it could not say anything else.
        """
        began = self.call.started if self.call.started is not None else result.started
        elapsed = 0.0 if began is None else max(0.0, at - began)
        return self.stopped(Outcome("ok", attempts=1, elapsed=elapsed, result=result), at)

    def cancelled(
        self, began: float, at: float, attempts: int, kind: str = "", doubt: bool = False
    ) -> None:
        """The end of a call that was cancelled, as far as its host knows it.

        Args:
            began: When the call did.
            at: When it was cancelled.
            attempts: How many there were, with the one that was cancelled.
            kind: What the last failure was.
            doubt: A write may have been applied.
        """
        elapsed = max(0.0, at - began)
        effects = "a write may have been applied" if doubt else "nothing was applied"
        outcome = Outcome(
            "cancelled",
            kind=kind,
            effects="unknown" if doubt else "none",
            attempts=attempts,
            elapsed=elapsed,
            message=f"cancelled after {tries(attempts, elapsed)}; {effects}",
        )
        self.stopped(outcome, at)

    def _clean(self, result: Result) -> Result:
        if not self._secrets:
            return result
        clean = self._secrets.out_of
        return replace(
            result,
            stdout=clean(result.stdout),
            stderr=clean(result.stderr),
            message=clean(result.message),
        )


def tries(attempts: int, seconds: float) -> str:
    """What a call took, for a person."""
    return f"{attempts} attempt{'' if attempts == 1 else 's'} over {seconds:.1f} s"


_NOTHING: AbstractContextManager[None] = nullcontext()


def _looks(ready: Readiness | None) -> Readiness | None:
    """What can look whether a server is back."""
    if ready is not None and not hasattr(ready, "watch"):
        raise TypeError(f"outlast: ready is {ready!r}; expected such as outlast.ready.Server(url)")
    return ready


def _counted(attempts: int | None) -> int | None:
    """A number of attempts."""
    if attempts is None:
        return None
    if isinstance(attempts, bool) or not isinstance(attempts, int):
        raise TypeError(f"outlast: attempts is {attempts!r}, and must be an int, or None")
    if attempts < 1:
        raise ValueError(f"outlast: attempts is {attempts}, and must be 1 or more")
    return attempts
