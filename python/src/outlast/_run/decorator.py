"""The decorator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from .._call.call import Call
from .._call.errors import OutlastError
from .._call.outcome import Outcome, error_of
from .._call.result import Result
from .._call.warnings import warn
from .._policy.document import FUNCTIONS, chosen
from .._time import clock
from .._wire import values as wire
from .overrides import labelled
from .steps import ToBeAwaited

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._evidence.requests import Request, Requests
    from .arguments import Arguments
    from .options import RunOptions
    from .policy import Policy
    from .steps import Ended
    from .task import Task

P = ParamSpec("P")
T = TypeVar("T")

Judge = Callable[[Any], "Result | None"]
"""Maps a value that a function returned to the failure that it stands for;
``None``: the function succeeded."""


F = TypeVar("F")
"""A function, a class method or a static method. A bound would keep a lambda from having a
type of its own.
"""


class Decorator(Protocol):
    """Makes a function patient, whether it is a coroutine function or not. For a type
    checker it stays what it was: generic, overloaded, a method.
    """

    def __call__(self, function: F, /) -> F: ...


def retry(
    *,
    remote: bool,
    write: bool,
    surface_conflict: bool = False,
    connect_retry: bool = True,
    repeatable: bool = False,
    one_request: bool | None = None,
    refuses_before_acting: bool = False,
    budget: float | None = None,
    max_wait: float | None = None,
    spread: float | None = None,
    attempts: int | None = None,
    attempt_timeout: float | None = None,
    on: type[Exception] | tuple[type[Exception], ...] = (),
    label: str | None = None,
    policy: Policy | str = FUNCTIONS,
    judge: Judge | None = None,
    repair: Callable[[bool], Any] | None = None,
    reraise: bool = False,
    **options: Unpack[RunOptions],
) -> Decorator:
    """Let a function, or a coroutine function, ride out a server's restart.

    The function is called again as long as the policy says so, with the same
    arguments. Which exceptions are failures that a policy knows is up to
    *result_of* and :func:`outlast.result_of`; any other exception comes out of
    the function unchanged, and at once.

    Args:
        remote: It goes over the network, to a server that may restart.
        write: It may change something. If in doubt, it does.
        surface_conflict: A compare-and-swap: lose a race rather than repeat.
        connect_retry: Wait for a server that is away.
        repeatable: A write that may be applied again, as for :class:`Call`.
        one_request: Whether an attempt makes one request that can have effects,
            as for :class:`Call`.
        refuses_before_acting: This server answers 409, 410, 412, 422, 429 and 503
            before it acts, as for :class:`Call`.
        budget: The total budget of one call of the function, in seconds;
            ``None``: no limit but the policy's own.
        max_wait: Another window for the policy, in seconds, as
            ``Policy.with_max_wait`` gives it; ``None``: its own.
        spread: Another spread for the policy, in seconds, as ``Policy.with_spread``
            gives it; ``None``: its own.
        attempts: How many there may be, with the first, whatever they meet; 1 turns
            trying again off. None of them is left out while the server is seen to be down.
            ``None``: as many as the policy wants.
        attempt_timeout: Seconds that one attempt may take, of a coroutine function: it is
            cancelled then. What a write had done by then is seen or unknown, as for any
            other time limit.
        on: Exceptions that count as a server that is away, and are asked first. For
            reads and ``repeatable`` writes only: they do not say that nothing was applied.
        label: A name for messages; ``None``: the function's qualified name.
        policy: Decides. A document that is named by its path is checked at once,
            which loads the plugin; give a ``Policy`` to put that off.
        judge: Maps returned values that stand for a failure to results. When
            the policy stops at such a value, the function returns it.
        repair: As for ``Policy.run``; of a coroutine function a coroutine function.
        reraise: Raise the function's own exception when the policy stops, not a
            :class:`CallError`. :func:`outcome_of` has its outcome.
        options: :class:`outlast.RunOptions`, for each call of the function.

    Raises:
        TypeError: If what is decorated is a generator function, there is no such option,
            or *attempt_timeout* is given for a function that no event loop can cancel:
            nothing can end that from outside, so give its client a time limit.
        ValueError: If a number is out of bounds, or *on* is given for a write that may not
            be repeated.

    The decorated function raises:
        CallError: If the policy stopped, in the subclass that belongs to the
            outcome. Its cause is the function's own exception.
        PluginError: If the plugin cannot be used; likewise.
    """
    from .task import Task

    decides = chosen(policy, max_wait, spread)
    if attempt_timeout is not None:
        wire.duration(attempt_timeout, "attempt_timeout")
    call = Call(
        remote=remote,
        write=write,
        surface_conflict=surface_conflict,
        connect_retry=connect_retry,
        repeatable=repeatable,
        one_request=one_request,
        refuses_before_acting=refuses_before_acting,
        budget=budget,
        label=label or "",
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("outlast: a generator cannot be retried: it may have given values")
        if isinstance(function, (classmethod, staticmethod)):
            return type(function)(decorate(function.__func__))
        own = call if label is not None else labelled(call, _name(function))
        task = Task(
            decides,
            own,
            repairs=repair is not None,
            attempts=attempts,
            on=on,
            options=options,
        )
        calls = _Calls(task, judge, repair, reraise, attempt_timeout)
        if any(map(inspect.iscoroutinefunction, (function, type(function).__call__))):
            return calls.coroutine(function)
        if attempt_timeout is not None:
            raise TypeError(
                f"outlast: attempt_timeout= is for coroutine functions: {_name(function)} "
                "cannot be ended from outside, so give its client a time limit"
            )
        return calls.function(function)

    return cast(Decorator, decorate)


def outcome_of(ended: object) -> Outcome | None:
    """The outcome of the call that an exception ended, or that gave a client's response;
    ``None`` if it ended none, or the response was the first and the policy not asked.
    """
    outcome = getattr(ended, "outcome" if isinstance(ended, OutlastError) else ATTRIBUTE, None)
    return outcome if isinstance(outcome, Outcome) else None


ATTRIBUTE = "_outlast_outcome"


class _Calls:
    """The calls of one decorated function."""

    def __init__(
        self,
        task: Task,
        judge: Judge | None,
        repair: Callable[[bool], Any] | None,
        reraise: bool,
        attempt_timeout: float | None,
    ) -> None:
        self._task = task
        self._judge = judge
        self._repair = repair
        self._reraise = reraise
        self._attempt_timeout = attempt_timeout

    # What stands in place of a function refers to nothing but this, so that it can be
    # pickled with what it has.

    def function(self, function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def patient(*args: P.args, **kwargs: P.kwargs) -> T:
            value: T = self._call(functools.partial(function, *args, **kwargs))
            return value

        return patient

    def coroutine(self, function: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(function)
        async def patient(*args: P.args, **kwargs: P.kwargs) -> T:
            return await self._acall(functools.partial(function, *args, **kwargs))

        return patient

    def _call(self, function: functools.partial[Any]) -> Any:
        """A call on this thread, unless the function turns out to be for an event loop."""
        from .._evidence.requests import current
        from . import perform
        from .arguments import Arguments

        values: list[Any] = []
        given = Arguments((*function.args, *function.keywords.values()))

        def attempt() -> Result:
            given.give()
            try:
                values[:] = [function()]
            except Exception as e:
                given.failed(e, current.get())
                raise
            if _is_to_be_awaited(values[0]):
                raise ToBeAwaited(current.get())
            if inspect.isgenerator(values[0]) or inspect.isasyncgen(values[0]):
                warn("the function gave a generator: what that does later is not retried")
            return self._judged(values[0], given)

        task = self._task.as_wanted()
        ended = perform.run(task, attempt, clock.current().sleep, self._repair)
        if isinstance(ended.error, ToBeAwaited):
            return self._acall(function, values[0], ended.error.seen)
        return self._value(ended, task.call, values)

    async def _acall(
        self,
        function: functools.partial[Awaitable[T]],
        first: Awaitable[T] | None = None,
        seen: Requests | Request | None = None,
    ) -> T:
        """A call in an event loop.

        Args:
            function: Gives what each attempt is to await.
            first: What the first one is to, if there is such already.
            seen: What was seen when that was made.
        """
        from .._evidence.requests import current
        from . import perform
        from .arguments import Arguments

        values: list[T] = []
        began = [] if first is None else [first]
        given = Arguments((*function.args, *function.keywords.values()))

        async def attempt() -> Result:
            now = current.get()
            if began and seen is not None and now is not None:
                now.attempt.adopt(seen.attempt)
            given.give()
            try:
                values[:] = [await self._bounded(began.pop() if began else function())]
            except Exception as e:
                given.failed(e, now)
                raise
            return self._judged(values[0], given)

        task = self._task.as_wanted()
        ended = await perform.arun(task, attempt, clock.current().asleep, self._repair)
        return self._value(ended, task.call, values)

    def _bounded(self, what: Awaitable[T]) -> Awaitable[T]:
        if self._attempt_timeout is None:
            return what
        from .._time.event_loop import within

        return within(self._attempt_timeout, what)

    def _judged(self, value: object, given: Arguments) -> Result:
        from .._evidence.requests import current

        failure = None if self._judge is None else self._judge(value)
        if failure is not None and not isinstance(failure, Result):
            raise TypeError(
                f"outlast: judge gave a {type(failure).__name__}, and must give a Result or None"
            )
        if failure is None:
            return _SUCCESS
        given.failed(None, current.get())
        return failure

    def _value(self, ended: Ended, call: Call, values: list[T]) -> T:
        """What the decorated function returns, or raises."""
        from . import perform

        outcome = perform.finish(ended, call, check=False)
        if outcome.ok or ended.raised is None:
            return values[0]
        raise failure_of(outcome, call, ended.raised, self._reraise)


_SUCCESS = Result(exit_code=0)


def _is_to_be_awaited(value: object) -> bool:
    """Whether a value is a coroutine, or a future, and nothing besides."""
    kind = type(value)
    return hasattr(kind, "__await__") and not hasattr(kind, "__aenter__")


def failure_of(outcome: Outcome, call: Call, raised: Exception, reraise: bool) -> Exception:
    """What a call raises whose policy has stopped: the last attempt's own exception, with
    the outcome, or the outcome's with that as its cause.
    """
    if not reraise:
        error = error_of(outcome, call.label)
        error.__cause__ = raised
        return error
    attach(raised, outcome)
    if hasattr(raised, "add_note"):  # since Python 3.11
        told = vars(raised)
        # One exception may end many calls.
        told["__notes__"] = [n for n in told.get("__notes__", ()) if not str(n).startswith(_NOTE)]
        raised.add_note(". ".join(filter(None, (f"{_NOTE}{outcome.message}", outcome.evidence))))
    return raised


_NOTE = "outlast: "


def attach(ended: object, outcome: Outcome) -> None:
    """Let :func:`outcome_of` find the outcome, unless the class has slots."""
    with suppress(AttributeError):
        setattr(ended, ATTRIBUTE, outcome)


def _name(function: Callable[..., Any]) -> str:
    """A function's name."""
    name = getattr(function, "__qualname__", "")
    if not name or not isinstance(name, str):  # of a proxy, which has everything
        name = type(function).__name__
    return name
