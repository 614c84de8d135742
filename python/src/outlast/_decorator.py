"""The decorator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, overload

from ._call import Call
from ._errors import OutlastError, error_of
from ._outcome import Outcome
from ._policy import Policy, secret_texts
from ._result import Result

if TYPE_CHECKING:
    from ._drive import Ended
    from ._task import ResultOf
    from .hooks._registry import Hook
    from .ready import Readiness

P = ParamSpec("P")
T = TypeVar("T")

Judge = Callable[[Any], "Result | None"]
"""Maps a value that a function returned to the failure that it stands for;
``None``: the function succeeded."""


class Decorator(Protocol):
    """Makes a function patient, whether it is plain or a coroutine function."""

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
    budget: float | None = None,
    label: str | None = None,
    policy: Policy | str = "omnigraph",
    result_of: ResultOf | None = None,
    judge: Judge | None = None,
    repair: Callable[[bool], Any] | None = None,
    observe: Hook | None = None,
    secrets: Sequence[str] = (),
    ready: Readiness | None = None,
    reraise: bool = False,
) -> Decorator:
    """Let a function, plain or a coroutine function, ride out a server's restart.

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
        budget: The total budget of one call of the function, in seconds;
            ``None``: no limit but the policy's own.
        label: A name for messages; ``None``: the function's qualified name.
        policy: Decides. A document that is named by its path is checked at once,
            which loads the plugin; give a ``Policy`` to put that off.
        result_of: Maps further exceptions to results, and is asked first.
        judge: Maps returned values that stand for a failure to results. When
            the policy stops at such a value, the function returns it.
        repair: As for ``Policy.run``; of a coroutine function a coroutine function.
        observe: Is told of the events of each call, besides the hooks.
        secrets: Texts that no hook and no outcome's message may show.
        ready: Sees whether the server is back, as for ``Policy.run``.
        reraise: Raise the function's own exception when the policy stops, not a
            :class:`CallError`. :func:`outcome_of` has its outcome.

    Raises:
        TypeError: If what is decorated is a generator function.

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
        budget=budget,
        label=label or "",
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("outlast: a generator cannot be retried: it may have given values")
        own = call if label is not None else replace(call, label=_name(function))
        calls = _Calls(
            chosen, own, result_of, judge, repair, observe, secret_texts(secrets), ready, reraise
        )
        if inspect.iscoroutinefunction(function):
            return calls.coroutine(function)
        return calls.plain(function)

    return cast(Decorator, decorate)


def outcome_of(error: BaseException) -> Outcome | None:
    """The outcome of the call that an exception ended; ``None`` if it ended none."""
    outcome = getattr(error, "outcome" if isinstance(error, OutlastError) else _ATTRIBUTE, None)
    return outcome if isinstance(outcome, Outcome) else None


_ATTRIBUTE = "_outlast_outcome"


class _Calls:
    """The calls of one decorated function."""

    def __init__(
        self,
        policy: Policy,
        call: Call,
        result_of: ResultOf | None,
        judge: Judge | None,
        repair: Callable[[bool], Any] | None,
        observe: Hook | None,
        secrets: tuple[str, ...],
        ready: Readiness | None,
        reraise: bool,
    ) -> None:
        self._policy = policy
        self._call = call
        self._judge = judge
        self._repair = repair
        self._reraise = reraise
        self._options = (repair, None, None, result_of, observe, secrets, ready)

    def plain(self, function: Callable[P, T]) -> Callable[P, T]:
        from . import _clock, _run

        @functools.wraps(function)
        def patient(*args: P.args, **kwargs: P.kwargs) -> T:
            values: list[T] = []

            def attempt() -> Result:
                values[:] = [function(*args, **kwargs)]
                return self._judged(values[0])

            task = self._policy._task(self._call, *self._options)
            ended = _run.run(task, attempt, _clock.current().sleep, self._repair)
            return self._value(ended, values)

        return patient

    def coroutine(self, function: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        from . import _clock, _run

        @functools.wraps(function)
        async def patient(*args: P.args, **kwargs: P.kwargs) -> T:
            values: list[T] = []

            async def attempt() -> Result:
                values[:] = [await function(*args, **kwargs)]
                return self._judged(values[0])

            task = self._policy._task(self._call, *self._options)
            ended = await _run.arun(task, attempt, _clock.current().asleep, self._repair)
            return self._value(ended, values)

        return patient

    def _judged(self, value: object) -> Result:
        failure = None if self._judge is None else self._judge(value)
        return _SUCCESS if failure is None else failure

    def _value(self, ended: Ended, values: list[T]) -> T:
        """What the decorated function returns, or raises."""
        error, raised, outcome = ended.error, ended.raised, ended.outcome
        if isinstance(error, OutlastError) and raised is not None:
            raise error from raised
        if error is not None:
            raise error
        assert outcome is not None
        if outcome.ok or raised is None:
            return values[0]
        if self._reraise:
            _attach(raised, outcome)
            raise raised
        raise error_of(outcome, self._call.label) from raised


_SUCCESS = Result(exit_code=0)


def _attach(error: Exception, outcome: Outcome) -> None:
    try:
        setattr(error, _ATTRIBUTE, outcome)
    except AttributeError:  # a class with slots
        return
    if hasattr(error, "add_note"):  # since Python 3.11
        error.add_note(f"outlast: {outcome.message}")


def _name(function: Callable[..., Any]) -> str:
    """A function's name, in so many bytes as a label may have."""
    name = getattr(function, "__qualname__", "") or type(function).__name__
    return name.encode()[:_MAX_NAME].decode(errors="ignore")


_MAX_NAME = 256
