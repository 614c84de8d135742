"""What a caller gets wrong, and what is carried to another process."""

from __future__ import annotations

import asyncio
import copy
import io
import os
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import httpx
import pytest
import requests

import outlast
from evidence.servers import Answer, Exchange, serving
from outlast import Call, Policy, Result, testing
from outlast.testing import VirtualClock

READ = Call(remote=True, write=False)


def refused() -> Result:
    raise ConnectionRefusedError("by the server")


@pytest.mark.parametrize(
    ("nonsense", "message"),
    [
        (lambda _: Result(retry_after="3"), "retry_after is '3', and must be a number"),  # type: ignore[arg-type]
        (lambda _: Result(failure="gone"), "failure is 'gone', and must be one of unresolved"),  # type: ignore[arg-type]
        (lambda _: Result(failure="broke", exit_code=1), "belongs to no process"),
        (lambda _: "broke", "result_of gave a str, and must give a Result"),
        (lambda error: error.nonsense, "no attribute 'nonsense'"),
    ],
)
def test_a_mapping_that_is_wrong_keeps_the_exception(
    nonsense: Callable[[Any], Any], message: str, clock: VirtualClock
) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError), match=message) as raised:
        Policy().run(refused, READ, result_of=nonsense)
    assert isinstance(raised.value.__cause__, ConnectionRefusedError)


def test_an_exception_that_cannot_say_what_it_is(clock: VirtualClock) -> None:
    class Mute(ConnectionRefusedError):
        def __str__(self) -> str:
            raise ValueError("no text")

    def mute() -> None:
        raise Mute

    for write in (False, True):
        with pytest.raises(Mute):
            outlast.retry(remote=True, write=write)(mute)()


def test_a_plugin_that_cannot_decide_hides_no_exception(
    clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As under eventlet, when it has replaced the locks of a plugin that is loaded."""

    def unlocked(*_: Any) -> Any:
        raise RuntimeError("cannot notify on un-acquired lock")

    monkeypatch.setattr("outlast._policy.session.Session.next", unlocked)
    with pytest.raises(outlast.PluginError, match="un-acquired lock") as raised:
        outlast.retry(remote=True, write=True)(refused)()
    assert isinstance(raised.value.__cause__, ConnectionRefusedError)


def test_a_method_of_a_class(clock: VirtualClock) -> None:
    class Client:
        @outlast.retry(remote=True, write=False)
        @classmethod
        def name(cls) -> str:
            return cls.__name__

        @outlast.retry(remote=True, write=False)
        @staticmethod
        def double(value: int) -> int:
            return 2 * value

    for client in (Client, Client()):
        assert client.name() == "Client"
        assert client.double(2) == 4


def test_a_function_that_gives_a_generator(clock: VirtualClock) -> None:
    @outlast.retry(remote=True, write=False)
    def given() -> Iterator[int]:
        return (n for n in (1, 2))

    with pytest.warns(UserWarning, match="gave a generator: what that does later"):
        assert list(given()) == [1, 2]


def test_a_judge_that_is_wrong(clock: VirtualClock) -> None:
    with pytest.raises(TypeError, match="judge gave a str"):
        outlast.retry(remote=True, write=False, judge=lambda _: "bad")(int)()  # type: ignore[arg-type, return-value]


def test_a_policy_goes_to_another_process(tmp_path: Path) -> None:
    plugin = Path(outlast.__file__).parents[3] / "plugin" / "outlast.wasm"
    own = Policy(
        {
            "version": 1,
            "name": "mine",
            "budgets": {},
            "rules": [{"kind": "failed", "then": [{"stop": {"effects": "unknown"}}]}],
        }
    )
    for policy in (Policy(), Policy("curl"), own, Policy(plugin=outlast.Plugin(plugin))):
        again = pickle.loads(pickle.dumps(policy))
        assert (again.name, again.digest) == (policy.name, policy.digest)
        assert again.asks_failures == policy.asks_failures
        assert copy.deepcopy(policy) is copy.copy(policy) is policy
    assert pickle.loads(pickle.dumps(own)).plugin is own.plugin


@outlast.retry(remote=True, write=False)
def one() -> int:
    return 1


def test_a_function_goes_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(one)) is one
    assert copy.deepcopy(one) is one
    code = """
import cloudpickle, outlast, sys
policy = outlast.Policy({"version": 1, "name": "mine", "budgets": {}, "rules": [
    {"kind": "failed", "then": [{"stop": {"effects": "unknown"}}]}]})
@outlast.retry(remote=True, write=True, policy=policy, result_of=lambda e: None)
def two(by):
    return 2 * by
@outlast.retry(remote=True, write=True)
async def three():
    return 3
assert two(1) == 2
sys.stdout.buffer.write(cloudpickle.dumps((two, three)))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    two, three = cloudpickle.loads(done.stdout)
    assert two(3) == 6
    with pytest.raises(StopIteration) as returned:
        three().send(None)
    assert returned.value.value == 3


def order() -> Iterator[bytes]:
    yield b"an order"


async def aorder() -> AsyncIterator[bytes]:
    yield b"an order"


@outlast.retry(remote=True, write=True, refuses_before_acting=True)
def post(url: str, *, body: Any) -> None:
    httpx.post(url, content=body).raise_for_status()


@outlast.retry(remote=True, write=True, refuses_before_acting=True)
async def apost(url: str, *, body: Any) -> None:
    async with httpx.AsyncClient() as client:
        (await client.post(url, content=body)).raise_for_status()


@pytest.fixture
def bodies() -> list[bool]:
    """Whether the requests so far had the whole body."""
    return []


@pytest.fixture
def busy(bodies: list[bool]) -> Iterator[str]:
    """A server that refuses its first request for load."""

    def answer(status: int) -> Answer:
        def answered(exchange: Exchange) -> None:
            bodies.append(b"an order" in exchange.request)
            exchange.respond(status, Retry_After="0")

        return answered

    with serving(answer(429), answer(200)) as server, testing.virtual_time():
        yield server.url


def test_a_file_is_given_whole_again(busy: str, bodies: list[bool], tmp_path: Path) -> None:
    (tmp_path / "order").write_bytes(b"an order")
    with (tmp_path / "order").open("rb") as file:
        post(busy, body=file)
    assert bodies == [True, True]


def test_bytes_in_memory_are_given_from_where_they_stood() -> None:
    read = []
    body = io.BytesIO(b"not an order")
    body.seek(4)

    @outlast.retry(remote=True, write=False)
    def take(what: io.BytesIO) -> None:
        read.append(what.read())
        if len(read) < 3:
            raise ConnectionResetError

    with testing.virtual_time():
        take(body)
    assert read == [b"an order"] * 3


@outlast.retry(remote=True, write=True, refuses_before_acting=True)
def by_requests(url: str, *, body: Any) -> None:
    requests.post(url, data=iter(body.readline, b""), timeout=5).raise_for_status()


def pipe(url: str) -> None:
    read, write = os.pipe()
    os.write(write, b"an order")
    os.close(write)
    with os.fdopen(read, "rb") as file:
        by_requests(url, body=file)


@pytest.mark.parametrize(
    "give",
    [
        lambda url: post(url, body=order()),
        lambda url: asyncio.run(apost(url, body=aorder())),
        pipe,
    ],
)
def test_what_was_read_once_is_not_given_empty(
    give: Callable[[str], None], busy: str, bodies: list[bool]
) -> None:
    with pytest.raises(TypeError, match="read only once") as raised:
        give(busy)
    assert isinstance(raised.value.__cause__, (httpx.HTTPStatusError, requests.HTTPError))
    assert bodies == [True]


def test_a_generator_that_was_not_read_is_given_again() -> None:
    with serving() as server:
        server.away(0.3)
        post(server.url, body=order())
        assert server.applied == 1


def test_a_file_that_an_attempt_has_closed_hides_no_exception(tmp_path: Path) -> None:
    (tmp_path / "order").write_bytes(b"an order")

    @outlast.retry(remote=True, write=False)
    def take(file: io.BufferedReader) -> None:
        with file:
            raise ConnectionResetError("by the server")

    with testing.virtual_time(), pytest.raises(TypeError, match="has closed a file") as raised:
        take((tmp_path / "order").open("rb"))
    assert isinstance(raised.value.__cause__, ConnectionResetError)
