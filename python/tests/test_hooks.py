"""What is told of a call's events."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import prometheus_client
import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from conftest import REFUSED
from outlast import Call, Policy, Result, hooks
from outlast import events as e
from outlast.testing import VirtualClock

READ = Call(remote=True, write=False, label="query")
AWAY = Result(exit_code=1, stderr=REFUSED)
OK = Result(exit_code=0)


@pytest.fixture(autouse=True)
def own_hooks(clock: VirtualClock) -> Iterator[None]:
    hooks.set_hooks(())
    yield
    hooks.set_hooks(None)


def make_calls() -> None:
    """One call that succeeds in the end, one at once, one that never does."""
    results = [AWAY, AWAY, OK, OK]
    Policy("omnigraph").run(lambda: results.pop(0), READ)
    Policy("omnigraph").run(lambda: results.pop(0), READ)
    Policy("omnigraph").run(lambda: AWAY, READ)


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    hooks.set_hooks([hooks.LoggingHook()])
    with caplog.at_level(logging.INFO, "outlast"):
        make_calls()
    first = caplog.records[0]
    assert first.levelname == "WARNING"
    assert first.getMessage().startswith("query: unavailable; attempt 2 in 0.5")
    assert first.getMessage().endswith(", of 150.0 s left")
    fields: dict[str, Any] = first.__dict__["outlast"]
    assert (fields["kind"], fields["attempt"], fields["policy"]) == ("unavailable", 2, "omnigraph")
    levels = {r.levelname for r in caplog.records}
    assert levels == {"WARNING", "INFO", "ERROR"}
    assert "query: succeeded after 3 attempts" in caplog.text
    assert "query: gave up after" in caplog.text


def test_our_lines_never_quote_an_attempt(caplog: pytest.LogCaptureFixture) -> None:
    hooks.set_hooks([hooks.LoggingHook()])
    with caplog.at_level(logging.DEBUG, "outlast"):
        make_calls()
    for word in ("tcp connect", "error sending", "127.0.0.1", "Connection refused"):
        assert word not in caplog.text


def test_structlog() -> None:
    hooks.set_hooks([hooks.StructlogHook()])
    with structlog.testing.capture_logs() as lines:
        make_calls()
    assert lines[0]["log_level"] == "warning"
    assert lines[0]["event"].startswith("outlast: unavailable; attempt 2 in")
    assert (lines[0]["kind"], lines[0]["label"], lines[0]["attempt"]) == ("unavailable", "query", 2)
    assert lines[-1]["outcome"] == "exhausted"


def test_prometheus() -> None:
    registry = prometheus_client.CollectorRegistry()
    hooks.set_hooks([hooks.PrometheusHook(registry)])
    make_calls()

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, {"policy": "omnigraph", **labels})

    assert value("outlast_attempts_total", ok="true") == 2
    assert value("outlast_calls_total", outcome="ok", kind="unavailable") == 1
    assert value("outlast_calls_total", outcome="ok", kind="") == 1
    assert value("outlast_calls_total", outcome="exhausted", kind="unavailable") == 1
    retries = value("outlast_retries_total", kind="unavailable", budget="unavailable")
    assert retries is not None
    assert retries > 15
    assert value("outlast_retried_call_seconds_count", outcome="ok") == 1
    assert value("outlast_retried_call_seconds_sum", outcome="exhausted") == pytest.approx(150)


def test_prometheus_counts_instances() -> None:
    registry = prometheus_client.CollectorRegistry()
    hook = hooks.PrometheusHook(registry)
    hook(e.InstanceReplaced(call=READ, policy="omnigraph", error=RuntimeError()))
    got = registry.get_sample_value("outlast_instances_replaced_total", {"policy": "omnigraph"})
    assert got == 1


def test_opentelemetry() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hooks.set_hooks([hooks.OpenTelemetryHook()])
    make_calls()  # outside of a span nothing happens
    with provider.get_tracer("test").start_as_current_span("work"):
        make_calls()
    (span,) = exporter.get_finished_spans()
    assert span.events[0].name == "outlast.waiting"
    attributes = span.events[0].attributes
    assert attributes is not None
    assert attributes["outlast.kind"] == "unavailable"
    assert attributes["outlast.attempt"] == 2
    assert span.events[-1].name == "outlast.stopped"
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_each_event_has_its_line() -> None:
    from outlast.hooks._lines import line_of

    common: dict[str, Any] = {"call": Call(remote=True, write=True), "policy": "p"}
    repairing = line_of(e.Repairing(kind="k", force=False, at=0.0, **common))
    assert repairing is not None
    assert (repairing.message, repairing.fields) == ("k; repairing", {"kind": "k", "policy": "p"})
    loaded = line_of(e.Loaded(cache=None, why="no home", took=1.5, **common))
    assert loaded is not None
    assert (loaded.level, loaded.message) == (logging.INFO, "loaded without a cache: no home")
    replaced = line_of(e.InstanceReplaced(error=RuntimeError("x"), **common))
    assert replaced is not None
    assert replaced.level == logging.WARNING
    assert line_of(e.AttemptEnded(attempt=1, at=0.0, ok=False, result=AWAY, **common)) is None


def test_a_hook_that_fails_ends_no_call(caplog: pytest.LogCaptureFixture) -> None:
    told: list[e.Event] = []

    def broken(event: e.Event) -> None:
        raise RuntimeError("no such metric")

    hooks.set_hooks([broken, told.append])
    make_calls()
    assert len(told) > 20
    assert "a hook failed at Waiting" in caplog.text


def test_the_default_hooks_are_of_what_is_used() -> None:
    hooks.set_hooks(None)
    kinds = {type(hook) for hook in hooks.get_hooks()}
    assert kinds == {hooks.StructlogHook, hooks.PrometheusHook, hooks.OpenTelemetryHook}
    assert hooks.get_hooks() is hooks.default_hooks()
    hooks.set_hooks(())
    assert hooks.get_hooks() == ()


def test_the_default_hook_of_a_program_that_uses_none() -> None:
    code = (
        "import sys, outlast, outlast.hooks as h\n"
        "assert [type(x) for x in h.get_hooks()] == [h.LoggingHook], h.get_hooks()\n"
        "assert not {'structlog', 'prometheus_client', 'opentelemetry'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
