"""Events to Prometheus."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .._call.call import Call
from ..events import AttemptEnded, Event, InstanceReplaced, PolicyInForce, Stopped, Waiting
from ._figures import Figures
from ._hook import CallHook, PerCallHook

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

COMMON = ("policy", "command")
"""Labels that all metrics have."""

SECONDS = (0.1, 0.5, 1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 100, 120, 150, 180, 300)
"""Buckets of the time that a call took (a choice: up to twice the default window)."""

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1)
"""Buckets of the share of its window that a call used (a choice)."""


class PrometheusHook(PerCallHook):
    """Counts events. docs/telemetry.md has the metrics with their labels, which are the
    same in all of outlast.

    Of a followed policy ``outlast_policy_serial`` is the serial by which the last call
    goes, 0 for the one that comes with outlast.

    No metric has a call's label as a label: it may have any number of values.

    Args:
        registry: Where to; ``None``: the default one, which can have one such
            hook only: see :meth:`shared`.
    """

    _shared: ClassVar[PrometheusHook | None] = None
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._metrics = Metrics(registry)

    @classmethod
    def shared(cls) -> PrometheusHook:
        """The hook of the default registry."""
        with cls._lock:
            if cls._shared is None:
                cls._shared = cls()
            return cls._shared

    def begin(self, call: Call, policy: str, command: str) -> CallHook:  # noqa: ARG002
        """Count this call."""
        return CountedCall(self._metrics, policy, command)


class Metrics:
    """What is counted, of all calls."""

    def __init__(self, registry: CollectorRegistry | None) -> None:
        from prometheus_client import REGISTRY, Counter, Gauge, Histogram

        where: Any = {"registry": registry or REGISTRY}

        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"outlast_{name}", what, [*COMMON, *labels], **where)

        def gauge(name: str, what: str) -> Gauge:
            # With several processes, each shows its own.
            mode: Any = {"multiprocess_mode": "liveall", **where}
            return Gauge(f"outlast_{name}", what, COMMON, **mode)

        def histogram(name: str, what: str, buckets: Sequence[float], *labels: str) -> Histogram:
            more: Any = {"buckets": buckets, **where}
            return Histogram(f"outlast_{name}", what, [*COMMON, *labels], **more)

        self.calls = counter(
            "calls",
            "Calls that ended, by how and by the kind of their last failure.",
            "outcome",
            "kind",
        )
        self.attempts = counter("attempts", "Attempts that ended.", "ok")
        self.retries = counter(
            "retries",
            "Waits before a retry; a wait that goes on counts once.",
            "kind",
            "budget",
        )
        self.wakes = counter("wakes", "Waits that the server's return cut short.")
        self.vain_wakes = counter(
            "vain_wakes",
            "Of these, those whose attempt then failed in a way that was waited for again.",
        )
        self.waited = counter(
            "wait_seconds",
            "Time waited, from the end of one attempt to the start of the next.",
        )
        self.replaced = counter(
            "instances_replaced",
            "Instances of the plugin that failed and were replaced.",
        )
        self.seconds = histogram(
            "retried_call_seconds",
            "How long calls took that did not succeed at once.",
            SECONDS,
            "outcome",
        )
        self.used = histogram(
            "budget_used_ratio",
            "Share of its window that a call which waited had used when it ended, of the "
            "fullest of its budgets.",
            SHARES,
        )
        self.serial = gauge(
            "policy_serial",
            "The serial of the followed policy in force; 0: the one that comes with outlast.",
        )
        self.expires = gauge(
            "policy_expires_timestamp_seconds",
            "Until when the policy in force may be pulled, in seconds since 1970; 0: for ever.",
        )


class CountedCall(CallHook):
    """Counts one call."""

    def __init__(self, metrics: Metrics, policy: str, command: str) -> None:
        self._metrics = metrics
        self._labels = (policy, command)
        self._figures = Figures()

    def attempt(self, number: int, at: float) -> None:  # noqa: ARG002
        """Count the wait before it."""
        figures = self._figures
        figures.attempt(at)
        self._count_wait()
        if figures.woken is not None:
            self._metrics.wakes.labels(*self._labels).inc()

    def _count_wait(self) -> None:
        if self._figures.wait is not None:
            self._metrics.waited.labels(*self._labels).inc(self._figures.wait)

    def __call__(self, event: Event) -> None:
        """Count the event."""
        metrics, labels, figures = self._metrics, self._labels, self._figures
        figures.hear(event)
        match event:
            case AttemptEnded():
                metrics.attempts.labels(*labels, "true" if event.ok else "false").inc()
            case Waiting(again=False):
                metrics.retries.labels(*labels, event.kind, event.budget).inc()
                if figures.vain:
                    metrics.vain_wakes.labels(*labels).inc()
            case Stopped():
                self._stopped(event)
            case PolicyInForce(release=release):
                metrics.serial.labels(*labels).set(0 if release is None else release.serial)
                expires = None if release is None else release.expires
                timestamp = 0 if expires is None else expires.timestamp()
                metrics.expires.labels(*labels).set(timestamp)
            case InstanceReplaced():
                metrics.replaced.labels(*labels).inc()

    def _stopped(self, event: Stopped) -> None:
        metrics, labels, outcome = self._metrics, self._labels, event.outcome
        metrics.calls.labels(*labels, outcome.type, outcome.kind or "none").inc()
        if not outcome.ok or outcome.attempts > 1:
            metrics.seconds.labels(*labels, outcome.type).observe(outcome.elapsed)
        self._count_wait()
        if self._figures.used is not None:
            metrics.used.labels(*labels).observe(self._figures.used)
