"""The decorator."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import outlast
from outlast import Call, Policy, Result
from outlast import events as e
from outlast.testing import VirtualClock


class Server:
    """Refuses connections so many times."""

    def __init__(self, away: int, error: Exception | None = None) -> None:
        self.away = away
        self.error = error or ConnectionRefusedError(111, "Connection refused")

    def ask(self, question: str, *, loud: bool = False) -> str:
        self.away -= 1
        if self.away >= 0:
            raise self.error
        return question.upper() if loud else question


def test_a_function(clock: VirtualClock) -> None:
    server = Server(3)

    @outlast.retry(remote=True, write=False)
    def ask(question: str, *, loud: bool = False) -> str:
        """Ask."""
        return server.ask(question, loud=loud)

    assert ask("why", loud=True) == "WHY"
    assert len(clock.slept) == 3
    assert (ask.__name__, ask.__doc__) == ("ask", "Ask.")


def test_a_method_and_a_coroutine_function(clock: VirtualClock, events: list[e.Event]) -> None:
    class Client:
        def __init__(self) -> None:
            self.server = Server(2)

        @outlast.retry(remote=True, write=True, only_request=True)
        async def ask(self, question: str) -> str:
            await asyncio.sleep(0)
            return self.server.ask(question)

    assert inspect.iscoroutinefunction(Client.ask)
    assert asyncio.run(Client().ask("why")) == "why"
    assert len(clock.slept) == 2
    assert events[0].call.label.endswith("Client.ask")


def test_values_that_are_none_or_results_are_values(clock: VirtualClock) -> None:
    @outlast.retry(remote=True, write=False)
    def nothing() -> None:
        return None

    @outlast.retry(remote=True, write=False)
    def result() -> Result:
        return Result(exit_code=1)

    assert nothing() is None
    assert result() == Result(exit_code=1)
    assert clock.slept == []


def test_when_the_policy_stops(clock: VirtualClock) -> None:
    server = Server(1000)

    @outlast.retry(remote=True, write=False, budget=5, label="ask the server")
    def ask() -> str:
        return server.ask("why")

    with pytest.raises(outlast.Exhausted) as raised:
        ask()
    error = raised.value
    assert error.__cause__ is server.error
    assert error.label == "ask the server"
    assert str(error).startswith("outlast: ask the server: gave up after")
    assert "Connection refused" in str(error)
    assert outlast.outcome_of(error) is error.outcome
    assert clock.now() == pytest.approx(5.0)
    assert pickle.loads(pickle.dumps(error)).outcome == error.outcome


def test_the_functions_own_exception_can_be_raised(clock: VirtualClock) -> None:
    server = Server(1000)

    @outlast.retry(remote=True, write=False, budget=5, reraise=True)
    def ask() -> str:
        return server.ask("why")

    with pytest.raises(ConnectionRefusedError) as raised:
        ask()
    assert raised.value is server.error
    outcome = outlast.outcome_of(raised.value)
    assert outcome is not None
    assert outcome.type == "exhausted"
    notes = getattr(raised.value, "__notes__", [f"outlast: {outcome.message}"])
    assert notes == [f"outlast: {outcome.message}"]
    assert outlast.outcome_of(ValueError()) is None


def test_other_exceptions_come_out_at_once(clock: VirtualClock) -> None:
    server = Server(1, ValueError("a wrong question"))

    @outlast.retry(remote=True, write=False)
    def ask() -> str:
        return server.ask("why")

    with pytest.raises(ValueError, match="a wrong question"):
        ask()
    assert ask() == "why"
    assert clock.slept == []


def test_exceptions_can_be_mapped(clock: VirtualClock) -> None:
    class AwayError(Exception):
        pass

    server = Server(2, AwayError())

    def result_of(error: Exception) -> Result | None:
        return outlast.result_of(ConnectionRefusedError()) if error is server.error else None

    @outlast.retry(remote=True, write=False, result_of=result_of)
    def ask() -> str:
        return server.ask("why")

    assert ask() == "why"
    assert len(clock.slept) == 2


def test_values_can_be_judged(clock: VirtualClock) -> None:
    answers = iter([429, 429, 200, 429, *[503] * 100])

    def judge(status: int) -> Result | None:
        return Result(http_status=status, retry_after=2.0) if status >= 400 else None

    @outlast.retry(remote=True, write=False, judge=judge)
    def ask() -> int:
        return next(answers)

    assert ask() == 200
    assert all(2.0 <= slept <= 2.2 for slept in clock.slept)
    assert ask() == 503  # the policy stopped at this answer, which is the caller's to see


def test_another_policy(clock: VirtualClock) -> None:
    for policy in ("witan-core", Policy("witan-core")):

        @outlast.retry(remote=True, write=False, policy=policy)
        def ask() -> str:
            return Server(0).ask("why")

        assert ask() == "why"
    with pytest.raises(outlast.PolicyError, match="no such policy"):
        outlast.retry(remote=True, write=False, policy="none")


def test_what_is_safe_must_be_said() -> None:
    with pytest.raises(TypeError, match="write"):
        outlast.retry(remote=True)  # type: ignore[call-arg]


def test_generators_are_refused() -> None:
    decorate = outlast.retry(remote=True, write=False)
    with pytest.raises(TypeError, match="a generator cannot be retried"):

        @decorate
        def numbers() -> Iterator[int]:
            yield 1

    with pytest.raises(TypeError, match="a generator cannot be retried"):

        @decorate
        async def more() -> AsyncIterator[int]:
            yield 1


def test_secrets_are_not_told(clock: VirtualClock, events: list[e.Event]) -> None:
    server = Server(1000, ConnectionResetError("with s3cr3t"))

    @outlast.retry(remote=True, write=True, secrets=["s3cr3t"])
    def ask() -> str:
        return server.ask("why")

    with pytest.raises(outlast.Indeterminate) as raised:
        ask()
    assert "s3cr3t" not in str(raised.value)
    assert "s3cr3t" not in repr(events)


def test_a_name_that_is_too_long_is_cut() -> None:
    def ask() -> None:
        pass

    ask.__qualname__ = "é" * 300
    outlast.retry(remote=True, write=False)(ask)()


READ = Call(remote=True, write=False)


@pytest.mark.parametrize(
    "call",
    [
        lambda **options: outlast.retry(remote=True, write=False, **options)(len),
        lambda **options: Policy("omnigraph").run(lambda: Result(exit_code=0), READ, **options),
        lambda **options: Policy("omnigraph").run_in_plugin(
            lambda: Result(exit_code=0), READ, **options
        ),
        lambda **options: outlast.run_command(["true"], READ, policy="omnigraph", **options),
    ],
)
def test_there_is_no_such_option(call: Any) -> None:
    call(seed=1, ready=None)
    with pytest.raises(TypeError, match="'sed' is no keyword of this function, nor one of "):
        call(sed=1)
