"""The decorator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, overload

from .._call.call import Call
from .._call.errors import OutlastError
from .._call.outcome import Outcome, error_of
from .._call.result import Result
from .._call.warnings import warn
from .._policy.document import FUNCTIONS
from .._time import clock
from .policy import Policy
from .steps import ToBeAwaited

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._evidence.requests import Request, Requests
    from .arguments import Arguments
    from .options import RunOptions
    from .steps import Ended
    from .task import Task

P = ParamSpec("P")
T = TypeVar("T")

Judge = Callable[[Any], "Result | None"]
"""Maps a value that a function returned to the failure that it stands for;
``None``: the function succeeded."""


class Decorator(Protocol):
    """Makes a function patient, whether it is a coroutine function or not."""

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, T]]
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __call__(self, function: Callable[P, T]) -> Callable[P, T]: ...


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
        TypeError: If what is decorated is a generator function, or there is no
            such option.

    The decorated function raises:
        CallError: If the policy stopped, in the subclass that belongs to the
            outcome. Its cause is the function's own exception.
        PluginError: If the plugin cannot be used; likewise.
    """
    chosen = Policy(policy) if isinstance(policy, str) else policy
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
        from .task import Task

        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("outlast: a generator cannot be retried: it may have given values")
        if isinstance(function, (classmethod, staticmethod)):
            return type(function)(decorate(function.__func__))
        own = call if label is not None else replace(call, label=_name(function))
        task = Task(chosen, own, repairs=repair is not None, options=options)
        calls = _Calls(task, judge, repair, reraise)
        if any(map(inspect.iscoroutinefunction, (function, type(function).__call__))):
            return calls.coroutine(function)
        return calls.function(function)

    return cast(Decorator, decorate)


def outcome_of(error: BaseException) -> Outcome | None:
    """The outcome of the call that an exception ended; ``None`` if it ended none."""
    outcome = getattr(error, "outcome" if isinstance(error, OutlastError) else ATTRIBUTE, None)
    return outcome if isinstance(outcome, Outcome) else None


ATTRIBUTE = "_outlast_outcome"


class _Calls:
    """The calls of one decorated function."""

    def __init__(
        self, task: Task, judge: Judge | None, repair: Callable[[bool], Any] | None, reraise: bool
    ) -> None:
        self._task = task
        self._judge = judge
        self._repair = repair
        self._reraise = reraise

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

        ended = perform.run(self._task, attempt, clock.current().sleep, self._repair)
        if isinstance(ended.error, ToBeAwaited):
            return self._acall(function, values[0], ended.error.seen)
        return self._value(ended, values)

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
                values[:] = [await (began.pop() if began else function())]
            except Exception as e:
                given.failed(e, now)
                raise
            return self._judged(values[0], given)

        ended = await perform.arun(self._task, attempt, clock.current().asleep, self._repair)
        return self._value(ended, values)

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

    def _value(self, ended: Ended, values: list[T]) -> T:
        """What the decorated function returns, or raises."""
        from . import perform

        call, raised = self._task.call, ended.raised
        outcome = perform.finish(ended, call, check=False)
        if outcome.ok or raised is None:
            return values[0]
        if self._reraise:
            _attach(raised, outcome)
            raise raised
        raise error_of(outcome, call.label) from raised


_SUCCESS = Result(exit_code=0)


def _is_to_be_awaited(value: object) -> bool:
    """Whether a value is a coroutine, or a future, and nothing besides."""
    kind = type(value)
    return hasattr(kind, "__await__") and not hasattr(kind, "__aenter__")


def _attach(error: Exception, outcome: Outcome) -> None:
    try:
        setattr(error, ATTRIBUTE, outcome)
    except AttributeError:  # a class with slots
        return
    if hasattr(error, "add_note"):  # since Python 3.11
        error.add_note(". ".join(filter(None, (f"outlast: {outcome.message}", outcome.evidence))))


def _name(function: Callable[..., Any]) -> str:
    """A function's name, in so many bytes as a label may have."""
    name = getattr(function, "__qualname__", "")
    if not name or not isinstance(name, str):  # of a proxy, which has everything
        name = type(function).__name__
    return name.encode()[:_MAX_NAME].decode(errors="ignore")


_MAX_NAME = 256
