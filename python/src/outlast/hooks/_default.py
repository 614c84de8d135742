"""Which hooks there are unless somebody chooses."""

from __future__ import annotations

import sys
from functools import cache

from ._hook import Hook
from ._logging import LoggingHook
from ._opentelemetry import OpenTelemetryHook
from ._prometheus import PrometheusHook
from ._structlog import StructlogHook


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
