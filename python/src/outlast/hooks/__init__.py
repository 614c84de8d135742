"""Hooks: what is told of each call's events.

Unless :func:`set_hooks` says otherwise, these are told:

- structlog, if the program has imported it, else the standard library's logging,
- Prometheus, if the program has imported ``prometheus_client``,
- OpenTelemetry, if the program has imported ``opentelemetry.trace``.
"""

from __future__ import annotations

from ._hook import CallHook, Hook, PerCallHook
from ._logging import LoggingHook
from ._opentelemetry import OpenTelemetryHook
from ._prometheus import PrometheusHook
from ._registry import default_hooks, get_hooks, set_hooks
from ._structlog import StructlogHook

__all__ = [
    "CallHook",
    "Hook",
    "LoggingHook",
    "OpenTelemetryHook",
    "PerCallHook",
    "PrometheusHook",
    "StructlogHook",
    "default_hooks",
    "get_hooks",
    "set_hooks",
]
