"""A call as a loop over its attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._call.call import Call
from .._policy.document import FUNCTIONS, chosen
from .options import OPTIONS, RunOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._policy.document import Document
    from .loop import AsyncAttemptLoop, AttemptLoop
    from .task import Task


class AttemptsOptions(RunOptions, total=False):
    """What :func:`outlast.attempts` takes beside *remote* and *write*. Each means what it
    means for :func:`outlast.retry`.
    """

    surface_conflict: bool
    connect_retry: bool
    repeatable: bool
    one_request: bool | None
    refuses_before_acting: bool
    budget: float | None
    max_wait: float | None
    spread: float | None
    attempts: int | None
    on: type[Exception] | tuple[type[Exception], ...]
    label: str
    policy: Document | str
    reraise: bool


def attempts(*, remote: bool, write: bool, **options: Unpack[AttemptsOptions]) -> Attempts:
    """A call as a loop, where a function of its own would be in the way::

        for attempt in outlast.attempts(remote=True, write=False):
            with attempt:
                answer = client.get("http://graph:8080/people").raise_for_status()

    In a coroutine it is ``async for``; what stands in it is the same. A body that ends
    without an exception has succeeded, and the loop is over. One that stands for a failure
    of a request (:func:`outlast.result_of`) is held back if the policy wants another
    attempt; any other comes out at once.

    Args:
        remote: It goes over the network, to a server that may restart.
        write: It may change something. If in doubt, it does.
        options: :class:`AttemptsOptions`.

    Raises:
        TypeError: If there is no such option.
        ValueError: If one is out of bounds.

    The loop raises what :func:`outlast.retry` says of a decorated function, and RuntimeError
    if its body is not in ``with attempt:``.
    """
    from .task import Task

    rest: dict[str, Any] = {**options}
    wanted = rest.pop("policy", FUNCTIONS)
    policy = chosen(wanted, rest.pop("max_wait", None), rest.pop("spread", None))
    on, most = rest.pop("on", ()), rest.pop("attempts", None)
    reraise = rest.pop("reraise", False)
    run: Any = {name: rest.pop(name) for name in OPTIONS & rest.keys()}
    call = Call(remote=remote, write=write, **rest)
    return Attempts(Task(policy, call, attempts=most, on=on, options=run), reraise)


class Attempts:
    """The attempts of a call. Each loop over it is a call of its own."""

    def __init__(self, task: Task, reraise: bool) -> None:
        self._task, self._reraise = task, reraise

    def __iter__(self) -> AttemptLoop:
        from .loop import AttemptLoop

        return AttemptLoop(self._task.as_wanted(), self._reraise)

    def __aiter__(self) -> AsyncAttemptLoop:
        from .loop import AsyncAttemptLoop

        return AsyncAttemptLoop(self._task.as_wanted(), self._reraise)
