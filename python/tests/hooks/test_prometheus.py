"""What is counted for Prometheus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.registry import Collector

from conftest import REFUSED
from outlast import Call, Policy, Result, hooks, testing
from outlast import events as e

READ = Call(remote=True, write=False, label="query")
AWAY = Result(exit_code=1, stderr=REFUSED)
OK = Result(exit_code=0)

NAMES = Path(__file__).parents[3] / "abi" / "telemetry.json"


Told = e.Event | tuple[int, float]


class Counted:
    """A registry and a hook for it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.hook = hooks.PrometheusHook(self.registry)

    def value(self, name: str, **labels: str) -> float | None:
        given = {"policy": "omnigraph", "command": "", **labels}
        return self.registry.get_sample_value(f"outlast_{name}", given)

    def call(self, *told: Told) -> None:
        """One call that is told so much, a pair of an attempt and when it begins."""
        call = self.hook.begin(READ, "omnigraph", "")
        for each in told:
            if isinstance(each, tuple):
                call.attempt(*each)
            else:
                call(each)


def ended(number: int, at: float, ok: bool = False) -> e.AttemptEnded:
    result = OK if ok else AWAY
    return e.AttemptEnded(
        call=READ, policy="omnigraph", attempt=number, at=at, ok=ok, result=result
    )


def waiting(attempt: int, at: float, remaining: float | None, **more: Any) -> e.Waiting:
    return e.Waiting(
        call=READ,
        policy="omnigraph",
        kind="unavailable",
        budget="b",
        attempt=attempt,
        delay=9.0,
        remaining=remaining,
        at=at,
        **more,
    )


def woken(at: float) -> e.Woken:
    return e.Woken(call=READ, policy="omnigraph", by="ready", at=at)


def test_calls(clock: testing.VirtualClock) -> None:
    """One call that succeeds in the end, one at once, one that never does."""
    counted = Counted()
    results = [AWAY, AWAY, OK, OK]
    policy, observe = Policy("omnigraph"), counted.hook
    policy.run(lambda: results.pop(0), READ, observe=observe, seed=1)
    assert counted.value("wait_seconds_total") == pytest.approx(clock.now())
    assert counted.value("budget_used_ratio_sum") == pytest.approx(clock.now() / 150)
    policy.run(lambda: results.pop(0), READ, observe=observe)
    policy.run(lambda: AWAY, READ, observe=observe)
    assert counted.value("attempts_total", ok="true") == 2
    assert counted.value("calls_total", outcome="ok", kind="unavailable") == 1
    assert counted.value("calls_total", outcome="ok", kind="none") == 1
    assert counted.value("calls_total", outcome="exhausted", kind="unavailable") == 1
    retries = counted.value("retries_total", kind="unavailable", budget="unavailable")
    assert retries is not None
    assert retries > 15
    assert counted.value("retried_call_seconds_count", outcome="ok") == 1
    assert counted.value("retried_call_seconds_sum", outcome="exhausted") == pytest.approx(150)
    assert counted.value("wait_seconds_total") == pytest.approx(clock.now())
    assert counted.value("budget_used_ratio_count") == 2
    assert counted.value("budget_used_ratio_bucket", le="0.1") == 1


def test_wakes_and_those_that_were_in_vain() -> None:
    counted = Counted()
    counted.call((1, 0), ended(1, 0), waiting(2, 0, 20.0))
    first: list[Told] = [(1, 0.0), ended(1, 1), waiting(2, 1, 20.0), woken(3)]
    first += [waiting(2, 3, 18.0, again=True), woken(4)]  # what woke it was not heeded
    second: list[Told] = [(2, 4.0), ended(2, 4), waiting(3, 4, 17.0), woken(6)]
    counted.call(*first, *second, (3, 6.0), ended(3, 6, ok=True))
    assert counted.value("wakes_total") == 2
    assert counted.value("vain_wakes_total") == 1
    assert counted.value("retries_total", kind="unavailable", budget="b") == 3
    assert counted.value("wait_seconds_total") == 5


def test_the_share_of_the_fullest_budget() -> None:
    counted = Counted()
    outcome = Policy("omnigraph").run(lambda: OK, READ)
    stopped = e.Stopped(call=READ, policy="omnigraph", outcome=outcome, at=11.0)
    counted.call(ended(1, 1), waiting(2, 1, 20.0), ended(2, 5), waiting(3, 5, 16.0), stopped)
    assert counted.value("budget_used_ratio_sum") == 0.5
    counted.call(ended(1, 1), waiting(2, 1, None), stopped)  # no window
    assert counted.value("budget_used_ratio_count") == 1


def test_instances_are_counted() -> None:
    counted = Counted()
    counted.call(e.InstanceReplaced(call=READ, policy="omnigraph", error=RuntimeError()))
    assert counted.value("instances_replaced_total") == 1


def kinds(collector: Collector) -> dict[str, Any]:
    """A metric as the file of names has it."""
    (described,) = collector.describe()  # type: ignore[attr-defined]
    name = described.name + "_total" * (described.type == "counter")
    labels = collector._labelnames  # type: ignore[attr-defined]
    kind = {"name": name, "type": described.type, "labels": list(labels)}
    kind["counts"] = described.documentation
    if isinstance(collector, Histogram):
        kind["buckets"] = [float(each) for each in collector._kwargs["buckets"]]
    return kind


def test_names_are_those_of_all_hosts() -> None:
    metrics = Counted().hook._metrics
    ours = sorted(map(kinds, vars(metrics).values()), key=lambda kind: kind["name"])
    theirs = [
        {
            name: metric[name]
            for name in ("name", "type", "labels", "counts", "buckets")
            if name in metric
        }
        for metric in json.loads(NAMES.read_text("utf-8"))["metrics"]
        if "hosts" not in metric or "python" in metric["hosts"]
    ]
    assert ours == sorted(theirs, key=lambda kind: kind["name"])
