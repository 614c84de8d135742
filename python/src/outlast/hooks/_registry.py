"""Which hooks are in force: those that somebody chose, or those for what the program uses."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from functools import cache

from ..events import Event
from ._hook import Hook
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


def tell(event: Event, hooks: Iterable[Hook]) -> None:
    """Tell hooks of an event."""
    for hook in hooks:
        try:
            hook(event)
        except Exception:
            log.exception("outlast: a hook failed at %s", type(event).__name__)
