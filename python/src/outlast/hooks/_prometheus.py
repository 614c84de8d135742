"""Events to Prometheus."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar

from ..events import AttemptEnded, Event, InstanceReplaced, PolicyInForce, Stopped, Waiting

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

SECONDS = (0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 90, 120, 150, 300)
"""Buckets of the time that a call took (a choice: up to twice the default window)."""


class PrometheusHook:
    """Counts events.

    ============================================  =========================
    metric                                        labels
    ============================================  =========================
    ``outlast_attempts_total``                    policy, ok
    ``outlast_retries_total``                     policy, kind, budget
    ``outlast_calls_total``                       policy, outcome, kind
    ``outlast_retried_call_seconds``              policy, outcome
    ``outlast_instances_replaced_total``          policy
    ``outlast_policy_serial``                     policy
    ``outlast_policy_expires_timestamp_seconds``  policy
    ============================================  =========================

    The last two are of the policy by which the last call goes, if it is followed: its
    serial, 0 for the one that comes with outlast; and until when it may be pulled, in
    seconds since 1970, 0: for ever.

    No metric has a call's label as a label: it may have any number of values.

    Args:
        registry: Where to; ``None``: the default one, which can have one such
            hook only: see :meth:`shared`.
    """

    _shared: ClassVar[PrometheusHook | None] = None
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        from prometheus_client import REGISTRY, Counter, Gauge, Histogram

        where: Any = {"registry": registry or REGISTRY}
        self._attempts = Counter("outlast_attempts", "Attempts made", ["policy", "ok"], **where)
        self._retries = Counter(
            "outlast_retries", "Waits before a retry", ["policy", "kind", "budget"], **where
        )
        self._calls = Counter(
            "outlast_calls", "Calls that ended", ["policy", "outcome", "kind"], **where
        )
        self._seconds = Histogram(
            "outlast_retried_call_seconds",
            "How long calls took that did not succeed at once",
            ["policy", "outcome"],
            buckets=SECONDS,
            **where,
        )
        self._replaced = Counter(
            "outlast_instances_replaced", "Instances of the plugin that failed", ["policy"], **where
        )
        # With several processes, each shows its own.
        where["multiprocess_mode"] = "liveall"
        self._serial = Gauge(
            "outlast_policy_serial", "Serial of the followed policy in force", ["policy"], **where
        )
        self._expires = Gauge(
            "outlast_policy_expires_timestamp_seconds",
            "Until when it may be pulled",
            ["policy"],
            **where,
        )

    @classmethod
    def shared(cls) -> PrometheusHook:
        """The hook of the default registry."""
        with cls._lock:
            if cls._shared is None:
                cls._shared = cls()
            return cls._shared

    def __call__(self, event: Event) -> None:
        """Count the event."""
        policy = event.policy
        match event:
            case AttemptEnded():
                self._attempts.labels(policy, "true" if event.ok else "false").inc()
            case Waiting():
                self._retries.labels(policy, event.kind, event.budget).inc()
            case Stopped(outcome=outcome):
                self._calls.labels(policy, outcome.type, outcome.kind).inc()
                if not outcome.ok or outcome.attempts > 1:
                    self._seconds.labels(policy, outcome.type).observe(outcome.elapsed)
            case PolicyInForce(release=release):
                self._serial.labels(policy).set(0 if release is None else release.serial)
                expires = None if release is None else release.expires
                self._expires.labels(policy).set(0 if expires is None else expires.timestamp())
            case InstanceReplaced():
                self._replaced.labels(policy).inc()
