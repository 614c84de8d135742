"""Which hooks are in force: those that somebody chose, or those for what the program uses."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

from .._call.call import Call
from ..events import Event
from ._hook import Hook, PerCallHook
from ._logging import LoggingHook
from ._opentelemetry import OpenTelemetryHook
from ._prometheus import PrometheusHook
from ._structlog import StructlogHook

_hooks: tuple[Hook, ...] | None = None

log = logging.getLogger("outlast")


def set_hooks(hooks: Iterable[Hook] | None) -> None:
    """Choose the hooks of the whole process.

    Args:
        hooks: All that shall be told; ``()``: nobody; ``None``: the default
            ones again.
    """
    global _hooks
    _hooks = None if hooks is None else tuple(hooks)


def get_hooks() -> tuple[Hook, ...]:
    """The hooks in force."""
    if _hooks is None:
        return default_hooks()
    return _hooks


def default_hooks() -> tuple[Hook, ...]:
    """The hooks for what the program uses. What is installed and imported by
    nobody has no reader, and importing it would only cost time.
    """
    return _hooks_for(
        "structlog" in sys.modules,
        "prometheus_client" in sys.modules,
        "opentelemetry.trace" in sys.modules,
    )


@cache
def _hooks_for(structlog: bool, prometheus: bool, opentelemetry: bool) -> tuple[Hook, ...]:
    hooks: list[Hook] = [StructlogHook() if structlog else LoggingHook()]
    if prometheus:
        hooks.append(PrometheusHook.shared())
    if opentelemetry:
        hooks.append(OpenTelemetryHook())
    return tuple(hooks)


T = TypeVar("T")

Told = Callable[[Event], object]
"""What is told of one call's events."""


def begin(hooks: Iterable[Hook], call: Call, policy: str, command: str) -> tuple[Told, ...]:
    """What is told of a call that begins."""
    begun: list[Told] = []
    for hook in hooks:
        if isinstance(hook, PerCallHook):
            told = guarded("a call's begin", hook.begin, call, policy, command)
            if told is not None:
                begun.append(told)
        else:
            begun.append(hook)
    return tuple(begun)


def tell(event: Event, hooks: Iterable[Told]) -> None:
    """Tell hooks of an event."""
    for hook in hooks:
        guarded(type(event).__name__, hook, event)


def guarded(at: str, of_hook: Callable[..., T], *args: Any) -> T | None:
    """What a hook's function gives; ``None`` where it raises, and that is logged."""
    try:
        return of_hook(*args)
    except Exception:
        log.exception("outlast: a hook failed at %s", at)
        return None


class Around:
    """What an attempt runs in: what hooks want around it, and in that, so that what they
    send themselves does not count, the watch of its requests.
    """

    def __init__(
        self, outer: Iterable[AbstractContextManager[object]], inner: AbstractContextManager[None]
    ) -> None:
        self._outer = outer
        self._inner = inner
        self._entered: list[AbstractContextManager[object]] = []

    def __enter__(self) -> None:
        for each in self._outer:
            guarded("an attempt's begin", self._enter, each)
        self._inner.__enter__()

    def _enter(self, each: AbstractContextManager[object]) -> None:
        each.__enter__()
        self._entered.append(each)

    def __exit__(self, *error: Any) -> None:
        self._inner.__exit__(*error)
        for each in reversed(self._entered):
            guarded("an attempt's end", each.__exit__, *error)
