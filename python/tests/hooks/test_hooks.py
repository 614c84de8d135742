"""What is told of a call's events."""

from __future__ import annotations

import asyncio
import itertools
import logging
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import opentelemetry.trace  # noqa: F401
import prometheus_client  # noqa: F401
import pytest
import structlog

import outlast
from conftest import REFUSED
from outlast import Call, Policy, Result, hooks, retry, run_command
from outlast import events as e
from outlast._run.drive import Driver
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


class BrokenCall(hooks.CallHook):
    """Fails in each method."""

    def __call__(self, event: e.Event) -> object:
        raise RuntimeError("no such metric")

    def attempt(self, number: int, at: float) -> AbstractContextManager[object]:
        return self.context()

    @contextmanager
    def context(self) -> Iterator[None]:
        yield
        raise RuntimeError("no such span")

    def end(self, error: BaseException | None) -> None:
        raise RuntimeError("no such call")


class Broken(hooks.PerCallHook):
    """Fails, or what it begins does."""

    def begin(self, call: Call, policy: str, command: str) -> hooks.CallHook | None:
        if call.label == "mute":
            raise RuntimeError("no such label")
        return BrokenCall()


def test_a_hook_of_a_call_that_fails_ends_none(caplog: pytest.LogCaptureFixture) -> None:
    hooks.set_hooks([Broken()])
    results = [AWAY, OK, OK]
    assert Policy("omnigraph").run(lambda: results.pop(0), READ).attempts == 2
    for at in ("Waiting", "an attempt's end", "a call's end"):
        assert f"a hook failed at {at}" in caplog.text
    mute = Call(remote=True, write=False, label="mute")
    assert Policy("omnigraph").run(lambda: results.pop(0), mute).ok
    assert "a hook failed at a call's begin" in caplog.text


class Heard(hooks.PerCallHook):
    """Notes what it is told, call by call."""

    def __init__(self) -> None:
        self.calls: list[list[object]] = []

    def begin(self, call: Call, policy: str, command: str) -> hooks.CallHook:
        told: list[object] = [(call.label, policy, command)]
        self.calls.append(told)

        class Told(hooks.CallHook):
            def __call__(self, event: e.Event) -> None:
                told.append(type(event).__name__)

            def attempt(self, number: int, at: float) -> None:
                told.append((number, at))

            def end(self, error: BaseException | None) -> None:
                told.append(type(error))

        return Told()


def test_a_hook_of_a_call_is_told_of_all_of_it(clock: VirtualClock) -> None:
    heard = Heard()
    results = [AWAY, OK]
    Policy("omnigraph").run(lambda: results.pop(0), READ, observe=heard)
    (told,) = heard.calls
    loaded = [what for what in told if what == "Loaded"]  # of the process's first call
    first, *rest = (what for what in told if what not in loaded)
    assert first == ("query", "omnigraph", "")
    assert rest[:3] == [(1, 0.0), "AttemptEnded", "Waiting"]
    assert rest[3] == (2, clock.now())
    assert rest[4:] == ["AttemptEnded", "Stopped", type(None)]


def test_what_ends_a_call_without_an_outcome() -> None:
    heard = Heard()

    @retry(remote=True, write=False, label="broken", observe=heard)
    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert heard.calls == [[("broken", "network", ""), (1, 0.0), ZeroDivisionError]]


def by_run(policy: Policy, **options: Any) -> None:
    policy.run(lambda: AWAY, READ, **options)


def by_arun(policy: Policy, **options: Any) -> None:
    async def away() -> Result:
        return AWAY

    asyncio.run(policy.arun(away, READ, **options))


@pytest.mark.parametrize("run", [by_run, by_arun])
def test_what_fails_between_two_attempts_is_told(run: Callable[..., None]) -> None:
    heard, times = Heard(), itertools.count()

    def clock() -> float:
        if next(times) > 4:
            raise ZeroDivisionError
        return 0.0

    with pytest.raises(ZeroDivisionError):
        run(Policy("omnigraph"), clock=clock, observe=heard)
    assert heard.calls[0][-1] is ZeroDivisionError


@pytest.mark.usefixtures("clock")
def test_what_fails_between_two_bodies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()

    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Driver, "wait", fails)
    loop = iter(outlast.attempts(remote=True, write=False, observe=heard))
    with pytest.raises(ZeroDivisionError), next(loop):
        raise ConnectionRefusedError
    assert heard.calls[0][-1] is ZeroDivisionError


def test_a_function_that_gives_a_coroutine_is_one_call_that_goes_on() -> None:
    heard = Heard()

    async def answer() -> str:
        return "answer"

    @retry(remote=True, write=False, label="ask", observe=heard)
    def ask() -> Coroutine[Any, Any, str]:
        return answer()

    assert asyncio.run(ask()) == "answer"
    ends = [told[-1] for told in heard.calls]
    assert ends == [type(None), type(None)]
    assert [("Stopped" in told) for told in heard.calls] == [False, True]


def test_a_coroutine_that_is_thrown_away_has_ended() -> None:
    heard = Heard()

    async def hang() -> Result:
        await asyncio.sleep(60)
        return OK

    async def throw_away() -> None:
        call = Policy("omnigraph").arun(hang, READ, observe=heard)
        call.send(None)
        call.close()

    asyncio.run(throw_away())
    assert heard.calls[0][-1] is GeneratorExit


def test_events_name_the_program(events: list[e.Event]) -> None:
    run_command([sys.executable, "-c", ""], READ, policy="network")
    assert {event.command for event in events} == {Path(sys.executable).name}
