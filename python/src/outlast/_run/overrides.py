"""What a caller wants for the calls that it makes in one place."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from .._wire.values import MAX_LABEL_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typing_extensions import Unpack

    from .._call.call import Call
    from .._policy.document import Document
    from .._watch.readiness import Readiness
    from ..hooks._hook import Hook


class CallOptions(TypedDict, total=False):
    """What :func:`outlast.options` takes. Each means what it means for
    :func:`outlast.retry`, and replaces what was said there.
    """

    policy: Document | str
    max_wait: float | None
    spread: float | None
    attempts: int | None
    budget: float | None
    repeatable: bool
    refuses_before_acting: bool
    connect_retry: bool
    label: str
    ready: Readiness | None
    observe: Hook | None
    secrets: Sequence[str]


given: ContextVar[CallOptions] = ContextVar("outlast_options")
"""What is in force here; nothing where nobody has said anything."""


class options:  # noqa: N801  it is used as a function
    """Say what the calls that begin in here shall have: those of functions that
    :func:`outlast.retry` has decorated, of :func:`outlast.attempts`, and requests by
    clients of :mod:`outlast.clients`. ::

        with outlast.options(budget=5, attempts=1):
            ask()

    It holds in this task or thread, and not for what an attempt calls. Of two, one
    within the other, the inner one wins, option by option.

    Args:
        options: :class:`outlast.CallOptions`.

    Raises:
        TypeError: If there is no such option.
    """

    def __init__(self, **options: Unpack[CallOptions]) -> None:
        check(options)
        self._options = options
        self._token: Token[CallOptions] | None = None

    def __enter__(self) -> None:
        self._token = given.set({**given.get({}), **self._options})

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        given.reset(self._token)


def labelled(call: Call, label: str) -> Call:
    """A call with a name, in so many bytes as a label may have."""
    return replace(call, label=label.encode()[:MAX_LABEL_BYTES].decode(errors="ignore"))


def check(
    options: Iterable[str], known: type = CallOptions, public: str = "outlast.CallOptions"
) -> None:
    """See that there are such options, of a TypedDict with a public name.

    Raises:
        TypeError: If there are not.
    """
    names = known.__annotations__
    unknown = sorted(set(options) - names.keys())
    if unknown:
        raise TypeError(f"outlast: {unknown[0]!r} is none of {public}: {', '.join(sorted(names))}")
