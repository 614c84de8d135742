"""Calls and attempts as spans."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

import outlast
from outlast import Call, Policy, Result, hooks, testing
from outlast import events as e

TESTS = Path(__file__).parents[3] / "tests"
NAMES = TESTS.parent / "abi" / "telemetry.json"
READ = Call(remote=True, write=False, label="items")
WRITE = Call(remote=True, write=True)
OK = Result(exit_code=0)


class Recorded:
    """A hook whose spans are kept."""

    def __init__(self, **provider: Any) -> None:
        self._exporter = InMemorySpanExporter()
        self._provider = TracerProvider(**provider)
        self._provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.hook = hooks.OpenTelemetryHook(self._provider)
        self.tracer = self._provider.get_tracer("test")

    @property
    def spans(self) -> list[ReadableSpan]:
        """Those that ended, by their beginning."""
        return sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def parents(self) -> list[tuple[str, str]]:
        """The name of each span and of that around it."""
        names = {span.context.span_id: span.name for span in self.spans if span.context}
        return [
            (span.name, names[span.parent.span_id] if span.parent else "") for span in self.spans
        ]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def sequence(*results: Result | BaseException) -> Callable[[], Result]:
    left = list(results)

    def attempt() -> Result:
        result = left.pop(0)
        if isinstance(result, BaseException):
            raise result
        return result

    return attempt


def normal(spans: Sequence[ReadableSpan]) -> list[dict[str, Any]]:
    """Spans without what differs from run to run."""
    numbers = {
        span.context.span_id: attributes(span).get("outlast.attempt")
        for span in spans
        if span.context
    }
    names = {span.context.span_id: span.name for span in spans if span.context}
    return [
        {
            "name": span.name,
            "parent": names[span.parent.span_id] if span.parent else "",
            "links": [numbers[link.context.span_id] for link in span.links],
            "status": span.status.status_code.name.lower(),
            "attributes": {
                name: round(value, 6) if isinstance(value, float) else value
                for name, value in sorted(attributes(span).items())
            },
        }
        for span in spans
    ]


def ridden_out(clock: testing.VirtualClock, observe: hooks.Hook) -> None:
    """The call of which each language keeps a trace: a server is refused twice, answers
    503, and then 200.
    """
    busy = Result(http_status=503, retry_after=2.0)
    refused = ConnectionRefusedError(111, "Connection refused")
    attempt = sequence(refused, refused, busy, Result(http_status=200))
    outcome = Policy("network").run(attempt, READ, observe=observe, seed=7)
    assert (outcome.type, outcome.attempts) == ("ok", 4)


def test_the_trace_of_a_call_that_was_ridden_out(clock: testing.VirtualClock) -> None:
    recorded = Recorded()
    ridden_out(clock, recorded.hook)
    golden = json.loads((TESTS / "traces" / "python.json").read_text("utf-8"))
    assert normal(recorded.spans) == golden
    scopes = {span.instrumentation_scope for span in recorded.spans}
    assert [(scope.name, scope.version) for scope in scopes if scope] == [
        ("outlast", outlast.__version__)
    ]
    assert sum(attributes(span).get("outlast.wait", 0) for span in recorded.spans) > 2


def test_names_are_those_of_all_hosts() -> None:
    golden = json.loads((TESTS / "traces" / "python.json").read_text("utf-8"))
    known = {
        span["name"]: {attribute["name"]: attribute["type"] for attribute in span["attributes"]}
        for span in json.loads(NAMES.read_text("utf-8"))["spans"]
    }
    types = {"string": str, "int": int, "double": float}
    for span in golden:
        for name, value in span["attributes"].items():
            assert type(value) is types[known[span["name"]][name]], name


def child(recorded: Recorded) -> None:
    """What a client's instrumentation does."""
    with recorded.tracer.start_as_current_span("GET"):
        pass


CALL, ATTEMPT = "outlast.call", "outlast.attempt"
NESTED = [("work", ""), (CALL, "work"), (ATTEMPT, CALL), ("GET", ATTEMPT)]
NESTED += [(ATTEMPT, CALL), ("GET", ATTEMPT)]


def traced(recorded: Recorded) -> Callable[[], Result]:
    fail = sequence(Result(failure="unconnected"), OK)

    def attempt() -> Result:
        child(recorded)
        return fail()

    return attempt


@pytest.mark.parametrize("drive", ["run", "run_in_plugin"])
def test_the_clients_own_spans_are_in_those_of_attempts(
    clock: testing.VirtualClock, drive: str
) -> None:
    recorded = Recorded()
    with recorded.tracer.start_as_current_span("work"):
        getattr(Policy("network"), drive)(traced(recorded), READ, observe=recorded.hook)
    assert recorded.parents() == NESTED


def test_those_of_coroutines_too(clock: testing.VirtualClock) -> None:
    """Each in its own task, while they take turns."""
    recorded = Recorded()

    async def call() -> None:
        attempt = traced(recorded)

        async def awaited() -> Result:
            await asyncio.sleep(0)
            return attempt()

        with recorded.tracer.start_as_current_span("work"):
            await Policy("network").arun(awaited, READ, observe=recorded.hook)

    async def several() -> None:
        await asyncio.gather(*(call() for _ in range(3)))

    asyncio.run(several())
    assert sorted(recorded.parents()) == sorted(NESTED * 3)
    assert len({span.context.trace_id for span in recorded.spans if span.context}) == 3


def test_a_function_that_gives_a_coroutine_has_one_span(clock: testing.VirtualClock) -> None:
    recorded = Recorded()

    async def answer() -> str:
        child(recorded)
        return "answer"

    @outlast.retry(remote=True, write=False, observe=recorded.hook)
    def ask() -> Coroutine[Any, Any, str]:
        return answer()

    assert asyncio.run(ask()) == "answer"
    assert recorded.parents() == [(CALL, ""), (ATTEMPT, CALL), ("GET", ATTEMPT)]
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_a_command(clock: testing.VirtualClock) -> None:
    recorded = Recorded()
    fail = [sys.executable, "-c", "raise SystemExit(3)"]
    done = outlast.run_command(fail, READ, policy="network", observe=recorded.hook)
    assert done.exit_code == 3
    call, attempt = recorded.spans
    assert attributes(attempt)["error.type"] == "_OTHER"
    assert attributes(call)["error.type"] == "failed"
    assert {span.status.status_code.name for span in (call, attempt)} == {"ERROR"}


def test_a_write_that_may_have_been_applied(clock: testing.VirtualClock) -> None:
    recorded = Recorded()
    broke = sequence(Result(failure="broke"))
    assert Policy("network").run(broke, WRITE, observe=recorded.hook).type == "indeterminate"
    call, attempt = map(attributes, recorded.spans)
    assert (call["outlast.effects"], call["error.type"]) == ("unknown", "indeterminate")
    assert "outlast.waited" not in call
    assert attempt["error.type"] == "broke"
    assert attempt["outlast.kind"] == call["outlast.kind"]


def test_what_ends_a_call_without_an_outcome(clock: testing.VirtualClock) -> None:
    recorded = Recorded()
    with pytest.raises(ZeroDivisionError):
        Policy("network").run(sequence(ZeroDivisionError()), READ, observe=recorded.hook)
    call, attempt = map(attributes, recorded.spans)
    assert call["error.type"] == attempt["error.type"] == "ZeroDivisionError"
    assert "outlast.outcome" not in call


def test_a_cancelled_task(caplog: pytest.LogCaptureFixture) -> None:
    recorded = Recorded()

    async def hang() -> Result:
        await asyncio.sleep(60)
        return OK

    async def cancel() -> None:
        task = asyncio.create_task(Policy("network").arun(hang, READ, observe=recorded.hook))
        thrown_away = Policy("network").arun(hang, READ, observe=recorded.hook)
        thrown_away.send(None)
        thrown_away.close()
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    with caplog.at_level(logging.ERROR):
        asyncio.run(cancel())
    assert not caplog.records
    errors = [attributes(span).get("error.type") for span in recorded.spans]
    assert sorted(map(str, errors)) == sorted(
        ["GeneratorExit", "GeneratorExit", "cancelled", "CancelledError"]
    )
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_the_time_of_an_attempt_is_its_own(clock: testing.VirtualClock) -> None:
    """Its span ends when the policy has decided, with the time at which the attempt did."""
    recorded = Recorded()
    call = recorded.hook.begin(READ, "network", "")
    assert call is not None
    context = call.attempt(1, 0.0)
    assert context is not None
    with context:
        pass
    failed: Mapping[str, Any] = {"attempt": 1, "at": 0.0, "ok": False}
    call(e.AttemptEnded(call=READ, policy="p", result=Result(failure="broke"), **failed))
    begun = recorded.tracer.start_span("after")
    assert recorded.spans == []
    call.end(RuntimeError())
    (attempt,) = recorded.named(ATTEMPT)
    assert isinstance(begun, ReadableSpan)
    assert attempt.end_time is not None
    assert attempt.end_time <= (begun.start_time or 0)


def test_a_trace_that_is_not_sampled(clock: testing.VirtualClock) -> None:
    recorded = Recorded(sampler=ALWAYS_OFF)
    assert recorded.hook.begin(READ, "network", "") is None
    ridden_out(clock, recorded.hook)
    assert recorded.spans == []


def test_no_sdk_no_spans() -> None:
    """The program has the API, and nobody who takes spans."""
    code = (
        "import sys, outlast, opentelemetry.trace\n"
        "sys.modules['opentelemetry.sdk'] = None\n"
        "hook = outlast.hooks.get_hooks()[-1]\n"
        "assert type(hook) is outlast.hooks.OpenTelemetryHook\n"
        "call = outlast.Call(remote=True, write=False)\n"
        "assert hook.begin(call, 'network', '') is None\n"
        "assert outlast.Policy().run(lambda: outlast.Result(exit_code=0), call).ok\n"
        "assert 'opentelemetry.sdk.trace' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
